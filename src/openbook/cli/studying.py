"""The command that makes study guides: `study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import EXIT_NOTHING, options, printing
from openbook.text import counted

if TYPE_CHECKING:
    from openbook.study.guide import StudyGuide

FORMATS = ("markdown", "anki", "json")

_Format = Annotated[
    str, typer.Option("--format", "-f", metavar="F", help="`markdown`, `anki` for a file that Anki imports, or `json`.")
]
_Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the guide to this file.", dir_okay=False)
]
_Count = Annotated[
    int, typer.Option("--count", "-n", min=1, max=100, metavar="N", help="Maximum number of terms, and of questions.")
]
_Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="M",
        help="Model that writes the guide; `extractive` quotes the sources.",
    ),
]


def study(
    paths: options.Paths = None,
    *,
    model: _Model = "extractive",
    max_usd: options.MaxUsd = None,
    verifier: options.VerifierName = "",
    library: options.LibraryName = None,
    glob: options.Globs = None,
    source: options.Sources = None,
    course: options.Courses = None,
    lesson: options.LessonLabel = None,
    count: _Count = 10,
    format_name: _Format = "markdown",
    output: _Output = None,
) -> None:
    """Make a study guide: a summary, key terms and questions, each with a checked citation."""
    from openbook.cli.asking import build_answer_options
    from openbook.cli.opening import asked

    shape = options.one_of(FORMATS, format_name, "--format")
    where = options.filter_of(None, glob, source, lesson)
    answer_options = build_answer_options(model, agent=False, limits=(0, max_usd), policy="flag", verifier=verifier)
    if output is not None and not output.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(output.parent)!r}", param_hint="--output")
    with asked(options.as_paths(paths), library, where) as (assistant, narrowed):
        where = options.checked(assistant, narrowed, course)
        guide = assistant.study(where=where, options=answer_options, count=count)
    written = _written(guide, shape)
    if output is None:
        printing.say(written.rstrip("\n"))
    else:
        output.write_text(written, encoding="utf-8")
        printing.note(f"wrote {output}")
    _report(guide)


def _written(guide: StudyGuide, shape: str) -> str:
    if shape == "json":
        import json

        return json.dumps(guide.to_dict(), ensure_ascii=False) + "\n"
    return guide.to_anki() if shape == "anki" else guide.to_markdown()


def _report(guide: StudyGuide) -> None:
    """Report what was left out, and exit with code 1 if the guide is empty."""
    if guide.left_out:
        printing.note(f"left out {counted(guide.left_out, 'item')} whose citation did not hold")
    if not any(guide.items):
        printing.advise(guide.note or "nothing to study was found", "name a lesson or a document with prose")
        raise typer.Exit(EXIT_NOTHING)
