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


ORG = "- User Option: max-load ::\n\n  Tonnes that it lifts.\n\n  - ~nil~ No limit.\n\n- Key: m ::\n\n  Moors it.\n"


def test_an_item_of_org_has_a_kind_before_its_name_and_paragraphs_below() -> None:
    assert found(ORG, "max-load", "docs") == [ORG.partition("\n\n- Key")[0]]
    assert setting_entries(ORG, "max-load")[0].is_described
    assert setting_entries("- Fixed: max-load can lift more than the crane\n", "max-load") == []


def test_a_long_item_in_a_comment_of_code_is_whole() -> None:
    item = "- `max_load` : the tonnes that the crane lifts\n" + "  and more than that\n" * 12

    assert found(f'"""\n{item}- `reach` : how far it reaches\n"""\n', "max_load", "code") == [item.rstrip()]


def test_a_long_description_below_a_name_in_code_is_whole() -> None:
    term = "  max_load:\n    description:\n" + "      - The tonnes that it lifts.\n" * 30 + "    default: 7"

    assert found(f'TEXT = """\noptions:\n{term}\n  reach:\n    type: int\n"""\n', "max_load", "code") == [term]


@pytest.mark.parametrize(
    ("value", "is_entry"),
    [("config.get('max_load')", False), ("config.get('load')", True), ("Field(alias='max_load')", True)],
    ids=["of its name", "of another name", "a field"],
)
def test_a_variable_that_is_read_from_the_setting_of_its_name_is_no_entry(value: str, is_entry: bool) -> None:
    text = f"    # Never more than the limit.\n    max_load: int = {value}\n"

    assert bool(setting_entries(text, "max_load", kind="code")) is is_entry


BODY = "   Tonnes that the crane lifts.\n\n" + "   It is a crane of the harbour, which lifts boats.\n" * 9
TOLD = f".. describe:: (max-load <tonnes>)\n\n{BODY}\n   By default, it is 7.\n   Not more.\n\n   It is red.\n"


def test_a_long_section_knows_where_its_default_is_told() -> None:
    (entry,) = setting_entries(TOLD, "max-load")

    assert TOLD[entry.start : entry.end].endswith("crane lifts.")
    assert not entry.has_default
    assert TOLD[: entry.default_end].endswith("Not more.")
    assert setting_entries(TOLD.replace("default", "rule"), "max-load")[0].default_end == 0
    assert setting_entries(TOLD.replace("lifts.", "lifts by default."), "max-load")[0].default_end == 0


def test_a_default_far_below_the_start_of_a_section_is_not_of_it() -> None:
    assert setting_entries(TOLD.replace(BODY, BODY * 3), "max-load")[0].default_end == 0


def test_a_name_that_is_joined_to_its_owner_is_another_spelling() -> None:
    text = "- harbour_crane_reach: the reach that it has\n- reach: the reach that it has\n"

    assert [each.is_exact for each in setting_entries(text, "reach", ["harbour_crane"])] == [False, True]
