"""Parses numbers, dates and titles of lessons from the names of files and folders."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

# Names of parts, in English and German, before a number: "Lecture 4 - Ropes", "lesson_3", "week2".
_LESSON = r"(?:class|episode|lecture|lec|lesson|l|session|talk|lektion|vorlesung)"
_PART = (
    rf"(?:{_LESSON}|chapter|ch|day|module|part|section|unit|video|week|wk"
    r"|kapitel|modul|tag|teil|woche)"
)
# "1.2" is part 2 of lesson 1.
_NUMBER = r"(\d{1,4})((?:\.\d{1,3}(?!\d))*)(?!\d)"


def _after(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=[^a-z0-9])){word}[ _.-]*{_NUMBER}", re.IGNORECASE)


# In names with a week and a lesson, the number of the lesson counts, whichever comes first.
_NUMBERED = [_after(_LESSON), _after(_PART)]
_IN_MODULE = _after(r"(?:module|week|wk|unit|modul|woche)")
_OF_LESSON = _after(r"(?:part|teil)")
# "01-intro" and "3. Ropes", but not a year.
_LEADING = re.compile(rf"(?!\d{{4}}){_NUMBER}(?=[ _.)-]|$)")
# "05.10.2023", "10-05-23" and "2023-10-05".
_DATE = re.compile(
    r"(?<!\d)(?:\d{1,2}([._-])\d{1,2}\1\d{4}|\d{1,2}([.-])\d{1,2}\2\d\d|\d{4}([._-])\d{1,2}\3\d{1,2})(?!\d)"
)
_BETWEEN = " \t_.:,;()–—-"

# The repeated number in a heading such as "Lesson 4: Ropes".
_REPEATED = re.compile(rf"(?:{_PART}[ _.-]*\d{{1,4}}(?:\.\d{{1,3}})*\s*(?:[:.–—-]\s*|$))+", re.IGNORECASE)
_REPEATED_NUMBER = re.compile(r"\d{1,4}(?:(?:\.\d{1,3})+[.):]?|[.):])\s+(?=\S)")
# Heading anchors: `[[anchor]]` of Hugging Face, `{#anchor}` of Pandoc.
_ANCHOR = re.compile(r"\s*(?:\[\[[\w-]+\]\]|\{[#.:][^{}]*\})\s*$")

# Suffixes of files that can be lessons: prose, slides, notebooks and transcripts.
_MATERIAL = frozenset(
    """
    md markdown mdown mkd mdx qmd rmd rst txt adoc asciidoc org tex typ html htm xhtml ipynb
    pdf pptx odp docx odt rtf epub vtt srt sbv
    """.split()
)

# Files beside lessons that are about the repository or the site.
_ASIDE = frozenset(
    """
    404 about agents changelog claude cname code_of_conduct codeofconduct codeowners contributing contributors copying
    funding gemini issue_template licence license license-code license-text notice pull_request_template readme
    requirements robots
    """.split()
)
# The same, but only in capitals, as tools expect them: `security.md` can be a lesson.
_ASIDE_LARGE = frozenset(
    "AUTHORS CHANGES CITATION CONDUCT COPYRIGHT CREDITS GOVERNANCE HISTORY INSTALL MAINTAINERS NEWS OWNERS RELEASE"
    " RELEASES SECURITY SUPPORT THANKS TRANSLATING".split()
)
_ASIDE_FOLDERS = frozenset(
    """
    _extras _freeze _includes _layouts _sass _site _templates assets ci css data dist etc fig figs figures files images
    img includes instructors js layouts license output outputs plots profiles results scripts static styles templates
    theme themes tools utils
    """.split()
)

INDEXES = ("readme", "index")
"""Names of the index page of a folder."""

# Folders named after a kind of file, not after a module.
_TRANSPARENT = frozenset(
    """
    _episodes _lectures _lessons _posts book chapters code content contents course courses docs episodes exercises
    handouts lectures lesson lessons material materials modules notebooks notes pages pdf pdfs slides source sources
    src subtitles text transcripts units videos website
    """.split()
)


@dataclass(frozen=True, slots=True)
class NameNumber:
    """The number in a name."""

    number: int
    part: int | None
    """2 in "1.2"; the lesson in "Module 2 - Lesson 1"."""
    rest: str
    """The name without the number."""


def number_in(name: str) -> NameNumber | None:
    """Return the number in the name of a folder, or of a file without its suffix; None without one.

    Dates and years do not count.

    Example:
        >>> [(found.number, found.part) for found in map(number_in, ("01-part-3", "1.2 Knots", "Week 2 - Lesson 1"))]
        [(1, None), (1, 2), (2, 1)]
    """
    undated = _DATE.sub(lambda date: "x" * len(date.group()), name)
    lesson, module, part = (pattern.search(undated) for pattern in (_NUMBERED[0], _IN_MODULE, _OF_LESSON))
    pairs = [(module, lesson), (lesson, part)]
    for outer, inner in pairs:
        if outer and inner and outer.end() <= inner.start():
            rest = f"{name[: outer.start()]} {name[outer.end() : inner.start()]} {name[inner.end() :]}"
            return NameNumber(int(outer[1]), int(inner[1]), rest)
    leading, named = _LEADING.match(undated), _NUMBERED[1].search(undated)
    is_of_series = named is not None and part is not None and named.start() == part.start()
    # "08-small-models-part-2" is lesson 8; "part 2" counts something else.
    found = [lesson, leading, named] if is_of_series else [lesson, named, leading]
    match = next(filter(None, found), None)
    if match is None:
        return None
    within = match[2].split(".")[1:]
    return NameNumber(
        int(match[1]), int(within[0]) if within else None, f"{name[: match.start()]} {name[match.end() :]}"
    )


def date_in(name: str) -> str:
    """Return the date in a name in ISO format; empty without one.

    Example:
        >>> date_in("05.10.2023 talk"), date_in("2023-10-05-talk")
        ('2023-10-05', '2023-10-05')
    """
    found = _DATE.search(name)
    if found is None:
        return ""
    parts = [part.zfill(2) for part in re.split(r"[._-]", found.group())]
    return "-".join(parts if len(parts[0]) == 4 else reversed(parts))


def readable(name: str) -> str:
    """Write the name of a file or folder as words.

    Example:
        >>> readable("tying_knots-at sea")
        'Tying knots at sea'
    """
    words = re.sub(r"[\s_-]+", " ", name).strip(_BETWEEN)
    return words[:1].upper() + words[1:]


def clean_title(heading: str) -> str:
    """Return a heading without a repeated number and without an anchor.

    Example:
        >>> clean_title("Lesson 4: Ropes"), clean_title("1.3 Models[[models]]")
        ('Ropes', 'Models')
    """
    heading = _ANCHOR.sub("", heading)
    for pattern in (_REPEATED, _REPEATED_NUMBER):
        repeated = pattern.match(heading)
        heading = heading[repeated.end() :] if repeated else heading
    return heading.strip()


def name_of_page(path: str) -> str:
    """Return a title for a page without one: its file name, or the folder name of an index page.

    Example:
        >>> name_of_page("docs/02-tying_knots.md"), name_of_page("docs/splices/index.md")
        ('Tying knots', 'Splices')
    """
    *folders, name = path.split("/")
    stem = PurePosixPath(name).stem
    is_index = stem.lower() in INDEXES
    if is_index:
        stem = next((folder for folder in reversed(folders) if not is_transparent(folder)), stem)
    found = number_in(stem)
    return readable(found.rest if found else stem) or (readable(stem) if is_index else "")


def can_be_lesson(path: str) -> bool:
    """Return whether a file name is that of a possible lesson: prose, slides, a notebook or a transcript.

    Example:
        >>> [can_be_lesson(path) for path in ("a/01-intro.md", "LICENSE", "404.html", "a/loop.py", "img/a.md")]
        [True, False, False, False, False]
    """
    *folders, name = path.split("/")
    stem, _, suffix = name.rpartition(".")
    if suffix.lower() not in _MATERIAL or not stem or stem.startswith((".", "_")) or is_aside(name):
        return False
    return not any(is_aside_folder(folder) for folder in folders)


def is_aside(name: str) -> bool:
    """Return whether a file name is that of a page about the repository: a licence, a 404 page, a contributor guide."""
    stem = PurePosixPath(name).stem
    return stem.lower() in _ASIDE or stem in _ASIDE_LARGE


def is_aside_folder(name: str) -> bool:
    """Return whether a folder contains assets of lessons rather than lessons."""
    return name.lower() in _ASIDE_FOLDERS or name.startswith(".")


def is_transparent(name: str) -> bool:
    """Return whether a folder is named after a kind of file only: `slides`, `lessons`, `docs`."""
    return name.lower() in _TRANSPARENT
