"""Finds the markup in HTML: tags, comments, raw elements and character references, with offsets.

Written for this package because `html.parser` joins and moves text differently between Python releases, while the
offsets of an index must not change. Takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from unicodedata import category

MarkKind = Literal["open", "close", "hidden", "template", "character"]

# Elements whose content is neither markup nor shown. By the standard, they end at the first matching closing tag, or at
# the end of the file.
_RAW = frozenset({"script", "style", "iframe", "noembed", "noframes", "xmp"})

# Elements whose content is markup, but not shown.
_HIDDEN = frozenset({"template", "svg", "noscript"})

# Elements that are empty if XHTML closes them at once, as in `<script src="x.js"/>`. HTML ignores that slash, so the
# rest of the file would be their content.
_CLOSED_AT_ONCE = _RAW | _HIDDEN | {"title", "pre", "h1", "h2", "h3", "h4", "h5", "h6"}

_NEXT = re.compile(r"[<&]")
_TAG_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
_TAG_STOP = re.compile(r"[>\"']")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});?")


@dataclass(frozen=True, slots=True)
class MarkupSpan:
    """A span of markup.

    `open` and `close` are tags; `hidden` is a comment, a declaration or an element that is not shown, including its
    content; `template` is an instruction of a template language; `character` is a character reference.
    """

    start_char: int
    end_char: int
    kind: MarkKind
    name: str = ""
    """Name of the element, in lower case; empty for comments and references."""


class MarkupScanner:
    """Scans the markup of one text, once. `is_xml`: the text is XHTML."""

    def __init__(self, text: str, *, is_xml: bool = False) -> None:
        self._text = text
        self._is_xml = is_xml
        # Remember failed searches: repeated ones would make a million broken tags take quadratic time.
        self._quotes_close = True
        self._unclosed: set[str] = set()
        self._last_tag_end = text.rfind(">")

    def marks(self) -> Iterator[MarkupSpan]:
        """Yield all marks in order. Everything between them is text."""
        position = 0
        while (match := _NEXT.search(self._text, position)) is not None:
            mark = self._reference(match.start()) if match.group() == "&" else self._markup(match.start())
            if mark is None:
                position = match.end()
                continue
            yield mark
            position = mark.end_char

    def _reference(self, start: int) -> MarkupSpan | None:
        match = _REFERENCE.match(self._text, start)
        return MarkupSpan(start, match.end(), "character") if match else None

    def _markup(self, start: int) -> MarkupSpan | None:
        """Parse the markup at a `<`; None if it is only a character."""
        text = self._text
        if text.startswith("<!--", start):
            return MarkupSpan(start, self._behind("-->", start + 2), "hidden")
        if text.startswith(("<?php", "<?=", "<%"), start):
            return MarkupSpan(start, self._behind(">", start), "template")
        if text.startswith(("<!", "<?"), start):
            return MarkupSpan(start, self._behind(">", start), "hidden")
        match = _TAG_NAME.match(text, start, self._last_tag_end + 1)
        closing = text.startswith("</", start)
        if not (match or closing):
            return None
        end = self._tag_end(match.end() if match else start)
        if end < 0:
            return None
        if match is None:
            return MarkupSpan(start, end, "hidden")
        name = match.group(1).lower()
        if closing:
            return MarkupSpan(start, end, "close", name)
        if self._is_xml and name in _CLOSED_AT_ONCE and text.endswith("/>", start, end):
            return MarkupSpan(start, end, "hidden", name)
        if name in _RAW or name in _HIDDEN:
            return MarkupSpan(start, self._element_end(name, end), "hidden", name)
        return MarkupSpan(start, end, "open", name)

    def _behind(self, closing: str, start: int) -> int:
        found = self._text.find(closing, start)
        return len(self._text) if found < 0 else found + len(closing)

    def _tag_end(self, position: int) -> int:
        """Find the end of a tag: the first `>` outside quotes; -1 without one."""
        if position > self._last_tag_end:
            return -1
        first = self._text.find(">", position)
        while self._quotes_close and (match := _TAG_STOP.search(self._text, position)) is not None:
            if match.group() == ">":
                return match.end()
            closing = self._text.find(match.group(), match.end())
            # An unclosed quote would swallow the rest of the page.
            self._quotes_close = closing >= 0
            position = closing + 1
        return first + 1

    def _element_end(self, name: str, position: int) -> int:
        """Find the end of an element that is not shown: its first closing tag."""
        found = None if name in self._unclosed else self._closing(name, position)
        if found is not None:
            return self._behind(">", found)
        self._unclosed.add(name)
        # An unclosed raw element extends to the end of the text. Others lose only the tag, so that a missing `</svg>`
        # does not hide the page.
        return len(self._text) if name in _RAW else position

    def _closing(self, name: str, position: int) -> int | None:
        match = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(self._text, position)
        return match.end() if match else None


def unescape(text: str) -> str:
    """Replace the character references in a text."""
    # Lazy: importing its tables takes 2 ms.
    from html import unescape as replace_references

    return replace_references(text)


def character_of(reference: str) -> str:
    """Return the character of a reference.

    A reference to a line end or control character becomes a space, one to a sign without width, such as a soft hyphen,
    nothing; an unknown one is not changed.

    Example:
        >>> character_of("&lt;"), character_of("&nbsp;"), character_of("&shy;"), character_of("&what;")
        ('<', ' ', '', '&what;')
    """
    character = unescape(reference)
    if character.isprintable():
        return character
    return "" if category(character[0]) == "Cf" else " "
