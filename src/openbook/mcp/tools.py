"""The tools as an agent sees them. What it reads of them, in names and descriptions, stands here and nowhere else."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Annotated, Any, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError as RefusedCall
from mcp_types import CallToolResult, TextContent
from pydantic import Field
from typing_extensions import TypedDict  # of Python 3.11, pydantic takes no other

from openbook.answering.context import Context, ContextItem
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.outlines import lines_of
from openbook.answering.tools import LibraryTools
from openbook.answering.verification import CitationChecker
from openbook.answers import Claim
from openbook.embedding.static import load_embedder
from openbook.errors import OpenbookError, ToolError
from openbook.index.protocol import DocumentSummary, Index
from openbook.library import Library
from openbook.mcp.listing import ListingContent, ResultListing, as_text
from openbook.mcp.watched_library import WatchedLibrary
from openbook.retrieval.related import related_chunks
from openbook.retrieval.search import EVERYTHING
from openbook.text import LineIndex, units
from openbook.types import Kind, RetrievalResult
from openbook.verify.mentions import Mention, find_mentions

# What stands around a place belongs to how it is written, not to the claim.
_OPENS, _CLOSES = "`([<", "`)]>"

Locate = Callable[[str], DocumentSummary | None]
"""Finds the document that a path means."""


class ClaimItem(TypedDict):
    """A claim of the text, and what its lines say to it."""

    claim: str
    cites: list[str]
    """Places as they are written."""
    verdict: str
    """`exact`, `confirmed`, `conflict`, `unverified`, `unknown` (no such lines), `stale`, `uncited`,
    or empty: no facts."""
    reason: str


def verify_text(text: str, assistant: Library, locate: Locate) -> list[ClaimItem]:
    """Return every claim of a text with its verdict by words alone, in order.

    Claims without facts are left out unless they cite.
    """
    mentions = find_mentions(text, None)
    shown, numbers = _shown(mentions, assistant.index, locate)
    context = Context(tuple(shown))
    marked = _marked(text, mentions, numbers)
    checked = CitationChecker(context, assistant.text_now).check(marked)
    written = {f"[{number}]": text[m.start_char : m.end_char] for m, number in zip(mentions, numbers, strict=True)}
    return [_told(claim, written) for claim in checked.claims if claim.verdict or claim.marks]


def _shown(mentions: Sequence[Mention], index: Index, locate: Locate) -> tuple[list[ContextItem], list[int]]:
    """Return the lines that are cited as numbered sources, and the number of each mention.

    Places that are not there get numbers behind the last, which are marks of nothing.
    """
    shown: list[ContextItem] = []
    numbers = []
    for position, mention in enumerate(mentions):
        result = _lines(mention, index, locate)
        if result is not None:
            shown.append(ContextItem(len(shown) + 1, result, units(result.chunk)))
        numbers.append(len(shown) if result is not None else len(mentions) + position + 1)
    return shown, numbers


def _lines(mention: Mention, index: Index, locate: Locate) -> RetrievalResult | None:
    listed = locate(mention.path)
    document = index.document(listed.source, listed.path) if listed else None
    if document is None or not 1 <= mention.first_line <= mention.last_line <= len(LineIndex(document.text)):
        return None
    chunks = index.chunks(document.source, document.path)
    chunk = lines_of(document, chunks, mention.first_line, mention.last_line)
    return None if chunk is None else RetrievalResult(chunk, 0.0)


def _marked(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> str:
    """Put a mark in the place of every mention, with what is written around it."""
    parts, at = [], 0
    for mention, number in zip(mentions, numbers, strict=True):
        start, end = mention.start_char, mention.end_char
        while start > at and end < len(text) and text[start - 1] in _OPENS and text[end] in _CLOSES:
            start, end = start - 1, end + 1
        parts += [text[at:start], f"[{number}]"]
        at = end
    return "".join([*parts, text[at:]])


def _told(claim: Claim, written: dict[str, str]) -> ClaimItem:
    cites = list(dict.fromkeys(written[mark] for mark in claim.marks if mark in written))
    return ClaimItem(claim=claim.text, cites=cites, verdict=claim.verdict, reason=claim.reason)


# What one call shows unless told otherwise: of eight passages, about 20 lines each. On swe-qa that holds .83 of
# the files that answer; six passages in full hold .80 for as many tokens. An agent that needs more asks again.
DEFAULT_TOKENS = 2_000
MOST_TOKENS = 20_000

# Takes three seconds where each sentence cites; a longer text can be checked in parts.
_MOST_CHECKED_CHARS = 100_000

Path = Annotated[str, Field(description="As results show it, without line numbers.")]
Within = Annotated[str, Field(description="Only paths like this, as in .gitignore: `*.py`, `src/`, or one file.")]
Tokens = Annotated[int, Field(ge=100, le=MOST_TOKENS, description="Most tokens to show. What is cut is said.")]
CourseName = Annotated[str, Field(description="Title of a course or a part of it; slips of the pen are forgiven.")]

P = ParamSpec("P")


class CitationItem(TypedDict):
    """A quote of an answer."""

    place: str
    quote: str
    verdict: str


class AnswerContent(TypedDict):
    """An answer as structured content."""

    answer: str
    refused: bool
    reason: str
    citations: list[CitationItem]


class SourceItem(TypedDict):
    """A source as structured content."""

    name: str
    location: str
    documents: int


class SourcesContent(TypedDict):
    """All sources as structured content."""

    sources: list[SourceItem]


class VerdictsContent(TypedDict):
    """The verdicts on a text as structured content."""

    claims: list[ClaimItem]


def with_tool_errors(function: Callable[P, Any]) -> Callable[P, Any]:
    """Show errors of Openbook to the agent, with their hint. Other exceptions stay on the server."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            return function(*args, **kwargs)
        except OpenbookError as exc:
            raise RefusedCall(f"{exc}; {exc.hint}" if exc.hint else str(exc)) from exc

    return call


class McpTools:
    """MCP tools over one library. Stateless and thread-safe."""

    def __init__(self, library: WatchedLibrary, *, tells_places: bool = True) -> None:
        """Take a library, and whether agents may know where it lies on this machine."""
        self._library = library
        self._tells_places = tells_places

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """All tools, in the order in which they are listed."""
        return (
            self.search,
            self.ask,
            self.read_lines,
            self.outline,
            self.find_symbol,
            self.find_related,
            self.verify_citations,
            self.list_sources,
            self.list_courses,
            self.course_outline,
        )

    def search(
        self,
        query: Annotated[str, Field(description="A question, or telling words. Names as written in code work best.")],
        limit: Annotated[int, Field(ge=1, le=50, description="Most results.")] = 8,
        kind: Annotated[Kind | None, Field(description="Only documents of this kind.")] = None,
        path: Within = "",
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, ListingContent]:
        """Find the passages that speak most of a question, best first, as `path:start-end` with numbered lines.

        Use it before grep: it finds code by what it does, and looks in code, documentation and courses at once.
        """
        return self._list(max_tokens, lambda tools, _: tools.search(query, kind, self._within(path), limit))

    def ask(
        self, question: Annotated[str, Field(description="In full words, as to a person.")]
    ) -> Annotated[CallToolResult, AnswerContent]:
        """Answer a question with sentences and lines quoted from the library. Each quote was compared with its file.

        No model writes this: it quotes, or says that the library does not tell.
        """
        with self._library.fresh() as assistant:
            answer = assistant.query(question)
            place_of = _Paths(assistant).place_of
            cited = [
                CitationItem(
                    place=f"{place_of(c.source, c.span.path)}:{c.span.start_line}-{c.span.end_line}",
                    quote=c.quote,
                    verdict=c.verdict,
                )
                for c in answer.citations
            ]
        lines = [f"{c.mark} {each['place']}: {c.verdict}" for c, each in zip(answer.citations, cited, strict=True)]
        text = "\n".join((answer.answer, *lines))
        return _result(
            text, AnswerContent(answer=answer.answer, refused=answer.refused, reason=answer.reason, citations=cited)
        )

    def read_lines(
        self,
        path: Path,
        first_line: Annotated[int, Field(ge=1, description="Counts from 1.")] = 1,
        last_line: Annotated[int, Field(ge=1, description="Is read too.")] = 200,
        max_tokens: Tokens = 4_000,
    ) -> Annotated[CallToolResult, ListingContent]:
        """Read lines of a document, numbered."""
        return self._list(max_tokens, lambda tools, _: tools.read_lines(self._named(path), first_line, last_line))

    def outline(self, path: Path, max_tokens: Tokens = DEFAULT_TOKENS) -> Annotated[CallToolResult, ListingContent]:
        """List what a document holds, with line numbers: its definitions, headings or lessons. Cheaper than reading."""
        return self._list(max_tokens, lambda tools, _: tools.outline(self._named(path)))

    def find_symbol(
        self,
        name: Annotated[str, Field(description="As written in code: `Client` or `Client.get`.")],
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, ListingContent]:
        """Find where a class, function, method, constant or type is defined."""
        return self._list(max_tokens, lambda tools, listing: listing.keep(*tools.definitions_of(name, whole=False)))

    def find_related(
        self,
        path: Path,
        line: Annotated[int, Field(ge=1, description="A line of what is asked about.")],
        limit: Annotated[int, Field(ge=1, le=50, description="Most results.")] = 6,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, ListingContent]:
        """Find what belongs to the code or text at a line: who uses it, its tests, its documentation, its likes."""
        with self._library.fresh() as assistant:
            paths = _Paths(assistant)
            document = paths.find(path)
            chunks = assistant.index.chunks(document.source, document.path) if document else []
            around = [chunk for chunk in chunks if chunk.span.start_line <= line <= chunk.span.end_line]
            if not around:
                raise ToolError("the library has no such line")
            listing = ResultListing(paths.place_of, max_tokens)
            listing.keep(related_chunks(around[-1], assistant.index, assistant.retriever.embedder, limit=limit))
        return _result(as_text(listing.listed), listing.listed)

    def verify_citations(
        self,
        text: Annotated[
            str,
            Field(
                max_length=_MOST_CHECKED_CHARS,
                description="What you mean to say, citing as `path:12-18` behind each claim.",
            ),
        ],
    ) -> Annotated[CallToolResult, VerdictsContent]:
        """Check what you wrote before you say it: every claim is judged by the lines that it cites.

        `conflict`: a number, quote or identifier is not there, or the lines say otherwise. `unverified`: words alone
        cannot tell, so read the lines again. `unknown`: there are no such lines. `uncited`: facts without a place.
        """
        with self._library.fresh() as assistant:
            paths = _Paths(assistant)
            claims = verify_text(text, assistant, paths.find)
        lines = [
            f"{claim['verdict'] or 'no facts'}: {claim['claim']} ({', '.join(claim['cites']) or 'no place'})"
            + (f": {claim['reason']}" if claim["reason"] else "")
            for claim in claims
        ]
        return _result("\n".join(lines) or "nothing in it states facts", VerdictsContent(claims=claims))

    def list_sources(self) -> Annotated[CallToolResult, SourcesContent]:
        """List the folders and repositories that the library is made of."""
        with self._library.fresh() as assistant:
            documents = assistant.index.documents(EVERYTHING)
            listed = [
                SourceItem(
                    name=root.name,
                    location=root.location if self._tells_places else root.url,
                    documents=sum(d.source == root.name for d in documents),
                )
                for root in assistant.sources()
            ]
        lines = (
            "  ".join(filter(None, (each["name"], each["location"], f"{each['documents']} documents")))
            for each in listed
        )
        return _result("\n".join(lines), SourcesContent(sources=listed))

    def list_courses(self, max_tokens: Tokens = DEFAULT_TOKENS) -> Annotated[CallToolResult, ListingContent]:
        """List the courses, with what they say of themselves."""
        return self._list(max_tokens, lambda tools, _: tools.list_courses())

    def course_outline(
        self, course: CourseName, max_tokens: Tokens = DEFAULT_TOKENS
    ) -> Annotated[CallToolResult, ListingContent]:
        """List the lessons of a course."""
        return self._list(max_tokens, lambda tools, _: tools.course_outline(course))

    def _named(self, path: str) -> str:
        return _Paths(self._library.assistant).named(path)

    def _within(self, pattern: str) -> str:
        return _Paths(self._library.assistant).within(pattern)

    def _list(self, max_tokens: int, use: Callable[[LibraryTools, ResultListing], str]) -> CallToolResult:
        with self._library.fresh() as assistant:
            listing = ResultListing(_Paths(assistant).place_of, max_tokens)
            use(LibraryTools(_finder(assistant), EVERYTHING, listing), listing)
        return _result(as_text(listing.listed), listing.listed)


class _Paths:
    """Paths as an agent writes them: of one source as they are, of several with the name of the source in front."""

    def __init__(self, assistant: Library) -> None:
        self._assistant = assistant
        self._roots = assistant.sources()

    def place_of(self, source: str, path: str) -> str:
        """Write source and path."""
        return path if len(self._roots) == 1 else f"{source}/{path}"

    def find(self, path: str) -> DocumentSummary | None:
        """Find the document of a path; None if there is none, or several."""
        found = self._named.get(self.named(path), [])
        return found[0] if len(found) == 1 else None

    def named(self, path: str) -> str:
        """Write a path that begins at the root of this machine, as agents like them, with the name of its source."""
        wanted = path.strip().removeprefix("./")
        for root in self._roots:
            if wanted == root.location:
                return f"{root.name}/{wanted.rpartition('/')[2]}"
            if wanted.startswith(f"{root.location}/"):
                return f"{root.name}/{wanted.removeprefix(f'{root.location}/')}"
        return wanted

    def within(self, pattern: str) -> str:
        """Write a pattern of paths that begins at the root of this machine as one that begins at its source."""
        for root in self._roots:
            if pattern.rstrip("/") == root.location:
                return pattern.rpartition("/")[2] if root.kind == "file" else ""
            if pattern.startswith(f"{root.location}/"):
                return pattern.removeprefix(root.location)
        return pattern

    @cached_property
    def _named(self) -> dict[str, list[DocumentSummary]]:
        named: dict[str, list[DocumentSummary]] = {}
        for one in self._assistant.index.documents(EVERYTHING):
            for path in (one.path, f"{one.source}/{one.path}"):
                named.setdefault(path, []).append(one)
        return named


def _finder(assistant: Library) -> EvidenceFinder:
    return EvidenceFinder(assistant.index, load_embedder(), assistant.retriever)


def _result(text: str, structured: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)
