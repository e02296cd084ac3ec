"""How well a passage fits the place that a question names: a date, a numbered part, a version of a document."""

from __future__ import annotations

from openbook.questions.dates_asked import AskedDates
from openbook.questions.question import Question
from openbook.questions.references_asked import AskedReference
from openbook.retrieval.signals import Signals
from openbook.tokens import tokenize
from openbook.types import Chunk

# A text that mentions a day, over one that is of it: a mail says what is due on 20 March, the minutes are of that day.
_MENTIONED = 0.5
# What a numbered part counts in a document with none of the words that the question calls it by.
_OF_OTHER_DOCUMENT = 0.4


def asked_place_signals(query: Question, chunk: Chunk) -> Signals:
    """Compute the signals of a passage for what a question names as its place."""
    signals = {"edition": float(query.edition is not None and query.edition.is_file(chunk.span.path))}
    if query.dates:
        signals["date"] = date_strength(query.dates, chunk)
    if query.reference:
        signals["reference"] = reference_strength(query, query.reference, chunk)
    return signals


def date_strength(dates: AskedDates, chunk: Chunk) -> float:
    """Return how surely a chunk is of the dates of a question, from 0 to 1: by its path and headings, or its text."""
    above = max(map(dates.share_in, (chunk.span.path, *chunk.context)), default=0.0)
    return max(above, _MENTIONED * dates.share_in(chunk.text))


def reference_strength(query: Question, reference: AskedReference, chunk: Chunk) -> float:
    """Return how surely a chunk has the numbered part that a question refers to, from 0 to 1; 0 for code."""
    share = 0.0 if chunk.kind == "code" else reference.share_in(chunk.context, chunk.text)
    return share and share * document_share(query, reference, chunk)


def document_share(query: Question, reference: AskedReference, chunk: Chunk) -> float:
    """Return how surely a chunk is of the document that a question refers to a part of; 1 if it names none."""
    if not reference.document or (query.edition is not None and query.edition.is_file(chunk.span.path)):
        return 1.0
    held = reference.document.intersection(tokenize(" ".join((chunk.span.path, *chunk.context[:1]))))
    return _OF_OTHER_DOCUMENT + (1 - _OF_OTHER_DOCUMENT) * len(held) / len(reference.document)
