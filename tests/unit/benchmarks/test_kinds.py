"""The model that tells kinds of questions apart."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.kinds import Trained, left_out, table

GREETINGS = ["hello there", "hello again", "thanks a lot", "thanks again", "hello friend", "thanks friend"]
SUMS = ["what is 2 + 2", "what is 3 * 4", "what is 9 - 1", "7 + 5", "6 * 8", "what is 5 + 1"]
ASKED = ["where is the lock taken", "how does the lock work", "where is the file read", "how is the file read"] * 2

CASES = [
    {"question": question, "kind": kind, "project": f"p{n % 3}"}
    for kind, questions in (("small talk", GREETINGS), ("arithmetic", SUMS), ("specific", ASKED))
    for n, question in enumerate(questions)
]


def test_the_cases_that_it_was_trained_with_are_told_apart() -> None:
    wrong = [kind for case, kind in zip(CASES, Trained(CASES).kinds_of(CASES), strict=True) if kind != case["kind"]]

    assert len(wrong) <= 2
    assert set(wrong) <= {"specific"}  # where none is likely enough


def test_each_project_is_told_by_a_model_that_did_not_see_it() -> None:
    found = left_out(CASES)

    assert sum(kind == case["kind"] for case, kind in zip(CASES, found, strict=True)) >= len(CASES) * 3 // 4
    assert "| specific | 8 |" in table(CASES, found)


def test_the_written_model_has_a_weight_for_each_kind(tmp_path: Path) -> None:
    Trained(CASES).write(tmp_path / "kinds.json")
    written = json.loads((tmp_path / "kinds.json").read_text(encoding="utf-8"))

    assert {len(row) for row in written["weights"].values()} == {len(written["names"])}
    assert all(isinstance(weight, int) for row in written["weights"].values() for weight in row)
