"""Measures how a text contains the words of a question: proximity, and exact names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

# Answers have the words of the question close together: within one or two sentences, and in order.
_WINDOW_TOKENS = 40
_WINDOW_WEIGHT, _PAIRS_WEIGHT = 0.6, 0.3
_PAIR_GAP = 2

# Words with the same first letters count as inflections of one word, beyond the English stemmer: +2.5 points on German
# questions, +.6 on English ones (XQuAD). 4 and 6 letters gain less on both.
_SAME_LETTERS = 5


def expand_inflections(words: Sequence[str], tokens: Iterable[str]) -> list[str]:
    """Replace each token of a text by the token of the question that shares its first five letters.

    Example:
        >>> expand_inflections(["siedler", "der", "normannischen"], ["normannisch", "siedler"])
        ['siedler', 'der', 'normannisch']
    """
    asked = dict.fromkeys(tokens)
    forms = {token[:_SAME_LETTERS]: token for token in reversed(asked) if len(token) >= _SAME_LETTERS}
    return [word if word in asked else forms.get(word[:_SAME_LETTERS], word) for word in words]


def proximity(words: Sequence[str], rarity: Mapping[str, float]) -> float:
    """Return how close together a text contains the tokens of a question, from 0 to .9.

    Tokens of the text and of the question are in their order.

    Example:
        >>> rarity = {"retri": 1.0, "polici": 1.0}
        >>> proximity(["the", "retri", "polici"], rarity) > proximity(["polici", "and", "no", "retri"], rarity)
        True
    """
    places = [(place, word) for place, word in enumerate(words) if word in rarity]
    if not places or not (total := sum(rarity.values())):
        return 0.0
    window = _best_window(places, rarity) / total
    neighbours = {
        (word, following)
        for (place, word), (next_place, following) in pairwise(places)
        if next_place - place <= _PAIR_GAP
    }
    weights = {(word, following): min(rarity[word], rarity[following]) for word, following in pairwise(rarity)}
    all_pairs = sum(weights.values())
    paired = sum(weight for pair, weight in weights.items() if pair in neighbours) / all_pairs if all_pairs else 0.0
    return _WINDOW_WEIGHT * window + _PAIRS_WEIGHT * paired


# In another case, a name mostly means the same: `MaxClients` in documentation is `maxclients` in a parser.
_OTHER_CASE = 0.5


def exactness(text: str, name: str) -> float:
    """Return how exactly a text contains a name: 1 as written, .5 in another case, 0 not at all.

    A part of a longer name does not count, but a name may follow dashes, as options do.

    Example:
        >>> exactness("--max-clients", "max-clients"), exactness("max-clients-limit", "max-clients")
        (1.0, 0.0)
    """
    # Most texts do not contain it, and this test is ten times as fast as a pattern.
    if name.lower() not in text.lower():
        return 0.0
    exact, any_case = _patterns(name)
    if exact.search(text):
        return 1.0
    return _OTHER_CASE if any_case.search(text) else 0.0


@lru_cache(maxsize=64)
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    written = rf"(?<!\w)(?<!\w-){re.escape(name)}(?!\w|-\w)"
    return re.compile(written), re.compile(written, re.IGNORECASE)


def _best_window(places: Sequence[tuple[int, str]], rarity: Mapping[str, float]) -> float:
    """Return the highest total weight of distinct tokens within a window."""
    inside: Counter[str] = Counter()
    best = weight = 0.0
    first = 0
    for place, word in places:
        if not inside[word]:
            weight += rarity[word]
        inside[word] += 1
        while place - places[first][0] >= _WINDOW_TOKENS:
            leaving = places[first][1]
            inside[leaving] -= 1
            if not inside[leaving]:
                weight -= rarity[leaving]
            first += 1
        best = max(best, weight)
    return best
