"""What a file is for, from its path and kind, and how much that counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from openbook.types import Kind

Role = Literal["source", "test", "example", "documentation", "configuration", "changelog", "legal"]

# Tests, examples and documentation repeat the words of what they speak of. Factors of a score, all
# set together; without any, code search beside documentation falls by a quarter (docs/retrieval.md).
_PRIORS: Mapping[Role, float] = {
    "source": 1.0,
    "test": 0.5,
    "example": 0.45,
    "documentation": 0.5,
    "configuration": 0.6,
    "changelog": 0.3,
    "legal": 0.3,
}

# A topic is looked for in code; a question is answered by a guide as well.
_DOCUMENTATION_OF_QUESTION = 0.6

# What stands in for something else, or helps to build it, is rarely what is looked for.
_STAND_IN = 0.5
_OLD_VERSION = 0.4

_FOLDERS: Mapping[str, Role] = {
    **dict.fromkeys(("test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures"), "test"),
    **dict.fromkeys(("example", "examples", "docs_src", "samples", "demo", "demos"), "example"),
    **dict.fromkeys(("doc", "docs", "man", "manual", "documentation", "guide", "guides"), "documentation"),
}
# `history.py` and `authors.rb` are sources.
_PROSE_SUFFIXES = frozenset({"", ".md", ".rst", ".txt", ".adoc", ".html", ".org"})
_TEST_STEM = re.compile(r"^test_|^conftest$|[._-](test|tests|spec)$|(?<=[a-z0-9])(Test|Tests|Spec)$")
_CHANGELOG_STEM = re.compile(r"^(changelog|changes|history|news|releases?|release[-_]notes)$", re.IGNORECASE)
_LEGAL_STEM = re.compile(
    r"^(licen[sc]e|copying|notice|authors|contributors|contributing|security|code[-_]of[-_]conduct)", re.IGNORECASE
)
_STAND_IN_PART = re.compile(r"(^|/|_)(compat|legacy|deprecated|vendor|vendored|third_party)([/_.]|$)")
_TOOL_FOLDER = re.compile(r"(^|/)(scripts?|tools?|ci|benchmarks?)/")
_VERSION_FOLDER = re.compile(r"(?P<above>(?:.*/)?)v(?P<number>\d+)/")

_ASKS_FOR: Mapping[Role, re.Pattern[str]] = {
    # "test client" and "test runner" are things, not tests.
    "test": re.compile(
        r"\b[Tt]est_\w|\bTest[A-Z]|(?i:\btests\b|\btested\b|\bunit tests?\b|fixture"
        r"|\btest (case|suite|function|method|module|file|class(es)?)s?\b)"
    ),
    "example": re.compile(r"\b(example|sample|demo)s?\b", re.IGNORECASE),
    "documentation": re.compile(r"\b(docs?|documentation|guide|tutorial|manual|readme|how[- ]?to)\b", re.IGNORECASE),
    "configuration": re.compile(r"\b(config|configuration|settings?|workflow|ci|dependenc(y|ies))\b", re.IGNORECASE),
    "changelog": re.compile(r"\b(change ?log|changed|release|deprecated|since (v|version))\b", re.IGNORECASE),
    "legal": re.compile(r"\b(licen[sc]e|copyright|author|contributor)s?\b", re.IGNORECASE),
}
_ASKED_VERSION = re.compile(r"\bv(\d+)\b", re.IGNORECASE)

# A search looks at the paths of a hundred candidates, mostly the same ones again. Each takes about 1 KB.
_CACHED_PATHS = 1 << 13


@lru_cache(maxsize=_CACHED_PATHS)
def role_of(path: str, kind: Kind) -> Role:
    """Say what a file is for.

    Example:
        >>> role_of("pkg/tests/conftest.py", "code"), role_of("src/testing.py", "code"), role_of("guide.md", "docs")
        ('test', 'source', 'documentation')
    """
    if kind == "course":
        return "source"
    pure = PurePosixPath(path)
    if _TEST_STEM.search(pure.stem):
        return "test"
    if kind != "code" and pure.suffix.lower() in _PROSE_SUFFIXES:
        if _CHANGELOG_STEM.match(pure.stem):
            return "changelog"
        if _LEGAL_STEM.match(pure.stem):
            return "legal"
    role: Role = next(
        (_FOLDERS[part] for part in pure.parent.as_posix().lower().split("/") if part in _FOLDERS), "source"
    )
    if role == "documentation" and kind == "code":
        return "example"
    if role != "source":
        return role
    if kind == "code":
        return "source"
    return "documentation" if kind == "docs" else "configuration"


def prior(text: str, path: str, kind: Kind, *, is_question: bool = False) -> float:
    """Give the factor for what a file is for: 1 for sources, courses and what the question `text` asks for."""
    if kind == "course":
        return 1.0
    role = role_of(path, kind)
    asked = role != "source" and _ASKS_FOR[role].search(text) is not None
    factor = 1.0 if asked else _PRIORS[role]
    if is_question and role == "documentation":
        factor = max(factor, _DOCUMENTATION_OF_QUESTION)
    return factor * _STAND_IN if _stands_in(path) or (role == "source" and _TOOL_FOLDER.search(path)) else factor


@lru_cache(maxsize=_CACHED_PATHS)
def _stands_in(path: str) -> bool:
    return _STAND_IN_PART.search(path) is not None


def old_versions(text: str, paths: Collection[str]) -> dict[str, float]:
    """Give the factor of each path that holds another version than the one that is meant; others are left out.

    Meant is the version that the question `text` names, else the newest: the highest of folders `v1`,
    `v2` side by side, and what lies beside a single `v1`.

    Example:
        >>> old_versions("parse", ["lib/v3/parse.py", "lib/v4/parse.py", "lib/core.py"])
        {'lib/v3/parse.py': 0.4}
    """
    found = {path: match for path in paths if (match := _VERSION_FOLDER.match(path))}
    if not found:
        return {}
    asked = {int(number) for number in _ASKED_VERSION.findall(text)}
    newest: dict[str, int] = {}
    for match in found.values():
        newest[match["above"]] = max(newest.get(match["above"], 0), int(match["number"]))
    beside = {above for above in newest if any(path.startswith(above) and path not in found for path in paths)}
    return {
        path: _OLD_VERSION
        for path, match in found.items()
        for above, number in ((match["above"], int(match["number"])),)
        if (number not in asked if asked else number < newest[above] or (number == 1 and above in beside))
    }
