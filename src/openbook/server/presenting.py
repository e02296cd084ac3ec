"""Answers and places as the API gives them."""

from __future__ import annotations

from typing import Any

from openbook.answering.context import label_of
from openbook.answers import Citation, GenerationResult, anchor_of, written_place
from openbook.retrieval.excerpts import with_excerpts
from openbook.server.failures import without_places
from openbook.server.models import public_name
from openbook.server.rendering import render_answer
from openbook.server.schemas import AnswerResponse, CitationResponse, ClaimResponse, SpanResponse, UsageResponse
from openbook.server.served_library import ServedLibrary
from openbook.sessions.protocol import new_id
from openbook.types import Chunk, Excerpt, Span, shown_text

# Of a place that came close, enough to see what it is.
NEAREST_CHARS = 300


def present(answer: GenerationResult, library: ServedLibrary, session_id: str) -> AnswerResponse:
    """Write an answer as the API gives it."""
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
                reason=_told(claim.reason, answer),
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
        warning="",
    )


def _told(reason: str, answer: GenerationResult) -> str:
    """Return a reason without the addresses of servers, which may be in that of a verifier that failed."""
    return without_places(reason) if reason in answer.verifier_failures else reason


def _citation(number: int, citation: Citation, answer: GenerationResult, library: ServedLibrary) -> CitationResponse:
    return CitationResponse(
        number=number,
        mark=citation.mark,
        verdict=citation.verdict,
        reason=_told(citation.reason, answer),
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
    """Write a place that was found as the API gives it, with the lines that match."""
    anchor = anchor_of(chunk)
    return SpanResponse(
        **_place(chunk.source, chunk.span, library.link(chunk.source, chunk.span, anchor), library),
        symbol=chunk.symbol,
        label=label,
        place=written_place(chunk.span, anchor),
        quote=shown_text(excerpt.text[:NEAREST_CHARS]),
        matches=[match for match in excerpt.matches if match[1] <= NEAREST_CHARS],
    )


def _place(source: str, span: Span, url: str, library: ServedLibrary) -> dict[str, Any]:
    document_id = library.document_id(source, span.path) if span.path else ""
    return {"source": source, "document_id": document_id, "url": url, **span.to_dict()}
