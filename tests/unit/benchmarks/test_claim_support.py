"""The halves are fixed, and what is learned on one is measured on the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.claim_support import (
    LABELS,
    Case,
    Measured,
    area,
    fit,
    judge_of,
    measure,
    random_halves,
    read_halves,
    table,
    thresholds,
    verdicts,
)
from openbook.grounding.judge import Judgement
from openbook.grounding.support import Measures


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {
            "claim": f"The {colour} house has {number} doors.",
            "label": label,
            "evidence": [f"A {colour} house.", "Doors."],
        }
        for colour in ("red", "blue", "green", "white")
        for number, label in enumerate(LABELS)
    ]
    folder = tmp_path / "claim-support"
    folder.mkdir()
    (folder / "wice-dev.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


def _measured(label: int, cover: float) -> Measured:
    return Measured(Case("", (), label), Measures(cover, cover, 0.5, 0, 0), Judgement("partial", "", cover), 1.0)


SPREAD = [_measured(label, label / 3 + step / 30) for label in range(3) for step in range(10)]


def test_halves_share_no_claim_and_have_each_label_alike(data: Path) -> None:
    halves = read_halves(data)

    assert not {case.claim for case in halves["fit"]} & {case.claim for case in halves["held"]}
    assert [case.label for case in halves["fit"]] == [case.label for case in halves["held"]]


@pytest.mark.parametrize(
    ("better", "worse", "expected"),
    [([2.0], [1.0], 1.0), ([1.0], [2.0], 0.0), ([1.0], [1.0], 0.5), ([1.0, 3.0], [2.0], 0.5)],
    ids=["above", "below", "tie", "one-of-two"],
)
def test_the_area_is_the_share_of_pairs_in_order(better: list[float], worse: list[float], expected: float) -> None:
    assert area(better, worse) == expected


def test_what_is_learned_puts_labels_in_order() -> None:
    weights, full, part = fit(SPREAD)

    assert weights[0] > 0
    assert part > full


def test_thresholds_divide_the_labels() -> None:
    least_partial, least_supported = thresholds(SPREAD, [one.measures.cover for one in SPREAD])

    assert 0.3 <= least_partial <= 0.4
    assert 0.6 <= least_supported <= 0.7


def test_random_halves_of_what_is_separable_are_separated() -> None:
    ours, plain = random_halves(SPREAD, times=2)

    assert ours == plain == (1.0, 1.0)


def test_each_half_has_its_row_and_each_label_its_verdicts(data: Path) -> None:
    halves = read_halves(data)
    judge = judge_of([case for half in halves.values() for case in half])

    measured = {half: measure(judge, cases) for half, cases in halves.items()}

    assert "| fit | 6 |" in table(measured)
    assert len(verdicts(measured["held"]).splitlines()) == 2 + len(LABELS)
