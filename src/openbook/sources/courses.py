"""Assigns a document of a course to its lesson or lessons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from openbook.sources.course_plan import Placement, is_describing
from openbook.sources.front_matter import front_matter
from openbook.sources.lesson_names import clean_title, name_of_page
from openbook.types import Block, Document, Lesson

# Words in course titles that do not identify the course.
_OF_COURSES = frozenset("a an and course for in intro introduction lecture lectures notes of on slides the to".split())
_PIECES = re.compile(r"[^\W\d_]+|\d+")
# Lesson titles often share two words with the title of their course.
_MIN_SHARED = 3

# Formats whose authors choose the levels of headings.
_LEVELLED = frozenset({"markdown", "notebook"})


def as_lesson(document: Document, placement: Placement) -> Document:
    """Assign a document to the lesson of its placement.

    A lesson without a title takes it from the front matter, else the first heading, else the file name without its
    number. A document that introduces itself as a course stays one of its own, unless it only describes the folder.
    """
    describing = is_describing(PurePosixPath(document.path).name)
    is_mere_header = all(block.lesson is None or block.lesson.number is None for block in document.blocks)
    if document.kind == "course" and not (describing and is_mere_header):
        return document
    blocks = document.blocks or (Block(0, len(document.text)),)
    kind = "course" if document.kind == "docs" else document.kind
    if placement.sections:
        titles = {block.title for block in blocks if block.kind == "heading"}
        absent = [one.heading for one in placement.sections if one.heading and one.heading not in titles]
        remarks = (f"no heading {', '.join(map(repr, absent))}, where a lesson is to begin",) if absent else ()
        return replace(
            document,
            kind=kind,
            blocks=tuple(_in_sections(blocks, placement)),
            remarks=document.remarks + remarks,
        )
    lesson = placement.lesson
    if lesson.number is not None and not lesson.title:
        lesson = replace(lesson, title=title_of(document, lesson.course), titles_itself=True)
    return replace(document, kind=kind, blocks=tuple(replace(block, lesson=lesson) for block in blocks))


def title_of(document: Document, course: str = "") -> str:
    """Return the title of a document as a lesson, without its number; empty if there is none."""
    headings = [block for block in document.blocks if block.kind == "heading" and block.title]
    first = headings[0] if headings and not _names_course(headings[0].title, course) else None
    # If other headings have its level, "## Introduction" is a section of a page without a title.
    is_section = (
        document.language in _LEVELLED
        and first
        and first.level > 1
        and any(one.level <= first.level for one in headings[1:])
    )
    heading = first.title if first and not is_section else ""
    stated = str(front_matter(document.text).get("title") or "") if document.language == "markdown" else ""
    return clean_title(" ".join(stated.split()) or heading) or name_of_page(document.path)


def _names_course(heading: str, course: str) -> bool:
    """Return whether a heading is only the name of the course.

    Example:
        >>> _names_course("STAT 451: Intro to Machine Learning Lecture Notes", "stat451-machine-learning-fs20")
        True
        >>> _names_course("Machine Learning Basics", "stat451-machine-learning-fs20")
        False
    """
    said, known = ({*_PIECES.findall(text.casefold())} for text in (heading, course))
    shared = len(said & known)
    return shared >= _MIN_SHARED and 3 * shared >= 2 * len(known) and said <= known | _OF_COURSES


def _in_sections(blocks: Iterable[Block], placement: Placement) -> Iterable[Block]:
    """Assign each block to the lesson of the last heading before it, else to the first lesson."""
    opening = {" ".join(section.heading.split()): section.lesson for section in placement.sections}
    lesson = opening.get("", placement.lesson)
    for block in blocks:
        if block.kind == "heading" and block.title and block.title in opening:
            lesson = opening[block.title]
            if lesson.number is not None and not lesson.title:
                lesson = replace(lesson, title=block.title, titles_itself=True)
        yield replace(block, lesson=lesson)


def is_placed_as(lessons: Iterable[Lesson | None], placement: Placement | None) -> bool:
    """Return whether the lessons of an indexed document match its current placement."""
    held = {lesson for lesson in lessons if lesson is not None}
    if placement is None or not held:
        return not held
    wanted = [section.lesson for section in placement.sections] or [placement.lesson]
    if not placement.sections:
        return all(_is_same(one, placement.lesson) for one in held)
    known = all(any(_is_same(one, each) for each in (*wanted, placement.lesson)) for one in held)
    return known and all(any(_is_same(one, each) for one in held) for each in wanted)


def _is_same(held: Lesson, wanted: Lesson) -> bool:
    if not held.course_path:
        return True  # a course of its own
    if wanted.number is not None and not wanted.title and held.titles_itself:
        return held == replace(wanted, title=held.title)
    return held == wanted
