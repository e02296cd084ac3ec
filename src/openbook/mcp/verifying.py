"""Checks a text that cites `path:start-end`, claim by claim, against the lines that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typing_extensions import TypedDict  # of Python 3.11, pydantic takes no other

from openbook.answering.context import Context, ContextItem
from openbook.answering.outlines import lines_of
from openbook.answering.verification import CitationChecker
from openbook.answers import Claim
from openbook.index.protocol import DocumentSummary, Index
from openbook.library import Library
from openbook.text import LineIndex, units
from openbook.types import RetrievalResult
from openbook.verify.mentions import Mention, find_mentions

# What stands around a place belongs to how it is written, not to the claim.
_OPENS, _CLOSES = "`([<", "`)]>"

Locate = Callable[[str], DocumentSummary | None]
"""Finds the document that a path means."""


class ClaimItem(TypedDict):
    """A claim of the text, and what its lines say to it."""

    claim: str
    cites: list[str]
    """Places as they are written."""
    verdict: str
    """`exact`, `confirmed`, `conflict`, `unverified`, `unknown` (no such lines), `stale`, `uncited`,
    or empty: no facts."""
    reason: str


def verify_text(text: str, assistant: Library, locate: Locate) -> list[ClaimItem]:
    """Return every claim of a text with its verdict by words alone, in order.

    Claims without facts are left out unless they cite.
    """
    mentions = find_mentions(text, None)
    shown, numbers = _shown(mentions, assistant.index, locate)
    context = Context(tuple(shown))
    marked = _marked(text, mentions, numbers)
    checked = CitationChecker(context, assistant.text_now).check(marked)
    written = {f"[{number}]": text[m.start_char : m.end_char] for m, number in zip(mentions, numbers, strict=True)}
    return [_told(claim, written) for claim in checked.claims if claim.verdict or claim.marks]


def _shown(mentions: Sequence[Mention], index: Index, locate: Locate) -> tuple[list[ContextItem], list[int]]:
    """Return the lines that are cited as numbered sources, and the number of each mention.

    Places that are not there get numbers behind the last, which are marks of nothing.
    """
    shown: list[ContextItem] = []
    numbers = []
    for position, mention in enumerate(mentions):
        result = _lines(mention, index, locate)
        if result is not None:
            shown.append(ContextItem(len(shown) + 1, result, units(result.chunk)))
        numbers.append(len(shown) if result is not None else len(mentions) + position + 1)
    return shown, numbers


def _lines(mention: Mention, index: Index, locate: Locate) -> RetrievalResult | None:
    listed = locate(mention.path)
    document = index.document(listed.source, listed.path) if listed else None
    if document is None or not 1 <= mention.first_line <= mention.last_line <= len(LineIndex(document.text)):
        return None
    chunks = index.chunks(document.source, document.path)
    chunk = lines_of(document, chunks, mention.first_line, mention.last_line)
    return None if chunk is None else RetrievalResult(chunk, 0.0)


def _marked(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> str:
    """Put a mark in the place of every mention, with what is written around it."""
    parts, at = [], 0
    for mention, number in zip(mentions, numbers, strict=True):
        start, end = mention.start_char, mention.end_char
        while start > at and end < len(text) and text[start - 1] in _OPENS and text[end] in _CLOSES:
            start, end = start - 1, end + 1
        parts += [text[at:start], f"[{number}]"]
        at = end
    return "".join([*parts, text[at:]])


def _told(claim: Claim, written: dict[str, str]) -> ClaimItem:
    cites = list(dict.fromkeys(written[mark] for mark in claim.marks if mark in written))
    return ClaimItem(claim=claim.text, cites=cites, verdict=claim.verdict, reason=claim.reason)
