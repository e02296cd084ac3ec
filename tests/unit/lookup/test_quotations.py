from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.numbering import ResultNumbering
from openbook.answering.tools import LibraryTools
from openbook.errors import QueryError
from openbook.lookup.quotations import find_quoted
from openbook.questions.question import read_question
from openbook.retrieval.excerpts import with_excerpts
from openbook.retrieval.search import Retriever
from openbook.types import Filter, Lesson, RetrievalResult, View
from tests.unit.retrieval.material import Library

MANY = 120
"""More documents than a search ranks by itself."""


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    for number in range(MANY):
        made.put(f"page{number:03}.md", f"# Quay {number}\n\nOn quay {number}, moor(ship) is called.", "moor a ship")
    made.put("harbour.go", 'log.Warn("The quay\n    is full")', 'fmt.Println("moored")', kind="code")
    made.put("typeset.md", "No re\u2011mooring at the pilot\u2019s \u201cgate\u201d.")
    made.put("typed.md", "No re-mooring at the pilot's pier.")
    made.put("docs/ropes.md", "Ropes hold, if the quay is full.", "HTTPServer and getUser are up.")
    yield made
    made.close()


def find(library: Library, query: str, *, limit: int = 1000, view: View = "auto") -> list[RetrievalResult]:
    return find_quoted(
        read_question(query), Retriever(library.index, library.embedder), limit=limit, where=Filter(), view=view
    )


def paths(found: list[RetrievalResult]) -> list[str]:
    return [result.chunk.span.path for result in found]


def test_every_place_with_a_quoted_text_is_found_and_no_other(library: Library) -> None:
    found = find(library, '"moor(ship) is"')

    assert len(found) == MANY
    assert all("moor(ship) is" in result.chunk.text for result in found)
    assert len(find(library, '"moor(ship) is"', limit=7)) == 7


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"the quay is full"', {"harbour.go", "docs/ropes.md"}),
        ("“The Quay is full”", {"harbour.go", "docs/ropes.md"}),
        ('"and GETUSER are"', {"docs/ropes.md"}),
        ('"httpserver and getuser"', {"docs/ropes.md"}),
        ('"arbou"', set()),
        ('"opes hold"', {"docs/ropes.md"}),
        ('"hold,", "are up"', {"docs/ropes.md"}),
        ('"hold," "moored"', set()),
        (r'"Println(\"moored\")"', {"harbour.go"}),
        ('"re-mooring at the pilot\'s \\"gate\\""', {"typeset.md"}),
        ("“re\u2010mooring at the pilot\u2019s”", {"typeset.md", "typed.md"}),
    ],
)
def test_case_and_line_ends_do_not_count_and_signs_do(library: Library, query: str, expected: set[str]) -> None:
    assert set(paths(find(library, query))) == expected


def test_what_stands_in_few_files_is_listed_once_for_each(library: Library) -> None:
    library.put("twice.md", "The quay is full.", "The quay is full again.")

    assert paths(find(library, '"quay is full"')).count("twice.md") == 2
    assert sorted(paths(find(library, '"quay is full"', view="files"))) == ["docs/ropes.md", "harbour.go", "twice.md"]


def test_what_defines_a_quoted_name_comes_first(library: Library) -> None:
    library.put("z.py", "def furl(): ...", kind="code", symbol="furl", defines=("furl",))
    library.put("a.py", "furl()", kind="code")

    assert paths(find(library, '"furl"')) == ["z.py", "a.py"]


def test_copies_of_a_place_are_found_too(library: Library) -> None:
    library.put("copy.md", "Ropes hold, if the quay is full.")

    assert set(paths(find(library, '"Ropes hold"'))) == {"docs/ropes.md", "copy.md"}


def test_an_excerpt_is_around_the_quoted_text(library: Library) -> None:
    text = "The quay.\nThe ship.\nIt is\n full.\nA quay and a ship are full.\nEnd."
    library.put("long.md", text)
    question = read_question('"ship. it is full."')

    (result,) = with_excerpts(question, find(library, question.text))

    assert result.excerpt is not None
    assert (result.excerpt.start_line, result.excerpt.end_line) == (2, 4)
    ((start, end),) = result.excerpt.matches
    assert result.excerpt.text[start:end] == "ship.\nIt is\n full."


def test_a_text_that_code_prints_with_values_is_found_where_it_is_printed(library: Library) -> None:
    library.put("berth.py", 'raise BerthError(f"cannot use berth {number} of the harbour")', kind="code")

    assert paths(find(library, '"cannot use berth 12 of the harbour"')) == ["berth.py"]


def test_lessons_that_a_filter_hides_have_no_places(library: Library) -> None:
    chunks = library.put("course.md", "Knots are tied.", "Knots are loose.", kind="course")
    library.put_chunks(
        library.texts["src", "course.md"],
        [replace(chunk, lesson=Lesson(f"L{n}", n)) for n, chunk in enumerate(chunks, start=1)],
    )
    retriever = Retriever(library.index, library.embedder)

    found = find_quoted(read_question('"knots are"'), retriever, limit=10, where=Filter(lesson=2))

    assert [result.chunk.text for result in found] == ["Knots are loose."]


def test_a_search_that_takes_too_long_says_what_to_do(library: Library) -> None:
    with pytest.raises(QueryError, match="too many documents") as raised:
        find_quoted(read_question('"quay"'), Retriever(library.index, library.embedder), limit=1, seconds=-1)
    assert re.search("quote more of its words", raised.value.hint)


def test_the_tools_of_agents_search_for_a_quoted_text_too(library: Library) -> None:
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)
    tools = LibraryTools(finder, Filter(), ResultNumbering())

    assert set(paths(tools.results_of(['"quay is full"']))) == {"harbour.go", "docs/ropes.md"}
    assert tools.results_of(['"no such quay"']) == []
    assert tools.missing_note('"no such quay"', []) == 'No document has "no such quay" as written.'
