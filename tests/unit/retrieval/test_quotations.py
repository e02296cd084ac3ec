from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.types import View
from tests.unit.retrieval.material import Library

MESSAGE = "the quay is full"


@pytest.fixture
def library(library: Library) -> Library:
    for number in range(90):  # more than are ranked
        library.put(f"docs/{number}.md", f"# Quay\n\nA full quay is no quay: {number} full quays.")
    library.put("harbour.go", 'log.Warn("The quay\n    is full")', kind="code")
    library.put("docs/ropes.md", "# Ropes\n\nWhy ropes break: they are old.", "A rope, if the quay is full, is short.")
    return library


def files(library: Library, query: str, view: View = "auto") -> list[str]:
    return [result.chunk.span.path for result in library.search(query, view=view)]


@pytest.mark.parametrize("query", [f'"{MESSAGE}"', f"“{MESSAGE.upper()}”", f"« {MESSAGE} »", f' "{MESSAGE}"! '])
def test_a_quoted_text_is_found_first_in_any_case_and_across_lines(library: Library, query: str) -> None:
    assert set(files(library, query)[:2]) == {"harbour.go", "docs/ropes.md"}
    assert set(files(library, MESSAGE)[:2]) != {"harbour.go", "docs/ropes.md"}


def test_beside_other_words_a_quoted_text_is_one_sign_of_many(library: Library) -> None:
    found = library.search(f'Why do ropes break when "{MESSAGE}"?', view="passages")

    assert found[0].chunk.span.path == "docs/ropes.md"
    assert {"quoted"} <= found[0].signals.keys()
    assert 0 < found[0].signals["quoted"] < 10


def test_where_no_passage_has_a_quoted_text_others_are_found(library: Library) -> None:
    found = library.search('"no such quay"', view="passages")

    assert found
    assert all("quoted" not in result.signals for result in found)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ('"one two" and "three four"', ("one two", "three four")),
        ('What is "fender"?', ()),
        ("What is 'a full quay'?", ()),
        ('a "b c" ' * 60, ()),  # a log
        ('"two\nlines"', ("two\nlines",)),
        ('"--moor needs a rope"', ("--moor needs a rope",)),
        ('{"key": "a value"}', ("a value",)),
    ],
)
def test_only_several_words_in_double_marks_are_quoted(question: str, quoted: tuple[str, ...]) -> None:
    assert read_question(question).quoted == quoted


def test_a_quotation_is_nothing_but_quoted_texts() -> None:
    assert read_question(f'"{MESSAGE}", "one two"?').is_quotation
    assert not read_question(f'"{MESSAGE}" again').is_quotation
    assert not read_question("quay").is_quotation


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ('"fender"', ("fender",)),
        ('"moor(ship"', ("moor(ship",)),
        ('"one two", "three"?', ("one two", "three")),
        (r'"say(\"moor\")"', ('say("moor")',)),
        (r'"C:\quay"', (r"C:\quay",)),
        ("« une digue »", ("une digue",)),
        ('What is "fender"?', ()),
        ('"fender" of a ship', ()),
        ('{"key": "a value"}', ()),
        ('"a fender', ()),
        ('"fender ' + "a" * 300 + '"', ()),  # a log
    ],
)
def test_a_question_of_nothing_but_quoted_texts_is_a_search_for_them(question: str, texts: tuple[str, ...]) -> None:
    assert read_question(question).as_written == texts


@pytest.mark.parametrize("part", ['"\\', '\\"', '"a" ', '"', '"a\\"'])
def test_marks_that_can_be_read_in_many_ways_take_no_time(part: str) -> None:
    assert read_question(f'a{part * 60}"'[1:] + " ropes").as_written == ()
