"""Reads HTML into text of the same length and the same lines as the file.

Markup becomes spaces in place, so that an offset into the text is one into the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from openbook.sources.readers.html_marks import Mark, MarkFinder
from openbook.sources.readers.reading import Reading
from openbook.spans import trim
from openbook.types import Block

# Elements that stand on lines of their own. Cells are not among them: a row is one statement.
_BLOCK_ELEMENTS = frozenset(
    """
    address article aside blockquote body br button caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol option p pre search
    section select summary table tbody textarea tfoot thead title tr ul
    """.split()
)

_HEADINGS = {f"h{level}": level for level in range(1, 7)}

_VISIBLE_CHANGE = re.compile(r"[^\r\n]")
_TAG = re.compile(r"<[^<>]*>")
_TEMPLATE = re.compile(r"\{\{|\{%")

# What documentation generators put behind headings to link to them.
_PERMALINK = re.compile(r"\s*[¶§#🔗]\s*$")


def read_html(text: str, path: str = "") -> Reading:
    r"""Read HTML.

    Tags, comments, scripts and styles become spaces; the first character of a block-level tag
    becomes a form feed; a character reference becomes its character and spaces. Length and line
    ends never change. Blocks are headings, `pre` as code, and text between block-level tags.

    A template, or a page without visible text, is code, and stays as it is.

    Example:
        >>> reading = read_html("<h1>A &amp; B</h1><p>text")
        >>> reading.text
        '\x0c   A &     B\x0c    \x0c  text'
        >>> [(block.kind, block.title) for block in reading.blocks]
        [('heading', 'A & B'), ('text', '')]
    """
    page = _Page(text)
    visible = page.read()
    if page.is_template or not visible.strip():
        return Reading(text, "code", "html")
    return Reading(visible, "docs", "html", tuple(page.blocks(visible)))


class _Page:
    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[str] = []
        self._borders: list[tuple[int, Mark]] = []
        self._code_depth = 0
        self.is_template = False

    def read(self) -> str:
        """Give the visible text, noting borders and signs of a template on the way."""
        reached = 0
        for mark in MarkFinder(self._text).marks():
            self._keep(self._text[reached : mark.start_char])
            self._replace(mark)
            reached = mark.end_char
        self._keep(self._text[reached:])
        return "".join(self._pieces)

    def _keep(self, text: str) -> None:
        # Documentation of a template language shows its marks, but in code.
        if not self._code_depth and _TEMPLATE.search(text):
            self.is_template = True
        self._pieces.append(text)

    def _replace(self, mark: Mark) -> None:
        source = self._text[mark.start_char : mark.end_char]
        if mark.kind == "character":
            self._pieces.append(_shown(source))
            return
        blank = _VISIBLE_CHANGE.sub(" ", source)
        if mark.kind == "template":
            self.is_template = True
        elif mark.kind in {"open", "close"}:
            self._count_code(mark)
            if mark.name in _BLOCK_ELEMENTS:
                blank = "\f" + blank[1:]
                self._borders.append((mark.start_char, mark))
        self._pieces.append(blank)

    def _count_code(self, mark: Mark) -> None:
        if mark.name in {"pre", "code"}:
            self._code_depth = max(0, self._code_depth + (1 if mark.kind == "open" else -1))

    def blocks(self, visible: str) -> Iterator[Block]:
        """Yield the blocks between borders, trimmed."""
        start, inside = 0, ""
        for border, mark in self._borders:
            if inside == "pre" and mark.name != "pre":
                continue  # lines of highlighted code may be block elements
            if mark.name == "br":
                continue  # a line break ends a sentence at most
            yield from self._block(visible, start, border, inside)
            start = border
            inside = mark.name if mark.kind == "open" else ""
        yield from self._block(visible, start, len(visible), inside)

    def _block(self, visible: str, start: int, end: int, inside: str) -> Iterator[Block]:
        start, end = trim(visible, start, end)
        if start == end:
            return
        level = _HEADINGS.get(inside, 0)
        if level:
            yield Block(start, end, "heading", level, _title(self._text[start:end]))
        else:
            yield Block(start, end, "code" if inside == "pre" else "text")


def _title(source: str) -> str:
    """Take the markup out of a heading without leaving spaces where it was."""
    return _PERMALINK.sub("", " ".join(_unescape(_TAG.sub("", source)).split()))


def _unescape(text: str) -> str:
    # Its tables are 2 ms to import.
    from html import unescape

    return unescape(text)


def _shown(reference: str) -> str:
    """Give the character of a reference, filled with spaces to the same length.

    A reference to a line end or another control character is shown as spaces, an unknown one as
    it stands.

    Example:
        >>> _shown("&lt;"), _shown("&nbsp;"), _shown("&what;")
        ('<   ', '      ', '&what;')
    """
    character = _unescape(reference)
    if len(character) > len(reference):
        return reference
    if not character.isprintable():
        character = " "
    return character.ljust(len(reference))
