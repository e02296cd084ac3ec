"""Commands for large libraries: `migrate` and `optimize`."""

from __future__ import annotations

from typing import Annotated

import typer

from openbook.cli import options, printing
from openbook.text import counted

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

    Adding files does so by itself where it pays. Results stay the same.
    """
    from openbook.cli import opening

    with opening.existing(library) as assistant:
        before = assistant.stats().size_bytes
        assistant.index.optimize(every=True)
        after = assistant.stats().size_bytes
    printing.note(f"optimized {library}: {printing.size_text(before)} before, {printing.size_text(after)} now")
