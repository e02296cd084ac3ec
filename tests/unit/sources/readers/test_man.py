"""What the lines of man pages show."""

from __future__ import annotations

import pytest

from openbook.sources.readers.man import man_lines


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        pytest.param(".Xr ssh 1 ,", "ssh(1),", id="reference"),
        pytest.param(".Fl s", "-s", id="option"),
        pytest.param(".Fl Fl ship Ar name ,", "--ship name,", id="long-option"),
        pytest.param(".Fl", "-", id="standard-input"),
        pytest.param(".Cm level Ns = Ns Ar number", "level=number", id="no-space"),
        pytest.param(".Oo Ar bind : Oc Ns Ar port", "[bind:]port", id="brackets"),
        pytest.param(".Ux Ns -domain", "UNIX-domain", id="system"),
        pytest.param(".Dl Nm Fl c", "tie -c", id="example"),
        pytest.param(".Sx FILES", "FILES", id="section"),
        pytest.param(".Nm", "tie", id="name-alone"),
        pytest.param(".Nm .", "tie.", id="name-at-the-end"),
        pytest.param(".Nm moor", "moor", id="another-name"),
        pytest.param(r".BI \-e \ SHIP", "-e SHIP", id="escaped-space"),
        pytest.param(".Unknown x", "", id="unknown"),
    ],
)
def test_a_macro_shows_what_man_shows(line: str, shown: str) -> None:
    assert man_lines([".Nm tie", line])[1] == shown


def test_items_without_names_have_a_bullet_or_their_number() -> None:
    lines = [".Bl -enum", ".It", "One.", ".Bl -bullet", ".It", "Two.", ".El", ".It", "Three.", ".El"]

    assert [shown for shown in man_lines(lines) if shown] == ["1.", "One.", "•", "Two.", "2.", "Three."]


def test_of_a_head_over_several_lines_the_first_one_names_the_item() -> None:
    lines = [".Bl -tag", ".It Xo Ic chgrp", ".Op Fl h", ".Xc", "Changes the group.", ".El"]

    assert man_lines(lines) == ["", "chgrp\f", "-h", "", "Changes the group.", ""]


def test_definitions_of_macros_show_nothing() -> None:
    assert man_lines([".de TQ", r"\\$1 of it", "..", "Text."]) == ["", "", "", "Text."]
