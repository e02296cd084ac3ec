"""The command for the courses of a library: `courses`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import EXIT_NOTHING, options, printing
from openbook.text import counted

if TYPE_CHECKING:
    from openbook.library import Library
    from openbook.sources.course_edits import Action, Edit
    from openbook.types import Course


_Edit = Annotated[
    bool, typer.Option("--edit", help="Write the lessons of the course into `course.toml` in its folder.")
]
_Rename = Annotated[
    list[str] | None, typer.Option("--rename", metavar="N=TITLE", help="Give a lesson another title: `1.3=Ropes`.")
]
_Move = Annotated[
    list[str] | None, typer.Option("--move", metavar="N=N", help="Move a lesson to the number of another: `1.3=1.1`.")
]
_Split = Annotated[
    list[str] | None,
    typer.Option("--split", metavar="N=HEADING", help="Begin another lesson at a heading of its file."),
]
_Hide = Annotated[list[str] | None, typer.Option("--hide", metavar="N", help="Hide a lesson: `1.3`.")]


def courses(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            callback=options.no_blank,
            help="Show the lessons of this course; part of its name is enough.",
        ),
    ] = None,
    *,
    folders: Annotated[
        list[str] | None,
        typer.Option("--in", metavar="PATH", help="Folders or files with the courses. Default: the current folder."),
    ] = None,
    edit: _Edit = False,
    rename: _Rename = None,
    move: _Move = None,
    split: _Split = None,
    hide: _Hide = None,
    library: options.LibraryName = None,
    as_json: options.AsJson = False,
) -> None:
    """List the courses, or the lessons of one course; or change these, in the file `course.toml` beside them."""
    from openbook.cli.opening import indexed, opened
    from openbook.courses.names import no_course

    edits = [*_edits("rename", rename), *_edits("hide", hide), *_edits("move", move), *_edits("split", split)]
    if (edit or edits) and name is None:
        raise typer.BadParameter("name the course that you want to change", param_hint="'NAME'")
    with opened([], library or indexed(options.as_paths(folders))) as assistant:
        if name is not None:
            course = assistant.course(name)
            if edit or edits:
                written = assistant.edit_course(course, edits)
                printing.note(f"wrote {written}")
                course = next((one for one in assistant.courses() if one.key == course.key), course)
            _outline(assistant, course, as_json=as_json)
            return
        found = assistant.courses()
        if as_json:
            printing.print_json({"courses": [course.to_dict() for course in found]})
        for course in found if not as_json else ():
            _head(course)
        if not found:
            missing = no_course()
            printing.advise(str(missing), missing.hint)
            raise typer.Exit(EXIT_NOTHING)


def _edits(action: Action, given: list[str] | None) -> Iterator[Edit]:
    from openbook.errors import QueryError
    from openbook.sources.course_edits import edit_of

    for value in given or ():
        label, _, said = (value, "", "") if action == "hide" else value.partition("=")
        if action != "hide" and not said.strip():
            raise typer.BadParameter(f"{value!r} names only a lesson; write N=...", param_hint=f"'--{action}'")
        try:
            yield edit_of(action, label, said)
        except QueryError as exc:
            raise typer.BadParameter(f"{exc}; {exc.hint}", param_hint=f"'--{action}'") from exc


def _head(course: Course) -> None:
    from openbook.courses.names import course_key_text

    lessons = counted(len(course.lessons), "lesson")
    printing.say(printing.one_line(course.title), style={"bold": True})
    printing.say(f"  {printing.one_line('  '.join(filter(None, (lessons, course.instructor, course.link))))}")
    printing.say(f"  {printing.one_line(course_key_text(course))}")


def _outline(assistant: Library, course: Course, *, as_json: bool) -> None:
    placed = assistant.outline(course)
    if as_json:
        printing.print_json({**course.to_dict(), "lessons": [one.to_dict() for one in placed]})
        return
    places = printing.LocationFormatter(assistant.sources())
    _head(course)
    for one in placed:
        printing.say(f"{one.lesson.label:>4}  {printing.one_line(one.lesson.title)}".rstrip())
        for place in one.places:
            printing.say(f"      {places.link(course.source, place.span, place.anchor)}", style={"dim": True})
        if one.lesson.link:
            printing.say(f"      {printing.one_line(one.lesson.link)}", style={"dim": True})
