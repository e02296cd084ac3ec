"""Parses numbers and versions in a text into values, so that `30 s` equals "thirty seconds"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_ONES += " seventeen eighteen nineteen"
_SPELLED = {word: float(value) for value, word in enumerate(_ONES.split())}
_TENS = {
    word: 10.0 * tens for tens, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SPELLED |= _TENS
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}

# Words that imply a number. They can confirm a number in a claim, but a claim that uses them states no number.
_IMPLIED = {
    "one": 1.0, "a": 1.0, "an": 1.0, "once": 1.0, "single": 1.0, "first": 1.0, "twice": 2.0, "both": 2.0, "pair": 2.0,
    "couple": 2.0, "double": 2.0, "second": 2.0, "third": 3.0, "triple": 3.0, "fourth": 4.0, "fifth": 5.0, "sixth": 6.0,
    "seventh": 7.0, "eighth": 8.0, "ninth": 9.0, "tenth": 10.0, "dozen": 12.0, "half": 0.5,
    "eins": 1.0, "zwei": 2.0, "drei": 3.0, "vier": 4.0, "fünf": 5.0, "sechs": 6.0, "sieben": 7.0, "acht": 8.0,
    "neun": 9.0, "zehn": 10.0, "elf": 11.0, "zwölf": 12.0,
}  # fmt: skip

# Spellings of each unit, with the kind of quantity and the factor to the smallest unit.
_UNITS = {
    spelling: (kind, factor)
    for kind, factor, spellings in (
        ("time", 1e-6, "µs us microsecond microseconds"),
        ("time", 1e-3, "ms msec millis millisecond milliseconds Millisekunden 毫秒"),
        ("time", 1.0, "s sec secs second seconds Sekunde Sekunden 秒钟 秒 초"),
        ("time", 60.0, "min mins minute minutes Minute Minuten 分钟 分鐘"),
        ("time", 3600.0, "h hr hrs hour hours Stunde Stunden 小时 小時 時間"),
        ("time", 86400.0, "day days Tag Tage Tagen 天"),
        ("time", 604800.0, "week weeks Woche Wochen 周"),
        ("share", 0.01, "% percent pct Prozent"),
        ("size", 1.0, "byte bytes"),
        ("size", 1e3, "kB KB kb kilobyte kilobytes"),
        ("size", 1024.0, "KiB"),
        ("size", 1e6, "MB mb megabyte megabytes"),
        ("size", 1024.0**2, "MiB"),
        ("size", 1e9, "GB gb gigabyte gigabytes"),
        ("size", 1024.0**3, "GiB"),
        ("size", 1e12, "TB terabyte terabytes"),
        ("length", 1.0, "m metre metres meter meters"),
        ("length", 1e-3, "mm"),
        ("length", 1e-2, "cm"),
        ("length", 1e3, "km kilometre kilometres kilometer kilometers"),
        ("length", 1609.344, "mile miles"),
        ("length", 0.3048, "ft foot feet"),
    )
    for spelling in spellings.split()
}
UNIT = "|".join(map(re.escape, sorted({spelling.lower() for spelling in _UNITS}, key=lambda unit: (-len(unit), unit))))
"""Pattern of a unit in lower case."""

# Chinese, Japanese and Korean text has no spaces, so these characters end a number as a space does.
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_UNSPACED = re.compile(f"[{_CJK}]")
_LETTER = rf"[^\W{_CJK}]"
LETTER_OR_DIGIT = rf"[^\W_{_CJK}]"
"""Pattern of a character of a word, in scripts that put spaces between words."""
# Suffixes that belong to a version: `1.0.2k` of OpenSSL, `3.14.0t` of Python and `4.0b2`.
_STAGE = "(?:a|b|rc|alpha|beta|dev|post)"
_VERSION = re.compile(
    rf"(?<!\.)(?<!{_LETTER})v?\d+(?:(?:\.\d+){{2,}}(?:[-.]?{_STAGE}\.?\d*|[a-zA-Z][a-zA-Z0-9]*)?|\.\d+{_STAGE}\d+)"
    rf"(?!{_LETTER})"
)
_PLAIN_NUMBER = r"\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?"
_CJK_UNIT = "|".join(sorted((unit for unit in _UNITS if re.match(rf"[{_CJK}]", unit)), key=len, reverse=True))
_DIGITS = re.compile(
    rf"(?<![.,])(?<!{_LETTER})(?P<sign>(?<![)\]])[-−](?=\d)|(?:minus|negative)[ ](?=\d))?"  # noqa: RUF001
    rf"(?P<number>\d{{1,3}}(?:[,_ \u202f]\d{{3}})+(?!\d)(?:\.\d+)?|{_PLAIN_NUMBER}(?:[eE][+-]?\d{{1,2}})?)(?!\.\d)"
    rf"(?P<unit>\s?%|[ \t\u00a0-]?(?:[A-Za-zµ]+|{_CJK_UNIT}))?(?:(?<=%)|(?!{_LETTER}))",
)
_CHINESE_DIGIT = "[一二两兩三四五六七八九十百千万]"
_CHINESE = re.compile(
    rf"(?<!{_CHINESE_DIGIT})(?P<number>{_CHINESE_DIGIT}++)"
    rf"(?:(?P<unit>{_CJK_UNIT})|(?=[个個次倍条條名位项項种種台件层層页頁行年月]))"
)
_CHINESE_ONES = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1000}
# A name can carry the unit of its value: `timeout_ms = 1500`.
_NAMED_UNIT = re.compile(
    r"(?:[A-Za-z0-9][_-](?P<unit>ms|s|secs?|seconds?|minutes?|hours?|days?|bytes|kb|mb|gb|percent)"
    r"|[a-z](?P<hump>Ms|MS|Millis|Secs|Seconds|Minutes|Hours|Days|Bytes|KB|MB|GB))"
    r"\b[\"'`]?(?:\s*:\s*[a-z]+(?=\s*=))?\s*[:=]\s*(?P<number>" + _PLAIN_NUMBER + r")(?![\w.]|\s*[-+*/%])"
)
# `re.IGNORECASE` matches these as s, i, i and k; neither `str.lower` nor `str.casefold` maps all of them.
_ALIKE = str.maketrans("\u017f\u0131\u0130\u212a", "siik")
_ANY_DIGIT = re.compile(r"\d")
_DECADE = re.compile(r"[12]\d{2}0s")
_WORD = re.compile(r"[^\W\d_]+")
_UNIT_AFTER = re.compile(r"[ -]([^\W\d_]+)")

_VALUES = _IMPLIED | _SCALES | _SPELLED


def _run_of(words: Iterable[str]) -> re.Pattern[str]:
    """Build a pattern for number words ("thirty-five", "two hundred") and any one of `words`."""
    ones, tens, scales, single = ("|".join(group) for group in (list(_SPELLED)[:20], _TENS, _SCALES, words))
    return re.compile(rf"\b(?:(?:(?:{tens})(?:[- ](?:{ones}))?|{ones})(?:[- ](?:{scales}))*|{single})\b", re.IGNORECASE)


_SPELLED_RUN = _run_of(["hundred", "thousand", "million", "billion", "trillion"])
_IMPLIED_RUN = _run_of([*_IMPLIED, "hundred", "thousand", "million", "billion", "trillion"])


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity as written, and its value."""

    text: str
    value: float
    """In the base unit of its kind: seconds, bytes, metres, or a fraction of one."""
    kind: str = ""
    """`time`, `size`, `share`, `length` or `version`; empty for a bare number."""
    start: int = 0
    """Offset in the text it was found in."""


def numbers_of(text: str, *, implied: bool = False) -> tuple[Quantity, ...]:
    """List versions and numbers, in digits and in words, in order.

    "one" without a unit is left out, because it is mostly a pronoun. `implied`: count "one", "both", "twice", "third"
    and "a" too, for text that can confirm one.

    Example:
        >>> [(number.value, number.kind) for number in numbers_of("30,000 ms, 5% and three of v1.2.3")]
        [(30.0, 'time'), (0.05, 'share'), (3.0, ''), (0.0, 'version')]
    """
    has_digit = _ANY_DIGIT.search(text) is not None  # most sentences have no digit, and the patterns are slow
    written = list(_VERSION.finditer(text)) if has_digit else []
    versions = [Quantity(match.group().lstrip("v"), 0.0, "version", match.start()) for match in written]
    text = blank_out(text, [match.span() for match in written])
    named = list(_NAMED_UNIT.finditer(text)) if implied and not {"=", ":"}.isdisjoint(text) else []
    text = blank_out(text, [match.span("number") for match in named])
    found = list(_DIGITS.finditer(text)) if has_digit else []
    digits = [_in_digits(match, text) for match in found]
    digits += [_of_name(match) for match in named]
    if not text.isascii():
        chinese = map(_in_chinese, _CHINESE.finditer(text))
        digits += [number for number in chinese if number.value != 1 or number.kind]
    text = blank_out(text, [match.span() for match in found if (match["unit"] or "").strip().lower() in _SCALES])
    return tuple(sorted(chain(versions, digits, _in_words(text, implied=implied)), key=lambda number: number.start))


def blank_out(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Replace ranges with spaces, which keeps all offsets valid."""
    if not places:
        return text
    pieces, position = [], 0
    for start, end in places:
        pieces += [text[position:start], " " * (end - start)]
        position = end
    return "".join((*pieces, text[position:]))


def _in_digits(match: re.Match[str], text: str) -> Quantity:
    written = match["number"]
    grouped = re.sub(r"[,_ \u202f](?=\d{3})", "", written).replace("_", "")
    value = float(grouped)
    unit = (match["unit"] or "").strip(" \t\u00a0-")
    if unit.lower() in _SCALES:
        value *= _SCALES[unit.lower()]
        following = _WORD.match(text, match.end() + 1)
        unit = following.group() if following else ""
    if unit == "s" and _DECADE.fullmatch(match.group()):
        unit = ""
    kind, factor = _unit(unit)
    sign = -1 if match["sign"] else 1
    shown = match.group().strip() if kind or match["sign"] else written
    return Quantity(shown, round(sign * value * factor, 9), kind, match.start())


def _of_name(match: re.Match[str]) -> Quantity:
    kind, factor = _unit((match["unit"] or match["hump"]).lower())
    return Quantity(match["number"], round(float(match["number"]) * factor, 9), kind, match.start("number"))


def _in_chinese(match: re.Match[str]) -> Quantity:
    total = section = digit = 0
    for character in match["number"]:
        if character in _CHINESE_ONES:
            digit = _CHINESE_ONES[character]
        elif character == "万":
            total, section, digit = total + (section + digit) * 10_000, 0, 0
        else:
            section, digit = section + (digit or 1) * _CHINESE_SCALES[character], 0
    kind, factor = _unit(match["unit"] or "")
    return Quantity(match.group(), round((total + section + digit) * factor, 9), kind, match.start())


def in_lower_case(word: str) -> str:
    r"""Lower-case a word as `re.IGNORECASE` matched it.

    Example:
        >>> in_lower_case("Fir\u017ft") == "first" != "Fir\u017ft".lower()
        True
    """
    return word.translate(_ALIKE).lower()


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces between words."""
    return _UNSPACED.match(character) is not None


def is_unit(word: str) -> bool:
    """Return whether a word is a unit as it is written: `KiB`, `ms`."""
    return word in _UNITS


def factors_of(kind: str, text: str) -> frozenset[float]:
    """Return the factors of all units of a kind that a text mentions.

    Example:
        >>> sorted(factors_of("time", "timeout: int = 1600, in milliseconds"))
        [0.001]
    """
    if not kind:
        return frozenset()
    found = (_UNITS.get(word) or _UNITS.get(word.lower(), ("", 1.0)) for word in _WORD.findall(text))
    return frozenset(factor for other, factor in found if other == kind)


def _unit(word: str) -> tuple[str, float]:
    return _UNITS.get(word) or _UNITS.get(word.lower(), ("", 1.0))


def _in_words(text: str, *, implied: bool) -> Iterator[Quantity]:
    if _VALUES.keys().isdisjoint(_WORD.findall(in_lower_case(text))):
        return
    pattern = _IMPLIED_RUN if implied else _SPELLED_RUN
    for match in pattern.finditer(text):
        value = 0.0
        words = re.split(r"[ -]", in_lower_case(match.group()))
        for word in words:
            value = value * _SCALES[word] if word in _SCALES and value else value + _VALUES[word]
        following = _UNIT_AFTER.match(text, match.end())
        kind, factor = _unit(following.group(1)) if following else ("", 1.0)
        if words in (["one"], ["zero"]) and not implied and not kind:
            continue
        shown = match.group() + (following.group() if kind and following else "")
        yield Quantity(shown, round(value * factor, 9), kind, match.start())
