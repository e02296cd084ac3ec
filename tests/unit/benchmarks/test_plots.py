"""The plots of the benchmarks say what the tables of the page say."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from benchmarks import plots

PAGE = "\n".join((plots.DOCS / page).read_text(encoding="utf-8") for page in plots.PAGES)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", [plots.QUALITY, plots.SPEED, plots.GROWTH])
def test_a_plot_is_drawn_from_the_table_of_today(name: str) -> None:
    assert (plots.DOCS / name).read_text(encoding="utf-8") == plots.draw(PAGE)[name], "run: python -m benchmarks.plots"


def test_a_bar_is_as_long_as_its_figure() -> None:
    page = "# x\n\n### Speed\n\n| what | semble / openbook |\n|---|---|\n| index | 2.0 |\n| search | 0.5 |\n"

    _, index, search = ET.fromstring(plots.draw(page)[plots.SPEED]).findall(f"{SVG}rect")

    assert float(index.attrib["width"]) == pytest.approx(4 * float(search.attrib["width"]), abs=0.5)


def test_ten_times_as_much_is_as_far_away_wherever_the_curve_is() -> None:
    head = "# x\n\n### Growth\n\n| engine | chunks | p50, CPU ms |\n|---|---|---|\n"
    page = (
        head
        + "| SQLite | 1,000 | 2 |\n| SQLite | 10,000 | 20 |\n| SQLite | 100,000 | 200 |\n| LanceDB | 10,000 | 2 |\n"
    )

    picture = ET.fromstring(plots.draw(page)[plots.GROWTH])

    places = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in picture.findall(f"{SVG}circle")]
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = places
    assert x3 - x2 == pytest.approx(x2 - x1, abs=0.2)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert (x4, y4) == (x2, y1)
    assert len(picture.findall(f"{SVG}polyline")) == 2


def test_a_page_without_tables_has_no_plots() -> None:
    assert plots.draw("# Benchmarks\n") == {}
