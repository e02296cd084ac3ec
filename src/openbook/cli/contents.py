"""Commands for libraries, from `add` to `optimize`; and `formats`, which lists the supported formats."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import options, printing
from openbook.errors import MissingExtraError, OpenbookError, SourceError
from openbook.ingest.remedies import remedy_for
from openbook.text import counted, size_text

if TYPE_CHECKING:
    from openbook.index.protocol import Source
    from openbook.library import Library
    from openbook.watched_library import WatchedLibrary

# Editors save in bursts. Changes within this time are indexed together.
_SETTLE_S = 0.4


def add(
    paths: options.Paths = None,
    *,
    library: Annotated[str | None, options.library_option("Library to add them to. Default: `default`.")] = None,
    course: Annotated[bool, typer.Option("--course", help="The folders contain lessons of courses.")] = False,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Delete the library and index it again; without PATH, from its own sources."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Index large folders, the home folder and system folders without asking.")
    ] = False,
) -> None:
    """Add folders or repositories to a library, or update them.

    The library is `default` unless named. Repositories are fetched over the network; no other command does that.
    """
    from openbook.cli import opening

    options.fetch(paths, opening.settings())
    for report in opening.add_paths(options.as_paths(paths), library, course=course, rebuild=rebuild, may_be_wide=yes):
        if report.wrote:
            printing.print_report(report)
        else:
            skipped = printing.skipped_text(report.skipped)
            printing.note(f"{report.source}: {counted(report.unchanged, 'document')}, nothing changed{skipped}")


def watch(paths: options.Paths = None, *, library: options.LibraryName = None) -> None:
    """Keep a library up to date while its files change.

    Runs until Ctrl-C. Needs `pip install 'openbook[mcp]'`.
    """
    from openbook.cli.opening import opened

    if find_spec("watchfiles") is None:
        raise MissingExtraError("watchfiles is not installed", hint="pip install 'openbook[mcp]'")
    from openbook.watched_library import WatchedLibrary

    with opened(options.as_paths(paths), library) as assistant:
        own = [root.location for root in assistant.sources() if assistant.is_own(root)]
        named = [Path(location) for location in own] if assistant.is_shared else []
        printing.note(f"watching {', '.join(own)} (press Ctrl-C to stop)")
        with contextlib.closing(WatchedLibrary(assistant, named, report=printing.print_report)) as watched:
            _update_forever(watched)


def _update_forever(watched: WatchedLibrary) -> None:
    told: tuple[str, ...] = ()
    while True:
        with watched.fresh():
            is_reading = watched.reading is not None
        if not is_reading:
            for text in set(watched.notes).difference(told):
                printing.note(f"warning: {text}")
            told = watched.notes
        time.sleep(_SETTLE_S)


def sources() -> None:
    """List the libraries and their sources."""
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog
    from openbook.library import Library
    from openbook.sources.folder import is_gone

    here = opening.settings()
    names = LibraryCatalog(here).names()
    for name in names:
        try:
            with Library.open(name, settings=here) as assistant:
                held, roots = assistant.stats(), assistant.sources()
                others = {root.name for root in roots if not assistant.is_own(root)}
        except OpenbookError as exc:
            printing.say(f"{name}: {exc}")
            continue
        updated = printing.age_text(max((root.synced_at for root in roots), default=0.0))
        documents = counted(held.documents, "document")
        printing.say(f"{name}: {documents}, {size_text(held.size_bytes)}, updated {updated}")
        for root in roots:
            state = "  (another machine)" if root.name in others else ""
            if not state and not root.url and is_gone(root.location):
                state = "  (gone)"
            printing.say(f"  {root.name}  {printing.origin_of(root)}{state}")
    if not names:
        printing.note(f"no libraries in {here.storage or here.home}")


def remove(
    name: Annotated[str | None, typer.Argument(help="Name of the source, as `openbook sources` lists it.")] = None,
    *,
    library: Annotated[str | None, options.library_option("Library to remove the source from, or to delete.")] = None,
) -> None:
    """Remove a source from a library, or delete a library.

    Your files stay. `--library` alone deletes that library, and texts that a program added to it. Without `--library`,
    the source is removed from the only library that has it.
    """
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog
    from openbook.libraries.texts import TextStore

    if name is not None:
        with opening.existing(library or opening.library_with(name)) as assistant:
            assistant.remove(name)
        printing.note(f"removed {name}")
        return
    if library is None:
        raise typer.BadParameter("name a source, or a library with --library", param_hint="NAME")
    here = opening.settings()
    opening.check_there(here, library)
    libraries = LibraryCatalog(here)
    aside = libraries.remove(library)
    opening.tell_aside(aside)
    if aside is None:
        kept = TextStore(here.home, library).release(str(libraries.location(library)))
        printing.note(f"deleted the library {library}")
        if kept is not None:
            printing.note(f"the texts that were added to it stay in {kept}: a copy of the library cites them")


def prune(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted.")] = False,
) -> None:
    """Delete libraries whose folders no longer exist.

    A library stays if one of its folders exists, or if its parent folder is gone too: the disk may not be mounted.
    """
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog

    here = opening.settings()
    if here.storage:
        raise typer.BadParameter(
            "shared libraries cannot be pruned: their folders are on other machines", param_hint="OPENBOOK_STORAGE"
        )
    libraries = LibraryCatalog(here)
    gone = [name for name in libraries.names() if _is_orphan(libraries.roots(name))]
    for name in gone:
        places = ", ".join(root.location for root in libraries.roots(name))
        if not dry_run:
            libraries.remove(name)
        printing.say(f"{'would delete' if dry_run else 'deleted'} {name}  {places}")
    if not gone:
        printing.note("nothing to delete: every library has an existing folder")


def _is_orphan(roots: Sequence[Source]) -> bool:
    """Return whether all folders were deleted. False without sources: `doctor` reports damaged ones."""
    places = [Path(root.location) for root in roots]
    return bool(places) and all(not place.exists() and place.parent.is_dir() for place in places)


def status(
    paths: options.Paths = None,
    *,
    library: options.LibraryName = None,
    skipped: Annotated[
        bool, typer.Option("--skipped", help="List every file that is not indexed, with the reason and what to do.")
    ] = False,
) -> None:
    """Show what a library contains and what has changed since its last update."""
    from openbook.cli import opening

    name = library or opening.indexed(options.as_paths(paths))
    with opening.existing(name) as assistant:
        held = assistant.stats()
        printing.say(f"library    {assistant.location}")
        printing.say(f"documents  {held.documents}")
        printing.say(f"chunks     {held.chunks}")
        printing.say(f"on disk    {size_text(held.size_bytes)}")
        if not assistant.is_shared:
            for line in printing.size_advice(held.chunks, name):
                printing.say(f"           {line}")
        for line in _skipped(assistant) if skipped else _states(assistant):
            printing.say(line)


def _skipped(assistant: Library) -> Iterator[str]:
    """Yield each file that is not indexed, by source, reason and path."""
    for name, difference in assistant.pending().items():
        if isinstance(difference, SourceError):
            yield f"source     {name}: {difference}"
            continue
        skipped, of_file = difference.not_indexed(), difference.remedies()
        yield f"source     {name}: {counted(sum(map(len, skipped.values())), 'file')} not indexed"
        for reason, paths in sorted(skipped.items()):
            remedy = "" if all(path in of_file for path in paths) else remedy_for(reason)
            yield f"  {reason}{f': {remedy}' if remedy else ''}"
            for path in sorted(paths):
                own = f": {of_file[path]}" if path in of_file else ""
                yield f"    {printing.skipped_line(reason, path)}{own}"


def _states(assistant: Library) -> Iterator[str]:
    roots = {root.name: root for root in assistant.sources()}
    for name, difference in assistant.pending().items():
        yield f"source     {name}  {printing.origin_of(roots[name])}"
        if isinstance(difference, SourceError):
            yield f"           {difference}"
            continue
        changed = len(difference.todo) + len(difference.gone)
        state = f"{counted(changed, 'file')} to look at" if changed else "up to date"
        yield f"           {state}"
        for reason, skipped in difference.not_indexed().items():
            named = printing.named_examples(reason, skipped)
            yield f"           {len(skipped)} skipped: {reason}{f' ({named})' if named else ''}"
        held = {
            path: record.remarks for path, record in sorted(difference.known.items()) if path not in difference.gone
        }
        for line in printing.remark_lines({path: remarks for path, remarks in held.items() if remarks}):
            yield f"           {line}"


def formats(*, as_json: options.AsJson = False) -> None:
    """List the formats that are read, by what, and what to do about others."""
    from openbook.cli.opening import settings
    from openbook.sources.known_formats import known_formats, unread_formats

    here = settings()
    known, unread = known_formats(here), unread_formats(here)
    if as_json:
        printing.print_json({"formats": list(map(asdict, known)), "unread": list(map(asdict, unread))})
        return
    for kind in dict.fromkeys(one.kind for one in known):
        printing.say(kind, style={"bold": True})
        for one in (one for one in known if one.kind == kind):
            by = "" if one.reader == "openbook" else f"  ({one.reader})"
            printing.say(f"  {one.name}: {' '.join(f'.{suffix}' for suffix in one.suffixes)}{by}")
    printing.say("not read", style={"bold": True})
    for left in unread:
        printing.say(f"  {' '.join(f'.{suffix}' for suffix in left.suffixes)}: {left.remedy}")


_Library = Annotated[
    str,
    typer.Argument(metavar="LIBRARY", help="Its name, as `openbook sources` lists it.", callback=options.no_blank),
]


def migrate(
    library: _Library,
    *,
    to: Annotated[
        str,
        typer.Option(
            metavar="NAME:ADDRESS", help="Engine and address, as in OPENBOOK_STORAGE; `sqlite` for files in the home."
        ),
    ],
) -> None:
    """Copy a library to another engine, such as LanceDB for several machines, or back.

    The library stays as it is. A copy that was interrupted is continued by the same command, and cannot be asked
    before it is complete and has been compared with the library.
    """
    from openbook.cli import opening
    from openbook.embedding.static import load_embedder
    from openbook.libraries.migration import migrate as copy
    from openbook.opening import open_embedder

    here = opening.settings()
    opening.check_there(here, library)
    embedder = open_embedder(here.embedder) if here.embedder else load_embedder()
    with opening.progress_bar("copying") as progress:
        report = copy(library, to, here, embedder=embedder.identity, progress=progress)
    held = f"{counted(report.documents, 'document')} and {counted(report.chunks, 'chunk')}"
    if report.copied:
        printing.note(f"copied {library} to {report.target}: {held}, compared with the original, which stays")
    else:
        printing.note(f"{report.target} has all of {library}: {held}")


def optimize(library: _Library) -> None:
    """Compact a library, so that searches are as fast as right after it was made.

    Adding files does so automatically if it pays. Results stay the same.
    """
    from openbook.cli import opening

    with opening.existing(library) as assistant:
        before = assistant.stats().size_bytes
        assistant.index.optimize(every=True)
        after = assistant.stats().size_bytes
    printing.note(f"optimized {library}: {size_text(before)} before, {size_text(after)} now")
