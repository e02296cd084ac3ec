"""Finds what raises, throws or returns an error by name, and what says when."""

from __future__ import annotations

import re
from functools import lru_cache

# What a name before it means: the last of these words decides. `except`, comparisons and tests handle an error.
_RULES = re.compile(
    r"(?P<handles>\b(?:(?:except|catch|rescue|instanceof|isinstance|issubclass|errors\.(?:Is|As|AsType)|if\s+let"
    r"|while\s+let|case|import|extends|implements|\w*[aA]ssert\w*|toThrow\w*|raise_error|expect\w*)\b|matches!"
    r"|raises\()|[!=]=|(?<!@)\bthrows\b)"
    r"|(?P<raises>\b(?:raise|throw|rethrow|return|fail|reject|panic|bail!|ensure!|ok_or|ok_or_else|map_err|or_raise"
    r"|orElseThrow|throwIO|Err|Left|new|abort|set_exception|(?:err|error|exc|exception|ret|rc|result|status)\w*\s*:?=)(?![\w=])"
    r"|<-|=>)"
)
_MAX_BEFORE, _MAX_LINES_BEFORE = 400, 4
# A pattern of a match, such as `Err(Full { .. }) =>` or `Some(Full) =`.
_IS_PATTERN = re.compile(r"(?:\s*[({][^(){}]*[)}])?[\s)]*(?:\bif\b[^{\n]*)?(?:=>|=(?!=))")
# A word or a mark of prose before the name, but `return a if b else Full`.
_ENDS_WITH_WORD = re.compile(r"(?:(?:^|\s)(?!(?:else|or|and|await)\s)[A-Za-z]+\s+|`)$")
_COMMENT = re.compile(r"\s*(?:#\s|//|/?\*|--\s)")
_SAID = r"(?:rais|throw|thrown|return|fail|caus|happen|occur|mean|indicate|signal|report|get)\w*"


@lru_cache(maxsize=64)
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


@lru_cache(maxsize=64)
def _told(name: str) -> re.Pattern[str]:
    called = rf"(?<!\w){re.escape(name)}(?!\w)"
    return re.compile(
        rf"\b{_SAID}\b[^.!?]{{0,100}}{called}|{called}[^.!?]{{0,60}}\b{_SAID}\b|{called}\W{{1,4}}\s*(?:if|when|unless)\b",
        re.IGNORECASE,
    )


def tells_cause(text: str, name: str) -> bool:
    """Return whether prose says when an error is raised, or what it means.

    Example:
        >>> [tells_cause(text, "Full") for text in ("Raises `Full` if no berth is free.", "Full: if", "See Full.")]
        [True, True, False]
    """
    return name in text and _told(name).search(text) is not None


def raising_places(text: str, name: str) -> list[tuple[int, int]]:
    """Return where code raises, throws or returns an error: the start of the statement, and that of the name.

    Example:
        >>> raising_places("raise dock.Full(1)", "Full"), raising_places("except Full:", "Full")
        ([(0, 11)], [])
    """
    if name not in text:
        return []
    places = ((_ruling(text, found), found.start()) for found in _named(name).finditer(text))
    return [(start, at) for start, at in places if start is not None]


def _ruling(text: str, found: re.Match[str]) -> int | None:
    """Return where the word begins that makes a name an error that is raised; None if there is none."""
    line = text.rfind("\n", 0, found.start()) + 1
    if _COMMENT.match(text, line) or _IS_PATTERN.match(text, found.end()):
        return None
    least = max(0, found.start() - _MAX_BEFORE)
    ruling = next(reversed(list(_RULES.finditer(text, least, found.start()))), None)
    if ruling is None or ruling["raises"] is None:
        return None
    between = text[ruling.end() : found.start()]
    if "\n" in between:
        opened = sum(map(between.count, "([{")) - sum(map(between.count, ")]}"))
        if opened <= 0 or between.count("\n") > _MAX_LINES_BEFORE:
            return None
    # In "return 1; Full" and "will raise a Full", the name belongs to something else.
    return None if ";" in between or _ENDS_WITH_WORD.search(between) else ruling.start()
