"""What of a text an entailment model reads at once: windows of whole sentences and lines. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from openbook.grounding.facts import salient_words

# Two windows share up to a quarter, so that neighbouring sentences which say it together stand together in one.
# MiniCheck cuts without overlap (minicheck/inference.py, commit 00a1ed4), and loses what a cut divides.
_SHARED = 4

# Words that begin alike count as one, as `support.likely_units` has it.
_BEGINNING_CHARS = 5


def windows_of(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Cut consecutive units into windows that overlap.

    Args:
        sizes: Tokens of each unit.
        room: Most tokens of a window. A unit that has more makes a window of its own.

    Returns:
        Half-open ranges of unit numbers, in order; each unit is in at least one. No units, no windows.

    Example:
        >>> windows_of([40, 40, 20, 50], room=100)
        [(0, 3), (2, 4)]
    """
    found: list[tuple[int, int]] = []
    start = end = 0
    while end < len(sizes):
        filled = sum(sizes[start:end])
        while end < len(sizes) and (end == start or filled + sizes[end] <= room):
            filled += sizes[end]
            end += 1
        found.append((start, end))
        if end == len(sizes):
            break
        repeated, first = 0, end
        while first - 1 > start and repeated + sizes[first - 1] <= room // _SHARED:
            first -= 1
            repeated += sizes[first]
        # Together with the next unit they must fit, or the window would hold nothing new.
        while first < end and repeated + sizes[end] > room:
            repeated -= sizes[first]
            first += 1
        start = first
    return found


def likeliest(claim: str, texts: Sequence[str], limit: int) -> list[int]:
    """Choose the texts that share most words with a claim.

    Returns:
        At most `limit` numbers of texts, in the order of the texts. Of equals the first are taken.

    Example:
        >>> likeliest("Parcels wait.", ["Ships sail.", "A parcel waits.", "It waits."], 1)
        [1]
    """
    if len(texts) <= limit:
        return list(range(len(texts)))
    words = {word[:_BEGINNING_CHARS].lower() for word in salient_words(claim)}
    shared = [sum(map(text.__contains__, words)) for text in map(str.lower, texts)]
    return sorted(sorted(range(len(texts)), key=lambda number: (-shared[number], number))[:limit])
