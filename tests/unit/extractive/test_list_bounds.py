"""Where lists and tables begin and end, and which columns a table has."""

from __future__ import annotations

import pytest

from openbook.extractive.list_bounds import columns_over, items_around, names_of, opens_list

ROWS = ["| Rope | Tears at |", "|---|---|", "| hemp | 2 t |", "| wire | 9 t |", "| silk | 1 t |"]
# As a reader of AsciiDoc marks them: a row has several lines, and there are blank lines in the table.
MARKED = [
    ROWS[0],
    ROWS[1],
    "| hemp\f",
    " | 2 t",
    "| wire\f",
    "  or more",
    "\f",
    "   and more",
    "| silk | 1 t",
    "\f",
    "| jute | 3 t",
]
GRID = ["+------+-----+", "| Rope | At  |", "+======+=====+", "| hemp | 2 t |", "+------+-----+", "| wire | 9 t |"]
SIMPLE = ["====== =====", "Rope   At", "====== =====", "hemp   2 t", "wire   9 t", "====== ====="]
ITEMS = ["- hemp", "- wire", "", "- silk"]
NESTED = ["- of plants:", "  - hemp", "  - jute", "- of metal"]


@pytest.mark.parametrize(
    ("lines", "quote", "end"),
    [
        pytest.param(ITEMS, (0, 1), 3, id="items"),
        pytest.param(["Ropes:", *ITEMS], (0, 1), 4, id="what-introduces-it-and-an-item"),
        pytest.param(["Ropes:", "", *ITEMS], (0, 0), 5, id="only-what-introduces-it"),
        pytest.param(["**Ropes:**", "", *ITEMS], (0, 0), 5, id="only-what-introduces-it-in-bold"),
        pytest.param(["Ropes:", "#. hemp", "#. wire"], (0, 1), 2, id="items-without-numbers"),
        pytest.param(["## Ropes", "", *ITEMS], (0, 2), 5, id="heading-and-item"),
        pytest.param(["Ropes:", *ITEMS[:2], "# Piers", "- one"], (0, 1), 2, id="up-to-a-heading"),
        pytest.param(NESTED, (0, 1), 2, id="nested"),
        pytest.param(["Ropes:", *NESTED], (0, 2), 4, id="the-outer-list"),
        pytest.param(ROWS, (0, 2), 4, id="table"),
        pytest.param(ROWS, (0, 1), 4, id="only-the-header"),
        pytest.param([*ROWS, "  Ropes tear."], (0, 2), 4, id="table-above-an-indented-text"),
        pytest.param(MARKED, (0, 3), 10, id="marked-rows"),
        pytest.param(["Ropes are:", *ROWS], (0, 3), 5, id="sentence-and-table"),
        pytest.param(GRID, (1, 3), 5, id="grid-without-its-border"),
        pytest.param(SIMPLE, (0, 3), 5, id="simple-table"),
        pytest.param(SIMPLE, (1, 3), 5, id="simple-table-without-its-border"),
    ],
)
def test_a_list_that_a_quote_breaks_off_goes_on_to_its_last_line(
    lines: list[str], quote: tuple[int, int], end: int
) -> None:
    assert items_around([*lines, "", "Ropes are old."], *quote)[-1].stop - 1 == end


@pytest.mark.parametrize(
    ("lines", "quote"),
    [
        pytest.param(["Ropes.", "", *ITEMS], (0, 0), id="nothing-introduces-it"),
        pytest.param(ITEMS, (0, 3), id="all-of-it"),
        pytest.param(ITEMS, (0, 0), id="an-item-alone"),
        pytest.param(["- hemp,", "  which rots", *ITEMS[1:], "- jute"], (2, 4), id="items-within-the-list"),
        pytest.param(
            ["- of plants", "  - hemp", "- of metal", "- of silk", "- of hair"], (2, 3), id="below-nested-ones"
        ),
        pytest.param(NESTED, (0, 2), id="an-item-with-all-below-it"),
        pytest.param(ROWS, (2, 3), id="rows-within-the-table"),
        pytest.param(GRID, (3, 3), id="row-of-a-grid"),
        pytest.param(MARKED, (4, 4), id="in-marked-rows"),
        pytest.param(MARKED, (8, 8), id="below-a-text-of-a-row"),
        pytest.param([*SIMPLE[:-1], "silk   1 t", SIMPLE[-1]], (3, 4), id="rows-of-a-simple-table"),
        pytest.param(SIMPLE, (0, 4), id="all-but-the-lower-border"),
        pytest.param(["Ropes are old.", "", *ITEMS], (0, 0), id="a-sentence-above"),
    ],
)
def test_a_quote_that_breaks_off_no_list_it_begins(lines: list[str], quote: tuple[int, int]) -> None:
    assert items_around([*lines, "", "Ropes are old."], *quote) == []


@pytest.mark.parametrize(
    ("lines", "row", "found"),
    [
        pytest.param(ROWS, 4, "Rope | Tears at", id="rows"),
        pytest.param(["Ropes:", *ROWS], 4, "Rope | Tears at", id="below-a-sentence"),
        pytest.param(MARKED, 4, "Rope | Tears at", id="marked-row"),
        pytest.param(MARKED, 8, "Rope | Tears at", id="row-below-a-text"),
        pytest.param(MARKED, 10, "Rope | Tears at", id="row-below-a-blank-line"),
        pytest.param([f"  {row}" for row in ROWS], 3, "Rope | Tears at", id="indented-rows"),
        pytest.param(["| **Rope** |  At |", *ROWS[1:]], 2, "Rope | At", id="bold"),
        pytest.param(["| | At |", *ROWS[1:]], 2, " | At", id="without-the-first-name"),
        pytest.param(GRID, 5, "Rope | At", id="grid"),
        pytest.param(["", *SIMPLE], 5, "Rope | At", id="simple"),
        pytest.param(["==== =====", "Rope At", "==== =====", "hemp 2 t"], 3, "Rope | At", id="one-blank-between"),
    ],
)
def test_the_columns_of_a_row_are_in_the_header(lines: list[str], row: int, found: str) -> None:
    assert columns_over(lines, row) == found


@pytest.mark.parametrize(
    ("lines", "row"),
    [
        pytest.param(["| | |", *ROWS[1:]], 2, id="empty-header"),
        pytest.param(["| | | |", *ROWS[1:]], 2, id="three-without-names"),
        pytest.param(
            ["+------+-----+", "| hemp | 2 t |", "+------+-----+", "| wire | 9 t |"], 3, id="grid-without-header"
        ),
        pytest.param(["| The rope", "| tears."], 1, id="line-block"),
        pytest.param([*MARKED[:6], "", "| hemp\f", " | 2 t"], 7, id="another-table"),
        pytest.param([*ROWS[:2], "  Ropes tear.", "| hemp | 2 t |"], 3, id="below-an-indented-text"),
        pytest.param([SIMPLE[0], *SIMPLE[3:]], 2, id="simple-without-header"),
        pytest.param([*SIMPLE, "", "Ropes are old."], 7, id="below-the-table"),
        pytest.param([SIMPLE[0], "", *SIMPLE[2:]], 4, id="blank-line-above"),
        pytest.param(["- hemp", "- wire"], 1, id="list"),
        pytest.param(["", "Ropes are old.", "", "Hemp rots."], 3, id="prose"),
        pytest.param(ROWS, 0, id="the-header-itself"),
        pytest.param(SIMPLE, 1, id="the-header-of-a-simple-table"),
    ],
)
def test_what_has_no_header_has_no_columns(lines: list[str], row: int) -> None:
    assert columns_over(lines, row) == ""


ROPES = ["Ropes:", "- jute"]


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        pytest.param([*ROPES, "- **hemp** rots", "- **wire**: rusts"], ["hemp", "wire"], id="bold"),
        pytest.param([*ROPES, "- `hemp` rots", "- ``wire`` rusts"], ["`hemp`", "`wire`"], id="code"),
        pytest.param([*ROPES, "- [hemp](a.md) rots"], ["hemp"], id="link"),
        pytest.param([*ROPES, "- [x] hemp", "- [ ] wire: rusts"], ["hemp", "wire"], id="tasks"),
        pytest.param([*ROPES, "- hemp: rots", "- wire - rusts", "- silk – dear"], ["hemp", "wire", "silk"], id="signs"),
        pytest.param([*ROPES, "  and sisal", "- hemp:", "- wire"], ["hemp", "wire"], id="alone"),
        pytest.param([*ROPES, "- hemp", "- It rots. And: it sinks."], [], id="sentence"),
        pytest.param([*ROPES, "- hemp", f"- {'wire ' * 8}of copper"], [], id="long"),
        pytest.param([*ROPES, f"- {'wire ' * 8}"], ["wire wire wire wire wire wire wire wire"], id="not-long"),
        pytest.param(
            ["| Rope |", "|---|", "| jute | 1 |", "| hemp | 2 |", "| | 3 |", "| `wire` | 4 |"],
            ["hemp", "`wire`"],
            id="table",
        ),
        pytest.param(
            ["| Rope |", "|---|", "| jute\f", " | 1", "\f", "| hemp\f", "  and", "\f", "  flax", "| wire | 4"],
            ["hemp", "wire"],
            id="marked-rows",
        ),
        pytest.param(["+---+--+", "|Rope|kg|", "+===+==+", "|hemp|1 |", "+---+--+"], ["hemp"], id="grid"),
        pytest.param(
            ["=====  ==", "Rope   kg", "=====  ==", "jute   1", "hemp   2", "       3", "=====  =="],
            ["hemp"],
            id="simple",
        ),
    ],
)
def test_the_items_that_a_quote_breaks_off_have_names(lines: list[str], names: list[str]) -> None:
    last = next((at for at, line in enumerate(lines) if "jute" in line), 1)

    items = [each for each in items_around([*lines, "", "Ropes are old."], 0, last) if each.start > last]
    assert names_of(lines, items) == names


def test_a_reference_in_bars_opens_no_table() -> None:
    assert [opens_list(line) for line in ("|moor| ties a ship.", "|moor|ties|")] == [False, True]
