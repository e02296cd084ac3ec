"""Libraries by name: files in the home, or, for several machines, tables of LanceDB at an address.

Folders that are asked directly get a library of their own.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from openbook.errors import MissingExtraError, SettingsError
from openbook.index.schema import stored_sources
from openbook.index.sqlite import SqliteIndex, remove_library_file
from openbook.permissions import make_private_folder, narrow
from openbook.settings import Settings, default_home, quieten_lance

if TYPE_CHECKING:
    from openbook.index.protocol import Index, IndexIdentity, Source

DEFAULT_LIBRARY = "default"

_SUFFIX = ".sqlite"
_NAME = re.compile(r"\w[\w .@+-]*")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9]+")

# File systems take 255 bytes for the name of a file; our suffix and those of SQLite come behind it.
_NAME_BYTES = 100

# 40 bits: two folders of one name meet by chance once in a thousand billion.
_DIGEST_CHARS = 10

Location = Path | str
"""The file of a library, or its address."""


def name_of(location: Location) -> str:
    """Return the name of the library at a place."""
    return location.stem if isinstance(location, Path) else location.rpartition("/")[2]


class LibraryCatalog:
    """The libraries of one machine, or those that several share."""

    def __init__(self, settings: Settings) -> None:
        """Take where they are from the settings.

        Raises:
            SettingsError: The address names no folder and no bucket.
        """
        self._home = settings.home
        self._lance = _address(settings.lance_uri) if settings.lance_uri else ""

    def location(self, name: str) -> Location:
        """Return the place of a library by name, whether it is there or not.

        Raises:
            SettingsError: The name could not be one of a file everywhere.
        """
        file = library_path(self._home, name)
        return f"{self._lance}/{name}" if self._lance else file

    def names(self) -> list[str]:
        """List the libraries that are there, in order."""
        found: list[str] = _tables().names_at(self._lance) if self._lance else library_names(self._home)
        return found

    def holds(self, name: str) -> bool:
        """Return whether a library is there."""
        location = self.location(name)
        return location.exists() if isinstance(location, Path) else name in self.names()

    def roots(self, name: str) -> list[Source]:
        """Return the sources of a library that may be unusable otherwise, by name; [] if it tells none."""
        location = self.location(name)
        found: list[Source] = (
            stored_sources(location) if isinstance(location, Path) else _tables().stored_table_sources(location)
        )
        return found

    def remove(self, name: str) -> None:
        """Delete a library. None there is no error."""
        location = self.location(name)
        if isinstance(location, Path):
            remove_library_file(location)
        else:
            _tables().remove_tables(location)


def _address(uri: str) -> str:
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return str(Path(uri).expanduser().absolute())
    if not scheme or not rest.strip("/"):
        raise SettingsError(f"{uri!r} names no bucket", hint="set OPENBOOK_LANCE_URI to a folder or s3://bucket/folder")
    return uri.rstrip("/")


def open_index(location: Location, identity: IndexIdentity, settings: Settings) -> Index:
    """Open a library where it is, making it if it is not there.

    Raises:
        LibraryError: It cannot be used.
        MissingExtraError: LanceDB is not installed.
    """
    if isinstance(location, Path):
        if location.parent == _folder(settings.home):
            with contextlib.suppress(OSError):  # what opens the file says what is wrong
                keep_private(settings.home)
        return SqliteIndex(location, identity, lock_timeout_s=settings.lock_timeout_s)
    _tables()
    from openbook.index.lance import LanceIndex

    return LanceIndex(location, identity, lock_timeout_s=settings.lock_timeout_s)


def _tables() -> ModuleType:
    """Load what knows LanceDB; half a second that nobody pays who does not use it."""
    quieten_lance()
    try:
        from openbook.index import lance_tables
    except ModuleNotFoundError as exc:
        raise MissingExtraError(f"{exc.name} is not installed", hint="pip install 'openbook[lance]'") from exc
    return lance_tables


def keep_private(home: Path) -> None:
    """Make the folder of libraries, and narrow what a home keeps; the home itself where we make it or chose it.

    A home that somebody named keeps the rights that it has: it may hold other things.

    Raises:
        OSError: It cannot be made.
    """
    if home == default_home() or not home.exists():
        make_private_folder(home)
    make_private_folder(_folder(home))
    for name in ("uploads", "repositories"):
        narrow(home / name)


def library_path(home: Path, name: str) -> Path:
    """Return the file of a named library.

    Raises:
        SettingsError: The name could not be one of a file everywhere.
    """
    if not _NAME.fullmatch(name) or len(name.encode()) > _NAME_BYTES:
        raise SettingsError(
            f"{name!r} is no name for a library", hint="use up to 100 letters, digits, spaces and the signs _ . @ + -"
        )
    return _folder(home) / f"{name}{_SUFFIX}"


def library_names(home: Path) -> list[str]:
    """List the libraries, in order."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _folder(home).glob(f"*{_SUFFIX}"))


def name_for(paths: Sequence[Path]) -> str:
    """Name the library of some folders: readable, and the same whatever their order.

    Example:
        >>> name_for([Path("shop"), Path("shelf")]) == name_for([Path("shelf"), Path("shop")])
        True
        >>> name_for([Path("shop")]).partition("-")[0]
        'shop'
    """
    places = sorted({str(path.expanduser().resolve()) for path in paths})
    first = _NOT_IN_NAME.sub("-", Path(places[0]).name).strip("-").lower() or "root"
    digest = hashlib.sha256("\0".join(places).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{first[:40]}-{digest[:_DIGEST_CHARS]}"


def _folder(home: Path) -> Path:
    return home / "libraries"
