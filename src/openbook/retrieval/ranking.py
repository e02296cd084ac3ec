"""Ranks candidates by a linear model over their signals, one for questions and one for topics.

docs/benchmarks-retrieval.md says what the weights were fitted on and what they are worth on projects left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from openbook.index.protocol import Matches, Outline
from openbook.questions.languages import language_and_page, without_letters_of
from openbook.questions.question import Question
from openbook.retrieval import weights
from openbook.retrieval.editions import Choice, Folder, choice_of
from openbook.retrieval.signals import (
    Signals,
    chunk_signals,
    comment_signals,
    file_signals,
    place_signals,
    question_signals,
)
from openbook.types import Chunk, View

# Penalty of a passage for each better one of its file, up to four: the answer to a long question on code is spread over
# files. On swe-qa, left out, file recall is .70 without it, .78 with it, .75 with .3.
_SPREAD, _SPREAD_WORDS, _SPREAD_MAX = 0.5, 10, 4

# The step between files that the whole query names, the nearest to the top first, and what a passage gains by a text
# that the query consists of, in quotation marks. More than all other signals together: for the names of a hundred
# files, those were 5 to 45.
_NAMED = 100.0
# What a passage gains by a text that a question quotes among other words. Best results have 10 to 20 in all. Of two
# questions of `benchmarks/cases`, the passage that answers one has the text, and is 5.0 below the best; that of the
# other one lacks it, and is 6.3 above the best with it.
_QUOTED = 6.0

# What a page gains if it is of the version of a documentation that the question names, over that of another place.
_NAMED_EDITION = 6.0

# What a method gains that a class of the question inherits. Its words are not those of the subclass.
_INHERITED = 9.0

# What a passage gains that prints a message of the question: more than what raises an error of a name in it.
_PRINTED = 30.0

# Settings whose text is read, the best first.
_SETTINGS_READ = 24

# Cache of the part before the colon in the name of a signal.
_WHOLE: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk in a ranked list."""

    outline: Outline
    signals: Signals = field(default_factory=dict)
    """What each signal adds to the score, by name; only those that add something."""

    @property
    def score(self) -> float:
        """The sum of the signals."""
        return sum(self.signals.values())


def rank(
    query: Question, view: View, matches: Matches, outlines: Sequence[Outline], texts: Sequence[str] = ()
) -> list[RankedChunk]:
    """Rank chunks, best first, ties by source and span.

    `outlines` are those of `matches.evidence`, in the same order, and `texts` theirs, if the question is a name.
    """
    chunks = chunk_signals(query, matches, outlines, texts)
    if view == "files":
        return _files(query, matches, outlines, chunks)
    passages = [
        RankedChunk(outline, weighted_signals(signals, weights.QUESTION))
        for outline, signals in zip(outlines, question_signals(query, chunks, outlines), strict=True)
    ]
    passages.sort(key=_order)
    return _spread(passages) if _is_spread(query, outlines) else passages


def weighted_signals(signals: Signals, by: Mapping[str, float]) -> Signals:
    """Multiply signals by their weights, and sum the parts of each."""
    total: Signals = {}
    for name, value in signals.items():
        if value and (weight := by.get(name)):
            whole = _WHOLE.get(name) or _WHOLE.setdefault(name, name.partition(":")[0])
            total[whole] = total.get(whole, 0.0) + weight * value
    return total if all(total.values()) else {name: value for name, value in total.items() if value}


def rerank_passages(ranked: Sequence[RankedChunk], signals: Sequence[Signals]) -> list[RankedChunk]:
    """Rerank passages with additional signals of each."""
    more = [weighted_signals(each, weights.QUESTION) for each in signals]
    return sorted((_with(each, extra) for each, extra in zip(ranked, more, strict=True)), key=_order)


def weigh_comments(
    query: Question, ranked: Sequence[RankedChunk], fetch: Callable[[Sequence[int]], Sequence[Chunk]]
) -> list[RankedChunk]:
    """Rank settings with comments as documentation, which their files are not."""
    settings = [n for n, each in enumerate(ranked) if each.outline.kind == "config"][:_SETTINGS_READ]
    signals: list[Signals] = [{} for _ in ranked]
    for n, chunk in zip(settings, fetch([ranked[n].outline.id for n in settings]), strict=True):
        signals[n] = comment_signals(query, chunk)
    return rerank_passages(ranked, signals)


def rerank_files(ranked: Sequence[RankedChunk], nearness: Sequence[float]) -> list[RankedChunk]:
    """Rerank files with the cosine of each path and the topic."""
    more = [weighted_signals(place_signals(each), weights.TOPIC) for each in nearness]
    return sorted((_with(each, extra) for each, extra in zip(ranked, more, strict=True)), key=_order)


def weigh_copies(
    query: Question, ranked: Sequence[RankedChunk], editions: Mapping[Folder, Choice]
) -> list[RankedChunk]:
    """Rank copies of pages like generated files, and raise those of a version that the question names.

    Copies are pages in a third language, if a readable copy is among the candidates, and pages of another version of a
    documentation than that of `editions`. Names and keywords may be in any language with the same letters: of it, only
    pages behind their readable copies are taken for translations.
    """
    read = {"", "en", *query.languages}
    pages = [(each.outline.source, *language_and_page(each.outline.span.path)) for each in ranked]
    third = {language for _, language, _ in pages if language not in read}
    certain = third if query.languages else third & without_letters_of(query.text)
    copies = {(source, page) for source, language, page in pages if language in read}
    ahead: set[tuple[str, str]] = set()
    weighed = []
    for each, (source, language, page) in zip(ranked, pages, strict=True):
        found = choice_of(source, each.outline.span.path, editions) if each.outline.kind != "code" else None
        if language in read:
            ahead.add((source, page))
        is_copy = (source, page) in (copies if language in certain else ahead)
        is_foreign = each.outline.kind != "code" and language in third and is_copy
        if is_foreign or (found and not found[1]):
            each = RankedChunk(each.outline, {name: value for name, value in each.signals.items() if name != "role"})
        elif found and found[0].is_named:
            each = _with(each, {"edition": _NAMED_EDITION})
        weighed.append(each)
    return sorted(weighed, key=_order)


def raise_found(
    ranked: Sequence[RankedChunk], methods: Collection[int], literals: Collection[int]
) -> list[RankedChunk]:
    """Raise methods of base classes that a question calls by the name of a subclass, and what prints its message."""
    gains = {each: {"message": _PRINTED} for each in literals}
    gains |= {each: gains.get(each, {}) | {"inherited": _INHERITED} for each in methods}
    return sorted((_with(each, gains.get(each.outline.id, {})) for each in ranked), key=_order)


def raise_quoted(query: Question, ranked: Sequence[RankedChunk], held: Mapping[int, int]) -> list[RankedChunk]:
    """Raise passages with texts that a query quotes, above all others if it is nothing else.

    `held` has the number of these texts for each chunk.
    """
    step = _NAMED if query.is_quotation else _QUOTED
    gained = {number: count * step for number, count in held.items() if count}
    raised = [
        _with(each, {"quoted": gained[each.outline.id]}) if each.outline.id in gained else each for each in ranked
    ]
    return sorted(raised, key=_order)


def put_files_first(ranked: Sequence[RankedChunk], files: Sequence[tuple[str, str]]) -> list[RankedChunk]:
    """Rank the best chunk of each of some files before all others, in the order of the files."""
    ahead = {file: (len(files) - place) * _NAMED for place, file in enumerate(files)}
    raised = []
    for each in ranked:
        gained = ahead.pop((each.outline.source, each.outline.span.path), 0.0)
        raised.append(_with(each, {"named": gained}) if gained else each)
    return sorted(raised, key=_order)


def _files(
    query: Question, matches: Matches, outlines: Sequence[Outline], chunks: Sequence[Signals]
) -> list[RankedChunk]:
    """Rank each file once, represented by its best chunk."""
    members: dict[tuple[str, str], list[int]] = {}
    for position, outline in enumerate(outlines):
        members.setdefault((outline.source, outline.span.path), []).append(position)
    ranked = []
    for group in members.values():
        size = matches.evidence[group[0]].file_chunks
        signals = file_signals(query, [chunks[n] for n in group], outlines[group[0]], size)
        shown = min(group, key=lambda n: (*_telling(chunks[n]), outlines[n].span))
        ranked.append(RankedChunk(outlines[shown], weighted_signals(signals, weights.TOPIC)))
    return sorted(ranked, key=_order)


def _telling(chunk: Signals) -> tuple[float, float, float]:
    """Return the sort key for the chunk that represents a file: definition, exact name, then similarity."""
    return -chunk["definition"], -chunk["exact"], -(chunk["lexical"] + chunk["dense"] + chunk["coverage"])


def _is_spread(query: Question, outlines: Sequence[Outline]) -> bool:
    """Return whether the answer is likely spread over files: for long questions on code."""
    return query.content_words >= _SPREAD_WORDS and any(outline.kind == "code" for outline in outlines)


def _spread(ranked: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Penalize each passage for the better ones of its file, by at most its score."""
    seen: Counter[tuple[str, str]] = Counter()
    spread = []
    for each in ranked:
        file = (each.outline.source, each.outline.span.path)
        loss = min(_SPREAD * min(seen[file], _SPREAD_MAX), each.score)
        spread.append(_with(each, {"spread": -loss} if loss else {}))
        seen[file] += 1
    return sorted(spread, key=_order)


def _with(ranked: RankedChunk, signals: Signals) -> RankedChunk:
    sums = {name: ranked.signals.get(name, 0.0) + value for name, value in signals.items()}
    return RankedChunk(ranked.outline, ranked.signals | sums)


def _order(ranked: RankedChunk) -> tuple[float, str, object]:
    return (-ranked.score, ranked.outline.source, ranked.outline.span)
