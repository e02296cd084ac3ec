"""Looks up the facts of a claim in a text: quotes, identifiers and numbers, in any spelling."""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from openbook.grounding.numbers import LETTER_OR_DIGIT, Quantity, factors_of, in_lower_case, numbers_of
from openbook.grounding.readable import readable

# Characters that Markdown, quotation marks and line wrapping add. A star between blanks or digits is an operator.
_MARKUP = re.compile(r"(?!(?<=\S )\\?\*{1,2} \S|(?<=\d)\\?\*{1,2}\d)[*_`\"'“”„«»‘’\\|]+")
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
# Editors and PDFs produce many kinds of hyphens, and invisible characters.
_HYPHENS, _INVISIBLE = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_ALIKE = str.maketrans(_HYPHENS, "-" * len(_HYPHENS), _INVISIBLE)
# Verifiers copy line numbers together with the line.
_LINE_NUMBER = re.compile(r"^[ \t]*\d{1,6}\|[ \t]?", re.MULTILINE)
# A quote with fewer letters and no digit is not evidence.
_MIN_LETTERS = 3
WORD_BORDER = re.compile(rf"(?!(?<={LETTER_OR_DIGIT}){LETTER_OR_DIGIT}|(?<=\d)[.,]\d|(?<=\d[.,])\d)")
"""Pattern of a place that is not inside a word or a number."""
_WORD = re.compile(r"\w+")
_BETWEEN_PARTS = re.compile(r"[\W_]+")
DIGITS = re.compile(r"\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\w))?")
_HEX = re.compile(r"\b0x[0-9a-fA-F]{1,16}\b")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# `60 * 60`, `2**22` and `1 << 20` also state their results. Numbers alone match too, so that none is read again from
# each of its digits.
_ARITHMETIC = re.compile(r"\d[\d_]*+((?:\.\d++)?+(?:\s*+(?:\*\*|\*|<<)\s*+\d[\d_]*+(?:\.\d++)?+){1,4}+)?+")
_OPERATION = re.compile(r"(\*\*|\*|<<)\s*(\d[\d_]*(?:\.\d+)?)")
_MAX_DIGITS = 30
# `lease_s / 3` may refer to any number of the lines. With too many numbers, everything would match.
_OPERAND = re.compile(r"[A-Za-z_\])]\s*([*/])\s*(\d+(?:\.\d+)?)")
_MAX_OPERANDS = 12
# Rounding to two digits: "about 14.8" for 14.826.
_CLOSE = 0.005

# Shortest prefix that matches a longer word: `POST` in "POSTing".
_MIN_PREFIX_CHARS = 4

# Removed tags leave a blank between a word and the following comma.
_TAG_GAP = re.compile(r"\s(?=[,.;:!?)\]]+(?:\s|$))|(?<=[(\[])\s")


def squash(text: str) -> str:
    """Normalize a text: lower case, no emphasis or quotation marks, single blanks, none before a comma.

    Example:
        >>> squash("The *ferry*    , which (   is red    )  waits")
        'the ferry, which (is red) waits'
    """
    words = " ".join(_MARKUP.sub("", unicodedata.normalize("NFC", text).translate(_ALIKE)).lower().split())
    return _TAG_GAP.sub("", words)


def squash_apart(parts: Iterable[str]) -> str:
    r"""Normalize parts of a text like `squash`, with a line break instead of a blank between them.

    Example:
        >>> squash_apart(["It *waits*. ", "It ends\n(late", ")."])
        'it waits.\nit ends (late).'
    """
    return _TAG_GAP.sub("", "\n".join(filter(None, map(squash, parts))))


def parts_of_quote(quote: str) -> list[str]:
    """Split a quote at its ellipses, and return the squashed parts without surrounding punctuation.

    Example:
        >>> parts_of_quote("`a = 1` ... B")
        ['a = 1', 'b']
    """
    return [part for part in (squash(part).strip(" .,;:!?") for part in _GAP.split(quote)) if part]


def has_words(text: str, words: str) -> bool:
    """Return whether a text contains words, both squashed, without splitting a word or a number.

    Example:
        >>> has_words("wait(30), 2.5 s", "wait(3"), has_words("wait(30), 2.5 s", "wait(30)")
        (False, True)
    """
    at = text.find(words)
    if at < 0 or (WORD_BORDER.match(text, at) and WORD_BORDER.match(text, at + len(words))):
        return at >= 0
    # A search from each further place would take quadratic time in text that repeats itself. Squashed text has no "\n".
    return WORD_BORDER.sub("\n", words) in WORD_BORDER.sub("\n", text)


def _is_significant(words: str) -> bool:
    return sum(map(str.isalpha, words)) >= _MIN_LETTERS or any(map(str.isdigit, words))


def _readings_of(quote: str) -> Iterator[str]:
    """Yield the readings of a verifier's quote: as it is, without line numbers, without markup."""
    yield quote
    plain = _LINE_NUMBER.sub("", quote)
    yield plain
    yield readable(plain)


class SearchedText:
    """A text prepared for fact lookup."""

    def __init__(self, text: str) -> None:
        self.text: str = unicodedata.normalize("NFC", text)
        self._values_of: dict[str, list[float]] = {}
        self._factors_of: dict[str, tuple[float, ...]] = {}

    @cached_property
    def _squashed(self) -> tuple[str, str]:
        """The text as it is, and as people read it."""
        return squash(self.text), squash(readable(self.text))

    @cached_property
    def numbers(self) -> tuple[Quantity, ...]:
        return numbers_of(self.text, implied=True)

    @cached_property
    def values(self) -> frozenset[float]:
        """All numbers in digits, also inside names, and the results computed from them."""
        digits = (value_of(match.group()) for match in DIGITS.finditer(self.text))
        hexadecimal = (float(int(match.group(), 16)) for match in _HEX.finditer(self.text))
        found = frozenset(chain(digits, hexadecimal, results_in(self.text)))
        named = (_OPERAND.finditer(self.text)) if len(found) <= _MAX_OPERANDS else ()
        results = (
            value / operand if match[1] == "/" else value * operand
            for match in named
            for operand in [value_of(match[2])]
            for value in found
            if operand
        )
        return found | frozenset(results)

    @cached_property
    def _words(self) -> frozenset[str]:
        words = _WORD.findall(self.text)
        parts = (part for word in words for part in _PART.findall(word))
        return frozenset(word.lower().strip("_") for word in chain(words, parts))

    def has_quote(self, quote: str) -> bool:
        """Return whether the text contains a quote, ignoring ellipses."""
        return any(all(part in text for part in parts_of_quote(quote)) for text in self._squashed)

    def has_evidence(self, quote: str) -> bool:
        """Return whether the text contains each part of a verifier's quote in whole words."""
        return any(
            all(has_words(text, part) for part in parts)
            for parts in map(parts_of_quote, dict.fromkeys(_readings_of(quote)))
            if _is_significant("".join(parts))
            for text in self._squashed
        )

    def has_name(self, name: str) -> bool:
        """Return whether the text contains a code name: verbatim, in another spelling, or as a prefix of a word.

        The parts of a name with hyphens stay apart or are all joined: `X-Auth-Token` is no spelling of `X-AuthToken`.
        """
        lower = name.lower().strip("_")
        if lower in self._words:
            return True
        pieces = _PART.findall(name)
        if len(pieces) > 1:
            if in_lower_case("".join(pieces)) not in self._joined:  # as most: one search is far faster than a pattern
                return False
            spelled = r"[\W_]?".join(map(re.escape, pieces))
            if "-" in name:
                parts = [re.escape(part) for part in re.split("[-_]+", name) if part]
                spelled = rf"(?:{' ?[-_. ] ?'.join(parts)}|{''.join(parts)})"
            return re.search(rf"(?<![A-Za-z]){spelled}(?![a-z])", self.text, re.IGNORECASE) is not None
        if len(lower) < _MIN_PREFIX_CHARS:
            return False
        at = bisect_left(self._sorted_words, lower)
        return any(word.startswith(lower) for word in self._sorted_words[at : at + 1])

    def has_number(self, number: Quantity) -> bool:
        """Return whether the text contains a number, in any unit and spelling."""
        if number.kind == "version":
            return number.text in self._versions
        value = abs(number.value)
        if any(equal_values(value, self._of_kind(kind)) for kind in {number.kind, ""}):
            return True
        # `timeout_s = 30` and `2**22` have no unit that could be parsed.
        digits = DIGITS.search(number.text)
        raw = value_of(digits.group()) if digits else value
        has_unit_here = bool(number.kind) and bool(self._of_kind(number.kind))
        candidates = (value,) if has_unit_here else (value, raw)
        return any(
            equal_values(one * factor, self._sorted_values)
            for one in candidates
            for factor in self._factors(number.kind)
        )

    @cached_property
    def _joined(self) -> str:
        """All letters and digits, without what may stand between the parts of a name."""
        return _BETWEEN_PARTS.sub("", in_lower_case(self.text))

    @cached_property
    def _sorted_words(self) -> list[str]:
        return sorted(self._words)

    @cached_property
    def _sorted_values(self) -> list[float]:
        return in_order(self.values)

    @cached_property
    def _versions(self) -> frozenset[str]:
        return frozenset(number.text for number in self.numbers if number.kind == "version")

    def _of_kind(self, kind: str) -> list[float]:
        if kind not in self._values_of:
            self._values_of[kind] = in_order(abs(other.value) for other in self.numbers if other.kind == kind)
        return self._values_of[kind]

    def _factors(self, kind: str) -> tuple[float, ...]:
        """Return the factors to the units of a kind that the text mentions."""
        if kind not in self._factors_of:
            self._factors_of[kind] = (1.0, *(1 / factor for factor in factors_of(kind, self.text)))
        return self._factors_of[kind]


def value_of(digits: str) -> float:
    """Return the value of a number in digits, with or without thousands separators."""
    return float(re.sub(r"[,_]", "", digits))


def are_equal(a: float, b: float) -> bool:
    """Return whether two numbers are equal up to rounding."""
    return a == b or abs(a - b) <= _CLOSE * min(abs(a), abs(b))


def in_order(values: Iterable[float]) -> list[float]:
    """Sort numbers for `equal_values`. One that is not a number, such as infinity times 0, equals none."""
    return sorted(value for value in values if not math.isnan(value))


def equal_values(value: float, ordered: Sequence[float]) -> list[float]:
    """Return those of sorted numbers, none negative, that equal one up to rounding; at most two on each side.

    Example:
        >>> equal_values(1000, [1, 999, 1000, 1001, 1002, 1003])
        [999, 1000, 1001]
    """
    at = bisect_left(ordered, value)
    return [other for other in ordered[max(0, at - 2) : at + 2] if are_equal(value, other)]


def results_in(text: str) -> Iterator[float]:
    """Yield the results of products, powers and shifts of numbers, from left to right."""
    for match in _ARITHMETIC.finditer(text):
        if not match[1]:
            continue
        result = float(_leading(match.group()))
        for sign, digits in _OPERATION.findall(match.group()):
            operand = float(digits.replace("_", ""))
            if sign == "*":
                result *= operand
            elif operand * math.log10(max(result, 2 if sign == "<<" else 1)) > _MAX_DIGITS:
                break
            else:
                result = result**operand if sign == "**" else result * 2**operand
        yield result


def _leading(expression: str) -> str:
    match = DIGITS.match(expression.replace("_", ""))
    return match.group().replace(",", "") if match else "0"
