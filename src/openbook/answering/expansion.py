"""Query expansion: further searches for a question, written by the model that answers it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.answering.prompting import fill_template
from openbook.errors import QueryError
from openbook.extractive.context import label_of
from openbook.llm.messages import ShownSource
from openbook.questions.question import Question, read_question
from openbook.types import ResultRole, RetrievalResult

# Searches to ask for, and results of the first search that the model is shown.
_SEARCHES, _SHOWN = 3, 20

# Characters of a place, and of a search. Longer lines are no searches.
_PLACE_CHARS, _MAX_SEARCH_CHARS = 110, 120

# Bullets and numbers of lists.
_BULLET = re.compile(r"\A\s*(?:[-*\u2022>#]+|\(?\d{1,2}[.):])\s+")
_QUOTES = "\"'`*\u201c\u201d\u2018\u2019\u00ab\u00bb"


def is_expandable(question: Question, results: Sequence[RetrievalResult], top_k: int) -> bool:
    """Check whether further searches could find more.

    They cannot if the first one found fewer results than its limit. Questions about a whole project or document, or the
    outline of a course, do not get their results from a search.
    """
    if question.course is not None or len(results) < top_k:
        return False
    return results[0].roles.isdisjoint((ResultRole.OVERVIEW, ResultRole.DOCUMENT))


def build_expansion_prompt(query: str, results: Sequence[RetrievalResult]) -> str:
    """Build the prompt that asks for further searches."""
    # In a fence: file names and headings are untrusted text.
    places = ShownSource(0, "", "places that were found", tuple(map(_place, results[:_SHOWN])))
    return fill_template("expand", question=" ".join(query.split()), places=str(places))


def read_searches(reply: str) -> list[Question]:
    """Parse the searches of a model, at most three. Other lines are dropped.

    Example:
        >>> [search.text for search in read_searches("1. retry backoff limit")]
        ['retry backoff limit']
    """
    searches: dict[str, Question] = {}
    for line in reply.splitlines():
        text = _BULLET.sub("", line, count=1).strip()
        inner = text.strip(_QUOTES)
        text = text if any(sign in inner for sign in _QUOTES) else inner.strip()
        if not text or len(text) > _MAX_SEARCH_CHARS:
            continue
        try:
            searches.setdefault(text, read_question(text))
        except QueryError:  # a fence, or nothing but stop words
            continue
    return list(searches.values())[:_SEARCHES]


def _place(result: RetrievalResult) -> str:
    chunk = result.chunk
    return " ".join(f"{chunk.span.path} | {chunk.symbol or label_of(result)}".split())[:_PLACE_CHARS].rstrip(" |")
