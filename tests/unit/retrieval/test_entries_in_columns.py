"""Entries in columns."""

from __future__ import annotations

from openbook.retrieval.setting_entries import setting_entries


def found(text: str, name: str) -> list[str]:
    return [text[each.start : each.end] for each in setting_entries(text, name)]


def test_an_entry_in_columns_goes_on_below_as_far_as_it_is_indented() -> None:
    entry = "  --moor NAME       Moor a ship at the quay of\n                    that name."

    assert found(f"Options:\n{entry}\n  --tide            Wait for the tide.\n", "--moor") == [entry]


def test_a_long_entry_in_columns_is_cut_later_than_a_value() -> None:
    entry = "  --moor NAME   Moor a ship" + "\n                and wait for it" * 12

    assert found(f"{entry}\n  --tide        Wait.\n", "--moor") == [entry]
