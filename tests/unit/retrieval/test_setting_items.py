"""Items of prose that describe a setting."""

from __future__ import annotations

import pytest

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
