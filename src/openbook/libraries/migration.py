"""Copies a library to another engine, using only the `Index` and `Engine` protocols. Source files are not read."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from openbook.chunking.identity import chunks_identity
from openbook.errors import LibraryError, MismatchedLibraryError, SettingsError
from openbook.index.protocol import EVERYTHING, FileRecord, IndexEntry, IndexIdentity, Source
from openbook.libraries.catalog import MIGRATION, LibraryCatalog, Location, machine_id, open_as_made, open_index
from openbook.libraries.registration import owner_of
from openbook.libraries.texts import TextStore
from openbook.retrieval.fields import terms_of
from openbook.settings import Settings
from openbook.text import counted
from openbook.tokens import tokens_identity

if TYPE_CHECKING:
    from openbook.index.protocol import Index
    from openbook.ingest.sync import Progress

SQLITE = "sqlite"
"""Stands for the files in the home, in place of an engine and its address."""

# A source with this name marks an unfinished copy. No folder can have it, because it contains a line feed.
_MARKER = "\nmigration"

# Each commit adds a version of the table in LanceDB; a killed process loses uncommitted work. A document has about ten
# chunks.
_DOCUMENTS_PER_COMMIT = 200

# Tokens cannot be read back from an index, so compare the counts for those of some documents.
_COMPARED_DOCUMENTS = 50


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """The result of a migration."""

    target: Location
    documents: int
    """Number of documents in the copy, without skipped files."""
    chunks: int
    copied: int
    """Files copied by this run, including skipped ones; the others come from an earlier run."""


class _File(NamedTuple):
    source: str
    path: str
    record: FileRecord


def migrate(
    name: str, to: str, settings: Settings, *, embedder: str, progress: Progress | None = None
) -> MigrationReport:
    """Copy a library, which is not changed. If a run is killed, the next one continues it.

    The copy cannot be opened until everything is copied and compared. Vectors are copied, and chunks are tokenized
    again, so that searches give the same results with the same scores.

    Raises:
        SettingsError: The engine cannot be used, or already has the library.
        MismatchedLibraryError: The library or the copy was built by another embedder or version.
        LibraryWriteError: The copy cannot be written, or there is no space. Copied files stay for the next run.
        LibraryError: Another library has this name, or the copy differs from the library.
    """
    target_settings = replace(settings, storage="" if to == SQLITE else to)
    origin_at = LibraryCatalog(settings).location(name)
    targets = LibraryCatalog(target_settings)
    target_at = targets.location(name)
    if origin_at == target_at:
        raise SettingsError(f"the library {name!r} is already at {to!r}", hint=_direction_hint(settings))
    with contextlib.ExitStack() as stack:
        made, origin = _origin(origin_at, embedder, settings)
        stack.callback(origin.close)
        identity = IndexIdentity(embedder, tokens_identity(), chunks_identity(made))
        try:
            target = open_index(target_at, identity, target_settings)
        except MismatchedLibraryError as exc:
            raise _another(name, to) from exc
        stack.callback(target.close)
        stack.enter_context(origin.snapshot())
        roots = _owned(origin.roots(), target_settings)
        copied = _copy(origin, target, roots, _marker(origin_at), _another(name, to), progress)
        TextStore(settings.home, name).share(str(origin_at), str(target_at))
        held = target.stats()
        return MigrationReport(target_at, held.documents, held.chunks, copied)


def _origin(location: Location, embedder: str, settings: Settings) -> tuple[Settings, Index]:
    try:
        return open_as_made(location, embedder, settings)
    except MismatchedLibraryError as exc:
        exc.hint = "set OPENBOOK_EMBEDDER to what made it, or rebuild it with `openbook add --rebuild --library NAME`"
        raise


def _direction_hint(settings: Settings) -> str:
    if settings.storage:
        return f"name another address, or `--to {SQLITE}` for the files in {settings.home}"
    return "name another engine and its address: --to lance:FOLDER or --to lance:s3://bucket/folder"


def _another(name: str, to: str) -> LibraryError:
    variable = "OPENBOOK_STORAGE=" + ("" if to == SQLITE else to)
    return LibraryError(
        f"there is another library {name!r} at {to!r}",
        hint=f"to delete that one: {variable} openbook remove --library {name}",
    )


def _marker(origin: Location) -> Source:
    return Source(_MARKER, MIGRATION, str(origin))


def _owned(roots: Sequence[Source], settings: Settings) -> list[Source]:
    """Return the sources as a copy has them: files in the home have no owner, and others that of this machine."""
    if not settings.storage:
        return [replace(root, owner="") for root in roots]
    machine = machine_id(settings.home)
    return [replace(root, owner=root.owner or owner_of(root, settings, machine)) for root in roots]


def _copy(
    origin: Index,
    target: Index,
    roots: Sequence[Source],
    marker: Source,
    another: LibraryError,
    progress: Progress | None,
) -> int:
    """Copy what is missing, compare everything, and only then remove the marker."""
    before = target.roots()
    if before and marker not in before:
        if any(root.kind == MIGRATION for root in before) or _differences(origin, target, roots, _files(origin)):
            raise another
        return 0
    _begin(roots, target, marker, before)
    missing = _missing(origin, target)
    _copy_files(origin, target, missing, progress)
    with target.snapshot():  # otherwise, some engines check for new data with every call
        wrong = _differing(origin, target, _files(origin))
    _copy_files(origin, target, wrong, None)  # from an earlier run, before the library changed
    target.optimize(every=True)
    with target.snapshot():
        said = _differences(origin, target, roots, wrong)
    if said:
        hint = "delete the copy with `openbook remove --library` and run it again; the library is unchanged"
        raise LibraryError(f"the copy differs from the library: {said}", hint=hint)
    target.delete_source(marker.name)
    return len(missing)


def _begin(roots: Sequence[Source], target: Index, marker: Source, before: Sequence[Source]) -> None:
    """Mark the copy as unfinished, and give it the sources of the library."""
    with target.batch():
        target.put_root(marker)
        for name in sorted({root.name for root in before} - {root.name for root in (*roots, marker)}):
            target.delete_source(name)
        for root in roots:
            target.put_root(root)


def _files(index: Index) -> list[_File]:
    return [
        _File(root.name, path, record)
        for root in index.roots()
        for path, record in sorted(index.records(root.name).items())
    ]


def _missing(origin: Index, target: Index) -> list[_File]:
    """Return the files that are missing or outdated in the copy; delete those that only the copy has."""
    wanted, held = _files(origin), set(_files(target))
    places = {file[:2] for file in wanted}
    with target.batch():
        for file in sorted(file[:2] for file in held if file[:2] not in places):
            target.delete(*file)
    return [file for file in wanted if file not in held]


def _copy_files(origin: Index, target: Index, files: Sequence[_File], progress: Progress | None) -> None:
    remaining, done = iter(files), 0
    while batch := list(islice(remaining, _DOCUMENTS_PER_COMMIT)):
        with target.batch():
            for file in batch:
                _copy_file(origin, target, file)
        done += len(batch)
        if progress:
            progress(done, len(files))


def _copy_file(origin: Index, target: Index, file: _File) -> None:
    document = origin.document(file.source, file.path)
    if document is None:
        target.skip(file.source, file.path, file.record.stamp, file.record.skipped)
        return
    chunks, vectors = origin.chunks(file.source, file.path), origin.vectors(file.source, file.path)
    entries = [IndexEntry(chunk, terms_of(chunk), vector) for chunk, vector in zip(chunks, vectors, strict=True)]
    target.put(document, entries, file.record.stamp)


def _differing(origin: Index, target: Index, files: Sequence[_File]) -> list[_File]:
    """Return the files whose hashes differ."""
    return [file for file in files if _digest(origin, *file[:2]) != _digest(target, *file[:2])]


def _digest(index: Index, source: str, path: str) -> bytes:
    """Hash a document with its chunks, their spans and symbols, and the vectors as quantized by all engines."""
    from openbook.index.catalogue import quantize

    document = index.document(source, path)
    text = document.text if document else ""
    described = repr((document, text, document and document.anchors, index.chunks(source, path)))
    digest = hashlib.sha256(described.encode("utf-8", "surrogatepass"))
    digest.update(quantize(index.vectors(source, path)))
    return digest.digest()


def _differences(origin: Index, target: Index, roots: Sequence[Source], files: Sequence[_File]) -> str:
    """Describe how two libraries differ; empty if they are equal. Only some files are hashed."""
    wanted, held = origin.stats(), target.stats()
    if (wanted.documents, wanted.chunks) != (held.documents, held.chunks):
        has = f"{counted(held.documents, 'document')} and {counted(held.chunks, 'chunk')}"
        return f"{has}, not {wanted.documents} and {wanted.chunks}"
    # Engines of plugins need not keep owners.
    held_roots = [replace(root, owner="") for root in target.roots() if root.kind != MIGRATION]
    if [replace(root, owner="") for root in roots] != held_roots:
        return "its sources differ"
    if any(origin.records(root.name) != target.records(root.name) for root in roots):
        return "its files differ"
    if origin.documents(EVERYTHING) != target.documents(EVERYTHING) or origin.courses() != target.courses():
        return "its documents or courses differ"
    if wrong := _differing(origin, target, files):
        return f"{counted(len(wrong), 'document')}, such as {wrong[0].path!r}"
    tokens = _tokens_of_some(origin)
    return "" if origin.frequencies(tokens) == target.frequencies(tokens) else "its words differ"


def _tokens_of_some(index: Index) -> list[str]:
    """Return the tokens of documents spread evenly over the library."""
    documents = index.documents(EVERYTHING)
    some = documents[:: max(1, len(documents) // _COMPARED_DOCUMENTS)]
    chunks = (chunk for document in some for chunk in index.chunks(document.source, document.path))
    return sorted({token for chunk in chunks for field in terms_of(chunk) for token in field})
