"""Compiles filters to predicates on documents, the same for every engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from openbook.errors import QueryError
from openbook.types import Filter

# Matching backtracks over every wildcard. With four, the worst 80-character name takes 15 ms; with eight it took
# minutes and blocked everything else.
_MAX_WILDCARDS = 4
_SHOWN_CHARS = 80
# `*.{cs,md}`, as shells and ripgrep read it; .gitignore has none of these. `{{name}}` of templates has no comma, and a
# brace behind a backslash is one of the name.
_BRACES = re.compile(r"(?<!\\)\{((?:[^{},\\]|\\.)*(?:,(?:[^{},\\]|\\.)*)+)\}")
_COMMA = re.compile(r"(?<!\\),")
_MAX_ALTERNATIVES = 64
_ESCAPED = re.compile(r"\\.")
_WILDCARD = re.compile(r"\*+")


class FilterPredicate(Protocol):
    """A predicate of a document's source, path, kind and course path."""

    def __call__(self, source: str, path: str, kind: str, course: str = "", /) -> bool: ...


def filter_predicate(where: Filter) -> FilterPredicate | None:
    """Compile a filter to a predicate; None if it passes every document.

    Engines apply the lesson themselves, because it selects chunks within a document.

    Raises:
        QueryError: A pattern is invalid or has too many wildcards.

    Example:
        >>> check = filter_predicate(Filter(globs=("*.py",)))
        >>> check("src", "a/b.py", "code"), check("src", "a/b.md", "docs")
        (True, False)
    """
    if replace(where, lesson=None, part=None) == Filter():
        return None
    matches = path_matcher(where.globs) if where.globs else None

    def check(source: str, path: str, kind: str, course: str = "", /) -> bool:
        return (
            (not where.sources or source in where.sources)
            and (not where.kinds or kind in where.kinds)
            and (not where.courses or (source, course) in where.courses)
            and (not where.within or any((source, top) in where.within for top in _tops_of(path)))
            and (matches is None or matches(path))
        )

    return check


def _tops_of(path: str) -> Iterator[str]:
    """Yield a path, the folders that it is below, and the empty path of its source."""
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield ""


def is_below(path: str, top: str) -> bool:
    """Return whether a POSIX path equals `top` or is below it. Every path is below the empty one.

    Example:
        >>> [is_below(path, "docs/api") for path in ("docs/api", "docs/api/a.md", "docs/apis.md")]
        [True, True, False]
    """
    return not top or path == top or path.startswith(f"{top}/")


def path_matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a function that tells whether a path matches any of some .gitignore patterns, which may have `{a,b}`.

    Raises:
        QueryError: A pattern is invalid, or has so many wildcards that matching could take minutes.
    """
    from pathspec import GitIgnoreSpec  # only filtered queries pay for the import

    # No path begins with `./`: it is written for the top of the source.
    globs = tuple(f"/{each[2:]}" if each.startswith("./") else each for glob in globs for each in _alternatives(glob))
    for glob in globs:
        if len(_WILDCARD.findall(glob)) > _MAX_WILDCARDS:
            raise QueryError(
                f"the pattern {glob[:_SHOWN_CHARS]!r} has more than {_MAX_WILDCARDS} wildcards",
                hint="use several patterns, or name a folder",
            )
        try:
            _check_brackets(glob)
            GitIgnoreSpec.from_lines([glob], backend="simple")
        except (ValueError, re.error) as exc:  # `re.error` for ranges such as `[z-a]`
            raise QueryError(
                f"{glob[:_SHOWN_CHARS]!r} is no pattern of paths",
                hint=r"write it as in .gitignore, such as *.py or src/, with a backslash before !, [, { or \ of a name",
            ) from exc
    return GitIgnoreSpec.from_lines(globs, backend="simple").match_file


def _alternatives(glob: str) -> list[str]:
    """Return the patterns that one with `{a,b}` stands for.

    Raises:
        QueryError: There are too many.
    """
    found, waiting = list[str](), [glob]
    while waiting:
        each = waiting.pop()
        braces = _BRACES.search(each)
        if braces is None:
            found.append(each)
        else:
            parts = _COMMA.split(braces[1], _MAX_ALTERNATIVES)
            waiting += (f"{each[: braces.start()]}{part}{each[braces.end() :]}" for part in parts)
        if len(found) + len(waiting) > _MAX_ALTERNATIVES:
            raise QueryError(
                f"the pattern {glob[:_SHOWN_CHARS]!r} stands for more than {_MAX_ALTERNATIVES}", hint="name a folder"
            )
    return found


def _check_brackets(glob: str) -> None:
    """Raise an error for a bracket that is not closed: as in .gitignore, such a pattern matches nothing."""
    _, bracket, rest = _ESCAPED.sub("", glob).rpartition("[")
    if bracket and "]" not in rest:
        raise ValueError("a bracket is not closed")
