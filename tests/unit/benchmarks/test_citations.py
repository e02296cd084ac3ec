"""Each citation of the labelled repositories is counted once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[3] / "benchmarks" / "cases"


@pytest.mark.parametrize("file", sorted(CASES.glob("citations*.jsonl")), ids=lambda file: file.stem)
def test_no_citation_has_two_labels(file: Path) -> None:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    keys = [tuple(row[name] for name in ("repository", "file", "line", "path", "lines")) for row in rows]

    assert rows
    assert len(set(keys)) == len(keys)
