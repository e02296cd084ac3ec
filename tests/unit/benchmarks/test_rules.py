"""The rules whose worth is measured are those that the code has."""

from __future__ import annotations

import pytest

from benchmarks.rules import RULES


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for changes in RULES.values() for owner, name, _ in changes])
def test_a_rule_that_can_be_left_out_is_there(owner: object, name: str) -> None:
    assert name in owner if isinstance(owner, dict) else hasattr(owner, name)
