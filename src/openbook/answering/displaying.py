"""What a model reads of units: their words, without the markup that a page is drawn with.

Nothing here moves a citation: units keep their numbers and their spans.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.grounding.readable import HTML_TAG, closed_up
from openbook.types import Chunk, Unit

# The HTML reader leaves a space for each character of markup.
_BLANKS = re.compile(r"(?<=\S)[ \t\u00a0]{2,}")

_INLINE_CODE = re.compile(r"(`+)(?:(?!\1).)+\1")

# A chunk with more markup is an example of it, or the inside of one that began before.
_MOST_MARKUP = 1 / 2


def is_fence(text: str) -> bool:
    """Check whether a line of Markdown opens or closes an example."""
    return text.lstrip().startswith(("```", "~~~"))


def displayed(chunk: Chunk, every: Sequence[Unit]) -> tuple[str, ...]:
    """Return what a model is shown of each unit of a chunk.

    Of a page of HTML, runs of blanks become one, or none before a comma, and what all lines are
    indented by is left out; of Markdown, tags of HTML are left out where they stand in no code. A unit
    that is nothing but markup stays, so that none is empty. All else is shown as it stands, templates included.

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
        indent = min(len(text) - len(text.lstrip()) for text in texts)
        return tuple(_BLANKS.sub(" ", closed_up(text[indent:])) for text in texts)
    return tuple(_without_tags(texts))


def _without_tags(texts: Sequence[str]) -> list[str]:
    fences = [is_fence(text) for text in texts]
    if sum(fences) % 2:  # a fence is open at one end, and nothing says at which
        return list(texts)
    found, is_code = [], False
    for text, fences_off in zip(texts, fences, strict=True):
        is_code ^= fences_off
        as_it_stands = is_code or fences_off or text.startswith(("    ", "\t"))
        found.append(text if as_it_stands else _outside_code(text))
    left, whole = sum(map(len, found)), sum(map(len, texts))
    if whole - left > whole * _MOST_MARKUP:
        return list(texts)
    return [new if new.strip() else old for new, old in zip(found, texts, strict=True)]


def _outside_code(text: str) -> str:
    parts, at = [], 0
    for code in _INLINE_CODE.finditer(text):
        parts += [HTML_TAG.sub("", text[at : code.start()]), code.group()]
        at = code.end()
    return "".join((*parts, HTML_TAG.sub("", text[at:])))
