"""What the viewer shows: lines around a span, sentences of long lines, the original's own names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.errors import QueryError
from openbook.server.routes.contents import view
from openbook.types import Anchor
from tests.support import document

PAGE = document("a.md", "one\ntwo\n")
TEXT = "".join(f"line {number}\n" for number in range(1, 101))


def test_lines_around_the_span_are_shown_and_those_in_it_are_cited() -> None:
    made = document("a.md", TEXT)
    start = TEXT.index("line 50")

    shown = view(made, "id", start, start + 14, context=1, link=lambda span, _: f"there#{span}")

    assert [(unit.number, unit.cited) for unit in shown.units] == [(49, False), (50, True), (51, True), (52, False)]
    assert [TEXT[unit.start_char : unit.end_char] for unit in shown.units] == [unit.text for unit in shown.units]
    assert (shown.more_before, shown.more_after, shown.url) == (True, True, "there#a.md:50-51")


def test_a_long_line_is_shown_by_sentences() -> None:
    sentences = [f"This is sentence number {number} of a lecture." for number in range(40)]
    text = " ".join(sentences) + "\nEnd.\n"
    start = text.index("sentence number 7 ")

    shown = view(document("a.txt", text), "id", start, start + 5, context=2)

    assert [unit.text for unit in shown.units] == sentences[5:10]
    assert [unit.text for unit in shown.units if unit.cited] == [sentences[7]]
    assert (shown.more_before, shown.more_after) == (True, True)


def test_a_place_has_the_name_that_the_original_has_for_it() -> None:
    made = document("a.ipynb", "one\ntwo\n", anchors=(Anchor(0, "cell 1"), Anchor(4, "cell 2")))

    shown = view(made, "id", 4, 7, context=5)

    assert (shown.label, [unit.label for unit in shown.units]) == ("cell 2", ["cell 1", "cell 2"])


def test_the_link_to_a_page_of_a_pdf_is_one_to_the_file() -> None:
    pdf = replace(document("a.pdf", "one\ntwo\n", anchors=(Anchor(0, "p. 1"),)), language="pdf")

    links = [view(each, "id", 0, 3, context=0, link=lambda span, anchor: f"{span} {anchor}") for each in (pdf, PAGE)]

    assert [shown.url for shown in links] == ["a.pdf:1-1 p. 1", "a.md:1-1 None"]


def test_an_empty_range_shows_the_beginning_and_cites_nothing() -> None:
    shown = view(document("a.md", TEXT), "id", 0, 0, context=2)

    assert [(unit.number, unit.cited) for unit in shown.units] == [(1, False), (2, False), (3, False)]
    assert view(document("a.md", ""), "id", 0, 0, context=2).units[0].text == ""


@pytest.mark.parametrize(
    "text", ["x\n" * 5_000, "A sentence of a page in one line. " * 5_000], ids=["lines", "one line"]
)
def test_a_large_span_is_cut_at_a_page(text: str) -> None:
    whole = view(document("a.md", text), "id", 0, len(text), context=200)
    end = view(document("a.md", text), "id", len(text) - 1, len(text) - 1, context=200)

    assert (len(whole.units), whole.more_before, whole.more_after) == (400, False, True)
    assert (len(end.units), end.more_before, end.more_after) == (201, True, False)


def test_a_long_line_without_words_shows_nothing() -> None:
    assert view(document("a.txt", " " * 99_999), "id", 0, 0, context=0).units[0].text == ""


@pytest.mark.parametrize(("start", "end"), [(5, 4), (0, 9_999), (-1, 2)])
def test_a_range_that_is_none_is_told(start: int, end: int) -> None:
    with pytest.raises(QueryError, match="characters"):
        view(document("a.md", TEXT), "id", start, end, context=1)
