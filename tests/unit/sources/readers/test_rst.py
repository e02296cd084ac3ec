"""reStructuredText: headings by adornment, levels by first appearance, literal blocks as code."""

from __future__ import annotations

import pytest

from openbook.sources.readers.rst import read_rst


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start_char : block.end_char]) for block in read_rst(text).blocks]


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in read_rst(text).blocks if block.kind == "heading"]


def test_levels_follow_the_order_of_first_appearance() -> None:
    text = "====\nBook\n====\n\nOne\n----\n\nDeep\n~~~~\n\nTwo\n----\n\nOver\n====\n"

    assert headings(text) == [(1, "Book"), (2, "One"), (3, "Deep"), (2, "Two"), (4, "Over")]


def test_paragraphs_and_items_are_blocks() -> None:
    text = "One\ntwo.\n\n- a\n  more\n- b\n\n1. c\n2. d\n"

    assert [piece for _, piece in blocks(text)] == ["One\ntwo.", "- a\n  more", "- b", "1. c", "2. d"]


@pytest.mark.parametrize(
    ("before", "code"),
    [
        pytest.param("Like this::", "    No\n    ==\n\n    more", id="double-colon"),
        pytest.param("::", "  No\n  ==", id="double-colon-alone"),
        pytest.param(".. code-block:: python\n   :linenos:", "   No\n   ==", id="directive-with-option"),
        pytest.param("- item::", "    No\n    ==", id="in-a-list"),
        pytest.param("term\n   definition::", "      No\n      ==", id="in-a-definition"),
    ],
)
def test_a_literal_block_is_code_and_holds_no_heading(before: str, code: str) -> None:
    text = f"{before}\n\n{code}\n\nafter\n"

    assert blocks(text)[-2:] == [("code", code), ("text", "after")]
    assert headings(text) == []


def test_a_doctest_is_code() -> None:
    assert blocks("See:\n\n>>> 1 + 1\n2\n") == [("text", "See:"), ("code", ">>> 1 + 1\n2")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a\n\n----\n\nb\n", id="transition"),
        pytest.param("Title\n==\n", id="adornment-too-short"),
        pytest.param("  Quote\n  =====\n", id="indented"),
        pytest.param("===  ===\na    b\n===  ===\n1    2\n===  ===\n", id="table"),
        pytest.param("one\ntwo\n===\n", id="in-a-paragraph"),
        pytest.param(".. note::\n\n   text\n", id="directive"),
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert headings(text) == []


def test_a_long_adornment_may_be_shorter_than_its_title() -> None:
    assert headings("A rather long title\n====\n") == [(1, "A rather long title")]


def test_a_title_loses_roles_and_markup() -> None:
    text = "The ``Client`` of :class:`~a.b`, *new* `here <https://example.org>`_\n====\n"

    assert headings(text) == [(1, "The Client of ~a.b, new here")]


def test_a_title_loses_its_badges_and_keeps_other_substitutions() -> None:
    text = "Harbour |downloads| |release|\n====\n\n.. |downloads| image:: https://example.org/a.svg\n"

    assert headings(text) == [(1, "Harbour release")]


def test_windows_line_ends_change_nothing() -> None:
    assert headings("A\r\n=\r\n\r\ntext\r\n") == [(1, "A")]
