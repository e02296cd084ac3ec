"""Questions that lean on earlier ones: what to search for in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openbook.answers import Exchange
from openbook.errors import QueryError
from openbook.grounding.marks import find_marks
from openbook.questions.anaphora import has_own_words, leans
from openbook.questions.kinds import kind_of
from openbook.questions.question import Question, read_question
from openbook.text import sentences

# Of questions that lean on each other, so many are put in front. With one, or with all, fewer
# unanswerable questions of conversations are told (`benchmarks/conversations.py`).
_EARLIER = 2

# A model that writes more than this has not written a question, and what is longer needs no other words.
_LONGEST_QUESTION = 500

# The text of an error that is quoted from an image has some full stops.
_SENTENCES_OF_IMAGES = 3

# What models put around the one line that they are asked for.
_LABEL = re.compile(r"[^\w\"'`]*(?:[^:?\n]{0,60}\bquestion\b[^:?\n]{0,20}):\s*", re.IGNORECASE)
_QUOTES = " \t\n\"'`*\u201c\u201d\u2018\u2019\u00ab\u00bb"

_OPENING = re.compile(
    r"\W*(?:(?:and|but|or|so|then|also|ok(?:ay)?|please|und|aber|oder|bitte|et|mais)\b\W*)*(\w*)", re.IGNORECASE
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class StandaloneQuestion:
    """A question as it is searched for."""

    question: Question
    asked: Question
    """What the sources must speak of: the question itself, where it has words of its own."""
    leans: bool = False
    """Earlier questions stand in front, and lend the text their nearness."""
    rewritten: bool = False
    """A model put it into other words than those that were asked."""

    @property
    def text(self) -> str:
        """What is searched for."""
        return self.question.text


def standalone(
    message: str, history: Sequence[Exchange], rewritten: str = "", *, has_images: bool = False
) -> StandaloneQuestion:
    """Make a question stand alone.

    Args:
        message: The question.
        history: What was asked before, in order.
        rewritten: What a model made of the question; used if it is one. Without it, the questions that
            this one leans on are put in front, if rules say that it leans.
        has_images: The model has put into it what images show.

    Raises:
        QueryError: The question is empty or too long, or neither it nor those before it hold a telling word.

    Example:
        >>> history = [Exchange("Where is Retry defined?", "In retry.py.")]
        >>> standalone("and where is it tested?", history).text
        'Where is Retry defined? and where is it tested?'
        >>> standalone("How do sessions end in the harbour?", history).text
        'How do sessions end in the harbour?'
    """
    more = _SENTENCES_OF_IMAGES if has_images else 0
    if message.strip() and (history or has_images) and (question := _rewrite(message, rewritten, more)) is not None:
        return StandaloneQuestion(question, question, rewritten=question.text != message.strip())
    before = _before(history)
    if not (before and message.strip() and leans(message)):
        query = read_question(message)
        return StandaloneQuestion(query, query)
    whole = read_question(" ".join((*before, message)))
    return StandaloneQuestion(whole, read_question(message) if has_own_words(message) else whole, leans=True)


def is_rewritable(message: str, history: Sequence[Exchange]) -> bool:
    """Check whether a model is to make a question stand alone: any but thanks, the first, and one of a whole page."""
    return bool(history and message.strip()) and len(message) <= _LONGEST_QUESTION and not _is_small_talk(message)


def _is_small_talk(message: str) -> bool:
    return kind_of(message) == "small talk"


def _before(history: Sequence[Exchange]) -> list[str]:
    """Return the questions that the next one leans on: the last, and that before if the last leans on it."""
    asked = [exchange.question for exchange in history if not _is_small_talk(exchange.question)]
    found = asked[-1:]
    for earlier in reversed(asked[-_EARLIER:-1]):
        if not leans(found[0]):
            break
        found.insert(0, earlier)
    return found


def _rewrite(message: str, rewritten: str, more_sentences: int = 0) -> Question | None:
    """Return what a model made of a question; None if that is no question, but an answer or nothing."""
    line = " ".join(rewritten.split())
    label = _LABEL.match(line)
    line = line[label.end() if label else 0 :].strip(_QUOTES)
    if not line or len(line) > _LONGEST_QUESTION or find_marks(line):
        return None
    asks = line.endswith(_QUESTION_MARKS)
    # "Show me its tests." stays one without a question mark; what else has none is an answer.
    if not asks and (message.rstrip().endswith(_QUESTION_MARKS) or _opening(line) != _opening(message)):
        return None
    if _sentences(line) > max(1, _sentences(message)) + more_sentences:  # an answer that ends with a question
        return None
    try:
        return read_question(line)
    except QueryError:
        return None


def _sentences(text: str) -> int:
    return sum(1 for _ in sentences(text))


def _opening(text: str) -> str:
    found = _OPENING.match(text)
    return found[1].lower() if found else ""
