"""Questions that lean on earlier ones: whether they do, and what to search for in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openbook.errors import QueryError
from openbook.generation import Exchange
from openbook.retrieval.names import Query, read_query

# Of questions that lean on each other, so many are put in front. With one, or with all, fewer
# unanswerable questions of conversations are told (`benchmarks/conversations.py`).
_EARLIER = 2

# "Which tests?" and "How long?" are about what was asked before; "What is a parcel?" says it all.
_FRAGMENT_WORDS = 2

# A model that writes more than this has not written a question.
_LONGEST_QUESTION = 500

_REFERS = re.compile(
    r"^\W*(?:and|but|or|so|then|also|(?:what|how) about|und|aber|oder|was ist mit)\b"
    r"|\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|these|er|ihn|ihm|davon|dazu|damit|dafür|dort)\b"
    # "That" and "those" also point ahead: "the function that sends".
    r"|\b(?:that|those)\b(?=\W*$|\s*[?.,;]|\s+(?:is|are|was|were|do|does|did|can|works?|happens?|ones?)\b)"
    r"|\b(?:there|here|same|latter|former|second one|first one|else)\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question as it is searched for."""

    text: str
    asked: Query
    """What the sources must speak of: the question itself, where it has words of its own."""
    leans: bool = False
    """Earlier questions stand in front, and lend the text their nearness."""


def standalone(message: str, history: Sequence[Exchange], rewritten: str = "") -> Standalone:
    """Make a question stand alone.

    Args:
        message: The question.
        history: What was asked before, in order.
        rewritten: What a model made of the question; used if it is one. Without it, the questions that
            this one leans on are put in front.

    Raises:
        QueryError: The question is empty or too long, or neither it nor those before it hold a telling word.

    Example:
        >>> history = [Exchange("Where is Retry defined?", "In retry.py.")]
        >>> standalone("and where is it tested?", history).text
        'Where is Retry defined? and where is it tested?'
        >>> standalone("How do sessions end in the harbour?", history).text
        'How do sessions end in the harbour?'
    """
    if not needs_history(message, history):
        query = read_query(message)
        return Standalone(query.text, query)
    if (question := _question(rewritten)) is not None:
        return Standalone(question.text, question)
    whole = read_query(" ".join((*_before(history), message)))
    return Standalone(whole.text, _question(message) or whole, leans=True)


def needs_history(message: str, history: Sequence[Exchange]) -> bool:
    """Tell whether there are earlier questions that a question leans on."""
    return bool(history and message.strip()) and leans(message)


def leans(message: str) -> bool:
    """Tell whether a question can only be understood with those before it."""
    if _REFERS.search(message):
        return True
    query = _question(message)
    return query is None or (
        len(message.split()) <= _FRAGMENT_WORDS and query.content_words < 2 and not query.identifiers
    )


def _before(history: Sequence[Exchange]) -> list[str]:
    """Give the questions that the next one leans on: the last, and that before if the last leans on it."""
    found = [history[-1].question]
    for earlier in reversed(history[-_EARLIER:-1]):
        if not leans(found[0]):
            break
        found.insert(0, earlier.question)
    return found


def _question(text: str) -> Query | None:
    line = " ".join(text.split())
    if not line or len(line) > _LONGEST_QUESTION:
        return None
    try:
        return read_query(line)
    except QueryError:
        return None
