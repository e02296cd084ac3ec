"""Passages of front matter, which is quoted only for what a question asks of it: tags, dates, authors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openbook.extractive.context import ContextItem
from openbook.extractive.passages import Passage, front_matter_in, passages_of
from openbook.extractive.requirements import lines_with_versions
from openbook.questions.question import Question
from openbook.questions.words import STOP_WORDS
from openbook.retrieval.paths import is_named
from openbook.tokens import tokenize
from openbook.types import Unit

# What a question has to say a value of, and what it asks the value of, for a page that it names.
_KEPT_BY = frozenset(tokenize("tag keyword category topic label"))
_TOLD = frozenset(tokenize("created updated modified date author status alias due"))
# In YAML and TOML.
_STATES = re.compile("[:=]")


def passages_offered(query: Question, shown: ContextItem) -> Iterator[Passage]:
    """Yield the passages of a result, with lines that are quoted only for what a question asks of them."""
    yield from passages_of(shown)
    yield from lines_with_versions(query, shown)
    yield from front_matter_asked(query, shown)


def front_matter_asked(query: Question, shown: ContextItem) -> Iterator[Passage]:
    """Yield the entries of front matter that a question asks for: of a tag that it has, or of a page that it names."""
    entry: list[Unit] = []
    for unit in front_matter_in(shown):
        if entry and unit.text[:1] not in " \t-":
            yield from _asked(query, shown, entry)
            entry = []
        entry.append(unit)
    if entry:
        yield from _asked(query, shown, entry)


def _asked(query: Question, shown: ContextItem, entry: list[Unit]) -> Iterator[Passage]:
    key, *value = _STATES.split(entry[0].text, maxsplit=1)
    keys = frozenset(tokenize(key)) & frozenset(tokenize(query.text))
    asked = {word.strip("?!.,#\"'`") for word in query.text.casefold().split()}
    asked -= STOP_WORDS | query.stop_words
    values = " ".join((*value, *(unit.text for unit in entry[1:]))).casefold().replace(",", " ").split()
    said = {each.strip("[]\"'#-") for each in values} - {""}
    is_kept = not keys.isdisjoint(_KEPT_BY) and not said.isdisjoint(asked)
    is_told = not keys.isdisjoint(_TOLD) and is_named(shown.result.chunk.span.path, query.tokens)
    if is_kept or is_told:
        yield Passage(shown, entry[0], entry[-1], is_whole=True)
