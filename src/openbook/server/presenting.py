"""Converts answers and results, including stored ones, to API responses; and finds answers to be replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openbook.answers import Citation, Exchange, GenerationResult, anchor_of, written_place
from openbook.extractive.context import label_of
from openbook.retrieval.excerpts import with_excerpts
from openbook.server.failures import RequestRefusedError, without_places
from openbook.server.models import public_name
from openbook.server.rendering import render_answer
from openbook.server.schemas import AnswerResponse, CitationResponse, ClaimResponse, SpanResponse, UsageResponse
from openbook.server.served_library import ServedLibrary
from openbook.sessions.protocol import Cut, Sessions, new_id, session_title
from openbook.types import Chunk, Excerpt, Span, shown_text

# Enough to recognize a result.
NEAREST_CHARS = 300


def present(answer: GenerationResult, library: ServedLibrary, session_id: str) -> AnswerResponse:
    """Convert an answer to the response of the API."""
    citations = [
        _citation(number, citation, answer, library) for number, citation in enumerate(answer.citations, start=1)
    ]
    return AnswerResponse(
        id=new_id(),
        query=answer.query,
        answer=answer.answer,
        html=render_answer(answer),
        sources=list(
            dict.fromkeys(each.place for each in citations if each.verdict in ("exact", "confirmed", "unverified"))
        ),
        session_id=session_id,
        citations=citations,
        nearest=_nearest(answer, library) if answer.refused else [],
        claims=[
            ClaimResponse(
                text=shown_text(claim.text),
                marks=list(claim.marks),
                verdict=claim.verdict,
                reason=_public_reason(claim.reason, answer),
            )
            for claim in answer.claims
        ],
        refused=answer.refused,
        reason=answer.reason,
        model=public_name(answer.model),
        usage=UsageResponse.model_validate(answer.usage),
        cost_usd=None if answer.cost_usd is None else float(answer.cost_usd),
        quality_score=None if answer.quality_score is None else round(answer.quality_score, 6),
        took_ms=round(answer.took_ms, 1),
        searched=answer.searched,
        searches=list(answer.searches),
        stopped=answer.stopped,
        verifier=public_name(answer.verifier),
        warning=_warning(answer),
    )


def _warning(answer: GenerationResult) -> str:
    failure = without_places(answer.search_failure)
    return f"searched only for the question: {failure}" if failure else ""


def _public_reason(reason: str, answer: GenerationResult) -> str:
    """Return a reason without server addresses, which the error of a verifier may contain."""
    return without_places(reason) if reason in answer.verifier_failures else reason


def _citation(number: int, citation: Citation, answer: GenerationResult, library: ServedLibrary) -> CitationResponse:
    return CitationResponse(
        number=number,
        mark=citation.mark,
        verdict=citation.verdict,
        reason=_public_reason(citation.reason, answer),
        place=citation.place,
        **_place(citation.source, citation.span, citation.url, library),
        symbol=citation.symbol,
        label=citation.label,
        quote=shown_text(citation.quote),
    )


def _nearest(answer: GenerationResult, library: ServedLibrary) -> list[SpanResponse]:
    results = with_excerpts(answer.searched or answer.query, answer.results)
    return [near(result.chunk, result.excerpt, label_of(result), library) for result in results if result.excerpt]


def near(chunk: Chunk, excerpt: Excerpt, label: str, library: ServedLibrary) -> SpanResponse:
    """Convert a result to the response of the API, with the matching lines."""
    anchor = anchor_of(chunk)
    return SpanResponse(
        **_place(chunk.source, chunk.span, library.link(chunk.source, chunk.span, anchor), library),
        symbol=excerpt.symbol or chunk.symbol,
        label=label,
        place=written_place(chunk.span, anchor),
        quote=shown_text(excerpt.text[:NEAREST_CHARS]),
        matches=[match for match in excerpt.matches if match[1] <= NEAREST_CHARS],
    )


def _place(source: str, span: Span, url: str, library: ServedLibrary) -> dict[str, Any]:
    document_id = library.document_id(source, span.path) if span.path else ""
    return {"source": source, "document_id": document_id, "url": url, **span.to_dict()}


# Each is stored in full within the one that replaced it, so the number is limited.
_MAX_EARLIER = 5


@dataclass(frozen=True, slots=True)
class Replacing:
    """The answer that a question replaces."""

    id: str
    cut: Cut
    earlier: list[AnswerResponse]
    """That answer, preceded by those it has replaced itself, oldest first."""
    is_title: bool
    """Whether its question is the title of the conversation."""


def find_replaced(sessions: Sessions, owner: str, session_id: str | None, answer_id: str) -> Replacing:
    """Find the answer to be replaced.

    Raises:
        SessionError: Conversations cannot be read.
    """
    found = sessions.records(owner, session_id) if session_id else None
    if found is None:
        raise _no_answer()
    session, records = found
    at = next((at for at, record in enumerate(records) if record["id"] == answer_id), None)
    if at is None:
        raise _no_answer()
    title = session_title(Exchange(records[at]["query"], ""))
    return Replacing(
        answer_id, Cut(at, len(records), answer_id), _earlier(records[at]), is_title=at == 0 and session.title == title
    )


def _earlier(record: dict[str, Any]) -> list[AnswerResponse]:
    replaced = AnswerResponse.model_validate(record)
    before, replaced.earlier = replaced.earlier, []
    return [*before, replaced][-_MAX_EARLIER:]


def _no_answer() -> RequestRefusedError:
    return RequestRefusedError(
        404,
        "this conversation has no such answer to replace",
        hint="open the conversation again: it may have been changed meanwhile",
    )
