"""Quotes are shown without the markup that only a site generator reads."""

from __future__ import annotations

import pytest

from openbook.extractive.composing import compose
from openbook.extractive.inline_markup import plain_markdown, plain_rst
from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import chunk_of


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("`#!py moor()` moors", "`moor()` moors"),
        ("`#!/bin/sh` opens it", "`#!/bin/sh` opens it"),
        ("{ref}`the tides <tides>` and {class}`~sea.Tide`", "the tides and `Tide`"),
        ("[`Tide`](@ref) and [tides](@ref sea.tides)", "`Tide` and tides"),
        ('[tides]({{< relref "sea#tides" >}}) and [ebb]({% link sea.md %})', "tides and ebb"),
        ("[tides](tides.md)", "[tides](tides.md)"),
        ("~> **Note:** a\n-> b\n!> c\n?> d", "**Note:** a\nb\nc\nd"),
        ("`port`\n:   where ships moor", "`port`\nwhere ships moor"),
        ("a -> b : c", "a -> b : c"),
    ],
)
def test_extensions_of_markdown_are_shown_as_plain_markdown(written: str, shown: str) -> None:
    assert plain_markdown(written) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (":ref:`the tides <tides>` of :term:`sea`", "the tides of sea"),
        (":py:class:`~sea.Tide`, :class:`!Tide` and :file:`tides.txt`", "`Tide`, `Tide` and `tides.txt`"),
        (":strong:`now` or :emphasis:`never`", "**now** or *never*"),
        (
            "`tides <tides.html>`_, `<moon.html>`__ and `sea`_",
            "[tides](<tides.html>), [moon.html](<moon.html>) and sea",
        ),
        ("``:ref:`tides` `` and `moor`", "``:ref:`tides` `` and `moor`"),
        ("the `sea`\\ s", "the `sea`s"),
    ],
)
def test_roles_and_links_of_restructuredtext_are_shown_as_markdown(written: str, shown: str) -> None:
    assert plain_rst(written) == shown


def test_many_beginnings_of_roles_take_no_square_of_their_length() -> None:
    assert plain_rst(":a" * 100_000) == ":a" * 100_000  # for minutes, if each were read to the end


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("rst", "The port of :ref:`the tides\n   <tides>` is deep."),
        ("markdown", "~> The port of {ref}`the tides <tides>` is deep."),
        ("markdown", "<docs-note>The port of the tides is deep.</docs-note>"),
        ("markdown", "The port of the tides is deep.\n\n---"),
        ("markdown", "The port of the tides is deep.\n\nNext: [The deep port](port.md)."),
        ("markdown", "  > > The port of the tides is deep."),
        ("markdown", "* * *\n\nThe port of the tides is deep.\n---\n"),
    ],
)
def test_a_quote_has_no_such_markup(language: str, said: str) -> None:
    answer = compose(picked("Which port is deep?", chunk_of(f"{said}\n\nMore.", language=language)))

    assert "> The port of the tides is deep." in answer
    assert not any(sign in answer for sign in (":ref:", "{ref}", "~>", "docs-note", "---", "* *", "> >", "Next:"))
