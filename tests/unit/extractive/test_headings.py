"""Tests of openbook.extractive.headings."""

import pytest

from openbook.extractive.headings import ends_of_bodies, headings_over, lines_of_questions
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.markup import read_markup
from tests.unit.retrieval.material import chunk_of


def over(text: str, words: str, language: str = "markdown", context: tuple[str, ...] = ()) -> tuple[str, ...]:
    chunk = chunk_of(text, "b.md", language=language, context=context)
    return headings_over(chunk, chunk.text.index(words))


def test_the_headings_over_a_place_are_those_of_its_section_only() -> None:
    text = "# Harbour\n\n## Ropes\n\nhemp\n\n### Knots\n\nbowline\n\n## Tides\n\nebb\n"

    assert over(text, "hemp") == ("Harbour", "Ropes")
    assert over(text, "bowline") == ("Harbour", "Ropes", "Knots")
    assert over(text, "ebb") == ("Harbour", "Tides")


def test_headings_above_the_whole_chunk_come_first_and_once() -> None:
    text = "## Ropes\n\nhemp\n\n### Knots\n\nbowline\n"

    assert over(text, "bowline", context=("Harbour", "Ropes")) == ("Harbour", "Ropes", "Knots")


@pytest.mark.parametrize("language", ["asciidoc", "man"])
def test_headings_that_a_reader_has_marked_are_below_those_of_a_lower_level(language: str) -> None:
    page = "= Harbour\n\n== Ropes\n\nhemp\n\n=== Knots\n\nbowline\n\n== Tides\n\nebb\n"
    manual = ".TH Harbour 1\n.SH Ropes\nhemp\n.SS Knots\nbowline\n.SH Tides\nebb\n"
    text = read_markup(page if language == "asciidoc" else manual, "", language).text

    assert over(text, "hemp", language)[-1:] == ("Ropes",)
    assert over(text, "bowline", language)[-2:] == ("Ropes", "Knots")
    assert "Ropes" not in over(text, "ebb", language)


def test_the_headings_of_a_document_without_signs_are_those_that_its_reader_has_marked() -> None:
    composer = Composer()
    for level, title, said in (
        (1, "Harbour", "sea"),
        (2, "Ropes", "hemp"),
        (3, "Knots", "bowline"),
        (2, "Tides", "ebb"),
    ):
        composer.heading(title, level)
        composer.text(said)
    text = composer.reading("docx").text

    assert over(text, "hemp", "docx") == ("Harbour", "Ropes")
    assert over(text, "bowline", "docx") == ("Harbour", "Ropes", "Knots")
    assert over(text, "ebb", "docx") == ("Harbour", "Tides")


@pytest.mark.parametrize("language", ["pdf", "docx", "html"])
def test_signs_of_markdown_make_no_headings_of_documents_in_other_formats(language: str) -> None:
    text = "#  Description  Level\n\n7.3.1  Moor the ship.\n\nTotal\n-----\n\nnine"

    assert over(text, "Moor", language, context=("V7.3 Ropes",)) == ("V7.3 Ropes",)
    assert over(text, "nine", language) == ()


@pytest.mark.parametrize(
    ("language", "text", "title"),
    [
        pytest.param("markdown", "::: warning\nNever pull a wet rope.\n:::\n\nPull it.", (), id="box"),
        pytest.param("markdown", "Call it so:\n```\nsplice\n```\n\nPull it.", (), id="example"),
        pytest.param("markdown", "Never pull\n---\n\nPull it.", ("Never pull",), id="underlined"),
        pytest.param("rst", "Never pull\n:::::::::\n\nPull it.", ("Never pull",), id="other-languages"),
    ],
)
def test_only_what_underlines_a_title_makes_a_heading(language: str, text: str, title: tuple[str, ...]) -> None:
    assert over(text, "Pull it", language) == title


def test_a_comment_in_an_example_is_no_heading() -> None:
    text = "## Ropes\n\n```sh\n# splice them\nsplice\n```\n\nThen wait.\n"

    assert over(text, "splice\n") == over(text, "Then") == ("Ropes",)


def test_a_line_of_a_comment_is_no_heading() -> None:
    text = "## Ropes\n\n<!--\n# All rights of the harbour\n-->\n\nhemp\n\n```html\n<!--\n```\n\n## Tides\n\nebb\n"

    assert over(text, "hemp") == ("Ropes",)
    assert over(text, "ebb") == ("Tides",)


def test_front_matter_has_no_headings() -> None:
    text = "---\ntitle: Harbour\ndescription: All of it.\n---\n\nIt moors.\n\n## Ropes\n\nhemp\n"

    assert over(text, "moors") == ()
    assert over(text, "hemp") == ("Ropes",)
    below = chunk_of(text, "b.md", language="markdown", before="Before.\n\n")
    assert headings_over(below, below.text.index("moors")) == ("description: All of it.",)  # above a line


def test_a_title_with_a_line_above_and_below_is_not_closed_by_one_with_a_line_below() -> None:
    text = "=======\nHarbour\n=======\n\nRopes\n=====\n\nKnots\n-----\n\nbowline\n\nTides\n=====\n\nebb\n"

    assert over(text, "bowline", "rst") == ("Harbour", "Ropes", "Knots")
    assert over(text, "ebb", "rst") == ("Harbour", "Tides")


TABS = """\
## Ropes

=== "Hemp"

    ### Hemp

    #### Splices

    soft

    ```sh
    # splice it
    splice
    ```

        # twist it
        twist

=== "Steel"

    hard

    ??? note "Rust"
        red

    bright

Then moor.
"""


def test_tabs_and_the_headings_in_them_are_over_what_is_indented_below() -> None:
    assert over(TABS, "soft") == over(TABS, "splice\n") == over(TABS, "twist\n") == ("Ropes", "Hemp", "Splices")
    assert over(TABS, "hard") == over(TABS, "bright") == ("Ropes", "Steel")
    assert over(TABS, "red") == ("Ropes", "Steel", "Rust")
    assert over(TABS, "Then") == ("Ropes",)


def test_a_tab_is_below_each_heading_beside_it() -> None:
    assert over('#### Ropes\n\n=== "Hemp"\n\n    soft\n', "soft") == ("Ropes", "Hemp")
    assert over('=== "Hemp"\n\n    soft\n\n#### Ropes\n\nhard\n', "hard") == ("Ropes",)
    assert over('=== "Hemp"\n\n=== "Steel"\n\n    hard\n', "hard") == ("Steel",)
    assert over('!!! note "Hemp"\n\n    soft\n', "soft") == ()


def test_headings_in_html_are_over_what_is_below_in_markdown_only() -> None:
    text = '# Harbour\n\n<h3 id="t">\nWhen is the <b>tide</b>?\n</h3>\n\nebb\n\n## Ropes\n\nhemp\n'

    assert over(text, "ebb") == ("Harbour", "When is the tide?")
    assert over(text, "hemp") == ("Harbour", "Ropes")
    assert over("<h2>Ropes</h2>\n\nhemp\n", "hemp", "rst") == ()


def test_headings_are_indented_in_markdown_only() -> None:
    text = 'Ropes\n=====\n\n    # twist it\n\n=== "Hemp"\n\n    soft\n'

    assert over(text, "soft", "rst") == ("Ropes",)


def test_bodies_end_where_their_indentation_does() -> None:
    chunk = chunk_of('    first\n\n!!! note\n\n    second\n\n    ```\n=== "x"\n    ```\n\nthird\n', language="markdown")

    assert [chunk.text[at:].split("\n")[0] for at in sorted(ends_of_bodies(chunk))] == ["!!! note", '=== "x"']
    assert ends_of_bodies(chunk_of("    first\n\nsecond\n", language="rst")) == ()
    assert ends_of_bodies(chunk_of("[^1]: first\n\nsecond\n", language="markdown")) == ()


@pytest.mark.parametrize(
    ("heading", "language", "title"),
    [
        ("## Using [knots](knots.md) ##", "markdown", "Using knots"),
        ("## The *big* **old** `rope` {#big}", "markdown", "The big old rope"),
        ("## Ropes &amp; <b>tides</b>", "markdown", "Ropes & tides"),
        ("## Set `rope_*` and 2 * 3", "markdown", "Set rope_* and 2 * 3"),
        ("Using :ref:`knots`\n==================", "rst", "Using knots"),
        ("copy#\n=====", "rst", "copy#"),
        ("## In C# ##", "markdown", "In C#"),
        ("## Tides ##", "markdown", "Tides"),
        ("## Tides [![Build](a.svg)](b)", "markdown", "Tides"),
    ],
)
def test_a_heading_is_told_as_a_page_shows_it(heading: str, language: str, title: str) -> None:
    assert over(f"{heading}\n\nhemp\n", "hemp", language) == (title,)


def test_questions_of_a_faq_are_headings_below_all_others_and_end_each_other() -> None:
    text = "# Ropes\n\n**Do ropes freeze?**\n\nno\n\nQ: Do knots hold?\nA: yes\n\n### Hemp\n\nold\n\n# Tides\n\nebb\n"

    assert over(text, "no\n") == ("Ropes", "Do ropes freeze?")
    assert over(text, "yes") == ("Ropes", "Do knots hold?")
    assert over(text, "old\n\n#") == ("Ropes", "Hemp")
    assert over(text, "ebb") == ("Tides",)


def test_questions_end_at_underlined_headings() -> None:
    text = "Ropes\n=====\n\n**Do ropes freeze?**\n\nno\n\nTides\n=====\n\nebb\n"

    assert over(text, "no\n", "rst") == ("Ropes", "Do ropes freeze?")
    assert over(text, "ebb", "rst") == ("Tides",)


def test_lines_with_nothing_but_questions_are_counted_in_the_document() -> None:
    asked = "**Do ropes freeze?** \n\nQ: Do they\nburn?\nA: no\n\n**Do knots hold?** Yes."
    text = f"Ropes.\n\n{asked}\n\n```\nQ: Do they burn?\n```\n"
    chunk = chunk_of(text, "b.md", before="One.\n\n", language="markdown")

    assert lines_of_questions(chunk) == {5, 7, 8}


def test_a_question_at_the_end_of_a_chunk_is_a_line() -> None:
    assert lines_of_questions(chunk_of("no\n\nQ: Do ropes freeze?", "b.md", language="markdown")) == {3}
