"""Tables of AsciiDoc are read as rows: a row of several lines is marked, and a header has a rule below."""

from __future__ import annotations

import pytest

from openbook.sources.documents import read_document


def read(*lines: str) -> list[str]:
    """Return the lines that a page is read as. `^` stands for the mark."""
    text = read_document("\n".join(lines).encode(), source="s", path="ships.adoc").text
    return text.replace("\f", "^").split("\n")


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        pytest.param(
            ["|===", "| Name | What", "", "| `moor`", "| Ties it.", "", "  | `cast`", "  | Frees it.", "|===", "End."],
            ["", "| Name | What", "|---|---|", "| moor^", " | Ties it.", "^", "| cast^", "   | Frees it.", "", "End."],
            id="one cell in a line",
        ),
        pytest.param(
            ["|===", "|Name |What", "", "|a |b", "", "|c |d", "|===", ""],
            ["", "|Name |What", "|---|---|", "|a |b", "^", "|c |d", "", ""],
            id="one row in a line",
        ),
        pytest.param(
            ['[cols="1,2*<",options="header"]', "|===", "|A", "|B", "|C", "", "|a |b", "|c", "|d", "|e |f", "|===", ""],
            ["", "", "|A |B |C", "|---|---|---|", "^", "^", "|a |b^", " |c", "|d^", " |e |f", "", ""],
            id="a header in several lines",
        ),
        pytest.param(
            ["[%header,cols=2]", "|===", "|A |B", "|a", "|b", "|===", ""],
            ["", "|A |B", "|---|---|", "|a^", " |b", "", ""],
            id="a header with no line below",
        ),
        pytest.param(
            ['[cols="1,<*"]', "|===", "|a |b", "|c", "|d", "|===", ""],
            ["", "", "|a |b", "|c^", " |d", "", ""],
            id="columns that the first line shows",
        ),
        pytest.param(
            ["[%noheader]", "|===", "|a |b", "", "|c |d", "|===", ""],
            ["", "", "|a |b", "^", "|c |d", "", ""],
            id="no header",
        ),
        pytest.param(
            ['[cols="2*"]', "|===", "|a", "|b", "", "|c", "|d", "|===", ""],
            ["", "", "|a^", " |b", "^", "|c^", " |d", "", ""],
            id="a row in several lines is no header",
        ),
        pytest.param(
            ["[cols=2]", "|===", "|a", "", "|b", "|c |d", "|===", ""],
            ["", "", "|a^", "^", " |b", "|c |d", "", ""],
            id="a row with a blank line is no header",
        ),
        pytest.param(
            ["|===", "|a |b goes", "on::", "", "  and on.", "|c \\| d |e", "|===", ""],
            ["", "|a |b goes^", " on", "^", "   and on.", "|c \\| d |e", "", ""],
            id="text below a cell",
        ),
        pytest.param(
            ['[cols="3*"]', "|===", ".2+|a 2+^|b", "^|c", "a|d", "|e |f |g", "|===", ""],
            ["", "", "|a |b", "|c^", " |d", "|e |f |g", "", ""],
            id="cells over several columns and rows",
        ),
        pytest.param(
            ["[cols=2]", "|===", "|a", "a|", "----", "|x", "----", "|c |d", "|===", ""],
            ["", "", "|a^", " |", " ----", " |x", " ----", "|c |d", "", ""],
            id="a listing in a cell",
        ),
    ],
)
def test_the_lines_of_a_table(lines: list[str], shown: list[str]) -> None:
    assert read(*lines) == shown


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["[cols=2]", "|===", "|a", "|b |c", "|d", "|==="], id="rows that end within a line"),
        pytest.param(["[cols=2]", "|===", "|a", "ifdef::x[]", "|b", "endif::[]", "|==="], id="a condition"),
    ],
)
def test_rows_that_are_not_known_are_left(lines: list[str]) -> None:
    assert [line for line in read(*lines) if line] == [line for line in lines if line.startswith(("|a", "|b", "|d"))]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["[format=csv,cols=2]", "|===", "a,b", "|===", ""], id="other cells"),
        pytest.param(["|===", "", "a", "|===", ""], id="no cells"),
        pytest.param(["----", "|===", "|a", "|b", "|===", "----"], id="a listing"),
        pytest.param(["|===", "|a", "|b", ""], id="no end"),
    ],
)
def test_what_is_no_table_is_left(lines: list[str]) -> None:
    assert [line for line in read(*lines) if line] == [line for line in lines if line and line[0] != "["]
