"""What commands have in common: their options, and what is checked before they begin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from openbook.answers import POLICIES
from openbook.cli import EXIT_NOTHING, printing
from openbook.errors import SourceError
from openbook.types import KINDS, Filter, Kind

if TYPE_CHECKING:
    from openbook.library import Library

T = TypeVar("T")


def no_blank(value: str | None) -> str | None:
    """Refuse what an unset variable of the shell leaves behind: `--library "$NAME"`."""
    if value == "":
        raise typer.BadParameter("it is empty; is a variable not set?")
    return value


def no_nan(value: float | None) -> float | None:
    """Refuse `nan`, which is within every range."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("it is no number")
    return value


Paths = Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Folders or files. Default: here.")]
LibraryName = Annotated[
    str | None,
    typer.Option(metavar="NAME", callback=no_blank, help="Library to use, instead of one of the folder's own."),
]
Limit = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Most results.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", metavar="K", help=f"Only these: {', '.join(KINDS)}.")]
Globs = Annotated[
    list[str] | None, typer.Option("--glob", metavar="G", help="Only paths like this, as in .gitignore: '*.py'.")
]
Sources = Annotated[list[str] | None, typer.Option("--source", metavar="NAME", help="Only from this source.")]
Courses = Annotated[
    list[str] | None, typer.Option("--course", metavar="NAME", help="Only from this course: a word for it is enough.")
]
LessonNumber = Annotated[
    int | None, typer.Option("--lesson", min=0, metavar="N", help="Only from the lesson of this number.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]
Show = Annotated[bool, typer.Option("--show", help="Print the chunks in full.")]

Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Where to listen. Other than this machine's own needs keys.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0 takes any that is free.")]

MODELS = "such as `anthropic:claude-sonnet-5-5`, or `extractive`, which quotes"
ModelName = Annotated[
    str, typer.Option("--model", metavar="M", help=f"What answers, {MODELS}. Default: the first key that is set.")
]
WithTools = Annotated[bool, typer.Option("--agent", help="Let the model search and read by itself, with tools.")]
MaxRounds = Annotated[int, typer.Option(min=0, max=100, metavar="N", help="Most times that it may call tools.")]
MaxUsd = Annotated[
    float | None,
    typer.Option(min=0.0, max=1000.0, metavar="X", callback=no_nan, help="Most US dollars that an answer may cost."),
]
PolicyName = Annotated[
    str, typer.Option("--policy", metavar="P", help=f"What happens to claims in conflict: {', '.join(POLICIES)}.")
]
VerifierName = Annotated[
    str,
    typer.Option(
        "--verifier",
        metavar="V",
        help="What checks whether cited lines say what claims say: a model, `nli:FOLDER`, or `off`."
        " Default: the model that answers.",
    ),
]

RerankerName = Annotated[
    str,
    typer.Option(
        "--reranker",
        metavar="R",
        help="What orders the best results anew: `onnx:FOLDER`, `provider:model`, `http://host:port/v1#model`,"
        " `tei:http://host:port`, or `off`. Default: OPENBOOK_RERANKER, else nothing.",
    ),
]


def filter_of(
    kinds: Sequence[str] | None,
    globs: Sequence[str] | None,
    sources: Sequence[str] | None,
    lesson: int | None = None,
) -> Filter:
    """Build a filter from the options of a command. `checked` resolves the names of courses.

    Raises:
        BadParameter: A kind is none.
    """
    wanted: frozenset[Kind] = frozenset(one_of(KINDS, kind, "--kind") for kind in kinds or ())
    return Filter(wanted, tuple(globs or ()), frozenset(sources or ()), lesson=lesson)


def checked(assistant: Library, where: Filter, names: Sequence[str] | None) -> Filter:
    """Narrow a filter to the courses that the names mean, and check that there is something to ask.

    Raises:
        UnknownSourceError: The library has no source of a name.
        Exit: It holds nothing; that was said.
        UnknownCourseError: A name means none of them.
        AmbiguousCourseError: A name means several.
        QueryError: None of them has the lesson.
    """
    from openbook.courses.catalog import check_lesson

    check_filled(assistant, where)
    if not names and where.lesson is None:
        return where
    where = replace(where, courses=frozenset(assistant.course(name).key for name in names or ()))
    check_lesson(assistant.index, where)
    return where


def one_of(known: Sequence[T], word: str, option: str) -> T:
    """Return the one that `word` names."""
    for each in known:
        if each == word:
            return each
    raise typer.BadParameter(f"{word!r} is none of {', '.join(map(str, known))}", param_hint=option)


def check_question(question: str) -> None:
    """Refuse a question before a folder is indexed for it."""
    from openbook.questions.kinds import kind_of
    from openbook.questions.question import read_question

    if kind_of(question) != "small talk":
        read_question(question)


def as_paths(words: Sequence[str] | None) -> list[Path]:
    """Take words for paths, or for repositories that were fetched.

    An empty one is an unset variable of the shell, not the working folder.

    Raises:
        SourceError: A repository was not fetched yet.
    """
    if words and "" in words:
        raise typer.BadParameter("it is empty; is a variable not set?", param_hint="PATH")
    from openbook.cli.fetching import fetched_path

    return [fetched_path(word) for word in words or ()]


def check_filled(assistant: Library, where: Filter) -> None:
    """Refuse to ask a library that holds nothing, or not the sources that are named.

    Raises:
        UnknownSourceError: It has no source of that name.
        Exit: It holds nothing; that was said.
    """
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
            "give a folder that holds text, or look at its ignore rules",
        )
        raise typer.Exit(EXIT_NOTHING)
