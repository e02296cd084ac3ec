"""Matches the spellings of a setting: `idle-timeout`, `idle_timeout` and `IdleTimeout`."""

from __future__ import annotations

import re
from functools import lru_cache

# Shorter commands and symbols are looked for with their colons alone.
_MIN_BARE = 4
_SPELLING = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def plain(name: str) -> str:
    """Return a name without what differs between its spellings: `idletimeout` for `IdleTimeout` or `idle-timeout`."""
    return name.replace("-", "").replace("_", "").lower()


@lru_cache(maxsize=64)
def spelled(name: str) -> re.Pattern[str]:
    """Return a pattern that matches a name in any spelling, and an option as written.

    Example:
        >>> spelled("idle-timeout").search("an IdleTimeout of 5") is not None
        True
    """
    bare = name.lstrip(":")
    if not (bare[0].isalnum() or bare[0] == "_") or (bare != name and len(bare) < _MIN_BARE):
        return written(name)
    if len(name) == 1:
        return re.compile(rf"(?<=[\"'-]){re.escape(name)}(?![\w-])")
    words = "[-_]?".join(map(re.escape, _SPELLING.findall(bare) or [bare]))
    # `:Moor!` of Vim is another command than `:Moor`.
    sign, bang = ("", "") if bare == name else (":?", "!" if name.endswith("!") else "(?!!)")
    return re.compile(rf"(?:(?<![^\W_])|(?<=[a-z])(?=[A-Z])){sign}(?i:{words})(?![^\W_]){bang}")


@lru_cache(maxsize=64)
def written(name: str) -> re.Pattern[str]:
    """Return a pattern that matches a name as written."""
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
