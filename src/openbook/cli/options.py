"""Shared options of commands, checks of arguments, and files given as arguments."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from openbook.answers import POLICIES
from openbook.cli import EXIT_NOTHING, printing
from openbook.errors import QueryError, SourceError
from openbook.settings import Settings
from openbook.types import KINDS, Filter, Kind

if TYPE_CHECKING:
    from openbook.library import Library

T = TypeVar("T")

_ARTICLES = frozenset({"a", "an", "the"})


def no_blank(value: str | None) -> str | None:
    """Reject an empty value, as from an unset shell variable: `--library "$NAME"`."""
    if value == "":
        raise typer.BadParameter("it is empty; is a shell variable unset?")
    return value


def finite(value: float | None) -> float | None:
    """Reject `nan`, which is within every range, and `inf`."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter("it is not a number" if math.isnan(value) else "it is infinite")
    return value


def library_names_like(incomplete: str) -> list[str]:
    """List the libraries with a prefix, for shell completion."""
    from openbook.cli.opening import settings
    from openbook.libraries.catalog import LibraryCatalog

    return [name for name in LibraryCatalog(settings()).names() if name.startswith(incomplete)]


Paths = Annotated[
    list[str] | None, typer.Argument(metavar="PATH", help="Folders or files. Default: the current folder.")
]


def library_option(text: str) -> Any:
    """Return the option `--library` with a text of its own."""
    return typer.Option(
        "--library", "-l", metavar="NAME", callback=no_blank, autocompletion=library_names_like, help=text
    )


LibraryName = Annotated[str | None, library_option("Library to use instead of the folder's own.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, metavar="N", help="Maximum number of results.")]
AnswerLimit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        "-n",
        min=1,
        max=1000,
        metavar="N",
        help="Maximum number of results: 10, or 20 for a model.",
    ),
]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", "-k", metavar="K", help=f"Only this kind: {', '.join(KINDS)}.")
]
Globs = Annotated[
    list[str] | None, typer.Option("--glob", "-g", metavar="G", help="Only paths that match, as in .gitignore: '*.py'.")
]
Sources = Annotated[list[str] | None, typer.Option("--source", "-s", metavar="NAME", help="Only this source.")]
Courses = Annotated[
    list[str] | None,
    typer.Option("--course", "-c", metavar="NAME", help="Only this course; part of its name is enough."),
]
LessonLabel = Annotated[
    str | None,
    typer.Option("--lesson", metavar="N", help="Only this lesson, such as `4` or `1.3`; or all of a module."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")]
Show = Annotated[bool, typer.Option("--show", help="Print the full text of each chunk.")]

Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Address to listen on. Any other than localhost requires keys.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port to listen on. 0 picks a free one.")]

MODELS = "such as `anthropic:claude-sonnet-5-5`, or `extractive`, which quotes"
ModelName = Annotated[
    str,
    typer.Option(
        "--model", "-m", metavar="M", help=f"Model that answers, {MODELS}. Default: the provider whose key is set."
    ),
]
WithTools = Annotated[bool, typer.Option("--agent", help="Let the model search and read with tools.")]
MaxRounds = Annotated[int, typer.Option(min=0, max=100, metavar="N", help="Maximum number of rounds of tool calls.")]
MaxUsd = Annotated[
    float | None,
    typer.Option(min=0.0, max=1000.0, metavar="X", callback=finite, help="Maximum cost of an answer in US dollars."),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=2.0,
        metavar="X",
        callback=finite,
        help="Temperature of the model that answers: 0 takes the likeliest word. Not all models take it.",
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of the model that answers. Not all models take it.")]
Images = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        metavar="FILE",
        help="Image that the question is about, or a PDF, whose pages are shown; `plan.pdf#page=3` is one page."
        " Can be repeated. Needs a model that reads images.",
    ),
]
PolicyName = Annotated[
    str, typer.Option("--policy", metavar="P", help=f"What to do with claims in conflict: {', '.join(POLICIES)}.")
]
VerifierName = Annotated[
    str,
    typer.Option(
        "--verifier",
        metavar="V",
        help="What checks claims against the cited lines: a model, `nli:FOLDER`, or `off`."
        " Default: the model that answers.",
    ),
]

RerankerName = Annotated[
    str,
    typer.Option(
        "--reranker",
        metavar="R",
        help="Rerank the best results with `onnx:FOLDER`, `provider:model`, `http://host:port/v1#model`,"
        " `tei:http://host:port`, or `off`. Default: OPENBOOK_RERANKER.",
    ),
]


def filter_of(
    kinds: Sequence[str] | None,
    globs: Sequence[str] | None,
    sources: Sequence[str] | None,
    lesson: str | None = None,
) -> Filter:
    """Build a filter from the options of a command. `checked` resolves the names of courses."""
    number, part = lesson_of(lesson)
    wanted: frozenset[Kind] = frozenset(one_of(KINDS, kind, "--kind") for kind in kinds or ())
    return Filter(wanted, tuple(globs or ()), frozenset(sources or ()), lesson=number, part=part)


def lesson_of(label: str | None) -> tuple[int | None, int | None]:
    """Parse a lesson number into lesson and part: `1.3`. Without one, both are None.

    Example:
        >>> lesson_of("4"), lesson_of("1.3")
        ((4, None), (1, 3))
    """
    if label is None:
        return None, None
    from openbook.sources.lesson_numbers import LessonNumber

    found = LessonNumber.parse(label)
    if found is None:
        raise typer.BadParameter(f"{label!r} is no lesson; give a number such as 4 or 1.3", param_hint="'--lesson'")
    return found.number, found.part


def checked(assistant: Library, where: Filter, names: Sequence[str] | None, *, may_be_empty: bool = False) -> Filter:
    """Narrow a filter to the named courses, and check that the library has documents to search.

    `may_be_empty`: only say so if it has none, because the result is printed as JSON.
    """
    from openbook.courses.catalog import check_lesson

    check_filled(assistant, where, may_be_empty=may_be_empty)
    if not names and where.lesson is None:
        return where
    where = replace(where, courses=frozenset(assistant.course(name).key for name in names or ()))
    check_lesson(assistant.index, where)
    return where


def one_of(known: Sequence[T], word: str, option: str) -> T:
    """Return the known value that `word` names."""
    for each in known:
        if each == word:
            return each
    raise typer.BadParameter(f"{word!r} is not valid; choose from {', '.join(map(str, known))}", param_hint=option)


def question_and_paths(words: Sequence[str]) -> tuple[str, list[str]]:
    """Split the arguments of a command into a question and paths.

    A quoted question is the first argument. Without quotes, the paths are the last arguments that exist or look like
    paths, except for a plain word behind an article: no question ends with one.

    Example:
        >>> question_and_paths(["What is a chunk?", "docs"])
        ('What is a chunk?', ['docs'])
        >>> question_and_paths(["what", "is", "a", "chunk", "./docs"])
        ('what is a chunk', ['./docs'])
    """
    if len(words) < 2 or " " in words[0].strip():
        return words[0] if words else "", list(words[1:])
    count = len(words)
    while count > 1 and (_is_written_as_path(words[count - 1]) or _may_be_folder(*words[count - 2 : count])):
        count -= 1
    return " ".join(words[:count]), list(words[count:])


def _is_written_as_path(word: str) -> bool:
    return word in ("", ".", "..") or word.startswith("~") or "/" in word or "\\" in word


def _may_be_folder(before: str, word: str) -> bool:
    return before.lower() not in _ARTICLES and _exists(Path(word))


def _exists(path: Path) -> bool:
    try:
        return os.path.lexists(path)  # a dangling link is a path too
    except ValueError:
        return False


def check_question(question: str, words: Sequence[str], *, has_image: bool = False) -> None:
    """Reject an invalid question before a folder is indexed. With an image, "What is this?" is enough.

    `words` are the arguments that it was read from, of which the last may have been taken as paths by mistake: those
    that are plain words are named.
    """
    from openbook.questions.kinds import kind_of
    from openbook.questions.question import read_question

    if (has_image and question.strip()) or kind_of(question) == "small talk":
        return
    # One argument is the whole question.
    paths = [] if question in words else question_and_paths(words)[1]
    hint = f'if it belongs to the question, quote the question: "{" ".join(words)}"'
    try:
        read_question(question)
    except QueryError as exc:
        if not paths:
            raise
        raise QueryError(f"{exc}: {', '.join(map(repr, paths))} was taken as a path", hint=hint) from exc
    plain = [path for path in paths if not _is_written_as_path(path)]
    if plain:
        printing.advise(f"searching in {', '.join(map(repr, plain))}", hint)


def as_paths(words: Sequence[str] | None) -> list[Path]:
    """Convert arguments to paths; of repositories, those of their fetched files.

    An empty one is an unset shell variable, not the working folder.
    """
    if words and "" in words:
        raise typer.BadParameter("the path is empty; is a shell variable unset?", param_hint="PATH")
    return [_fetched_path(word) for word in words or ()]


def fetch(words: Sequence[str] | None, settings: Settings) -> None:
    """Fetch or update the repositories among some arguments. Nothing else uses the network."""
    for word in words or ():
        if _is_repository(word):
            from openbook.cli.opening import progress_bar
            from openbook.libraries.repositories import fetch_repository

            with progress_bar() as progress:
                state = fetch_repository(word, settings, progress=progress).state
            if state is not None and state.head is not None:
                printing.note(f"fetched {state.head.web_url} at {state.head.commit[:12]}")


def _fetched_path(word: str) -> Path:
    """Return the path of an argument; for a repository, the folder of its fetched files."""
    if _is_repository(word):
        from openbook.libraries.repositories import fetched_files

        return fetched_files(word, Settings.from_env())
    return Path(word)


def _is_repository(word: str) -> bool:
    # If a folder `docs` exists, `docs/api` is a missing path, not a repository.
    if "/" not in word or any(_exists(path) for path in (Path(word), Path(word.partition("/")[0]))):
        return False
    from openbook.sources.repository_urls import names_repository

    return names_repository(word)


def check_filled(assistant: Library, where: Filter, *, may_be_empty: bool = False) -> None:
    """End the command if a library is empty, unless it may be, or raise an error if it lacks the named sources."""
    from openbook.libraries.registration import check_known

    check_known(where.sources, assistant.index)
    if not assistant.stats().documents:
        places = ", ".join(root.location for root in assistant.sources()) or "the library"
        skipped = printing.skipped_text(
            {
                reason: paths
                for difference in assistant.pending().values()
                if not isinstance(difference, SourceError)
                for reason, paths in difference.not_indexed().items()
            }
        )
        printing.advise(
            f"there is nothing to read in {places}{skipped}",
            "give a folder that contains text, or check its ignore rules",
        )
        if not may_be_empty:
            raise typer.Exit(EXIT_NOTHING)


def read_text_file(file: Path, parameter: str) -> str:
    """Read a text file."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as exc:  # ValueError: invalid UTF-8, or a NUL character in the path
        reason = exc.strerror if isinstance(exc, OSError) else exc
        raise typer.BadParameter(f"cannot read {str(file)!r}: {reason}", param_hint=parameter) from exc


def read_queries(file: Path) -> Iterator[str]:
    """Read one question per line."""
    from openbook.questions.question import read_question

    # Not `splitlines`: JSON strings may contain other line separators than line feeds.
    for number, line in enumerate(read_text_file(file, "--queries").split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{str(file)!r}, line {number}"
        try:
            question = json.loads(line)["query"]
        except (ValueError, TypeError, KeyError, RecursionError) as exc:
            raise typer.BadParameter(f'{place}: not of the form {{"query": "..."}}', param_hint="--queries") from exc
        if not isinstance(question, str):
            raise typer.BadParameter(f"{place}: the query must be a string", param_hint="--queries")
        try:
            read_question(question)
        except QueryError as exc:
            raise typer.BadParameter(f"{place}: {exc}", param_hint="--queries") from exc
        yield question
