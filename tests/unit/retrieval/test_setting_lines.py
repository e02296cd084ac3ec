"""The lines around one that names a setting."""

from __future__ import annotations

import pytest

from openbook.types import Kind
from tests.unit.retrieval.test_setting_entries import found, only

SHARED = "# Tonnes that the crane lifts, and zero for any.\nmin_load = 0\nmax_load = 7\n"


def test_keys_of_like_names_share_the_comment_above_them() -> None:
    assert found(SHARED, "max_load") == [SHARED.rstrip()]
    assert only(SHARED, "max_load").is_described
    assert found(SHARED.replace(" = ", ": "), "max_load") == [SHARED.replace(" = ", ": ").rstrip()]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (SHARED.replace("min_load", "reach"), "config"),
        (SHARED.replace("max_load", "\nmax_load"), "config"),
        ("  # Tonnes that it lifts.\n  min_load = 0\nmax_load = 7\n", "config"),
        (SHARED, "code"),
    ],
    ids=["another name", "a blank line", "another level", "code"],
)
def test_other_keys_do_not_share_a_comment(text: str, kind: Kind) -> None:
    assert not any("# Tonnes" in each for each in found(text, "max_load", kind))


def test_a_key_below_its_own_comment_does_not_share_another() -> None:
    assert found(f"{SHARED}# The rest.\ntop_load = 9\n", "top_load") == ["# The rest.\ntop_load = 9"]
