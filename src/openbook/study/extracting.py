"""Study guides in the words of the sources: what sums them up, what they define, and what can be asked of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from openbook.answering.citations import TextNow
from openbook.answering.context import Context
from openbook.answering.extractive import ScoredPassage, quotes_of
from openbook.answering.passages import COURSE_FACT, Passage, passages_of
from openbook.answering.summaries import central_passages
from openbook.answering.verification import check_quotes
from openbook.embedding.protocol import Embedder
from openbook.study.guide import StudyItem
from openbook.study.terms import definition_in
from openbook.text import sentences

# A sentence that says something alone, and can be learnt.
_FEWEST_WORDS, _MOST_WORDS = 5, 45

# A term that is used once and not set off is seldom one to learn.
_FEWEST_USES = 2

# A number in a sentence: no part of a name, a version, a reference, a formula or a citation.
_NUMBER = re.compile(r"(?<![\w.,:/^#\[(-])(?:[$€£]\s?)?\d+(?:[.,]\d+)*(?:\s?%)?(?![\w\])/:^$-]|[.,]\w)")
# 0 and 1 are guessed too easily.
_FEWEST_SIGNS = 2
# A statement of prose, and no line of code or of a table.
_STATEMENT = re.compile(r"[^\W\d_a-z][^<>=|{}\\_]*[.!。]$")
# The dots of a table of contents.
_LEADER = re.compile(r"(?:\. ?){4}")
_REFERENCE = re.compile(
    r"(?:\[|\b(?:chapter|section|lesson|figure|fig\.|table|page|p\.|step|part|equation|kapitel|abschnitt|abbildung"
    r"|tabelle|seite|chapitre|section|capítulo|figura|tabla|página))\s*$",
    re.IGNORECASE,
)
_BLANK = "____"

_Made = tuple[str, Passage, str]
"""A question, the passage that answers it, and the answer where it is less than the passage."""


@dataclass(frozen=True, slots=True)
class Extract:
    """The parts of a guide, and how much was left out."""

    summary: tuple[StudyItem, ...]
    terms: tuple[StudyItem, ...]
    questions: tuple[StudyItem, ...]
    left_out: int


def extract(context: Context, embedder: Embedder, text_now: TextNow, count: int) -> Extract:
    """Take a guide from sources, word for word. What they do not hold exactly any more is left out.

    Args:
        context: The sources.
        embedder: Finds the sentences that sum them up.
        text_now: Gives the text of a document as it is now.
        count: Most terms, and most questions.
    """
    telling = list(_telling(context))
    defined = _definitions(telling, " ".join(entry.result.chunk.text for entry in context.shown))
    terms: list[_Made] = [(term, passage, "") for term, _, passage in defined[:count]]
    asked: list[_Made] = [(question, passage, "") for _, question, passage in defined]
    questions = _chosen([*_headings(context), *asked], list(_gaps(telling)), count)
    parts: list[list[_Made]] = [list(_summary(context, embedder)), terms, questions]
    kept = [_checked(part, context, text_now) for part in parts]
    left_out = sum(len(part) for part in parts) - sum(len(part) for part in kept)
    return Extract(kept[0], kept[1], kept[2], left_out)


def _summary(context: Context, embedder: Embedder) -> Iterator[_Made]:
    for passage in central_passages(context, embedder):
        is_fact = COURSE_FACT.match(passage.text) or _LEADER.search(passage.text)
        if not passage.is_title and not is_fact:
            yield "", passage, ""


def _telling(context: Context) -> Iterator[Passage]:
    """Yield each sentence of prose that says something alone."""
    seen = set()
    for shown in context.shown:
        for passage in passages_of(shown) if shown.is_prose else ():
            for one in _sentences_of(passage):
                words = len(one.text.split())
                if _FEWEST_WORDS <= words <= _MOST_WORDS and not one.is_title and one.text not in seen:
                    seen.add(one.text)
                    yield one


def _sentences_of(passage: Passage) -> Iterator[Passage]:
    """Split a passage into its sentences: a line may hold several."""
    start = passage.start_char
    found = list(sentences(passage.text))
    for begin, end in found:
        yield replace(passage, part=(start + begin, start + end)) if len(found) > 1 else passage


def _definitions(telling: Iterable[Passage], text: str) -> list[tuple[str, str, Passage]]:
    """Return terms with their questions and definitions, in order, each term once."""
    text = text.casefold()
    found: dict[str, tuple[str, str, Passage]] = {}
    for passage in telling:
        definition = definition_in(passage.text)
        if definition is None or definition.term.casefold() in found:
            continue
        if definition.is_marked or text.count(definition.term.casefold()) >= _FEWEST_USES:
            found[definition.term.casefold()] = (definition.term, definition.question, passage)
    return list(found.values())


def _headings(context: Context) -> Iterator[_Made]:
    """Yield headings that ask something, with the first sentences below them."""
    for shown in context.shown:
        said = [passage for passage in passages_of(shown) if not passage.is_title] if shown.is_prose else []
        for unit in shown.units if said else ():
            heading = unit.text.strip().strip("#* ")
            is_heading = unit.text.startswith("#") or heading in shown.result.chunk.context
            answer = next((one for one in said if one.start_char >= unit.span.end_char), None)
            if answer is not None and is_heading and heading.endswith("?"):
                yield heading, answer, ""


def _gaps(telling: Iterable[Passage]) -> Iterator[_Made]:
    """Yield sentences with their only number left out."""
    for passage in telling:
        text = " ".join(passage.text.split())
        numbers = list(_NUMBER.finditer(text))
        if len(numbers) != 1 or not _STATEMENT.fullmatch(text):
            continue
        gap = numbers[0]
        if len(gap[0]) >= _FEWEST_SIGNS and not _REFERENCE.search(text[: gap.start()]):
            yield f"{text[: gap.start()]}{_BLANK}{text[gap.end() :]}", passage, gap[0]


def _chosen(asked: Sequence[_Made], gaps: Sequence[_Made], count: int) -> list[_Made]:
    """Choose questions of both kinds: half of each if there are enough, spread over the sources, in their order."""
    of_gaps = min(len(gaps), max(count // 2, count - len(asked)))
    chosen = [*_spread(asked, count - of_gaps), *_spread(gaps, of_gaps)]
    return sorted(chosen, key=lambda made: (made[1].shown.number, made[1].start_char))


def _spread(made: Sequence[_Made], count: int) -> list[_Made]:
    step = max(1.0, len(made) / max(1, count))
    return [made[int(place * step)] for place in range(min(count, len(made)))]


def _checked(made: Sequence[_Made], context: Context, text_now: TextNow) -> tuple[StudyItem, ...]:
    """Return items of the passages that their sources hold, word for word."""
    claims = quotes_of([ScoredPassage(passage, 1.0) for _, passage, _ in made])
    checked = check_quotes(claims, context, text_now)
    return tuple(
        StudyItem(_with_answer(passage, answer), (citation,), question)
        for (question, passage, answer), citation in zip(made, checked.citations, strict=True)
        if citation.verdict == "exact"
    )


def _with_answer(passage: Passage, answer: str) -> str:
    text = " ".join(passage.text.lstrip("#*+- \t").split())
    return f"{answer}: {text}" if answer else text
