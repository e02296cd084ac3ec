"""Where a page includes code from a file, an answer shows that code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.answers import GenerationResult
from openbook.extractive.answerer import ScoredPassage, pick
from openbook.extractive.context import build_context
from openbook.extractive.includes import IncludedCode, unfolded, with_included, with_included_code
from openbook.extractive.passages import Passage, passages_of
from openbook.questions.question import read_question
from openbook.testing import HashEmbedder
from openbook.types import Chunk, Filter
from tests.unit.answering.test_generator import assert_exact, generator_of
from tests.unit.retrieval.material import Library, chunk_of, result_of

QUESTION = "how do I moor a boat"
CODE = "import quay\n\n\ndef moor(boat):\n    quay.tie(boat.rope)"
PAGE = 'To moor a boat, tie its rope:\n\n```python\n--8<-- "examples/moor.py"\n```\n\nThe harbour master knows.'


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    yield made
    made.close()


def put_code(library: Library, path: str = "examples/moor.py", text: str = CODE) -> None:
    library.put(path, text, kind="code", language="python")


def ask(library: Library, question: str = QUESTION, *, where: Filter | None = None) -> GenerationResult:
    only_pages = where or Filter()
    return generator_of(library).generate_with_retrieval(question, top_k=1, where=only_pages)


def picked(library: Library, *pages: Chunk, question: str = QUESTION) -> list[ScoredPassage]:
    """Return what is quoted if these pages are the only results."""
    query, code = read_question(question), IncludedCode(library.index, Filter())
    context = with_included(build_context([result_of(page) for page in pages], 10_000), code)
    return unfolded(pick(query, context, HashEmbedder(), dict.fromkeys(query.tokens, 1.0)), context)[0]


def quotes(library: Library, page: Chunk, question: str = QUESTION) -> list[str]:
    return [each.passage.text for each in picked(library, page, question=question) if not each.is_pointer]


def passages(library: Library, page: Chunk) -> list[str]:
    context = with_included(build_context([result_of(page)], 10_000), IncludedCode(library.index, Filter()))
    return [each.text for each in passages_of(context.shown[0])]


def included(library: Library, page: Chunk, where: Filter | None = None) -> list[str | None]:
    code = IncludedCode(library.index, where or Filter())
    return [None if chunk is None else str(chunk.span) for _, chunk in code.of(page)]


def test_the_code_is_quoted_in_the_place_of_the_directive(library: Library) -> None:
    library.put("docs/boats.md", PAGE, language="markdown")
    put_code(library)

    answer = ask(library)

    assert f"```python\n{CODE}\n```\n[2:1-3]" in answer.answer
    assert "8<--" not in answer.answer
    assert "examples/moor.py:1-5" in {str(each.span) for each in answer.citations}
    assert_exact(answer, library)


def test_what_is_said_around_it_is_quoted_with_its_own_lines(library: Library) -> None:
    page = "Ships float on\nwater. Here is how I do moor a boat:\n\n.. _moor:\n.. literalinclude:: ../lib/a.py"
    (chunk,) = library.put("docs/boats.rst", page, language="rst")
    put_code(library, "lib/a.py", "tie(rope, ring)\nwalk(away, slowly)")

    assert quotes(library, chunk)[:2] == ["Here is how I do moor a boat:", "tie(rope, ring)\nwalk(away, slowly)"]


def test_a_file_behind_the_filter_is_not_shown(library: Library) -> None:
    (page,) = library.put("docs/boats.md", PAGE, language="markdown")
    put_code(library)
    where = Filter(globs=("docs/*",))

    answer = ask(library, where=where)

    assert included(library, page, where) == [None]
    assert "quay" not in answer.answer
    assert answer.answer.split("\n\n")[2].startswith("> To moor a boat")


def test_results_at_hand_are_not_completed_by_files_that_their_giver_may_not_read(library: Library) -> None:
    (page,) = library.put("docs/boats.md", PAGE, language="markdown")
    put_code(library)

    answer = generator_of(library).generate_answer(QUESTION, [result_of(page)])

    assert "quay" not in answer.answer


def test_a_directive_for_nothing_is_quoted_behind_all_else(library: Library) -> None:
    page = 'A boat is moored by its rope.\n\n```python\n--8<-- "how_do_I_moor_a_boat.py"\n```'
    library.put("docs/boats.md", page, language="markdown")

    assert ask(library).answer.split("\n\n")[2] == "> A boat is moored by its rope. [1:1]"


def test_see_also_lists_no_directive(library: Library) -> None:
    (page,) = library.put("docs/boats.md", "How to moor a boat:\n\n```\n{{#include ../b.py}}\n```", language="markdown")
    (more,) = library.put("docs/more.md", '```python\n--8<-- "how_do_I_moor_a_boat.py"\n```', language="markdown")
    put_code(library, "b.py")
    put_code(library, "how_do_I_moor_a_boat.py", "\n".join(f"knot = {number} * {number} * 2" for number in range(40)))

    found = picked(library, page, more)

    assert CODE in [each.passage.text for each in found]
    assert not any("8<--" in each.passage.text for each in found)


def test_a_pointer_stays_in_its_page(library: Library) -> None:
    (page,) = library.put("docs/boats.md", PAGE, language="markdown")
    put_code(library)
    context = with_included(build_context([result_of(page)], 10_000), IncludedCode(library.index, Filter()))
    (shown,) = context.shown
    pointer = ScoredPassage(Passage(shown, shown.units[0], shown.units[3]), 0.0, is_pointer=True)

    assert unfolded([pointer], context) == ([pointer], context)


def test_a_directive_is_offered_once_with_its_fences_or_by_itself(library: Library) -> None:
    text = (
        "Boats have long ropes.\n\n```python\n{{#include a.py}}\n```\n\n<<< a.py\n\nRopes have many knots.\n\n<<< b.py"
    )
    (page,) = library.put("page.md", text, language="markdown")
    put_code(library, "a.py")

    assert passages(library, page) == [
        "Boats have long ropes.",
        "```python\n{{#include a.py}}\n```",
        "<<< a.py",
        "Ropes have many knots.",
        "Ropes have many knots.\n\n<<< b.py",
    ]


def test_options_of_a_directive_do_not_lead_to_what_is_below(library: Library) -> None:
    page = "Boats:\n\n.. literalinclude:: ../examples/moor.py\n   :linenos:\n\nBring tea and biscuits."
    (chunk,) = library.put("docs/boats.rst", page, language="rst")
    put_code(library)

    assert quotes(library, chunk) == [CODE]


def test_included_code_is_an_example_for_a_how_to(library: Library) -> None:
    page = "You do moor a boat with a rope.\n\n.. literalinclude:: ../examples/moor.py"
    (chunk,) = library.put("docs/boats.rst", page, language="rst")
    put_code(library)

    assert quotes(library, chunk)[0] == CODE


@pytest.mark.parametrize(
    ("page", "path", "files"),
    [
        pytest.param("docs/a/page.md", "../ex/moor.py", ["docs/ex/moor.py", "ex/moor.py"], id="from-its-folder"),
        pytest.param("docs/a/page.md", "ex/moor.py", ["ex/moor.py"], id="from-the-root"),
        pytest.param("docs/a/page.md", "ex/moor.py", ["docs/ex/moor.py", "lib/ex/moor.py"], id="from-a-folder-above"),
        pytest.param("docs/a/page.md", "/ex/moor.py", ["docs/ex/moor.py"], id="from-the-top"),
        pytest.param("docs/a/page.md", "../../../ex/moor.py", ["lib/ex/moor.py"], id="by-its-end"),
        pytest.param("docs/a/page.md", "{examples}/ex/moor.py", ["lib/ex/moor.py"], id="below-an-unknown-attribute"),
        pytest.param("docs/a/page.md", "example$moor.py", ["docs/examples/moor.py"], id="in-a-family"),
    ],
)
def test_a_path_is_resolved(library: Library, page: str, path: str, files: list[str]) -> None:
    (chunk,) = library.put(page, f"----\ninclude::{path}[]\n----", language="asciidoc")
    for file in files:
        put_code(library, file)

    assert included(library, chunk) == [f"{files[0]}:1-5"]


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("ex/moor.py", ["docs/ex/moor.py", "ex/moor.py"]),
        ("../../../ex/moor.py", ["lib/ex/moor.py", "old/ex/moor.py"]),
        ("oor.py", ["lib/moor.py"]),
    ],
)
def test_a_path_that_may_mean_several_files_or_none_is_not_followed(
    library: Library, path: str, files: list[str]
) -> None:
    (chunk,) = library.put("docs/a/page.md", f'```\n--8<-- "{path}"\n```', language="markdown")
    for file in files:
        put_code(library, file)

    assert included(library, chunk) == [None]


def test_an_attribute_of_the_page_is_a_part_of_the_path(library: Library) -> None:
    chunks = library.put("docs/page.adoc", ":ex: ../lib/ex", "----\ninclude::{ex}/moor.py[]\n----", language="asciidoc")
    put_code(library, "lib/ex/moor.py")
    put_code(library, "old/moor.py")

    assert included(library, chunks[1]) == ["lib/ex/moor.py:1-5"]


def test_the_root_of_a_site_is_a_folder_above(library: Library) -> None:
    (chunk,) = library.put("docs/en/page.md", "Moor it:\n\n<<< @/ex/moor.py", language="markdown")
    put_code(library, "docs/ex/moor.py")

    assert included(library, chunk) == ["docs/ex/moor.py:1-5"]


def test_prose_is_included_only_in_an_example(library: Library) -> None:
    (chunk,) = library.put("page.md", "{{#include help.md}}\n\n```\n{{#include help.md}}\n```", language="markdown")
    library.put("help.md", "Usage: moor [boat]", language="markdown")

    (_, prose), (_, example) = IncludedCode(library.index, Filter()).of(chunk)

    assert prose is None
    assert example is not None
    assert (example.text, example.kind, example.language) == ("Usage: moor [boat]", "code", "")


@pytest.mark.parametrize(("lines", "is_shown"), [(40, True), (41, False)])
def test_long_files_are_not_shown_where_blank_lines_do_not_count(library: Library, lines: int, is_shown: bool) -> None:
    (chunk,) = library.put("page.md", "```\n{{#include moor.py}}\n```", language="markdown")
    put_code(library, "moor.py", "\n\n".join(f"moor({number})" for number in range(lines)))

    assert (included(library, chunk) != [None]) is is_shown


def test_blank_lines_around_a_part_are_left_out(library: Library) -> None:
    (chunk,) = library.put("page.md", "```\n{{#include moor.py:1:6}}\n```", language="markdown")
    library.put_chunks(f"\n\n{CODE}\n\n\n", [chunk_of(CODE, "moor.py", before="\n\n", kind="code")])

    assert included(library, chunk) == ["moor.py:3-6"]


def test_a_part_that_the_file_lacks_is_not_shown(library: Library) -> None:
    (chunk,) = library.put("page.md", "```\n{{#include moor.py:ropes}}\n```", language="markdown")
    put_code(library, "moor.py")

    assert included(library, chunk) == [None]


def test_the_same_code_is_quoted_once_and_as_the_result_that_it_is(library: Library) -> None:
    page = PAGE + "\n\nTo moor a boat again:\n\n```python\n-8<- 'examples/moor.py'\n```"
    library.put("docs/boats.md", page, language="markdown")
    put_code(library)

    answer = generator_of(library).generate_with_retrieval(QUESTION, top_k=2)

    assert answer.answer.count("quay.tie(boat.rope)") == 1
    assert len(answer.results) == 2


def test_words_of_the_code_count_for_what_is_quoted(library: Library) -> None:
    (page,) = library.put("page.md", "\n\n".join(f"```\n{{{{#include {each}.py}}}}\n```" for each in "abc"))
    put_code(library, "a.py", "sail(x, y, z)\nrow(x, y, z)")
    put_code(library, "b.py")
    put_code(library, "c.py", "swim(x, y, z)\nrun(x, y, z)")

    assert quotes(library, page, "how do I tie the rope of a boat to the quay")[0] == CODE


def test_words_of_the_directive_do_not_count(library: Library) -> None:
    (page,) = library.put("page.md", "```\n{{#include how_do_I_moor_a_boat.py}}\n```\n\nYou moor it by its rope.")
    put_code(library, "how_do_I_moor_a_boat.py", "sail(x, y, z)\nrow(x, y, z)")

    assert quotes(library, page)[0] == "You moor it by its rope."


def test_only_the_first_code_is_not_counted_in_the_length_of_an_answer(library: Library) -> None:
    page = "How to moor a boat.\n\n" + "\n\n".join(f"```\n{{{{#include moor_{name}.py}}}}\n```" for name in "abc")
    library.put("page.md", page, language="markdown")
    for name in "abc":
        put_code(
            library, f"moor_{name}.py", "\n".join(f"moor the boat_{name} with rope {number}" for number in range(30))
        )

    answer = ask(library)

    assert sum(f"boat_{name} with rope 9" in answer.answer for name in "abc") == 1
    assert "How to moor a boat." in answer.answer


def test_a_model_is_shown_the_code_behind_its_page(library: Library) -> None:
    (page,) = library.put("docs/boats.md", PAGE, language="markdown")
    other = chunk_of("Boats float.", "docs/other.md")
    put_code(library)
    code = IncludedCode(library.index, Filter())

    found = with_included_code([result_of(page), result_of(other)], code)
    again = with_included_code(found, code)
    far = with_included_code([*(result_of(chunk_of(f"Boat {n}.", f"{n}.md")) for n in range(3)), result_of(page)], code)

    assert [each.chunk.span.path for each in found] == ["docs/boats.md", "examples/moor.py", "docs/other.md"]
    assert again == found
    assert len(far) == 4


def test_a_model_is_shown_it_in_the_room_of_its_context(library: Library) -> None:
    (page,) = library.put("docs/boats.md", PAGE, language="markdown")
    put_code(library)
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    found = finder.fill_context([result_of(page)], 6_000, Filter())

    assert [each.chunk.span.path for each in found] == ["docs/boats.md", "examples/moor.py"]


def test_a_result_that_is_cut_within_an_example_is_quoted(library: Library) -> None:
    page = "A boat is moored.\n\n```\n" + "\n".join(f"moor the boat {number}" for number in range(90)) + "\n```"
    library.put("docs/boats.md", page, language="markdown")

    assert "moor the boat 1" in generator_of(library, context_tokens=200).generate_with_retrieval(QUESTION).answer


def test_a_page_that_is_cut_has_no_code_for_a_directive_below(library: Library) -> None:
    page = "\n".join(f"Boat {number} is moored by its rope." for number in range(50)) + "\n\n" + PAGE
    library.put("docs/boats.md", page, language="markdown")
    put_code(library)

    answer = generator_of(library, context_tokens=200).generate_with_retrieval(QUESTION, top_k=1)

    assert len(build_context(answer.results, 200).shown[0].units) < 50
    assert "quay" not in answer.answer
