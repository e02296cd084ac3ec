"""The tools as an agent sees them. What it reads of them, in names and descriptions, stands here and nowhere else."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError as RefusedCall
from pydantic import Field

from openbook.answering.context import Context, ContextItem
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.outlines import lines_of
from openbook.answering.tools import LibraryTools
from openbook.answering.verification import CitationChecker
from openbook.answers import Claim
from openbook.embedding.static import load_embedder
from openbook.errors import OpenbookError, ToolError
from openbook.grounding.marks import find_marks
from openbook.index.protocol import DocumentSummary, Index
from openbook.library import Library
from openbook.mcp.listing import ResultListing, as_text
from openbook.mcp.watched_library import WatchedLibrary
from openbook.retrieval.related import related_chunks
from openbook.retrieval.search import EVERYTHING
from openbook.sources.languages import BY_NAME, BY_SUFFIX
from openbook.text import LineIndex, units
from openbook.types import Kind, RetrievalResult
from openbook.verify.mentions import Mention, find_mentions

# What stands around a place belongs to how it is written, not to the claim.
_OPENS, _CLOSES = "`([<", "`)]>"

# What is left of brackets when the places within are taken out.
_EMPTIED = re.compile(r"\s*\([\s,;]*\)")

Locate = Callable[[str], DocumentSummary | None]
"""Finds the document that a path means."""


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A claim of a text, and what its lines say to it."""

    claim: str
    cites: tuple[str, ...]
    """Places as they are written."""
    verdict: str
    """`exact`, `confirmed`, `conflict`, `unverified`, `unknown` (no such lines), `stale`, `uncited`,
    or empty: no facts."""
    reason: str


def verify_text(text: str, assistant: Library, locate: Locate) -> list[DraftClaim]:
    """Return every claim of a text with its verdict by words alone, in order.

    Claims without facts are left out unless they cite.
    """
    mentions = [mention for mention in find_mentions(text, None) if _is_place(mention, locate)]
    shown, numbers = _shown(mentions, assistant.index, locate)
    context = Context(tuple(shown))
    marked = _marked(text, mentions, numbers)
    checked = CitationChecker(context, assistant.text_now).check(marked)
    written = {f"[{number}]": text[m.start_char : m.end_char] for m, number in zip(mentions, numbers, strict=True)}
    missing = {f"[{number}]" for number in numbers if number > len(shown)}
    return [_judged(claim, written, missing) for claim in checked.claims if claim.verdict or claim.marks]


def _is_place(mention: Mention, locate: Locate) -> bool:
    """Return whether a mention cites: `postgres:13` and `localhost:8080` are a part of what is claimed."""
    name = mention.path.rpartition("/")[2].lower()
    is_like_a_file = name in BY_NAME or ("." in name and name.rpartition(".")[2] in BY_SUFFIX)
    return "/" in mention.path or is_like_a_file or locate(mention.path) is not None


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


def _judged(claim: Claim, written: dict[str, str], missing: set[str]) -> DraftClaim:
    cites = tuple(dict.fromkeys(written[mark] for mark in claim.marks if mark in written))
    gone = [written[mark] for mark in claim.marks if mark in missing]
    if gone and claim.verdict != "conflict":  # lines that are there do not vouch for others that are not
        text = _EMPTIED.sub("", claim.text)
        return DraftClaim(text, cites, "unknown", f"there are no such lines: {', '.join(dict.fromkeys(gone))}")
    return DraftClaim(claim.text, cites, claim.verdict, claim.reason)


# What one call shows unless told otherwise: of eight passages, about 20 lines each. On swe-qa that holds .81 of
# the files that answer (`python -m benchmarks.agent_tokens`). An agent that needs more asks again.
DEFAULT_TOKENS = 2_000
MOST_TOKENS = 20_000

# Takes three seconds where each sentence cites; a longer text can be checked in parts.
_MOST_CHECKED_CHARS = 100_000

Path = Annotated[str, Field(description="As results show it, without line numbers.")]
Within = Annotated[str, Field(description="Only paths like this, as in .gitignore: `*.py`, `src/`, or one file.")]
Tokens = Annotated[int, Field(ge=100, le=MOST_TOKENS, description="Most tokens to show. What is cut is said.")]
CourseName = Annotated[str, Field(description="Title of a course or a part of it; slips of the pen are forgiven.")]

P = ParamSpec("P")


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
    ) -> str:
        """Find the passages that speak most of a question, best first, as `path:start-end` with numbered lines.

        Use it before grep: it finds code by what it does, and looks in code, documentation and courses at once.
        """
        return self._list(max_tokens, lambda tools, _: tools.search(query, kind, self._within(path), limit))

    def ask(self, question: Annotated[str, Field(description="In full words, as to a person.")]) -> str:
        """Answer a question with sentences and lines quoted from the library. Each quote was compared with its file.

        No model writes this: it quotes, or says that the library does not tell.
        """
        with self._library.fresh() as assistant:
            answer = assistant.query(question)
            place_of = _Paths(assistant).place_of
            places = {
                cited.mark: f"{place_of(cited.source, cited.span.path)}:{cited.span.start_line}-{cited.span.end_line}"
                for cited in answer.citations
            }
        lines = dict.fromkeys(f"{places[cited.mark]}: {cited.verdict}" for cited in answer.citations)
        return "\n".join((_with_places(answer.answer, places), *lines))

    def read_lines(
        self,
        path: Path,
        first_line: Annotated[int, Field(ge=1, description="Counts from 1.")] = 1,
        last_line: Annotated[int, Field(ge=1, description="Is read too.")] = 200,
        max_tokens: Tokens = 4_000,
    ) -> str:
        """Read lines of a document, numbered."""
        return self._list(max_tokens, lambda tools, _: tools.read_lines(self._named(path), first_line, last_line))

    def outline(self, path: Path, max_tokens: Tokens = DEFAULT_TOKENS) -> str:
        """List what a document holds, with line numbers: its definitions, headings or lessons. Cheaper than reading."""
        return self._list(max_tokens, lambda tools, _: tools.outline(self._named(path)))

    def find_symbol(
        self,
        name: Annotated[str, Field(description="As written in code: `Client` or `Client.get`.")],
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """Find where a class, function, method, constant or type is defined."""
        return self._list(max_tokens, lambda tools, listing: listing.keep(*tools.definitions_of(name, whole=False)))

    def find_related(
        self,
        path: Path,
        line: Annotated[int, Field(ge=1, description="A line of what is asked about.")],
        limit: Annotated[int, Field(ge=1, le=50, description="Most results.")] = 6,
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
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
        return as_text(listing.listed)

    def verify_citations(
        self,
        text: Annotated[
            str,
            Field(
                max_length=_MOST_CHECKED_CHARS,
                description="What you mean to say, citing as `path:12-18` behind each claim.",
            ),
        ],
    ) -> str:
        """Check what you wrote before you say it: every claim is judged by the lines that it cites.

        `conflict`: a number, quote or identifier is not there, or the lines say otherwise. `unverified`: words alone
        cannot tell, so read the lines again. `unknown`: there are no such lines. `uncited`: facts without a place.
        """
        with self._library.fresh() as assistant:
            paths = _Paths(assistant)
            claims = verify_text(text, assistant, paths.find)
        lines = [
            f"{claim.verdict or 'no facts'}: {claim.claim} ({', '.join(claim.cites) or 'no place'})"
            + (f": {claim.reason}" if claim.reason else "")
            for claim in claims
        ]
        return "\n".join(lines) or "nothing in it states facts"

    def list_sources(self) -> str:
        """List the folders and repositories that the library is made of."""
        with self._library.fresh() as assistant:
            counts = Counter(document.source for document in assistant.index.documents(EVERYTHING))
            listed = [
                (root.name, root.location if self._tells_places else root.url, f"{counts[root.name]} documents")
                for root in assistant.sources()
            ]
        return "\n".join("  ".join(filter(None, each)) for each in listed)

    def list_courses(self, max_tokens: Tokens = DEFAULT_TOKENS) -> str:
        """List the courses, with what they say of themselves."""
        return self._list(max_tokens, lambda tools, _: tools.list_courses())

    def course_outline(self, course: CourseName, max_tokens: Tokens = DEFAULT_TOKENS) -> str:
        """List the lessons of a course."""
        return self._list(max_tokens, lambda tools, _: tools.course_outline(course))

    def _named(self, path: str) -> str:
        return _Paths(self._library.assistant).named(path)

    def _within(self, pattern: str) -> str:
        return _Paths(self._library.assistant).within(pattern)

    def _list(self, max_tokens: int, use: Callable[[LibraryTools, ResultListing], str]) -> str:
        with self._library.fresh() as assistant:
            listing = ResultListing(_Paths(assistant).place_of, max_tokens)
            use(LibraryTools(_finder(assistant), EVERYTHING, listing), listing)
        return as_text(listing.listed)


def _with_places(text: str, places: dict[str, str]) -> str:
    """Put places where marks of results stand, which an agent cannot open."""
    parts, at = [], 0
    for mark in find_marks(text):
        parts += [text[at : mark.start_char], f"[{places.get(mark.text, mark.text[1:-1])}]"]
        at = mark.end_char
    return "".join([*parts, text[at:]])


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
