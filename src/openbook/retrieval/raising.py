"""Finds what raises, throws or returns an error by name, and what says when."""

from __future__ import annotations

import re
from functools import lru_cache

# What a name before it means: the last of these words decides. Comparisons and a `catch` behind it handle it.
_RULES = re.compile(
    r"(?P<handles>catch|isinstance|instanceof|errors\.(?:Is|As)|[!=]=)"
    r"|(?P<raises>(?:\b(?:\w*[rR]aise|\w*[tT]hrow|return|fail|panic|bail!|ensure!|ok_or\w*|map_err|Err|new|set_exception"
    r"|(?:err|exc|ret|rc|result|status)\w*\s*:?=)(?![\w=])|<-|=>))"
)
_MAX_BEFORE = 400
# A pattern of a match, such as `Err(Full { .. }) =>` or `Some(Full) =`, or a comparison.
_IS_PATTERN = re.compile(r"(?:\s*[({][^(){}]*[)}])?[\s)]*(?:if.*=>|=)")
_COMMENT = re.compile(r"\s*(?:#\s|//|/?\*|--)")
_SAID = r"(?i:rais|throw|return|fail|caus|happen|occur|mean|indicate|indicating|signal)"


@lru_cache(maxsize=64)
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


@lru_cache(maxsize=64)
def _told(name: str) -> re.Pattern[str]:
    called = _named(name).pattern
    return re.compile(rf"{_SAID}[^.!?]{{0,100}}{called}|{called}[^.!?]{{0,100}}{_SAID}|{called}[^\w.]+(?i:if|when)")


def tells_cause(text: str, name: str) -> bool:
    """Return whether prose says when an error is raised, or what it means.

    Example:
        >>> [tells_cause(text, "Full") for text in ("Raises `Full` if no berth is free.", "Full: if", "See Full.")]
        [True, True, False]
    """
    return _told(name).search(text) is not None


def raising_places(text: str, name: str) -> list[int]:
    """Return where code raises, throws or returns an error, by the start of the statement.

    Example:
        >>> raising_places("raise dock.Full(1)", "Full"), raising_places("except Full:", "Full")
        ([0], [])
    """
    places = (_ruling(text, found) for found in _named(name).finditer(text))
    return [start for start in places if start is not None]


def _ruling(text: str, found: re.Match[str]) -> int | None:
    """Return where the word begins that makes a name an error that is raised; None if there is none."""
    line = text.rfind("\n", 0, found.start()) + 1
    if _COMMENT.match(text, line) or _IS_PATTERN.match(text, found.end()):
        return None
    least = found.start() - _MAX_BEFORE
    ruling = next(reversed(list(_RULES.finditer(text, least, found.start()))), None)
    if ruling is None or ruling["raises"] is None:
        return None
    between = text[ruling.end() : found.start()]
    if "\n" in between:
        opened = sum(map(between.count, "([{")) - sum(map(between.count, ")]}"))
        if opened <= 0:
            return None
    return ruling.start()
