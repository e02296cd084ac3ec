"""Verifies the text of an agent, claim by claim, against the lines that it cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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

# Unknown paths for which similar ones are looked for. Each is compared with all paths: 14 ms where there are 600.
_MAX_COMPARED = 10

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
    reasons = _Missing(assistant.index, locate)
    missing = {
        f"[{number}]": reasons.why(mention.path, text[mention.start_char : mention.end_char])
        for mention, number in zip(mentions, numbers, strict=True)
        if number > len(shown)
    }
    return [_judged(claim, written, missing) for claim in checked.claims if claim.verdict or claim.marks]


def _with_slashes(path: str, locate: Locate) -> str:
    """Return a path of Windows with slashes, if there is such a document. Its length stays."""
    slashed = path.replace("\\", "/")
    return slashed if locate(slashed) else path


class _Missing:
    """Tells why there are no lines at a location: the path is not known, or the document has fewer."""

    def __init__(self, index: Index, locate: Locate) -> None:
        self._index, self._locate = index, locate
        self._told: dict[str, tuple[str, str]] = {}
        self._compared = 0

    @cached_property
    def _paths(self) -> list[str]:
        return [one.path for one in self._index.documents(EVERYTHING)]

    def why(self, path: str, written: str) -> str:
        """Return the reason for a path, which was written with lines behind it."""
        if path not in self._told:
            self._told[path] = self._why(path)
        what, more = self._told[path]
        return "; ".join(filter(None, (f"{what} {written}", more)))

    def _why(self, path: str) -> tuple[str, str]:
        listed = self._locate(path)
        document = self._index.document(listed.source, listed.path) if listed else None
        if document is not None:
            return "there are no such lines:", f"the document has {counted(len(LineIndex(document.text)), 'line')}"
        self._compared += 1
        told = told_instead(path, self._paths) if self._compared <= _MAX_COMPARED else ""
        return "no document has the path of", told


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
