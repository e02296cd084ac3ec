"""Claims of a strong model are counted by style and label, with recorded replies in the place of a verifier."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.model_claims import calls, digest, left_out, read_fresh, read_given, recorded, report, verified

CLAIMS = [
    ("a", "It waits for a minute.", "wait(60)", True),
    ("a", "It waits for 5 seconds.", "wait(60)", False),
    ("a", "wait(60) is called", "wait(60) is called", True),
    ("b", "It never ends.", "while True: pass", True),
    ("b", "It ends after 7 rounds.", "while True: pass", False),
    ("b", "It cites nothing.", "", True),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "model-claims"
    folder.mkdir()
    lines = [
        json.dumps(
            {"project": project, "id": "1", "claim": claim, "cited_text": cited, "sources": [], "label_true": label}
            | {"style": "free", "error": "" if label else "wrongnum"}
        )
        for project, claim, cited, label in CLAIMS
    ]
    (folder / "claims.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_claims_that_cite_something_are_counted(data: Path) -> None:
    cases = read_given(data)

    written = report(cases, rules=True)

    assert len(cases) == 5
    assert "| words alone | 0 of 3 (0.0 %) | 2 of 2 (100.0 %) | none | none |" in written
    assert "| number | 0 of 3 (0.0 %) | 2 of 2 (100.0 %) | none | none |" in written
    assert "False claims shown as `exact` by words alone: 0 of 2." in written


def test_rule_that_pays_on_no_other_project_is_not_counted(data: Path) -> None:
    cases = [case for case in read_given(data) if case.project == "a" or case.is_true]

    assert str(left_out(cases)["free", False]) == "0 of 1 (0.0 %)"


def test_reply_is_found_by_its_prompt(data: Path, tmp_path: Path) -> None:
    cases = read_given(data)
    (answer, asked, prompt), _ = calls(cases)
    labels = ("entailed", "contradicted")
    entries = [{"claim": n, "verdict": label, "quote": "wait(60)"} for n, label in enumerate(labels, start=1)]
    reply = "\n".join(map(json.dumps, entries))
    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps({"answer": answer, "prompt": digest(prompt), "reply": reply}), encoding="utf-8")

    judged = verified(cases, replies)

    assert [case.claim.claim for case in asked] == ["It waits for a minute.", "It waits for 5 seconds."]
    assert [judged[id(case)].verdict for case in cases if id(case) in judged] == ["confirmed", "conflict", "exact"]


def test_recorded_replies_are_for_the_prompts_of_today() -> None:
    assert len(recorded()) >= 35


def test_fresh_claims_name_lines_that_are_read_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\nz = 3\n", encoding="utf-8")
    row = {
        "id": "a-01-01",
        "project": "a",
        "question": "What is y?",
        "claim": "y is 2",
        "places": ["a.py:2-2"],
        "label_true": True,
    }
    row |= {"contexts": [{"place": "a.py:1-3", "symbol": "module"}], "style": "free", "error": ""}
    file = tmp_path / "fresh.jsonl"
    file.write_text(json.dumps(row), encoding="utf-8")

    (case,) = read_fresh(file, tmp_path)

    assert case.claim.cited_text == "y = 2"
    assert [(source.path, source.symbol, source.text) for source in case.claim.sources] == [
        ("a.py", "module", "x = 1\ny = 2\nz = 3")
    ]
