"""Extractive answers: selects the passages that answer a question best. No model is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from openbook.embedding.protocol import Embedder
from openbook.extractive.causes import explanation, with_causes
from openbook.extractive.changes import with_changes
from openbook.extractive.comments import are_adjacent
from openbook.extractive.context import Context
from openbook.extractive.course_results import IN_COURSES, course_key, is_asked_for
from openbook.extractive.echoes import SENTENCE_ENDS, adds_no_word, is_echo
from openbook.extractive.enumeration_passages import with_enumerations
from openbook.extractive.front_matter_passages import passages_offered
from openbook.extractive.headed_passages import headed_passages, repeats_message
from openbook.extractive.lists import NOTHING, LeftOut, asked_item, completed_list, lists_in, steps_around
from openbook.extractive.notices import is_unasked_notice
from openbook.extractive.overview import openings
from openbook.extractive.parameter_passages import with_parameters
from openbook.extractive.passages import Passage, PassageKey, join_passages, joins, overlap, slice_of
from openbook.extractive.pointers import further_places
from openbook.extractive.procedures import joined
from openbook.extractive.requirements import share_of_versions
from openbook.extractive.scoring import (
    ASKED_BONUS,
    asks_only_for_uses,
    bonuses_of,
    has_only_imports,
    labels_default,
    read_passage,
    signals_of,
    without_dates,
)
from openbook.extractive.setting_passages import TextOf, with_settings
from openbook.extractive.summaries import central_passages
from openbook.extractive.surroundings import (
    completed,
    enlarged,
    leads_in,
    only_leads_in,
    with_examples,
    with_function,
    with_statement,
)
from openbook.questions.comparisons import asking_what_is
from openbook.questions.question import Question, read_question
from openbook.retrieval.signals import coverage
from openbook.tokens import is_run, tokenize, words_to_read
from openbook.types import ResultRole

# Penalty of a passage that only repeats the question.
_ECHO_LOSS = 6.0

# Bonus of a list whose opening has all words of what a question asks for the list of. Chosen, with the patterns of
# such questions, on `benchmarks/cases/list_questions.jsonl`; `list_questions_aside.jsonl` was kept aside.
_LIST_BONUS = 3.0

# Limits of quotes, their words together, and how far a score may be below the best: passages further below are about
# something else, as in a small library, unless they describe the setting that is asked for. A first quote with less
# than `_PLAIN_SHARE` of the question's words uses other words, so it is quoted with its surroundings.
# `python -m benchmarks.answers --curve quotes` has the curve.
_MAX_QUOTES, _MAX_WORDS, _MAX_SCORE_GAP = 5, 100, 4.0
_PLAIN_SHARE = 0.7

# Pieces of one function whose scores are so near are quoted together, from its head on.
_MAX_PIECE_GAP = 2.0

# For "Which lessons ...?", one quote from each place.
_MAX_PLACES = 8

# Stands for a tag in the texts of HTML pages.
_TAG = "\f"


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage and its score."""

    passage: Passage
    score: float
    is_echo: bool = False
    """It repeats the question."""
    is_pointer: bool = False
    """It is listed below the quotes as a further place."""
    is_item: bool = False
    """It is a heading, perhaps with the sentence below, in a list of these."""
    left_out: LeftOut = NOTHING


def pick(
    query: Question,
    context: Context,
    embedder: Embedder,
    rarity: Mapping[str, float],
    text_of: TextOf | None = None,
) -> list[ScoredPassage]:
    """Select the passages to quote, best first. Ties are ordered by position in the context.

    `text_of` is for what precedes a result.
    """
    if context.shown and is_asked_for(context.shown[0].result):
        return _as_asked(context, embedder)
    if context.shown and ResultRole.OVERVIEW in context.shown[0].result.roles:
        return [ScoredPassage(passage, score) for passage, score in openings(query, context)]
    query, by_place = _read_for_places(query, context)
    query = query.naming({name for shown in context.shown for name in shown.result.chunk.defines})
    rarity = {token: rarity[token] for token in without_dates(query, context.shown) if token in rarity}
    passages = [each for shown in context.shown for each in passages_offered(query, shown)]
    passages = with_parameters(query, with_settings(query, passages, context, text_of))
    passages = with_enumerations(query, passages, context.shown, text_of)
    passages = with_causes(query, passages, context.shown)
    passages = with_changes(query, passages, context.shown, rarity, text_of)
    if not passages:
        return []
    ranked, words = _explained(query, _ranked(query, passages, embedder, rarity), passages, rarity)
    headed = [] if by_place else headed_passages(query, context.shown, rarity)
    if headed:
        ranked = [item for item in ranked if not repeats_message(query, completed(item.passage), rarity)]
        chosen = _headed(headed, ranked, passages, rarity)
    elif query.compared:
        chosen = _sides(query, ranked, passages, embedder, rarity)
    else:
        points_to_all = asks_only_for_uses(query)
        in_steps = "how-to" in query.intents and not query.asks_whether
        chosen = _answer(
            ranked,
            passages,
            rarity,
            by_place=by_place,
            max_words=words,
            points_to_all=points_to_all,
            in_steps=in_steps,
        )
    return chosen if text_of is None or by_place else _with_lists(query, chosen, text_of, rarity)


def _with_lists(
    query: Question, chosen: Sequence[ScoredPassage], text_of: TextOf, rarity: Mapping[str, float]
) -> list[ScoredPassage]:
    """Return quotes with the rest of their lists if that is short, what they leave out, and the asked item of it."""
    quotes = [item.passage for item in chosen if not item.is_pointer]
    wholes = [completed_list(quote, quotes, text_of, is_asked=query.listed is not None) for quote in quotes]
    read = [replace(item, passage=whole, left_out=left) for item, (whole, left) in zip(chosen, wholes, strict=False)]
    item = asked_item(wholes[0][0], [whole for whole, _ in wholes], text_of, rarity) if read else None
    read[1:1] = [replace(read[0], passage=item, left_out=NOTHING)] if item else []
    return [*read, *chosen[len(quotes) :]]  # pointers come last


def _ranked(
    query: Question, passages: Sequence[Passage], embedder: Embedder, rarity: Mapping[str, float]
) -> list[ScoredPassage]:
    """Score the candidates, best first."""
    lists = lists_in(query.listed, passages)
    passages = [*passages, *(each for each, _ in lists.values())]
    bonuses, namesakes = bonuses_of(query, passages)
    repeated = frozenset() if query.text.endswith(SENTENCE_ENDS) else frozenset(tokenize(query.text))
    read = [
        (each, bonus)
        for each, bonus in zip(map(read_passage, passages), bonuses, strict=True)
        # Whatever its similarity, a quote without any word of the question convinces nobody. Nor does a line of code if
        # only the name of its function has one, unless it is what the question names, such as a constructor.
        if (bonus > 0 or not (each.words if each.passage.is_line_of_code else each.place).isdisjoint(query.tokens))
        and each.passage.key not in namesakes
        and not has_only_imports(query, each)
        and not is_unasked_notice(each.passage, query)
    ]
    scores = {passage.shown.number: passage.shown.result.score for passage in passages}
    measured = signals_of(query, [each for each, _ in read], scores, embedder, rarity)
    scored = []
    for (each, bonus), signals in zip(read, measured, strict=True):
        passage, said, new = each.passage, each.text, each.words - repeated
        if leads_in(passage):  # "Supported types are:" is quoted with the list below it
            said = completed(passage).text
            new = frozenset(tokenize(said)) - repeated
        is_new = not passage.shown.is_prose or passage.change > 0 or share_of_versions(query, passage) > 0
        is_new = is_new or labels_default(query, passage) or passage.is_front_matter
        lacks_code = passage.is_directive and not passage.includes_code
        echo = not is_new and (lacks_code or passage.is_title or is_echo(said, new, each.place, query))
        # A question that is a sentence of the sources looks for that sentence.
        itself = query.text.endswith(SENTENCE_ENDS) and query.text in each.text
        listed = _LIST_BONUS * lists[passage.key][1] if passage.key in lists else 0.0
        score = signals.score + bonus + listed + ASKED_BONUS * itself - _ECHO_LOSS * echo
        scored.append(ScoredPassage(passage, score, echo))
    ranked = sorted(scored, key=lambda item: (-item.score, item.passage.shown.number, item.passage.first.number))
    if query.asks_for_parameters or "where" in query.intents:
        return ranked
    asked_for = {_definition_of(each.passage) for each, bonus in read if bonus > 0}
    return list(_with_summaries(ranked, asked_for))


def _with_summaries(ranked: Sequence[ScoredPassage], asked_for: set[tuple[int, str]]) -> Iterator[ScoredPassage]:
    """Yield passages with the summary of each definition that is asked for directly before its signature.

    Both have the score of the better one. Short summaries are part of the same passage.
    """
    heads = (item for item in ranked if item.passage.is_head and _definition_of(item.passage) in asked_for)
    pairs: dict[PassageKey, list[ScoredPassage]] = {}
    summary: ScoredPassage | None = None
    for item in sorted(heads, key=lambda item: item.passage.key):
        if not item.passage.signature:
            summary = item
        elif summary is not None and _definition_of(summary.passage) == _definition_of(item.passage):
            pairs[item.passage.key] = [summary, item]
            pairs.setdefault(summary.passage.key, [summary, item])
    yielded: set[PassageKey] = set()
    for item in ranked:
        for each in pairs.get(item.passage.key, [item]):
            if each.passage.key not in yielded:
                yielded.add(each.passage.key)
                yield replace(each, score=item.score)


def _definition_of(head: Passage) -> tuple[int, str]:
    return head.shown.number, head.defines


def _sides(
    query: Question,
    ranked: Sequence[ScoredPassage],
    passages: Sequence[Passage],
    embedder: Embedder,
    rarity: Mapping[str, float],
) -> list[ScoredPassage]:
    """Return the quotes for a comparison: the best passage about both things, the best about each, then the rest."""
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
    # The best passage about each is quoted even if the one before is long.
    words = sum(words_to_read(item.passage.text) for item in first.values())
    return _answer([*first.values(), *rest], passages, rarity, max_words=max(words, _MAX_WORDS))


def _explained(
    query: Question, ranked: Sequence[ScoredPassage], passages: Sequence[Passage], rarity: Mapping[str, float]
) -> tuple[list[ScoredPassage], int]:
    """Return passages with what explains a message behind what prints it, and the limit of words that quotes both.

    The score of what prints it is lowered to that of the best other passage. The order of the others stays.
    """
    printing = [item.passage for item in ranked if item.passage.is_cause] if query.messages else []
    is_printing = [any(overlap(item.passage, each) for each in printing) for item in ranked]
    others = [item for item, is_one in zip(ranked, is_printing, strict=True) if not is_one]
    if not printing or not others:
        return list(ranked), _MAX_WORDS
    most = others[0].score
    low = [replace(item, score=min(item.score, most)) for item in ranked]
    lowered = [one if is_one else item for item, one, is_one in zip(ranked, low, is_printing, strict=True)]
    said = [item.passage for item in others]
    told = None if query.error else explanation(said, passages, rarity)
    if told is None:
        return lowered, _MAX_WORDS
    words = words_to_read(printing[0].text) + words_to_read(completed(told).text)
    at = next(n for n, item in enumerate(lowered, start=1) if item.passage.is_cause)
    return [*lowered[:at], ScoredPassage(told, most), *lowered[at:]], max(words, _MAX_WORDS)


def _headed(
    headed: Sequence[Passage],
    ranked: Sequence[ScoredPassage],
    passages: Sequence[Passage],
    rarity: Mapping[str, float],
) -> list[ScoredPassage]:
    """Return the quotes of a section whose heading is nearly the question, what prints its message, then the rest."""
    highest = max((item.score for item in ranked), default=0.0)
    others = [item for item in ranked if not any(overlap(item.passage, each) for each in headed)]
    printed = [item for item in others if item.passage.is_cause][:1]
    first = [*(ScoredPassage(each, highest) for each in headed), *(replace(item, score=highest) for item in printed)]
    words = sum(words_to_read(item.passage.text) for item in first)
    rest = [item for item in others if item not in printed]
    return _answer([*first, *rest], passages, rarity, max_words=max(words, _MAX_WORDS))


def _answer(
    ranked: Sequence[ScoredPassage],
    passages: Sequence[Passage],
    rarity: Mapping[str, float],
    *,
    by_place: bool = False,
    max_words: int = _MAX_WORDS,
    points_to_all: bool = False,
    in_steps: bool = False,
) -> list[ScoredPassage]:
    """Return the quotes with their surroundings, and the pointers to other results."""
    chosen = _chosen(ranked, passages, rarity, max_words, by_place=by_place, in_steps=in_steps)
    if by_place:
        return _read_on(chosen)
    chosen = _read_on(_with_examples(chosen, passages, rarity))
    open_to, quotes = [item.passage for item in ranked if not item.is_echo], [item.passage for item in chosen]
    places = further_places(open_to, quotes, rarity, points_to_all=points_to_all)
    return [*chosen, *(ScoredPassage(place, 0.0, is_pointer=True) for place in places)]


def _with_examples(
    chosen: Sequence[ScoredPassage], passages: Sequence[Passage], rarity: Mapping[str, float]
) -> list[ScoredPassage]:
    """Return quotes with the list or example directly below the best, and with what introduces each example."""
    wholes = with_examples([item.passage for item in chosen], passages, rarity)
    return [replace(item, passage=whole) for item, whole in zip(chosen, wholes, strict=True) if whole is not None]


def _read_for_places(query: Question, context: Context) -> tuple[Question, bool]:
    """Return the question to search for, and whether it wants one quote from each place.

    For a question on courses, the search leaves out the course and words such as "explains".
    """
    roles = {role for shown in context.shown for role in shown.result.roles}
    asked = query.course if not roles.isdisjoint(IN_COURSES) else None
    if asked is None:
        return query, query.asks_for_places
    names = asked.names[:1] + asked.lesson_names[:1] if ResultRole.INSIDE in roles else ()
    return read_question(asked.topic(*names)), ResultRole.INSIDE not in roles or asked.lists_lessons


def _as_asked(context: Context, embedder: Embedder) -> list[ScoredPassage]:
    """Return headings as a whole, and the central sentences of lessons."""
    if ResultRole.HEADING in context.shown[0].result.roles:
        return [ScoredPassage(Passage(shown, shown.units[0], shown.units[-1]), 1.0) for shown in context.shown]
    return [ScoredPassage(passage, 1.0) for passage in central_passages(context, embedder)]


def _chosen(
    ranked: Sequence[ScoredPassage],
    passages: Sequence[Passage],
    rarity: Mapping[str, float],
    max_words: int,
    *,
    by_place: bool,
    in_steps: bool,
) -> list[ScoredPassage]:
    """Select the best without repetitions, overlaps, much weaker ones, and those beyond the limit of words.

    Data and minified code come behind what can be read, since the first quote has no limit of words.
    """
    taken: list[ScoredPassage] = []
    seen: set[object] = set()
    least = ranked[0].score - _MAX_SCORE_GAP if ranked else 0.0
    left = max_words
    for item in sorted(ranked, key=lambda item: is_run(item.passage.text)):
        chunk, text = item.passage.shown.result.chunk, " ".join(item.passage.text.split())
        is_best = ResultRole.OF_COURSE in item.passage.shown.result.roles
        place = course_key(chunk) if is_best else (chunk.source, chunk.span.path, chunk.lesson)
        if (item.score < least and item.passage.setting is None) or (place if by_place else text) in seen:
            continue
        if taken and not by_place and _words_to_read(item.passage, taken) > left:
            continue
        said = [other.passage for other in taken]
        steps = _steps_of(item.passage, said, left) if in_steps else None
        steps = steps or (None if by_place else _function_of(item, ranked, said, left if taken else sys.maxsize))
        quote = steps or _quotable(item.passage, said, passages, left, by_place=by_place)
        if quote is None or (taken and not by_place and _words_to_read(quote, taken) > left):
            continue
        if (
            not (taken or by_place or steps or quote.setting or quote.is_whole)
            and coverage(frozenset(tokenize(quote.text)), rarity) < _PLAIN_SHARE
        ):
            quote = enlarged(quote, passages)
        words = _words_to_read(quote, taken)
        near = next((each for each in taken if not by_place and _adjoin(each.passage, quote)), None)
        if near is None:
            taken.append(replace(item, passage=quote))
        else:
            first, last = sorted((near.passage, quote), key=lambda each: each.start_char)
            taken[taken.index(near)] = replace(near, passage=join_passages(first, last))
        seen.update((text, place))
        left -= words
        if len(taken) == (_MAX_PLACES if by_place else _MAX_QUOTES):
            break
    return taken


def _steps_of(passage: Passage, said: Sequence[Passage], most: int) -> Passage | None:
    """Return the steps that a passage is one of, if they have at most so many words and are not quoted yet."""
    steps = steps_around(passage)
    is_free = steps and words_to_read(steps.text) <= most and not any(overlap(steps, other) for other in said)
    return steps if is_free else None


def _function_of(
    item: ScoredPassage, ranked: Sequence[ScoredPassage], said: Sequence[Passage], most: int
) -> Passage | None:
    """Return the function with several of the best passages, if it has at most so many words and is not quoted yet."""
    if item.passage.shown.is_prose:
        return None
    near = [each.passage for each in ranked if each.score >= item.score - _MAX_PIECE_GAP]
    whole = with_function(item.passage, near, most)
    return None if whole is None or any(overlap(whole, other) for other in said) else whole


def _words_to_read(quote: Passage, taken: Sequence[ScoredPassage]) -> int:
    """Count the words of a quote. Those of the first code that is included do not count, since it is what is asked."""
    is_next = any(item.passage.includes_code for item in taken)
    return words_to_read(quote.said if is_next else quote.text)


def _read_on(chosen: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Return the best quote, then the others by result, in document order within each, joined if nearly adjacent."""
    numbers = list(dict.fromkeys(item.passage.shown.number for item in chosen))
    quotes: list[ScoredPassage] = []
    for item in sorted(chosen, key=lambda item: (numbers.index(item.passage.shown.number), item.passage.start_char)):
        whole = joined(quotes[-1].passage, item.passage) if quotes else None
        quotes[-1:] = [replace(quotes[-1], passage=whole)] if whole else [*quotes[-1:], item]
    best = [item for item in quotes if overlap(item.passage, chosen[0].passage)][:1]
    return [*best, *(item for item in quotes if item not in best)]


def _adjoin(a: Passage, b: Passage) -> bool:
    """Return whether two quotes are adjacent, so that they can be joined."""
    if a.shown.result.chunk.kind == "course":
        return False  # transcripts have no paragraphs, and are quoted by the sentence
    if a.shown is not b.shown or a.entry != b.entry or a.is_whole or b.is_whole:
        return False
    first, last = sorted((a, b), key=lambda each: each.start_char)
    if not a.shown.is_prose:
        return are_adjacent(first, last)
    return joins(first, last) and _TAG not in slice_of(first.shown, first.end_char, last.start_char)  # between blocks


def _quotable(
    passage: Passage, taken: Sequence[Passage], passages: Sequence[Passage], most: int, *, by_place: bool
) -> Passage | None:
    """Return a passage with the context that it needs; None if it adds nothing to the selected ones."""
    whole = _whole(passage, passages, most)
    # "Let's take an example:" says nothing without the example.
    offered = (whole,) if only_leads_in(passage, passages) else (whole, passage)
    free = next((each for each in offered if not any(overlap(each, other) for other in taken)), None)
    repeats = free is not None and not by_place and any(adds_no_word(free, other) for other in taken)
    return None if repeats else free


def _whole(passage: Passage, passages: Sequence[Passage], most: int) -> Passage:
    """Return a passage with the context that it needs. Entries of settings are complete, except for table rows."""
    if passage.is_whole or (passage.setting is not None and passage.setting.form != "row"):
        return passage
    return completed(passage, passages, most) if passage.shown.is_prose else with_statement(passage)
