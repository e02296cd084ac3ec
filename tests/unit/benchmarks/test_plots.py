"""The plots of the benchmarks say what the tables of the page say."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from benchmarks import plots

PAGE = (plots.DOCS / "benchmarks.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", [plots.QUALITY, plots.SPEED])
def test_a_plot_is_drawn_from_the_table_of_today(name: str) -> None:
    assert (plots.DOCS / name).read_text(encoding="utf-8") == plots.draw(PAGE)[name], "run: python -m benchmarks.plots"


def test_a_bar_is_as_long_as_its_figure() -> None:
    page = "# x\n\n### Speed\n\n| what | semble / openbook |\n|---|---|\n| index | 2.0 |\n| search | 0.5 |\n"

    _, index, search = ET.fromstring(plots.draw(page)[plots.SPEED]).findall(f"{SVG}rect")

    assert float(index.attrib["width"]) == pytest.approx(4 * float(search.attrib["width"]), abs=0.5)


def test_a_page_without_tables_has_no_plots() -> None:
    assert plots.draw("# Benchmarks\n") == {}
