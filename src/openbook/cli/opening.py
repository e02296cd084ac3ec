"""Which library a command means, and bringing it up to date before it is asked."""

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

from openbook.cli.printing import note, print_report, size_text
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
from openbook.ingest.sync import Progress, SyncReport
from openbook.libraries.catalog import DEFAULT_LIBRARY, LibraryCatalog, name_for
from openbook.library import Library
from openbook.settings import Settings
from openbook.sources.folder import Folder
from openbook.types import Filter

# Folders of the system on Linux, macOS and Windows. What is below the last three is made up by the kernel.
_NO_FILES = tuple(map(Path, ("/dev", "/proc", "/sys")))
_OF_SYSTEM = (
    *map(Path, ("/bin", "/boot", "/etc", "/lib", "/lib64", "/run", "/sbin", "/usr", "/var", "/Applications")),
    *map(Path, ("/Library", "/System", "C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData")),
    *_NO_FILES,
)


# Above these, indexing takes minutes, and is more likely a mistake than a wish. The Linux kernel has 80,000 files, most
# projects fewer than 5,000.
_MOST_FILES = 20_000
_MOST_BYTES = 1_000_000_000

Remake = Callable[[LibraryError], Library]
"""Replaces a library after an error by one of the same name that holds nothing yet."""


def settings() -> Settings:
    """Read the settings of this run."""
    return Settings.from_env()


@contextlib.contextmanager
def asked(
    paths: Sequence[Path], library: str | None, where: Filter, *, reranker: str = ""
) -> Iterator[tuple[Library, Filter]]:
    """Open the library that a question is for, up to date, with the filter narrowed to the paths.

    A library that has the paths already is used, such as the one of a folder above them; not where the filter names
    sources, which are those of the paths.
    """
    here = settings()
    if library or here.storage or where.sources:
        with opened(paths, library, reranker=reranker) as assistant:
            yield assistant, where
        return
    paths = paths or [Path()]
    check_paths(paths, may_be_wide=True)  # whether they are there; a wide one may have been added
    match = LibraryCatalog(here).match(paths)
    if match.sources:
        held = [Path(root.location) for root in match.sources]
        with opened(held, match.name, may_be_wide=True, reranker=reranker) as assistant:
            # What an ignore rule leaves out there is asked in a library of its own.
            if all(_has_documents(assistant, *place) for place in match.within):
                yield assistant, replace(where, within=match.within)
                return
    with opened(paths, None, reranker=reranker) as assistant:
        yield assistant, where


def _name_of_all(here: Settings, paths: Sequence[Path]) -> str:
    """Name the library that has these paths as its sources and no others; else their own, which may be new."""
    match = LibraryCatalog(here).match(paths)
    return name_for(paths) if match.within else match.name


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
    """Open a library, up to date.

    With paths or without a library, these folders (by default `.`) are brought up to date;
    with a library alone, all of its sources.

    A library that is named alone and is not there is made, for people to fill it, if it `may_be_new`. With
    `may_be_wide`, the root, a home or a folder of the system is meant.
    """
    here = settings()
    here = replace(here, reranker=reranker) if reranker else here
    paths = paths or ([] if library else [Path()])
    check_paths(paths, may_be_wide=may_be_wide)
    if library and not paths and not may_be_new:
        check_there(here, library)
    name = library or _name_of_all(here, paths)
    check_amount(here, name, paths)
    with _library(name, here, paths) as assistant:
        try:
            for report in _updated(assistant, paths):
                print_report(report)
        except LibraryWriteError as exc:
            if not assistant.stats().documents:
                raise
            note(f"warning: the library was not updated: {exc}")
        yield assistant


def _updated(assistant: Library, paths: Sequence[Path]) -> list[SyncReport]:
    with progress_bar() as progress:
        if paths:
            return [assistant.add(path, progress=progress) for path in paths]
        if assistant.is_shared:
            return []  # a folder that happens to lie here under the same path may be another one
        reports = []
        for root in assistant.sources():
            try:
                reports.append(assistant.add(root.location, progress=progress))
            except SourceError as exc:  # a disk that is not mounted must not silence the other sources
                note(f"warning: the library was not updated: {exc}")
        return reports


def check_paths(paths: Sequence[Path], *, may_be_wide: bool = False) -> None:
    """Refuse paths that are not there, and folders that nobody means, before anything is made for them."""
    for path in paths:
        try:
            there = path.expanduser().exists()
        except OSError as exc:
            raise SourceError(str(path), exc.strerror or "unreadable", hint="check its permissions") from exc
        except RuntimeError:  # `~name` of a user who is not there
            there = False
        if not there:
            raise SourceNotFoundError(
                str(path), "does not exist", hint="give the path of a folder or file on this machine"
            )
        folder = path.expanduser().resolve()
        if not may_be_wide and (reason := _wide(folder)):
            hint = f"name a folder inside it; if you mean all of it: openbook add --yes {_quoted(folder)}"
            raise SourceError(str(path), reason, hint=hint)


def check_amount(here: Settings, library: str, paths: Sequence[Path]) -> None:
    """Ask before a folder that is new to a library is read, if it is large. Where nobody can answer, refuse."""
    known = {root.location for root in LibraryCatalog(here).roots(library)}
    for path in paths:
        folder = path.expanduser().resolve()
        if str(folder) in known or not folder.is_dir():
            continue
        files = Folder(folder, max_file_bytes=here.max_file_bytes).scan().files
        size_bytes = sum(file.stamp.size_bytes for file in files)
        if len(files) <= _MOST_FILES and size_bytes <= _MOST_BYTES:
            continue
        amount = f"{len(files):,} files, {size_text(size_bytes)}"
        if sys.stdin.isatty() and sys.stderr.isatty():
            if typer.confirm(f"{path} has {amount}. Index all of it?", err=True):
                continue
            raise typer.Abort
        hint = f"name a folder inside it; if you mean all of it: openbook add --yes {_quoted(folder)}"
        raise SourceError(str(path), f"it is large ({amount})", hint=hint)


def _quoted(folder: Path) -> str:
    return shlex.quote(str(folder))


def _wide(folder: Path) -> str:
    """Return why a folder holds more than anybody asks about; empty if it does not."""
    home = Path.home()
    if folder == home:
        return "is your home folder"
    if folder == Path(folder.anchor):
        return "is the root of the disk"
    if folder in home.parents:
        return "contains your home folder"
    of_system = next((top for top in _OF_SYSTEM if folder == top or top in folder.parents), None)
    if of_system is not None and (folder == of_system or of_system in _NO_FILES):
        return "is a system folder"
    return ""


@contextlib.contextmanager
def existing(library: str) -> Iterator[Library]:
    """Open a library that must be there already."""
    here = settings()
    check_there(here, library)
    with _library(library, here, []) as assistant:
        yield assistant


def indexed(paths: Sequence[Path]) -> str:
    """Name the library that has some folders, by default `.`, without indexing anything."""
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


def check_there(here: Settings, library: str) -> None:
    """Refuse a library that is not there."""
    libraries = LibraryCatalog(here)
    if not libraries.holds(library):
        there = "openbook sources lists the libraries; openbook add PATH --library NAME makes one"
        hint = did_you_mean(library, libraries.names(), there)
        raise UnknownSourceError(f"there is no library {library!r}", hint=hint)


def library_with(source: str) -> str:
    """Name the library that has a source: `default` if it has, else the only one."""
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
    """Open a library. Where it has to be made again, the hint is the very command; one of folders is made again.

    `remade`: the errors after which it is.
    """
    try:
        with _of_this_version(name, here, paths, remade) as assistant:
            yield assistant
    except LibraryError as exc:
        # A library of several folders that is asked through one of them must not lose the others.
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
        # A database of another program stays.
        if not exc.rebuild or not _is_made_of(name, here, paths):
            raise
        return _made_again(exc, name, here)


def _is_made_of(name: str, here: Settings, paths: Sequence[Path]) -> bool:
    """Return whether a library holds nothing but what these paths hold, and making it again costs only time."""
    # Another embedder may cost money, or send text elsewhere.
    return bool(paths) and name == name_for(paths) and not (here.embedder or here.storage)


def _made_again(exc: LibraryError, name: str, here: Settings) -> Library:
    note(f"{exc}: rebuilding it")
    libraries = LibraryCatalog(here)
    known = libraries.roots(name)
    tell_aside(libraries.remove(name))
    assistant = Library.open(name, settings=here)
    for root in known:  # which of them hold courses
        assistant.index.put_root(replace(root, synced_at=0.0))
    return assistant


def tell_aside(aside: Path | None) -> None:
    """Say where a file is now that was renamed. It may be a library all the same, with a damaged beginning."""
    if aside is not None:
        note(f"the file there does not look like a library of Openbook; it is now {aside}: delete it if it was one")


@contextlib.contextmanager
def for_agents(name: str, here: Settings, paths: Sequence[Path]) -> Iterator[tuple[Library, Remake | None]]:
    """Open a library for a server, with what makes it again when it turns out to be damaged.

    Nobody reads the hint of an error at its start: an agent shows that the server has failed. So a damaged library of
    folders is made again.
    """
    remake = partial(_made_again, name=name, here=here) if _is_made_of(name, here, paths) else None
    with _library(name, here, paths, (MismatchedLibraryError, CorruptLibraryError)) as assistant:
        yield assistant, remake


def add_paths(
    paths: Sequence[Path], library: str | None, *, course: bool, rebuild: bool, may_be_wide: bool = False
) -> list[SyncReport]:
    """Add folders to a library, rebuilding it if asked. A rebuilt one keeps which of them hold courses."""
    here = settings()
    libraries, name = LibraryCatalog(here), library or DEFAULT_LIBRARY
    if rebuild and not paths:
        check_there(here, name)
    known = libraries.roots(name) if rebuild else []
    if rebuild and not paths:
        paths = [Path(root.location) for root in known]
        if not paths:
            raise SourceError(
                str(libraries.location(name)), "it does not tell its sources", hint="name the folders to make it from"
            )
    paths = paths or [Path()]
    were_meant = {Path(root.location) for root in known}
    check_paths(paths, may_be_wide=may_be_wide or were_meant.issuperset(paths))
    if not may_be_wide:
        check_amount(here, name, [path for path in paths if path not in were_meant])
    if rebuild:
        tell_aside(libraries.remove(name))
    with _library(name, here, paths) as assistant, progress_bar() as progress:
        of_courses = {root.location for root in known if root.kind == "course"}
        for path in paths:  # all of them, before the first takes its time: an interrupt must not lose the rest
            assistant.register(path, course=course or str(path.expanduser().resolve()) in of_courses)
        return [assistant.add(path, progress=progress) for path in paths]


@contextlib.contextmanager
def progress_bar(what: str = "indexing") -> Iterator[Progress | None]:
    """Show progress of what is done on a terminal; nothing where standard error is a pipe or file."""
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
            bar.start()  # where nothing has changed, nothing flashes
        passed_s = time.monotonic() - started
        rate = f"{done / passed_s:.0f} files/s" if done and passed_s > 0 else ""
        bar.update(task, completed=done, total=total, rate=rate)

    try:
        yield update
    finally:
        bar.stop()
