"""Tables of data are shown as tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.server.document_html import document_html
from tests.support import document
from tests.unit.sources.readers.test_spreadsheet import read, row, xlsx


def csv_html(text: str, words: str = "", language: str = "csv") -> str:
    start = text.index(words) if words else 0
    return document_html(replace(document("a.csv", text), language=language), start, start + len(words))


def test_csv_is_a_table_whose_cited_row_is_marked() -> None:
    html = csv_html('city,said\nBonn,"one, two\nlines <b>"\nKiel,x\n', "lines")

    assert "<thead><tr><th>city</th><th>said</th></tr></thead>" in html
    assert '<tr class="cited"><td>Bonn</td><td>one, two\nlines &lt;b&gt;</td></tr>' in html
    assert "<tr><td>Kiel</td><td>x</td></tr>" in html


def test_tabs_and_semicolons_separate_too_and_short_rows_are_filled() -> None:
    assert "<tr><td>1,5</td><td></td></tr>" in csv_html("a;b\n1,5\n")
    assert "<tr><td>1</td><td>2</td></tr>" in csv_html("a\tb\n1\t2\n", language="tsv")


def test_a_malformed_table_is_shown_as_lines() -> None:
    assert csv_html("only\none\ncolumn\n") == ""
    assert csv_html('a,b\n"' + "x" * 200_000 + '",1\n') == ""


@pytest.mark.slow
def test_of_many_rows_those_around_the_cited_one_are_shown() -> None:
    text = "n,m\n" + "".join(f"{number},row\n" for number in range(20_000))

    html = csv_html(text, "15000,row")

    assert '<tr class="cited"><td>15000</td>' in html
    assert html.count("<tr") == 10_001
    assert "10,000 rows are not shown here" in html


def test_a_workbook_shows_its_sheets_as_tables() -> None:
    piers = row(1, "Pier", "Depth") + row(2, "Rhyl", "3: deep") + row(3, None, 2)
    made = read(xlsx(Piers=piers, Notes=row(1, "see", "map")))
    start = made.text.index("Pier: Rhyl")

    html = document_html(made, start, start + 4)

    assert "<h3>Piers</h3>" in html
    assert "<thead><tr><th>Pier</th><th>Depth</th></tr></thead>" in html
    assert '<tr class="cited"><td>Rhyl</td><td>3: deep</td></tr>\n<tr><td></td><td>2</td></tr>' in html
    assert "<h3>Notes</h3>" in html
    assert "<tr><td>see</td><td>map</td></tr>" in html
