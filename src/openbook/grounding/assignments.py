"""Values that code and settings give to names: `retries = 3` rules out that "`retries` is 5", whatever else is 5."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from openbook.grounding.facts import KEPT_TEXTS
from openbook.grounding.numbers import Number, numbers_of

# With a type between, as in `retries: int = 3`, or as a key, as in `"retries": 3`.
_GIVEN = re.compile(
    r"(?P<name>[^\W\d]\w*)[\"'`]?\s*(?::\s*[A-Za-z][\w\[\]., |]{0,60}?)?\s*(?:=(?!=)|:)\s*[\"'`]?"
    r"(?P<value>-?\d(?![xXbBoO]))"
)
_SAID = re.compile(
    r"(?:[^\W\d]\w*\.)*(?P<name>[^\W\d]\w*)`?(?:\s*(?:=(?!=)|:)\s*|,?\s+(?:(?:which|that|by|now|currently)\s+)*"
    r"(?:is|are|was|were|equals|stays|becomes|defaults? to|has (?:the|a) (?:default )?value(?: of)?)"
    r"(?:\s+(?:set|fixed|equal) (?:to|at))?\s+)`?(?P<value>-?\d)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\W{0,2}(?:to|or|and|up|–|-)\W{0,2}\d")


def value_disagrees(claim: str, sentences: Sequence[str]) -> str:
    """Say what value a claim gives to a name that the sentences give others; empty if none.

    A name that is given several values agrees with each of them.

    Example:
        >>> value_disagrees("`retries` is 5", ["retries = 3", "timeout = 5"])
        'the claim says 5 where the cited lines say retries = 3'
    """
    if not any(map(str.isdigit, claim)):
        return ""
    given: dict[str, list[tuple[Number, str]]] = defaultdict(list)
    for sentence in sentences:
        for name, values in _given(sentence).items():
            given[name] += values
    for match, number in _numbered(_SAID, claim) if given else ():
        values = given.get(match["name"].lower(), [])
        is_range = _RANGE.match(claim, number.start + len(number.text))
        if values and not is_range and not any(_are_equal(number, value) for value, _ in values):
            return f"the claim says {number.text} where the cited lines say {values[0][1]}"
    return ""


@lru_cache(maxsize=KEPT_TEXTS)
def _given(sentence: str) -> Mapping[str, Sequence[tuple[Number, str]]]:
    found: dict[str, list[tuple[Number, str]]] = defaultdict(list)
    gives = "=" in sentence or ":" in sentence  # the pattern tries every word of a page, mostly for nothing
    for match, number in _numbered(_GIVEN, sentence) if gives else ():
        shown = sentence[match.start() : number.start + len(number.text)]
        found[match["name"].lower()].append((number, " ".join(shown.split())))
    return dict(found)


def _numbered(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], Number]]:
    """Give each match whose value is read as a number, with that."""
    matches = list(pattern.finditer(text))
    numbers = {number.start: number for number in numbers_of(text, implied=True)} if matches else {}
    for match in matches:
        number = numbers.get(match.start("value"))
        if number is not None and number.kind != "version":
            yield match, number


def _are_equal(a: Number, b: Number) -> bool:
    """Compare what two numbers come to; where one has no unit, what is written as well."""
    sides = [{abs(each.value)} | (set() if a.kind and b.kind else {_written(each)}) for each in (a, b)]
    return any(math.isclose(x, y) for x in sides[0] for y in sides[1])


def _written(number: Number) -> float:
    digits = re.search(r"\d[\d,_]*(?:\.\d+)?", number.text)
    return float(re.sub(r"[,_]", "", digits.group())) if digits else abs(number.value)
