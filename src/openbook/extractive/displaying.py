"""Renders units for models without presentational markup, and finds code examples in prose.

Units keep their numbers and spans, so citations stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

from openbook.containers import DIRECTIVE, ITEM, OPENS_BODY, holds_prose, leads_to_code, width_of_marker
from openbook.entries import MARKED, entry_heads, indent_of
from openbook.grounding.readable import HTML_TAG
from openbook.grounding.sentences import is_code_line
from openbook.sources.readers.html_marks import character_of
from openbook.text import units
from openbook.types import BEGIN_OF_CODE, END_OF_CODE, Chunk, Unit

# Indentation and gaps between cells in HTML, which a browser does not show.
_BLANKS = re.compile(r"[ \t\u00a0]+")

# Tags that are no part of a line of text.
_SEPARATES = re.compile(r"</?(?:br|hr|p|div|d[dlt]|[ou]l|li|t[dhr]|table|h[1-6]|summary|details)\b", re.IGNORECASE)

_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_INLINE_CODE = re.compile(r"(?<!`)(`++).+?(?<!`)\1(?!`)")

# Fences of code examples in Markdown, AsciiDoc, plain text and Org.
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[\w+#.-]*)[^`]*")
_LISTING = re.compile(r"(?P<fence>-{4,}|\.{4,}|`{3,})(?:(?<=`)[ \t]*)?(?P<info>(?:(?<=[` \t])[\w+#.-]+)?)[ \t]*")
_BACKTICKS = re.compile(r"[ \t]*(?P<fence>`{3,})[ \t]*(?P<info>[\w+#.-]*)[^`]*")
_CODE_MARKS = re.compile(rf"(?P<fence>[{BEGIN_OF_CODE}{END_OF_CODE}])(?P<info>)")
_BLOCK = re.compile(r"[ \t]*#\+(?P<fence>begin|end)_(?:src|example|export)\b[ \t]*(?P<info>[\w+#.-]*).*", re.IGNORECASE)
_FENCES = {"asciidoc": _LISTING, "html": _CODE_MARKS, "org": _BLOCK, "text": _BACKTICKS}
# What closes an example, where that differs from what opens it.
_ENDS = {"html": END_OF_CODE, "org": "end"}

# Indentation of code blocks in Markdown, relative to the enclosing body.
_CODE_COLUMNS = 4

# Cached chunks: a search reads each of ten results once per passage.
_CACHED_CHUNKS = 64

# A chunk with more markup is an example of markup, or begins within one.
_MAX_MARKUP = 1 / 2


def fence_of(text: str, language: str) -> re.Match[str] | None:
    """Match a line that opens or closes a fenced example, with groups `fence` and `info`; None for other lines.

    Tildes are no fence in plain text and reStructuredText, where they underline titles.
    """
    if language == "rst":
        return None
    return _FENCES.get(language, _FENCE).fullmatch(text)


def closes(found: re.Match[str], fence: str, language: str) -> bool:
    """Return whether a line closes the example that a fence opens.

    In AsciiDoc, both have the same length; in HTML and Org, they differ.
    """
    if language in _ENDS:
        return found["fence"].lower() == _ENDS[language]
    is_alike = found["fence"] == fence if language == "asciidoc" else found["fence"].startswith(fence)
    return is_alike and not found["info"]


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced code example in prose. Positions are indexes of units."""

    opening: int
    """The opening fence; -1 if it precedes the chunk."""
    closing: int
    """The closing fence; the number of units if it follows the chunk."""
    fence: str
    """The characters of its opening fence."""
    language: str
    """The language of the opening fence; may be empty."""

    def is_inside(self, position: int) -> bool:
        """Return whether a unit is code of this example, not a fence."""
        return self.opening < position < self.closing


def examples_of(chunk: Chunk, every: Sequence[Unit]) -> tuple[Example, ...]:
    """Return the fenced examples among the units of a chunk, in order.

    Fences around prose do not count. A chunk may begin or end within an example.
    """
    language = chunk.language
    fences = [(place, fence) for place, unit in enumerate(every) if (fence := fence_of(unit.text, language))]
    found: list[Example] = []
    above = fence_of(chunk.code_opening, language)
    opened = Example(-1, len(every), above["fence"], above["info"]) if above else None
    boxes: list[str] = []
    for place, fence in fences:
        if opened is None and holds_prose(every[place].text.lstrip(" \t`~:")):
            boxes.append(fence["fence"])
        elif opened is None and boxes and closes(fence, boxes[-1], language):
            boxes.pop()
        elif opened is None:
            opened = Example(place, len(every), fence["fence"], fence["info"])
        elif closes(fence, opened.fence, language):
            found.append(replace(opened, closing=place))
            opened = None
    return (*found, opened) if opened else tuple(found)


def code_opening_at(chunk: Chunk, start_char: int) -> str:
    """Return the line above that opens the code block in which a place of a chunk of prose is; empty if none does."""
    if start_char <= chunk.span.start_char or chunk.kind not in ("docs", "course"):
        return chunk.code_opening
    above = chunk.text[: start_char - chunk.span.start_char].split("\n")
    if chunk.language == "rst":
        is_code = chunk.span.start_line + len(above) - 1 in indented_code(chunk)
        openings = (line for line in reversed(above) if leads_to_code(line, 0, len(line)))
        return next(openings, chunk.code_opening) if is_code else ""
    every = units(chunk)
    place = sum(unit.span.start_char < start_char for unit in every)
    inside = next((each for each in examples_of(chunk, every) if each.opening < place <= each.closing), None)
    return "" if inside is None else every[inside.opening].text if inside.opening >= 0 else chunk.code_opening


@lru_cache(maxsize=_CACHED_CHUNKS)
def indented_code(chunk: Chunk) -> Mapping[int, str]:
    r"""Map the lines of indented code blocks in a chunk of prose to their languages.

    Indented bodies of list items, admonitions, tabs and directives are not code. A chunk may begin in one of them.
    HTML has none: its lines begin with the blanks that tags left. MDX has none either.

    Example:
        >>> from openbook.types import Span
        >>> text = "- one\n\n    its prose\n\n          its code"
        >>> list(indented_code(Chunk("s", Span("a.md", 0, len(text), 1, 5), text, "docs", "markdown")))
        [5]
    """
    if chunk.language == "html" or chunk.span.path.endswith(".mdx"):
        return {}
    read = _literal_blocks if chunk.language == "rst" else _set_off
    return {chunk.span.start_line + place: language for place, language in read(chunk)}


def _literal_blocks(chunk: Chunk) -> Iterator[tuple[int, str]]:
    """Yield the literal blocks of reStructuredText, without the options of directives."""
    code = _literal_body(chunk.code_opening) if chunk.code_opening else None
    are_options = False
    for place, line in enumerate(chunk.text.split("\n")):
        columns = indent_of(line)
        if code is not None and (not line.strip() or columns > code[0]):
            are_options = are_options and line.lstrip().startswith(":")
            if line.strip() and not are_options:
                yield place, code[1]
            continue
        code = None
        if leads_to_code(line, 0, len(line)):
            code, are_options = _literal_body(line), True


def _literal_body(opening: str) -> tuple[int, str]:
    """Return the columns that the code below a line of reStructuredText exceeds, and its language."""
    directive = DIRECTIVE.match(opening)
    return indent_of(opening) + width_of_marker(opening, 0, len(opening)), (directive and directive["said"]) or ""


def _set_off(chunk: Chunk) -> Iterator[tuple[int, str]]:
    """Yield the indented code blocks: four columns deeper than the enclosing body, after a blank line."""
    text, language = chunk.text, chunk.language
    lines = text.split("\n")
    first = indent_of(next(filter(str.strip, lines), ""))
    above = fence_of(chunk.code_opening, language)
    is_code = bool(chunk.code_opening) or _begins_in_code(text)
    bodies = [first] if first >= _CODE_COLUMNS and not is_code else []
    heads = {text.count("\n", 0, start) for start, _ in entry_heads(text, language)} if language in MARKED else ()
    fence, can_begin, is_apart = above["fence"] if above else "", True, True
    for place, line in enumerate(lines):
        columns, found = indent_of(line), fence_of(line, language)
        if fence or not line.strip():
            can_begin = is_apart = True
            fence = "" if found and closes(found, fence, language) else fence
            continue
        while can_begin and bodies and columns < bodies[-1]:
            bodies.pop()
        item = ITEM.match(line)
        if can_begin and columns >= (bodies[-1] if bodies else 0) + _CODE_COLUMNS and not (item and is_apart):
            yield place, ""
            is_apart = False
            continue
        can_begin = is_apart = False
        if found:
            fence = found["fence"]
        elif OPENS_BODY.match(line):
            bodies.append(columns + _CODE_COLUMNS)
        elif item:
            bodies.append(columns + min(len(item[1]), _CODE_COLUMNS))
        elif place in heads:
            bodies.append(indent_of(next(filter(str.strip, lines[place + 1 :]), "")))


def _begins_in_code(text: str) -> bool:
    """Return whether a chunk begins with indented code."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = indent_of(lines[0]) if lines else 0
    opening = list(takewhile(lambda line: indent_of(line) >= first, lines))
    signs = sum(is_code_line(line) or line.lstrip().startswith("<") for line in opening)
    return first >= _CODE_COLUMNS and 2 * signs > len(opening)


def displayed(chunk: Chunk, every: Sequence[Unit]) -> tuple[str, ...]:
    """Return the text of each unit of a chunk as it is shown to a model.

    In HTML, runs of blanks are collapsed except in code, whose marks become fences. In Markdown, HTML tags outside of
    code are removed, except from units that are nothing but markup, and character references are replaced. All else is
    unchanged, including templates.

    Example:
        >>> from openbook.text import units
        >>> from openbook.types import Span
        >>> text = "Press <kbd>F1</kbd> to be helped."
        >>> chunk = Chunk("s", Span("a.md", 0, len(text), 1, 1), text, "docs", "markdown")
        >>> displayed(chunk, units(chunk))
        ('Press F1 to be helped.',)
    """
    texts = tuple(unit.text for unit in every)
    if chunk.kind != "docs" or chunk.language not in {"html", "markdown"}:
        return texts
    if chunk.language == "html":
        inside = {place for each in examples_of(chunk, every) for place in range(each.opening + 1, each.closing)}
        return tuple(
            text if place in inside else "```" if _CODE_MARKS.fullmatch(text) else _BLANKS.sub(" ", text).lstrip()
            for place, text in enumerate(texts)
        )
    set_off = indented_code(chunk)
    code = {place for place, unit in enumerate(every) if unit.span.start_line in set_off}
    return tuple(_without_tags(texts, examples_of(chunk, every), code))


def _without_tags(texts: Sequence[str], examples: Sequence[Example], code: set[int]) -> list[str]:
    code = code.union(*(range(each.opening, each.closing + 1) for each in examples))
    found = [text if place in code else without_tags(text) for place, text in enumerate(texts)]
    left, whole = sum(map(len, found)), sum(map(len, texts))
    if whole - left > whole * _MAX_MARKUP:
        return list(texts)
    return [new if new.strip() else old for new, old in zip(found, texts, strict=True)]


def without_tags(text: str) -> str:
    """Return a text of Markdown without HTML tags and character references, except in inline code.

    Tags that separate texts become blanks. In a row of a table, a referenced bar stays behind a backslash.

    Example:
        >>> without_tags("Press <kbd>F1</kbd>,<br>or write `<kbd>`&nbsp;&mdash; a&lt;b.")
        'Press F1, or write `<kbd>` — a<b.'
    """
    bar = "\\|" if text.lstrip().startswith("|") else "|"
    parts, at = [], 0
    for code in _INLINE_CODE.finditer(text):
        parts += [_shown(text[at : code.start()], bar), code.group()]
        at = code.end()
    return "".join((*parts, _shown(text[at:], bar)))


def _shown(text: str, bar: str) -> str:
    plain = HTML_TAG.sub(lambda tag: " " if _SEPARATES.match(tag[0]) else "", text)
    return _REFERENCE.sub(lambda reference: character_of(reference[0]).replace("|", bar), plain)
