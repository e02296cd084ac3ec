"""Chooses the files that a new one is compared with, to find out whether it is a copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

# If there are more, only those with the same name are compared.
_MAX_ORIGINALS = 500


def with_likely_originals(new_paths: Sequence[str], old_paths: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Group new files by the older files with the same suffix, and leave out new files without any.

    Args:
        new_paths: Paths of new files.
        old_paths: Paths of the older files.

    Example:
        >>> with_likely_originals(["v2/a.md", "LICENSE", "b.py"], ["v1/a.md", "x.md", "v1/LICENSE"])
        [(['v2/a.md'], ['v1/a.md', 'x.md']), (['LICENSE'], ['v1/LICENSE'])]
    """
    by_suffix: dict[str, list[str]] = defaultdict(list)
    for path in old_paths:
        by_suffix[PurePosixPath(path).suffix].append(path)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in new_paths:
        name = PurePosixPath(path)
        candidates = by_suffix.get(name.suffix, [])
        if len(candidates) > _MAX_ORIGINALS:
            candidates = [each for each in candidates if PurePosixPath(each).name == name.name]
        groups[tuple(candidates[:_MAX_ORIGINALS])].append(path)
    return [(paths, [*candidates]) for candidates, paths in groups.items() if candidates]
