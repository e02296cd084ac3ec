"""What a model may do with a library: search it, read in it, and look around. Nothing leaves the index.

No tool touches the disk or a shell, and none sees a document that the filter of the person leaves out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.filling import DocumentChunks, is_visible, with_ends
from openbook.answering.missing import missing_note
from openbook.answering.numbering import ResultSink
from openbook.answering.symbols import note_on, nothing_defined, read_symbol, shown_definitions
from openbook.courses.catalog import outline
from openbook.courses.names import course_key_text, resolve
from openbook.errors import ToolError
from openbook.extractive.outlines import (
    behind_front_matter,
    document_outline,
    first_line,
    head_of_lesson,
    header_of,
    lines_of,
)
from openbook.index.protocol import DocumentSummary
from openbook.lookup.definitions import find_definitions
from openbook.lookup.issue_search import find_for_issue, read_issue
from openbook.lookup.matching_lines import MatchingLine, MatchingLines, find_lines
from openbook.lookup.named_documents import PLAIN_NAME, NamedDocuments, path_check
from openbook.lookup.references import Reference, References, find_references
from openbook.questions.question import MAX_QUERY_CHARS, Question, read_question
from openbook.retrieval.excerpts import is_within, with_best_excerpts
from openbook.retrieval.fusion import fuse_keeping_best
from openbook.text import LineIndex, counted
from openbook.types import USES, Chunk, Course, Filter, Kind, RetrievalResult, Use

# Results of a search: more are rarely read, and each takes about 200 tokens.
_RESULTS = 6
_MAX_RESULTS = 20

# Lines of definitions that one call of `find_symbol` shows. A line of code takes 14.5 estimated tokens (1,540,038 of
# 106,479 lines of procrastinate, fzf and execa), so these are what one call may show.
_DEFINITION_LINES = 170

# Courses that an error names.
_MAX_COURSES = 10

# Lines and names that one call shows.
_MAX_LINES = 300
_LINES_READ = 200
_MAX_ENTRIES = 50

AnyLine = TypeVar("AnyLine", Reference, MatchingLine)


class LibraryTools:
    """Tools over one library, for one run."""

    def __init__(self, finder: EvidenceFinder, where: Filter, numbering: ResultSink) -> None:
        """Prepare.

        Args:
            finder: The library.
            where: Documents that may be seen at all.
            numbering: Takes what is found. A `Numbering` must be among the hooks of the agent.
        """
        self._finder = finder
        self._index = finder.index
        self._where = where
        self._named = NamedDocuments(finder.index, where)
        self._numbering = numbering

    @property
    def functions(self) -> tuple[Callable[..., str], ...]:
        """All tools, as functions for an `Agent`."""
        return (
            self.search,
            self.read_lines,
            self.outline,
            self.find_symbol,
            self.find_references,
            self.grep,
            self.list_files,
            self.search_course_content,
            self.list_courses,
            self.course_outline,
        )

    def search(self, query: str, kind: Kind | None = None, path: str = "", limit: int = _RESULTS) -> str:
        """Find the passages of the library that speak most of a question, best first.

        Args:
            query: A question or a few telling words, or the whole text of an issue with its traceback. Names as they
                are written in code find their definitions.
            kind: Only documents of this kind.
            path: Only paths like this, as in .gitignore: `*.py`, `docs/`, or one file.
            limit: Most results, from 1 to 20.
        """
        return self._numbering.keep(self.results_of((query,), kind, path, limit))

    def results_of(
        self, queries: Sequence[str], kind: Kind | None = None, path: str = "", limit: int = _RESULTS
    ) -> list[RetrievalResult]:
        """Return what several searches for the same thing find, merged. The other arguments are those of `search`.

        All others together count one and a half times as much as the first search.

        Raises:
            QueryError: A search is empty.
            ToolError: The kind cannot be had.
        """
        where = self._where
        if kind is not None:
            if where.kinds and kind not in where.kinds:
                raise ToolError(f"documents of the kind {kind!r} are not part of this library")
            where = replace(where, kinds=frozenset({kind}))
        limit = max(1, min(limit, _MAX_RESULTS))
        if path and not where.globs:
            where = replace(where, globs=(path,))
        # Both must match, and a filter has only patterns of which any may.
        is_meant = path_check(path)
        wanted = _MAX_RESULTS if path or len(queries) > 1 else limit
        questions, found = list[Question](), list[list[RetrievalResult]]()
        for query in queries:
            issue = read_issue(query)
            # Of an issue with a long log, the rest is read for its places alone.
            question = read_question(query[:MAX_QUERY_CHARS] if issue else query)
            if question.as_written:
                results = self._finder.quoting(question, wanted, where)
            elif issue is None or question.course is not None:
                results = self._finder.find(question, wanted, where)
            else:
                results = find_for_issue(issue, question, self._finder.search, self._index, wanted, where)
            questions.append(question)
            found.append([result for result in results if is_meant(result.chunk.span.path)])
        if path and not any(found):
            self._named.check(path)
        merged = fuse_keeping_best(found, limit)
        return with_best_excerpts(questions, found, with_ends(merged, self._index, self._where))

    def missing_note(self, query: str, results: Sequence[RetrievalResult]) -> str:
        """Return a note on what a search is for and no source mentions; empty if there is nothing to say."""
        return missing_note(query, results, self._index)

    def read_lines(self, path: str, first_line: int = 1, last_line: int = 0) -> str:
        """Read lines of a document, 200 unless told otherwise.

        Args:
            path: As it was shown. Lines behind it, as in `src/a.py:12-18`, are those that are read.
            first_line: Counts from 1.
            last_line: Is read too. 0 reads 200 lines.
        """
        result, last, count = self.lines_at(path, first_line, last_line)
        rest = f" Read on with first_line={last + 1}." if last < count else ""
        return self._numbering.keep([result], f"The document has {counted(count, 'line')}.{rest}")

    def lines_at(self, path: str, first_line: int = 1, last_line: int = 0) -> tuple[RetrievalResult, int, int]:
        """Return lines of a document, the last one of them, and how many it has. Arguments are those of `read_lines`.

        Raises:
            ToolError: There is no such document, or no such line in it.
        """
        listed, first, last = self._named.find(path)
        first_line, last_line = (first, last) if first else (first_line, last_line or first_line + _LINES_READ - 1)
        document = self._index.document(listed.source, listed.path)
        if document is None or not document.text.strip():
            raise ToolError("the document is empty")
        count = len(LineIndex(document.text))
        if 1 <= last_line < first_line <= count:
            raise ToolError(f"the range is reversed: {first_line}-{last_line}; read {last_line}-{first_line}")
        if not 1 <= first_line <= last_line or first_line > count:
            raise ToolError(f"the document has the lines 1 to {count}")
        last = min(last_line, count, first_line + _MAX_LINES - 1, self._last_readable(listed, first_line))
        chunk = lines_of(document, self._index.chunks(listed.source, listed.path), first_line, last)
        if chunk is None:
            raise ToolError(f"the lines {first_line} to {last} are blank")
        return _result(chunk), last, count

    def outline(self, path: str, first_line: int = 1) -> str:
        """List what a document holds: its definitions, headings or lessons, with their lines.

        Args:
            path: As it was shown. Lines behind it are passed over.
            first_line: Only what begins there or below, for the rest of a long list.
        """
        entries = self.outline_of(path, first_line)
        more = len(entries) - _MAX_ENTRIES
        rest = f"{more} more; go on with first_line={entries[-more].chunk.span.start_line}." if more > 0 else ""
        return self._numbering.keep(entries[:_MAX_ENTRIES], rest)

    def outline_of(self, path: str, first_line: int = 1) -> list[RetrievalResult]:
        """Return all that a document holds, from a line on. Arguments are those of `outline`.

        Raises:
            ToolError: There is no such document, or nothing begins there or below.
        """
        entries = document_outline(self._chunks(self.document_of(path)))
        found = [_result(entry) for entry in entries if entry.span.start_line >= first_line]
        if entries and not found:
            raise ToolError(f"the last entry begins at line {entries[-1].span.start_line}")
        return found

    def find_symbol(self, name: str, path: str = "") -> str:
        """Find the definition of a class, function, member, constant or type, all its lines if they are not too many.

        Args:
            name: As it is written in code, such as `Client` or `Client.get`.
            path: Only paths like this, as in .gitignore: `*.py`, `docs/`, or one file.
        """
        results, note = self.definitions_of(name, path)
        found: list[RetrievalResult] = []
        for result in results:
            whole = self._whole(result, _DEFINITION_LINES // len(results))
            if not any(is_within(whole.chunk, one.chunk) for one in found):
                found.append(replace(whole, chunk=replace(whole.chunk, symbol=result.symbol)))
        if any(result.goes_on_to for result in found):
            note = f"{note} read_lines shows the rest of what is cut.".strip()
        return self._numbering.keep(found, note)

    def definitions_of(self, name: str, path: str = "", *, whole: bool = True) -> tuple[list[RetrievalResult], str]:
        """Return what defines a name, sources before tests and examples, and what is to be said of the rest.

        Args:
            name: As it is written in code, such as `Client` or `Client.get`, or an option, such as `--quiet`.
            path: Only paths like this, as in .gitignore; empty for all.
            whole: Whether chunks are given as search gives them, or without what stands long before the definition.

        Raises:
            ToolError: Nothing defines it, or it is no name.
        """
        where = replace(self._where, globs=(path,)) if path and not self._where.globs else self._where
        found = find_definitions(read_symbol(name), self._index, where, path_check(path))
        if not found.places or (found.is_other_case and "*" in name):
            self._named.check(path)
            raise ToolError(nothing_defined(name))
        return shown_definitions(found, self._index, self._where, whole=whole), note_on(found)

    def find_references(self, name: str, path: str = "", use: Use | None = None) -> str:
        """Find every line that defines, calls, imports or mentions a name, exactly.

        Args:
            name: As it is written in code, such as `Client` or `Client.get`. Case counts.
            path: Only paths like this, as in .gitignore: `*.py`, `docs/`, or one file.
            use: Only lines that do this with the name.
        """
        found = self.references_to(name, path, use)
        counts = Counter(place.use for place in found.places)
        told = ", ".join(f"{count} times {use}" for use, count in counts.items())
        nothing = found.text_of_nothing((use,) if use else USES, path)
        note = f"{found.name}: {told}." if told else f"{nothing[0].upper()}{nothing[1:]}."
        return self._keep_lines(found.places, f"{note}{_unread_note(found.unread)}")

    def references_to(self, name: str, path: str = "", use: Use | None = None) -> References:
        """Return the lines that hold a name. Without a name or such a path, or for a pattern, it is a ToolError."""
        read_symbol(name)
        is_meant = path_check(path)
        found = self._visible_references(name, is_meant)
        if not found.places and path:
            self._named.check(path)
            found = found.with_elsewhere(self._visible_references(name))
        return found.of_use((use,)) if use else found

    def _visible_references(self, name: str, is_meant: Callable[[str], bool] | None = None) -> References:
        found = find_references(name, self._index, self._where, is_meant=is_meant)
        return replace(found, places=tuple(self._visible(found.places)))

    def grep(self, pattern: str, path: str = "", regex: bool = False, any_case: bool = False) -> str:
        """Find the lines that hold an exact text, or match a regular expression.

        Args:
            pattern: One line of text, such as `raise Timeout(`.
            path: Only paths like this, as in .gitignore: `*.py`, `docs/`, or one file.
            regex: Whether the pattern is a regular expression, in the syntax of RE2.
            any_case: Whether upper and lower case are the same.
        """
        found = self.lines_like(pattern, path, regex=regex, any_case=any_case)
        summary = f"{found.summary[0].upper()}{found.summary[1:]}."
        return self._keep_lines(found.lines, f"{summary}{_unread_note(found.unread)}")

    def lines_like(self, pattern: str, path: str = "", *, regex: bool = False, any_case: bool = False) -> MatchingLines:
        """Return the lines that match. Arguments and errors are those of `grep`."""
        is_meant = path_check(path)
        found = find_lines(pattern, self._index, self._where, is_regex=regex, any_case=any_case, is_meant=is_meant)
        if not found.count:
            self._named.check(path)
        lines = tuple(self._visible(found.lines))
        return replace(found, lines=lines, count=found.count - len(found.lines) + len(lines))

    def documents(self, path: str = "", kind: Kind | None = None) -> list[DocumentSummary]:
        """Return the documents with paths like this, of this kind. Errors are those of `NamedDocuments.like`."""
        return self._named.like(path, kind)

    def list_files(self, path: str = "", kind: Kind | None = None) -> str:
        """List the documents of the library, each with its first line.

        Args:
            path: Only paths like this, as in .gitignore: `*.py`, `docs/`.
            kind: Only documents of this kind.
        """
        listed = self.documents(path, kind)
        shown = [chunks for one in listed[:_MAX_ENTRIES] if (chunks := self._chunks(one))]
        note = f"{counted(len(listed), 'document')} in all."
        if len(listed) > len(shown):
            note += f" {len(listed) - len(shown)} not shown; ask for a narrower path."
        return self._numbering.keep([_result(first_line(chunks[0])) for chunks in shown], note)

    def search_course_content(self, query: str, course_name: str = "", lesson_number: int | None = None) -> str:
        """Find the passages of courses that speak most of a question, best first.

        Args:
            query: What to look for.
            course_name: Only in this course: its title, or a part of it.
            lesson_number: Only in the lesson with this number. 0 is a lesson.
        """
        courses = [self._course(course_name)] if course_name.strip() else self._courses()
        numbers = sorted(
            {lesson.number for course in courses for lesson in course.lessons if lesson.number is not None}
        )
        if lesson_number is not None and lesson_number not in numbers:
            there = f"the lessons {', '.join(map(str, numbers[:_MAX_ENTRIES]))}" if numbers else "no numbered lesson"
            raise ToolError(f"there is no lesson {lesson_number}; there are {there}")
        lesson = self._where.lesson if lesson_number is None else lesson_number
        part = self._where.part if lesson_number is None else None
        where = replace(self._where, courses=frozenset(course.key for course in courses), lesson=lesson, part=part)
        return self._numbering.keep(self._finder.find(read_question(query), _RESULTS, where))

    def list_courses(self) -> str:
        """List the courses of the library with their title, link and instructor."""
        return self._keep([header_of(behind_front_matter(self._chunks_of(course))[0]) for course in self._courses()])

    def course_outline(self, course_name: str) -> str:
        """List the lessons of a course.

        Args:
            course_name: Its title, or a part of it.
        """
        chunks = self._chunks_of(course := self._course(course_name))
        beginning = {
            (chunk.span.path, chunk.span.start_char): behind_front_matter(chunks[place : place + 2])[0]
            for place, chunk in enumerate(chunks)
        }
        places = (one.places[0].span for one in outline(self._index, course))
        begun = [beginning.get((place.path, place.start_char)) for place in places]
        heads = {
            head.span: head
            for head in [header_of(behind_front_matter(chunks)[0]), *(head_of_lesson(one) for one in begun if one)]
        }
        note = "" if begun else "It has no numbered lesson; outline lists what a document of it holds."
        return self._keep(list(heads.values()), note)

    def whole_of(self, chunk: Chunk) -> Chunk:
        """Return a chunk with the rest of the definition or section that it is a part of."""
        return DocumentChunks(self._index, chunk.source, chunk.span.path, self._where).whole(chunk)

    def _courses(self) -> list[Course]:
        """Return the courses that may be seen.

        Raises:
            ToolError: There is none.
        """
        kinds = self._where.kinds
        courses = self._index.courses(self._where) if not kinds or "course" in kinds else []
        if not courses:
            raise ToolError("the library holds no course")
        return courses

    def _course(self, name: str) -> Course:
        """Find the course that a name means.

        Raises:
            ToolError: It means none or several. Titles are text of strangers, so these are told by their paths.
        """
        found = resolve(name, self._courses(), self._finder.embedder)
        if found.course is not None:
            return found.course
        if not found.candidates:
            raise ToolError("no course has a title like that; list_courses lists them")
        raise ToolError(
            f"{len(found.candidates)} courses have a title like that; name one by its path: {_told(found.candidates)}"
        )

    def _chunks_of(self, course: Course) -> list[Chunk]:
        where = replace(self._where, courses=frozenset({course.key}))
        return [chunk for listed in self._index.documents(where) for chunk in self._chunks(listed)]

    def _chunks(self, listed: DocumentSummary) -> list[Chunk]:
        """Return the chunks of a document that may be seen."""
        return [chunk for chunk in self._index.chunks(listed.source, listed.path) if is_visible(chunk, self._where)]

    def _whole(self, result: RetrievalResult, max_lines: int) -> RetrievalResult:
        """Return a definition with its next chunks, for as long as they have no more lines than that."""
        chunk = result.chunk
        document = DocumentChunks(self._index, chunk.source, chunk.span.path, self._where)
        first = document.place_of(chunk)
        if first is None:
            return result
        end = last = document.last_of(first)
        while last > first and document[last].span.end_line - chunk.span.start_line >= max_lines:
            last -= 1
        goes_on_to = document[end].span.end_line if last < end else 0
        return replace(result, chunk=document.joined(first, last), goes_on_to=goes_on_to)

    def _last_readable(self, listed: DocumentSummary, first: int) -> int:
        """Return the last line that may be read from one on: a filter by lesson leaves a part of a document.

        Raises:
            ToolError: That line may not be read.
        """
        hidden = [
            chunk for chunk in self._index.chunks(listed.source, listed.path) if not is_visible(chunk, self._where)
        ]
        behind = min((chunk.span.start_line for chunk in hidden if chunk.span.end_line >= first), default=sys.maxsize)
        if behind <= first:
            places = ", ".join(f"{chunk.span.start_line}-{chunk.span.end_line}" for chunk in self._chunks(listed))
            raise ToolError(f"that line is not part of this library; these are: {places}")
        return behind - 1

    def document_of(self, path: str) -> DocumentSummary:
        """Find the document that a path means. Errors are those of `NamedDocuments.find`."""
        return self._named.find(path)[0]

    def _visible(self, lines: Sequence[AnyLine]) -> list[AnyLine]:
        """Leave out lines of lessons that the filter hides."""
        if self._where.lesson is None:
            return list(lines)
        chunks = {(line.source, line.path): self._index.chunks(line.source, line.path) for line in lines}
        return [
            line
            for line in lines
            if any(
                chunk.span.start_line <= line.line <= chunk.span.end_line and is_visible(chunk, self._where)
                for chunk in chunks[line.source, line.path]
            )
        ]

    def _keep_lines(self, lines: Sequence[Reference | MatchingLine], note: str) -> str:
        """Show single lines as results, so that they can be cited."""
        found: list[Chunk] = []
        for line in lines[:_MAX_ENTRIES]:
            document = self._index.document(line.source, line.path)
            chunks = self._index.chunks(line.source, line.path)
            chunk = lines_of(document, chunks, line.line, line.line) if document else None
            if chunk is not None:
                within = line.within if isinstance(line, Reference) else ""
                found.append(replace(chunk, symbol=within or chunk.symbol))
        more = f" {len(lines) - len(found)} not shown; narrow the path." if len(lines) > len(found) else ""
        return self._numbering.keep([_result(chunk) for chunk in found], f"{note}{more}")

    def _keep(self, chunks: Sequence[Chunk], note: str = "") -> str:
        more = len(chunks) - _MAX_ENTRIES
        note = f"{more} more not shown; read the lines behind the last one." if more > 0 else note
        return self._numbering.keep([_result(chunk) for chunk in chunks[:_MAX_ENTRIES]], note)


def _unread_note(unread: int) -> str:
    return f" {counted(unread, 'document')} left unread, because it takes too long; narrow the path." if unread else ""


def _result(chunk: Chunk) -> RetrievalResult:
    return RetrievalResult(chunk, 0.0)


def _told(courses: Sequence[Course]) -> str:
    """List courses by their paths, and say how many cannot be listed so."""
    told = list(filter(PLAIN_NAME.fullmatch, map(course_key_text, courses)))[:_MAX_COURSES]
    more = len(courses) - len(told)
    if not told:
        return "list_courses lists them"
    return ", ".join(told) + (f"; and {more} more, which list_courses lists" if more else "")
