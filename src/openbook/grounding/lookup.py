"""Texts in which the facts of a claim are looked up: quotes, names of code and numbers, in any spelling."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from openbook.grounding.numbers import Quantity, factors_of, numbers_of

# What Markdown, quotation marks and wrapping add to words.
_MARKUP = re.compile(r"[*_`\"'“”„«»‘’\\|]+")
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
_WORD = re.compile(r"\w+")
DIGITS = re.compile(r"\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\w))?")
_HEX = re.compile(r"\b0x[0-9a-fA-F]{1,16}\b")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# `60 * 60`, `2**22` and `1 << 20` say their results.
_ARITHMETIC = re.compile(r"\d[\d_]*(?:\.\d+)?(?:\s*(?:\*\*|\*|<<)\s*\d[\d_]*(?:\.\d+)?){1,4}")
_OPERATION = re.compile(r"(\*\*|\*|<<)\s*(\d[\d_]*(?:\.\d+)?)")
_MOST_DIGITS = 30
# `lease_s / 3` is a result of another number of the lines; with many numbers, of any.
_OPERAND = re.compile(r"[A-Za-z_\])]\s*([*/])\s*(\d+(?:\.\d+)?)")
_MOST_OPERANDS = 12
# "About 14.8" for 14.826: as close as two digits are.
_CLOSE = 0.005

# Beginnings of words that are as long stand for them: `POST` for "POSTing".
_SHORTEST_BEGINNING = 4


def squash(text: str) -> str:
    """Return a text in lower case, without marks of emphasis and quotation, blanks as one."""
    return " ".join(_MARKUP.sub("", unicodedata.normalize("NFC", text)).lower().split())


class SearchedText:
    """A text that facts are looked up in."""

    def __init__(self, text: str) -> None:
        self.text: str = unicodedata.normalize("NFC", text)

    @cached_property
    def _squashed(self) -> str:
        return squash(self.text)

    @cached_property
    def numbers(self) -> tuple[Quantity, ...]:
        return numbers_of(self.text, implied=True)

    @cached_property
    def values(self) -> frozenset[float]:
        """Every run of digits as a value, those inside of names included, and what is computed from them."""
        digits = (value_of(match.group()) for match in DIGITS.finditer(self.text))
        hexadecimal = (float(int(match.group(), 16)) for match in _HEX.finditer(self.text))
        found = frozenset(chain(digits, hexadecimal, results_in(self.text)))
        named = (_OPERAND.finditer(self.text)) if len(found) <= _MOST_OPERANDS else ()
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
        """Return whether a quote stands here, ellipses aside."""
        parts = [squash(part).strip(" .,;:!?") for part in _GAP.split(quote)]
        return all(part in self._squashed for part in parts)

    def has_name(self, name: str) -> bool:
        """Return whether a name of code stands here: as it is, in another spelling, or at the beginning of a word."""
        lower = name.lower().strip("_")
        if lower in self._words:
            return True
        pieces = _PART.findall(name)
        if len(pieces) > 1:
            spelled = r"[\W_]?".join(map(re.escape, pieces))
            return re.search(rf"(?<![A-Za-z]){spelled}(?![a-z])", self.text, re.IGNORECASE) is not None
        return len(lower) >= _SHORTEST_BEGINNING and any(word.startswith(lower) for word in self._words)

    def has_number(self, number: Quantity) -> bool:
        """Return whether a number stands here, in any unit and spelling."""
        if number.kind == "version":
            return any(other.kind == "version" and other.text == number.text for other in self.numbers)
        value = abs(number.value)
        if any(are_equal(value, abs(other.value)) for other in self.numbers if other.kind in (number.kind, "")):
            return True
        # `timeout_s = 30` and `2**22` say no unit that could be read.
        digits = DIGITS.search(number.text)
        raw = value_of(digits.group()) if digits else value
        has_unit_here = any(other.kind == number.kind for other in self.numbers) if number.kind else False
        candidates = (value,) if has_unit_here else (value, raw)
        factors = (1.0, *(1 / factor for factor in factors_of(number.kind, self.text)))
        return any(are_equal(one * factor, other) for one in candidates for factor in factors for other in self.values)


def value_of(digits: str) -> float:
    """Return what a run of digits is worth, separators of thousands aside."""
    return float(re.sub(r"[,_]", "", digits))


def are_equal(a: float, b: float) -> bool:
    """Return whether two numbers are as close as rounded ones are."""
    return a == b or abs(a - b) <= _CLOSE * min(abs(a), abs(b))


def results_in(text: str) -> Iterator[float]:
    """Yield the results of products, powers and shifts of numbers, from left to right."""
    for match in _ARITHMETIC.finditer(text):
        result = float(_leading(match.group()))
        for sign, digits in _OPERATION.findall(match.group()):
            operand = float(digits.replace("_", ""))
            if sign == "*":
                result *= operand
            elif operand * math.log10(max(result, 2 if sign == "<<" else 1)) > _MOST_DIGITS:
                break
            else:
                result = result**operand if sign == "**" else result * 2**operand
        yield result


def _leading(expression: str) -> str:
    match = DIGITS.match(expression.replace("_", ""))
    return match.group().replace(",", "") if match else "0"
