"""Folders of course material: which course a file belongs to, and which lesson it holds, by names and headings."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePosixPath

from openbook.sources.readers.course import read_header
from openbook.types import Block, Document, Lesson

# Files that speak of a folder as a whole, the most telling first.
_DESCRIBING = ("course", "syllabus", "readme", "index")
_DESCRIBING_SUFFIXES = frozenset({"", ".md", ".markdown", ".txt"})

# Beside folders that are courses each, these are no material.
_ASIDE = frozenset({*_DESCRIBING, "licence", "license", "copying", "notice", "changelog"})

# Names of parts, in English and German, before a number: "Lecture 4 - Ropes", "lesson_3", "week2".
_LESSON = r"(?:class|lecture|lec|lesson|l|session|talk|lektion|vorlesung)"
_PART = (
    rf"(?:{_LESSON}|chapter|ch|day|module|part|section|unit|video|week|wk"
    r"|kapitel|modul|tag|teil|woche)"
)
# "1.2" is a part of 1.
_NUMBER = r"(\d{1,4})((?:\.\d{1,2}(?!\d))*)(?!\d)"
# A lesson of a week has a number of its own, whichever stands first.
_NUMBERED = [re.compile(rf"(?:^|(?<=[^a-z0-9])){part}[ _.-]*{_NUMBER}", re.IGNORECASE) for part in (_LESSON, _PART)]
# "01-intro" and "3. Ropes", but no year.
_LEADING = re.compile(rf"(?!\d{{4}}){_NUMBER}(?=[ _.)-]|$)")
# "05.10.2023", "10-05-23" and "2023-10-05".
_DATE = re.compile(
    r"(?<!\d)(?:\d{1,2}([._-])\d{1,2}\1\d{4}|\d{1,2}([.-])\d{1,2}\2\d\d|\d{4}([._-])\d{1,2}\3\d{1,2})(?!\d)"
)
_BETWEEN = " \t_.:,;()–—-"

# "Lesson 4: Ropes" as a heading says the number again.
_REPEATED = re.compile(rf"(?:{_PART}[ _.-]*\d{{1,4}}(?:\.\d{{1,2}})*\s*(?:[:.–—-]\s*|$))+", re.IGNORECASE)


def is_describing(name: str) -> bool:
    """Return whether a file speaks of its folder as a whole, by its name.

    Example:
        >>> is_describing("README.md"), is_describing("course.txt"), is_describing("intro.md")
        (True, True, False)
    """
    path = PurePosixPath(name.lower())
    return path.stem in _DESCRIBING and path.suffix in _DESCRIBING_SUFFIXES


def describing_files(names: Collection[str]) -> list[str]:
    """Choose the files that speak of their folder as a whole, the most telling first."""
    found = filter(is_describing, sorted(names))
    return sorted(found, key=lambda name: _DESCRIBING.index(PurePosixPath(name.lower()).stem))


def are_courses(folders: Collection[str], files: Collection[str]) -> bool:
    """Return whether each folder within a folder is a course, rather than all of it together.

    So it is where there is no other material, and none of the folders is a part such as `week2`.

    Example:
        >>> are_courses(["knots", "bread"], ["README.md"]), are_courses(["week1", "week2"], [])
        (True, False)
    """
    material = [name for name in files if PurePosixPath(name.lower()).stem not in _ASIDE]
    return bool(folders) and not material and all(_number(name) is None for name in folders)


def readable(name: str) -> str:
    """Write the name of a file or folder as words.

    Example:
        >>> readable("tying_knots-at sea")
        'Tying knots at sea'
    """
    words = re.sub(r"[\s_-]+", " ", name).strip(_BETWEEN)
    return words[:1].upper() + words[1:]


def describe(path: str, name: str, texts: Collection[str]) -> Lesson:
    """Return the course that a folder is: a lesson without number.

    Args:
        path: Of the folder, `.` for the whole source.
        name: What the folder is called.
        texts: Of the files that speak of it, the most telling first. Each one adds what is not known yet.
    """
    course = Lesson("", course_path=path)
    for found in map(read_header, texts):
        course = replace(
            course,
            course=course.course or found.course,
            course_link=course.course_link or found.course_link,
            instructor=course.instructor or found.instructor,
        )
    return course if course.course else replace(course, course=readable(name))


def as_lesson(document: Document, course: Lesson) -> Document:
    """Build a document of a folder a part of its course.

    Its lesson has the number in its name or, if there is none, in the name of the nearest folder that
    is a part; its title is the first heading, else what the name says beside the number. "1.2" is a
    part of lesson 1, and stands in the title. What introduces itself as a course stays one of its own,
    unless it only speaks of the folder.

    Args:
        document: With its blocks.
        course: As `describe` gives it.
    """
    describing = is_describing(PurePosixPath(document.path).name)
    if document.kind == "course" and not (describing and _is_mere_header(document)):
        return document
    lesson = course if describing else _lesson(document, course)
    blocks = document.blocks or (Block(0, len(document.text)),)
    kind = "course" if document.kind == "docs" else document.kind
    return replace(document, kind=kind, blocks=tuple(replace(block, lesson=lesson) for block in blocks))


def _is_mere_header(document: Document) -> bool:
    return all(block.lesson is None or block.lesson.number is None for block in document.blocks)


def _lesson(document: Document, course: Lesson) -> Lesson:
    inside = PurePosixPath(document.path).relative_to(course.course_path)
    stem = inside.name.removesuffix(inside.suffix)
    found = _number(stem)
    number = found[0] if found else None
    for folder in reversed(inside.parts[:-1]):
        if number is None and (part := _number(folder)):
            number = part[0]
    heading = next((block.title for block in document.blocks if block.kind == "heading" and block.title), "")
    repeated = _REPEATED.match(heading)
    heading = heading[repeated.end() :] if repeated else heading
    title = heading or readable(found[1] if found else stem)
    if found and found[2] and not title.startswith(found[2]):
        title = f"{found[2]} {title}".rstrip()
    return replace(course, number=number, title=title if number is not None else "")


def _number(name: str) -> tuple[int, str, str] | None:
    """Return the number in a name, the name without it, and what it is in full if it says a part of a lesson."""
    undated = _DATE.sub(lambda date: "x" * len(date.group()), name)
    found = [*(pattern.search(undated) for pattern in _NUMBERED), _LEADING.match(undated)]
    match = next(filter(None, found), None)
    if match is None:
        return None
    number, within = match.groups()
    return int(number), f"{name[: match.start()]} {name[match.end() :]}", f"{number}{within}" if within else ""
