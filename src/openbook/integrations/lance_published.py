"""Publishes the cached state of a library next to its tables in LanceDB, for machines without a cache.

An object contains one state and is named after it. It is written as a whole, never changed, and its hash is checked on
reading. Without it, everything is read from the tables, with the same results.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import obstore
import pyarrow.compute as pc
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from openbook.errors import LibraryWriteError
from openbook.integrations.lance_cache import FILES, MAX_CHANGED, Kept, LocalCache, State
from openbook.integrations.lance_tables import split_address
from openbook.memory import release_memory
from openbook.permissions import make_private_file

if TYPE_CHECKING:
    from openbook.integrations.lance_documents import DocumentTable

# Increment if the content of an object changes. Objects with a lower number are deleted, others ignored.
_LAYOUT = 1

_FOLDER = ".kept"

# Bytes per read or write, and how many run concurrently: one connection to object storage is slower than the network.
# Linux caches a file in pages as large as its writes.
_PIECE_BYTES, _AT_ONCE = 1 << 23, 4

# An object ends with the sizes of its parts and their hash.
_END_BYTES = 256


@dataclass(frozen=True, slots=True, order=True)
class PublishedState:
    """A published object, described by its name. Later states, also of a library created again, compare greater."""

    layout: int
    state: State
    chunks: int
    newest: str
    """The highest version of a document in it."""
    token: str
    """A unique token."""

    @property
    def name(self) -> str:
        return "-".join(map(str, (self.layout, *self.state, self.chunks, self.newest, self.token)))

    @classmethod
    def named(cls, name: str) -> PublishedState | None:
        """Parse a name; None if it is that of something else."""
        try:
            layout, made, documents, words, chunks, newest, token = name.split("-")
            return cls(int(layout), (made, int(documents), int(words)), int(chunks), newest, token)
        except ValueError:
            return None

    def is_outdated_by(self, documents: DocumentTable) -> bool:
        """Return whether so much has changed that a new machine would read much of the library."""
        sizes = documents.numbers("chunks")
        come = int(sizes[pc.greater(documents.versions, self.newest).to_numpy()].sum())
        gone = self.chunks - (int(sizes.sum()) - come)
        return come + gone > MAX_CHANGED * self.chunks


class PublishedStates:
    """The published objects of one library. Several machines may read and write them at once."""

    def __init__(self, uri: str) -> None:
        """Take the address of a library. Nothing is opened yet."""
        self._uri = uri
        self._base, name = split_address(uri)
        self._folder = name + _FOLDER

    def _store(self) -> Any:
        return from_url(self._base) if "://" in self._base else LocalStore(self._base)

    def _names(self) -> list[str]:
        if "://" not in self._base and not Path(self._base, self._folder).is_dir():
            return []
        return [each["path"].rpartition("/")[2] for each in obstore.list(self._store(), self._folder).collect()]

    def _listed(self) -> list[PublishedState]:
        """Return all states, latest first."""
        found = map(PublishedState.named, self._names())
        return sorted((each for each in found if each is not None), reverse=True)

    def newest(self, made: str) -> PublishedState | None:
        """Return the latest state of a library; None without one, or if they cannot be listed."""
        return next(self._of(made), None)

    def _of(self, made: str) -> Iterator[PublishedState]:
        with contextlib.suppress(BaseError, ValueError):  # listing may be forbidden, or unsupported by the storage
            for each in self._listed():
                if (each.layout, each.state[0]) == (_LAYOUT, made):
                    yield each

    def fetch(self, made: str, cache: LocalCache) -> bool:
        """Download the latest state of a library into the cache of this machine, unless another process already has.

        Returns False if there is none.
        """
        found = any(
            cache.place(each.state, partial(self._read, each)) or cache.open(made) is not None
            for each in self._of(made)
        )
        release_memory()  # the written pieces
        return found

    def _read(self, published: PublishedState, folder: Path) -> None:
        """Download an object into a folder.

        Raises:
            OSError: It cannot be read or written.
            ValueError: It is damaged.
        """
        store, path = self._store(), f"{self._folder}/{published.name}"
        try:
            size = int(obstore.head(store, path)["size"])
            end = json.loads(bytes(obstore.get_range(store, path, start=size - _END_BYTES, length=_END_BYTES)))
            sizes, wanted = [int(each) for each in end["sizes"]], str(end["sha256"])
            digest = hashlib.sha256()
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for name, length, stop in zip(FILES, sizes, accumulate(sizes), strict=True):
                    make_private_file(folder / name)
                    with (folder / name).open("r+b", buffering=_PIECE_BYTES) as file:
                        for piece in _pieces(pool, store, path, stop - length, stop):
                            digest.update(piece)
                            file.write(piece)
        except (BaseError, LookupError, TypeError, OverflowError) as exc:
            raise OSError(f"cannot read {path!r}") from exc
        if digest.hexdigest() != wanted:
            raise ValueError(f"{path!r} is damaged")

    def publish(self, kept: Kept, cache: LocalCache) -> bool:
        """Upload the cached state of this machine, and delete older ones. Returns False on failure."""
        chunks, token = len(kept.columns), secrets.token_hex(4)
        published = PublishedState(_LAYOUT, kept.state, chunks, kept.newest, token)
        try:
            with contextlib.ExitStack() as stack:
                files = [stack.enter_context((cache.folder_of(kept.state) / name).open("rb")) for name in FILES]
                path, content = f"{self._folder}/{published.name}", _content(files)
                obstore.put(self._store(), path, content, chunk_size=_PIECE_BYTES, max_concurrency=_AT_ONCE)
            older = [each.name for each in self._listed() if each.layout <= _LAYOUT][1:]
            self._delete(older)
        except (BaseError, OSError, ValueError):  # no permission, or another process has cached a later state
            return False
        return True

    def withdraw(self, state: State) -> None:
        """Delete a state and older ones, as far as possible."""
        with contextlib.suppress(BaseError, OSError, ValueError):  # no permission, or unsupported storage
            self._delete([each.name for each in self._listed() if each.layout <= _LAYOUT and each.state <= state])

    def _delete(self, names: Sequence[str]) -> None:
        if names:
            obstore.delete(self._store(), [f"{self._folder}/{name}" for name in names])

    def remove(self) -> None:
        """Delete all states.

        Raises:
            LibraryWriteError: They cannot be deleted.
        """
        try:
            self._delete(self._names())
            if "://" not in self._base:  # unfinished files of a killed writer are not listed
                shutil.rmtree(Path(self._base, self._folder), ignore_errors=True)
        except BaseError as exc:
            raise LibraryWriteError(
                f"cannot delete {self._folder!r} of the library {self._uri!r}",
                hint="check your permissions, and delete it by hand: it lists the content of the library",
            ) from exc


def _pieces(pool: ThreadPoolExecutor, store: Any, path: str, start: int, stop: int) -> Iterator[obstore.Bytes]:
    """Yield part of an object, reading a few pieces concurrently."""

    def read(at: int) -> obstore.Bytes:
        return obstore.get_range(store, path, start=at, end=min(at + _PIECE_BYTES, stop))

    places = range(start, stop, _PIECE_BYTES)
    for first in range(0, len(places), _AT_ONCE):
        yield from pool.map(read, places[first : first + _AT_ONCE])


def _content(files: Sequence[BinaryIO]) -> Iterator[bytes]:
    digest, sizes = hashlib.sha256(), []
    for file in files:
        sizes.append(0)
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            sizes[-1] += len(piece)
            yield piece
    yield json.dumps({"sizes": sizes, "sha256": digest.hexdigest()}).encode().ljust(_END_BYTES)
