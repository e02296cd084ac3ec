"""Libraries by name: files in the home, or at the address of an engine that several machines share.

Folders that are queried directly get a library of their own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.chunking.identity import chunks_identity, settings_of
from openbook.errors import LibraryError, MismatchedLibraryError, SettingsError
from openbook.index.files import remove_library_file, set_aside
from openbook.index.protocol import CachingEngine, IndexIdentity, Source
from openbook.index.schema import is_library, stored_sources
from openbook.index.sqlite import SqliteIndex
from openbook.permissions import make_private_folder, narrow
from openbook.plugins import having, require_plugin
from openbook.settings import Settings, default_home
from openbook.tokens import tokens_identity

if TYPE_CHECKING:
    from openbook.index.protocol import Engine, Index

DEFAULT_LIBRARY = "default"

MIGRATION = "migration"
"""Kind of a source that marks a library as an unfinished copy of the one at its location."""

_SUFFIX = ".sqlite"
_NAME = re.compile(r"\w[\w .@+-]*")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9]+")

# File names are limited to 255 bytes. Leave room for our suffix and those of SQLite.
_NAME_BYTES = 100

# The suffix of a name from `name_for`.
_OF_FOLDERS = re.compile(r"-[0-9a-f]{10}$")

# 40 bits: folders of the same name collide with a probability of one in a thousand billion.
_DIGEST_CHARS = 10

# The last two of `uploads/LIBRARY/uploads`, and of `texts/LIBRARY/texts`.
_IN_HOME, _DEPTH = ("uploads", "uploaded courses", "texts"), 3

Location = Path | str
"""The file of a library, or its address in an engine: `engine:address/name`."""


def name_of(location: Location) -> str:
    """Return the name of the library at a location."""
    return location.stem if isinstance(location, Path) else location.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class LibraryMatch:
    """The library to query for some folders and files."""

    name: str
    sources: tuple[Source, ...] = ()
    """Its sources that contain them, unless it is their own library."""
    within: frozenset[tuple[str, str]] = frozenset()
    """The queried parts of these sources, for `Filter.within`; empty for the whole library."""


class LibraryCatalog:
    """The libraries of one machine or of an engine."""

    def __init__(self, settings: Settings) -> None:
        """Take the settings, which say where libraries are.

        Raises:
            SettingsError: The engine does not exist, or rejects its address.
            PluginError: The engine cannot be loaded.
        """
        self._home = settings.home
        self._storage = settings.storage
        self._engine = open_engine(self._storage, settings) if self._storage else None

    def location(self, name: str) -> Location:
        """Return the location of a library by name, whether it exists or not.

        Raises:
            SettingsError: The name is not a valid file name on every system.
        """
        file = library_path(self._home, name)
        if self._engine is None:
            return file
        return f"{self._storage.partition(':')[0]}:{self._engine.address}/{name}"

    def name_for(self, paths: Sequence[Path], made_by: str = "") -> str:
        """Return the name of the library for some folders, as `name_for`; each machine has its own in an engine."""
        return name_for(paths, made_by, machine_id(self._home) if self._engine else "")

    def names(self) -> list[str]:
        """List the existing libraries, sorted."""
        return self._engine.names() if self._engine else library_names(self._home)

    def holds(self, name: str) -> bool:
        """Return whether a library exists."""
        location = self.location(name)
        return location.exists() if isinstance(location, Path) else name in self.names()

    def roots(self, name: str) -> list[Source]:
        """Return the sources of a library, by name, even if it cannot be opened; [] if they cannot be read.

        An unfinished copy has none.
        """
        file = library_path(self._home, name)
        roots = self._engine.sources(name) if self._engine else stored_sources(file)
        return [] if any(root.kind == MIGRATION for root in roots) else roots

    def match(self, paths: Sequence[Path]) -> LibraryMatch:
        """Return the library to query for some folders and files.

        The first of: their own library; a library whose sources contain them, namely that of the nearest parent
        folder or a named one, `default` first; their own library, to be created. Shared libraries have no local
        folders.
        """
        own = self.name_for(paths)
        if self._engine is not None or self.holds(own):
            return LibraryMatch(own)
        places = [path.expanduser().resolve() for path in paths]
        above = [name_for([folder]) for folder in places[0].parents] if len(places) == 1 else []
        named = sorted(
            (name for name in self.names() if not _OF_FOLDERS.search(name)),
            key=lambda name: (name != DEFAULT_LIBRARY, name),
        )
        match = LibraryMatch(own)
        for name in filter(self.holds, (*above, *named)):
            roots = self.roots(name)
            found = _sources_with(places, roots)
            if not found or (match.sources and any(inside for _, inside in found)):
                continue
            within = frozenset((root.name, inside) for root, inside in found)
            is_whole = within == {(root.name, "") for root in roots}
            sources = tuple(dict.fromkeys(root for root, _ in found))
            match = LibraryMatch(name, sources, frozenset() if is_whole else within)
            if not any(inside for _, inside in found):
                break
        return match

    def remove(self, name: str) -> Path | None:
        """Delete a library. A missing one is not an error.

        If the file does not look like a library, it is renamed, and the new path is returned.

        Raises:
            OSError: The file cannot be deleted or renamed.
        """
        file = library_path(self._home, name)
        if self._engine:
            self._engine.remove(name)
            return None
        aside = set_aside(file) if file.is_file() and not is_library(file) else None
        remove_library_file(file)
        return aside


def _sources_with(places: Sequence[Path], roots: Sequence[Source]) -> list[tuple[Source, str]]:
    """Find the source that contains each place, and the path in it (empty for all); [] unless all are found."""
    found = []
    for place in places:
        for root in roots:
            top = Path(root.location)
            if place == top:
                found.append((root, ""))
                break
            if top in place.parents and root.kind != "file":
                found.append((root, place.relative_to(top).as_posix()))
                break
        else:
            return []
    return found


def open_engine(storage: str, settings: Settings) -> Engine:
    """Open the engine in `engine:address`.

    Raises:
        SettingsError: The engine does not exist, or rejects its address.
        PluginError: The engine cannot be loaded.
    """
    engine: Engine = require_plugin(
        "engines", storage, "OPENBOOK_STORAGE", having("open", "names", "sources", "remove")
    )
    if isinstance(engine, CachingEngine):
        engine.cache = settings.home / "cache"
        engine.cache_bytes = settings.storage_cache_bytes
    return engine


def open_index(location: Location, identity: IndexIdentity, settings: Settings) -> Index:
    """Open a library at its location, and create it if it does not exist.

    Raises:
        LibraryError: It cannot be used.
        SettingsError, PluginError: Its engine cannot be loaded.
        MissingExtraError: A package for its engine is not installed.
    """
    if isinstance(location, Path):
        if location.parent == _folder(settings.home):
            with contextlib.suppress(OSError):  # opening the file reports the error better
                keep_private(settings.home)
        return SqliteIndex(location, identity, lock_timeout_s=settings.lock_timeout_s)
    storage, _, name = location.rpartition("/")
    return open_engine(storage, settings).open(name, identity, lock_timeout_s=settings.lock_timeout_s)


def open_as_made(location: Location, embedder: str, settings: Settings) -> tuple[Settings, Index]:
    """Open a library with the chunking strategy it was built with. Also returns the adapted settings.

    Raises:
        LibraryError: It cannot be used, was built by another embedder or version, or is an unfinished copy.
        SettingsError, PluginError, MissingExtraError: Its engine cannot be used.
    """

    def opened(settings: Settings) -> Index:
        identity = IndexIdentity(embedder, tokens_identity(), chunks_identity(settings))
        index = _finished(open_index(location, identity, settings), location)
        follow_home(index, location, settings.home)
        return index

    try:
        return settings, opened(settings)
    except MismatchedLibraryError as exc:
        kept = settings_of(exc.chunks, settings)
        if kept is None:
            raise
        return kept, opened(kept)


def _finished(index: Index, location: Location) -> Index:
    """Return the index. If it is an unfinished copy, close it and raise.

    Raises:
        LibraryError: It is an unfinished copy.
    """
    origin = next((root.location for root in index.roots() if root.kind == MIGRATION), "")
    if not origin:
        return index
    index.close()
    name = name_of(location)
    raise LibraryError(
        f"the library {str(location)!r} is an unfinished copy of {origin!r}",
        hint=f"run `openbook migrate {name}` again to finish it, or `openbook remove --library {name}`",
    )


def follow_home(index: Index, location: Location, home: Path) -> None:
    """Correct where the sources lie that are in the home, if it was moved or copied: uploads, texts, repositories.

    In a shared library, only those of this machine are looked for, and if they are gone.
    """
    if isinstance(location, Path) and location.parent != _folder(home):
        return
    roots, is_shared = index.roots(), not isinstance(location, Path)
    if is_shared:
        machine = known_machine(home)
        roots = [root for root in roots if machine and root.owner == machine]
    known = {root.location for root in roots}
    for root in roots:
        if is_shared and os.access(root.location, os.F_OK):
            continue
        new = _place_in(home.expanduser().resolve(), root, name_of(location))
        if new is not None and str(new) not in known:
            with contextlib.suppress(LibraryError):  # read-only: it answers as it is
                index.put_root(replace(root, location=str(new)))


def _place_in(home: Path, root: Source, library: str) -> Path | None:
    """Return the folder in a home that a source in another home has become; None if there is none.

    A folder that is there, and not in a home, is one of the user, whatever its name is.
    """
    place = Path(root.location)
    names = ("repositories",) if root.url else ("uploads", "texts")
    for number, name in enumerate(place.parts):
        other, inside = Path(*place.parts[:number]), place.parts[number:]
        is_of_library = len(inside) == _DEPTH and inside[1].startswith(library) and inside[-1] in _IN_HOME
        is_whole = inside[-1] == "files" if root.url else is_of_library
        if name in names and is_whole and (new := home.joinpath(*inside)).is_dir():
            # `exists` would raise where a folder above cannot be entered, as with the old home of another user.
            return None if os.access(place, os.F_OK) and not os.access(_folder(other), os.F_OK) else new
    return None


def keep_private(home: Path) -> None:
    """Create the folder of libraries with private permissions. A default or new home gets them too.

    An existing home chosen by the user keeps its permissions, because it may contain other files. Uploads and fetched
    repositories in it are made private.

    Raises:
        OSError: It cannot be created.
    """
    if home == default_home() or not home.exists():
        make_private_folder(home)
    make_private_folder(_folder(home))
    for name in ("uploads", "repositories"):
        narrow(home / name)


def known_machine(home: Path) -> str:
    """Return the id of this machine in shared libraries; empty if it has none yet."""
    with contextlib.suppress(OSError):
        return (home / "id").read_text(encoding="ascii").strip()
    return ""


def machine_id(home: Path) -> str:
    """Return the id of this machine in shared libraries, which the first call writes into the home.

    Raises:
        SettingsError: The home cannot be written.
    """
    file = home / "id"
    try:
        if not file.exists():
            keep_private(home)
            unnamed = home / f"{secrets.token_hex(8)}.part"
            unnamed.write_text(secrets.token_hex(4), encoding="ascii")
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(unnamed, file)
            unnamed.unlink()
    except OSError as exc:
        raise SettingsError(
            f"the home {str(home)!r} cannot be written: {exc.strerror}",
            hint="set OPENBOOK_HOME to a folder that you can write to",
        ) from exc
    return known_machine(home)


def library_path(home: Path, name: str) -> Path:
    """Return the file of a named library.

    Raises:
        SettingsError: The name is not a valid file name on every system.
    """
    if not _NAME.fullmatch(name) or len(name.encode()) > _NAME_BYTES:
        raise SettingsError(
            f"{name!r} is not a valid library name",
            hint="use up to 100 letters, digits, spaces and the signs _ . @ + -",
        )
    return _folder(home) / f"{name}{_SUFFIX}"


def library_names(home: Path) -> list[str]:
    """List the libraries, sorted."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _folder(home).glob(f"*{_SUFFIX}"))


def name_for(paths: Sequence[Path], made_by: str = "", machine: str = "") -> str:
    """Return the name of the library for some folders: readable, and independent of their order.

    `made_by` is the embedder, if it is not that of the settings, and `machine` the one whose folders they are, if
    several share their libraries: each has its own library.

    Example:
        >>> name_for([Path("shop"), Path("shelf")]) == name_for([Path("shelf"), Path("shop")])
        True
        >>> name_for([Path("shop")]).partition("-")[0]
        'shop'
    """
    places = sorted({str(path.expanduser().resolve()) for path in paths})
    first = _NOT_IN_NAME.sub("-", Path(places[0]).name).strip("-").lower() or "root"
    told = "\0".join([*places, *filter(None, (made_by, machine))])
    digest = hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{first[:40]}-{digest[:_DIGEST_CHARS]}"


def _folder(home: Path) -> Path:
    return home / "libraries"
