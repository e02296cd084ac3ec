"""Finds chunks related to a chunk: uses of its definitions, tests, documentation, similar code."""

from __future__ import annotations

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import EVERYTHING, Evidence, Index, Matches, Outline
from openbook.retrieval.fields import embedding_text
from openbook.retrieval.search import DEPTH
from openbook.tokens import tokenize
from openbook.types import Chunk, RetrievalResult

# Chunks per file: the rest of a file is similar anyway, and an outline lists it.
_MAX_PER_FILE = 2


def related_chunks(chunk: Chunk, index: Index, embedder: Embedder, *, limit: int) -> list[RetrievalResult]:
    """Rank the chunks related to a chunk, at most `limit`, ordered by `(-score, source, span)`.

    Shared names count as much as similarity. Chunks that overlap with it are left out; of each file, the best two are
    kept.
    """
    names = " ".join((*chunk.defines, chunk.symbol)) or " ".join(chunk.context[-1:])
    with index.snapshot():
        vector = embedder.embed([embedding_text(chunk)])[0]
        matches = index.match(list(dict.fromkeys(tokenize(names))), vector, DEPTH, EVERYTHING)
        outlines = {outline.id: outline for outline in index.outlines([each.id for each in matches.evidence])}
        most = max((each.bm25 for each in matches.evidence), default=0.0)
        scored = [
            (_signals(each, most, matches), outlines[each.id])
            for each in matches.evidence
            if each.id in outlines and not _overlap(chunk, outlines[each.id])
        ]
        scored.sort(key=lambda item: (-sum(item[0].values()), item[1].source, item[1].span))
        kept = _spread(scored, limit)
        chunks = index.fetch([outline.id for _, outline in kept])
    pairs = zip(kept, chunks, strict=True)
    return [RetrievalResult(found, sum(signals.values()), signals) for (signals, _), found in pairs]


def _signals(evidence: Evidence, most: float, matches: Matches) -> dict[str, float]:
    above = max(0.0, evidence.cosine - matches.median_cosine)
    return {
        "names": evidence.bm25 / most if most else 0.0,
        "nearness": above / (1.0 - min(matches.median_cosine, 0.99)),
    }


def _overlap(chunk: Chunk, outline: Outline) -> bool:
    span, other = chunk.span, outline.span
    same = (chunk.source, span.path) == (outline.source, other.path)
    return same and span.start_char < other.end_char and other.start_char < span.end_char


def _spread(scored: list[tuple[dict[str, float], Outline]], limit: int) -> list[tuple[dict[str, float], Outline]]:
    counts: dict[tuple[str, str], int] = {}
    kept: list[tuple[dict[str, float], Outline]] = []
    for signals, outline in scored:
        file = (outline.source, outline.span.path)
        counts[file] = counts.get(file, 0) + 1
        if counts[file] <= _MAX_PER_FILE and len(kept) < limit:
            kept.append((signals, outline))
    return kept
