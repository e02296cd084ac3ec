"""Reads Markdown: headings, code and paragraphs, with a CommonMark parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from openbook.containers import OPENS_BODY, holds_prose
from openbook.sources.front_matter import FRONT_MATTER, stated_title
from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.text import LineIndex
from openbook.types import Block, BlockKind

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# A lone carriage return: a line end for the parser, but not for us.
_LONE_RETURN = re.compile(r"\r(?!\n)")

# Heading attributes of Pandoc, Hugo and MkDocs: `{#anchor}`, `{.class}`.
_ATTRIBUTES = re.compile(r"\s*\{[:#.][^{}]*\}\s*$")

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


def read_markdown(text: str, path: str = "") -> Reading:
    r"""Read Markdown. The text is not changed.

    Blocks are headings, fenced or indented code, and text: a paragraph, a table, or one item of a top-level list,
    admonition, tab or quotation. A heading inside of one of these is text, since it opens no section of the document.
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
    for kind, level, first, last, title in _merge(_leaves(parsed, environment)):
        start, end = lines.start_of(first + 1), lines.end_of(last)
        end = start + len(text[start:end].rstrip())
        yield Block(start, end, kind, level, _title(parser, title, environment) if level else "")


@cache
def _parser() -> MarkdownIt:
    # Lazy: 30 ms, needed only for sources with Markdown.
    from markdown_it import MarkdownIt

    # Inline markup is needed only for headings, and takes two thirds of the parser's time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


_Leaf = tuple[BlockKind, int, int, int, str]
"""Kind, level, first line from 0, line after the last, raw title."""


def _leaves(text: str, environment: dict[str, object], depth: int = 0) -> Iterator[tuple[int, _Leaf]]:
    """Yield the leaf blocks, with the number of the top-level block or list item that contains them."""
    tokens = _parser().parse(OPENS_BODY.sub(_AS_ITEM, text), environment)
    group = 0
    for position, token in enumerate(tokens):
        if token.level == 0 or (token.type == "list_item_open" and token.level == 1):
            group += 1
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None:
            continue
        first, last = token.map
        if token.type == "fence" and depth < _MAX_NESTED and holds_prose(token.info):
            yield group, ("text", 0, first, first + 1, "")
            for _, (inner, _, start, end, _) in _leaves(token.content, {}, depth + 1):
                yield group, ("code" if inner == "code" else "text", 0, first + 1 + start, first + 1 + end, "")
            continue
        level = int(token.tag[1]) if kind == "heading" and token.level == 0 else 0
        title = tokens[position + 1].content if level else ""
        yield group, ("text" if kind == "heading" and not level else kind, level, first, last, title)


def _merge(leaves: Iterator[tuple[int, _Leaf]]) -> Iterator[_Leaf]:
    """Join adjacent text blocks of the same list item or quotation."""
    open_group, held = -1, None
    for group, leaf in leaves:
        if held and group == open_group and held[0] == leaf[0] == "text":
            held = ("text", 0, held[2], leaf[3], "")
            continue
        if held:
            yield held
        open_group, held = group, leaf
    if held:
        yield held


def _title(parser: MarkdownIt, raw: str, environment: dict[str, object]) -> str:
    """Reduce the source of a heading to its visible text."""
    if len(raw) > _MAX_TITLE_CHARS:
        return " ".join(raw.split())
    tokens: list[Token] = []
    parser.inline.parse(_ATTRIBUTES.sub("", raw), parser, environment, tokens)
    shown = ("" if token.type == "html_inline" else token.content or " " * (token.tag == "br") for token in tokens)
    return " ".join("".join(shown).split())
