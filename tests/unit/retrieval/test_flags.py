"""Calls that register a flag are told from where they open to where they close."""

from __future__ import annotations

import pytest

from tests.unit.retrieval.test_setting_entries import found

_TIDES = '    "--tides",\n    type=str,\n    help="Which tides are read.",\n)'


@pytest.mark.parametrize(
    ("opening", "entry"),
    [
        ("@moor.option(\n", f"@moor.option(\n{_TIDES}"),
        ("moor.option(\n    &tides,\n", f"moor.option(\n    &tides,\n{_TIDES}"),
        ("moor.option(\n" + "    0,\n" * 3, _TIDES),
        ("options = [\n", _TIDES),
    ],
    ids=["directly above", "with an argument between", "far above", "no call"],
)
def test_a_flag_on_its_own_line_is_told_from_where_its_call_opens(opening: str, entry: str) -> None:
    assert found(f"\n{opening}{_TIDES}\n", "--tides", "code") == [entry]


def test_a_call_ends_with_its_own_bracket() -> None:
    call = 'moor.option(\n    "--tides",\n    type=Any(\n        str\n    ),\n    help="Which tides are read.",\n)'

    assert found(f"{call}\n", "--tides", "code") == [call]


def test_a_flag_and_its_description_on_one_line_are_told_with_the_call_if_it_has_no_other() -> None:
    line = '    "--tides", help="Which tides are read."\n'

    assert found(f"moor.option(\n{line})\n", "--tides", "code") == [f"moor.option(\n{line})"]
    assert found(f"moor.options(\n{line}    1,\n)\n", "--tides", "code") == [line.rstrip("\n")]


def test_a_flag_within_its_line_is_told_from_that_line() -> None:
    call = 'moor.options(\n    Option("--tides",\n        help="Which tides are read."\n    ),\n)\n'

    hanging = 'moor.option("--tides",\n            help="Which tides are read."\n            )'

    assert found(call, "--tides", "code") == [call[call.index("    Option") : call.index(",\n)")] + ","]
    assert found(f"{hanging}\n", "--tides", "code") == [hanging]


def test_a_flag_at_the_start_of_a_text_is_told_without_what_is_above() -> None:
    assert found(f"{_TIDES}\nmoor.option(", "--tides", "code") == [_TIDES]
