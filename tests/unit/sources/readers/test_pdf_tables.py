"""Rows of tables are whole, whatever the number of lines in their cells."""

from __future__ import annotations

from openbook.sources.readers.pdf_layout import text_of
from openbook.sources.readers.pdf_pages import PageLine, Row
from openbook.sources.readers.pdf_tables import with_whole_rows


def row(bottom: float, *parts: tuple[str, float], height: float = 8) -> Row:
    return tuple(
        PageLine(text, left, left + 5 * len(text), bottom, bottom + height, height, left + 5 * len(text))
        for text, left in parts
    )


def shown(*rows: Row) -> list[str]:
    return list(map(text_of, with_whole_rows(rows)))


HEAD = row(420, ("Quay", 50), ("Depth", 150), ("Use", 250))


def test_the_lines_of_each_cell_are_joined() -> None:
    assert shown(
        HEAD,
        row(400, ("North", 50)),
        row(390, ("(old)", 50), ("9 m", 150)),
        row(400, ("Grain and", 250)),
        row(390, ("oats", 250)),
        row(370, ("South", 50), ("4 m", 150), ("Boats", 250)),
    ) == ["Quay  Depth  Use", "North (old)  9 m  Grain and oats", "South  4 m  Boats"]


def test_a_caption_is_no_part_of_the_row_below_it() -> None:
    caption = row(434, ("Table 1: Quays and their depths", 50))

    assert shown(caption, HEAD, row(400, ("North", 50), ("9 m", 150), ("Grain", 250)), row(390, ("and oats", 250))) == [
        "Table 1: Quays and their depths",
        "Quay  Depth  Use",
        "North  9 m  Grain and oats",
    ]


def test_a_heading_beside_a_caption_is_no_cell() -> None:
    page = [
        HEAD,
        row(400, ("Figure 1: A quay", 50)),
        row(390, ("at night", 50)),
        row(395, ("2", 150), ("Quays", 250), height=12),
    ]

    assert with_whole_rows(page) == page


def test_columns_of_text_and_tables_that_are_stored_by_columns_stay() -> None:
    long = [row(400 - 10 * line, ("words", left)) for left in (50, 150, 250) for line in range(9)]
    by_column = [row(420 - 10 * line, (f"{left}", left)) for left in (50, 150, 250) for line in range(4)]

    assert with_whole_rows(long) == long
    assert with_whole_rows(by_column) == by_column


def test_prose_with_wide_gaps_stays() -> None:
    prose = [
        row(400, ("Let", 50), ("a", 150), ("be a quay", 250)),
        row(390, ("whose depth is nine, which is to say deep", 50)),
    ]

    assert with_whole_rows([HEAD, *prose]) == [HEAD, *prose]
