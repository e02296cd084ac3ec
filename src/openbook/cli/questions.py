"""Question commands: `ask`, `chat` and `search`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import EXIT_NOTHING, options, printing
from openbook.text import counted
from openbook.types import USES, VIEWS, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openbook.answers import GenerationResult
    from openbook.library import Library
    from openbook.types import RetrievalResult

Queries = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.jsonl",
        readable=False,
        help='Read one {"query": ...} per line and print one line of JSON for each.',
    ),
]
QuestionAndPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="QUESTION [PATH]...",
        help="The question, then folders or files. Default: the current folder. If the question is not in quotation"
        " marks, its last words that exist here are paths.",
    ),
]
QueryAndPaths = Annotated[
    list[str] | None,
    typer.Argument(metavar="QUERY [PATH]...", help="The query, then folders or files. Default: the current folder."),
]
ViewName = Annotated[
    str,
    typer.Option(
        metavar="VIEW", help="`files` lists each file once, `passages` may list several of one file; or `auto`."
    ),
]


def ask(
    words: QuestionAndPaths,
    *,
    model: options.ModelName = "",
    agent: options.WithTools = False,
    max_rounds: options.MaxRounds = 8,
    max_usd: options.MaxUsd = None,
    temperature: options.Temperature = None,
    seed: options.Seed = None,
    image: options.Images = None,
    policy: options.PolicyName = "flag",
    verifier: options.VerifierName = "",
    reranker: options.RerankerName = "",
    library: options.LibraryName = None,
    limit: options.AnswerLimit = None,
    kind: options.Kinds = None,
    glob: options.Globs = None,
    source: options.Sources = None,
    course: options.Courses = None,
    lesson: options.LessonLabel = None,
    as_json: options.AsJson = False,
    show: options.Show = False,
) -> None:
    """Answer a question from your files, with checked citations."""
    from openbook.cli.asking import build_answer_options, follow, note_cost
    from openbook.cli.opening import asked

    where = options.filter_of(kind, glob, source, lesson)
    question, paths = options.question_and_paths(words)
    options.check_question(question, words, has_image=bool(image))
    answer_options = build_answer_options(
        model,
        agent=agent,
        limits=(max_rounds, max_usd),
        sampling=(temperature, seed),
        images=image or (),
        policy=policy,
        verifier=verifier,
    )
    with asked(options.as_paths(paths), library, where, reranker=reranker) as (assistant, narrowed):
        where = options.checked(assistant, narrowed, course, may_be_empty=as_json)
        answer = follow(assistant.query_stream(question, limit=limit, where=where, options=answer_options))
        _print(answer, assistant, as_json=as_json, show=show)
    note_cost(answer)
    _exit_unless_answered(answer)


def chat(
    paths: options.Paths = None,
    *,
    model: options.ModelName = "",
    agent: options.WithTools = False,
    max_rounds: options.MaxRounds = 8,
    max_usd: options.MaxUsd = None,
    temperature: options.Temperature = None,
    seed: options.Seed = None,
    policy: options.PolicyName = "flag",
    verifier: options.VerifierName = "",
    reranker: options.RerankerName = "",
    library: options.LibraryName = None,
    limit: options.AnswerLimit = None,
    kind: options.Kinds = None,
    glob: options.Globs = None,
    source: options.Sources = None,
    course: options.Courses = None,
    lesson: options.LessonLabel = None,
) -> None:
    """Answer questions in a conversation."""
    from openbook.cli.asking import build_answer_options
    from openbook.cli.chatting import ChatSession
    from openbook.cli.opening import asked

    where = options.filter_of(kind, glob, source, lesson)
    answer_options = build_answer_options(
        model,
        agent=agent,
        limits=(max_rounds, max_usd),
        sampling=(temperature, seed),
        policy=policy,
        verifier=verifier,
    )
    with asked(options.as_paths(paths), library, where, reranker=reranker) as (assistant, narrowed):
        where = options.checked(assistant, narrowed, course)
        code = ChatSession(assistant, answer_options, limit, where).run()
    if code:
        raise typer.Exit(code)


def search(
    words: QueryAndPaths = None,
    *,
    queries: Queries = None,
    library: options.LibraryName = None,
    limit: options.Limit = 10,
    kind: options.Kinds = None,
    glob: options.Globs = None,
    source: options.Sources = None,
    course: options.Courses = None,
    lesson: options.LessonLabel = None,
    files: Annotated[bool, typer.Option("--files", help="Print only the paths of the files, best first.")] = False,
    view: ViewName = "auto",
    reranker: options.RerankerName = "",
    explain: Annotated[bool, typer.Option("--explain", help="Show what moved each result, and by how much.")] = False,
    as_json: options.AsJson = False,
    show: options.Show = False,
) -> None:
    """Search files and passages.

    A query in double quotation marks, as '"if err != nil"', finds exactly this text, in any case.
    """
    from openbook.cli.opening import asked

    where = options.filter_of(kind, glob, source, lesson)
    chosen_view = options.one_of(VIEWS, view, "--view")
    questions, named = _queries_and_paths(words or [], queries)
    found, note = 0, ""
    with asked(options.as_paths(named), library, where, reranker=reranker) as (assistant, narrowed):
        where = options.checked(assistant, narrowed, course, may_be_empty=as_json)
        places = printing.LocationFormatter(assistant.sources())
        for question in questions:
            results = assistant.search(question, limit=limit, where=where, view="files" if files else chosen_view)
            found += len(results)
            note = _note_on(question, results, assistant)
            if note:
                printing.note(note)
            if as_json or (queries and not files):
                shown = [result.to_dict(explain=explain) for result in results]
                printing.print_json({"query": question, "results": shown, **({"note": note} if note else {})})
            elif files:
                printing.print_files(results, places)
            else:
                printing.print_results(results, places, show=show, explain=explain)
    if not found:
        others = "search without the quotation marks" if note else "try other words"
        printing.advise("nothing found", f"{others}, fewer filters, or other folders")
        raise typer.Exit(EXIT_NOTHING)


def _note_on(question: str, results: Sequence[RetrievalResult], assistant: Library) -> str:
    from openbook.answering.missing import language_note, missing_note

    index, embedder = assistant.index, assistant.retriever.embedder
    notes = (missing_note(question, results, index), language_note(question, results, index, embedder))
    return " ".join(filter(None, notes))


def _queries_and_paths(words: Sequence[str], queries: Path | None) -> tuple[list[str], list[str]]:
    """Return the queries of a file, or the one in some arguments, and the paths."""
    if queries is not None:
        return list(options.read_queries(queries)), list(words)
    if not words:
        raise typer.BadParameter("give a query, or --queries FILE.jsonl", param_hint="QUERY")
    question, named = options.question_and_paths(words)
    options.check_question(question, words)
    return [question], named


def _print(answer: GenerationResult, assistant: Library, *, as_json: bool, show: bool) -> None:
    from openbook.cli.answers import print_answer

    if as_json:
        printing.print_json(answer.to_dict())
    else:
        print_answer(answer, printing.LocationFormatter(assistant.sources()), show=show)


def references(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As written in code: `Client` or `Client.get`.")],
    paths: options.Paths = None,
    *,
    library: options.LibraryName = None,
    use: Annotated[str, typer.Option(metavar="USE", help="Only this use: definition, call, import or mention.")] = "",
    glob: options.Globs = None,
    source: options.Sources = None,
    as_json: options.AsJson = False,
) -> None:
    """List every line that defines, calls, imports or mentions a name.

    The syntax tree decides what a line does with the name. Receivers are not resolved: calls of `Client.get` are
    those of every `get`.
    """
    from openbook.cli.opening import asked
    from openbook.index.protocol import EVERYTHING
    from openbook.lookup.references import uses_text
    from openbook.questions.names import is_pattern

    if not name.strip():
        raise typer.BadParameter("the name is empty; is a shell variable unset?", param_hint="NAME")
    if is_pattern(name):
        raise typer.BadParameter("that is a pattern, and names are found whole; use grep", param_hint="NAME")
    where = options.filter_of(None, glob, source, None)
    wanted = (options.one_of(USES, use, "--use"),) if use else USES
    with asked(options.as_paths(paths), library, where) as (assistant, narrowed):
        found = assistant.references(name, where=narrowed).of_use(wanted)
        if not found.places and not found.others and narrowed != EVERYTHING:
            found = found.with_elsewhere(assistant.references(name))
        places = printing.LocationFormatter(assistant.sources())
    shown = found.places
    if as_json:
        printing.print_json({"name": found.name, "references": [asdict(place) for place in shown]})
    for place in [] if as_json else shown:
        within = f" in {place.within}" if place.within else ""
        link = places.link(place.source, Span(place.path, 0, 0, place.line, place.line))
        printing.say(printing.one_line(f"{link}: {place.use}{within}: {place.text}"))
    if found.unread:
        printing.advise(f"{counted(found.unread, 'document')} left unread", "name a folder, or use --glob")
    if not shown:
        if found.others:
            missing, hint = f"{' or '.join(wanted)} of", f"leave out --use for {uses_text(found.others)}"
        elif found.elsewhere:
            missing = "reference to"
            hint = f"elsewhere: {uses_text(found.elsewhere)}; name other folders, or leave out --glob and --source"
        else:
            missing, hint = "reference to", "check its spelling and case"
        printing.advise(f"no {missing} {name!r} was found", hint)
        raise typer.Exit(EXIT_NOTHING)


# What to do about the citations of an answer that can not be relied on.
_HINTS = {
    "conflict": "read the cited places",
    "stale": "update the library, and remove sources that are gone",
    "unknown": "ask again: the answer cites what it was not shown",
}


def _exit_unless_answered(answer: GenerationResult) -> None:
    """Exit with an error and a hint if there is no answer, or none that can be relied on."""
    from openbook.answers import RefusalReason

    if answer.refused:
        printing.note(f"no answer: {answer.reason}")  # the answer contains the hint
        # Another word for the same may be in the sources.
        is_unasked = answer.reason in (RefusalReason.NOTHING_FOUND, RefusalReason.NOTHING_RELEVANT)
        if is_unasked and answer.model != "extractive":
            printing.note("hint: the model was not asked to answer; with --agent, it searches in its own words")
        raise typer.Exit(EXIT_NOTHING)
    if answer.citations and not answer.has_citations:
        verdicts = {citation.verdict for citation in answer.citations}
        hints = [hint for verdict, hint in _HINTS.items() if verdict in verdicts]
        printing.advise("all of its citations are in conflict, missing or changed", ", or ".join(hints))
        raise typer.Exit(EXIT_NOTHING)
