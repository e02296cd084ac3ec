"""Reads course transcripts: a header, then lessons, in plain text or Markdown.

Course Title: Baking Bread
Course Link: https://example.org/bread
Course Instructor: Ada Miller

Lesson 0: Introduction
Lesson Link: https://example.org/bread/0
Welcome to ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from openbook.sources.classify import classify
from openbook.sources.readers.markdown import read_markdown
from openbook.sources.readers.reading import Reading, shifted
from openbook.text import paragraphs
from openbook.types import Block, Lesson

# Markdown before the words of a line: `### Lesson 1`, `**Lesson 1: x**`, `> Course Title: x`, `- **Course Link:** x`.
_BEFORE = r"[ \t]*(?:[>#*-][>#* \t-]*)?"

# And after them. A closing `##` needs a space before it: a lesson may be called "C#".
_BEHIND = re.compile(r"(?:\s#+)?[\s*]*$")

# Headings are short. In a transcript, "Lesson 5: ..." can begin a line of 27,000 characters.
_MAX_HEADING_CHARS = 200

_LESSON = re.compile(rf"{_BEFORE}lesson[ \t]+(\d{{1,4}})\**[ \t]*(?:(?::|[-–—](?=\s))(.*))?$", re.IGNORECASE)
_LESSON_LINK = re.compile(rf"{_BEFORE}lesson[ \t]+link\**[ \t]*:(.*)$", re.IGNORECASE)
_HEADER = re.compile(rf"{_BEFORE}course[ \t]+(title|link|instructors?)\**[ \t]*:(.*)$", re.IGNORECASE)
_MARKDOWN_TITLE = re.compile(r"#[ \t]+(?:course:?[ \t]+)?(.*)$", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_BRACKETED_LINK = re.compile(r"<(.*)>|\[[^\]]*\]\((.*)\)")

# The header is at the beginning, but licence lines or front matter may precede it.
_HEADER_LINES = 20
_MIN_LESSONS = 2


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    """A lesson heading with its link line."""

    start: int
    end: int
    """End of the heading, including the link line if there is one."""
    lesson: Lesson


def is_course(text: str) -> bool:
    r"""Return whether a text is course material in the format above.

    True if it has a course title in the first 20 lines, or at least two lesson headings and either a link or instructor
    line, or a lesson heading at its beginning. Code blocks, fenced or indented, do not count, so a page about the
    format is not a course.

    Example:
        >>> is_course("Course Title: Bread"), is_course("# Plan\n\nLesson 1: be brief\n")
        (True, False)
    """
    lines = list(_lines(text))
    marks = {match.group(1).lower() for line in lines[:_HEADER_LINES] if (match := _match(_HEADER, line))}
    if "title" in marks:
        return True
    found = [line for line in lines if _match(_LESSON, line)]
    if len(found) < _MIN_LESSONS:
        return False
    opens = next(line for line in lines if line.text.strip()) is found[0]
    return bool(marks) or opens or any(_match(_LESSON_LINK, line) for line in lines)


def read_course(text: str, path: str = "") -> Reading:
    r"""Read a course. The text is not changed.

    Blocks are the header as text, each lesson heading with its link line as a level 1 heading, and paragraphs; in
    Markdown also code, and headings one level down. Every block has its lesson; those before the first have a lesson
    without number.

    Example:
        >>> reading = read_course("Course Title: Bread\n\nLesson 0: Flour\nBuy some.\n")
        >>> [(block.kind, str(block.lesson)) for block in reading.blocks]
        [('text', ''), ('heading', 'Lesson 0: Flour'), ('text', 'Lesson 0: Flour')]
    """
    language = classify(path, "")[1]
    lines = list(_lines(text))
    course = _course(lines)
    sections = _sections(lines, course)
    blocks: list[Block] = []
    opening = sections[0].start if sections else len(text)
    blocks.extend(_body(text, 0, opening, course, language))
    for position, section in enumerate(sections):
        end = sections[position + 1].start if position + 1 < len(sections) else len(text)
        title = str(section.lesson)
        blocks.append(Block(section.start, section.end, "heading", 1, title, section.lesson))
        blocks.extend(_body(text, section.end, end, section.lesson, language))
    return Reading(text, "course", language, tuple(blocks))


def read_header(text: str) -> Lesson:
    r"""Read the header of a course as a lesson without number; empty without a header.

    Example:
        >>> read_header("# Baking Bread\n\nCourse Instructor: Ada Miller\n").course
        'Baking Bread'
    """
    return _course(list(_lines(text)))


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines outside of fenced or indented code."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    # An unclosed fence is ignored, because it would hide all following lessons.
    fenced = {number for first, last in zip(fences[::2], fences[1::2], strict=False) for number in range(first, last)}
    start = 0
    for number, line in enumerate(lines):
        if number not in fenced and not line.startswith(("    ", "\t")):
            yield _Line(start, line)
        start += len(line) + 1


def _match(pattern: re.Pattern[str], line: _Line) -> re.Match[str] | None:
    return pattern.match(_BEHIND.sub("", line.text)) if len(line.text) <= _MAX_HEADING_CHARS else None


def _course(lines: list[_Line]) -> Lesson:
    """Parse the header into a lesson without number."""
    found = {"title": "", "link": "", "instructor": ""}
    heading = ""
    for line in lines[:_HEADER_LINES]:
        if _match(_LESSON, line):
            break
        if match := _match(_HEADER, line):
            key = match.group(1).lower().removesuffix("s")
            found[key] = found[key] or _words(match.group(2))
        elif not heading and (match := _match(_MARKDOWN_TITLE, line)):
            heading = _words(match.group(1))
    return Lesson(found["title"] or heading, None, "", "", _link(found["link"]), found["instructor"])


def _sections(lines: list[_Line], course: Lesson) -> list[_Section]:
    sections = []
    for position, line in enumerate(lines):
        match = _match(_LESSON, line)
        if match is None:
            continue
        last, link = line, ""
        following = next((after for after in lines[position + 1 : position + 4] if after.text.strip()), None)
        if following and (found := _match(_LESSON_LINK, following)):
            last, link = following, _link(found.group(1))
        title = _words(match.group(2) or "")
        lesson = replace(course, number=int(match.group(1)), title=title, link=link)
        sections.append(_Section(line.start, last.start + len(last.text.rstrip()), lesson))
    return sections


def _words(raw: str) -> str:
    return raw.strip(" \t*")


def _link(raw: str) -> str:
    match = _BRACKETED_LINK.fullmatch(_words(raw))
    return (match.group(1) or match.group(2) or "") if match else _words(raw)


def _body(text: str, start: int, end: int, lesson: Lesson, language: str) -> Iterator[Block]:
    if language != "markdown":
        yield from (Block(a, b, lesson=lesson) for a, b in paragraphs(text, start, end))
        return
    for block in shifted(read_markdown(text[start:end]).blocks, start):
        yield replace(block, level=max(2, block.level) if block.level else 0, lesson=lesson)
