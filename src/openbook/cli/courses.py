"""The command for the courses of a library: `courses`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import EXIT_NOTHING, options, printing

if TYPE_CHECKING:
    from openbook.library import Library
    from openbook.types import Course


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
    library: options.LibraryName = None,
    as_json: options.AsJson = False,
) -> None:
    """List the courses, or the lessons of one course."""
    from openbook.cli.opening import existing, indexed
    from openbook.courses.names import no_course

    with existing(library or indexed(options.as_paths(folders))) as assistant:
        if name is not None:
            _outline(assistant, assistant.course(name), as_json=as_json)
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


def _head(course: Course) -> None:
    from openbook.courses.names import course_key_text

    lessons = printing.counted(len(course.lessons), "lesson")
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
