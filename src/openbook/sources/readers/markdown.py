"""Reads Markdown: headings, code and paragraphs, with a CommonMark parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from openbook.containers import OPENS_BODY, holds_prose, html_headings, section_title, without_pictures
from openbook.sources.front_matter import FRONT_MATTER, stated_title
from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.text import LineIndex
from openbook.types import Block, BlockKind

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# A lone carriage return: a line end for the parser, but not for us.
_LONE_RETURN = re.compile(r"\r(?!\n)")

# Heading attributes of Pandoc, Hugo and MkDocs: `{#anchor}`, `{.class}`; and the anchor of Documenter around a title.
_ATTRIBUTES = re.compile(r"\s*\{[:#.][^{}]*\}\s*$|^\[(.*)\]\(@id\b[^()]*\)$")

# Longer headings are not parsed for markup, which would take quadratic time.
_MAX_TITLE_CHARS = 500

# Rewrites an admonition or tab as a list item, which the parser understands, with the same lines.
_AS_ITEM = r"\g<indent>-   x"

# Limit of fences that nest by their length.
_MAX_NESTED = 5

_LEAVES: dict[str, BlockKind] = {
    "paragraph_open": "text",
    "table_open": "text",
    "html_block": "text",
    "hr": "text",
    "heading_open": "heading",
    "fence": "code",
    "code_block": "code",
}

_CONTAINERS = ("list_item_open", "blockquote_open")
_CONTAINER_ENDS = ("list_item_close", "blockquote_close")


def read_markdown(text: str, path: str = "") -> Reading:
    r"""Read Markdown. The text is not changed.

    Blocks are headings, fenced or indented code, and text: a paragraph, a table, or one item of a top-level list,
    admonition or quotation. A tab or a collapsible block with a title is a section below the last heading outside, up
    to the end of its indented body. Headings in these and in admonitions are below those outside. In lists and
    quotations, all of them are text.
    Front matter that states a title is a heading of level 1, since sites show that title above the page.

    Example:
        >>> [(block.kind, block.title) for block in read_markdown("# A `b`\n\ntext\n").blocks]
        [('heading', 'A b'), ('text', '')]
    """
    return Reading(text, "docs", "markdown", fill_gaps(text, _blocks(text)))


def _blocks(text: str) -> Iterator[Block]:
    lines = LineIndex(text)
    front = FRONT_MATTER.match(text)
    skipped = front.group() if front else ""
    if front:
        title = stated_title(front[2])
        yield Block(0, len(skipped.rstrip()), "heading" if title else "text", int(bool(title)), title)
    # Replace front matter by blank lines: its closing dashes would make its last line a heading.
    parsed = _LONE_RETURN.sub(" ", "\n" * skipped.count("\n") + text[len(skipped) :])
    parser = _parser()
    environment: dict[str, object] = {}
    for leaf in _merge(_leaves(parsed, environment)):
        start, end = lines.start_of(leaf.first + 1), lines.end_of(leaf.last)
        end = start + len(text[start:end].rstrip())
        title = _title(parser, leaf.title, environment) if leaf.level else ""
        yield Block(start, end, leaf.kind, leaf.level, title, closes=leaf.closes)


@cache
def _parser() -> MarkdownIt:
    # Lazy: 30 ms, needed only for sources with Markdown.
    from markdown_it import MarkdownIt

    # Inline markup is needed only for headings, and takes two thirds of the parser's time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


class _Leaf(NamedTuple):
    kind: BlockKind
    first: int
    """Line, from 0."""
    last: int
    """Line after the last."""
    level: int = 0
    title: str = ""
    """With its markup."""
    closes: int = 0


@dataclass(slots=True)
class _Body:
    """What contains blocks: the document, an admonition, a tab, a list item or a quotation."""

    line: int
    """Its first line."""
    base: int
    """Level of the heading that its own headings are below."""
    last: int
    """Level of its last heading."""
    is_open: bool
    """Its headings open sections of the document."""


class _Outline:
    """Finds the levels of headings, tabs and collapsible blocks, as blocks are passed in order."""

    def __init__(self) -> None:
        self._bodies = [_Body(-1, 0, 0, is_open=True)]
        self._closes = 0

    def enter(self, line: int, opening: str) -> None:
        """Enter the body of an item that begins at a line."""
        outer, found = self._bodies[-1], OPENS_BODY.match(opening)
        is_open = outer.is_open and found is not None and found["box"] is not None
        # Without a heading above, each tab would be a chunk of its own: "pip install x" below "pip".
        is_section = is_open and outer.last > 0 and section_title(opening) != ""
        base = outer.last + is_section
        self._bodies.append(_Body(line, base, base, is_open))

    def leave(self) -> None:
        """Leave the innermost body, and with it the sections that it has opened."""
        left = self._bodies.pop()
        closes = self._bodies[-1].last + 1
        if left.last >= closes:
            self._closes = closes

    def level_of(self, line: int, written: int) -> int:
        """Return the level of a heading; 0 if it opens no section, as the first line of an item."""
        body = self._bodies[-1]
        if not body.is_open or line == body.line:
            return 0
        body.last = body.base + written
        return body.last

    def level_of_section(self, line: int) -> int:
        """Return the level of the section that a tab or collapsible block opens at a line; 0 if none does."""
        body, *outer = self._bodies[::-1]
        return body.base if outer and line == body.line and body.base > outer[0].last else 0

    def closing(self) -> int:
        """Return the level of the sections that have ended since the last call; 0 if none has."""
        closes, self._closes = self._closes, 0
        return closes


def _leaves(text: str, environment: dict[str, object], depth: int = 0) -> Iterator[tuple[int, _Leaf]]:
    """Yield the leaf blocks, with the number of the top-level block or list item that contains them."""
    tokens = _parser().parse(OPENS_BODY.sub(_AS_ITEM, text), environment)
    lines, outline = text.split("\n"), _Outline()
    group = 0
    for position, token in enumerate(tokens):
        if token.level == 0 or (token.type == "list_item_open" and token.level == 1):
            group += 1
        if token.type in _CONTAINERS and token.map is not None:
            outline.enter(token.map[0], lines[token.map[0]])
        elif token.type in _CONTAINER_ENDS:
            outline.leave()
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None:
            continue
        first, last = token.map
        if token.type == "fence" and depth < _MAX_NESTED and holds_prose(token.info):
            found = _prose_of_fence(token.content, first, depth)
        elif kind == "heading":
            level = outline.level_of(first, int(token.tag[1]))
            title = tokens[position + 1].content
            found = iter([_Leaf("heading", first, last, level, title) if level else _Leaf("text", first, last)])
        elif token.type == "html_block":
            found = _headings_in_html(_Leaf(kind, first, last), outline, lines)
        else:
            found = _section_or_text(_Leaf(kind, first, last), outline, lines)
        for leaf in found:
            yield group, leaf._replace(closes=outline.closing())


def _prose_of_fence(content: str, opening: int, depth: int) -> Iterator[_Leaf]:
    first = opening + 1
    yield _Leaf("text", opening, first)
    for _, leaf in _leaves(content, {}, depth + 1):
        yield _Leaf("code" if leaf.kind == "code" else "text", first + leaf.first, first + leaf.last)


def _section_or_text(leaf: _Leaf, outline: _Outline, lines: Sequence[str]) -> Iterator[_Leaf]:
    """Yield the heading of a tab or collapsible block that begins here, and the text directly below it."""
    first, last = leaf.first, leaf.last
    if level := outline.level_of_section(first):
        yield _Leaf("heading", first, first + 1, level, section_title(lines[first]))
        first += 1
    if first < last:
        yield leaf._replace(first=first)


def _headings_in_html(leaf: _Leaf, outline: _Outline, lines: Sequence[str]) -> Iterator[_Leaf]:
    """Yield the headings of a block of HTML, and the text between them."""
    block, first = "\n".join(lines[leaf.first : leaf.last]), leaf.first
    for start, end, level, title in html_headings(block):
        begin, behind = leaf.first + block.count("\n", 0, start), leaf.first + block.count("\n", 0, end) + 1
        if below := outline.level_of(begin, level):
            yield from _section_or_text(_Leaf("text", first, begin), outline, lines)
            yield _Leaf("heading", begin, behind, below, title)
            first = behind
    yield from _section_or_text(_Leaf("text", first, leaf.last), outline, lines)


def _merge(leaves: Iterator[tuple[int, _Leaf]]) -> Iterator[_Leaf]:
    """Join adjacent text blocks of the same list item or quotation, unless a section ends between them."""
    open_group, held = -1, None
    for group, leaf in leaves:
        if held and group == open_group and held.kind == leaf.kind == "text" and not leaf.closes:
            held = held._replace(last=leaf.last)
            continue
        if held:
            yield held
        open_group, held = group, leaf
    if held:
        yield held


def _title(parser: MarkdownIt, raw: str, environment: dict[str, object]) -> str:
    """Reduce the source of a heading to its visible text."""
    raw = without_pictures(raw)
    if len(raw) > _MAX_TITLE_CHARS:
        return " ".join(raw.split())
    tokens: list[Token] = []
    parser.inline.parse(_ATTRIBUTES.sub(r"\1", raw), parser, environment, tokens)
    shown = ("" if token.type == "html_inline" else token.content or " " * (token.tag == "br") for token in tokens)
    return " ".join("".join(shown).split())
