"""Finds the chunks that define names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from openbook.index.protocol import Index, Outline
from openbook.retrieval.definitions import belongs
from openbook.tokens import tokenize
from openbook.types import Filter

# Chunks that hold the words of the names, best first. A definition is among the best.
_CANDIDATES = 400


def chunks_naming(index: Index, names: Iterable[str], where: Filter) -> list[Outline]:
    """Return what speaks most of names and defines anything, in the order of source and span."""
    tokens = list(dict.fromkeys(token for name in names for token in tokenize(name)))
    if not tokens:
        return []
    matches = index.match(tokens, None, _CANDIDATES, where)
    return [each for each in index.outlines([evidence.id for evidence in matches.evidence]) if each.defines]


def chunks_defining(
    outlines: Sequence[Outline], name: str, owners: Sequence[str], *, any_case: bool = False
) -> list[Outline]:
    """Return the outlines that define a name, those that belong to its owners if any does.

    Args:
        outlines: What may define it.
        name: Unqualified.
        owners: What stood before it: `("Client",)` of `Client.get`.
        any_case: Whether `retry` may mean `Retry`.
    """
    if any_case:
        named = [outline for outline in outlines if name.lower() in map(str.lower, outline.defines)]
    else:
        named = [outline for outline in outlines if name in outline.defines]
    owned = [outline for outline in named if belongs(outline, owners)] if owners else []
    return owned or named
