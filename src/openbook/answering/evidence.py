"""Retrieves evidence for answers, and judges whether it answers the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from openbook.answering.answerability import (
    ANSWERABLE_FLOOR,
    DOUBTED_BELOW,
    FOLLOW_UP_FLOOR,
    MIN_CHUNKS,
    SUPPORT_FLOOR,
    Answerability,
    measure_answerability,
    support,
)
from openbook.answering.filling import (
    fill_context,
    with_comments,
    with_docstrings,
    with_entries,
    with_parameter_sections,
)
from openbook.answering.followups import StandaloneQuestion
from openbook.answering.missing import is_in_another_language, missing_words
from openbook.answers import RefusalReason
from openbook.embedding.protocol import Embedder
from openbook.extractive.citations import TextNow
from openbook.extractive.course_results import VisibleCourses, is_known_to_speak, spread_over
from openbook.extractive.includes import IncludedCode, with_included_code
from openbook.extractive.outlines import behind_front_matter
from openbook.extractive.overview import document_to_summarize, introduction, introduction_of, page_asked_for
from openbook.extractive.scoring import asks_only_for_uses, has_name, is_inside
from openbook.index.protocol import Index
from openbook.lookup.matching_lines import documents_holding
from openbook.lookup.quotations import find_quoted
from openbook.lookup.spelling import suggestions
from openbook.questions.comparisons import asking_what_is
from openbook.questions.question import Question, read_question
from openbook.retrieval import weights
from openbook.retrieval.fusion import fuse
from openbook.retrieval.search import DEPTH, Retriever
from openbook.retrieval.signals import rarities
from openbook.tokens import WORD
from openbook.types import Chunk, Filter, ResultRole, RetrievalResult

# Results of one place, and places for a question that asks for these.
_PER_PLACE, _PLACES_FACTOR = 2, 3

# Uses of a name rank low, since other words of the question are seldom near.
_USES_FACTOR = 8

# Signals of results that answer a form of question.
_ANSWERING = ("cause", "release", "requirement")


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """The rarity of the words of a question in a library, and the missing ones."""

    rarity: Mapping[str, float]
    """The weight of each token by rarity."""
    missing: tuple[str, ...]
    """Words that the library lacks, as written, in order."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """Whether results can answer a question; if not, why."""

    fault: RefusalReason | Literal[""] = ""
    """Why they do not answer it, such as `nothing found`; empty if they may."""
    deciding: tuple[str, ...] = ()
    """Words that the question is about and that the library lacks, as written."""
    is_doubtful: bool = False
    """They may answer it, but probably do not."""


def _defines(chunk: Chunk, question: Question) -> bool:
    """Return whether a chunk defines a name or the term of a question."""
    if not set(chunk.defines).isdisjoint(question.identifiers):
        return True
    return question.term is not None and any(map(question.term.is_name, chunk.defines))


class EvidenceFinder:
    """Retrieve evidence for answers, and judge its relevance. Thread-safe."""

    def __init__(self, index: Index, embedder: Embedder, text_now: TextNow, retriever: Retriever | None = None) -> None:
        """Prepare. `retriever` searches the library, if another embedder made it."""
        self.index = index
        self.embedder = embedder
        self.text_now = text_now
        self._retriever = retriever or Retriever(index, embedder)

    def find(self, question: Question, top_k: int, where: Filter, min_score: float = 0.0) -> list[RetrievalResult]:
        """Rank passages for a question, at most `top_k`, or three times as many if it asks for places.

        Best first. A question on courses may get more results: headings, a whole lesson, or passages of the course that
        it names. See `openbook.extractive.course_results`.
        """
        if question.course is not None:
            with self.index.snapshot():
                courses = VisibleCourses(self.index, self.embedder, where, self._search_topic, self._supports)
                found = courses.results(question.course, top_k)
            if found is not None:
                return [result for result in found if result.score >= min_score]
        with self.index.snapshot():
            found = self._summarized(question, where) or self._introduction(question, where)
            if found and ResultRole.DOCUMENT in found[0].roles:
                return [result for result in found if result.score >= min_score]
            shown = {result.chunk.key for result in found}
            found += [result for result in self.search(question, top_k, where) if result.chunk.key not in shown]
        return [result for result in found if result.score >= min_score]

    def _summarized(self, question: Question, where: Filter) -> list[RetrievalResult]:
        document = document_to_summarize(question, self.index, where)
        if document is None:
            return []
        chunks = spread_over(behind_front_matter(self.index.chunks(document.source, document.path)))
        return [RetrievalResult(chunk, 1.0, roles=frozenset([ResultRole.DOCUMENT])) for chunk in chunks]

    def _introduction(self, question: Question, where: Filter) -> list[RetrievalResult]:
        names = sorted({root.name for root in self.index.roots()})
        if question.asks_for_whole(names):
            return introduction(question.text, self.index, where)
        page = page_asked_for(question.text, self.index, where)
        return [] if page is None else introduction_of(page, self.index)

    def fill_context(self, results: Sequence[RetrievalResult], max_tokens: int, where: Filter) -> list[RetrievalResult]:
        """Complete the definitions and sections of results as far as they fit. See `openbook.answering.filling`.

        The best are followed by the code that they include.
        """
        return fill_context(with_included_code(results, IncludedCode(self.index, where)), self.index, where, max_tokens)

    def search(self, question: Question, top_k: int, where: Filter) -> list[RetrievalResult]:
        """Rank passages like `find`, without handling questions on courses."""
        if question.identifiers and "uses" in question.intents:
            found = self._retriever.search(question, limit=top_k * _USES_FACTOR, where=where, view="passages")
            if found and found[0].signals.get("cause"):
                return found[:top_k]
            named = sorted(found, key=lambda result: not has_name(question, result.chunk.text))
            if asks_only_for_uses(question):
                # The definition is not quoted, so callers rank before it.
                named.sort(key=lambda each: is_inside(each.chunk, question) or not has_name(question, each.chunk.text))
            return named[:top_k]
        if question.asks_for_places:
            return self._spread(question, top_k * _PLACES_FACTOR, where)
        # Passages about both sides are rare, so each side is searched for as well.
        sides = [read_question(asking_what_is(side)) for side in question.compared]
        of_sides = [self._retriever.search(side, limit=top_k, where=where, view="passages") for side in sides]
        found = self._retriever.search(question, limit=top_k, where=where, view="passages")
        if question.asks_for_parameters:
            found = with_docstrings(found, self.index, where)
            for name in question.identifiers:
                found = with_parameter_sections(found, self.index, where, name)
        if question.settings:
            found = with_entries(found, self.index, where, question.settings)
        found = with_comments(found, self.index, where, lambda chunk: _defines(chunk, question))
        return fuse(found, of_sides) if of_sides else found

    def _spread(self, question: Question, most: int, where: Filter) -> list[RetrievalResult]:
        """Rank passages, at most two of each document or lesson.

        One document may have all of the best. Those that only mention the topic follow.
        """
        found = self._retriever.search(question, limit=DEPTH, where=where, view="passages")
        mentioning = {(each.source, each.path) for each in documents_holding(question.tokens, self.index, where)}
        left = mentioning.difference((each.chunk.source, each.chunk.span.path) for each in found)
        if left:
            only_left = replace(where, within=frozenset(left))
            found += self._retriever.search(question, limit=most, where=only_left, view="passages")
        kept, seen = [], Counter[object]()
        for result in found:
            place = result.chunk.source, result.chunk.span.path, result.chunk.lesson
            seen[place] += 1
            if seen[place] <= _PER_PLACE:
                kept.append(result)
        return kept[:most]

    def quoting(self, question: Question, top_k: int, where: Filter) -> list[RetrievalResult]:
        """Rank the passages that have the texts in quotation marks that a question consists of."""
        return find_quoted(question, self._retriever, limit=top_k, where=where)

    def expand(
        self,
        results: Sequence[RetrievalResult],
        searches: Sequence[Question],
        top_k: int,
        where: Filter,
        min_score: float = 0.0,
    ) -> list[RetrievalResult]:
        """Merge results with those of other searches for the same question. See `openbook.retrieval.fusion`."""
        with self.index.snapshot():
            found = [self.search(search, top_k, where) for search in searches]
        return fuse(results, [[result for result in each if result.score >= min_score] for each in found])

    def _search_topic(self, topic: str, top_k: int, where: Filter) -> list[RetrievalResult]:
        return self.search(read_question(topic), top_k, where)

    def _supports(self, topic: str, results: Sequence[RetrievalResult]) -> bool:
        return support(topic, results, self.embedder, self.weigh(read_question(topic)).rarity) >= SUPPORT_FLOOR

    def text_of(self, source: str, path: str) -> str | None:
        """Return the indexed text of a document."""
        document = self.index.document(source, path)
        return None if document is None else document.text

    def weigh(self, question: Question) -> TermStatistics:
        """Weigh the words of a question."""
        with self.index.snapshot():
            frequencies, chunks = self.index.frequencies(question.tokens), self.index.stats().chunks
        missing = (word for word in missing_words(question, frequencies) if word.lower() not in question.stop_words)
        return TermStatistics(rarities(question, frequencies, chunks), tuple(missing))

    def judge(
        self, asked: StandaloneQuestion, results: Sequence[RetrievalResult], weighed: TermStatistics, where: Filter
    ) -> Relevance:
        """Judge whether results may answer a question.

        `weighed`: its statistics; `where`: the filter of the results.
        """
        if not results:
            return Relevance(RefusalReason.NOTHING_FOUND if self.index.stats().chunks else RefusalReason.EMPTY_LIBRARY)
        if ResultRole.OTHER_LESSON in results[0].roles:
            return Relevance(RefusalReason.NO_SUCH_LESSON)
        if is_known_to_speak(results[0]) or ResultRole.OVERVIEW in results[0].roles:
            return Relevance()
        # An entry of the setting that is asked for answers, whatever else is said around it ("flag").
        # It is quoted first, also if another passage ranks before it.
        if any(each.signals.get("setting", 0.0) >= weights.QUESTION["setting"] for each in results):
            return Relevance()
        # What prints a message answers, whatever values the message has.
        if results[0].signals.get("message"):
            return Relevance()
        names = asked.asked.identifiers
        unknown = tuple(name for name in names if name in weighed.missing)
        if names and len(unknown) == len(names):
            return Relevance(RefusalReason.NOTHING_RELEVANT)
        if asked.leans:
            return Relevance(self._lacks_support(asked, results, weighed, FOLLOW_UP_FLOOR), unknown)
        answerability = self.answerability(asked.question, results, where)
        deciding = tuple(dict.fromkeys((*unknown, *answerability.deciding)))
        if self.index.stats().chunks < MIN_CHUNKS:
            return Relevance(self._lacks_support(asked, results, weighed, SUPPORT_FLOOR), deciding)
        # Whoever quotes a text looks for the place that has it. What raises an error, or states the changes of a
        # release or the versions required, answers whatever its words are. So does a part asked for by its number.
        signals = results[0].signals
        answers = any(signals.get(name, 0.0) >= weights.QUESTION[name] for name in _ANSWERING)
        answers = answers or (asked.question.asks_for_part_alone and "reference" in signals)
        answers = answers or asked.question.has_topic(results[0].chunk.text)
        is_found = answers or asked.question.quoted_in(results[0].chunk.text)
        if answerability.odds < ANSWERABLE_FLOOR and not is_found:
            return Relevance(RefusalReason.NOTHING_RELEVANT, deciding)
        return Relevance("", deciding, is_doubtful=answerability.odds < DOUBTED_BELOW and not answers)

    def _lacks_support(
        self, asked: StandaloneQuestion, results: Sequence[RetrievalResult], weighed: TermStatistics, floor: float
    ) -> RefusalReason | Literal[""]:
        found = support(asked.text, results, self.embedder, weighed.rarity)
        return RefusalReason.NOTHING_RELEVANT if found < floor else ""

    def answerability(self, question: Question, results: Sequence[RetrievalResult], where: Filter) -> Answerability:
        """Measure whether the documents behind a filter answer a question that is no follow-up."""
        with self.index.snapshot():
            matches = self._retriever.matches_of(question, where)
            made_by_other = self._retriever.embedder is not self.embedder
            return measure_answerability(
                question, results, matches, self.index, self.embedder, where, made_by_other=made_by_other
            )

    def spelled_like(self, words: Sequence[str], where: Filter) -> tuple[str, ...]:
        """Return words of the library that its user may have meant by words that it lacks, in order."""
        return suggestions(words, self.index, lambda word: self._occurs(word, where))

    def _occurs(self, word: str, where: Filter) -> bool:
        results = self.search(read_question(word), 3, where)
        return any(word in map(str.lower, WORD.findall(result.chunk.text)) for result in results)

    def speaks_another_language(self, query: Question, results: Sequence[RetrievalResult]) -> bool:
        """Check whether a question is neither in English nor in a language of the library or of its results."""
        return is_in_another_language(query, results, self.index)
