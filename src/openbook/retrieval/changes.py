"""Finds what says in which release something was changed: entries of changelogs, and notes beside what was changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from openbook.entries import indent_of
from openbook.questions.changes_asked import AskedChange, Change
from openbook.retrieval.roles import ASIDE, role_of_part
from openbook.retrieval.signals import coverage
from openbook.text import sentences
from openbook.tokens import tokenize
from openbook.types import Chunk

# "Since 2.1", `@since 2.1`, `.. versionadded:: 2.1`, "(added in 2.1)", "New in version 2.1", `since = "2.1"`.
_NUMBER = r"(?:[\w-]+\s+)?v?\d+\.\d"
_NOTE = re.compile(
    rf"(?P<directive>\.\.[ \t]+(?:version\w+|deprecated)::[ \t]*\S*\d)|\bsince\W{{1,4}}{_NUMBER}"
    rf"|\b(?:added|introduced|new|available|deprecated|removed|renamed|changed)\s+(?:\w+\s+)?"
    rf"(?:in|since|with|as\s+of|from)\s+{_NUMBER}",
    re.IGNORECASE,
)
_SAYS: Mapping[Change, re.Pattern[str]] = {
    "added": re.compile(
        r"\b(?:(?:version)?add|introduc|new\b|implement|support|allow|feat|enh|now\b|creat|since\b|available)",
        re.IGNORECASE,
    ),
    "removed": re.compile(r"\b(?:remov|drop|deleted?|discontinu|no longer\b)", re.IGNORECASE),
    "deprecated": re.compile(r"\bdeprecat", re.IGNORECASE),
    "renamed": re.compile(r"\b(?:renam|replac|deprecat)", re.IGNORECASE),
}
# What an entry is worth that does not say so, or of which other sentences have the words.
_UNSAID, _BESIDE = 0.8, 0.9
# "Drops support for 2.6 and 3.3" below "Version 7.0" has the digits of 3.7, and says nothing of it.
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_OTHER_VERSION = 0.5
# What a note on another change is worth: ".. versionchanged:: 2.1 Takes a rope as well." may add something.
_OTHER_NOTE = 0.7

_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d+[.)])[ \t]+")
# A heading, also one that is underlined, bold, or followed by a colon.
_TITLE = re.compile(r"#{1,6}[ \t].*|.*\n[=\-~^\"*+]{3,}|\*\*[^*\n]+\*\*:?|(?![-*+•])[^\n]{1,40}:\Z")
# A longer item above others is no title of them.
_TITLE_CHARS = 40
_MAX_NOTE_LINES = 4
# A note stands at most so many lines below what it is on.
_LINES_ABOVE = 6


class ChangeEntry(NamedTuple):
    """What says that something was changed, by its offsets in a chunk."""

    start: int
    end: int
    strength: float
    """How well it says the change that a question asks the release of, from 0 to 1."""


class _Said(NamedTuple):
    start: int
    end: int
    text: str
    """What is compared with the question: the entry and what stands above it."""
    worth: float


def change_entries(asked: AskedChange, chunk: Chunk, rarity: Mapping[str, float]) -> list[ChangeEntry]:
    """Return what says in which release something was changed, by the share of the question's words in it.

    Tests, licences and the like say nothing; of changelogs, all entries count.
    """
    role = role_of_part(chunk)
    if role in ASIDE and role != "changelog":
        return []
    found = _entries(asked.done, chunk) if role == "changelog" else _notes(asked.done, chunk)
    versions = set(_VERSION.findall(asked.topic))
    entries = []
    for each in found:
        has_versions = versions.issubset(_VERSION.findall(chunk.text[each.start : each.end]))
        worth = each.worth * (1.0 if has_versions else _OTHER_VERSION)
        if strength := worth * coverage(_words_of(each.text), rarity):
            entries.append(ChangeEntry(each.start, each.end, strength))
    return entries


@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def _entries(done: Change, chunk: Chunk) -> Iterator[_Said]:
    """Yield the entries of a changelog: the sentences that say what was done, and the entries as wholes."""
    text, title = chunk.text, chunk.context[-1] if chunk.context else ""
    for start, end in _blocks(text):
        if _TITLE.match(text, start, end):
            title = text[start:end]
            continue
        # "New commands" may be an item, with the commands below it.
        around = _around(text, start) if _ITEM.match(text, start) else ()
        above = " ".join((title, *(line for line in around if len(line.strip()) <= _TITLE_CHARS)))
        is_said = _SAYS[done].search(above) is not None
        said = [text[a:b] for a, b in sentences(text, start, end) if is_said or _SAYS[done].search(text, a, b)]
        yield from (_Said(start, end, f"{above} {sentence}", 1.0) for sentence in said)
        yield _Said(start, end, f"{above} {text[start:end]}", _BESIDE if said else _UNSAID)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the starts and ends of the items and paragraphs of a text."""
    starts = accumulate((len(line) + 1 for line in text.split("\n")), initial=0)
    every = [(start, start + len(line.rstrip())) for start, line in zip(starts, text.split("\n"), strict=False)]
    opens = [
        n for n, (start, end) in enumerate(every) if start < end and (_is_apart(every, n) or _ITEM.match(text, start))
    ]
    for n, following in zip(opens, [*opens[1:], len(every)], strict=True):
        last = next(m for m in range(following - 1, n - 1, -1) if every[m][0] < every[m][1])
        yield every[n][0], every[last][1]


def _is_apart(every: list[tuple[int, int]], n: int) -> bool:
    return not n or every[n - 1][0] == every[n - 1][1]


def _around(text: str, at: int) -> Iterator[str]:
    """Yield the lines that a line is indented below, innermost first, such as a directive or a parameter."""
    columns = indent_of(text[at:])
    for line in reversed(text[:at].split("\n")):
        if line.strip() and indent_of(line) < columns:
            columns = indent_of(line)
            yield line


def _notes(done: Change, chunk: Chunk) -> Iterator[_Said]:
    """Yield the notes on releases, with the lines just above and around, and the name of what is defined there."""
    text = chunk.text
    # Of several definitions in a chunk, a note is on the one that it stands in.
    about = (*chunk.context[-1:], chunk.symbol if len(chunk.defines) <= 1 else "")
    for note in _NOTE.finditer(text):
        start, end = text.rfind("\n", 0, note.start()) + 1, text.find("\n", note.end())
        end = len(text) if end < 0 else end
        if note["directive"]:
            end = _end_of_body(text, start, end)
        near, around = text[:start].split("\n")[-1 - _LINES_ABOVE : -1], list(_around(text, start))
        worth = 1.0 if _SAYS[done].search(text, start, end) else _OTHER_NOTE
        said = " ".join((*about, *around, *near, text[start:end]))
        # `:param rope: ...` is quoted with the note below it.
        opens = around[0] if around and around[0] in near else ""
        yield _Said(text.rfind(opens, 0, start) if opens else start, end, said, worth)


def _end_of_body(text: str, start: int, end: int) -> int:
    """Return where the body of a directive ends whose first line is given."""
    columns = indent_of(text[start:end])
    for line in text[end + 1 :].split("\n")[:_MAX_NOTE_LINES]:
        if indent_of(line) <= columns:
            break
        end += 1 + len(line)
    return end
