"""The models that tell questions from topics, and what answers them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import forms
from benchmarks.kinds import Case, Trained

ASKED = ["where is my rope", "where is my fender", "where is my hook", "where is my lock", "where is my map"]
TOPICS = ["rope handling", "fender handling", "hook handling", "lock handling", "map handling"]
CASES: list[Case] = [
    {"question": text, "kind": kind, "project": f"p{n}", "weight": 1.0}
    for kind, texts in (("question", ASKED), ("topic", TOPICS))
    for n, text in enumerate(texts)
]


def test_projects_are_judged_by_models_that_did_not_see_them() -> None:
    odds = forms._left_out(CASES, ("question", "topic"), 1.0)

    assert (odds[:5] > 0).all()
    assert (odds[5:] < 0).all()


def test_a_text_counts_once_in_the_vocabulary() -> None:
    twice = [*CASES[:2], *CASES[:2]]

    assert forms._names(twice) == []
    assert "where is" in forms._names(CASES)


def test_the_written_model_has_a_weight_for_each_prediction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MODEL", tmp_path / "forms.json")
    names = forms._names(CASES)
    trained = Trained(CASES, ("question", "topic"), names, 1.0)
    other = Trained(CASES, ("topic", "question"), names, 1.0)

    forms._write(names, trained, other)

    written = json.loads((tmp_path / "forms.json").read_text(encoding="utf-8"))
    assert written["names"] == ["question", "documentation"]
    rows = np.array(list(written["weights"].values()))
    assert rows.any(axis=1).all()  # what weighs nothing is left out
    assert abs(rows.sum(axis=1)).max() <= 1  # of the same cases, the other way round


def test_where_the_answers_stand_is_what_answers(tmp_path: Path) -> None:
    folder = tmp_path / "real-questions"
    folder.mkdir()
    asked = {"repo": "port/crane", "question": "Where is it?", "answerable": True}
    gold = [{"path": path, "lines": [1, 2]} for path in ("crane.py", "rope.py", "docs/crane.md", "crane.go")]
    lines = [asked | {"gold": gold}, asked | {"answerable": False, "gold": []}]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    found = [(case["kind"], case["weight"]) for case in forms._answers(tmp_path, [])]

    assert found == [("documentation", 0.25), ("code", 0.75)]


def test_a_weight_changes_what_is_learned() -> None:
    mixed = [*CASES, *({**case, "kind": "topic", "weight": 0.01} for case in CASES[:5])]
    light, full = (
        Trained([case | {"weight": max(case["weight"], least)} for case in mixed], ("question", "topic"), None, 1.0)
        for least in (0.0, 1.0)
    )

    assert (forms._odds(light, CASES[:5]) > forms._odds(full, CASES[:5]) + 0.5).all()
