"""Items of prose that describe a setting."""

from __future__ import annotations

import pytest

from openbook.retrieval.setting_entries import setting_entries
from tests.unit.retrieval.test_setting_entries import found

GOES_ON = "* `max-load`: The tonnes that the crane lifts.\nMore are left on the quay.\n"


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (f"{GOES_ON}Default: `7`\n\nText.", 3),
        (f"{GOES_ON}* `min-load`: The least.", 2),
        (f"{GOES_ON}1. Lift.", 2),
        (f"{GOES_ON}Loads\n-----\nText.", 2),
        (GOES_ON + "And more.\n" * 9, 8),
    ],
    ids=["to a blank line", "to another item", "to a number", "to a heading", "up to a limit"],
)
def test_an_item_of_prose_goes_on_at_the_margin(text: str, last: int) -> None:
    assert found(text, "max-load", "docs") == ["\n".join(text.split("\n")[:last])]


def test_text_below_a_row_in_one_line_is_no_part_of_it() -> None:
    row = "| max-load | Tonnes that the crane lifts |"

    assert found(f"{row}\n  It is red.\n", "max-load", "docs") == [row]


@pytest.mark.parametrize(
    ("item", "is_described"),
    [
        ("- `--tides <file>` - Where the tides are read from.", True),
        ("- `--tides FILE` - Where the tides are read from.", True),
        ("- `--tides [file]`: Where the tides are read from.", True),
        ("- `--tides low high` - Where the tides are read from.", False),
    ],
    ids=["placeholder", "word", "optional", "command"],
)
def test_an_item_may_name_an_option_with_its_value(item: str, is_described: bool) -> None:
    assert [each.is_described for each in setting_entries(f"{item}\n", "--tides")] == [True] * is_described


def test_an_item_about_what_a_setting_does_does_not_name_it_with_its_value() -> None:
    assert setting_entries("- tides turn: at noon and at midnight\n", "tides") == []


def test_a_parameter_in_a_docstring_does_not_describe_its_type() -> None:
    text = "def lift(tide_level):\n    '''Lift it.\n\n    tide_level:\n        How high the tide is.\n    '''\n"

    assert [each.is_described for each in setting_entries(text, "tide_level", kind="code")][-1:] == [True]
    assert not any(each.is_described for each in setting_entries(text, "TideLevel", kind="code"))


@pytest.mark.parametrize(
    ("text", "is_described"),
    [
        ("- `--tides`\n  - Reads the tides from a file.\n  - `--tides low` would read the low ones only.\n", True),
        ("- `--tides`\n  - Old.\n", False),
        ("- `--tides`\n- `--ropes` reads the ropes from a file.\n", False),
    ],
    ids=["items in it", "hardly a word", "next item"],
)
def test_a_name_alone_is_described_by_the_items_in_it(text: str, is_described: bool) -> None:
    first = setting_entries(text, "--tides")[0]

    assert (first.start, first.is_described) == (0, is_described)
