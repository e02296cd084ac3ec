"""Checks answers that were saved with `openbook ask --json`, by the quotes that they contain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from openbook.errors import SourceError
from openbook.text import LineIndex, trim
from openbook.types import shown_text
from openbook.verify.cited_folder import CitedFolder, Target
from openbook.verify.finding import Finding, LineRange, Outcome
from openbook.verify.history import History
from openbook.verify.line_tracking import PastFile
from openbook.verify.relocation import (
    DISTINCTIVE_CHARS,
    ComparedText,
    NotRelocated,
    Relocation,
    is_same_neighbourhood,
    relocate,
)
from openbook.verify.relocation_search import RelocationSearch

# Characters on either side of a quote that are compared when it stands in several places.
_AROUND_CHARS = 400
_LEAD = 0.15
_MIN_AGREEMENT = 0.3

# How `json.dumps` may have written an answer: `ask --json`, then what tools make of it.
_STYLES: tuple[dict[str, Any], ...] = (
    {},
    {"ensure_ascii": False},
    *({"indent": indent, "ensure_ascii": ascii_only} for indent in (2, 4, "\t") for ascii_only in (True, False)),
    {"separators": (",", ":")},
    {"separators": (",", ":"), "ensure_ascii": False},
)


_Where = tuple[str, tuple[int, int]]
"""A file, and half-open characters in it."""


@dataclass(slots=True)
class SavedAnswer:
    """One answer, and the position of its JSON in a file."""

    content: dict[str, Any]
    start_char: int
    end_char: int
    line: int
    """1-based line on which it begins."""
    file: str = ""
    """Its location for error messages."""


@dataclass(frozen=True, slots=True)
class _Quote:
    """A citation of an answer."""

    mark: str
    source: str
    path: str
    first_line: int
    last_line: int
    start_char: int
    end_char: int
    text: str
    before: str
    """The text before it when the answer was written, as far as it was saved."""
    behind: str


@dataclass(frozen=True, slots=True)
class CitationFields:
    """New values of a citation's fields."""

    path: str
    start_line: int
    end_line: int
    start_char: int
    end_char: int


def read_answers(text: str, file: str = "") -> list[SavedAnswer]:
    """Read a file with one answer, or one per line. Empty for any other content."""
    begin = len(text) - len(text.lstrip())
    if not text.startswith("{", begin):
        return []
    whole = _parsed(text)
    if whole is not None:
        return [SavedAnswer(whole, begin, len(text.rstrip()), text.count("\n", 0, begin) + 1, file)]
    answers = []
    for number, match in enumerate(re.finditer(r"[^\n]*\n?", text), start=1):
        line = match.group().strip()
        if line:
            content = _parsed(line)
            if content is None:
                return []
            start = match.start() + match.group().index(line)
            answers.append(SavedAnswer(content, start, start + len(line), number, file))
    return answers


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_answer = isinstance(content, dict) and isinstance(content.get("answer"), str)
    return content if is_answer and isinstance(content.get("citations"), list) else None


def check_saved_answer(
    answer: SavedAnswer, root: CitedFolder, history: History
) -> list[tuple[Finding, CitationFields | None]]:
    """Check the citations of an answer, in order."""
    return [_judged(quote, answer.line, root, history) for quote in _quotes(answer)]


def _quotes(answer: SavedAnswer) -> Iterator[_Quote]:
    content = answer.content
    shown = [source for source in content.get("sources") or () if isinstance(source, dict)]
    for citation in content["citations"]:
        try:
            words = [citation[name] for name in ("mark", "source", "path", "quote")]
            numbers = [citation[name] for name in ("start_line", "end_line", "start_char", "end_char")]
        except (TypeError, KeyError) as exc:
            raise _broken(answer, "a citation lacks a field") from exc
        if not all(isinstance(word, str) for word in words) or not all(type(number) is int for number in numbers):
            raise _broken(answer, "a field of a citation is of the wrong kind")
        (mark, source, path, text), (first, last, start, end) = words, numbers
        before, behind = _around(shown, source, path, start, end)
        yield _Quote(mark, source, path, first, last, start, end, shown_text(text), before, behind)


def _broken(answer: SavedAnswer, reason: str) -> SourceError:
    return SourceError(answer.file, reason, hint="save answers with: openbook ask --json")


def _around(shown: Sequence[dict[str, Any]], source: str, path: str, start: int, end: int) -> tuple[str, str]:
    """Return the text of a chunk of the answer on either side of a range of its document."""
    for chunk in shown:
        at, text = chunk.get("start_char"), chunk.get("text")
        if (chunk.get("source"), chunk.get("path")) != (source, path) or type(at) is not int or type(text) is not str:
            continue
        if at <= start and end <= at + len(text):
            return text[: start - at], text[end - at :]
    return "", ""


def _judged(quote: _Quote, line: int, root: CitedFolder, history: History) -> tuple[Finding, CitationFields | None]:
    lines = f"{quote.first_line}-{quote.last_line}"
    finding = Finding(line, f"{quote.mark} {quote.path}:{lines}", "missing file", "quote")
    if not quote.path:
        return replace(finding, reason="the mark names nothing that was shown"), None
    if not quote.text.strip():
        return replace(finding, verdict="changed", reason="it quotes nothing"), None
    target = root.find(quote.path, None)
    if target.path != quote.path and not target.refused:
        # The source may be a folder of the root, which its paths do not contain.
        below = root.find(f"{quote.source}/{quote.path}", None)
        target = below if below.path == f"{quote.source}/{quote.path}" else target
    if target.refused:
        return replace(finding, verdict="refused", reason=target.refused, basis=""), None
    try:
        return _compared(quote, finding, target, root, history)
    except SourceError as exc:
        return replace(finding, verdict="refused", reason=exc.reason, basis=""), None


def _compared(
    quote: _Quote, finding: Finding, target: Target, root: CitedFolder, history: History
) -> tuple[Finding, CitationFields | None]:
    place = LineRange(target.path or quote.path, quote.first_line, quote.last_line)
    text = root.document_text(target.path) if target.path else ""
    if target.path and _stands(quote, text):
        return replace(finding, verdict="ok", place=place), None
    found: _Where | None = None
    past = _past(quote, target, history)
    if past is not None:
        found = _since(past, quote, target, root, history)
    elif target.path and "".join(quote.text.split()) in "".join(text.split()):
        spot = _found(quote, text)
        found = (target.path, spot) if spot else None
    else:
        found = _in_other_file(quote, root)
    if found is None:
        verdict: Outcome = "changed" if target.path else "missing file"
        reason = "the quoted text is gone, or stands in several places" if target.path else ""
        return replace(finding, verdict=verdict, place=place, reason=reason), None
    path, spot = found
    span = LineIndex(root.document_text(path)).span(path, *spot)
    moved = CitationFields(_as_source_path(quote, target.path, path), span.start_line, span.end_line, *spot)
    return replace(finding, verdict="moved", place=place, now=LineRange(path, span.start_line, span.end_line)), moved


def _past(quote: _Quote, target: Target, history: History) -> PastFile | None:
    """Return the newest version of the file that has a quote at its exact place."""
    for path in dict.fromkeys((target.path, *target.tried)):
        revision = history.holding(path, lambda text: _stands(quote, text)) if path else None
        page = history.page(revision.commit, path) if revision else None
        if revision is not None and page is not None:
            return PastFile(page, revision.commit, path)
    return None


def _since(past: PastFile, quote: _Quote, target: Target, root: CitedFolder, history: History) -> _Where | None:
    found = RelocationSearch(root, history).find(past, quote.first_line, quote.last_line, target.path)
    if isinstance(found, NotRelocated):
        return None
    spot = _in_lines(quote, root.document_text(found.path), found.spot)
    return (found.path, spot) if spot else None


def _in_other_file(quote: _Quote, root: CitedFolder) -> _Where | None:
    """Find a quote that has moved to another file: with the rest of its chunk, else as its only occurrence."""
    chunk = ComparedText(quote.before + quote.text + quote.behind)
    path = root.like(chunk, quote.path)
    spot = _found(quote, root.document_text(path)) if path else None
    if spot is not None:
        return path, spot
    path = root.holding("".join(quote.text.split()), quote.path)
    text = root.document_text(path) if path else ""
    spot = _found(quote, text) if path else None
    if spot is None:
        return None
    first = quote.before.count("\n") + 1
    span = LineIndex(text).span(path, *spot)
    there = Relocation(span.start_line, span.end_line)
    # Equal words may be a coincidence.
    return (
        (path, spot)
        if is_same_neighbourhood(chunk, first, first + _rows(quote.text), ComparedText(text), there)
        else None
    )


def _as_source_path(quote: _Quote, old: str, new: str) -> str:
    """Convert a path of the root to a path relative to the source of the answer."""
    prefix = f"{quote.source}/"
    return new.removeprefix(prefix) if old == prefix + quote.path else new


def _stands(quote: _Quote, text: str) -> bool:
    """Return whether a text has a quote at exactly these characters and lines."""
    is_range = 0 <= quote.start_char <= quote.end_char <= len(text)  # a negative one would count from the end
    if not is_range or shown_text(text[quote.start_char : quote.end_char]) != quote.text:
        return False
    span = LineIndex(text).span("", quote.start_char, quote.end_char)
    return (span.start_line, span.end_line) == (quote.first_line, quote.last_line)


def _found(quote: _Quote, text: str) -> tuple[int, int] | None:
    """Find the only place of a quote, as half-open characters: by whole lines if it consists of them."""
    is_lines = not quote.before.rpartition("\n")[2].strip() and not quote.behind.partition("\n")[0].strip()
    if is_lines and "\n" in text.strip():
        return _found_lines(quote, text)
    places = [match.span() for match in re.finditer(re.escape(quote.text), text)]
    squeezed = "".join(quote.text.split())
    if not places:
        solid = [index for index, character in enumerate(text) if not character.isspace()]
        plain = "".join(text.split())
        found = re.finditer(re.escape(squeezed), plain)
        places = [(solid[match.start()], solid[match.end() - 1] + 1) for match in found]
    if len(places) == 1 and len(squeezed) >= DISTINCTIVE_CHARS:
        return places[0]
    ranked = sorted(((_agreement(quote, text, place), place) for place in places), reverse=True)
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    best, place = ranked[0] if ranked else (0.0, (0, 0))
    return place if best >= _MIN_AGREEMENT and best - second >= _LEAD else None


def _found_lines(quote: _Quote, text: str) -> tuple[int, int] | None:
    chunk = ComparedText(quote.before + quote.text + quote.behind)
    first = quote.before.count("\n") + 1
    spot = relocate(chunk, first, first + _rows(quote.text), ComparedText(text), is_part=True)
    return None if isinstance(spot, NotRelocated) else _in_lines(quote, text, spot)


def _in_lines(quote: _Quote, text: str, spot: Relocation) -> tuple[int, int] | None:
    """Return the characters of a quote within lines that hold it; None if what they hold differs."""
    lines = LineIndex(text)
    start, end = lines.start_of(spot.first_line), lines.end_of(spot.last_line)
    at = text.find(quote.text, start, end)
    if at >= 0:
        return at, at + len(quote.text)
    squeezed = "".join(quote.text.split())
    return trim(text, start, end) if "".join(text[start:end].split()) == squeezed else None


def _rows(text: str) -> int:
    """Count the line feeds that do not end a text."""
    return text.rstrip("\n").count("\n")


def _agreement(quote: _Quote, text: str, place: tuple[int, int]) -> float:
    """Return how similar the text around a place is to that around the quote, from 0 to 1; 0 if unknown."""
    pairs = (
        (quote.before[-_AROUND_CHARS:], text[max(0, place[0] - _AROUND_CHARS) : place[0]]),
        (quote.behind[:_AROUND_CHARS], text[place[1] : place[1] + _AROUND_CHARS]),
    )
    ratios = []
    for index, (old, new) in enumerate(pairs):
        old, new = "".join(old.split()), "".join(new.split())
        if old:
            size = len(old)
            new = new[-size:] if index == 0 else new[:size]
            ratios.append(SequenceMatcher(None, old, new, autojunk=False).ratio())
    return sum(ratios) / len(ratios) if ratios else 0.0


def with_moves(text: str, answer: SavedAnswer, moves: Sequence[CitationFields | None]) -> str | None:
    """Return the JSON of an answer with new places and its formatting; None if its formatting is unknown.

    Args:
        text: The whole file.
        answer: One answer of it.
        moves: New values for each of its citations, None for those that stay.
    """
    written = text[answer.start_char : answer.end_char]
    style = next((style for style in _STYLES if json.dumps(answer.content, **style) == written), None)
    if style is None:
        return None
    content = dict(answer.content)
    content["citations"] = [
        citation if move is None else {**citation, **_fields(move)}
        for citation, move in zip(content["citations"], moves, strict=True)
    ]
    return json.dumps(content, **style)


def _fields(move: CitationFields) -> dict[str, Any]:
    return {name: getattr(move, name) for name in CitationFields.__slots__}
