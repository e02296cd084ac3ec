"""How well a passage fits the place that a question names: its date."""

from __future__ import annotations

from openbook.questions.dates_asked import AskedDates
from openbook.questions.question import Question
from openbook.retrieval.signals import Signals
from openbook.types import Chunk

# A text that mentions a day, over one that is of it: a mail says what is due on 20 March, the minutes are of that day.
_MENTIONED = 0.5


def asked_place_signals(query: Question, chunk: Chunk) -> Signals:
    """Compute the signals of a passage for what a question names as its place."""
    return {"date": date_strength(query.dates, chunk)} if query.dates else {}


def date_strength(dates: AskedDates, chunk: Chunk) -> float:
    """Return how surely a chunk is of the dates of a question, from 0 to 1: by its path and headings, or its text."""
    above = max(map(dates.share_in, (chunk.span.path, *chunk.context)), default=0.0)
    return max(above, _MENTIONED * dates.share_in(chunk.text))
