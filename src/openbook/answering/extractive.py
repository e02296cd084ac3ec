"""Answers without a model: picks the passages that speak most of the question, and quotes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from openbook.answering.citations import Place
from openbook.answering.context import Context
from openbook.answering.course_questions import read_course_question
from openbook.answering.course_results import HEADING, INSIDE, OF_COURSE, OF_LESSON, course_key, is_asked_for
from openbook.answering.passages import Passage, passages_of
from openbook.answering.summaries import central_passages
from openbook.embedding.protocol import Embedder
from openbook.generation import Claim
from openbook.retrieval.names import Query, read_query
from openbook.retrieval.ranking import coverage
from openbook.retrieval.tokens import tokenize

# Weights of what speaks for a passage. Found on the English half of XQuAD that was not kept aside
# (`benchmarks/extractive.py`); each may move by a third without changing a sentence in a hundred.
_COVER_WEIGHT = 0.5
_PLACE_WEIGHT = 0.2
_MEANING_WEIGHT = 0.3
_RANK_WEIGHT = 0.15

# Code is found as a whole and quoted by its head: single lines share words with anything.
_RANK_WEIGHT_CODE = 0.4
_HEAD_BONUS = 0.15
# A sentence of the documentation reads as an answer, unless the question names what it asks for.
_PROSE_BONUS = 0.2
# The definition of a name that was asked for is the answer.
_ASKED_BONUS = 0.5

# A passage that adds fewer words than this to those of the question repeats it, as a table of
# contents does. It is quoted only where nothing better is there, or where a whole sentence is looked for.
_FEWEST_NEW_WORDS = 3
_ECHO_FACTOR = 0.5
_SENTENCE_ENDS = (".", "!", "。", "！")

# Three quotes are read; what is much weaker than the best one is padding.
_MOST_QUOTES = 3
_LEAST_SHARE = 0.6

# "Which lessons ...": one quote from each place instead of several from the best one.
_MOST_PLACES = 8

# A sentence that begins so leans on the one before. With that in front, one question in forty more is
# answered by the sentence that is wanted (`benchmarks/courses.py`), for four more words in each answer.
_REFERS = re.compile(r"(?:And |But |So )?(?:This|That|These|Those|It|They|He|She|Such)\b")

_FENCE = re.compile(r"`{3,}")

_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Picked:
    """A passage, and how much speaks for it."""

    passage: Passage
    score: float


def pick(query: Query, context: Context, embedder: Embedder, rarity: Mapping[str, float]) -> list[Picked]:
    """Choose the passages to quote, best first. Equal ones are ordered by where they were shown.

    Args:
        query: What was asked.
        context: What may be quoted.
        embedder: The one that made the index.
        rarity: Weight of each token of the question.
    """
    if context.shown and is_asked_for(context.shown[0].result):
        return _as_asked(context, embedder)
    query, by_place = _read_for_places(query, context)
    rarity = {token: rarity[token] for token in query.tokens if token in rarity}
    passages = [passage for shown in context.shown for passage in passages_of(shown)]
    if not passages:
        return []
    asked, *vectors = embedder.embed([query.text, *(passage.text for passage in passages)])
    best_score = max(shown.result.score for shown in context.shown)
    repeated = frozenset() if query.text.endswith(_SENTENCE_ENDS) else frozenset(tokenize(query.text))
    scored = []
    for passage, vector in zip(passages, vectors, strict=True):
        result = passage.shown.result
        words = frozenset(tokenize(passage.text))
        place = words | frozenset(tokenize(" ".join((*result.chunk.context, result.chunk.symbol))))
        if place.isdisjoint(query.tokens):
            continue  # whatever is near it in meaning, a quote without one word of the question convinces nobody
        score = (
            _COVER_WEIGHT * coverage(words, rarity)
            + _PLACE_WEIGHT * coverage(place, rarity)
            + _MEANING_WEIGHT * max(0.0, float(asked @ vector))
            + (_RANK_WEIGHT if passage.shown.is_prose else _RANK_WEIGHT_CODE)
            * (result.score / best_score if best_score > 0 else 0.0)
            + _HEAD_BONUS * passage.is_head
            + _PROSE_BONUS * (passage.shown.is_prose and not query.identifiers)
            + _ASKED_BONUS * (passage.defines in query.identifiers)
        )
        echo = passage.shown.is_prose and len(words - repeated) < _FEWEST_NEW_WORDS
        scored.append(Picked(passage, score * _ECHO_FACTOR if echo else score))
    ranked = sorted(scored, key=lambda item: (-item.score, item.passage.shown.number, item.passage.first.number))
    chosen = _chosen(ranked, by_place=by_place)
    return [_understandable(item, passages, chosen) for item in chosen]


def _read_for_places(query: Query, context: Context) -> tuple[Query, bool]:
    """Give what is looked for, and whether one quote is wanted of each place.

    Of a question on courses, neither the course nor that it "explains" something is looked for.
    """
    signals = {signal for shown in context.shown for signal in shown.result.signals}
    asked = read_course_question(query.text) if not signals.isdisjoint((OF_COURSE, OF_LESSON, INSIDE)) else None
    if asked is None:
        return query, query.asks_for_places
    name = asked.names[0] if INSIDE in signals and asked.names else ""
    return read_query(asked.topic(name)), INSIDE not in signals or asked.lists_lessons


def _as_asked(context: Context, embedder: Embedder) -> list[Picked]:
    """Take headings whole, and of lessons the sentences that say most of what they are about."""
    if HEADING in context.shown[0].result.signals:
        return [Picked(Passage(shown, shown.units[0], shown.units[-1]), 1.0) for shown in context.shown]
    return [Picked(passage, 1.0) for passage in central_passages(context, embedder)]


def _chosen(ranked: Sequence[Picked], *, by_place: bool) -> list[Picked]:
    """Take the best, leaving out repeats, what overlaps, and what is much weaker."""
    taken: list[Picked] = []
    seen: set[object] = set()
    for item in ranked:
        chunk, text = item.passage.shown.result.chunk, " ".join(item.passage.text.split())
        is_best = OF_COURSE in item.passage.shown.result.signals
        place = course_key(chunk) if is_best else (chunk.source, chunk.span.path, chunk.lesson)
        if item.score < _LEAST_SHARE * ranked[0].score or text in seen or (by_place and place in seen):
            continue
        if any(_overlap(item.passage, other.passage) for other in taken):
            continue
        taken.append(item)
        seen.update((text, place))
        if len(taken) == (_MOST_PLACES if by_place else _MOST_QUOTES):
            break
    return taken


def _understandable(item: Picked, passages: Sequence[Passage], chosen: Sequence[Picked]) -> Picked:
    """Put the sentence before in front of one that begins with what only that explains, such as "That is"."""
    passage = item.passage
    if not passage.shown.is_prose or not _REFERS.match(passage.text):
        return item
    for before in passages:
        follows = before.shown is passage.shown and before.last.number + 1 == passage.first.number
        if follows and before.last.span.end_line + 1 >= passage.first.span.start_line:
            whole = Passage(passage.shown, before.first, passage.last)
            others = (other for other in chosen if other is not item)
            return item if any(_overlap(whole, other.passage) for other in others) else Picked(whole, item.score)
    return item


def _overlap(a: Passage, b: Passage) -> bool:
    # Compared in the document: course chunks overlap, so one sentence can be shown twice.
    if (a.shown.result.chunk.source, a.first.span.path) != (b.shown.result.chunk.source, b.first.span.path):
        return False
    return a.first.span.start_char < b.last.span.end_char and b.first.span.start_char < a.last.span.end_char


def compose(picked: Sequence[Picked]) -> str:
    """Write the answer: one line that says what it is, then each quote with its mark."""
    return _BETWEEN.join(part for part, _ in _parts(picked))


def quotes_of(picked: Sequence[Picked]) -> tuple[Claim, ...]:
    """Give the quotes of the answer that `compose` writes as claims, with their places in it.

    Their marks are not read from the answer: what is quoted may hold brackets that only look like marks.
    """
    quotes, offset = [], 0
    for part, passage in _parts(picked):
        if passage is not None:
            quotes.append(Claim(offset, offset + len(part), passage.text, (_mark(passage),)))
        offset += len(part) + len(_BETWEEN)
    return tuple(quotes)


def _parts(picked: Sequence[Picked]) -> Iterator[tuple[str, Passage | None]]:
    yield "Quoted from the sources; no model wrote this.", None
    heading = ""
    for item in picked:
        lesson = _heading(item.passage)
        if lesson and lesson != heading:
            yield lesson, None
        heading = lesson
        yield _quoted(item.passage), item.passage


def _heading(passage: Passage) -> str:
    """Name the lesson of a quote, or its course alone where the quote is the heading of the lesson."""
    lesson = passage.shown.result.chunk.lesson
    if lesson is None:
        return ""
    return lesson.course if lesson.title and lesson.title in passage.text else passage.shown.label


def _quoted(passage: Passage) -> str:
    shown, mark = passage.shown, _mark(passage)
    if shown.is_prose and not _FENCE.search(passage.text):
        # `split` and not `splitlines`: a form feed in the text ends no line. Where markup was, a page
        # of HTML has runs of spaces, which its citation keeps and nobody wants to read.
        lines = (" ".join(line.split()) for line in passage.text.split("\n"))
        return "\n".join(f"> {line}" for line in lines) + f" {mark}"
    fence = "`" * (max((len(run) for run in _FENCE.findall(passage.text)), default=2) + 1)
    return f"{fence}{shown.result.chunk.language}\n{passage.text}\n{fence}\n{mark}"


def _mark(passage: Passage) -> str:
    return Place(passage.shown, passage.first, passage.last).mark


def missing_words(query: Query, frequencies: Mapping[str, int]) -> tuple[str, ...]:
    """List the words of the question that stand nowhere in the library, as written, in order."""
    words = dict.fromkeys(re.findall(r"\w+", query.text))
    wanted = set(query.tokens)
    return tuple(
        word
        for word in words
        if (tokens := wanted.intersection(tokenize(word))) and not any(token in frequencies for token in tokens)
    )
