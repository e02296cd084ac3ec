"""The commands. Heavy imports happen inside them, so that help is instant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from openbook.cli import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_NOTHING, EXIT_USAGE, installed_version, printing
from openbook.errors import OpenbookError, QueryError, SettingsError, SourceError, UnknownSourceError
from openbook.types import KINDS, VIEWS, Filter, Kind

if TYPE_CHECKING:
    from openbook.assistant import Assistant

app = typer.Typer(
    name="openbook",
    help="Answers questions about your code, documentation and courses, with citations that were checked.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # help in colour would take half of its time
    pretty_exceptions_enable=False,
)

# `readable=False`: whether a path can be read is told in our own words, by what reads it.


def _no_blank(value: str | None) -> str | None:
    """Refuse what an unset variable of the shell leaves behind: `--library "$NAME"`."""
    if value == "":
        raise typer.BadParameter("it is empty; is a variable not set?")
    return value


Paths = Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Folders or files. Default: here.")]
Library = Annotated[
    str | None,
    typer.Option(metavar="NAME", callback=_no_blank, help="Library to use, instead of one of the folder's own."),
]
T = TypeVar("T")
Limit = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Most results.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", metavar="K", help=f"Only these: {', '.join(KINDS)}.")]
Globs = Annotated[
    list[str] | None, typer.Option("--glob", metavar="G", help="Only paths like this, as in .gitignore: '*.py'.")
]
Sources = Annotated[list[str] | None, typer.Option("--source", metavar="NAME", help="Only from this source.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]
Show = Annotated[bool, typer.Option("--show", help="Print the chunks in full.")]


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
    except (QueryError, UnknownSourceError) as exc:
        printing.complain(str(exc), exc.hint)
        return EXIT_USAGE
    except SourceError as exc:
        printing.complain(str(exc), exc.hint)
        return EXIT_USAGE if exc.reason == "does not exist" else EXIT_FAILURE
    except OpenbookError as exc:
        printing.complain(str(exc), exc.hint)
        return EXIT_FAILURE
    return 0


def _version(wanted: bool) -> None:
    if wanted:
        printing.say(f"openbook {installed_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that stand before a command."""


@app.command()
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in quotes.")],
    paths: Paths = None,
    *,
    library: Library = None,
    limit: Limit = 10,
    kind: Kinds = None,
    glob: Globs = None,
    source: Sources = None,
    as_json: AsJson = False,
    show: Show = False,
) -> None:
    """Answer a question from folders, with citations."""
    from openbook.cli.opening import opened

    where = _filter(kind, glob, source)
    _check_question(question)
    with opened(_as_paths(paths), library) as assistant:
        _check_filled(assistant, where)
        answer = assistant.query(question, limit=limit, where=where)
        if as_json:
            printing.print_json(answer.to_dict())
        else:
            printing.print_answer(answer, printing.Places(assistant.sources()), show=show)
    if answer.refused:
        printing.advise(f"no answer: {answer.reason}", "use words that stand in the sources, or name other folders")
        raise typer.Exit(EXIT_NOTHING)


@app.command()
def search(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY [PATH]...", help="What to look for, then folders or files.")
    ] = None,
    *,
    queries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl", readable=False, help='Read {"query": ...} a line, print one result line each.'
        ),
    ] = None,
    library: Library = None,
    limit: Limit = 10,
    kind: Kinds = None,
    glob: Globs = None,
    source: Sources = None,
    view: Annotated[
        str, typer.Option(metavar="VIEW", help="`files`: each once; `passages`: several of one file; or `auto`.")
    ] = "auto",
    explain: Annotated[bool, typer.Option("--explain", help="Say what moved each result, and by how much.")] = False,
    as_json: AsJson = False,
    show: Show = False,
) -> None:
    """List the chunks that fit a query best."""
    from openbook.cli.opening import opened

    where = _filter(kind, glob, source)
    chosen_view = _one_of(VIEWS, view, "--view")
    words = words or []
    if queries is None and not words:
        raise typer.BadParameter("say what to look for, or give --queries FILE.jsonl", param_hint="QUERY")
    asked = list(_read_queries(queries)) if queries else words[:1]
    paths = _as_paths(words if queries else words[1:])
    if not queries:
        _check_question(asked[0])
    found = 0
    with opened(paths, library) as assistant:
        _check_filled(assistant, where)
        for question in asked:
            results = assistant.search(question, limit=limit, where=where, view=chosen_view)
            found += len(results)
            if as_json or queries:
                found_dicts = [result.to_dict(explain=explain) for result in results]
                printing.print_json({"query": question, "results": found_dicts})
            else:
                printing.print_results(results, printing.Places(assistant.sources()), show=show, explain=explain)
    if not found:
        printing.advise("nothing found", "try other words, fewer filters, or other folders")
        raise typer.Exit(EXIT_NOTHING)


@app.command()
def add(
    paths: Paths = None,
    *,
    library: Library = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the library again from nothing; without PATH, from its sources.")
    ] = False,
) -> None:
    """Put folders into a library (`default` unless named), or bring them up to date."""
    from openbook.cli import opening

    for report in opening.add(_as_paths(paths), library, rebuild=rebuild):
        if report.wrote:
            printing.print_report(report)
        else:
            skipped = printing.skipped_text(report.skipped)
            printing.note(f"{report.source}: {report.unchanged} documents, nothing changed{skipped}")


@app.command()
def sources() -> None:
    """List all libraries and what is in them."""
    from openbook.assistant import Assistant
    from openbook.cli import opening
    from openbook.libraries import library_names

    here = opening.settings()
    names = library_names(here.home)
    for name in names:
        try:
            with Assistant.open(name, settings=here) as assistant:
                held = assistant.stats()
                printing.say(f"{name}: {held.documents} documents, {held.chunks} chunks")
                for root in assistant.sources():
                    printing.say(f"  {root.name}  {root.location}")
        except OpenbookError as exc:
            printing.say(f"{name}: {exc}")
    if not names:
        printing.note(f"no libraries in {here.home}")


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="Name of the source, as `openbook sources` lists it.")],
    *,
    library: Library = None,
) -> None:
    """Take a source out of a library: the one named, else the only one that has it. Its files stay."""
    from openbook.cli.opening import existing, library_with

    with existing(library or library_with(name)) as assistant:
        assistant.remove(name)
    printing.note(f"removed {name}")


@app.command()
def status(paths: Paths = None, *, library: Library = None) -> None:
    """Say what a library holds, and what has changed since it was brought up to date."""
    from openbook.cli import opening
    from openbook.libraries import name_for

    opening.check_exist(_as_paths(paths))
    with opening.existing(library or name_for(_as_paths(paths) or [Path()])) as assistant:
        held = assistant.stats()
        printing.say(f"library    {assistant.path}")
        printing.say(f"documents  {held.documents}")
        printing.say(f"chunks     {held.chunks}")
        printing.say(f"on disk    {held.size_bytes / 1_000_000:.1f} MB")
        for line in _states(assistant):
            printing.say(line)


def _states(assistant: Assistant) -> Iterator[str]:
    roots = {root.name: root for root in assistant.sources()}
    for name, difference in assistant.pending().items():
        yield f"source     {name}  {roots[name].location}"
        if isinstance(difference, SourceError):
            yield f"           {difference}"
            continue
        changed = len(difference.todo) + len(difference.gone)
        yield f"           {f'{changed} files to look at' if changed else 'up to date'}"
        for reason, count in difference.not_indexed().items():
            yield f"           {count} skipped: {reason}"


@app.command()
def doctor() -> None:
    """Check the installation, and print the settings in force and where each comes from."""
    from openbook.cli.diagnosis import diagnosis

    healthy = True
    for finding in diagnosis():
        printing.say(f"{'ok  ' if finding.healthy else 'FAIL'}  {finding.text}")
        healthy = healthy and finding.healthy
    if not healthy:
        raise typer.Exit(EXIT_FAILURE)


def _filter(kinds: Sequence[str] | None, globs: Sequence[str] | None, sources: Sequence[str] | None) -> Filter:
    wanted: frozenset[Kind] = frozenset(_one_of(KINDS, kind, "--kind") for kind in kinds or ())
    return Filter(wanted, tuple(globs or ()), frozenset(sources or ()))


def _one_of(known: Sequence[T], word: str, option: str) -> T:
    """Give the one that `word` names."""
    for each in known:
        if each == word:
            return each
    raise typer.BadParameter(f"{word!r} is none of {', '.join(map(str, known))}", param_hint=option)


def _check_question(question: str) -> None:
    """Refuse a question before a folder is indexed for it."""
    from openbook.retrieval.names import read_query

    read_query(question)


def _as_paths(words: Sequence[str] | None) -> list[Path]:
    """Take words for paths. An empty one is an unset variable of the shell, not the working folder."""
    if words and "" in words:
        raise typer.BadParameter("it is empty; is a variable not set?", param_hint="PATH")
    return [Path(word) for word in words or ()]


def _check_filled(assistant: Assistant, where: Filter) -> None:
    names = {root.name for root in assistant.sources()}
    for name in sorted(where.sources - names):
        raise UnknownSourceError(f"the library has no source {name!r}", hint=f"it has: {', '.join(sorted(names))}")
    if not assistant.stats().documents:
        places = ", ".join(root.location for root in assistant.sources()) or "the library"
        skipped = printing.skipped_text(
            {
                reason: ("",) * count
                for difference in assistant.pending().values()
                if not isinstance(difference, SourceError)
                for reason, count in difference.not_indexed().items()
            }
        )
        printing.advise(
            f"there is nothing to read in {places}{skipped}",
            "give a folder that holds text, or look at its ignore rules",
        )
        raise typer.Exit(EXIT_NOTHING)


def _read_queries(file: Path) -> Iterator[str]:
    """Read one question a line.

    Raises:
        BadParameter: The file cannot be read, or a line is not of the form {"query": "..."} or
            cannot be asked.
    """
    try:
        # Not `splitlines`: JSON may hold other line ends than line feeds inside its texts.
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise typer.BadParameter(f"cannot read {str(file)!r}: {exc}", param_hint="--queries") from exc
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{str(file)!r}, line {number}"
        try:
            question = json.loads(line)["query"]
        except (ValueError, TypeError, KeyError, RecursionError) as exc:
            raise typer.BadParameter(f'{place}: not of the form {{"query": "..."}}', param_hint="--queries") from exc
        if not isinstance(question, str):
            raise typer.BadParameter(f"{place}: the query is no text", param_hint="--queries")
        try:
            _check_question(question)
        except QueryError as exc:
            raise typer.BadParameter(f"{place}: {exc}", param_hint="--queries") from exc
        yield question
