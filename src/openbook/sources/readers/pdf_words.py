"""Joins words that a PDF breaks at line ends, with or without the hyphen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from openbook.embedding.static import common_words
from openbook.sources.readers.pdf_glyphs import HYPHEN

BROKEN_WORD = re.compile(rf"(\w*)[{HYPHEN}](\w*)")
_IN_CHAIN = re.compile(rf"(?<=\w-)(\w+)[{HYPHEN}](\w+)")
_HYPHENATED = re.compile(r"(?=\b(\w+)-(\w+))")
_WHOLE_WORD = re.compile(rf"(?<![\w{HYPHEN}])\w+(?![\w{HYPHEN}])")

# Shorter parts are not words of their own. In eleven manuals, of 34 words with parts at least this long, where the
# parts occur elsewhere but the joined word does not, 31 were hyphenated compounds; with shorter parts, one of five.
_MIN_LETTERS = 3

# The first part of a word is more often a word itself (`pro-cured`, `per-cent`) than the last (`percent-ages`).
_MIN_LETTERS_AFTER = 4

# Vocabulary words that also are prefixes without a hyphen: `biodistribution`, `underlined`. Without this list, half of
# the words in `benchmarks.pdf_hyphens` would wrongly keep their hyphen.
_BEGINNINGS = frozenset(
    "bio electro geo hetero hydro micro mono neuro over para photo socio stereo sub thermo under".split()
)


@dataclass(frozen=True, slots=True)
class KnownWords:
    """The words within the lines of a text, where no hyphenation occurs."""

    hyphenated: frozenset[str]
    """Two words joined by a hyphen."""
    whole: frozenset[str]
    first: frozenset[str]
    """First parts of hyphenated words, in lower case."""
    last: frozenset[str]
    """Last parts of hyphenated words, in lower case."""

    def keeps_hyphen(self, before: str, behind: str) -> bool:
        """Return whether a word broken at a hyphen keeps it.

        The text decides if it contains the word within a line; else common English words, and finally whether the parts
        are words, or parts of other compounds.
        """
        if not before or f"{before}-{behind}" in self.hyphenated:
            return True
        if f"{before}{behind}" in self.whole:
            return False
        if not behind[:1].islower():
            return not ((before + behind).isupper() and self._is_common(before + behind))
        shorter = min(len(before), len(behind))
        return not self._is_common(before + behind) and (
            (shorter >= _MIN_LETTERS and {before, behind} <= self.whole) or self._are_parts(before, behind)
        )

    def goes_on(self, before: str, behind: str) -> bool:
        """Return whether another part follows the one after the hyphen: `state-of-the-art`, not `self-con-tained`."""
        return not self._is_common(before + behind) and self._is_common(before) and self._is_common(behind)

    def _are_parts(self, before: str, behind: str) -> bool:
        """Return whether two parts look like a compound: `stress-related`, `well-aerated`."""
        if len(before) < _MIN_LETTERS:
            return False
        one, other = before.casefold(), behind.casefold()
        if one in self.first and one in self.whole:
            return True
        if len(behind) < _MIN_LETTERS_AFTER or not self._is_common(other):
            return False
        return other in self.last or (self._is_common(one) and one not in _BEGINNINGS)

    @staticmethod
    def _is_common(word: str) -> bool:
        return word.casefold() in common_words()


def words_of(lines: Iterable[str]) -> KnownWords:
    """Collect the words within lines."""
    texts = list(lines)
    pairs = [(found[1], found[2]) for text in texts if "-" in text for found in _HYPHENATED.finditer(text)]
    return KnownWords(
        frozenset(f"{one}-{other}" for one, other in pairs),
        frozenset(word for text in texts for word in _WHOLE_WORD.findall(text)),
        frozenset(one.casefold() for one, _ in pairs),
        frozenset(other.casefold() for _, other in pairs),
    )


def whole_words(text: str, known: KnownWords) -> str:
    """Join words that were broken at line ends, keeping hyphens of compounds."""

    def joined(match: re.Match[str]) -> str:
        return f"{match[1]}{'-' if known.keeps_hyphen(match[1], match[2]) else ''}{match[2]}"

    def chained(match: re.Match[str]) -> str:
        return f"{match[1]}-{match[2]}" if known.goes_on(match[1], match[2]) else match[0]

    return BROKEN_WORD.sub(joined, _IN_CHAIN.sub(chained, text)) if HYPHEN in text else text
