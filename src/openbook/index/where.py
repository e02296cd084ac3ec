"""Filters as predicates on documents, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable

from openbook.types import Filter

Allows = Callable[[str, str, str], bool]
"""Takes source, path and kind of a document."""


def allows(where: Filter) -> Allows | None:
    """Turn a filter into a predicate; None if it lets everything through.

    Example:
        >>> check = allows(Filter(globs=("*.py",)))
        >>> check("src", "a/b.py", "code"), check("src", "a/b.md", "docs")
        (True, False)
    """
    if where == Filter():
        return None
    matches = _path_matcher(where.globs) if where.globs else None

    def check(source: str, path: str, kind: str) -> bool:
        return (
            (not where.sources or source in where.sources)
            and (not where.kinds or kind in where.kinds)
            and (matches is None or matches(path))
        )

    return check


def _path_matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    from pathspec import GitIgnoreSpec  # only filtered queries pay for the import

    return GitIgnoreSpec.from_lines(globs).match_file
