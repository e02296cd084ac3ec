"""Reads and writes `course.toml`, which describes a course and its lessons."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openbook.errors import CourseFileError
from openbook.sources.lesson_numbers import LessonNumber

COURSE_FILE = "course.toml"

_COURSE_KEYS = ("title", "link", "instructor", "lessons")
_LESSON_KEYS = ("file", "number", "title", "link", "heading", "hidden")
_TABLE = re.compile(r"^[ \t]*\[\[[ \t]*lessons[ \t]*\]\]", re.MULTILINE)
_KEY_AT = r"^[ \t]*{}[ \t]*="

_HEADER = """\
# The lessons of this course, in order. Openbook reads this file; commit it beside them.
# Move, rename or delete entries, or set `hidden = true`. `heading` begins a lesson within a file.
"""


@dataclass(frozen=True, slots=True)
class ListedLesson:
    """An entry of `course.toml`."""

    file: str
    """POSIX path from the folder of the course."""
    place: LessonNumber
    title: str = ""
    link: str = ""
    heading: str = ""
    """The heading at which the lesson begins; empty for the beginning of the file."""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class CourseFile:
    """The content of a `course.toml`."""

    title: str = ""
    link: str = ""
    instructor: str = ""
    lessons: tuple[ListedLesson, ...] | None = None
    """All lessons of the course; None if the file lists none, so that file names and tables of contents decide."""


def read_course_file(text: str, path: str, files: Iterable[str]) -> CourseFile:
    """Parse a `course.toml`.

    `files` are the existing files, as POSIX paths from the folder of the course.

    Raises:
        CourseFileError: It is invalid. The error has the line number.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        line = re.search(r"at line (\d+)", str(exc))
        raise _error(path, int(line[1]) if line else 1, str(exc)) from exc
    reader = _Reader(text, path, frozenset(files))
    reader.check_keys(values, _COURSE_KEYS, 0)
    title, link, instructor = (reader.string(values, key, 0) for key in ("title", "link", "instructor"))
    return CourseFile(title, link, instructor, reader.lessons(values.get("lessons")))


class _Reader:
    def __init__(self, text: str, path: str, files: frozenset[str]) -> None:
        self._text = text
        self._path = path
        self._files = files
        self._tables = [found.start() for found in _TABLE.finditer(text)]

    def lessons(self, listed: Any) -> tuple[ListedLesson, ...] | None:
        if listed is None:
            return None
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise self._error("lessons", 0, "lessons are tables: write [[lessons]] above each")
        found: list[ListedLesson] = []
        previous: LessonNumber | None = None
        for position, values in enumerate(listed, start=1):
            lesson = self._lesson(values, position, previous)
            previous = previous if lesson.hidden else lesson.place
            found.append(lesson)
        self._check_places(found)
        return tuple(found)

    def _lesson(self, values: Mapping[str, Any], position: int, previous: LessonNumber | None) -> ListedLesson:
        self.check_keys(values, _LESSON_KEYS, position)
        keys = ("file", "title", "link", "heading")
        file, title, link, heading = (self.string(values, key, position) for key in keys)
        if not file:
            raise self._error("file", position, "a lesson needs a file")
        if file not in self._files:
            raise self._error("file", position, f"there is no file {file!r} in this course")
        hidden = values.get("hidden", False)
        if not isinstance(hidden, bool):
            raise self._error("hidden", position, f"hidden is {hidden!r}; write true or false")
        place = self._place(values.get("number"), position, previous)
        return ListedLesson(posixpath.normpath(file), place, title, link, heading, hidden)

    def _place(self, number: Any, position: int, previous: LessonNumber | None) -> LessonNumber:
        if number is None:
            return previous.following if previous else LessonNumber(1)
        found = LessonNumber.parse(str(number)) if type(number) in (int, str) else None
        if found is None:
            raise self._error("number", position, f'number is {number!r}; write one such as 4 or "1.3"')
        return found

    def _check_places(self, lessons: Sequence[ListedLesson]) -> None:
        seen: set[tuple[str, str]] = set()
        for position, lesson in enumerate(lessons, start=1):
            if (lesson.file, lesson.heading) in seen:
                raise self._error("file", position, f"{lesson.file!r} is listed twice; give each a heading")
            seen.add((lesson.file, lesson.heading))

    def string(self, values: Mapping[str, Any], key: str, position: int) -> str:
        value = values.get(key, "")
        if not isinstance(value, str):
            raise self._error(key, position, f"{key} is {value!r}; write text in quotes")
        return value.strip()

    def check_keys(self, values: Mapping[str, Any], known: Sequence[str], position: int) -> None:
        for key in values:
            if key not in known:
                raise self._error(key, position, f"there is no {key!r}; known are {', '.join(known)}")

    def _error(self, key: str, position: int, reason: str) -> CourseFileError:
        """Build an error with the line of a key. `position` is the number of the table, from 1; 0 is the top level."""
        start = self._tables[position - 1] if 0 < position <= len(self._tables) else 0
        end = self._tables[position] if position < len(self._tables) else len(self._text)
        found = re.compile(_KEY_AT.format(re.escape(key)), re.MULTILINE).search(self._text, start, end)
        at = found.start() if found else start
        return _error(self._path, self._text.count("\n", 0, at) + 1, reason)


def _error(path: str, line: int, reason: str) -> CourseFileError:
    return CourseFileError(path, f"line {line}: {reason}", hint=f"correct line {line}, or delete the file")


def write_course_file(course: CourseFile) -> str:
    """Format a course as `course.toml`, with a comment that explains the file."""
    lines = [_HEADER]
    of_course = {"title": course.title, "link": course.link, "instructor": course.instructor}
    lines += [f"{key} = {_quoted(value)}\n" for key, value in of_course.items() if value]
    for lesson in course.lessons or ():
        lines.append(f"\n[[lessons]]\nnumber = {_quoted(str(lesson.place))}\nfile = {_quoted(lesson.file)}\n")
        strings = {"heading": lesson.heading, "title": lesson.title, "link": lesson.link}
        lines += [f"{key} = {_quoted(value)}\n" for key, value in strings.items() if value]
        lines += ["hidden = true\n"] if lesson.hidden else []
    return "".join(lines)


def has_own_comments(text: str) -> bool:
    """Return whether the file has comments of its author, which writing it again would lose."""
    known = set(_HEADER.splitlines())
    return any(line.lstrip().startswith("#") and line not in known for line in text.splitlines())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
