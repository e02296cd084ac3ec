"""Finds what states the versions that a question asks for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from openbook.extractive.context import ContextItem
from openbook.extractive.passages import Passage, examples_in
from openbook.questions.question import Question
from openbook.questions.versions_asked import is_manifest
from openbook.retrieval.roles import is_aside

# Fewer lines of prose are quoted by the sentence.
_MIN_LINES = 2


def lines_with_versions(query: Question, shown: ContextItem) -> Iterator[Passage]:
    """Yield the lines of a manifest or a page that state a required version, consecutive ones as one passage."""
    path = shown.result.chunk.span.path
    of_manifest = is_manifest(path)
    if query.versions is None or not (of_manifest or shown.is_prose):
        return
    held = [unit for unit in shown.units if query.versions.share_in(unit.text, path)]
    for _, run in groupby(enumerate(held), key=lambda pair: pair[1].number - pair[0]):
        units = [unit for _, unit in run]
        passage = Passage(shown, units[0], units[-1], is_whole=True)
        if (of_manifest or len(units) >= _MIN_LINES) and not _is_of_example(passage):
            yield passage


def _is_of_example(passage: Passage) -> bool:
    """Return whether a passage begins in an example in some language: its versions are not those of the project."""
    first = passage.first.number - 1
    return any(each.language and each.opening <= first <= each.closing for each in examples_in(passage.shown))


def share_of_versions(query: Question, passage: Passage) -> float:
    """Return the share of the things a question asks for of which a passage states the required version, 0 to 1.

    Of manifests, only passages of `lines_with_versions` count; in a statement, they are two lines of twenty.
    """
    path = passage.first.span.path
    if query.versions is None or is_aside(path) or not (passage.is_whole or passage.shown.is_prose):
        return 0.0
    if _is_of_example(passage):
        return 0.0
    return query.versions.share_in(passage.text, path)
