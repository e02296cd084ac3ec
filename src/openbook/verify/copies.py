"""Chooses which files a new one is compared with, to see whether it is a copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

# Files that a new one is compared with. Of more, those with its name.
_MOST_ORIGINALS = 500


def with_likely_originals(brought: Sequence[str], listed: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Group new files by the earlier ones that each may be a copy of, and leave out those without any.

    Earlier files have the suffix of the new one, or like it none.

    Args:
        brought: Paths of new files.
        listed: Paths of the files that were there before.

    Example:
        >>> with_likely_originals(["v2/a.md", "LICENSE", "b.py"], ["v1/a.md", "x.md", "v1/LICENSE"])
        [(['v2/a.md'], ['v1/a.md', 'x.md']), (['LICENSE'], ['v1/LICENSE'])]
    """
    by_suffix: dict[str, list[str]] = defaultdict(list)
    for path in listed:
        by_suffix[PurePosixPath(path).suffix].append(path)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in brought:
        name = PurePosixPath(path)
        like = by_suffix.get(name.suffix, [])
        if len(like) > _MOST_ORIGINALS:
            like = [each for each in like if PurePosixPath(each).name == name.name]
        groups[tuple(like[:_MOST_ORIGINALS])].append(path)
    return [(paths, [*like]) for like, paths in groups.items() if like]
