"""Help files of Vim: sections, entries and listings."""

from __future__ import annotations

import pytest

from openbook.entries import entry_heads
from openbook.sources.classify import classify
from openbook.sources.readers import read_text
from openbook.sources.readers.vimhelp import read_vimhelp

HARBOUR = """\
*harbour.txt*  Moors ships

{{{
Free of charge.
}}}
==============================================================================
ROPES                                                          *harbour-ropes*

Ropes and knots ~

Rope   Holds ~
hemp   2 t

*g:harbour_mode*
  How ships are moored: >vim

    let g:harbour_mode = 2

    " loosely
<
  Default value: 2

                                                            *:Moor*
                                                            *<plug>(moor)*
:Moor {ship}      Moors a ship at the *nearest*
                  quay.

:Tie              *:Tie*
Ties. >
    :Tie
Then wait.

------------------------------------------------------------------------------
                                                            *harbour-faq*
Q: Why?

COMMANDS    *harbour-commands*

Some.

 vim:tw=78:ts=8:ft=help:norl:
"""


def test_sections_are_below_rulers_titles_with_tags_and_subtitles() -> None:
    found = [(each.level, each.title) for each in read_vimhelp(HARBOUR, "").blocks if each.kind == "heading"]

    assert found == [
        (1, "harbour.txt"),
        (2, "ROPES harbour-ropes"),
        (3, "Ropes and knots"),
        (4, ":Tie"),
        (2, "harbour-faq"),
        (2, "COMMANDS harbour-commands"),
    ]


def test_tags_are_the_heads_of_entries_whose_text_is_indented() -> None:
    reading = read_vimhelp(HARBOUR, "")

    heads = [reading.text[start:end] for start, end in entry_heads(reading.text, reading.language)]
    assert heads == ["g:harbour_mode", ":Moor, <plug>(moor)", ":Tie"]
    lines = reading.text.split("\n")
    assert lines[lines.index("g:harbour_mode\f") + 1] == "    How ships are moored:"
    assert "  :Moor {ship}      Moors a ship at the nearest" in lines
    assert "Q: Why?" in lines


@pytest.mark.parametrize(
    ("opening", "head", "titles"),
    [
        ("  *harbour-rope*\n  *harbour-rope-knot*\n", "harbour-rope, harbour-rope-knot", []),
        ("  *options.moor*\n  *b:moor*\nmoor\nb:moor\n", "moor, b:moor", ["moor, b:moor"]),
        ("  *:Moor*\n:Moor {ship}  Ties.\n", ":Moor", []),
        ("  *moor*\n  moor\n", "moor", []),
        ("  *moor*\nTies.\n", "moor", []),
        ("==========\nMoor a ship  *Moor*\n\n  *cast*\n", "cast", []),
        ("moor  Ties  *moor*\ncast  *cast*\n", "moor  Ties", ["cast"]),
        ("moor  *moor*\ncast  Casts  *cast*\n", "moor", ["moor"]),
        ("moor  *moor*\ncast\tCasts  *cast*\n", "moor", ["moor"]),
        ("  *a* *b* *c* *d* *e* *f* *g* *h*\n  *i*\n", "a, b, c, d, e, f, g, h", []),
        ("  *a* *b* *c* *d* *e* *f* *g*\n  *h*\n", "a, b, c, d, e, f, g, h", []),
        ("  *moor*\n\nmoor\n", "moor", []),
        ("  *moor-event*\nMoor  *Moor*\n  *Cast-event*\nCast  *Cast*\n", None, ["moor-event, Moor, Cast"]),
        ("moor({ship})  *moor()*\nharbour#Moor(ship)  *harbour#Moor()*\n", None, ["moor({ship}), harbour#Moor(ship)"]),
        ("\nTie  *Tie*\n\nCast  *Cast*\n", "Tie", ["Tie", "Cast"]),
    ],
)
def test_names_below_tags_are_one_head_and_a_section(opening: str, head: str | None, titles: list[str]) -> None:
    text = f"*harbour.txt*\nWelcome.\n{opening}\n  Moors a ship.\n"
    reading = read_vimhelp(text, "")

    start, end = entry_heads(reading.text, reading.language)[0]
    assert reading.text[start:end] == (head or titles[0])
    assert [each.title for each in reading.blocks if each.level == 4] == titles
    is_below_ruler = opening.startswith("=")
    assert [each.title for each in reading.blocks if each.level == 2] == ["Moor a ship Moor"] * is_below_ruler
    assert reading.text.count("\n") == text.count("\n")


def test_a_name_with_a_tag_in_a_sentence_is_no_head() -> None:
    text = read_vimhelp("*harbour.txt*\n\n*Moor*\nMoor *Moor* first.\n", "").text

    assert text.split("\n")[2:4] == ["Moor\f", "  Moor Moor first."]


def test_a_paragraph_below_names_stays_one() -> None:
    text = "*harbour.txt*\n\nMoor(ship)   *Moor()*\n\n  A `ship` can be\n  given. Else, none is.\n"

    assert read_vimhelp(text, "").text.split("\n")[2:6] == [
        "Moor(ship)\f",
        "",
        "    A `ship` can be",
        "    given. Else, none is.",
    ]


def test_listings_are_code_without_their_signs() -> None:
    reading = read_vimhelp(HARBOUR, "")

    code = [reading.text[each.start_char : each.end_char] for each in reading.blocks if each.kind == "code"]
    assert code == ['      let g:harbour_mode = 2\n\n      " loosely', "      :Tie"]
    assert "\n<\n" not in reading.text
    assert "\n  Then wait." in reading.text


def test_lines_keep_their_numbers_and_rulers_folds_and_modelines_are_blank() -> None:
    lines = read_vimhelp(HARBOUR, "").text.split("\n")

    assert len(lines) == HARBOUR.count("\n") + 1
    assert [HARBOUR.split("\n")[at][:3] for at, line in enumerate(lines) if not line and HARBOUR.split("\n")[at]] == [
        "{{{",
        "}}}",
        "===",
        "<",
        "   ",
        "---",
        " vi",
    ]
    assert "Rope   Holds" in lines


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("*moor.txt*  Moors.\n", "vimhelp"),
        ("Moors ships at the quay.\n\nvim:tw=78:ft=help:\n", "vimhelp"),
        ("Moors ships at the quay.\n\n vim: set filetype=help :", "vimhelp"),
        ("*moor* moors ships at the quay.\n", "text"),
        ("A modeline is vim:ft=help:\n\nIt moors ships at the quay.\n", "text"),
    ],
)
def test_help_is_known_by_its_first_line_or_its_modeline(text: str, language: str) -> None:
    assert classify("doc/moor.txt", text) == ("docs", language)
    assert read_text(text, "doc/moor.txt", "docs", language).language == language
