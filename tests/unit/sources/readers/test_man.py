"""What the lines of man pages show."""

from __future__ import annotations

import pytest

from openbook.entries import END_OF_HEAD
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
        pytest.param('.TH "TIE" "1" "May 2026" "Ann <ann@example.org>"', "TIE(1)", id="title"),
        pytest.param(".Dt TIE 1", "TIE(1)", id="title-of-mdoc"),
        pytest.param(".TH", "", id="title-without-words"),
        pytest.param(r"Sails\. Moors\.", "Sails. Moors.", id="escaped-full-stop"),
        pytest.param(r"\h'-04'\(bu\h'+03'\m[blue]Sails\m[]\c", "• Sails", id="motions-and-colors"),
        pytest.param(r"the sail\*(Aqs rope\[u2026]", "the sail's rope…", id="signs-of-docbook"),
        pytest.param(r"\[uD800] \[uFFFFFF]", r"\[uD800] \[uFFFFFF]", id="no-characters"),
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


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        pytest.param([".de TQ", r"\\$1 of it", "..", "Text."], ["Text."], id="arguments"),
        pytest.param(
            [".de CMD", ".B moor", r".IR ship \c", "..", ".CMD", "Text."], ["moor", "ship", "Text."], id="words"
        ),
        pytest.param(["'de1 XX", ".TP", "..", "Text."], ["Text."], id="no-head-behind-it"),
        pytest.param([".de XX YY", ".B", ".YY", "Text."], ["Text."], id="ends-with-a-word"),
        pytest.param([r".de Sp \" space", r".if t .sp .5v", r"..\" end", "Text."], ["Text."], id="comment"),
        pytest.param([".ig", "Old.", ".B x", "..", "Text."], ["Text."], id="ignored"),
        pytest.param([".ig zZ", "Old.", "..", ".zZ", "Text."], ["Text."], id="ignored-up-to-a-word"),
    ],
)
def test_definitions_of_macros_show_their_words_and_what_is_ignored_shows_none(
    lines: list[str], shown: list[str]
) -> None:
    assert [line for line in man_lines(lines) if line] == shown


def test_a_paragraph_without_a_tag_belongs_to_the_item_before() -> None:
    lines = [".IP --tie 4", "Ties.", '.IP "" 4', "More of it.", ".TP", '.IP ""', "Still more."]

    assert man_lines(lines) == ["--tie\f", "Ties.", "", "More of it.", "", "", "Still more."]


@pytest.mark.parametrize(
    ("opening", "item"),
    [(".Bl -compact -bullet", "•"), (".Bl -offset indent -enum", "1."), (".Bl -width -x -dash", "•")],
)
def test_the_kind_of_a_list_stands_among_its_settings(opening: str, item: str) -> None:
    assert man_lines([opening, ".It", "One.", ".El"]) == ["", item, "One.", ""]


def test_a_line_that_only_begins_like_a_macro_is_shown() -> None:
    lines = [".nf", "./configure --prefix", r".\" why", ".B make", r".\}", "..", ".fi"]

    assert man_lines(lines) == ["", "./configure --prefix", "", "make", "", "", ""]


def test_a_macro_with_many_words_shows_each_of_them() -> None:
    assert man_lines([".Op " + "a " * 300_000]) == [" ".join(["a"] * 300_000)]  # for minutes, by the square


def test_tables_show_their_cells_and_not_how_they_are_laid_out() -> None:
    page = [
        ".TS H",
        "allbox tab(;);",
        "lb lb",
        "l lx.",
        "OS;Path",
        "=",
        ".T&",
        "c c.",
        r"Linux;T{",
        r"\fI~/db\fP, or x",
        "T}",
    ]

    assert man_lines([*page, ".TE", "a;b"]) == [
        "",
        "",
        "",
        "",
        "| OS | Path",
        "",
        "",
        "",
        "| Linux |",
        "~/db, or x",
        "",
        "",
        "a;b",
    ]


@pytest.mark.parametrize(
    ("above", "line", "below", "is_head"),
    [
        (".PP", r".B \-s", ".RS 4", True),
        (".sp", r"\fB\-s\fP", ".RS 4", True),
        (".SH OPTIONS", r"\-s", ".RS", True),
        ("", r"\f[B]-s\f[R]", ".RS", True),
        (".PP", "Boats sail", ".RS 4", False),
        (".PP", r"\fBBoats\fR sail:", ".RS 4", False),
        (".PP", r"\fBBoats\fR sail", "Ships as well.", False),
        (".IP x", r"\fBBoats\fR", ".RS 4", False),
    ],
)
def test_a_bold_line_or_an_option_above_a_block_is_an_item(above: str, line: str, below: str, is_head: bool) -> None:
    assert man_lines([above, line, below, "Sails.", ".RE"])[1].endswith(END_OF_HEAD) == is_head


def test_a_hanging_paragraph_is_an_item_if_it_begins_with_an_option() -> None:
    lines = [
        ".HP",
        r"\fB\-s\fR, \fB\-\-sail\fR",
        ".IP",
        "Sails.",
        ".HP",
        "Boats sail.",
        ".IP -x",
        "Cuts.",
        ".TP",
        "moor",
        "Moors.",
    ]

    assert man_lines(lines) == [
        "",
        f"-s, --sail{END_OF_HEAD}",
        "",
        "Sails.",
        "",
        "Boats sail.",
        f"-x{END_OF_HEAD}",
        "Cuts.",
        "",
        f"moor{END_OF_HEAD}",
        "Moors.",
    ]
