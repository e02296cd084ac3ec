"""Commands for what a library holds: `add`, `sources`, `remove` and `status`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import options, printing
from openbook.errors import OpenbookError, SourceError, UnknownSourceError

if TYPE_CHECKING:
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
    """List all libraries and what is in them."""
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog
    from openbook.library import Library

    here = opening.settings()
    names = LibraryCatalog(here).names()
    for name in names:
        try:
            with Library.open(name, settings=here) as assistant:
                held = assistant.stats()
                printing.say(f"{name}: {held.documents} documents, {held.chunks} chunks")
                for root in assistant.sources():
                    printing.say(f"  {root.name}  {printing.origin_of(root)}")
        except OpenbookError as exc:
            printing.say(f"{name}: {exc}")
    if not names:
        printing.note(f"no libraries in {here.storage or here.home}")


def remove(
    name: Annotated[str, typer.Argument(help="Name of the source, as `openbook sources` lists it.")],
    *,
    library: options.LibraryName = None,
) -> None:
    """Take a source out of a library: the one named, else the only one that has it. Its files stay."""
    from openbook.cli.opening import existing, library_with

    with existing(library or library_with(name)) as assistant:
        assistant.remove(name)
    printing.note(f"removed {name}")


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
    from openbook.libraries.catalog import LibraryCatalog, name_for

    wanted = options.as_paths(paths)
    opening.check_paths(wanted)
    name = library or name_for(wanted or [Path()])
    if not library and not LibraryCatalog(opening.settings()).holds(name):
        places = " ".join(map(str, wanted or [Path()]))
        raise UnknownSourceError(f"nothing of {places!r} is indexed yet", hint="ask or search it, and it is")
    with opening.existing(name) as assistant:
        held = assistant.stats()
        printing.say(f"library    {assistant.location}")
        printing.say(f"documents  {held.documents}")
        printing.say(f"chunks     {held.chunks}")
        printing.say(f"on disk    {held.size_bytes / 1_000_000:.1f} MB")
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
