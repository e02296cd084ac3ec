"""How the last runs come into the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.quality import Row
from benchmarks.speed import Measure

ROWS = [
    Row("code-search", tool, "all", 9, {"NDCG@10": worth}, query_ms)
    for tool, worth, query_ms in (("openbook", 0.9, 6.0), ("semble", 0.8, 2.0))
]


def _page(docs: Path, text: str) -> Path:
    docs.mkdir()
    (docs / "benchmarks.md").write_text(text, encoding="utf-8")
    return docs / "benchmarks.md"


def test_only_what_stands_between_the_marks_is_written_anew(tmp_path: Path) -> None:
    page = _page(tmp_path / "docs", f"before\n\n{report.BEGIN}\nold\n{report.END}\n\nafter\n")
    report.keep("quality", "python -m benchmarks quality --data DATA", ROWS, tmp_path)

    report.write(tmp_path, page.parent)

    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n\n{report.BEGIN}\n")
    assert text.endswith(f"{report.END}\n\nafter\n")
    assert "old" not in text
    assert "| code-search | 9 | NDCG@10 | 0.900 |" in text


def test_a_page_without_marks_gets_the_block_at_its_end_once(tmp_path: Path) -> None:
    page = _page(tmp_path / "docs", "before\n")
    report.keep("speed", "python -m benchmarks speed --data DATA", [Measure("index", "s", 2.0, 3.0)], tmp_path)

    for _ in range(2):
        report.write(tmp_path, page.parent)

    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.count("| index | s | 2 | 3 | 1.50 |") == 1


def test_a_report_on_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(report.NothingMeasuredError):
        report.block(tmp_path)
