"""What stands in boxes, tabs, directives and items of lists is quoted as the prose that it is."""

from __future__ import annotations

import re
import textwrap

import pytest

from openbook.chunking.fixed import ChunkOptions
from openbook.chunking.prose import chunk_prose
from openbook.extractive.composing import compose
from openbook.extractive.context import build_context
from openbook.extractive.displaying import displayed, indented_code
from openbook.extractive.passages import Passage
from openbook.extractive.quoting import quoted
from openbook.sources.documents import read_document
from openbook.text import units
from openbook.types import Chunk
from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import chunk_of, result_of

BODY = "The retry policy waits for a minute.\n\nSet it to zero to turn the retry policy off:\n\n"


def chunks_of(page: str, path: str) -> list[Chunk]:
    return chunk_prose(read_document(page.encode(), source="s", path=path), ChunkOptions())


def answer(question: str, page: str, path: str) -> str:
    return compose(picked(question, *chunks_of(page, path)))


def code_of(page: str, path: str) -> list[str]:
    """Return the lines that are told to be code by their indentation."""
    [chunk] = chunks_of(page, path)
    lines = page.split("\n")
    return [lines[number - 1].strip() for number in indented_code(chunk)]


@pytest.mark.parametrize(
    ("path", "opened"),
    [
        pytest.param("a.md", "!!! note\n", id="box"),
        pytest.param("a.md", '=== "Tab"\n\n    !!! tip\n\n', id="box-in-tab"),
        pytest.param("a.md", "- The item.\n\n", id="item"),
        pytest.param("a.md", "1. The item.\n\n   - And its own.\n\n", id="nested"),
        pytest.param("a.md", "[^1]: A foot.\n\n", id="footnote"),
        pytest.param("a.rst", ".. warning::\n\n", id="directive"),
        pytest.param("a.rst", ".. tabs::\n\n   .. tab:: One\n\n", id="tab"),
        pytest.param("a.rst", ".. option:: --retry\n\n", id="option"),
    ],
)
def test_a_body_is_quoted_as_prose_and_the_code_in_it_as_code(path: str, opened: str) -> None:
    *_, last = opened.rstrip().split("\n")
    margin = " " * (len(last) - len(last.lstrip()) + 4)
    lead = ".. code:: sh\n\n" if path == "a.rst" else ""
    body = textwrap.indent(f"{BODY}{lead}    retry --policy 0\n", margin)

    said = answer("How do I turn the retry policy off?", f"Tides.\n\n{opened}{body}", path)

    prose = "\n".join(line for line in said.split("\n") if line.startswith("> "))
    assert "The retry policy waits for a minute." in prose or "Set it to zero to turn the retry policy off:" in prose
    assert "```sh\nretry --policy 0\n```" in said or "```\nretry --policy 0\n```" in said
    assert "> retry --policy" not in said


@pytest.mark.parametrize(
    ("path", "page", "code"),
    [
        ("a.md", "Text.\n\n    x = 1\n\n    y = 2\n", ["x = 1", "y = 2"]),
        ("a.md", "Text\n    goes on.\n", []),
        ("a.md", "- a\n\n    b\n\n          x = 1\n\nend\n\n    y = 2\n", ["x = 1", "y = 2"]),
        ("a.md", "```\n- a\n```\n\n    x = 1\n", ["x = 1"]),
        ("a.rst", "Term\n    Said.\n\n    More::\n\n        x = 1\n\n    end\n", ["x = 1"]),
        ("a.rst", ".. code:: py\n   :linenos:\n\n   x = 1\n", ["x = 1"]),
        ("a.adoc", "term::\n\n    Said.\n\nend\n\n    literal\n", ["literal"]),
    ],
)
def test_indentation_makes_code_only_of_what_stands_in_no_body(path: str, page: str, code: list[str]) -> None:
    assert code_of(page, path) == code


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        pytest.param("    It waits for a minute, as the box says.\n\n    Then it ends.", False, id="prose"),
        pytest.param("    x = wait(1)\n    y = x + 1;", True, id="code"),
    ],
)
def test_what_a_chunk_begins_with_is_code_if_it_reads_so(text: str, is_code: bool) -> None:
    found = indented_code(chunk_of(f"{text}\nBehind it.", language="markdown"))

    assert list(found) == ([1, 2] if is_code else [])


@pytest.mark.parametrize(
    ("language", "opening", "code"),
    [
        pytest.param("rst", "An example::", [1, 3, 5], id="literal-block"),
        pytest.param("rst", "", [], id="no-literal-block"),
        pytest.param("markdown", "    wait: 1", [1, 3, 5], id="indented-code"),
        pytest.param("markdown", "```", [], id="fence"),
    ],
)
def test_whether_a_chunk_begins_in_code_is_known_from_the_line_that_opens_it(
    language: str, opening: str, code: list[int]
) -> None:
    text = "    It waits for a minute.\n\n    It ends so.\n\n        Or so.\n\nBehind it."

    assert list(indented_code(chunk_of(text, language=language, code_opening=opening))) == code


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('!!! tip "The retry policy"', "> The retry policy\n> "),
        ('!!!tip "The retry policy"', "> The retry policy\n> "),
        ("!!! tip", "> "),
    ],
)
def test_the_sign_of_a_box_is_not_quoted_and_its_title_is(line: str, shown: str) -> None:
    said = answer("How long does the retry policy wait?", f"{line}\n    The retry policy waits a minute.\n", "a.md")

    assert f"{shown}The retry policy waits a minute. [1:" in said


@pytest.mark.parametrize("opened", ["{note}", "{eval-rst}", "eval_rst", "eval_rst\n.. note::"])
def test_prose_in_a_fence_of_a_directive_is_no_example(opened: str) -> None:
    box = f"```{opened}\nThe retry policy waits a minute.\n```"
    page = f"# Waiting\n\n{box}\n\n```sh\nretry --policy 0 now\n```\n\nThat is all.\n"

    said = answer("How long does the retry policy wait?", page, "a.md")

    assert "> The retry policy waits a minute.\n\n```sh\nretry --policy 0 now\n```\n" in said
    assert "# Waiting" not in said


def test_what_underlines_a_title_is_not_quoted() -> None:
    page = "How long does the policy wait?\n------------------------------\nThe retry policy waits a minute.\n"

    said = answer("How long does the retry policy wait?", page, "a.rst")

    assert "waits a minute." in said
    assert "---" not in said


def test_a_title_alone_is_no_quote() -> None:
    page = '=== "The retry policy of tides"\n\n    It waits for a minute, as the moon does.\n'

    assert "The retry policy of tides" not in answer("What is the retry policy of tides?", page, "a.md")


@pytest.mark.parametrize("opened", ['!!!note "The retry policy of tides"', "??? The retry policy", "=== The policy"])
def test_the_opening_of_a_box_is_no_quote_however_it_is_written(opened: str) -> None:
    page = f"# Tides\n\n{opened}\n\n    It waits for a minute, as the moon does.\n"

    assert "policy" not in answer("What is the retry policy of tides?", page, "a.md")


def test_the_tab_that_is_asked_for_is_quoted_alone() -> None:
    page = "# Upgrading\n\n" + "\n".join(
        f'=== "{harbour}"\n\n    ### {quay}\n\n    ```sh\n    {command} upgrade boats\n    ```\n'
        for harbour, quay, command in (("Oslo", "Oslo East", "row"), ("Bergen", "Bryggen", "sail"))
    )

    said = answer("How do I upgrade boats on Bryggen?", page, "a.md")

    assert said.index("sail upgrade boats") < said.index("row upgrade boats")
    assert "###" not in said


def test_a_title_directly_above_its_text_is_not_quoted_with_it() -> None:
    said = answer("Where do boats moor?", '# Boats\n\n=== "Oslo"\n    Boats moor at the quay.\n', "a.md")

    assert "> Boats moor at the quay." in said
    assert "> Oslo" not in said


def test_tags_are_left_out_of_boxes() -> None:
    chunk = chunk_of("!!! tip\n\n    Press <kbd>F1</kbd> to be helped with it.", language="markdown")

    assert displayed(chunk, units(chunk))[1] == "    Press F1 to be helped with it."


def test_a_note_of_one_line_is_quoted_from_behind_its_directive() -> None:
    said = answer("How do I fold a sail?", "Sails\n=====\n\n.. tip:: Fold the sail in thirds.\n", "a.rst")

    assert "> Fold the sail in thirds." in said


@pytest.mark.parametrize("opened", ["> [!NOTE] ", '!!! note "'])
def test_a_box_that_is_one_line_is_quoted(opened: str) -> None:
    said = answer("How are sails folded?", f"# Sails\n\nAll of them.\n\n{opened}Sails are folded in thirds.\n", "a.md")

    assert "Sails are folded in thirds." in said


@pytest.mark.parametrize("name", ["tab", "tab-item", "dropdown"])
def test_a_tab_of_sphinx_is_quoted_with_its_title(name: str) -> None:
    page = f"Sails\n=====\n\n.. {name}:: On Windows\n\n   Sails are folded in thirds.\n"

    said = answer("How are sails folded on Windows?", page, "a.rst")

    assert re.search(r"^> On Windows\n(?:> ?\n)*> Sails are folded in thirds\.", said, re.MULTILINE)


def test_what_is_in_a_tab_of_myst_is_quoted_as_prose() -> None:
    page = "# Sails\n\nAll of them.\n\n```{tab} On Windows\nSails are folded in thirds.\n```\n"

    assert "\n> Sails are folded in thirds. [" in answer("How are sails folded on Windows?", page, "a.md")


@pytest.mark.parametrize("opened", ['!!! note "T"\n\n', "1. The item.\n\n", "- The item.\n\n"])
def test_a_tab_is_as_deep_as_four_blanks(opened: str) -> None:
    said = answer("What does the retry policy wait for?", f"{opened}\tThe retry policy waits for a minute.\n", "a.md")

    assert "> The retry policy waits for a minute." in said


def test_the_mark_before_a_literal_block_is_shown_as_a_colon_or_not_at_all() -> None:
    page = chunk_of("Moor it like this::\n\n    moor()\n\n::\n\n    sail()\n", "a.rst", language="rst")
    (shown,) = build_context([result_of(page)], 10_000).shown

    written = quoted(Passage(shown, shown.units[0], shown.units[-1]))

    assert written == "> Moor it like this:\n\n```\nmoor()\n```\n\n```\nsail()\n```\n[1:1-4]"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<summary>Press <kbd>F1</kbd> to moor.</summary>", "> Press F1 to moor. [1:1]"),
        ("| Rope | Hemp.<br>Or steel. |", "> | Rope | Hemp. Or steel. | [1:1]"),
        ("Write `<kbd>` around a key of type List<T>.", "> Write `<kbd>` around a key of type List<T>. [1:1]"),
    ],
)
def test_tags_are_not_quoted_as_a_page_shows_none(text: str, written: str) -> None:
    (shown,) = build_context([result_of(chunk_of(text, language="markdown"))], 10_000).shown

    assert quoted(Passage(shown, shown.units[0], shown.units[0])) == written
