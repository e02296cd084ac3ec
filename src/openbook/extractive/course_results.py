"""Results for questions on courses: outlines, whole lessons, or passages of a course on a topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath

from openbook.courses.names import resolve
from openbook.embedding.protocol import Embedder
from openbook.extractive.outlines import behind_front_matter, document_outline, head_of_lesson, header_of
from openbook.index.protocol import Index
from openbook.questions.course_questions import CourseQuestion
from openbook.retrieval.search import DEPTH
from openbook.sources.course_plan import is_describing
from openbook.types import Chunk, Course, Filter, ResultRole, RetrievalResult

# Signal with the number of lessons, on outlines that were asked for to count them.
LESSONS = "lessons"

IN_COURSES = frozenset((ResultRole.OF_COURSE, ResultRole.OF_LESSON, ResultRole.INSIDE))
"""Roles of results that represent a course or lesson, or are a part of one."""

# Chunks of a transcript that fit a context. The longest known lesson has 36.
_MAX_CHUNKS = 24

# Limits of summaries, of which each gets a sentence, and of course headers; `openbook courses` lists more.
_MAX_COURSES, _MAX_HEADERS = 10, 50

_PER_COURSE = 3

# Several results may be of one lesson, so a question for lessons needs more of them.
_PER_PLACE = 3

Search = Callable[[str, int, Filter], list[RetrievalResult]]
"""Takes a topic, the number of results, and a filter."""

_Numbered = CourseQuestion | Filter
"""Anything with the attributes `lesson` and `part`."""

_EVERYTHING = Filter()

Supports = Callable[[str, Sequence[RetrievalResult]], bool]
"""Tells whether results are about a topic."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A lesson that a question names, with the words of the question."""

    name: str
    course: Course
    number: int | None
    part: int | None


@dataclass(frozen=True, slots=True)
class VisibleCourses:
    """The visible courses, and results for questions about them."""

    index: Index
    embedder: Embedder
    where: Filter
    search: Search
    supports: Supports

    def results(self, asked: CourseQuestion, top_k: int) -> list[RetrievalResult] | None:
        """Return the results for a question on courses; None if it is to be searched for like any other.

        An unknown name that the question calls a course has no results; an ambiguous one gets the headers of all
        candidates. A missing lesson gets the headings of the existing ones.
        """
        courses = self.index.courses(replace(self.where, lesson=None, part=None))
        if not courses:
            return None
        name, meant = self._meant(asked, courses)
        part = self._part_meant(asked, meant or courses)
        if part is not None:
            meant, asked = (part.course,), replace(asked, lesson=part.number, part=part.part)
        asks = asked.asks(name, part.name if part else "")
        if asks == "courses":
            return self._speaking(asked.topic(), courses) if asked.topic() else self._headers(courses)
        if not meant and asked.is_about_one:
            return []
        if asks in ("summary", "topic", "link") and self._is_absent(asked, meant or courses):
            return self._other_lessons(meant or courses)
        if asks in ("outline", "header") and (asked.says_course or meant):
            chosen = meant or courses
            is_outline = len(chosen) == 1 and asks == "outline"
            return self._outline(chosen[0], counted=asked.counts) if is_outline else self._openings(chosen, asks)
        if asks == "link":
            return self._heads(meant or courses, asked)
        if asks == "lessons":
            return self._explaining(asked.topic(), top_k)
        if asks == "topic":
            wanted = top_k * _PER_PLACE if asked.lists_lessons else top_k
            topic = asked.topic(name, part.name if part else "")
            found = self.search(topic, wanted, self._narrowed(meant, asked))
            return [_with_role(one, ResultRole.INSIDE) for one in found] if self.supports(topic, found) else found
        is_chosen = self.where.lesson is not None and asked.is_about_the_chosen_one
        is_clear = asks == "summary" or is_chosen or (len(courses) == 1 and asked.is_about_the_only_one)
        return self._summary(meant or courses, asked) if is_clear else None

    def _meant(self, asked: CourseQuestion, courses: Sequence[Course]) -> tuple[str, tuple[Course, ...]]:
        for name in asked.names:
            found = resolve(name, courses, self.embedder)
            if found.course is not None or found.candidates:
                return name, (found.course,) if found.course is not None else found.candidates
        for course in courses:
            start = asked.text.casefold().find(course.title.casefold())
            if start >= 0:
                return asked.text[start : start + len(course.title)], (course,)
        return "", ()

    def _part_meant(self, asked: CourseQuestion, courses: Sequence[Course]) -> _Part | None:
        """Return the lesson that is named by its title, if it is unambiguous."""
        lessons = [(course, lesson) for course in courses for lesson in course.lessons]
        titled = [Course("", str(place), lesson.title) for place, (_, lesson) in enumerate(lessons)]
        for name in asked.lesson_names if asked.lesson is None else ():
            found = resolve(name, titled, self.embedder).course
            if found is not None:
                course, lesson = lessons[int(found.path)]
                return _Part(name, course, lesson.number, lesson.part)
        return None

    def _is_absent(self, asked: _Numbered, courses: Sequence[Course]) -> bool:
        if asked.lesson is None or self.where.lesson is not None:
            return False
        wanted = Filter(lesson=asked.lesson, part=asked.part)
        return not any(wanted.allows_lesson(each) for course in courses for each in course.lessons)

    def _narrowed(self, courses: Sequence[Course], asked: _Numbered) -> Filter:
        keys = frozenset(course.key for course in courses) or self.where.courses
        chosen: _Numbered = asked if self.where.lesson is None else self.where
        return replace(self.where, courses=keys, lesson=chosen.lesson, part=chosen.part)

    def _chunks(self, course: Course, asked: _Numbered = _EVERYTHING) -> Iterator[Chunk]:
        where = self._narrowed([course], asked)
        for listed in self.index.documents(where):
            for chunk in self.index.chunks(listed.source, listed.path):
                if where.allows_lesson(chunk.lesson):
                    yield chunk

    def _opening(self, course: Course, asked: _Numbered = _EVERYTHING) -> Chunk | None:
        return next(iter(behind_front_matter(list(islice(self._chunks(course, asked), 2)))), None)

    def _headers(self, courses: Sequence[Course]) -> list[RetrievalResult]:
        openings = (self._opening(course) for course in courses[:_MAX_HEADERS])
        return [_asked_for(header_of(opening), ResultRole.HEADING) for opening in openings if opening is not None]

    def _openings(self, courses: Sequence[Course], asks: str) -> list[RetrievalResult] | None:
        """Return the headers of courses; None if they are asked for a teacher or a link, and begin with a lesson."""
        headers = self._headers(courses)
        return headers if asks == "outline" or any(_number(each.chunk) is None for each in headers) else None

    def _outline(self, course: Course, *, counted: bool) -> list[RetrievalResult]:
        found = [
            _asked_for(heading, ResultRole.HEADING) for heading in outline_of_course(course, list(self._chunks(course)))
        ]
        count = {LESSONS: float(len(course.lessons))} if counted else {}
        return [replace(one, signals={**one.signals, **count}) for one in found]

    def _heads(self, courses: Sequence[Course], asked: _Numbered) -> list[RetrievalResult]:
        first = (self._opening(course, asked) for course in courses[:_MAX_HEADERS])
        return [_asked_for(head_of_lesson(chunk), ResultRole.HEADING) for chunk in first if chunk is not None]

    def _other_lessons(self, courses: Sequence[Course]) -> list[RetrievalResult]:
        headings = (
            one for course in courses[:_MAX_COURSES] for one in outline_of_course(course, list(self._chunks(course)))
        )
        return [_asked_for(heading, ResultRole.OTHER_LESSON) for heading in headings if _number(heading) is not None]

    def _summary(self, courses: Sequence[Course], asked: _Numbered) -> list[RetrievalResult]:
        """Return the numbered lesson of each course; by default the first one, which introduces the course."""
        found = []
        for course in courses[:_MAX_COURSES]:
            first = next((Filter(lesson=each.number, part=each.part) for each in course.lessons), _EVERYTHING)
            every = list(self._chunks(course, first if asked.lesson is None else asked))
            chunks = [chunk for chunk in every if chunk.kind != "code"] or every
            found += spread_over(chunks)
        return [_asked_for(chunk, ResultRole.LESSON) for chunk in found]

    def _speaking(self, topic: str, courses: Sequence[Course]) -> list[RetrievalResult]:
        where = replace(self.where, courses=frozenset(course.key for course in courses))
        of_course: dict[tuple[str, str], list[RetrievalResult]] = defaultdict(list)
        # Deep enough to include each course that covers the topic.
        for result in self.search(topic, DEPTH, where):
            best = of_course[course_key(result.chunk)]
            if len(best) < _PER_COURSE:
                best.append(_with_role(result, ResultRole.OF_COURSE))
        return [result for best in of_course.values() if self.supports(topic, best) for result in best]

    def _explaining(self, topic: str, top_k: int) -> list[RetrievalResult] | None:
        # If the best result is in no lesson, the question is not about lessons.
        found = self.search(topic, top_k * _PER_PLACE, self.where)
        if not found or _number(found[0].chunk) is None or not self.supports(topic, found):
            return None
        return [_with_role(one, ResultRole.OF_LESSON) for one in found if _number(one.chunk) is not None]


def spread_over(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return as many chunks as fit a context. A long lesson is sampled evenly, so that its end is included."""
    step = max(1.0, len(chunks) / _MAX_CHUNKS)
    return [chunks[int(place * step)] for place in range(int(len(chunks) / step))]


def _asked_for(chunk: Chunk, role: ResultRole) -> RetrievalResult:
    return RetrievalResult(chunk, 1.0, roles=frozenset([role]))


def _with_role(result: RetrievalResult, role: ResultRole) -> RetrievalResult:
    return replace(result, roles=result.roles | {role})


def _number(chunk: Chunk) -> int | None:
    return chunk.lesson.number if chunk.lesson else None


def is_asked_for(result: RetrievalResult) -> bool:
    """Return whether a result was selected by its role, not by its words."""
    return not result.roles.isdisjoint((ResultRole.HEADING, ResultRole.LESSON, ResultRole.DOCUMENT))


def is_known_to_speak(result: RetrievalResult) -> bool:
    """Return whether a result is known to be relevant to a question on courses."""
    return is_asked_for(result) or not result.roles.isdisjoint(IN_COURSES)


def course_key(chunk: Chunk) -> tuple[str, str]:
    """Return the key of the course of a chunk, like `Course.key`."""
    return (chunk.source, (chunk.lesson.course_path if chunk.lesson else "") or chunk.span.path)


def outline_of_course(course: Course, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the header of a course and the opening of each lesson, once per number, in the order of its lessons.

    `chunks` are those of all its documents. Documents without a numbered lesson are last, unless they describe it.
    """
    by_document: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        by_document[chunk.span.path].append(chunk)
    places: dict[tuple[int | None, int | None], int] = {
        (lesson.number, lesson.part): place for place, lesson in enumerate(course.lessons)
    }
    found: dict[tuple[int, str, int], Chunk] = {}
    seen = set()
    for path, of_one in by_document.items():
        is_numbered = any(_number(chunk) is not None for chunk in of_one)
        is_opening = is_numbered or path == course.path or is_describing(PurePosixPath(path).name)
        for heading in document_outline(of_one):
            lesson = (heading.lesson.number, heading.lesson.part) if heading.lesson else (None, None)
            if lesson[0] is None:
                place = -1 if is_opening else len(places)
            elif lesson in seen:
                continue
            else:
                place = places.get(lesson, len(places))
                seen.add(lesson)
            found[place, path, heading.span.start_char] = heading
    return [found[place] for place in sorted(found)]
