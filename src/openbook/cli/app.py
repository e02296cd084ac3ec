"""The app: all commands in the order of the help, and exit codes of errors.

Commands import heavy modules inside, so that help is instant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import openbook
from openbook.cli import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    INTERRUPTED,
    agents,
    checks,
    contents,
    courses,
    entailment,
    keys,
    printing,
    questions,
    serving,
    studying,
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
from openbook.settings import read_color


class _Commands(TyperGroup):
    """The commands. For an unknown option, only options with a similar name are proposed.

    The parser compares them with their dashes, which makes `--model` similar to `--nope`.
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as exc:
            if possible := getattr(exc, "possibilities", None):
                names = {option.lstrip("-"): option for option in possible}
                similar = get_close_matches(str(getattr(exc, "option_name", "")).lstrip("-"), names)
                exc.possibilities = [names[name] for name in similar]  # type: ignore[attr-defined]
            raise


app: typer.Typer = typer.Typer(
    name="openbook",
    cls=_Commands,
    help="Answer questions about your code, documentation and courses, with checked citations.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # coloured help takes twice as long
    pretty_exceptions_enable=False,
)

# Errors that other arguments can fix.
_USAGE_ERRORS = (QueryError, SourceNotFoundError, UnknownSourceError, UnknownCourseError, AmbiguousCourseError)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Our errors are printed as one line and a hint."""
    try:
        app(args=list(arguments), prog_name="openbook")
    except SystemExit as exc:
        if isinstance(exc.__context__, BrokenPipeError):
            raise exc.__context__ from None  # typer returns 1, which here means that nothing was found
        if exc.code == EXIT_INTERRUPTED:
            printing.note(INTERRUPTED)
        return exc.code if isinstance(exc.code, int) else EXIT_FAILURE
    except SettingsError as exc:
        printing.complain(str(exc), exc.hint or "unset it to use the default")
        return EXIT_USAGE
    except OpenbookError as exc:
        printing.complain(str(exc), exc.hint)
        return EXIT_USAGE if isinstance(exc, _USAGE_ERRORS) else EXIT_FAILURE
    return 0


def _version(wanted: bool) -> None:
    if wanted:
        printing.say(f"openbook {openbook.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that precede a command."""
    context.color = read_color()


def _add(command: Callable[..., None], name: str | None = None, *, examples: str = "") -> None:
    """Add a command. `examples` are lines at the end of its help."""
    # Passed explicitly, texts in the list of commands are wrapped instead of truncated.
    brief = (command.__doc__ or "").partition("\n")[0].rstrip(".")
    lines = "".join(f"\n  openbook {line.strip()}" for line in examples.strip().splitlines())
    app.command(name, short_help=brief, epilog=f"\b\nExamples:{lines}" if lines else None)(command)


_add(
    questions.ask,
    examples="""
    ask "How is a refund booked?" src docs
    ask how are sessions renewed
    ask "What changed in 2.0?" -k docs -m anthropic
    ask "How long does the dough rest?" -l school -c bread --lesson 2
    """,
)
_add(questions.chat, examples="chat src docs\nchat --model groq:openai/gpt-oss-120b --agent")
_add(
    questions.search,
    examples="""
    search ConnectionPool
    search "retry after a timeout" src --glob "*.go" -n 5
    search "connection pool" --files
    """,
)
_add(questions.references, examples="references render_template\nreferences Client.get src --use call")
_add(checks.verify, examples="verify README.md docs/*.md\nverify --fix docs/*.md")
_add(checks.judge, examples="judge claims.jsonl --verifier anthropic --json")
_add(
    checks.evaluate,
    "eval",
    examples="eval questions.jsonl docs --fail-under confirmed=.9\neval --draft src docs --count 20",
)
_add(serving.serve, examples="serve docs\nserve --library school --host 0.0.0.0 --port 8000")
app.add_typer(keys.keys)
_add(agents.mcp, examples="mcp src docs\nmcp --http --port 8322 docs")
_add(agents.install, examples="install claude src docs\ninstall cursor --dry-run")
_add(agents.uninstall, examples="uninstall claude")
_add(
    contents.add,
    examples="""
    add src docs --library work
    add pallets/click
    add --course ~/talks --library school
    add --rebuild --library work
    """,
)
_add(contents.watch, examples="watch\nwatch --library work")
_add(contents.sources)
_add(courses.courses, examples="courses --library school\ncourses bread --library school")
_add(
    studying.study,
    examples="""
    study notes.pdf
    study -l school -c bread --lesson 2
    study -l school -c bread --format anki -o bread.txt
    """,
)
_add(contents.remove, examples="remove docs --library work\nremove --library work")
_add(contents.prune, examples="prune --dry-run")
_add(contents.status, examples="status\nstatus --skipped src")
_add(contents.migrate, examples="migrate team --to lance:s3://notes/openbook\nmigrate team --to sqlite")
_add(contents.optimize, examples="optimize work")
app.add_typer(entailment.models)
_add(contents.formats)
_add(checks.list_plugins, "plugins")
_add(checks.doctor, examples="doctor\ndoctor --model anthropic")
