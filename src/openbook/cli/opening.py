"""Which library a command means, and bringing it up to date before it is asked."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openbook.cli.printing import note, print_report
from openbook.errors import (
    LibraryError,
    LibraryWriteError,
    SourceError,
    SourceNotFoundError,
    UnknownSourceError,
    rebuild_hint,
)
from openbook.ingest.sync import Progress, SyncReport
from openbook.libraries.catalog import DEFAULT_LIBRARY, LibraryCatalog, name_for
from openbook.library import Library
from openbook.settings import Settings

# Folders of the system on Linux, macOS and Windows. What is below the last three is made up by the kernel.
_NO_FILES = tuple(map(Path, ("/dev", "/proc", "/sys")))
_OF_SYSTEM = (
    *map(Path, ("/bin", "/boot", "/etc", "/lib", "/lib64", "/run", "/sbin", "/usr", "/var", "/Applications")),
    *map(Path, ("/Library", "/System", "C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData")),
    *_NO_FILES,
)


def settings() -> Settings:
    """Read the settings of this run."""
    return Settings.from_env()


@contextlib.contextmanager
def opened(
    paths: Sequence[Path], library: str | None, *, may_be_new: bool = False, reranker: str = ""
) -> Iterator[Library]:
    """Open the library that a question is for, up to date.

    With paths or without a library, these folders (by default `.`) are brought up to date;
    with a library alone, all of its sources.

    Args:
        paths: Folders and files.
        library: Its name.
        may_be_new: Whether a library that is named alone and is not there is made, for people to fill it.
        reranker: Instead of the one of the settings, if it is named.

    Raises:
        OpenbookError: It cannot be opened or filled.
    """
    here = settings()
    here = replace(here, reranker=reranker) if reranker else here
    paths = paths or ([] if library else [Path()])
    check_paths(paths)
    if library and not paths and not may_be_new:
        check_there(here, library)
    with _library(library or name_for(paths), here, paths) as assistant:
        try:
            for report in _updated(assistant, paths):
                print_report(report)
        except LibraryWriteError as exc:
            if not assistant.stats().documents:
                raise
            note(f"warning: not brought up to date: {exc}")
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
                note(f"warning: not brought up to date: {exc}")
        return reports


def check_paths(paths: Sequence[Path], *, may_be_wide: bool = False) -> None:
    """Refuse paths that are not there, and folders that nobody means, before anything is made for them.

    Args:
        paths: Folders and files.
        may_be_wide: Whether the root, a home or a folder of the system is meant.

    Raises:
        SourceError: One does not exist or cannot be reached, or is too wide.
    """
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
            hint = f"name a folder inside it; if you mean all of it: openbook add --yes {shlex.quote(str(folder))}"
            raise SourceError(str(path), reason, hint=hint)


def _wide(folder: Path) -> str:
    """Return why a folder holds more than anybody asks about; empty if it does not."""
    home = Path.home()
    if folder == home:
        return "is your home folder"
    if folder == Path(folder.anchor):
        return "is the root of the disk"
    if folder in home.parents:
        return "holds your home folder"
    of_system = next((top for top in _OF_SYSTEM if folder == top or top in folder.parents), None)
    if of_system is not None and (folder == of_system or of_system in _NO_FILES):
        return "is a folder of the system"
    return ""


@contextlib.contextmanager
def existing(library: str) -> Iterator[Library]:
    """Open a library that must be there already.

    Raises:
        UnknownSourceError: It is not there.
        LibraryError: It cannot be used.
    """
    here = settings()
    check_there(here, library)
    with _library(library, here, []) as assistant:
        yield assistant


def check_there(here: Settings, library: str) -> None:
    """Refuse a library that is not there.

    Raises:
        UnknownSourceError: It is not.
    """
    libraries = LibraryCatalog(here)
    if not libraries.holds(library):
        names = ", ".join(libraries.names()) or "none"
        hint = f"there are: {names}; openbook add PATH --library NAME makes one"
        raise UnknownSourceError(f"there is no library {library!r}", hint=hint)


def library_with(source: str) -> str:
    """Name the library that has a source: `default` if it has, else the only one.

    Raises:
        UnknownSourceError: None has it, or several have.
    """
    here = settings()
    holding = []
    for name in LibraryCatalog(here).names():
        with contextlib.suppress(LibraryError), Library.open(name, settings=here) as assistant:
            if any(root.name == source for root in assistant.sources()):
                holding.append(name)
    if DEFAULT_LIBRARY in holding:
        return DEFAULT_LIBRARY
    if len(holding) == 1:
        return holding[0]
    if not holding:
        raise UnknownSourceError(f"no library has a source {source!r}", hint="openbook sources lists them all")
    raise UnknownSourceError(
        f"{len(holding)} libraries have a source {source!r}", hint=f"name one with --library: {', '.join(holding)}"
    )


@contextlib.contextmanager
def _library(name: str, here: Settings, paths: Sequence[Path]) -> Iterator[Library]:
    """Open a library. Where it has to be made again, the hint is the very command."""
    try:
        with Library.open(name, settings=here) as assistant:
            yield assistant
    except LibraryError as exc:
        # A library of several folders that is asked through one of them must not lose the others.
        places = [root.location for root in LibraryCatalog(here).roots(name)] or [
            str(path.expanduser().resolve()) for path in paths
        ]
        if exc.rebuild and places:
            exc.hint = rebuild_hint(exc.rebuild, [shlex.join(places)])
        raise


def add_paths(
    paths: Sequence[Path], library: str | None, *, course: bool, rebuild: bool, may_be_wide: bool = False
) -> list[SyncReport]:
    """Add folders to a library, rebuilding it if asked. A rebuilt one keeps which of them hold courses.

    Raises:
        OpenbookError: A path or the library cannot be used.
    """
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
    if rebuild:
        libraries.remove(name)
    with _library(name, here, paths) as assistant, progress_bar() as progress:
        of_courses = {root.location for root in known if root.kind == "course"}
        for path in paths:  # all of them, before the first takes its time: an interrupt must not lose the rest
            assistant.register(path, course=course or str(path.expanduser().resolve()) in of_courses)
        return [assistant.add(path, progress=progress) for path in paths]


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Show progress on a terminal; nothing where standard error is a pipe or file."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True, markup=False)
    with Bar(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console, transient=True) as bar:
        task = None

        def update(done: int, total: int) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task("indexing", total=total)
            bar.update(task, completed=done, total=total)

        yield update
