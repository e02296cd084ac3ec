"""Commands for libraries: `add`, `sources`, `remove`, `prune` and `status`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import options, printing
from openbook.errors import OpenbookError, SourceError

if TYPE_CHECKING:
    from openbook.index.protocol import Source
    from openbook.library import Library


def add(
    paths: options.Paths = None,
    *,
    library: options.LibraryName = None,
    course: Annotated[bool, typer.Option("--course", help="The folders hold lessons of courses.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the library again from nothing; without PATH, from its sources.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Mean it: the home folder, the root or a system folder.")] = False,
) -> None:
    """Add folders or repositories (`owner/repo`, or a URL) to a library, or update them.

    The library is `default` unless named. Repositories are fetched over the network; no other command does that.
    """
    from openbook.cli import fetching, opening

    fetching.fetch(paths, opening.settings())
    for report in opening.add_paths(options.as_paths(paths), library, course=course, rebuild=rebuild, may_be_wide=yes):
        if report.wrote:
            printing.print_report(report)
        else:
            skipped = printing.skipped_text(report.skipped)
            printing.note(f"{report.source}: {report.unchanged} documents, nothing changed{skipped}")


def sources() -> None:
    """List all libraries: their documents, size, age and sources."""
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog
    from openbook.library import Library

    here = opening.settings()
    names = LibraryCatalog(here).names()
    for name in names:
        try:
            with Library.open(name, settings=here) as assistant:
                held, roots = assistant.stats(), assistant.sources()
        except OpenbookError as exc:
            printing.say(f"{name}: {exc}")
            continue
        updated = printing.age_text(max((root.synced_at for root in roots), default=0.0))
        documents = printing.counted(held.documents, "document")
        printing.say(f"{name}: {documents}, {printing.size_text(held.size_bytes)}, updated {updated}")
        for root in roots:
            gone = "" if root.url or Path(root.location).exists() else "  (gone)"
            printing.say(f"  {root.name}  {printing.origin_of(root)}{gone}")
    if not names:
        printing.note(f"no libraries in {here.shared_storage or here.home}")


def remove(
    name: Annotated[
        str | None, typer.Argument(help="Name of the source, as `openbook sources` lists it. Without: the library.")
    ] = None,
    *,
    library: options.LibraryName = None,
) -> None:
    """Take a source out of a library, or delete a library (`--library NAME` alone). Your files stay.

    Without `--library`, the source is taken out of the only library that has it.
    """
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog

    if name is not None:
        with opening.existing(library or opening.library_with(name)) as assistant:
            assistant.remove(name)
        printing.note(f"removed {name}")
        return
    if library is None:
        raise typer.BadParameter("name a source, or a library with --library", param_hint="NAME")
    here = opening.settings()
    opening.check_there(here, library)
    LibraryCatalog(here).remove(library)
    printing.note(f"deleted the library {library}")


def prune(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Name them, and delete nothing.")] = False,
) -> None:
    """Delete the libraries whose folders are all gone.

    A library stays if one of its sources is there, came from a repository, or is on a disk that may come back: the
    folder that its folder was in is gone as well.
    """
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog

    here = opening.settings()
    if here.shared_storage:
        raise typer.BadParameter("other machines have the folders of these libraries", param_hint="OPENBOOK_STORAGE")
    libraries = LibraryCatalog(here)
    gone = [name for name in libraries.names() if _is_orphan(libraries.roots(name))]
    for name in gone:
        places = ", ".join(root.location for root in libraries.roots(name))
        if not dry_run:
            libraries.remove(name)
        printing.say(f"{'would delete' if dry_run else 'deleted'} {name}  {places}")
    if not gone:
        printing.note("nothing to delete: every library has a folder that is there")


def _is_orphan(roots: Sequence[Source]) -> bool:
    """Return whether all folders were deleted. A library that names none may be damaged, which `doctor` says."""
    places = [Path(root.location) for root in roots]
    return bool(places) and all(not place.exists() and place.parent.is_dir() for place in places)


def status(
    paths: options.Paths = None,
    *,
    library: options.LibraryName = None,
    skipped: Annotated[
        bool, typer.Option("--skipped", help="Name every file that is not indexed, why, and what to do.")
    ] = False,
) -> None:
    """Show what a library holds, and what has changed since its last update."""
    from openbook.cli import opening

    with opening.existing(library or opening.indexed(options.as_paths(paths))) as assistant:
        held = assistant.stats()
        printing.say(f"library    {assistant.location}")
        printing.say(f"documents  {held.documents}")
        printing.say(f"chunks     {held.chunks}")
        printing.say(f"on disk    {printing.size_text(held.size_bytes)}")
        for line in _skipped(assistant) if skipped else _states(assistant):
            printing.say(line)


def _skipped(assistant: Library) -> Iterator[str]:
    """Yield each file that is not indexed, by source, reason and path."""
    for name, difference in assistant.pending().items():
        if isinstance(difference, SourceError):
            yield f"source     {name}: {difference}"
            continue
        skipped = difference.not_indexed()
        yield f"source     {name}: {printing.counted(sum(map(len, skipped.values())), 'file')} not indexed"
        for reason, paths in sorted(skipped.items()):
            remedy = printing.remedy_for(reason)
            yield f"  {reason}{f': {remedy}' if remedy else ''}"
            yield from (f"    {printing.one_line(path)}" for path in sorted(paths))


def _states(assistant: Library) -> Iterator[str]:
    roots = {root.name: root for root in assistant.sources()}
    for name, difference in assistant.pending().items():
        yield f"source     {name}  {printing.origin_of(roots[name])}"
        if isinstance(difference, SourceError):
            yield f"           {difference}"
            continue
        changed = len(difference.todo) + len(difference.gone)
        yield f"           {f'{changed} files to look at' if changed else 'up to date'}"
        for reason, skipped in difference.not_indexed().items():
            named = printing.named_examples(reason, skipped)
            yield f"           {len(skipped)} skipped: {reason}{f' ({named})' if named else ''}"
        held = {
            path: record.remarks for path, record in sorted(difference.known.items()) if path not in difference.gone
        }
        for line in printing.remark_lines({path: remarks for path, remarks in held.items() if remarks}):
            yield f"           {line}"
