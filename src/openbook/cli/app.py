"""The app: every command by name, in the order of its help, and errors as exit codes.

Commands import what is heavy inside, so that help is instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

import openbook
from openbook.cli import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    agents,
    checks,
    contents,
    courses,
    entailment,
    printing,
    questions,
    serving,
)
from openbook.errors import (
    AmbiguousCourseError,
    OpenbookError,
    QueryError,
    SettingsError,
    SourceNotFoundError,
    UnknownCourseError,
    UnknownSourceError,
)

app: typer.Typer = typer.Typer(
    name="openbook",
    help="Answers questions about your code, documentation and courses, with citations that were checked.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # help in colour would take half of its time
    pretty_exceptions_enable=False,
)


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code. Errors of ours become one line and a hint."""
    try:
        app(args=list(arguments), prog_name="openbook")
    except SystemExit as exc:
        if isinstance(exc.__context__, BrokenPipeError):
            raise exc.__context__ from None  # typer makes it 1, which says here that nothing was found
        if exc.code == EXIT_INTERRUPTED:
            printing.note("interrupted; what was indexed is kept")
        return exc.code if isinstance(exc.code, int) else EXIT_FAILURE
    except SettingsError as exc:
        printing.complain(str(exc), exc.hint or "unset it to take its default")
        return EXIT_USAGE
    except (QueryError, UnknownSourceError, UnknownCourseError, AmbiguousCourseError) as exc:
        printing.complain(str(exc), exc.hint)
        return EXIT_USAGE
    except SourceNotFoundError as exc:
        printing.complain(str(exc), exc.hint)
        return EXIT_USAGE
    except OpenbookError as exc:
        printing.complain(str(exc), exc.hint)
        return EXIT_FAILURE
    return 0


def _version(wanted: bool) -> None:
    if wanted:
        printing.say(f"openbook {openbook.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that stand before a command."""


app.command()(questions.ask)
app.command()(questions.chat)
app.command()(questions.search)
app.command()(checks.verify)
app.command()(checks.judge)
app.command("eval")(checks.evaluate)
app.command()(serving.serve)
app.add_typer(serving.keys)
app.command()(agents.mcp)
app.command()(agents.install)
app.command()(agents.uninstall)
app.command()(contents.add)
app.command()(contents.sources)
app.command()(courses.courses)
app.command()(contents.remove)
app.command()(contents.prune)
app.command()(contents.status)
app.add_typer(entailment.models)
app.command("plugins")(checks.list_plugins)
app.command()(checks.doctor)
