"""What is made of rankings: lists of files, and a table."""

from __future__ import annotations

from benchmarks.quality import Row, files_of, table
from openbook.evals.metrics import ExpectedSpan


def test_a_file_stands_where_its_first_chunk_stood() -> None:
    places = [ExpectedSpan("a.py", 1, 2), ExpectedSpan("b.py", 1, 2), ExpectedSpan("a.py", 9, 9)]

    assert files_of(places) == (ExpectedSpan("a.py", 1, 2), ExpectedSpan("b.py", 1, 2))


def test_the_table_has_a_line_for_each_figure_and_a_column_for_each_tool_and_part() -> None:
    rows = [
        Row("code", "openbook", "all", 4, {"NDCG@10": 0.5}),
        Row("code", "openbook", "tuning", 2, {"NDCG@10": 0.25}),
        Row("code", "openbook", "held", 2, {"NDCG@10": 0.75}),
        Row("chunks", "openbook", "all", 9, {"R@3": 1.0, "MRR": 0.125}),
    ]

    assert table(rows).splitlines() == [
        "| work | questions | figure | openbook, all | openbook, tuning | openbook, held |",
        "|---|---|---|---|---|---|",
        "| code | 4 | NDCG@10 | 0.500 | 0.250 | 0.750 |",
        "| chunks | 9 | R@3 | 1.000 |  |  |",
        "| chunks | 9 | MRR | 0.125 |  |  |",
    ]
