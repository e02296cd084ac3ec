"""Entries in columns, and those of help files of Vim."""

from __future__ import annotations

from openbook.retrieval.setting_entries import setting_entries


def found(text: str, name: str, language: str) -> list[str]:
    return [text[each.start : each.end] for each in setting_entries(text, name, language=language)]


def test_an_entry_in_columns_goes_on_below_as_far_as_it_is_indented() -> None:
    entry = "  --moor NAME       Moor a ship at the quay of\n                    that name."

    assert found(f"Options:\n{entry}\n  --tide            Wait for the tide.\n", "--moor", "text") == [entry]


def test_an_entry_of_vim_help_is_all_text_up_to_the_next_and_a_bang_makes_another() -> None:
    text = ":Moor\f\n  Moors.\n\n  Default: 2\n\n:Moor!\f\n  Moors by force.\n"

    assert found(text, ":Moor", "vimhelp") == [":Moor\f\n  Moors.\n\n  Default: 2"]
    assert found(text, ":Moor!", "vimhelp") == [":Moor!\f\n  Moors by force."]


def test_a_long_entry_in_columns_is_cut_later_than_a_value() -> None:
    entry = "  --moor NAME   Moor a ship" + "\n                and wait for it" * 12

    assert found(f"{entry}\n  --tide        Wait.\n", "--moor", "text") == [entry]
