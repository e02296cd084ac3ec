"""WiCE is counted by label and by what words alone say."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.claim_support import measure, table


def test_labels_are_counted_by_verdict(tmp_path: Path) -> None:
    rows = [
        ("It has 9 doors in all.", "not_supported"),
        ("A red house with doors.", "supported"),
        ("Somebody lives there now.", "partially_supported"),
    ]
    folder = tmp_path / "claim-support"
    folder.mkdir()
    page = ["A red house with doors.", "It has 4 of them."]
    lines = [json.dumps({"claim": claim, "label": label, "evidence": page}) for claim, label in rows]
    (folder / "wice-dev.jsonl").write_text("\n".join(lines), encoding="utf-8")

    written = table(measure(tmp_path)).splitlines()

    assert written[2:5] == [
        "| not supported | 1 | 0 | 0 | 1 |",
        "| partially supported | 1 | 0 | 1 | 0 |",
        "| supported | 1 | 1 | 0 | 0 |",
    ]
