"""Answers without a model: picks the passages that speak most of the question, and quotes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from openbook.answering.context import Context
from openbook.answering.course_results import IN_COURSES, LESSONS, course_key, is_asked_for
from openbook.answering.displaying import fence_of
from openbook.answering.overview import openings
from openbook.answering.passages import Passage, join_passages, joins, overlap, passages_of, slice_of
from openbook.answering.quoting import in_code, mark_of, pointed, quoted
from openbook.answering.scoring import (
    ASKED_BONUS,
    ReadPassage,
    asks_only_for_uses,
    bonuses_of,
    read_passage,
    signals_of,
    without_imports,
)
from openbook.answering.setting_passages import TextOf, parents_shown, with_settings
from openbook.answering.summaries import central_passages
from openbook.answering.surroundings import completed, enlarged, leads_in, with_statement
from openbook.answers import Claim
from openbook.embedding.protocol import Embedder
from openbook.questions.question import Question, asking_what_is, read_question
from openbook.retrieval.signals import coverage
from openbook.tokens import tokenize, words_to_read
from openbook.types import ResultRole, Unit

# What only repeats the question answers nothing.
_ECHO_LOSS = 6.0

# A question, as a list of questions has them, with the number of the next one behind it.
_IS_QUESTION = re.compile(r"[?？](?:[^\w\n]|\b(?:\d+\.)+)*$")

# A passage that adds fewer words than this to those of the question repeats it, as a table of
# contents does. It is quoted only where nothing better is there, or where a whole sentence is looked for.
_FEWEST_NEW_WORDS = 3
_SENTENCE_ENDS = (".", "!", "。", "！")
# An exact answer adds a number and a unit to the question. It is a sentence that holds this share of the
# words of the question, as "The items in the invoice." does not (a third serves as well; without it, one
# question of `benchmarks/courses.py` in forty is lost), or it is what stands behind a sign in a row.
_LEAST_HELD = 0.5
_AROUND = "\"'”’)]」』）*_`| \t\r\n"
_VALUE = re.compile(r"[:：|]|\n\s*\n")

# A mark as answers print it. A page that shows an answer, such as an exported conversation, is no evidence.
_PRINTED_MARK = re.compile(r"(?:^|\s)\[\d{1,4}:\d{1,6}(?:-\d{1,6})?\](?!\S)")

# So many quotes of so many words together are read. What scores 4 less than the best speaks of something else, as in a
# small library. A first quote that holds less of the question's words than `_PLAIN_SHARE` speaks of its subject in
# other words: what is around it says the rest. `python -m benchmarks.answers --curve quotes` has the curve.
_MOST_QUOTES, _MOST_WORDS, _MOST_BEHIND = 5, 100, 4.0
_PLAIN_SHARE = 0.7

# A quote of which a better one holds every word says it again, as a second README does. A short one costs nothing
# to read, and that it stands there as well may be news. (A word that differs may be all that counts: npm or yarn.)
_FEWEST_REPEATED_WORDS = 5

# "Which lessons ...": one quote from each place instead of several from the best one.
_MOST_PLACES = 8

_NOTE = "Quoted from the sources; no model wrote this."
_FURTHER = "See also:"
_BETWEEN = "\n\n"

# What a reader leaves in the place of a tag.
_TAG = "\f"


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage and its score."""

    passage: Passage
    score: float
    is_echo: bool = False
    """It repeats the question."""
    is_pointer: bool = False
    """It is listed below the quotes, as a further place."""


def pick(
    query: Question,
    context: Context,
    embedder: Embedder,
    rarity: Mapping[str, float],
    text_of: TextOf | None = None,
) -> list[ScoredPassage]:
    """Choose the passages to quote, best first. Equal ones are ordered by where they were shown.

    Args:
        query: What was asked.
        context: What may be quoted.
        embedder: The one that made the index.
        rarity: Weight of each token of the question.
        text_of: Tells what stands before a result in its document.
    """
    if context.shown and is_asked_for(context.shown[0].result):
        return _as_asked(context, embedder)
    if context.shown and ResultRole.OVERVIEW in context.shown[0].result.roles:
        return [ScoredPassage(passage, score) for passage, score in openings(query, context)]
    query, by_place = _read_for_places(query, context)
    rarity = {token: rarity[token] for token in query.tokens if token in rarity}
    passages = [passage for shown in context.shown for passage in passages_of(shown)]
    passages = with_settings(query, passages, context, text_of)
    if not passages:
        return []
    ranked = _ranked(query, passages, embedder, rarity)
    if query.compared:
        return _sides(query, ranked, passages, embedder, rarity)
    return _answer(ranked, passages, rarity, by_place=by_place, points_to_all=asks_only_for_uses(query))


def _ranked(
    query: Question, passages: Sequence[Passage], embedder: Embedder, rarity: Mapping[str, float]
) -> list[ScoredPassage]:
    """Return what may be quoted with its score, best first."""
    bonuses, namesakes = bonuses_of(query, passages)
    repeated = frozenset() if query.text.endswith(_SENTENCE_ENDS) else frozenset(tokenize(query.text))
    read = [
        (each, bonus)
        for each, bonus in zip(map(read_passage, passages), bonuses, strict=True)
        # Whatever is near it in meaning, a quote without one word of the question convinces nobody, and nor does
        # a line of code in a function whose name alone has one.
        if not (each.words if each.passage.is_line_of_code else each.place).isdisjoint(query.tokens)
        and each.passage.key not in namesakes
        and not _only_imports(query, each)
    ]
    scores = {passage.shown.number: passage.shown.result.score for passage in passages}
    measured = signals_of(query, [each for each, _ in read], scores, embedder, rarity)
    scored = []
    for (each, bonus), signals in zip(read, measured, strict=True):
        passage, said, new = each.passage, each.text, each.words - repeated
        if leads_in(passage):  # "Supported types are:" is quoted with the list below it
            said = completed(passage).text
            new = frozenset(tokenize(said)) - repeated
        echo = passage.shown.is_prose and (passage.is_title or _is_echo(said, new, each.place, query))
        # Whoever asks by a sentence of the sources wants to see it where it stands.
        itself = query.text.endswith(_SENTENCE_ENDS) and query.text in each.text
        score = signals.score + bonus + ASKED_BONUS * itself - _ECHO_LOSS * echo
        scored.append(ScoredPassage(passage, score, echo))
    return sorted(scored, key=lambda item: (-item.score, item.passage.shown.number, item.passage.first.number))


def _only_imports(query: Question, read: ReadPassage) -> bool:
    """Return whether a passage is code that only makes names known, with its fences."""
    language = read.passage.shown.result.chunk.language
    code = "\n".join(unit.text for unit in read.passage.units if not fence_of(unit.text, language))
    return (read.passage.is_code or read.passage.has_example) and not without_imports(query, code).strip()


def _sides(
    query: Question,
    ranked: Sequence[ScoredPassage],
    passages: Sequence[Passage],
    embedder: Embedder,
    rarity: Mapping[str, float],
) -> list[ScoredPassage]:
    """Return what speaks of both things that a question compares, then what says most of each, then the rest."""
    asked = [read_question(asking_what_is(side)) for side in query.compared]
    tokens = {token for side in asked for token in side.tokens}
    said = (item for item in ranked if item.passage.shown.is_prose and not item.is_echo)
    best = [next((item for item in said if tokens.issubset(tokenize(item.passage.text))), None)]
    for side in asked:
        weights = {token: rarity[token] for token in side.tokens if token in rarity}
        best.append(next(iter(_ranked(side, passages, embedder, weights)), None))
    highest = max((item.score for item in ranked), default=0.0)
    first = {item.passage.key: replace(item, score=highest) for item in best if item is not None}
    rest = [item for item in ranked if item.passage.key not in first]
    # What says most of each is quoted, however long the one before it is.
    words = sum(words_to_read(item.passage.text) for item in first.values())
    return _answer([*first.values(), *rest], passages, rarity, most_words=max(words, _MOST_WORDS))


def _answer(
    ranked: Sequence[ScoredPassage],
    passages: Sequence[Passage],
    rarity: Mapping[str, float],
    *,
    by_place: bool = False,
    most_words: int = _MOST_WORDS,
    points_to_all: bool = False,
) -> list[ScoredPassage]:
    """Return the quotes with what is quoted around them, and the pointers to the other results."""
    chosen = _read_on(_chosen(ranked, passages, rarity, most_words, by_place=by_place))
    if by_place:
        return chosen
    open_to, quotes = [item.passage for item in ranked if not item.is_echo], [item.passage for item in chosen]
    places = further_places(open_to, quotes, rarity, points_to_all=points_to_all)
    return [*chosen, *(ScoredPassage(place, 0.0, is_pointer=True) for place in places)]


def _is_echo(text: str, new: frozenset[str], place: frozenset[str], query: Question) -> bool:
    """Return whether a passage repeats the question and answers nothing.

    Args:
        text: The passage.
        new: Its words that the question has not.
        place: Its words, and those that it stands under.
        query: What was asked.
    """
    if _NOTE in text or any(mark[0].strip() not in query.text for mark in _PRINTED_MARK.finditer(text)):
        return True
    repeats = query.text.casefold() in text.casefold() and query.view == "passages"
    text = text.strip(_AROUND)
    if _IS_QUESTION.search(text):
        return True
    if len(new) >= _FEWEST_NEW_WORDS and not repeats:
        return False
    if text.endswith(_SENTENCE_ENDS):
        return len(place.intersection(query.tokens)) < _LEAST_HELD * len(query.tokens)
    sign = _VALUE.search(text)
    return sign is None or new.isdisjoint(tokenize(text[sign.end() :]))


def _read_for_places(query: Question, context: Context) -> tuple[Question, bool]:
    """Return what is looked for, and whether one quote is wanted of each place.

    Of a question on courses, neither the course nor that it "explains" something is looked for.
    """
    roles = {role for shown in context.shown for role in shown.result.roles}
    asked = query.course if not roles.isdisjoint(IN_COURSES) else None
    if asked is None:
        return query, query.asks_for_places
    names = asked.names[:1] + asked.lesson_names[:1] if ResultRole.INSIDE in roles else ()
    return read_question(asked.topic(*names)), ResultRole.INSIDE not in roles or asked.lists_lessons


def _as_asked(context: Context, embedder: Embedder) -> list[ScoredPassage]:
    """Take headings whole, and of lessons the sentences that say most of what they are about."""
    if ResultRole.HEADING in context.shown[0].result.roles:
        return [ScoredPassage(Passage(shown, shown.units[0], shown.units[-1]), 1.0) for shown in context.shown]
    return [ScoredPassage(passage, 1.0) for passage in central_passages(context, embedder)]


def _chosen(
    ranked: Sequence[ScoredPassage],
    passages: Sequence[Passage],
    rarity: Mapping[str, float],
    most_words: int,
    *,
    by_place: bool,
) -> list[ScoredPassage]:
    """Take the best, leaving out repeats, what overlaps, what is much weaker, and what makes the answer long."""
    taken: list[ScoredPassage] = []
    seen: set[object] = set()
    least = ranked[0].score - _MOST_BEHIND if ranked else 0.0
    left = most_words
    for item in ranked:
        chunk, text = item.passage.shown.result.chunk, " ".join(item.passage.text.split())
        is_best = ResultRole.OF_COURSE in item.passage.shown.result.roles
        place = course_key(chunk) if is_best else (chunk.source, chunk.span.path, chunk.lesson)
        if item.score < least or text in seen or (by_place and place in seen):
            continue
        if taken and not by_place and words_to_read(text) > left:
            continue
        quote = _quotable(item.passage, [other.passage for other in taken], passages, by_place=by_place)
        if quote is None or (taken and not by_place and words_to_read(quote.text) > left):
            continue
        if (
            not (taken or by_place or quote.setting)
            and coverage(frozenset(tokenize(quote.text)), rarity) < _PLAIN_SHARE
        ):
            quote = enlarged(quote, passages)
        near = next((each for each in taken if not by_place and _adjoin(each.passage, quote)), None)
        if near is None:
            taken.append(replace(item, passage=quote))
        else:
            first, last = sorted((near.passage, quote), key=lambda each: each.start_char)
            taken[taken.index(near)] = replace(near, passage=join_passages(first, last))
        seen.update((text, place))
        left -= words_to_read(quote.text)
        if len(taken) == (_MOST_PLACES if by_place else _MOST_QUOTES):
            break
    return taken


def _read_on(chosen: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Return the quotes with the best one first, and what else is quoted of one result in the order it has there.

    The steps of a page are read as they are taken.
    """
    numbers = list(dict.fromkeys(item.passage.shown.number for item in chosen))
    best, rest = chosen[:1], chosen[1:]
    return [*best, *sorted(rest, key=lambda item: (numbers.index(item.passage.shown.number), item.passage.start_char))]


def _adjoin(a: Passage, b: Passage) -> bool:
    """Return whether nothing stands between two quotes, so that they are one."""
    if a.shown.result.chunk.kind == "course":
        return False  # transcripts, which have no paragraphs, are quoted by the sentence
    if a.shown is not b.shown or a.entry != b.entry:
        return False
    if a.shown.is_prose:
        first, last = sorted((a, b), key=lambda each: each.start_char)
        # Where tags were, one paragraph of HTML ends and the next begins.
        return joins(first, last) and _TAG not in slice_of(first.shown, first.end_char, last.start_char)
    return a.last.number + 1 == b.first.number or b.last.number + 1 == a.first.number


def _quotable(
    passage: Passage, taken: Sequence[Passage], passages: Sequence[Passage], *, by_place: bool
) -> Passage | None:
    """Return a passage with what it cannot be understood without; None if it adds nothing to what is taken."""
    whole = _whole(passage, passages)
    free = next((each for each in (whole, passage) if not any(overlap(each, other) for other in taken)), None)
    repeats = free is not None and not by_place and any(_repeats(free, other) for other in taken)
    return None if repeats else free


def _whole(passage: Passage, passages: Sequence[Passage]) -> Passage:
    """Return a passage with what it cannot be understood without. What is said of a setting is whole, but for rows."""
    if passage.setting is not None and passage.setting.form != "row":
        return passage
    return completed(passage, passages) if passage.shown.is_prose else with_statement(passage)


def _repeats(passage: Passage, said: Passage) -> bool:
    """Return whether a passage of prose has no word that another one has not."""
    if not (passage.shown.is_prose and said.shown.is_prose):
        return False
    words = frozenset(tokenize(passage.text))
    return len(words) >= _FEWEST_REPEATED_WORDS and words.issubset(tokenize(said.text))


def compose(picked: Sequence[ScoredPassage]) -> str:
    """Write the answer: one line that says what it is, then each quote with its mark."""
    return "".join(between + part for between, part, _ in _parts(picked))


def quotes_of(picked: Sequence[ScoredPassage]) -> tuple[Claim, ...]:
    """Return the quotes of the answer that `compose` writes as claims, with their places in it.

    Their marks are not read from the answer: what is quoted may hold brackets that only look like marks.
    """
    quotes, offset = [], 0
    for between, part, passage in _parts(picked):
        offset += len(between)
        if passage is not None:
            quotes.append(Claim(offset, offset + len(part), passage.text, (mark_of(passage),)))
        offset += len(part)
    return tuple(quotes)


def _parts(picked: Sequence[ScoredPassage]) -> Iterator[tuple[str, str, Passage | None]]:
    """Yield what parts each part of an answer from the one before, the part, and what it quotes."""
    yield "", _NOTE, None
    heading = ""
    for item in picked:
        if item.is_pointer:
            continue
        before, (heading, is_apart) = heading, _heading(item.passage)
        if is_apart and heading != before:
            yield _BETWEEN, heading, None
        yield _BETWEEN, quoted(item.passage), item.passage
    between = _BETWEEN
    for item in picked:
        if item.is_pointer:
            if between == _BETWEEN:
                yield between, _FURTHER, None
            yield between, pointed(item.passage), item.passage
            between = "\n"


def _heading(passage: Passage) -> tuple[str, bool]:
    """Name the lesson of a quote, or the entry of a list, and whether the quote does not say so itself.

    A lesson goes by its course alone where the quote is its heading.
    """
    lesson = passage.shown.result.chunk.lesson
    if passage.setting is not None:
        parents = parents_shown(passage.setting)
        return (in_code(".".join(parents)), True) if parents else ("", False)
    if lesson is None:
        position = passage.first.number - 1
        entry = passage.entry
        return ("", False) if entry is None else (in_code(entry.name), position > entry.head)
    label = lesson.course if lesson.title and lesson.title in passage.text else passage.shown.label
    count = passage.shown.result.signals.get(LESSONS)
    return label if count is None else f"{lesson.course} · {count:.0f} lessons", True


# So many are read at a glance. A result with a lower share of the best score than this is not pointed to: at .8, an
# answer has 13 words less, and one of a hundred lacks its place. `python -m benchmarks.answers --curve pointers`.
_MOST_POINTERS, _MOST_POINTER_WORDS, _LEAST_POINTER_SCORE = 8, 15, 0.7

# A pointer has this share of the words of the question, weighted by rarity. Without it, answers have ten words more and
# are as often right; from .17 on they are less often.
_LEAST_POINTER_SHARE = 0.125

# What opens a heading, an item or a quote in markup, and is not part of what is said.
_MARKUP_BEFORE = re.compile(r"(?:\s|[#>=*+•-]+\s)*")


def further_places(
    ranked: Sequence[Passage],
    quotes: Sequence[Passage],
    rarity: Mapping[str, float],
    *,
    points_to_all: bool = False,
) -> list[Passage]:
    """Return a pointer to each good result that is not quoted, in the order of the results, and none twice.

    Args:
        ranked: What may be quoted, best first.
        quotes: What is quoted.
        rarity: Weight of each token of the question.
        points_to_all: Whether results that are much weaker than the best are good: each caller of a name answers.
    """
    done = {quote.shown.number for quote in quotes}
    share = 0.0 if points_to_all else _LEAST_POINTER_SCORE
    least = share * max((passage.shown.result.score for passage in ranked), default=0.0)
    found: dict[int, Passage] = {}
    for passage in ranked:
        number = passage.shown.number
        is_open = number not in done and number not in found and passage.shown.result.score >= least
        if is_open and not any(overlap(passage, quote) for quote in quotes):
            pointer = _pointer(passage, rarity)
            if (
                pointer is not None
                and words_to_read(pointer.text) <= _MOST_POINTER_WORDS
                and _held_by(pointer, rarity) >= _LEAST_POINTER_SHARE
            ):
                found[number] = pointer
    distinct = {_words_of(quote): quote for quote in quotes}
    pointers = [found[number] for number in sorted(found)]
    return [each for each in pointers if distinct.setdefault(_words_of(each), each) is each][:_MOST_POINTERS]


def _held_by(passage: Passage | Unit, rarity: Mapping[str, float]) -> float:
    return coverage(frozenset(tokenize(passage.text)), rarity)


def _words_of(passage: Passage) -> str:
    return " ".join(passage.text.split())


def _pointer(passage: Passage, rarity: Mapping[str, float]) -> Passage | None:
    """Return a sentence of prose without what opens it in markup, of code and examples the line that says most.

    None of transcripts: their sentences say little alone (`benchmarks.courses`: 32 words more, and no answer).
    """
    if passage.shown.result.chunk.kind == "course" or (passage.shown.is_prose and passage.is_title):
        return None
    language = passage.shown.result.chunk.language
    lines = [unit for unit in passage.units if not fence_of(unit.text, language)]
    if not lines:
        return None
    if passage.is_code or len(lines) < len(passage.units):
        best = max(lines, key=lambda unit: _held_by(unit, rarity))
        passage = Passage(passage.shown, best, best)
    opening = _MARKUP_BEFORE.match(passage.text) if not passage.is_code else re.match(r"\s*", passage.text)
    start = passage.start_char + (opening.end() if opening else 0)
    end = passage.start_char + len(passage.text.rstrip())
    return Passage(passage.shown, passage.first, passage.last, (start, end)) if start < end else None
