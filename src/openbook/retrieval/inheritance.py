"""Finds the class that defines a method which a question calls by the name of a subclass: `Barge.moor` of `Ship`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import chain

from openbook.index.protocol import Outline
from openbook.questions.question import Question
from openbook.retrieval.definitions import defines_type

# Classes of classes, and as far up as anybody looks.
_MAX_STEPS = 3
_NAME = re.compile(r"\b[A-Z]\w*")

File = tuple[str, str]
Lookup = Callable[[str, Collection[File]], Sequence[Outline]]
"""Returns chunks with the words of a name, in some files or, if there are none, in all."""


def inherited(query: Question, known: Sequence[Outline], lookup: Lookup) -> list[Outline]:
    """Return the methods that a question calls by the names of subclasses, of the nearest class that defines them.

    `known` are the candidates of the question. There is nothing to add if a method of the subclass is one of them.
    """
    named = zip(query.identifiers, query.owners, strict=True)
    return [
        method
        for name, owners in named
        if owners and owners[-1][0].isupper() and not _defining(name, owners[-1], known)
        for method in _methods(name, owners[-1], known, lookup)
    ]


def _methods(name: str, owner: str, known: Sequence[Outline], lookup: Lookup) -> list[Outline]:
    """Return a method of the nearest base class that defines it."""
    classes = [owner]
    for _ in range(_MAX_STEPS):
        heads = {each: _heads(each, [*known, *lookup(each, ())]) for each in classes}
        for each in classes:
            files = {(head.source, head.span.path) for head in heads[each]}
            methods = _defining(name, each, lookup(name, files))
            if methods:
                return methods
        bases = (_NAME.findall(head.signature.partition(each)[2]) for each in classes for head in heads[each])
        classes = list(dict.fromkeys(chain.from_iterable(bases)))
    return []


def _defining(name: str, owner: str, outlines: Sequence[Outline]) -> list[Outline]:
    return [each for each in outlines if name in each.defines and owner in (*each.symbol.split("."), *each.defines)]


def _heads(name: str, outlines: Sequence[Outline]) -> list[Outline]:
    """Return where a class begins."""
    return [each for each in outlines if name in each.defines and defines_type(each.signature, name)]
