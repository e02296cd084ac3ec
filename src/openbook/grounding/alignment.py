"""Word alignment of a claim with a cited sentence: finds replaced, swapped and misattributed words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from openbook.grounding.facts import content_words
from openbook.tokens import tokenize

# How many neighbouring words must match before a different literal, or plain word, counts as replaced.
_SAME_WORDS, _SAME_PLAIN_WORDS = 3, 6
_MAX_REPLACED_WORDS = 6
_ARTICLES = frozenset("a an the".split())
# Words that refer to other words. Their order in the sentence says nothing.
_REFERRING = frozenset("former latter first second last above below".split())
_TOKEN = re.compile(r"`[^`\n]{1,80}`|\d+(?:[.,]\d+)*|[^\W\d]\w*(?:(?:\.|::|->)[^\W\d]\w*)*")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9]{2,}")

_Token = tuple[str, str]
"""A word (stemmed if plain) and its kind: `code`, `number`, `acronym`, or empty for a plain word."""

# Three rules in a row compare the claim with the same sentences, at most about a page of them.
_CACHED_SENTENCES = 512


def replaced_word(claim: str, sentences: Sequence[str]) -> str:
    """Find a word of a cited sentence that the claim replaces with another, in the same context.

    Plain words have synonyms, so they need more matching neighbours than literals.
    """
    own = _tokens(claim)
    cited = [_tokens(sentence) for sentence in sentences]
    said = {word for sentence in cited for word, _ in sentence}
    between: defaultdict[tuple[_Token, ...], list[tuple[Sequence[_Token], int]]] = defaultdict(list)
    for sentence in cited:
        for other in range(1, len(sentence) - 1):
            between[sentence[other - 1], sentence[other + 1]].append((sentence, other))
    mine = {word for word, _ in own}
    for place, (word, kind) in enumerate(own):
        if word in said or (not kind and not _is_significant(word)):
            continue
        # Look only at places with the same neighbours on both sides: few, even in a long text.
        for theirs, other in between.get(tuple(own[place - 1 : place + 2 : 2]), ()) if place else ():
            instead, their_kind = theirs[other]
            if their_kind != kind or instead in mine or _is_part(word, instead):
                continue
            if not kind and not _is_significant(instead):
                continue
            sides = _shared_around(own, place, theirs, other)
            if sum(sides) >= (_SAME_WORDS if kind else _SAME_PLAIN_WORDS) and min(sides) >= (1 if kind else 2):
                return f"the claim says {word} where the cited lines say {instead}"
    return ""


def misattributed_words(claim: str, cited_text: str) -> str:
    """Find a long run of words that the cited lines say about a different code name."""
    own = _tokens(claim)
    cited = _tokens(cited_text)
    names: defaultdict[tuple[_Token, ...], set[str]] = defaultdict(set)
    for other, (name, kind) in enumerate(cited):
        if kind == "code":
            names[tuple(cited[other + 1 : other + 1 + _SAME_PLAIN_WORDS])].add(name)
    for place, (word, kind) in enumerate(own):
        behind = tuple(own[place + 1 : place + 1 + _SAME_PLAIN_WORDS])
        if kind != "code" or len(behind) < _SAME_PLAIN_WORDS:
            continue
        owners = names.get(behind, set())
        if owners and not any(_is_part(_stem(word), _stem(owner)) or word == owner for owner in owners):
            return f"the cited lines say this of {sorted(owners)[0]}, the claim says it of {word}"
    return ""


def _is_part(word: str, instead: str) -> bool:
    """Return whether one word list contains the other, like `restore` and `restic restore`."""
    one, other = set(word.split()), set(instead.split())
    return one <= other or other <= one


def _is_significant(word: str) -> bool:
    return bool(content_words(word)) and word.isalpha() and word not in _REFERRING


def exchanged_words(claim: str, sentences: Sequence[str]) -> str:
    """Find two swapped words: "A on Unix and B on Windows" for "B on Unix, A on Windows"."""
    own = _tokens(claim)
    literals = _literals_before(own)
    for sentence in sentences:
        tokens = _tokens(sentence)
        theirs = _literals_before(tokens)
        for a, b in combinations(sorted(literals.keys() & theirs.keys()), 2):
            if literals[a] != literals[b] and literals[a] == theirs[b] and literals[b] == theirs[a]:
                return f"the claim exchanges {a} and {b}"
        if pair := _exchanged_words(own, tokens):
            return f"the claim exchanges {pair[0]} and {pair[1]}"
    return ""


def _exchanged_words(own: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[str, str] | None:
    """Find "threads, not processes" where the other text says "processes, not threads" in the same context."""
    places = {word: place for place, word in enumerate(theirs)}
    for first, word in enumerate(own):
        for last in range(first + 2, min(first + _MAX_REPLACED_WORDS, len(own))):
            size, at = last - first, places.get(own[last], -1)
            if at < 0 or word == own[last] or not (_is_significant(word[0]) and _is_significant(own[last][0])):
                continue
            if list(theirs[at + 1 : at + size + 1]) != [*own[first + 1 : last], word]:
                continue
            before, _ = _shared_around(own, first, theirs, at)
            _, behind = _shared_around(own, last, theirs, at + size)
            if before + behind + size - 1 >= _SAME_WORDS:
                return word[0], own[last][0]
    return None


@lru_cache(maxsize=_CACHED_SENTENCES)
def _tokens(text: str) -> list[_Token]:
    """Return the words without articles, each with its kind (see `_Token`)."""
    found = []
    for match in _TOKEN.finditer(text):
        word = match.group()
        kind = "code" if word[0] == "`" else "number" if word[0].isdigit() else ""
        kind = "acronym" if _ACRONYM.fullmatch(word) else kind
        word = word.strip("`") if kind else _stem(word)
        if word not in _ARTICLES:
            found.append((word, kind))
    return found


def _stem(word: str) -> str:
    stems = tokenize(word)
    return stems[-1] if stems else word.lower()


def _shared_around(own: Sequence[_Token], place: int, theirs: Sequence[_Token], other: int) -> tuple[int, int]:
    """Count the equal words directly before and after two places, up to as many as tell anything."""
    before = behind = 0
    while before < min(place, other, _SAME_PLAIN_WORDS) and own[place - before - 1] == theirs[other - before - 1]:
        before += 1
    while (
        behind < min(len(own) - place - 1, len(theirs) - other - 1, _SAME_PLAIN_WORDS)
        and own[place + behind + 1] == theirs[other + behind + 1]
    ):
        behind += 1
    return before, behind


def _literals_before(tokens: Sequence[_Token]) -> Mapping[str, tuple[str, str]]:
    """Return the literals that occur once in a text, each with the two words that follow it."""
    words = [word for word, _ in tokens]
    counts = Counter(words)
    return {
        word: (words[place + 1], words[place + 2])
        for place, (word, kind) in enumerate(tokens[:-2])
        if kind and counts[word] == 1
    }
