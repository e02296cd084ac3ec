"""Edits the lessons of a course by writing the `course.toml` of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from openbook.courses.catalog import outline
from openbook.errors import QueryError, SourceError, did_you_mean
from openbook.index.protocol import Index
from openbook.sources.course_edits import Edit
from openbook.sources.course_file import (
    COURSE_FILE,
    CourseFile,
    ListedLesson,
    has_own_comments,
    read_course_file,
    write_course_file,
)
from openbook.sources.folder import Folder
from openbook.sources.lesson_numbers import LessonNumber
from openbook.types import Course, Document


def edit_course(index: Index, course: Course, edits: Sequence[Edit]) -> Path:
    """Write the lessons of a course, with edits, to its `course.toml`. Returns the path of that file.

    Existing content of the file is kept.

    Raises:
        QueryError: The course is a single file or in a fetched repository, an edit matches no lesson or no heading of
            its file, or the file has comments that would be lost.
        CourseFileError: The existing file is invalid.
        SourceError: The file is a link or cannot be written, or one to split cannot be read.
    """
    root = next(root for root in index.roots() if root.name == course.source)
    if root.kind != "course" or root.url or index.document(course.source, course.path) is not None:
        raise QueryError(
            f"{course.title!r} has no folder to write {COURSE_FILE} in",
            hint="add a folder of this machine with --course",
        )
    file = Path(root.location, course.path, COURSE_FILE)
    if file.is_symlink():  # readers skip it, and writing would change a file elsewhere
        raise SourceError(str(file), "it is a link", hint="put the file itself there")
    known = _read(file, root.location, course)
    listed = known.lessons if known.lessons is not None else _listed(index, course)
    for edit in edits:
        before, listed = listed, tuple(edit(listed))
        _check_begun(before, listed, Folder(root.location), course)
    written = write_course_file(CourseFile(known.title or course.title, known.link, known.instructor, tuple(listed)))
    try:
        file.write_text(written, encoding="utf-8", newline="")
    except OSError as exc:
        raise SourceError(str(file), exc.strerror or "cannot be written", hint="check its permissions") from exc
    return file


def _read(file: Path, root: str, course: Course) -> CourseFile:
    if not file.is_file():
        return CourseFile()
    text = file.read_text(encoding="utf-8")
    if has_own_comments(text):
        raise QueryError(f"{file} has comments, which would be lost", hint="edit it by hand; docs/courses.md shows how")
    start = "" if course.path == "." else f"{course.path}/"
    paths = [scanned.path for scanned in Folder(root).scan().files if scanned.path.startswith(start)]
    return read_course_file(text, str(file), [path.removeprefix(start) for path in paths])


def _listed(index: Index, course: Course) -> tuple[ListedLesson, ...]:
    """List the current lessons, each with its files."""
    start = "" if course.path == "." else f"{course.path}/"
    return tuple(
        ListedLesson(
            place.span.path.removeprefix(start),
            LessonNumber(placed.lesson.number, placed.lesson.part),
            placed.lesson.title,
            placed.lesson.link,
        )
        for placed in outline(index, course)
        if placed.lesson.number is not None
        for place in placed.places
    )


def _check_begun(before: Sequence[ListedLesson], after: Sequence[ListedLesson], folder: Folder, course: Course) -> None:
    """Check that a lesson that an edit begins at a heading leaves both lessons some text."""
    known = {(one.file, one.heading) for one in before}
    for begun in (one for one in after if (one.file, one.heading) not in known):
        cut = next(one for one in after if one.file == begun.file and one.place.following == begun.place)
        openings = {one.heading for one in before if one.file == begun.file}
        document = folder.read(begun.file if course.path == "." else f"{course.path}/{begun.file}")
        headings = _headings_in(document, cut.heading, openings)
        if begun.heading not in headings:
            there = f"its headings are: {', '.join(headings)}" if headings else "it cannot be split"
            raise QueryError(
                f"lesson {cut.place} has no heading {begun.heading!r} below its beginning",
                hint=did_you_mean(begun.heading, headings, there),
            )


def _headings_in(document: Document, opening: str, openings: set[str]) -> list[str]:
    """List the headings of the lesson that an opening begins, in order, without those before its first text."""
    found, current, start = list[str](), "", 0
    for block in document.blocks:
        if block.kind != "heading" or not block.title:
            continue
        if block.title in openings:
            current, start = block.title, block.end_char
        elif current == opening and document.text[start : block.start_char].strip():
            found.append(block.title)
    return list(dict.fromkeys(found))
