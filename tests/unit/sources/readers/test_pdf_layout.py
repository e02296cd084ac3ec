"""What lines of pages say by where they stand."""

from __future__ import annotations

from dataclasses import replace

from openbook.sources.readers.pdf_layout import (
    by_columns,
    edges_of,
    from_top,
    heading_levels,
    paragraphs_of,
    unwrapped,
    without_stamps,
)
from openbook.sources.readers.pdf_pages import PageLine, Row

HEIGHT = 10.0
PAGE = 800.0


def row(text: str, top: float, *, left: float = 50, right: float = 300, height: float = HEIGHT) -> Row:
    return (PageLine(text, left, right, top - height, top, height, right),)


def texts(rows: list[Row]) -> list[str]:
    return ["  ".join(line.text for line in row) for row in rows]


def test_few_lines_side_by_side_or_short_ones_are_no_columns() -> None:
    table = [row("Plan of this year", 500)[0], row("costs three euros more", 500, left=310, right=500)[0]]
    names = [row("Plan", 500)[0], row("costs three euros more", 500, left=310, right=500)[0]]

    assert by_columns([tuple(table)] * 5) == [tuple(table)] * 5
    assert by_columns([tuple(names)] * 9) == [tuple(names)] * 9
    assert by_columns([tuple(table)] * 6) == [(table[0],)] * 6 + [(table[1],)] * 6


def test_marks_across_a_page_and_along_its_sides_go_and_figures_stay() -> None:
    text = [row(f"Line {number} of the text", 700 - 20 * number) for number in range(4)]
    watermark = (replace(row("DRAFT", 400)[0], angle=45),)
    stamp = (replace(row("arXiv:2001.00001v1", 400, left=12, right=30)[0], angle=90),)
    axis = (replace(row("Accuracy", 400, left=200, right=215)[0], angle=90),)
    labels = [(replace(row(f"label {number}", 300, left=100 * number)[0], angle=30),) for number in range(3)]

    assert without_stamps([stamp, *text, watermark, axis, *labels], 600) == [*text, axis, *labels]
    assert without_stamps([], 600) == []


def test_white_space_and_another_size_begin_a_paragraph() -> None:
    rows = [row("a", 500), row("b", 488), row("c", 460), row("D", 448, height=20), row("e", 420)]

    assert [texts(found) for found in paragraphs_of(rows)] == [["a", "b"], ["c"], ["D"], ["e"]]
    assert list(paragraphs_of([])) == []


def test_a_sentence_goes_on_at_the_top_of_the_next_column() -> None:
    rows = [row("ends in", 112), row("the next", 100), row("column.", 500, left=310), row("New.", 488, left=310)]

    assert [texts(found) for found in paragraphs_of(rows)] == [["ends in", "the next", "column.", "New."]]
    assert [texts(found) for found in paragraphs_of([row("It ends.", 100), row("New.", 500, left=310)])] == [
        ["It ends."],
        ["New."],
    ]


def test_a_line_that_leaves_room_for_the_next_word_ends_there() -> None:
    full, short = "a line as wide as its column allows", "a line that ends before the edge"
    rows = [row(full, 500), row("goes on", 488, right=90), row(short, 476, right=200), row("stands alone", 464)]

    assert unwrapped(rows, edges_of(rows)) == [f"{full} goes on", short, "stands alone"]


def test_items_and_fields_begin_lines_of_their_own() -> None:
    rows = [row("a line as wide as its column allows", 500)]
    rows += [
        row(text, 488)
        for text in (
            "• an item of a list, and a long one",
            "▶ an item of slides, and a long one",
            "Course Link: x and all that it takes",
        )
    ]

    assert unwrapped(rows, edges_of(rows)) == texts(rows)


def test_lines_of_han_characters_are_joined_without_a_space() -> None:
    rows = [row("文" * 40, 500), row("字" * 5, 488, right=90)]

    assert unwrapped(rows, edges_of(rows)) == ["文" * 40 + "字" * 5]


def test_sizes_that_are_nearly_the_same_are_one_level() -> None:
    rows = [row("a", 500, height=height) for height in (30, 29, 20, 19, 13, 10)]

    assert heading_levels([rows], body=10) == {30: 1, 29: 1, 20: 2, 19: 2, 13: 3}
    assert heading_levels([rows], body=0) == {}


def test_lines_that_are_far_apart_are_one_paragraph_below_a_small_running_head() -> None:
    rows = [row("head", 500, height=6), *(row(f"line {number}", 480 - 24 * number) for number in range(4))]

    assert [texts(found) for found in paragraphs_of(rows)] == [["head"], [f"line {number}" for number in range(4)]]


def test_parts_of_one_line_do_not_tell_how_far_lines_are_apart() -> None:
    rows = [row(f"{part} {number}", 500 - 12 * number) for number in range(3) for part in "abc"]

    assert len(list(paragraphs_of(rows))) == 1


def column(words: str, top: float, count: int = 4, **place: float) -> list[Row]:
    return [row(f"{words} {number}", top - 12 * number, **place) for number in range(count)]


def test_a_text_above_others_is_read_first_although_the_page_holds_it_last() -> None:
    abstract, left, right = column("A", 700, right=550), column("L", 400), column("R", 400, left=310, right=550)

    assert from_top([*left, *right, *abstract]) == [*abstract, *left, *right]
    assert from_top([*abstract, *left, *right]) == [*abstract, *left, *right]


def test_captions_and_other_columns_stay_where_the_page_holds_them() -> None:
    left, higher, caption = column("L", 400), column("R", 700, left=310, right=550), column("Figure", 700, 3)

    assert from_top([*left, *higher, *caption]) == [*left, *higher, *caption]


def test_what_stands_far_apart_on_a_page_is_not_moved_as_one() -> None:
    head, left, abstract = column("H", 790, left=400, right=550), column("L", 300), column("A", 600, right=550)

    assert from_top([*head, *left, *abstract]) == [*head, *abstract, *left]
