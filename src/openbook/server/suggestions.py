"""Questions that the sources answer, made from what is indexed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest

from openbook.index.protocol import Index, Listed
from openbook.retrieval.search import EVERYTHING
from openbook.types import Chunk

# As many as one looks over before one types.
_MOST = 6

# Documents of each kind whose chunks are looked at: a page must not wait for a whole library.
_LOOKED_AT = 12

# A heading of one letter says nothing, one of a paragraph fits on no button.
_SUBJECT_CHARS = range(4, 61)


def suggest(index: Index) -> list[str]:
    """Give some questions, of each kind of source by turns; [] for an empty library."""
    listed = index.documents(EVERYTHING)
    kinds = (_of(index, listed, kind) for kind in ("course", "docs", "code"))
    by_turns = (question for group in zip_longest(*kinds) for question in group if question)
    return list(islice(dict.fromkeys(by_turns), _MOST))


def _of(index: Index, listed: list[Listed], kind: str) -> Iterator[str]:
    # The shallowest first: a README says more of what there is than a page five folders down.
    found = sorted((each for each in listed if each.kind == kind), key=lambda each: (each.path.count("/"), each))
    for document in found[:_LOOKED_AT]:
        chunks = index.chunks(document.source, document.path)
        question = next(filter(None, map(_question, chunks)), "")
        if question:
            yield question


def _question(chunk: Chunk) -> str:
    if chunk.lesson is not None:
        title = chunk.lesson.title
        return f"What does the lesson “{title}” teach?" if len(title) in _SUBJECT_CHARS else ""
    if chunk.kind == "code":
        public = chunk.symbol and not chunk.symbol.rpartition(".")[2].startswith("_")
        return f"What does {chunk.symbol} do?" if public and len(chunk.symbol) in _SUBJECT_CHARS else ""
    subject = chunk.context[-1] if chunk.context else ""
    return f"What is said about “{subject}”?" if len(subject) in _SUBJECT_CHARS else ""
