"""Resolves course names by their words, tolerating typos, and by meaning."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from openbook.embedding.protocol import Embedder
from openbook.errors import AmbiguousCourseError, UnknownCourseError, did_you_mean
from openbook.questions.words import folded
from openbook.tokens import tokenize
from openbook.types import Course

# English and German words that announce a course name or that any title may have, and stop words.
_FILLERS = frozenset(
    "a about all an and are at by can class classes course courses do does for from how i in into is it its lecture"
    " lectures lesson lessons material me my of on one ones our series some teaches that the their this to training"
    " tutorial uses using we what when where which who with you your"
    " das dem den der des die ein eine einem einen einer fuer fur im kurs kurse kurses mit oder ueber und uber vom von"
    " wie zu zum zur"
    " conclusion intro introduction outro overview recap summary welcome"
    " ausblick einfuhrung einleitung uberblick zusammenfassung".split()
)

_ROMAN = {"ii": "2", "iii": "3", "iv": "4"}

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")

# Weights of a matching word: 1 if equal or of the same stem; less if abbreviated ("adv." for "advanced"), misspelled,
# or found in a lesson, which says less about the name of the course. Any value from .7 (lessons: .5) to .9 resolves all
# but one of the names in `benchmarks/course_names.py` alike.
_CUT_SHORT = 0.9
_MISSPELLED = 0.85
_IN_LESSON = 0.75

# Minimum similarity of misspelled words: "computr" matches "computer", "react" does not match "create". From .74 to .82
# no result changes for these names; at .7, a name of no course matches one.
_ALIKE = 0.78

# In shorter words, the only accepted typo is a transposition: "MPC" for "MCP".
_SHORT_WORD = 4

# A course matches if it has this share of the words, weighted by rarity: "Advanced Python" does not match "Advanced
# Retrieval". From .52 to .6 no result changes for these names. For a description, which has more words than a name,
# meaning can decide as well: of 31 invented ones that match no course of two catalogs, the nearest scored .65.
_MIN_SHARE = 0.6
_DESCRIPTION_WORDS = 3
_NEAR = 0.66

# Weight of the cosine, and the distance from the best score beyond which a course is ruled out. No result changes with
# the former from 0 to .75 or the latter from .05 to .3.
_MEANING = 0.5
_MARGIN = 0.12

# Maximum number of courses listed in an error.
_MAX_LISTED = 10


@dataclass(frozen=True, slots=True)
class Resolution:
    """The resolution of a name. Without a course and candidates, nothing matches."""

    course: Course | None = None
    candidates: tuple[Course, ...] = ()
    """Equally good matches, best first; empty unless there are several."""


def find_course(name: str, courses: Sequence[Course], embedder: Embedder) -> Course:
    """Return the course with a name.

    Raises:
        UnknownCourseError: No course matches; the hint lists all.
        AmbiguousCourseError: Several courses match; the hint lists them.
    """
    resolution = resolve(name, courses, embedder)
    if resolution.course is not None:
        return resolution.course
    if resolution.candidates:
        raise AmbiguousCourseError(
            f"{name!r} can mean {len(resolution.candidates)} courses",
            hint=f"name one of: {_listed(resolution.candidates)}",
        )
    if not courses:
        raise no_course()
    raise UnknownCourseError(
        f"no course is called {name!r}",
        hint=did_you_mean(name, [course.title for course in courses], f"there are: {_listed(courses)}"),
    )


def no_course() -> UnknownCourseError:
    """Build the error for a library without courses."""
    return UnknownCourseError("the library has no courses", hint="add one with: openbook add --course FOLDER")


def _listed(courses: Sequence[Course]) -> str:
    shown = [f"{course.title} ({course_key_text(course)})" for course in courses[:_MAX_LISTED]]
    return "; ".join([*shown, f"and {len(courses) - len(shown)} more"] if len(courses) > len(shown) else shown)


def course_key_text(course: Course) -> str:
    """Return source and path, which together are unique."""
    return course.source if course.path == "." else f"{course.source}/{course.path}"


def resolve(name: str, courses: Sequence[Course], embedder: Embedder) -> Resolution:
    """Resolve a name to a course.

    An exact match wins, in this order: path (or source and path), title, name of the file or folder.
    Otherwise, the words of the name are matched against titles, paths, instructors and lessons. A
    rare word counts more than a common one, and a word that no course has counts against all of
    them. The cosine of the embeddings is added.

    Words such as "the course about" are ignored.
    """
    name = name.strip()
    courses = sorted(courses, key=lambda course: course.key)
    placed = [course for course in courses if name in (course.path, course_key_text(course))]
    words, asked = _words(name), _telling(name)
    if placed or not words or not courses:
        return _among(placed)
    titled = [course for course in courses if _words(course.title) == words]
    called = [course for course in courses if _telling(course.title) == asked]
    filed = [course for course in courses if PurePosixPath(course.path).name == name]
    if titled or called or filed:
        return _among(titled or called or filed)
    held = _by_words(asked, courses)
    meant = _by_meaning(" ".join(asked), courses, embedder)
    scores = [words + _MEANING * meaning for words, meaning in zip(held, meant, strict=True)]
    best = max(range(len(courses)), key=scores.__getitem__)
    described = len(asked) >= _DESCRIPTION_WORDS and meant[best] >= _NEAR
    if held[best] < _MIN_SHARE and not described:
        return Resolution()
    ranked = sorted(zip(scores, courses, strict=True), key=lambda pair: -pair[0])
    return _among([course for score, course in ranked if score > scores[best] - _MARGIN])


def _among(courses: Sequence[Course]) -> Resolution:
    return Resolution(courses[0]) if len(courses) == 1 else Resolution(candidates=tuple(courses))


def _words(text: str) -> list[str]:
    """Split into words, ignoring case and accents; "Python II" equals "Python 2"."""
    words = _WORD.findall(folded(_POSSESSIVE.sub(" ", text)))
    words[-1:] = ["1" if word == "i" else word for word in words[-1:]]
    return [_ROMAN.get(word, word) for word in words]


def _telling(text: str) -> list[str]:
    """Return the distinctive words; all words if none is distinctive."""
    words = _words(text)
    return [word for word in words if word not in _FILLERS] or words


@dataclass(frozen=True, slots=True)
class _CourseWords:
    """The words that identify a course."""

    title: tuple[str, ...]
    others: frozenset[str]
    """Words of path and instructor."""
    lessons: frozenset[str]
    initials: str
    """The distinctive words of the title."""

    @classmethod
    def of(cls, course: Course) -> _CourseWords:
        """Collect the words of a course."""
        title = _words(course.title)
        return cls(
            tuple(title),
            frozenset(
                word for word in _words(f"{PurePosixPath(course.path).stem} {course.instructor}") if word.isalpha()
            ),
            frozenset(word for lesson in course.lessons for word in _telling(lesson.title)),
            "".join(word[0] for word in _telling(course.title)),
        )

    def worth(self, word: str) -> float:
        """Return how well a word of a name matches, from 0 to 1."""
        if word == self.initials or (len(word) > 2 and word in self.initials):
            return 1.0
        named = max((_alike(word, each) for each in (*self.title, *self.others)), default=0.0)
        return max(named, _IN_LESSON * max((_alike(word, each) for each in self.lessons), default=0.0))


def _alike(word: str, other: str) -> float:
    """Return the similarity of two words, from 0 to 1."""
    from rapidfuzz.distance import OSA

    if word == other:
        return 1.0
    if not (word + other).isalpha():  # "Security 2023" is not "Security 2024"
        return 0.0
    if (word + other).isascii() and tokenize(word)[0] == tokenize(other)[0]:
        return 1.0
    if word[:3] == other[:3] and len(word) > 2 and _is_within(word, other):
        return _CUT_SHORT
    if min(len(word), len(other)) < _SHORT_WORD:
        swapped = len(word) == len(other) == 3 and sorted(word) == sorted(other) and OSA.distance(word, other) == 1
        return _MISSPELLED if swapped else 0.0
    return _MISSPELLED if OSA.normalized_similarity(word, other) >= _ALIKE else 0.0


def _is_within(word: str, other: str) -> bool:
    """Return whether a word is a subsequence of another: "stats" in "statistics"."""
    letters = iter(other)
    return all(letter in letters for letter in word)


def _by_words(asked: Sequence[str], courses: Sequence[Course]) -> list[float]:
    """Return the share of a name that each course matches, from 0 to 1."""
    called = [_CourseWords.of(course) for course in courses]
    spelled = "".join(word[0] for word in asked)
    worths = [[one.worth(word) for word in asked] for one in called]
    # A word without any match gets the highest rarity.
    rarities = [
        math.log(1 + len(courses) / max(1, sum(row[place] > 0 for row in worths))) for place in range(len(asked))
    ]
    scores = []
    for one, row in zip(called, worths, strict=True):
        held = sum(worth * rarity for worth, rarity in zip(row, rarities, strict=True)) / sum(rarities)
        # An acronym in the title: "Model Context Protocol" for "MCP".
        scores.append(1.0 if len(spelled) > 2 and spelled in one.title else held)
    return scores


def _by_meaning(name: str, courses: Sequence[Course], embedder: Embedder) -> list[float]:
    """Return the cosine of the name with each course's title or its nearest lesson."""
    titles = [[course.title, *(lesson.title for lesson in course.lessons)] for course in courses]
    flat = embedder.embed([name, *(title for each in titles for title in each)])
    # The last bits depend on the CPU; round, so that equal titles are equally near.
    ends = iter((flat[1:] @ flat[0]).round(4).tolist())
    return [max(0.0, *(next(ends) for _ in each)) for each in titles]
