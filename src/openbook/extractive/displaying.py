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
from openbook.types import BEGIN_OF_CODE, END_OF_CODE, Chunk, Unit

# Indentation and gaps between cells in HTML, which a browser does not show.
_BLANKS = re.compile(r"[ \t\u00a0]+")

# Tags that are no part of a line of text.
_SEPARATES = re.compile(r"</?(?:br|hr|p|div|d[dlt]|[ou]l|li|t[dhr]|table|h[1-6]|summary|details)\b", re.IGNORECASE)

_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_INLINE_CODE = re.compile(r"(?<!`)(`++).+?(?<!`)\1(?!`)")

# Fences of code examples in Markdown, AsciiDoc and plain text.
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[\w+#.-]*)[^`]*")
_LISTING = re.compile(r"(?P<fence>-{4,}|\.{4,}|`{3,})(?P<info>(?:(?<=`)[\w+#.-]+)?)[ \t]*")
_BACKTICKS = re.compile(r"[ \t]*(?P<fence>`{3,})[ \t]*(?P<info>[\w+#.-]*)[^`]*")
_CODE_MARKS = re.compile(rf"(?P<fence>[{BEGIN_OF_CODE}{END_OF_CODE}])(?P<info>)")
_FENCES = {"asciidoc": _LISTING, "html": _CODE_MARKS, "text": _BACKTICKS}

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

    In AsciiDoc, both have the same length; in HTML, they differ.
    """
    if language == "html":
        return found["fence"] == END_OF_CODE
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
    """The characters of its opening fence; the shortest possible if that precedes the chunk."""
    language: str
    """The language of the opening fence; may be empty."""

    def is_inside(self, position: int) -> bool:
        """Return whether a unit is code of this example, not a fence."""
        return self.opening < position < self.closing


def examples_of(every: Sequence[Unit], language: str) -> tuple[Example, ...]:
    """Return the fenced examples of a chunk, in order.

    Fences around prose do not count. A chunk may begin or end within an example; the first fence and the lines above it
    tell whether it begins within one.
    """
    fences = [(place, fence) for place, unit in enumerate(every) if (fence := fence_of(unit.text, language))]
    found: list[Example] = []
    opened: Example | None = None
    if fences and _begins_inside(every, fences):
        opened = Example(-1, len(every), fences[0][1]["fence"], "")
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


def _begins_inside(every: Sequence[Unit], fences: Sequence[tuple[int, re.Match[str]]]) -> bool:
    """Return whether the first fence closes an example that precedes the chunk."""
    (first, fence), *others = fences
    if fence.re is _CODE_MARKS:
        return fence["fence"] == END_OF_CODE
    if fence["info"] or not first:
        return False
    if others and others[0][1]["info"]:
        return True
    above = [unit.text for unit in every[:first]]
    return len(fences) % 2 == 1 and 2 * sum(map(is_code_line, above)) > len(above)


@lru_cache(maxsize=_CACHED_CHUNKS)
def indented_code(chunk: Chunk) -> Mapping[int, str]:
    r"""Map the lines of indented code blocks in a chunk of prose to their languages.

    Indented bodies of list items, admonitions, tabs and directives are not code. A chunk may begin in one of them.
    HTML has none: its lines begin with the blanks that tags left.

    Example:
        >>> from openbook.types import Span
        >>> text = "- one\n\n    its prose\n\n          its code"
        >>> list(indented_code(Chunk("s", Span("a.md", 0, len(text), 1, 5), text, "docs", "markdown")))
        [5]
    """
    if chunk.language == "html":
        return {}
    read = _literal_blocks if chunk.language == "rst" else _set_off
    return {chunk.span.start_line + place: language for place, language in read(chunk.text, chunk.language)}


def _literal_blocks(text: str, _language: str) -> Iterator[tuple[int, str]]:
    """Yield the literal blocks of reStructuredText, without the options of directives."""
    code: tuple[int, str] | None = (indent_of(text) - 1, "") if _begins_in_code(text) else None
    are_options = False
    for place, line in enumerate(text.split("\n")):
        columns = indent_of(line)
        if code is not None and (not line.strip() or columns > code[0]):
            are_options = are_options and line.lstrip().startswith(":")
            if line.strip() and not are_options:
                yield place, code[1]
            continue
        code = None
        if leads_to_code(line, 0, len(line)):
            directive = DIRECTIVE.match(line)
            code = columns + width_of_marker(line, 0, len(line)), (directive and directive["said"]) or ""
            are_options = True


def _set_off(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield the indented code blocks: four columns deeper than the enclosing body, after a blank line."""
    lines = text.split("\n")
    first = indent_of(next(filter(str.strip, lines), ""))
    bodies = [first] if first >= _CODE_COLUMNS and not _begins_in_code(text) else []
    heads = {text.count("\n", 0, start) for start, _ in entry_heads(text, language)} if language in MARKED else ()
    fence, can_begin, is_apart = "", True, True
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
        inside = {place for each in examples_of(every, "html") for place in range(each.opening + 1, each.closing)}
        return tuple(
            text if place in inside else "```" if _CODE_MARKS.fullmatch(text) else _BLANKS.sub(" ", text).lstrip()
            for place, text in enumerate(texts)
        )
    set_off = indented_code(chunk)
    code = {place for place, unit in enumerate(every) if unit.span.start_line in set_off}
    return tuple(_without_tags(texts, examples_of(every, chunk.language), code))


def _without_tags(texts: Sequence[str], examples: Sequence[Example], code: set[int]) -> list[str]:
    if any(each.opening < 0 or each.closing == len(texts) for each in examples):  # which end is open may be mistaken
        return list(texts)
    code = code.union(*(range(each.opening, each.closing + 1) for each in examples))
    found = [text if place in code else without_tags(text) for place, text in enumerate(texts)]
    left, whole = sum(map(len, found)), sum(map(len, texts))
    if whole - left > whole * _MAX_MARKUP:
        return list(texts)
    return [new if new.strip() else old for new, old in zip(found, texts, strict=True)]


def without_tags(text: str) -> str:
    """Return a text of Markdown without HTML tags and character references, except in inline code.

    Tags that separate texts become blanks.

    Example:
        >>> without_tags("Press <kbd>F1</kbd>,<br>or write `<kbd>`&nbsp;&mdash; a&lt;b.")
        'Press F1, or write `<kbd>` — a<b.'
    """
    parts, at = [], 0
    for code in _INLINE_CODE.finditer(text):
        parts += [_shown(text[at : code.start()]), code.group()]
        at = code.end()
    return "".join((*parts, _shown(text[at:])))


def _shown(text: str) -> str:
    plain = HTML_TAG.sub(lambda tag: " " if _SEPARATES.match(tag[0]) else "", text)
    return _REFERENCE.sub(lambda reference: character_of(reference[0]), plain)
