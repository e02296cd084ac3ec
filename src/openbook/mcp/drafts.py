"""Verifies the text of an agent, claim by claim, against the lines that it cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from openbook.answering.verification import CitationChecker
from openbook.answers import Claim
from openbook.extractive.context import Context, ContextItem
from openbook.extractive.definition_heads import definition_at
from openbook.extractive.outlines import lines_of
from openbook.grounding.literal import NOT_CHECKED
from openbook.index.protocol import EVERYTHING, DocumentSummary, Index
from openbook.library import Library
from openbook.lookup.named_documents import told_instead
from openbook.sources.languages import BY_NAME, BY_SUFFIX
from openbook.text import LineIndex, counted, units
from openbook.types import Chunk, RetrievalResult
from openbook.verify.mentions import Mention, find_mentions

# Characters around a location that belong to the citation, not to the claim.
_OPENS, _CLOSES = "`([<", "`)]>"

# Brackets that are empty once the locations in them are removed.
_EMPTIED = re.compile(r"\s*\([\s,;]*\)")

# Paths as Windows writes them. Tried from the start of a run only, so that long texts take linear time.
_BACKSLASHED = re.compile(r"(?<![\w.~+@\\-])(?:[A-Za-z]:)?[\w.~+@-]*(?:\\[\w.~+@-]+)+")

# Enough characters to tell a claim from others that cite the same lines.
_BEGINNING = 50

Locate = Callable[[str], DocumentSummary | None]
"""Finds the document at a path."""


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A claim of a text with its verdict."""

    claim: str
    cites: tuple[str, ...]
    """Cited locations, as written."""
    verdict: str
    """`exact`, `confirmed`, `conflict`, `unverified`, `unknown` (no such path or lines), `stale`, `uncited`,
    or empty: no facts."""
    reason: str
    """Empty for `unverified`: words alone cannot decide."""

    @property
    def summary(self) -> str:
        """The claim, shortened if it has no reason: its author knows the rest."""
        return self.claim if self.reason else shorten(self.claim, _BEGINNING, placeholder=" ...")


def verify_text(text: str, assistant: Library, locate: Locate) -> list[DraftClaim]:
    """Return every claim of a text with its verdict by words alone, in order.

    Claims without facts are left out unless they have a citation.
    """
    text = _BACKSLASHED.sub(lambda path: _with_slashes(path[0], locate), text)
    mentions = [mention for mention in find_mentions(text, None) if _is_place(mention, locate)]
    shown, numbers = _shown(mentions, assistant.index, locate)
    context = Context(tuple(shown))
    marked = _marked(text, mentions, numbers)
    checked = CitationChecker(context, assistant.text_now).check(marked)
    written = {f"[{number}]": text[m.start_char : m.end_char] for m, number in zip(mentions, numbers, strict=True)}
    missing = {
        f"[{number}]": _why_missing(mention, text, assistant.index, locate)
        for mention, number in zip(mentions, numbers, strict=True)
        if number > len(shown)
    }
    return [_judged(claim, written, missing) for claim in checked.claims if claim.verdict or claim.marks]


def _with_slashes(path: str, locate: Locate) -> str:
    """Return a path of Windows with slashes, if there is such a document. Its length stays."""
    slashed = path.replace("\\", "/")
    return slashed if locate(slashed) else path


def _why_missing(mention: Mention, text: str, index: Index, locate: Locate) -> str:
    """Return why there are no lines at a location: the path is not known, or the document has fewer."""
    written = text[mention.start_char : mention.end_char]
    listed = locate(mention.path)
    document = index.document(listed.source, listed.path) if listed else None
    if document is None:
        told = told_instead(mention.path, [one.path for one in index.documents(EVERYTHING)])
        return f"no document has the path of {written}; {told}"
    return f"there are no such lines: {written}; the document has {counted(len(LineIndex(document.text)), 'line')}"


def _is_place(mention: Mention, locate: Locate) -> bool:
    """Return whether a mention is a citation; `postgres:13` and `localhost:8080` are part of a claim."""
    name = mention.path.rpartition("/")[2].lower()
    is_like_a_file = name in BY_NAME or ("." in name and name.rpartition(".")[2] in BY_SUFFIX)
    return "/" in mention.path or is_like_a_file or locate(mention.path) is not None


def _shown(mentions: Sequence[Mention], index: Index, locate: Locate) -> tuple[list[ContextItem], list[int]]:
    """Return the cited lines as numbered sources, and the number of each mention.

    Locations that do not exist get numbers above the last source.
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
    if chunk is None:
        return None
    return RetrievalResult(replace(chunk, context=(*chunk.context, *_defined_around(chunk, chunks))), 0.0)


def _defined_around(lines: Chunk, chunks: Sequence[Chunk]) -> Iterator[str]:
    """Yield the name of the definition that the first line is in, if its chunk has several and is called by another."""
    at = lines.span.start_char
    for chunk in chunks:
        if chunk.span.start_char <= at < chunk.span.end_char and len(chunk.defines) > 1:
            shown = ContextItem(1, RetrievalResult(chunk, 0.0), units(chunk))
            first = next((unit for unit in shown.units if at < unit.span.end_char), None)
            head = definition_at(shown, first, first) if first else None
            if head is not None:
                yield head.defines


def _marked(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> str:
    """Replace every mention and the brackets around it with a mark."""
    parts, at = [], 0
    for mention, number in zip(mentions, numbers, strict=True):
        start, end = mention.start_char, mention.end_char
        while start > at and end < len(text) and text[start - 1] in _OPENS and text[end] in _CLOSES:
            start, end = start - 1, end + 1
        parts += [text[at:start], f"[{number}]"]
        at = end
    return "".join([*parts, text[at:]])


def _judged(claim: Claim, written: Mapping[str, str], missing: Mapping[str, str]) -> DraftClaim:
    cites = tuple(dict.fromkeys(written[mark] for mark in claim.marks if mark in written))
    gone = dict.fromkeys(missing[mark] for mark in claim.marks if mark in missing)
    text = _EMPTIED.sub("", claim.text)
    if gone and claim.verdict != "conflict":  # existing lines do not support missing ones
        return DraftClaim(text, cites, "unknown", "; ".join(gone))
    return DraftClaim(text, cites, claim.verdict, "" if claim.reason == NOT_CHECKED else claim.reason)
