"""What a question asks of courses: their outlines, what a lesson is about, which of them speak of something.

English and German words of asking are known. Only words are read here: whether they name a course
is for `openbook.courses.names` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from openbook.questions.words import FILLING_WORDS, STOP_WORDS, telling_words

Asks = Literal["courses", "lessons", "outline", "header", "summary", "topic", ""]
"""Which courses or lessons speak of something, what lessons a course has, who gives it, what it or one of
them is about, something in it; or nothing of the kind."""

_COURSE = r"(?:courses?|kurse?s?)\b"
_LESSON = re.compile(r"\b(?:lesson|lektion)\s+(?:number\s+|no\.?\s*|nr\.?\s*)?(\d{1,4})\b", re.IGNORECASE)

# Which one is meant, a filter says.
_THIS_LESSON = re.compile(
    r"\b(?:(?:this|the)\s+lesson|(?:diese[rn]?|die|der)\s+lektion|(?:cette|la)\s+leçon|(?:esta|la)\s+lección)\b",
    re.IGNORECASE,
)

# Characters. What is longer is no such question, or more than one.
_LONGEST = 500
_BETWEEN_QUESTIONS = re.compile(r"(?<=\?)\s+")

# "Of course" says nothing of courses.
_SAYS_COURSE = re.compile(rf"(?:(?<!\bof )\b|(?<=-)){_COURSE}", re.IGNORECASE)
_MENTIONS = re.compile(
    rf"{_SAYS_COURSE.pattern}|\b(?:outline|syllabus|curriculum|gliederung|lehrplan)\b", re.IGNORECASE
)

_WHICH_COURSES = re.compile(
    rf"\W*(?:in\s+)?(?:which|what|list|name|show|all|welche[mnrs]?|liste|alle)\b"
    rf"(?:\s+(?:me|the|of|all|these|my|our|die|alle))*\s+{_COURSE}",
    re.IGNORECASE,
)

_WHICH_LESSONS = re.compile(
    r"\W*(?:in\s+)?(?:which|what|list|welche[nr]?)\b(?:\s+(?:the|of|all))*\s+(?:lessons?|lektion(?:en)?)\b",
    re.IGNORECASE,
)

# "Where is the default port?" asks for the port, "Where is it explained?" for a place.
_WHERE = re.compile(
    rf"(?:\W*(?:where|wo)\b|{_WHICH_LESSONS.pattern})"
    r"[^?]*\b(?:explain|cover|teach|taught|discuss|introduc|treat|talk|erklärt|behandelt|besprochen)(?:s|ed|es|e)?\b",
    re.IGNORECASE,
)

_OUTLINE = re.compile(
    r"\b(?:outline|syllabus|curriculum|table of contents|gliederung|inhaltsverzeichnis|lehrplan|lessons|lektionen)\b",
    re.IGNORECASE,
)

_HEADER = re.compile(
    r"\b(?:who\s+(?:teaches|taught|gives|holds|leads|made|is)|instructors?|teacher|wer)\b|\b(?:link|url)\b[^?]{0,60}\bcourse",
    re.IGNORECASE,
)
_WORDS_OF_HEADER = frozenset(
    "instructor instructors teacher link url give send wer unterrichtet leitet made leads".split()
)

# What stands between words of asking and the name of a course.
_BEFORE_NAME = (
    r"of|in|from|by|on|for|the|this|that|a|an|my|our|your|does|do|did|is|are|was|were|has|have|and|or|"
    r"de[rmns]|das|die|ein(?:e[mnrs]?)?|im|vom|von|aus|hat|ist|und|oder"
)
_ENDS_NAME = re.compile(
    r"[?!,;.](?=\s|$)|\s(?:say|tell|cover|explain|teach|discuss|mention|speak|talk|about|use|used|sagt|erklärt|behandelt)"
    r"(?:s|es)?\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,120})[\"”“»]")
# "The course on tides", "der Kurs über Gezeiten", "der Kurs Tides".
_CALLED = re.compile(
    rf"{_COURSE}\s+(?:(?:on|about|called|named|titled|über|zu[mr]?|namens)\s+(?:the\s+|de[nmr]\s+)?|(?=(?-i:[A-ZÄÖÜ])))",
    re.IGNORECASE,
)
_BELONGS = re.compile(
    r"(?:\b(?:lesson|lektion)\s+\d{1,4}|\b(?:outline|syllabus|curriculum|table of contents|gliederung|lehrplan))"
    r"\s+(?:of|in|from|for|von|aus|de[rs])\s+(?:the\s+|de[mnr]\s+)?",
    re.IGNORECASE,
)
_BEFORE_COURSE = re.compile(
    rf"(?:^|\b(?:{_BEFORE_NAME})\s+)((?:(?!(?:{_BEFORE_NAME})\s)[^\s?!;]+\s+){{0,7}}?(?:(?!(?:{_BEFORE_NAME})\s)[^\s?!;]+?))"
    rf"[\s-]+{_COURSE}",
    re.IGNORECASE,
)
_TRAILING_COURSE = re.compile(rf"[\s-]+{_COURSE}\W*$", re.IGNORECASE)

# Words of asking what something is about. What is left of a question without them is its topic.
_ASKING = frozenset(
    (
        "about address addressed answer available brief briefly chapter chapters contain contains content contents"
        " course courses cover covered covers current curriculum deal deals dealt discuss discussed discusses"
        " entire exactly exist explained hold holds idea ideas"
        " included includes introduce introduced introduces key learn learned learnt"
        " lesson lessons list main many mentioned name number order outline overview part parts point points present"
        " presented said say says short show speak structure subject subjects summaries summarise summarize summary"
        " syllabus table talk talked talks taught teach teaches tell tells topic topics treated treats"
        " alle auf behandeln behandelt behandelte behandle beinhaltet besprochen bitte das dem den der des die ein"
        " eine einen einer enthält erkläre erklären erklärt es fass fasse geht gelernt gib gibt gliederung haben"
        " handeln handelt hat im inhalt inhaltsverzeichnis ist kurs kurse kurses kurz lehrplan lektion lektionen"
        " lernen lernt man mir nr thema themen und viele vom von war was welche welchen welcher welches wer wie"
        " wird wo worum wovon wurde zeige zusammen zusammenfassung über"
        " ce cette cours diese dieser dieses la le leçon leçons parle quoi résume résumer résumez résumé"
        " curso esta este lección lecciones resume resumen resumir trata"
    ).split()
)


@dataclass(frozen=True, slots=True)
class CourseQuestion:
    """A question in which courses or lessons are mentioned."""

    text: str
    names: tuple[str, ...]
    """Words that may name a course, as written, the likeliest first."""
    lesson: int | None
    """0 is a lesson."""
    says_course: bool
    """It says that it means a course, so that a name that is unknown is one."""

    @property
    def lists_courses(self) -> bool:
        """It begins as "Which courses ..." does."""
        return _WHICH_COURSES.match(self.text) is not None

    @property
    def lists_lessons(self) -> bool:
        """It begins as "Which lessons ..." does."""
        return _WHICH_LESSONS.match(self.text) is not None

    def topic(self, name: str = "") -> str:
        """Give what is left to search for without a name, the lesson and words of asking; empty if nothing is."""
        words = re.findall(r"\w+(?:[-'’.]\w+)*", _LESSON.sub(" ", self.text.replace(name, " ") if name else self.text))
        told = " ".join(word for word in words if _tells(word))
        return told if _is_searchable(told) else ""

    def asks(self, name: str = "") -> Asks:
        """Say what it asks for, `name` being the one among its words that does name a course."""
        if self.lists_courses:
            return "courses"
        if not name and self.lesson is None and self.topic() and _WHERE.match(self.text):
            return "lessons"
        topic = self.topic(name)
        if self.lesson is None and _HEADER.search(self.text) and _WORDS_OF_HEADER.issuperset(topic.lower().split()):
            return "header"
        if topic:
            return "topic" if name or self.lesson is not None else ""
        if self.lesson is None and _OUTLINE.search(self.text):
            return "outline"
        return "summary" if name or self.lesson is not None else ""

    @property
    def is_about_the_only_one(self) -> bool:
        """It asks what "the course" is about and names none, which is clear where there is but one."""
        return self.says_course and not self.names and self.lesson is None and not self.topic()

    @property
    def is_about_the_chosen_one(self) -> bool:
        """It asks what "this lesson" is about, which is clear where one is chosen."""
        return not self.names and self.lesson is None and not self.topic() and bool(_THIS_LESSON.search(self.text))

    @property
    def is_about_one(self) -> bool:
        """It asks for the outline or a lesson of a course that it names, whether there is such a course or not."""
        return self.says_course and any(
            self.asks(name) == "outline" or (self.asks(name) == "summary" and self.lesson is not None)
            for name in self.names
        )


def _tells(word: str) -> bool:
    lowered = word.lower()
    return not (lowered in STOP_WORDS or lowered in FILLING_WORDS or lowered in _ASKING)


def _is_searchable(text: str) -> bool:
    return bool(telling_words(text))


def read_course_question(text: str) -> CourseQuestion | None:
    """Read a question; None if it mentions no course, no lesson by its number, and no place of explaining.

    Of several questions the last one is read; those before it may name the course.

    Example:
        >>> asked = read_course_question("What was covered in lesson 5 of the MCP course?")
        >>> asked.names, asked.lesson, asked.asks("MCP")
        (('MCP',), 5, 'summary')
    """
    if len(text) > _LONGEST:
        return None
    *before, last = _BETWEEN_QUESTIONS.split(text.strip())
    lesson = _LESSON.search(last)
    goes_on = bool(before) and _HEADER.search(last) is not None  # "Who teaches it?"
    if lesson is None and not (_MENTIONS.search(last) or _WHERE.match(last) or _THIS_LESSON.search(last) or goes_on):
        return None
    told = () if _WHICH_COURSES.match(last) else (last, *reversed(before))
    found = dict.fromkeys(name for part in told for name in _names(part))
    # "The outline of this course" names none.
    names = tuple(name for name in found if any(map(_tells, re.findall(r"\w+", name))))
    return CourseQuestion(last, names, int(lesson[1]) if lesson else None, _SAYS_COURSE.search(last) is not None)


def _names(text: str) -> Iterator[str]:
    for quoted in _QUOTED.finditer(text):
        yield quoted[1].strip()
    for before in (*_CALLED.finditer(text), *_BELONGS.finditer(text)):
        rest = _ENDS_NAME.split(text[before.end() :], maxsplit=1)[0].strip()
        name = _TRAILING_COURSE.sub("", rest)
        if name and re.fullmatch(_COURSE, name, re.IGNORECASE) is None:
            yield name
    for match in _BEFORE_COURSE.finditer(text):
        yield match[1].strip(" -")
