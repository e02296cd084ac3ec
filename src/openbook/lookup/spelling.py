"""Suggests words of a library for words that it lacks, as search engines do for misspelled ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from string import ascii_lowercase

from openbook.index.protocol import Index
from openbook.tokens import tokenize

# Shorter words are one edit away from too many others.
_MIN_LETTERS = 5
# Long words are slips of the keyboard, and each letter costs 54 lookups.
_MAX_LETTERS = 30
# A text with more such words is pasted, or in another language. Each takes some 25 ms.
_MAX_WORDS = 8
# Words of a single chunk are likely to be misspelled themselves.
_MIN_CHUNKS = 2


_VOWELS = "aeiouy"
# The library knows stems only, so its texts are searched for the most frequent ones as they would be written.
_SEARCHED = 3


def suggestions(words: Sequence[str], index: Index, occurs: Callable[[str], bool]) -> tuple[str, ...]:
    """Return for each word the most frequent word of the library that differs by one typing error, in order.

    An error is a letter too many or too few, another vowel, or two letters exchanged; the first letter is right.
    Words without such a neighbor have none, nor have capitalized words, which may be names. `occurs` tells whether a
    text of the library has a word as it is written.
    """
    misspelled = list(filter(_may_be_misspelled, words))[:_MAX_WORDS]
    found = (_suggestion(word, index, occurs) for word in misspelled)
    return tuple(dict.fromkeys(filter(None, found)))


def _may_be_misspelled(word: str) -> bool:
    return _MIN_LETTERS <= len(word) <= _MAX_LETTERS and word.isascii() and word.isalpha() and word.islower()


def _suggestion(word: str, index: Index, occurs: Callable[[str], bool]) -> str:
    stems = {near: stem for near in _neighbors(word) for stem in tokenize(near)[:1]}
    counts = index.frequencies(list(dict.fromkeys(stems.values())))
    common = {near: counts.get(stem, 0) for near, stem in stems.items() if near != word}
    ordered = sorted(common, key=lambda near: (-common[near], near))
    return next((near for near in ordered[:_SEARCHED] if common[near] >= _MIN_CHUNKS and occurs(near)), "")


def _neighbors(word: str) -> Iterator[str]:
    for place in range(1, len(word) + 1):
        head, tail = word[:place], word[place:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        if tail:
            yield head + tail[1:]
            # Other letters make words of their own, as `painted` of `printed`.
            yield from (head + letter + tail[1:] for letter in _VOWELS if tail[0] in _VOWELS)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
