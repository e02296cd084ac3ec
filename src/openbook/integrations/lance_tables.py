"""The two tables of a library in LanceDB: their content, and how they are opened, read and written.

`documents` has a row for each file, each source, and each deleted one. It is authoritative: a commit is one write to
it. `words` has segments, which are added before their documents, and are ignored until these exist. So several machines
may write the tables one after the other, and a reader sees all of a commit or nothing.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lancedb
import numpy as np
import pyarrow as pa
from obstore import delete, put
from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError
from obstore.store import LocalStore, from_url

from openbook.errors import CorruptLibraryError, LibraryError, LibraryWriteError, SettingsError
from openbook.index.protocol import IndexIdentity, Source
from openbook.index.schema import check_identity, closed
from openbook.integrations.lance_rows import (
    DOCUMENTS,
    HEAVY,
    KEPT,
    LIGHT,
    SCORED,
    WORDS,
    DocumentBody,
    DocumentRow,
    new_version,
)
from openbook.integrations.memory_cache import CACHE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_conditional_writes(address: str) -> None:
    """Check that the storage supports conditional writes: write a small object twice, the second time only if absent.

    LanceDB numbers its commits this way. Storage that lets two writers create the same number silently loses the work
    of one of them.

    Raises:
        LibraryWriteError: The second write succeeded, or nothing can be written.
    """
    name = f"openbook-probe-{secrets.token_hex(8)}"
    try:
        store = from_url(address)
        put(store, name, b"1", mode="create")
        try:
            put(store, name, b"2", mode="create")
        except (AlreadyExistsError, NotSupportedError) as exc:
            is_kept = isinstance(exc, AlreadyExistsError)
        else:
            is_kept = False
        with contextlib.suppress(BaseError):  # one byte remains if objects may not be deleted
            delete(store, name)
    except BaseError as exc:
        said = " ".join(str(exc).split())[:300]
        raise LibraryWriteError(
            f"cannot write to {address!r}: {said}",
            hint="check that the bucket exists, its address and your permissions",
        ) from exc
    if not is_kept:
        raise LibraryWriteError(
            f"the storage at {address!r} overwrites what it is told not to: writers would lose each other's work",
            hint="use storage that supports conditional writes (If-None-Match), or a folder",
        )


@contextlib.contextmanager
def claimed(address: str, name: str) -> Iterator[bool]:
    """Claim a name for the duration of the block, and yield whether that succeeded.

    An object `name` at the address exists while it is claimed.

    Raises:
        LibraryWriteError: The object cannot be written.
    """
    try:
        store = from_url(address) if "://" in address else LocalStore(address)
        try:
            put(store, name, b"", mode="create")
        except AlreadyExistsError:
            yield False
            return
    except BaseError as exc:
        raise LibraryWriteError(
            f"cannot write to {address!r}: {' '.join(str(exc).split())[:300]}", hint="check free space and permissions"
        ) from exc
    try:
        yield True
    finally:
        with contextlib.suppress(BaseError):
            delete(store, name)


# Increment with every change of the schemas below.
_FORMAT = "1"

ROW_ID = "_rowid"
"""Column with row ids, if requested."""

LISTED = pa.schema([*(WORDS.field(name) for name in ("segment", "place", "first_token")), (ROW_ID, pa.uint64())])
"""The columns known of each row of words."""

# The message of the storage or system, within LanceDB's chain of errors.
_MESSAGE = re.compile(r"<Message>([^<]+)|message: \"([^\"]+)|(No object store provider found for scheme: '[^']*')")
_MAX_MESSAGE_CHARS = 200

# Lance's message for a file that a table names and that is not there.
_LOST = re.compile(r"Not found: .*\.lance$")

# Distinguishes an address from a folder.
_SCHEME = "://"

# Lance's message if another writer was faster. It has no exception class of its own.
_CONFLICT = "conflict"

# The time that another machine takes to create tables, with a margin.
_CREATION_S = 5.0

# Random pause of conflicting writers before they retry.
_PAUSE_S = (0.01, 0.2)

# Each commit adds a file to a table. With this many, a search takes a tenth longer than with one.
_MAX_FRAGMENTS = 64

# A unique name of the library, which changes if it is created again.
_MADE = "made"

_DOCUMENTS_OF, _WORDS_OF = ".documents", ".words"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

_TABLES_A_PAGE = 1_000

# Rows of documents whose vectors are read at once: 2 MB. A scan would read 300 MB ahead, whatever is requested.
_ROWS_AT_ONCE = 1_024


@contextlib.contextmanager
def lance_errors(uri: str, *, is_write: bool = False) -> Iterator[None]:
    """Convert LanceDB errors to our errors."""
    try:
        yield
    except (RuntimeError, OSError, ValueError, pa.ArrowException) as exc:
        said = _shortened(str(exc))
        if is_write:
            raise LibraryWriteError(
                f"cannot write the library {uri!r}: {said}",
                hint="check the disk or bucket, its space and your permissions",
            ) from exc
        message = f"cannot read the library {uri!r}: {said}"
        if _LOST.search(said):
            raise LibraryError(message, rebuild=uri.rpartition("/")[2]) from exc
        raise LibraryError(message, hint="check that it exists, and your permissions") from exc


def _shortened(text: str) -> str:
    """Shorten a LanceDB error to the relevant message: that of the storage, if it contains one."""
    found = _MESSAGE.search(text)
    return found[found.lastindex or 0] if found else " ".join(text.partition(", /")[0].split())[:_MAX_MESSAGE_CHARS]


def damaged_tables(uri: str) -> CorruptLibraryError:
    """Return the error for a damaged library."""
    return CorruptLibraryError(f"{uri!r} is damaged or no library", rebuild=uri.rpartition("/")[2])


def split_address(uri: str) -> tuple[str, str]:
    """Split an address into the database and the name of the library.

    Raises:
        SettingsError: The name contains characters that table names cannot have.
    """
    base, _, name = uri.rpartition("/")
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r} is not a valid library name in LanceDB", hint="use letters a to z, digits and the signs _ . -"
        )
    return base, name


def names_at(address: str) -> list[str]:
    """List the libraries of a database, sorted."""
    if _SCHEME not in address and not Path(address).exists():
        return []  # LanceDB would create it
    with lance_errors(address):
        tables = _table_names(lancedb.connect(address))
    return sorted(table.removesuffix(_DOCUMENTS_OF) for table in tables if table.endswith(_DOCUMENTS_OF))


def remove_tables(uri: str) -> None:
    """Delete a library. It is no error if it does not exist."""
    base, name = split_address(uri)
    if not names_at(base):
        return
    with lance_errors(uri, is_write=True):
        database = lancedb.connect(base)
        for table in (name + _DOCUMENTS_OF, name + _WORDS_OF):
            if table in _table_names(database):
                database.drop_table(table)


def stored_table_sources(uri: str) -> list[Source]:
    """Return the sources of a library, which may otherwise be unusable, by name; [] if unknown or unreadable."""
    base, name = split_address(uri)
    if name not in names_at(base):
        return []
    try:
        with lance_errors(uri):
            table = lancedb.connect(base).open_table(name + _DOCUMENTS_OF)
            columns = ["source", "remarks", "version", "gone"]
            rows = table.search().where("path = ''").select(columns).to_arrow().to_pylist()
    except LibraryError:  # it can still be made again from folders that are named
        return []
    known = {field.name for field in fields(Source)}
    # Two machines that add a source at once leave two rows.
    newest = {row["source"]: row for row in sorted(rows, key=lambda row: str(row["version"]))}
    roots = [json.loads(row["remarks"]) for _, row in sorted(newest.items()) if not row["gone"]]
    return [Source(**{name: value for name, value in root.items() if name in known}) for root in roots]


class LanceTables:
    """Both tables at the last read version. Not thread-safe."""

    def __init__(
        self, uri: str, identity: IndexIdentity, *, lock_timeout_s: float, cache_bytes: int = CACHE_BYTES
    ) -> None:
        """Open the library at an address, or create it.

        `cache_bytes` limits LanceDB's own cache of the tables, which takes up to 7 GiB by default.

        Raises:
            MismatchedLibraryError: Another version or embedder created it.
            LibraryError: It cannot be read or created.
        """
        self.uri = uri
        base, self._name = split_address(uri)
        self._wanted = {"format": _FORMAT, **asdict(identity)}
        with lance_errors(uri):
            half = cache_bytes // 2
            session = lancedb.Session(index_cache_size_bytes=half, metadata_cache_size_bytes=half)
            self._database = lancedb.connect(base, session=session)
            schema = DOCUMENTS.with_metadata(self._wanted | {_MADE: new_version()})
            tables = {self._name + _WORDS_OF: WORDS, self._name + _DOCUMENTS_OF: schema}
            if not _all_there(self._database, tables):
                if _SCHEME in uri:
                    check_conditional_writes(base)
                _make(base, self._name, tables)
            self._documents, self._words = self._newest()
            self._versions = _versions(self._documents, self._words)
        self._check(_metadata(self._documents))
        self._lock_timeout_s = lock_timeout_s
        self._is_closed = False
        self._is_checked = False

    def _check(self, held: dict[str, str]) -> None:
        check_identity(self.uri, self._wanted, held, self.uri.rpartition("/")[2])
        self._held = held

    @property
    def made(self) -> str:
        """The unique name of the library, which changes if it is created again."""
        return self._held[_MADE]

    @property
    def state(self) -> tuple[str, int, int]:
        """Identifies what is read: the library and the table versions."""
        return self.made, *self._versions

    def refresh(self) -> None:
        """Read the latest commit from now on."""
        if self._is_closed:
            raise closed(self.uri)
        with lance_errors(self.uri):
            documents, words = self._newest()
            held = _metadata(documents)
            versions = _versions(documents, words)
        if held != self._held:  # the library was created again
            self._check(held)
        self._documents, self._words, self._versions = documents, words, versions

    def _newest(self) -> tuple[Any, Any]:
        """Open both tables anew. Open handles would stay with the old tables if the library is created again."""
        # In this order, so that the words of all documents exist.
        documents = self._database.open_table(self._name + _DOCUMENTS_OF)
        return documents, self._database.open_table(self._name + _WORDS_OF)

    def row_ids(self) -> pa.UInt64Array:
        """Return the ids of all document rows."""
        with lance_errors(self.uri):
            # Without selecting a column, all would be read.
            return self._documents.search().select(["gone"]).with_row_id(True).to_arrow()[ROW_ID].combine_chunks()

    def light(self, row_ids: Sequence[int], *, is_all: bool = False) -> pa.Table:
        """Return the light columns of some or all rows, unordered, with their ids."""
        with lance_errors(self.uri):
            if is_all:
                return self._documents.search().select([*LIGHT]).with_row_id(True).to_arrow()
            return self._documents.take_row_ids(list(row_ids)).select([*LIGHT]).with_row_id().to_arrow()

    def heavy(self, row_ids: Sequence[int]) -> list[DocumentBody]:
        """Return the heavy columns of some rows, in order."""
        with lance_errors(self.uri):
            return [DocumentBody(*(row[name] for name in HEAVY)) for row in _taken(self._documents, row_ids, HEAVY)]

    def scored(self, row_ids: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        """Yield the scored columns of some rows with their ids, in small unordered batches."""
        for start in range(0, len(row_ids), _ROWS_AT_ONCE):
            wanted = row_ids[start : start + _ROWS_AT_ONCE].tolist()
            with lance_errors(self.uri):
                yield from self._documents.take_row_ids(wanted).select([*SCORED]).with_row_id().to_arrow().to_batches()

    def word_ids(self) -> NDArray[np.uint64]:
        """Return the ids of all word rows."""
        with lance_errors(self.uri):
            # Without selecting a column, all would be read.
            found = self._words.search().select(["place"]).with_row_id(True).to_arrow()[ROW_ID]
        return np.asarray(found.to_numpy(), dtype=np.uint64)

    def words(self, row_ids: NDArray[np.uint64], *, is_all: bool = False) -> pa.Table:
        """Return segment, place and first token of some or all word rows, unordered, with their ids.

        Heads have place -1.
        """
        if not len(row_ids):
            return LISTED.empty_table()
        columns = LISTED.names[:-1]
        with lance_errors(self.uri):
            if is_all:
                return self._words.search().select(columns).with_row_id(True).to_arrow().cast(LISTED)
            return self._words.take_row_ids(row_ids.tolist()).select(columns).with_row_id().to_arrow().cast(LISTED)

    def rows_of_words(self, row_ids: Sequence[int]) -> list[dict[str, Any]]:
        """Return word rows, in order."""
        with lance_errors(self.uri):
            return _taken(self._words, row_ids, WORDS.names[2:])

    def add_words(self, rows: Iterable[dict[str, Any]]) -> None:
        values = pa.Table.from_pylist(list(rows), schema=WORDS)
        self._write(lambda _, words: words.add(values))

    def drop_words(self, segments: Iterable[str]) -> None:
        where = f"segment IN ({', '.join(map(repr, segments))})"
        self._write(lambda _, words: words.delete(where))

    def commit(self, rows: Iterable[tuple[DocumentRow, DocumentBody]]) -> None:
        """Replace the rows with the same source and path, atomically."""
        values = pa.Table.from_pylist([asdict(stored) | heavy._asdict() for stored, heavy in rows], schema=DOCUMENTS)

        def merge(documents: Any, _: Any) -> None:
            merging = documents.merge_insert(["source", "path"])
            merging.when_matched_update_all().when_not_matched_insert_all().execute(values)

        self._write(merge)

    def tidy(self, *, every: bool = False) -> None:
        """Remove old versions and compact small files of each table with many; with `every`, of both.

        Compacting rewrites a table, so doing it for each small commit would take longer the larger the library is.
        """
        if every or self._fragments(self._documents) > _MAX_FRAGMENTS:
            self._write(lambda documents, _: documents.delete("gone"))
            self._write(lambda documents, _: documents.optimize(cleanup_older_than=KEPT), may_give_way=True)
        if every or self._fragments(self._words) > _MAX_FRAGMENTS:
            self._write(lambda _, words: words.optimize(cleanup_older_than=KEPT), may_give_way=True)

    def _fragments(self, table: Any) -> int:
        with lance_errors(self.uri):
            return int(table.stats()["fragment_stats"]["num_fragments"])

    def _write(self, action: Callable[[Any, Any], object], *, may_give_way: bool = False) -> None:
        """Change documents or words, retrying if another writer was faster."""
        if not self._is_checked and _SCHEME in self.uri:
            check_conditional_writes(split_address(self.uri)[0])
        self._is_checked = True
        until = time.monotonic() + self._lock_timeout_s
        while True:
            try:
                with lance_errors(self.uri, is_write=True):
                    documents, words = self._newest()
                    if _metadata(documents) != self._held:
                        raise RuntimeError("it was created again meanwhile")
                    action(documents, words)
                return
            except LibraryWriteError as exc:
                if _CONFLICT not in str(exc.__cause__).lower() or (time.monotonic() > until and not may_give_way):
                    raise
                if may_give_way:
                    return
            time.sleep(random.uniform(*_PAUSE_S))

    def size_bytes(self) -> int:
        """Return the size of both tables."""
        with lance_errors(self.uri):
            return sum(int(table.stats()["total_bytes"]) for table in (self._documents, self._words))

    def close(self) -> None:
        """Close both tables. They cannot be used again."""
        self._is_closed = True


def _make(base: str, name: str, tables: Mapping[str, pa.Schema]) -> None:
    """Create missing tables. LanceDB lets two machines create one at once; here the second one waits."""
    database = lancedb.connect(base)
    until = time.monotonic() + _CREATION_S
    with claimed(base, f"{name}.making") as is_ours:
        # Another machine finishes in a moment, unless it was killed.
        while not is_ours and not _all_there(database, tables) and time.monotonic() < until:
            time.sleep(random.uniform(*_PAUSE_S))
        for table, schema in tables.items():
            if not _all_there(database, [table]):
                database.create_table(table, schema=schema)


def _all_there(database: Any, tables: Iterable[str]) -> bool:
    try:
        for table in tables:
            database.open_table(table)
    except (ValueError, RuntimeError):  # a table may be listed before it can be opened
        return False
    return True


def _table_names(database: Any) -> list[str]:
    found: list[str] = []
    page = None
    while page is None or page.page_token:
        page = database.list_tables(page_token=page.page_token if page else None, limit=_TABLES_A_PAGE)
        found += page.tables
    return found


def _versions(documents: Any, words: Any) -> tuple[int, int]:
    """Return the versions of both tables, called once because LanceDB uses a thread for each."""
    return int(documents.version), int(words.version)


def _metadata(table: Any) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in (table.schema.metadata or {}).items()}


def _taken(table: Any, row_ids: Sequence[int], columns: Sequence[str]) -> list[dict[str, Any]]:
    if not row_ids:
        return []
    taken = table.take_row_ids(list(row_ids)).select([*columns]).with_row_id().to_arrow().to_pylist()
    by_id = {row.pop(ROW_ID): row for row in taken}
    return [by_id[id_] for id_ in row_ids]
