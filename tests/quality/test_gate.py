"""Retrieval may not get worse unnoticed: own questions on two packages that every developer has installed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import gate, works

PACKAGES = works.read_json(gate.GATE)


@pytest.mark.parametrize("item", PACKAGES, ids=[item["package"] for item in PACKAGES])
def test_files_are_found_as_well_as_when_the_floor_was_written_down(item: dict[str, Any]) -> None:
    outcome = gate.check(item)

    if not outcome.passed:
        advice = "if that is the price of something better: say so, and lower the floor in benchmarks/gate.json"
        pytest.fail(f"retrieval got worse\n{outcome}\n{advice}", pytrace=False)
