"""Registers folders and files as sources of a library, each with a unique name. Reads none of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from openbook.errors import SourceError, UnknownSourceError, did_you_mean
from openbook.index.protocol import Index, Source
from openbook.libraries.repositories import source_of
from openbook.sources.folder import Folder


def register(path: str | Path, index: Index, home: Path, *, course: bool) -> Source:
    """Register a folder or file as a source. See `Library.register`.

    Raises:
        SourceError: It does not exist, or a course is not a folder.
        LibraryWriteError: The library cannot be written.
    """
    Folder(path)  # raises if it does not exist
    location = Path(path).expanduser().resolve()
    _check_storable(location)
    if course and not location.is_dir():
        raise SourceError(str(path), "it is not a folder", hint="a file with a course header needs no --course")
    known = source_at(location, index)
    if known is not None and (known.kind == "course" or not course):
        return known
    # In a transaction, so that two processes cannot give the same name to different folders.
    with index.batch():
        known = source_at(location, index)
        if known is not None and (known.kind == "course" or not course):
            return known
        if known is not None:
            index.delete_source(known.name)
        found = source_of(location, home)
        name = known.name if known else _free_name(found.name, {root.name for root in index.roots()})
        root = replace(found, name=name, kind="course" if course else found.kind)
        index.put_root(root)
    return root


def source_at(location: Path, index: Index) -> Source | None:
    """Return the source at a location; None if the library has none there."""
    return next((root for root in index.roots() if root.location == str(location)), None)


def check_known(names: Collection[str], index: Index) -> None:
    """Check that a library has sources with these names.

    Raises:
        UnknownSourceError: For the first unknown name; the hint lists the known ones.
    """
    if not names:
        return  # in some engines, listing sources costs a request
    for name in sorted(set(names).difference(root.name for root in index.roots())):
        raise unknown_source(name, index)


def unknown_source(name: str, index: Index) -> UnknownSourceError:
    """Build the error for an unknown source name."""
    there = [root.name for root in index.roots()]
    hint = did_you_mean(name, there, f"it has: {', '.join(there) or 'none'}")
    return UnknownSourceError(f"the library has no source {name!r}", hint=hint)


def _check_storable(location: Path) -> None:
    """Check that an index can store a path.

    Raises:
        SourceError: The path is not valid UTF-8.
    """
    try:
        str(location).encode("utf-8")
    except UnicodeEncodeError as exc:
        raise SourceError(str(location), "its path is not UTF-8", hint="rename it") from exc


def _free_name(name: str, taken: set[str]) -> str:
    """Return the name, with the lowest numeric suffix that makes it unique if it is taken."""
    candidates = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)
