"""Searches the questions and answers of conversations, in any store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openbook.sessions.protocol import Session, Sessions

_SNIPPET_CHARS = 160

# Context before the first match.
_BEFORE_CHARS = 40


@dataclass(frozen=True, slots=True)
class SessionMatch:
    """A conversation that matches a search."""

    session: Session
    snippet: str
    """An excerpt of the matching line, or of the title."""
    matches: tuple[tuple[int, int], ...]
    """The matched words in `snippet`, as half-open character ranges, in order."""


def search_sessions(sessions: Sessions, owner: str, text: str, most: int) -> list[SessionMatch]:
    """Return an owner's conversations that contain all words of a text, in the title or in one exchange.

    Case is ignored, and words match inside other words. Returns at most `most`, latest first. Only those that `of`
    lists are searched: reading one takes a millisecond.

    Raises:
        SessionError: Conversations cannot be read.
    """
    words = list(dict.fromkeys(text.casefold().split()))
    found: list[SessionMatch] = []
    if not words:
        return found
    for session in sessions.of(owner):
        match = _match(sessions, owner, session, words)
        if match is not None:
            found.append(match)
        if len(found) == most:
            break
    return found


def _match(sessions: Sessions, owner: str, session: Session, words: Sequence[str]) -> SessionMatch | None:
    if _has_all(session.title, words):
        return SessionMatch(session, *_snippet(session.title, words))
    read = sessions.records(owner, session.id)  # None: deleted meanwhile
    for record in read[1] if read else ():
        said = f"{record.get('query') or ''}\n{record.get('answer') or ''}"
        if _has_all(said, words):
            return SessionMatch(session, *_snippet(said, words))
    return None


def _has_all(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _snippet(text: str, words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return an excerpt of the first line with the most words, and the ranges of the words in it."""
    lines = [line.lstrip("># \t").rstrip() for line in text.splitlines()] or [""]
    line = max(lines, key=lambda line: sum(word in line.casefold() for word in words))
    first = min((start for start, _ in _ranges(line, words)), default=0)
    begin = max(0, first - _BEFORE_CHARS) if len(line) > _SNIPPET_CHARS else 0
    if begin:
        begin = line.find(" ", begin, first) + 1 or begin  # start at a word if possible
    piece = line[begin : begin + _SNIPPET_CHARS]
    return piece, tuple(_ranges(piece, words))


def _ranges(line: str, words: Sequence[str]) -> list[tuple[int, int]]:
    # Case folding can change the length of a text, which would invalidate the offsets.
    folded = line.casefold()
    if len(folded) != len(line):
        return []
    found: list[tuple[int, int]] = []
    for word in words:
        start = folded.find(word)
        while start >= 0:
            found.append((start, start + len(word)))
            start = folded.find(word, start + len(word))
    return _merged(sorted(found))


def _merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
