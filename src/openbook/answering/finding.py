"""What answering asks of a library: results, how far they speak of a question, and a judge of claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from openbook.answering.answerable import FOLLOW_UP_FLOOR, SUPPORT_FLOOR, support
from openbook.answering.course_questions import read_course_question
from openbook.answering.course_results import OTHER_LESSON, Courses, is_known_to_speak
from openbook.answering.extractive import missing_words
from openbook.answering.followups import Standalone
from openbook.embedding.protocol import Embedder
from openbook.grounding.judge import Judge
from openbook.index.bm25 import inverse_frequency
from openbook.index.protocol import Index
from openbook.retrieval.names import Query, read_query
from openbook.retrieval.ranking import rarities
from openbook.retrieval.search import Retriever
from openbook.retrieval.tokens import tokenize
from openbook.types import Filter, RetrievalResult

# Several results come from one place, so a question for places needs more of them to choose from.
_PLACES_FACTOR = 3


@dataclass(frozen=True, slots=True)
class Weighed:
    """The words of a question, as a library has them."""

    rarity: Mapping[str, float]
    """Weight of each token: how rare it is."""
    missing: tuple[str, ...]
    """Words that stand nowhere in the library, as written, in order."""


class Finder:
    """Finds and weighs for answers. Threads may share it."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        """Take a library, and the embedder that made it."""
        self.index = index
        self.embedder = embedder

    def find(self, text: str, top_k: int, where: Filter, min_score: float = 0.0) -> list[RetrievalResult]:
        """Rank passages for a question, at most `top_k`, or three times as many if it asks for places.

        A question on courses gets what it asks for, which may be more: headings, a whole lesson, or
        passages of the course that it names. See `openbook.answering.course_results`.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
        """
        asked = read_course_question(text)
        if asked is not None:
            with self.index.snapshot():
                found = Courses(self.index, self.embedder, where, self.search, self._supports).results(asked, top_k)
            if found is not None:
                return [result for result in found if result.score >= min_score]
        return [result for result in self.search(text, top_k, where) if result.score >= min_score]

    def search(self, text: str, top_k: int, where: Filter) -> list[RetrievalResult]:
        """Rank passages by what they say alone, as `find` does for questions that are not on courses.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
        """
        wanted = top_k * _PLACES_FACTOR if read_query(text).asks_for_places else top_k
        return Retriever(self.index, self.embedder).search(text, limit=wanted, where=where, view="passages")

    def _supports(self, topic: str, results: Sequence[RetrievalResult]) -> bool:
        return support(topic, results, self.embedder, self.weigh(read_query(topic)).rarity) >= SUPPORT_FLOOR

    def weigh(self, query: Query) -> Weighed:
        """Weigh the words of a question."""
        with self.index.snapshot():
            frequencies, chunks = self.index.frequencies(query.tokens), self.index.stats().chunks
        return Weighed(rarities(query, frequencies, chunks), missing_words(query, frequencies))

    def fault(self, asked: Standalone, results: Sequence[RetrievalResult], rarity: Mapping[str, float]) -> str:
        """Say why results do not answer a question, such as `nothing found`; empty if they may."""
        if not results:
            return "nothing found"
        if OTHER_LESSON in results[0].signals:
            return "no such lesson"
        if is_known_to_speak(results[0]):
            return ""
        floor = FOLLOW_UP_FLOOR if asked.leans else SUPPORT_FLOOR
        return "nothing relevant" if support(asked.text, results, self.embedder, rarity) < floor else ""

    def judge(self, text: str, beside: Callable[[], str] = str) -> Judge:
        """Make a judge that weighs words by their rarity in the library. Those beyond the texts weigh most.

        Args:
            text: The claims.
            beside: Gives another text. It is not asked for as long as claims have no words of their own.
        """
        with self.index.snapshot():
            found, chunks = self._counted(text), self.index.stats().chunks
        unread = [beside]

        def rarity(token: str) -> float:
            if token not in found and unread:
                found.update(self._counted(unread.pop()()))
            return inverse_frequency(found.get(token, 0), chunks)

        return Judge(self.embedder, rarity)

    def _counted(self, text: str) -> dict[str, int]:
        """Count the chunks that hold each token of a text."""
        tokens = list(set(tokenize(text)))
        return dict.fromkeys(tokens, 0) | self.index.frequencies(tokens)
