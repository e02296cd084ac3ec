"""Which file a library lives in. Folders that are asked directly get a library of their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from openbook.errors import SettingsError

DEFAULT_LIBRARY = "default"

_SUFFIX = ".sqlite"
_NAME = re.compile(r"\w[\w .@+-]*")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9]+")

# File systems take 255 bytes for the name of a file; our suffix and those of SQLite come behind it.
_NAME_BYTES = 100

# 40 bits: two folders of one name meet by chance once in a thousand billion.
_DIGEST_CHARS = 10


def library_path(home: Path, name: str) -> Path:
    """Give the file of a named library.

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
