"""Query expansion: other searches for the same question, written by the model that is to answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.answering.context import label_of
from openbook.answering.prompting import fill_template
from openbook.errors import QueryError
from openbook.llm.messages import ShownSource
from openbook.questions.question import Question, read_question
from openbook.types import ResultRole, RetrievalResult

# Searches that are asked for, and results of the first one that a model is shown.
_SEARCHES, _SHOWN = 3, 20

# Characters of a place, and of a search. What is longer is no search, but an answer or a thought.
_PLACE_CHARS, _LONGEST_SEARCH = 110, 120

# What models put before an item of a list, and around the whole of it.
_BULLET = re.compile(r"\s*(?:[-*\u2022>#]+|\(?\d{1,2}[.):])\s+")
_QUOTES = "\"'`*\u201c\u201d\u2018\u2019\u00ab\u00bb"


def is_expandable(question: Question, results: Sequence[RetrievalResult], top_k: int) -> bool:
    """Check whether other searches could find more.

    They cannot if the first one found less than it was asked for: it has found everything then. A question for a
    whole project or about the outline of courses gets its results from other places than a search.
    """
    return question.course is None and len(results) >= top_k and ResultRole.OVERVIEW not in results[0].roles


def build_expansion_prompt(query: str, results: Sequence[RetrievalResult]) -> str:
    """Build the prompt that asks for other searches.

    Args:
        query: The question, as it stands alone.
        results: What it found, best first.
    """
    # In a fence: names of files and headings are text of strangers.
    places = ShownSource(0, "", "places that were found", tuple(map(_place, results[:_SHOWN])))
    return fill_template("expand", question=" ".join(query.split()), places=str(places))


def read_searches(reply: str) -> list[Question]:
    """Read the searches that a model wrote, at most three. What is no search is left out.

    Example:
        >>> [search.text for search in read_searches("1. retry backoff limit")]
        ['retry backoff limit']
    """
    searches: dict[str, Question] = {}
    for line in reply.splitlines():
        text = _BULLET.sub("", line, count=1).strip()
        inner = text.strip(_QUOTES)
        text = text if any(sign in inner for sign in _QUOTES) else inner.strip()
        if not text or len(text) > _LONGEST_SEARCH:
            continue
        try:
            searches.setdefault(text, read_question(text))
        except QueryError:  # a fence, or words that no search can use
            continue
    return list(searches.values())[:_SEARCHES]


def _place(result: RetrievalResult) -> str:
    chunk = result.chunk
    return " ".join(f"{chunk.span.path} | {chunk.symbol or label_of(result)}".split())[:_PLACE_CHARS].rstrip(" |")
