"""Selects the library of a command, and updates it before use."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from openbook.cli.printing import note, print_report
from openbook.errors import (
    CorruptLibraryError,
    LibraryError,
    LibraryWriteError,
    MismatchedLibraryError,
    SourceError,
    SourceNotFoundError,
    UnknownSourceError,
    did_you_mean,
    rebuild_hint,
)
from openbook.index.filters import is_below
from openbook.index.protocol import Source
from openbook.ingest.sync import Progress, SyncReport
from openbook.libraries.catalog import DEFAULT_LIBRARY, LibraryCatalog, known_machine, name_for, name_of
from openbook.libraries.registration import large_amount, why_wide
from openbook.library import Library
from openbook.settings import Settings
from openbook.sources.folder import is_gone
from openbook.types import Filter

# Libraries to name beside a new one.
_MAX_NAMES = 8

Remake = Callable[[LibraryError], Library]
"""Replaces a library after an error by an empty one of the same name."""


def settings() -> Settings:
    """Read the settings of this run."""
    return Settings.from_env()


@contextlib.contextmanager
def asked(
    paths: Sequence[Path], library: str | None, where: Filter, *, reranker: str = ""
) -> Iterator[tuple[Library, Filter]]:
    """Open the library for a question and update it. Yields it with the filter narrowed to the paths.

    A library that already contains the paths is used, such as that of a folder above them; but not if the filter names
    sources, which are those of the paths.
    """
    here = settings()
    if library or here.storage or where.sources:
        with opened(paths, library, reranker=reranker) as assistant:
            yield assistant, where
        return
    paths = paths or [Path()]
    check_paths(paths, may_be_wide=True)  # check that they exist; a wide one may have been added
    match = LibraryCatalog(here).match(paths)
    if match.sources:
        held = [Path(root.location) for root in match.sources]
        with opened(held, match.name, may_be_wide=True, reranker=reranker) as assistant:
            # Files excluded there by an ignore rule get a library of their own.
            if all(_has_documents(assistant, *place) for place in match.within):
                yield assistant, replace(where, within=match.within)
                return
    with opened(paths, None, reranker=reranker) as assistant:
        yield assistant, where


def _name_of_all(here: Settings, paths: Sequence[Path]) -> str:
    """Return the name of the library with exactly these paths as sources; else their own, possibly new, name."""
    libraries = LibraryCatalog(here)
    match = libraries.match(paths)
    return libraries.name_for(paths) if match.within else match.name


def _has_documents(assistant: Library, source: str, top: str) -> bool:
    records = assistant.index.records(source)
    return any(not record.skipped and is_below(path, top) for path, record in records.items())


@contextlib.contextmanager
def opened(
    paths: Sequence[Path],
    library: str | None,
    *,
    may_be_new: bool = False,
    may_be_wide: bool = False,
    reranker: str = "",
) -> Iterator[Library]:
    """Open a library and update it.

    With paths or without a library, these folders (by default `.`) are updated; with a library alone, all of its
    sources.

    With `may_be_new`, a missing library that is named alone is created, to be filled later. `may_be_wide` allows the
    root, a home or a system folder.
    """
    here = settings()
    here = replace(here, reranker=reranker) if reranker else here
    paths = paths or ([] if library else [Path()])
    check_paths(paths, may_be_wide=may_be_wide)
    if library and not paths and not may_be_new:
        check_there(here, library)
    name = library or _name_of_all(here, paths)
    check_amount(here, name, paths)
    if library and paths:
        _note_new(here, library)
    with _nothing_left(here, name, library), _library(name, here, paths) as assistant:
        try:
            for report in _updated(assistant, paths):
                print_report(report)
        except LibraryWriteError as exc:
            if not assistant.stats().documents:
                raise
            note(f"warning: the library was not updated: {exc}")
        yield assistant


@contextlib.contextmanager
def _nothing_left(here: Settings, name: str, library: str | None) -> Iterator[None]:
    """Delete a library that the body makes, unless it was named, if there was nothing to put into it.

    After a failure it stays, and the next run goes on.
    """
    libraries = LibraryCatalog(here)
    is_new = not library and not libraries.holds(name)
    ended: typer.Exit | None = None
    try:
        yield
    except typer.Exit as exc:
        ended = exc
    if is_new and libraries.holds(name):
        with Library.open(name, settings=here) as assistant:
            is_empty = not assistant.stats().documents
        if is_empty:
            libraries.remove(name)
    if ended is not None:
        raise ended


def _updated(assistant: Library, paths: Sequence[Path]) -> list[SyncReport]:
    with progress_bar() as progress:
        if paths:
            for path in paths:
                _register(assistant, path)
            return [assistant.add(path, allow_large=True, progress=progress) for path in paths]
        if assistant.is_shared:
            return []  # a local folder with the same path may be another one
        reports = []
        for root in assistant.sources():
            try:
                reports.append(assistant.add(root.location, progress=progress))
            except SourceError as exc:  # an unmounted disk must not prevent the update of the other sources
                note(f"warning: the library was not updated: {exc}")
                if isinstance(exc, SourceNotFoundError) and not root.url:
                    command = _removing(root, name_of(assistant.location))
                    note(f"hint: if it was moved, add it at its new path, and run: {command}")
        return reports


def check_paths(paths: Sequence[Path], *, may_be_wide: bool = False) -> None:
    """Raise an error for missing paths and unlikely folders, before anything is created.

    A folder that some library has as a source was meant.
    """
    for path in paths:
        try:
            there = path.expanduser().exists()
        except OSError as exc:
            raise SourceError(str(path), exc.strerror or "unreadable", hint="check its permissions") from exc
        except RuntimeError:  # `~name` of an unknown user
            there = False
        if not there:
            raise SourceNotFoundError(
                str(path), "does not exist", hint="give the path of a folder or file on this machine"
            )
        if not may_be_wide and (reason := why_wide(path)) and not _is_source(path.expanduser().resolve()):
            raise _unlikely(path, reason)


def check_amount(here: Settings, library: str, paths: Sequence[Path]) -> None:
    """Ask before a large folder is added to a library. Without a terminal, raise an error."""
    known = {root.location for root in LibraryCatalog(here).roots(library)}
    for path in paths:
        if str(path.expanduser().resolve()) in known or not (amount := large_amount(path, here)):
            continue
        if sys.stdin.isatty() and sys.stderr.isatty():
            if typer.confirm(f"{path} has {amount}. Index all of it?", err=True):
                continue
            raise typer.Abort
        raise _unlikely(path, f"it is large ({amount})")


def _unlikely(path: Path, reason: str) -> SourceError:
    all_of_it = shlex.join(["openbook", "add", "--yes", str(path.expanduser().resolve())])
    return SourceError(str(path), reason, hint=f"name a folder inside it; if you mean all of it: {all_of_it}")


def _is_source(folder: Path) -> bool:
    libraries = LibraryCatalog(settings())
    return any(root.location == str(folder) for name in libraries.names() for root in libraries.roots(name))


@contextlib.contextmanager
def existing(library: str) -> Iterator[Library]:
    """Open a library that must exist."""
    here = settings()
    check_there(here, library)
    with _library(library, here, []) as assistant:
        yield assistant


def indexed(paths: Sequence[Path]) -> str:
    """Return the name of the library with some folders, by default `.`, without indexing."""
    paths = paths or [Path()]
    check_paths(paths, may_be_wide=True)
    libraries = LibraryCatalog(settings())
    name = libraries.match(paths).name
    if not libraries.holds(name):
        places = " ".join(map(str, paths))
        raise UnknownSourceError(
            f"{places!r} is not indexed yet", hint="run `openbook ask` or `openbook search` on it to index it"
        )
    return name


def _note_new(here: Settings, library: str) -> None:
    """Say that a library is made, since its name may be mistyped."""
    libraries = LibraryCatalog(here)
    if not libraries.holds(library):
        names = libraries.names()
        others = f"; there are also: {', '.join(names[:_MAX_NAMES])}{', ...' * (len(names) > _MAX_NAMES)}"
        note(f"{library!r} is a new library{others if names else ''}")


def check_there(here: Settings, library: str) -> None:
    """Raise an error if a library does not exist."""
    libraries = LibraryCatalog(here)
    if not libraries.holds(library):
        there = "openbook sources lists the libraries; openbook add PATH --library NAME creates one"
        hint = did_you_mean(library, libraries.names(), there)
        raise UnknownSourceError(f"there is no library {library!r}", hint=hint)


def library_with(source: str) -> str:
    """Return the name of the library with a source: `default` if it has it, else the only one."""
    here = settings()
    holding, others = [], set[str]()
    libraries = LibraryCatalog(here)
    for name in libraries.names():
        sources = {root.name for root in libraries.roots(name)}
        others |= sources
        if source in sources:
            holding.append(name)
    if DEFAULT_LIBRARY in holding:
        return DEFAULT_LIBRARY
    if len(holding) == 1:
        return holding[0]
    if not holding:
        hint = did_you_mean(source, sorted(others), "openbook sources lists them all")
        raise UnknownSourceError(f"no library has a source {source!r}", hint=hint)
    raise UnknownSourceError(
        f"{len(holding)} libraries have a source {source!r}", hint=f"name one with --library: {', '.join(holding)}"
    )


@contextlib.contextmanager
def _library(
    name: str,
    here: Settings,
    paths: Sequence[Path],
    remade: type[LibraryError] | tuple[type[LibraryError], ...] = MismatchedLibraryError,
) -> Iterator[Library]:
    """Open a library. If it must be created again, the hint has the exact command; one of given folders is recreated.

    `remade` are the errors after which that happens.
    """
    try:
        with _of_this_version(name, here, paths, remade) as assistant:
            yield assistant
    except LibraryError as exc:
        # A library of several folders that is used through one of them must keep the others.
        places = [root.location for root in LibraryCatalog(here).roots(name)] or [
            str(path.expanduser().resolve()) for path in paths
        ]
        if exc.rebuild and places:
            exc.hint = rebuild_hint(exc.rebuild, [shlex.join(places)])
        raise


def _of_this_version(
    name: str,
    here: Settings,
    paths: Sequence[Path],
    remade: type[LibraryError] | tuple[type[LibraryError], ...],
) -> Library:
    try:
        return Library.open(name, settings=here)
    except remade as exc:
        # A database of another program is not touched.
        if not exc.rebuild or not _is_made_of(name, here, paths):
            raise
        return _recreated(exc, name, here)


def _is_made_of(name: str, here: Settings, paths: Sequence[Path]) -> bool:
    """Return whether a library contains only these paths, so that creating it again costs only time."""
    # Another embedder may cost money, or send text elsewhere.
    return bool(paths) and name == name_for(paths) and not (here.embedder or here.storage)


def _recreated(exc: LibraryError, name: str, here: Settings) -> Library:
    note(f"{exc}: rebuilding it")
    libraries = LibraryCatalog(here)
    known = libraries.roots(name)
    tell_aside(libraries.remove(name))
    assistant = Library.open(name, settings=here)
    for root in known:  # keep which of them contain courses
        assistant.index.put_root(replace(root, synced_at=0.0))
    return assistant


def tell_aside(aside: Path | None) -> None:
    """Report the new name of a file that was moved aside, since it may be a library with a damaged header."""
    if aside is not None:
        note(f"the file there does not look like a library of Openbook; it is now {aside}: delete it if it was one")


@contextlib.contextmanager
def for_agents(name: str, here: Settings, paths: Sequence[Path]) -> Iterator[tuple[Library, Remake | None]]:
    """Open a library for a server, with a function that creates it again if it turns out to be damaged.

    Agents do not show the hint of a start-up error, only that the server failed. So a damaged library of folders is
    created again.
    """
    remake = partial(_recreated, name=name, here=here) if _is_made_of(name, here, paths) else None
    with _library(name, here, paths, (MismatchedLibraryError, CorruptLibraryError)) as assistant:
        yield assistant, remake


def add_paths(
    paths: Sequence[Path], library: str | None, *, course: bool, rebuild: bool, may_be_wide: bool = False
) -> list[SyncReport]:
    """Add folders to a library, rebuilding it if asked. A rebuild keeps which of them contain courses."""
    here = settings()
    libraries, name = LibraryCatalog(here), library or DEFAULT_LIBRARY
    if rebuild and not paths:
        check_there(here, name)
    roots, machine = libraries.roots(name) if rebuild else [], known_machine(here.home)
    known = [root for root in roots if root.is_of(machine)]
    if rebuild and not paths:
        paths = [Path(root.location) for root in known]
        if others := ", ".join(root.name for root in roots if root not in known):
            hint = f"name the folders of this machine to make it from; then add {others} there again"
            raise SourceError(str(libraries.location(name)), f"has sources of other machines: {others}", hint=hint)
        if not paths:
            raise SourceError(
                str(libraries.location(name)), "its sources are unknown", hint="name the folders to make it from"
            )
    paths = paths or [Path()]
    were_meant = {Path(root.location) for root in known}
    check_paths(paths, may_be_wide=may_be_wide)
    if not may_be_wide:
        check_amount(here, name, [path for path in paths if path not in were_meant])
    if rebuild:
        tell_aside(libraries.remove(name))
    with _library(name, here, paths) as assistant, progress_bar() as progress:
        of_courses = {root.location for root in known if root.kind == "course"}
        for path in paths:  # register all before the first sync, so that an interrupt does not lose the others
            is_course = course or str(path.expanduser().resolve()) in of_courses
            _register(assistant, path, course=is_course)
        reports = [assistant.add(path, progress=progress) for path in paths]
        if not assistant.is_shared:
            _note_moved(assistant, [report.source for report in reports], name)
        return reports


def _removing(root: Source, library: str) -> str:
    return shlex.join(["openbook", "remove", root.name, "--library", library])


def _register(assistant: Library, path: Path, *, course: bool = False) -> None:
    """Register a source. Say so if another machine has added a folder with the same path to the library."""
    before = assistant.sources() if assistant.is_shared else []
    root = assistant.register(path, course=course, allow_large=True)
    others = [known for known in before if known.location == root.location]
    if others and root not in before and not any(map(assistant.is_own, others)):
        command = _removing(others[0], name_of(assistant.location))
        note(
            f"{root.location} is new as {root.name!r}: {others[0].name!r} is the folder of another machine with that"
            f" path, which stays. If it is the same folder, run: {command}"
        )


def _note_moved(assistant: Library, added: Sequence[str], library: str) -> None:
    """Say how to forget a folder that is gone if one with a document of it was added: it may have moved there."""
    gone = [root for root in assistant.sources() if not root.url and is_gone(root.location)]
    there = {held for name in added for held in _held(assistant, name)} if gone else set()
    for root in gone:
        if not there.isdisjoint(_held(assistant, root.name)):
            command = _removing(root, library)
            note(f"{root.location} is gone, and is still in the library; if it was moved, run: {command}")


def _held(assistant: Library, source: str) -> Iterator[tuple[str, str]]:
    """Yield the documents of a source by path and content."""
    records = assistant.index.records(source)
    return ((path, record.content_hash) for path, record in records.items() if not record.skipped)


@contextlib.contextmanager
def progress_bar(what: str = "indexing") -> Iterator[Progress | None]:
    """Show a progress bar on a terminal; none if standard error is a pipe or file."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn(what, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(compact=True),
    )
    bar = Bar(*columns, console=Console(stderr=True, markup=False), transient=True)
    task = bar.add_task(what, total=None, rate="")
    started = time.monotonic()

    def update(done: int, total: int) -> None:
        if total:
            bar.start()  # only now, so that nothing flashes without changes
        passed_s = time.monotonic() - started
        rate = f"{done / passed_s:.0f} files/s" if done and passed_s > 0 else ""
        bar.update(task, completed=done, total=total, rate=rate)

    try:
        yield update
    finally:
        bar.stop()
