"""Which sentences of the pages that introduce a project say what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import PurePosixPath

from openbook.answering.context import Context, ContextItem
from openbook.answering.headings import heading_over
from openbook.answering.overview import asks_to_start, is_beside, is_front_page, is_start
from openbook.answering.passages import Passage, is_row, passages_of
from openbook.questions.question import Question
from openbook.questions.words import content_words_of_question
from openbook.types import ResultRole

# What a page opens with: a sentence of so many words is no badge and no slogan.
_FEWEST_WORDS = 6
_MOST = 4
_TELLS_LITTLE = 3
# "A server that moors ships.", but not "A timestamp can be added" or "A slow quay implies higher costs".
_BEGINS_AS_DESCRIPTION = re.compile(
    r"^[^a-z\n]*An? (?!(?:\S+ ){1,3}(?:can|could|has|is|may|must|should|was|will|implies|means|needs|requires|makes"
    r"|takes|gives|allows|uses|contains|does)\b)\w",
    re.MULTILINE,
)
_SAYS_WHAT = re.compile(r"\b(?:is|are|provides?|ist|est|es)\s+(?:an?|the|eine?|une?|una?)\b")
_ENDS_SENTENCE = re.compile(r"[.!:。](?:[\s\"'*)\]]|$)")
_ADDRESS = re.compile(r"\]\([^)]*\)|<[^>]*>|\bhttps?://\S+")
# "> [!TIP]" and the like stand beside what a page tells, and so do commands.
_ALERT = re.compile(r"\W*\[!\w+\]|\s*\$ ")
_PICTURE = re.compile(r"!\[[^]]*\]\([^)]*\)|^\s*\.\. .*|^\s*:[\w -]+:(?=\s).*", re.MULTILINE)
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)[^\w.!?]*(\w+)")


def openings(query: Question, context: Context) -> Iterator[tuple[Passage, float]]:
    """Yield of each page that introduces a project what says what it is, else what it opens with, with its score.

    The best sentence of a page comes first, then one of each other section of it that is among the results. Behind the
    first quote, those that say little of the project are left out, unless they tell how to begin and that is asked, or
    stand in a page that a filter names.
    """
    to_start = asks_to_start(query.text)
    seen: set[str] = set()
    pages = (shown for shown in context.shown if ResultRole.OVERVIEW in shown.result.roles)
    for _, items in groupby(pages, key=lambda shown: (shown.result.chunk.source, shown.result.chunk.span.path)):
        ranked = sorted(_best_of_sections(items, query), key=lambda best: best[0])
        # What opens a page is first of it; the rest stays in the order of the page.
        for (rank, _), passage in ranked[:1] + sorted(ranked[1:], key=lambda best: best[1].start_char):
            tells = rank < _TELLS_LITTLE or not seen or (to_start and is_start(_heading(passage)))
            tells = tells or not is_front_page(passage.shown.result.chunk)
            if tells and len(seen) < _MOST and passage.text not in seen:
                seen.add(passage.text)
                yield passage, passage.shown.result.score


def _best_of_sections(items: Iterable[ContextItem], query: Question) -> list[tuple[tuple[int, int], Passage]]:
    """Return the sentence of each section that tells most, with how much that is: less is more."""
    said = [each for shown in items for each in passages_of(shown) if _is_said(each)]
    said = [each for each in said if not is_beside(_heading(each), to_start=asks_to_start(query.text))] or said
    names = set(map(_plain, content_words_of_question(query.text)))
    found: dict[tuple[int, str], tuple[tuple[int, int], Passage]] = {}
    for each in said:
        chunk = each.shown.result.chunk
        rank = _rank(each.text, query, names | {_plain(PurePosixPath(chunk.source).name)})
        place = (chunk.span.start_char, _heading(each))
        best = found.setdefault(place, ((rank, each.start_char), each))
        found[place] = min(best, ((rank, each.start_char), each), key=lambda one: one[0])
    return list(found.values())


def _rank(text: str, query: Question, names: set[str]) -> int:
    """Order sentences: a definition; "Harbour moors ships" or "A server that moors ships"; what says "is a"; others."""
    if query.definition is not None and query.definition.search(text):
        return 0
    is_subject = any(_plain(word) in names for word in _SENTENCE_START.findall(_ADDRESS.sub(" ", text)))
    if is_subject or _BEGINS_AS_DESCRIPTION.search(text):
        return 1
    return 2 if _SAYS_WHAT.search(text) else _TELLS_LITTLE


def _plain(word: str) -> str:
    """Return a name as it is compared: `good_job` is GoodJob."""
    return re.sub(r"[\W_]+", "", word).lower()


def _heading(passage: Passage) -> str:
    chunk = passage.shown.result.chunk
    return heading_over(chunk, passage.start_char - chunk.span.start_char)


def _is_said(passage: Passage) -> bool:
    """Check whether a passage is a sentence, and no title, badge or example."""
    # Sponsors and pictures; directives of reStructuredText.
    is_markup = passage.text.count("</") > 1 or passage.text.lstrip().startswith(".. ")
    is_sentence = _ENDS_SENTENCE.search(passage.text) is not None and not (
        passage.is_title or is_markup or is_row(passage.text) or _ALERT.match(passage.text)
    )
    return is_sentence and not passage.is_code and len(_plain_words(passage.text)) >= _FEWEST_WORDS


def _plain_words(text: str) -> list[str]:
    """Return the words of a text without addresses, tags, pictures and fields, as badges have them."""
    return re.findall(r"[^\W\d_]{2,}", _ADDRESS.sub(" ", _PICTURE.sub(" ", text)))
