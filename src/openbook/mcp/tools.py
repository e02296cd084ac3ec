"""The tools, with the names, descriptions and schemas that agents read."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError as RefusedCall
from pydantic import Field

from openbook.errors import NoDocumentError, OpenbookError, ToolError
from openbook.index.protocol import EVERYTHING
from openbook.mcp.paths import AgentPaths
from openbook.text import counted
from openbook.tokens import tokenize
from openbook.types import Chunk, Filter, Kind, RetrievalResult, Use
from openbook.watched_library import WatchedLibrary

if TYPE_CHECKING:
    from openbook.answering.tools import LibraryTools
    from openbook.library import Library
    from openbook.mcp.listing import ResultListing

# Default limits of one call: eight passages of about 20 lines. On swe-qa these contain .81 of the files that answer
# (`python -m benchmarks.agent_tokens`).
DEFAULT_TOKENS = 2_000
MAX_TOKENS = 20_000

# Each costs as much as a call. Query expansion writes three searches.
_MAX_SEARCHES = 5

# Takes three seconds if each sentence has a citation; a longer text can be checked in parts.
_MAX_CHECKED_CHARS = 100_000

Path = Annotated[str, Field(description="As results show it; lines behind it are passed over.")]
Within = Annotated[
    str, Field(description="Only paths like this, as in .gitignore: `*.py`, `*.{c,h}`, `src/`, or one file.")
]
Tokens = Annotated[int, Field(ge=100, le=MAX_TOKENS, description="Most tokens to show. What is cut is said.")]
CourseName = Annotated[str, Field(description="Its title, a part of it, or its name as list_courses shows it.")]

P = ParamSpec("P")


def as_tool(function: Callable[P, str], library: WatchedLibrary) -> Callable[P, str]:
    """Turn errors of Openbook into tool errors with their hint, and add notes on unread or missing files.

    Details of other exceptions are not sent.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            text = library.use(lambda: function(*args, **kwargs))
        except NoDocumentError as exc:
            why = AgentPaths(library.assistant).why_left_out(str(kwargs.get("path", "")))
            raise RefusedCall("; ".join((why or str(exc), *library.notes))) from exc
        except OpenbookError as exc:
            raise RefusedCall("; ".join(filter(None, (str(exc), exc.hint, *library.notes)))) from exc
        return f"{text}\n({'; '.join(library.notes)})" if library.notes else text

    return call


class McpTools:
    """MCP tools over one library. Stateless and thread-safe."""

    def __init__(self, library: WatchedLibrary, *, tells_places: bool = True) -> None:
        """Take a library, and whether agents are told its paths on this machine."""
        self._library = library
        self._tells_places = tells_places

    @property
    def functions(self) -> tuple[Callable[..., str], ...]:
        """All tools, in the order of the list."""
        return (
            self.search,
            self.ask,
            self.read_lines,
            self.outline,
            self.find_symbol,
            self.find_references,
            self.grep,
            self.find_related,
            self.verify_citations,
            self.list_files,
            self.list_sources,
            self.list_courses,
            self.course_outline,
        )

    def search(
        self,
        query: Annotated[
            str,
            Field(
                description="A question, telling words, names as in code, or the text of an issue with its traceback."
            ),
        ],
        also: Annotated[
            list[str],
            Field(
                max_length=_MAX_SEARCHES,
                description="Up to five more searches for the same thing, in words that the files may use: names, "
                "options, messages. Results are merged.",
            ),
        ] = [],  # noqa: B006 - read only, and clients are told the value
        limit: Annotated[int, Field(ge=1, le=50, description="Most results.")] = 12,
        kind: Annotated[Kind | None, Field(description="Only documents of this kind.")] = None,
        path: Within = "",
        full: Annotated[bool, Field(description="Show the lines of all results, not of the best alone.")] = False,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """Find the passages that speak most of a question: the best one, of others the best line.

        Use it before grep: it finds code by what it does, in code, documentation and courses at once. Files seldom
        use the words of a question: give a few searches in their words as `also`. read_lines shows the other results:
        pass it their `path:start-end`. `(40-60)` stands for lines that are left out.
        """

        def find(tools: LibraryTools, listing: ResultListing, within: str) -> str:
            queries = (query, *(each for each in also if tokenize(each)))
            listing.best_first, listing.whole_of = not full, tools.whole_of
            listing.relevant_lines_of = lambda chunk, results, share: _relevant_lines(queries, chunk, results, share)
            results = tools.results_of(queries, kind, within, limit)
            notes.append(tools.missing_note(query, results))
            notes.append(self._language_note(queries, results))
            return listing.keep(results)

        notes: list[str] = []
        text = self._list_within(path, max_tokens, find)
        return "\n\n".join(filter(None, (*notes, text)))

    def ask(self, question: Annotated[str, Field(description="In full words, as to a person.")]) -> str:
        """Answer a question with sentences and lines quoted from the library. Each quote was compared with its file.

        No model writes this: it quotes, or says that the library does not tell.
        """
        with self._library.fresh() as assistant:
            answer = assistant.query(question)
            place_of = AgentPaths(assistant).place_of
            places = {
                cited.mark: f"{place_of(cited.source, cited.span.path)}:{cited.span.start_line}-{cited.span.end_line}"
                for cited in answer.citations
            }
        lines = dict.fromkeys(f"{places[cited.mark]}: {cited.verdict}" for cited in answer.citations)
        return "\n".join((_with_places(answer.answer, places), *lines))

    def read_lines(
        self,
        path: Annotated[str, Field(description="As results show it; `src/a.py:12-18` reads these lines.")],
        first_line: Annotated[int, Field(ge=1, description="Counts from 1.")] = 1,
        last_line: Annotated[int, Field(ge=0, description="Is read too; 0 for 200 lines.")] = 0,
        max_tokens: Tokens = 4_000,
    ) -> str:
        """Read lines of a document, numbered."""

        def read(tools: LibraryTools, listing: ResultListing) -> str:
            from openbook.lookup.named_documents import split_lines

            named = self._named(path)
            result, last, count = tools.lines_at(named, first_line, last_line)
            asked_to = split_lines(named, lambda _: False)[2] or last_line
            return listing.keep_lines(result, count, is_all=0 < min(asked_to, count) <= last)

        return self._list(max_tokens, read)

    def outline(
        self,
        path: Path,
        first_line: Annotated[int, Field(ge=1, description="Only from this line on, for the rest of a list.")] = 1,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """List what a document holds, with line numbers: its definitions, headings or lessons. Cheaper than reading."""
        return self._list(
            max_tokens, lambda tools, listing: listing.keep_page(tools.outline_of(self._named(path), first_line))
        )

    def find_symbol(
        self,
        name: Annotated[str, Field(description="As written in code: `Client` or `Client.get`.")],
        path: Within = "",
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """Find where a class, function, member, constant or type is defined; sources come before tests."""

        def find(tools: LibraryTools, listing: ResultListing, within: str) -> str:
            return listing.keep(*tools.definitions_of(name, within, whole=False))

        return self._list_within(path, max_tokens, find)

    def find_references(
        self,
        name: Annotated[str, Field(description="As written in code: `Client` or `Client.get`. Case counts.")],
        path: Within = "",
        use: Annotated[Use | None, Field(description="Only lines that do this with the name.")] = None,
        code: Annotated[bool, Field(description="Show the code of each line, and all arguments of a call.")] = False,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """List every line that defines, calls or imports a name, with the definition around it; mentions are counted.

        Complete and exact: to find callers, use it in place of grep. `a.py def 3 Client.get 12 .post 40 value 5 import
        1`: defined in line 3, called in line 12 within Client.get and 40 within Client.post, named without a call in
        line 5, such as handed on, and imported in line 1. Many values, and comments, are mentions: `use` lists them.
        """
        from openbook.mcp.lines import nothing_text, references_text

        with self._library.fresh() as assistant:
            within, where = AgentPaths(assistant).within(path)
            found = _tools(assistant, where=where).references_to(name, within, use)
            if not found.places and not found.others and where != EVERYTHING:
                found = found.with_elsewhere(_tools(assistant).references_to(name))
            if not found.places:
                return nothing_text(found, use, path)

            def text_of(source: str, path: str) -> str:
                document = assistant.index.document(source, path)
                return document.text if document else ""

            place_of, mentions = AgentPaths(assistant).place_of, use == "mention"
            return references_text(
                found, place_of, max_tokens, asked=name, mentions=mentions, code=code, text_of=text_of
            )

    def grep(
        self,
        pattern: Annotated[
            str,
            Field(
                description="One line of text, as it stands in the files. If no line holds it and it looks like a "
                "regular expression, it is taken as one."
            ),
        ],
        path: Within = "",
        regex: Annotated[bool, Field(description="Whether it is a regular expression, in the syntax of RE2.")] = False,
        any_case: Annotated[bool, Field(description="Whether upper and lower case are the same.")] = False,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """List the lines that hold an exact text or match a pattern. For names, find_references tells more."""
        from openbook.mcp.lines import grep_text

        with self._library.fresh() as assistant:
            within, where = AgentPaths(assistant).within(path)
            found = _tools(assistant, where=where).lines_like(pattern, within, regex=regex, any_case=any_case)
            return grep_text(found, AgentPaths(assistant).place_of, max_tokens)

    def list_files(
        self,
        path: Within = "",
        kind: Annotated[Kind | None, Field(description="Only documents of this kind.")] = None,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """List the paths of documents; of folders with too many, how many there are."""
        from openbook.mcp.lines import paths_text

        with self._library.fresh() as assistant:
            place_of = AgentPaths(assistant).place_of
            within, where = AgentPaths(assistant).within(path)
            listed = _tools(assistant, where=where).documents(within, kind)
            return paths_text([place_of(each.source, each.path) for each in listed], max_tokens)

    def find_related(
        self,
        path: Path,
        line: Annotated[int, Field(ge=1, description="A line of what is asked about.")],
        limit: Annotated[int, Field(ge=1, le=50, description="Most results.")] = 6,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """Find what belongs to the code or text at a line: who uses it, its tests, its documentation, its likes."""
        from openbook.mcp.listing import ResultListing, as_text
        from openbook.retrieval.related import related_chunks

        with self._library.fresh() as assistant:
            paths = AgentPaths(assistant)
            document = _tools(assistant).document_of(paths.named(path))
            chunks = assistant.index.chunks(document.source, document.path)
            around = [chunk for chunk in chunks if chunk.span.start_line <= line <= chunk.span.end_line]
            if not around:
                last = max((chunk.span.end_line for chunk in chunks), default=0)
                raise ToolError(f"the document has no text in that line; its last one is {last}")
            listing = ResultListing(paths.place_of, max_tokens, best_first=True)
            listing.keep(related_chunks(around[-1], assistant.index, assistant.retriever.embedder, limit=limit))
        return as_text(listing.listed)

    def verify_citations(
        self,
        text: Annotated[
            str,
            Field(
                max_length=_MAX_CHECKED_CHARS,
                description="What you mean to say, citing as `path:12-18` behind each claim.",
            ),
        ],
    ) -> str:
        """Check what you wrote before you say it: every claim is judged by the lines that it cites.

        `conflict`: a number, a quote or an identifier is not there, or the lines say otherwise; put identifiers into
        backticks. `unverified`: words alone cannot tell, so read the lines again. `unknown`: there are no such lines.
        `uncited`: facts without a place.
        """
        from openbook.mcp.drafts import verify_text

        with self._library.fresh() as assistant:
            paths = AgentPaths(assistant)
            claims = verify_text(text, assistant, paths.find)
        lines = [
            f"{claim.verdict or 'no facts'}: {claim.summary} ({', '.join(claim.cites) or 'no place'})"
            + (f": {claim.reason}" if claim.reason else "")
            for claim in claims
        ]
        return "\n".join(lines) or "nothing in it states facts"

    def list_sources(self) -> str:
        """List the folders and repositories that the library is made of."""
        with self._library.fresh() as assistant:
            counts = Counter(document.source for document in assistant.index.documents(EVERYTHING))
            left_out = AgentPaths(assistant).left_out
            listed = [
                (
                    root.name,
                    root.location if self._tells_places else root.url,
                    counted(counts[root.name], "document"),
                    left_out(root.name),
                )
                for root in assistant.sources()
            ]
        return "\n".join("  ".join(filter(None, each)) for each in listed)

    def list_courses(self, max_tokens: Tokens = DEFAULT_TOKENS) -> str:
        """List the courses: the name that means each, its title, how many lessons it has, and who teaches it."""
        from openbook.mcp.lines import courses_text

        with self._library.fresh() as assistant:
            courses = assistant.courses()
        if not courses:
            raise ToolError("the library holds no course", hint="search looks in all that it holds")
        return courses_text(courses, max_tokens)

    def course_outline(self, course: CourseName, max_tokens: Tokens = DEFAULT_TOKENS) -> str:
        """List the lessons of a course in their order, and where each stands. read_lines shows what one says."""
        from openbook.mcp.lines import lessons_text

        with self._library.fresh() as assistant:
            meant = assistant.course(course)
            return lessons_text(meant, assistant.outline(meant), AgentPaths(assistant).place_of, max_tokens)

    def _language_note(self, queries: Sequence[str], results: Sequence[RetrievalResult]) -> str:
        """Return a note on the language of the searches, if none is in that of the library."""
        from openbook.answering.missing import language_note

        assistant = self._library.assistant
        notes = [language_note(query, results, assistant.index, assistant.retriever.embedder) for query in queries]
        return notes[0] if all(notes) else ""

    def _named(self, path: str) -> str:
        return AgentPaths(self._library.assistant).named(path)

    def _list(self, max_tokens: int, use: Callable[[LibraryTools, ResultListing], str]) -> str:
        return self._list_within("", max_tokens, lambda tools, listing, _: use(tools, listing))

    def _list_within(self, path: str, max_tokens: int, use: Callable[[LibraryTools, ResultListing, str], str]) -> str:
        from openbook.mcp.listing import ResultListing, as_text

        with self._library.fresh() as assistant:
            paths = AgentPaths(assistant)
            listing = ResultListing(paths.place_of, max_tokens)
            within, where = paths.within(path)
            use(_tools(assistant, listing, where), listing, within)
        return as_text(listing.listed)


def _relevant_lines(
    queries: Sequence[str], chunk: Chunk, results: Sequence[RetrievalResult], share: float
) -> list[int]:
    from openbook.questions.question import MAX_QUERY_CHARS, read_question
    from openbook.retrieval.excerpts import telling_lines

    questions = [read_question(query[:MAX_QUERY_CHARS]) for query in queries]
    return telling_lines(questions, chunk, [result.chunk for result in results], share)


def _with_places(text: str, places: dict[str, str]) -> str:
    """Replace marks of results with locations that an agent can open."""
    from openbook.grounding.marks import with_marks_replaced

    return with_marks_replaced(text, lambda mark: f"[{places.get(mark, mark[1:-1])}]")


def _tools(assistant: Library, listing: ResultListing | None = None, where: Filter = EVERYTHING) -> LibraryTools:
    # Imported on the first call: agents wait for the list of tools.
    from openbook.answering.evidence import EvidenceFinder
    from openbook.answering.tools import LibraryTools
    from openbook.embedding.static import load_embedder
    from openbook.mcp.listing import ResultListing

    finder = EvidenceFinder(assistant.index, load_embedder(), assistant.text_now, assistant.retriever)
    return LibraryTools(finder, where, listing or ResultListing(AgentPaths(assistant).place_of, DEFAULT_TOKENS))
