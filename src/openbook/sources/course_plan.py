"""Finds the courses of a source: their folders, their titles, and the lesson of each file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from openbook.sources.contents import CONTENTS_NAMES, Contents, Pages, is_contents, read_contents
from openbook.sources.course_file import COURSE_FILE, CourseFile, read_course_file
from openbook.sources.front_matter import front_matter, read_yaml
from openbook.sources.lesson_names import can_be_lesson, is_aside, is_aside_folder, is_transparent, number_in, readable
from openbook.sources.lesson_numbers import Listed, number_entries, number_files, told_apart
from openbook.sources.readers.course import is_course, read_header
from openbook.types import Lesson

# Files that describe a folder as a whole, the most informative first.
_DESCRIBING = ("course", "syllabus", "readme", "index")
_DESCRIBING_SUFFIXES = frozenset({"", ".md", ".markdown", ".mdx", ".qmd", ".txt", ".rst"})

# Tables of contents are at the top of a repository, or in the folder of a translation.
_MAX_CONTENTS_DEPTH = 3
_MIN_ENTRIES = 2

# Longer text is not a title.
_MAX_TITLE_CHARS = 200

_YEAR = re.compile(r"_?(?:(?:fall|spring|summer|winter|autumn)[-_ ]?)?(?:19|20)\d\d(?:[-_ ]?\w{1,6})?", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?")
_HTML_TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Section:
    """A lesson that begins within a file."""

    heading: str
    """Empty for the beginning of the file."""
    lesson: Lesson


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a file in a course."""

    lesson: Lesson
    """Without a number if it is not a lesson of the course. An empty title means that the file has it."""
    sections: tuple[Section, ...] = ()
    """If the file has several lessons: all of them, in the order of its text."""


def is_describing(name: str) -> bool:
    """Return whether a file name, such as `syllabus.md`, is that of a description of the folder.

    Example:
        >>> is_describing("README.md"), is_describing("course.txt"), is_describing("intro.md")
        (True, True, False)
    """
    path = PurePosixPath(name.lower())
    return path.stem in _DESCRIBING and path.suffix in _DESCRIBING_SUFFIXES


def describing_files(names: Iterable[str]) -> list[str]:
    """Choose the files that describe the folder, the most informative first."""
    found = filter(is_describing, sorted(names))
    return sorted(found, key=lambda name: _DESCRIBING.index(PurePosixPath(name.lower()).stem))


def are_courses(folders: Iterable[str], files: Iterable[str]) -> bool:
    """Return whether each subfolder is a course of its own, rather than all of them one course.

    True if there is no other material, and no subfolder is a part such as `week2` or a kind of material such as
    `slides`.

    Example:
        >>> are_courses(["knots", "bread"], ["README.md"]), are_courses(["week1", "week2"], [])
        (True, False)
    """
    shown = [name for name in folders if not is_aside_folder(name)]
    if any(can_be_lesson(name) and not is_describing(name) and not is_aside(name) for name in files):
        return False
    return bool(shown) and all(number_in(name) is None and not is_transparent(name) for name in shown)


def place_files(pages: Pages, name: str) -> Mapping[str, Placement]:
    """Assign the files of a source to its courses and lessons.

    `name` is the name of the folder, then of those above it in its repository, separated by slashes.

    Returns:
        Placements by path, without files that belong to no course.

    Raises:
        CourseFileError: A `course.toml` is invalid.
    """
    folders, contents = _courses_in(pages)
    found: dict[str, Placement] = {}
    for folder in folders:
        found.update(_placed(folder, contents.get(folder), pages, name))
    return found


def _courses_in(pages: Pages) -> tuple[list[str], dict[str, Contents]]:
    """Return the folders that are courses, `.` for the root, and their tables of contents."""
    tables = _tables_of_contents(pages)
    top = {path.split("/", 1)[0] for path in pages.paths if "/" in path}
    files = [path for path in pages.paths if "/" not in path]
    if COURSE_FILE in pages.paths or "." in tables:
        return ["."], tables
    if len(tables) > 1:
        return sorted(tables), tables
    if tables:
        return ["."], {".": next(iter(tables.values()))}
    shown = sorted(
        folder for folder in top if not is_aside_folder(folder) and any(map(can_be_lesson, pages.below(folder)))
    )
    years = [folder for folder in shown if _YEAR.fullmatch(folder)]
    if len(years) > 1 and not any(number_in(posixpath.splitext(file)[0]) for file in files if can_be_lesson(file)):
        return years, {}
    is_one = not are_courses(shown, ()) or not all(
        are_courses(shown, [file]) or is_course(pages.read(file)) for file in files
    )
    return (["."], {}) if is_one else (shown, {})


def _tables_of_contents(pages: Pages) -> dict[str, Contents]:
    """Return the best table of contents of each folder, ignoring folders below one that has a table."""
    paths = [path for path in pages.paths if is_contents(path) and path.count("/") <= _MAX_CONTENTS_DEPTH]
    found: dict[str, Contents] = {}
    for path in sorted(paths, key=_rank):
        folder = posixpath.dirname(path) or "."
        if any(folder == known or "." in (folder, known) or folder.startswith(f"{known}/") for known in found):
            continue
        contents = read_contents(path, pages)
        if contents and len(number_entries(contents.entries)) >= _MIN_ENTRIES:
            found[folder] = contents
    return found


def _rank(path: str) -> tuple[bool, int, int]:
    """Rank tables of contents: `SUMMARY.md` last, because it may be a leftover of a previous tool."""
    name = posixpath.basename(path).lower()
    return name == "summary.md", path.count("/"), CONTENTS_NAMES.index(name)


def _placed(folder: str, contents: Contents | None, pages: Pages, name: str) -> dict[str, Placement]:
    course = describe(folder, contents, pages, name)
    path = COURSE_FILE if folder == "." else f"{folder}/{COURSE_FILE}"
    inside = pages.below(folder)
    written = CourseFile()
    if path in pages.paths:
        start = len(folder) + 1 if folder != "." else 0
        written = read_course_file(pages.read(path), path, [one[start:] for one in inside])
        course = replace(
            course,
            course=written.title or course.course,
            course_link=written.link or course.course_link,
            instructor=written.instructor or course.instructor,
        )
    if written.lessons is not None:
        return {**dict.fromkeys(inside, Placement(course)), **_as_written(written, folder, course)}
    listed = number_entries(contents.entries) if contents and contents.entries else number_files(folder, pages)
    numbers = told_apart(listed, pages)
    return {one: Placement(_lesson(course, numbers.get(one))) for one in inside}


def _as_written(written: CourseFile, folder: str, course: Lesson) -> dict[str, Placement]:
    sections: dict[str, list[Section]] = {}
    for one in written.lessons or ():
        path = one.file if folder == "." else f"{folder}/{one.file}"
        lesson = replace(_lesson(course, Listed(one.place, one.title)), link=one.link) if not one.hidden else course
        sections.setdefault(path, []).append(Section(one.heading, lesson))
    return {
        path: Placement(course, tuple(listed)) if len(listed) > 1 or listed[0].heading else Placement(listed[0].lesson)
        for path, listed in sections.items()
    }


def _lesson(course: Lesson, listed: Listed | None) -> Lesson:
    if listed is None:
        return course
    return replace(course, number=listed.place.number, part=listed.place.part, title=listed.title)


def describe(folder: str, contents: Contents | None, pages: Pages, name: str) -> Lesson:
    """Describe the course in a folder as a lesson without number.

    Title, link and instructor come from the first of these that has them: `course.txt` or a syllabus, the table of
    contents, the README, the site configuration, the name of the folder.
    """
    names = [path for path in pages.below(folder) if posixpath.dirname(path) == ("" if folder == "." else folder)]
    course = Lesson("", course_path=folder)
    described = describing_files([posixpath.basename(path) for path in names])
    texts = [pages.read(posixpath.normpath(posixpath.join(folder, one))) for one in described]
    first = sum(PurePosixPath(one.lower()).stem in _DESCRIBING[:2] for one in described)
    of_site = Lesson("", None, "", "", contents.link, contents.instructor) if contents else Lesson("")
    if contents and contents.title:
        of_site = replace(of_site, course=contents.title)
    for found in (*map(_header, texts[:first]), of_site, *map(_header, texts[first:]), _of_jekyll(folder, pages)):
        course = replace(
            course,
            course=course.course or found.course[:_MAX_TITLE_CHARS],
            course_link=course.course_link or found.course_link,
            instructor=course.instructor or found.instructor,
        )
    if not course.course:
        return replace(course, course=_named(folder, pages, name))
    whole = describe_title(pages) if folder != "." and _YEAR.fullmatch(folder) else ""
    return replace(course, course=f"{whole}: {course.course}") if whole else course


def _header(text: str) -> Lesson:
    found = read_header(text)
    html = _HTML_TITLE.search(text[:4000])
    title = str(front_matter(text).get("title") or "") or found.course or (html[1] if html else "")
    return replace(found, course=" ".join(_TAG.sub(" ", title).split()))


def _of_jekyll(folder: str, pages: Pages) -> Lesson:
    values = read_yaml(pages.read(posixpath.normpath(posixpath.join(folder, "_config.yml"))))
    title = values.get("title") if isinstance(values, dict) else None
    return Lesson(title if isinstance(title, str) else "")


def _named(folder: str, pages: Pages, name: str) -> str:
    """Name a course after its folder, and also after those above if the folder is only a language or a year."""
    *above, own = [part for part in folder.split("/") if part != "."] or [""]
    if not own:
        own, *above = name.split("/")
        above.reverse()
    if not (_LANGUAGE.fullmatch(own) or _YEAR.fullmatch(own) or is_transparent(own)):
        return readable(own)
    whole = describe_title(pages) if folder != "." else ""
    kept = next((part for part in reversed(above) if part == "course" or not is_transparent(part)), "")
    title = whole or readable(kept) or (readable(name.split("/")[0]) if folder != "." else "")
    return title if is_transparent(own) and title else f"{title} ({own.lstrip('_')})" if title else readable(own)


def describe_title(pages: Pages) -> str:
    """Return the title of a source from its README, index or configuration; empty without one."""
    described = describing_files([path for path in pages.paths if "/" not in path])
    titles = (*(_header(pages.read(path)).course for path in described), _of_jekyll(".", pages).course)
    return next(filter(None, titles), "")
