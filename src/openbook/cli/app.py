"""The commands. Heavy imports happen inside them, so that help is instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_NOTHING, EXIT_USAGE, installed_version, options, printing
from openbook.errors import OpenbookError, QueryError, SettingsError, SourceError, UnknownSourceError
from openbook.types import VIEWS, Filter

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
    paths: options.Paths = None,
    *,
    model: options.ModelName = "",
    agent: options.WithTools = False,
    max_rounds: options.MaxRounds = 8,
    max_usd: options.MaxUsd = None,
    policy: options.PolicyName = "flag",
    library: options.Library = None,
    limit: options.Limit = 10,
    kind: options.Kinds = None,
    glob: options.Globs = None,
    source: options.Sources = None,
    as_json: options.AsJson = False,
    show: options.Show = False,
) -> None:
    """Answer a question from folders, with citations that were checked."""
    from openbook.cli.asking import follow, note_cost, writing_of
    from openbook.cli.opening import opened

    where = options.filter_of(kind, glob, source)
    options.check_question(question)
    writing = writing_of(model, agent=agent, max_rounds=max_rounds, max_usd=max_usd, policy=policy)
    with opened(options.as_paths(paths), library) as assistant:
        options.check_filled(assistant, where)
        answer = follow(assistant.query_stream(question, limit=limit, where=where, writing=writing))
        if as_json:
            printing.print_json(answer.to_dict())
        else:
            printing.print_answer(answer, printing.Places(assistant.sources()), show=show)
    note_cost(answer)
    if answer.refused:
        printing.advise(f"no answer: {answer.reason}", "use words that stand in the sources, or name other folders")
        raise typer.Exit(EXIT_NOTHING)


@app.command()
def chat(
    paths: options.Paths = None,
    *,
    model: options.ModelName = "",
    agent: options.WithTools = False,
    max_rounds: options.MaxRounds = 8,
    max_usd: options.MaxUsd = None,
    policy: options.PolicyName = "flag",
    library: options.Library = None,
    limit: options.Limit = 10,
    kind: options.Kinds = None,
    glob: options.Globs = None,
    source: options.Sources = None,
) -> None:
    """Answer questions one after the other, each in the light of those before it."""
    from openbook.cli.asking import writing_of
    from openbook.cli.chatting import Chat
    from openbook.cli.opening import opened

    where = options.filter_of(kind, glob, source)
    writing = writing_of(model, agent=agent, max_rounds=max_rounds, max_usd=max_usd, policy=policy)
    with opened(options.as_paths(paths), library) as assistant:
        options.check_filled(assistant, where)
        code = Chat(assistant, writing, limit, where).run()
    if code:
        raise typer.Exit(code)


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
    library: options.Library = None,
    limit: options.Limit = 10,
    kind: options.Kinds = None,
    glob: options.Globs = None,
    source: options.Sources = None,
    view: Annotated[
        str, typer.Option(metavar="VIEW", help="`files`: each once; `passages`: several of one file; or `auto`.")
    ] = "auto",
    explain: Annotated[bool, typer.Option("--explain", help="Say what moved each result, and by how much.")] = False,
    as_json: options.AsJson = False,
    show: options.Show = False,
) -> None:
    """List the chunks that fit a query best."""
    from openbook.cli.opening import opened
    from openbook.cli.reading import read_queries

    where = options.filter_of(kind, glob, source)
    chosen_view = options.one_of(VIEWS, view, "--view")
    words = words or []
    if queries is None and not words:
        raise typer.BadParameter("say what to look for, or give --queries FILE.jsonl", param_hint="QUERY")
    asked = list(read_queries(queries)) if queries else words[:1]
    paths = options.as_paths(words if queries else words[1:])
    if not queries:
        options.check_question(asked[0])
    found = 0
    with opened(paths, library) as assistant:
        options.check_filled(assistant, where)
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
def verify(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Text, code, or answers of `ask --json`.")],
    *,
    root: Annotated[
        str, typer.Option(metavar="DIR", callback=options.no_blank, help="What paths are relative to.")
    ] = ".",
    fix: Annotated[bool, typer.Option("--fix", help="Rewrite the citations that moved, and nothing else.")] = False,
    as_json: options.AsJson = False,
    check_urls: Annotated[
        str, typer.Option(metavar="no", help="Whether to fetch URLs. Only `no`: there is no network here.")
    ] = "no",
) -> None:
    """Check that citations such as `path:12-18` name what they named when they were written."""
    from openbook.cli.verifying import verify

    options.one_of(("no",), check_urls, "--check-urls")
    code = verify([str(path) for path in options.as_paths(files)], Path(root), fix=fix, as_json=as_json)
    if code:
        raise typer.Exit(code)


@app.command("eval")
def evaluate(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTIONS.jsonl [PATH]...", help="The question set, then folders or files."),
    ] = None,
    *,
    model: Annotated[str, typer.Option(metavar="M", help=f"What answers, {options.MODELS}.")] = "extractive",
    library: options.Library = None,
    limit: options.Limit = 10,
    fail_under: Annotated[
        list[str] | None, typer.Option(metavar="METRIC=VALUE", help="Exit with 1 when a metric is worse than that.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="RUN.json", readable=False, help="Compare with a run that --json printed.")
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="Propose questions on folders, for you to edit.")] = False,
    count: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Most questions to propose.")] = 20,
    as_json: options.AsJson = False,
) -> None:
    """Measure retrieval, citations and refusals on a question set of yours."""
    from openbook.cli.evaluating import Evaluation, print_draft
    from openbook.cli.opening import opened

    words = words or []
    if not words and not draft:
        raise typer.BadParameter("name a question set; --draft proposes one", param_hint="QUESTIONS.jsonl")
    evaluation = None if draft else Evaluation(Path(words[0]), model, fail_under or (), against)
    with opened(options.as_paths(words if draft else words[1:]), library) as assistant:
        options.check_filled(assistant, Filter())
        passed = evaluation(assistant, limit=limit, as_json=as_json) if evaluation else print_draft(assistant, count)
    if not passed:
        raise typer.Exit(EXIT_NOTHING)


@app.command()
def add(
    paths: options.Paths = None,
    *,
    library: options.Library = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the library again from nothing; without PATH, from its sources.")
    ] = False,
) -> None:
    """Put folders into a library (`default` unless named), or bring them up to date."""
    from openbook.cli import opening

    for report in opening.add(options.as_paths(paths), library, rebuild=rebuild):
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
    library: options.Library = None,
) -> None:
    """Take a source out of a library: the one named, else the only one that has it. Its files stay."""
    from openbook.cli.opening import existing, library_with

    with existing(library or library_with(name)) as assistant:
        assistant.remove(name)
    printing.note(f"removed {name}")


@app.command()
def status(paths: options.Paths = None, *, library: options.Library = None) -> None:
    """Say what a library holds, and what has changed since it was brought up to date."""
    from openbook.cli import opening
    from openbook.libraries import name_for

    opening.check_exist(options.as_paths(paths))
    with opening.existing(library or name_for(options.as_paths(paths) or [Path()])) as assistant:
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
def doctor(
    model: Annotated[str, typer.Option("--model", metavar="M", help="Make one tiny call to this model.")] = "",
) -> None:
    """Check the installation, and print the settings in force and where each comes from."""
    from openbook.cli.diagnosis import diagnosis

    healthy = True
    for finding in diagnosis(model):
        printing.say(f"{'ok  ' if finding.healthy else 'FAIL'}  {finding.text}")
        healthy = healthy and finding.healthy
    if not healthy:
        raise typer.Exit(EXIT_FAILURE)
