"""Whether the facts of a claim stand in the cited text, and what does not, in words for people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain

from openbook.grounding.alternatives import alternative_disagrees
from openbook.grounding.assignments import value_disagrees
from openbook.grounding.facts import Facts, facts_of
from openbook.grounding.negation import denial_disagrees
from openbook.grounding.numbers import Date, Number, dates_of, numbers_of
from openbook.grounding.opposites import opposite_disagrees

# What Markdown, quotation marks and wrapping add to a quote.
_MARKUP = re.compile(r"[*_`\"'“”„«»‘’\\]+")
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\w))?")
_HEX = re.compile(r"\b0x[0-9a-fA-F]{1,16}\b")
_SEPARATOR = re.compile(r"\.|::|->|#")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLAIN = re.compile(r"[a-z]+")

# "America" stands for "American": names that begin with as many equal letters agree.
_NAME_STEM_CHARS = 5
_SHORTEST_NAME_WORD = 3

# Products of units are equal within this relative error.
_CLOSE = 1e-9

# A swap shows where a claim follows its source closely: this share of its words stands there in the
# same order, and the words on both sides of the swapped one are the same.
_LEAST_ALIGNED = 0.6
_LONGEST_SWAP_WORDS = 3
_ALIGNED_SENTENCES = 2
_ALIGNED_WORD = re.compile(r"\d+(?:[.,_]\d+)*(?:[eE][+-]?\d{1,2}(?!\w))?|[^\W\d][\w]*(?:(?:\.|::|->)[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a claim states to the letter, and what of it the cited text does not say."""

    missing: tuple[str, ...] = ()
    """Reasons for people. The cited text does not hold these facts."""
    contradicted: tuple[str, ...] = ()
    """Reasons for people. The cited text says something else."""
    missing_numbers: float = 0.0
    """Share of the claim's numbers and dates that are missing; 0 without any."""
    missing_names: float = 0.0
    """Share of the claim's names that are missing; 0 without any."""


def agreement(claim: str, sentences: Sequence[str], around: Sequence[str] = ()) -> Agreement:
    """Compare the facts of a claim with cited sentences.

    Args:
        claim: One claim, without marks.
        sentences: What is cited, the sentence that carries the claim best first.
        around: Names that hold of the cited place.

    Example:
        >>> agreement("`get` waits 30 seconds", ["get waits 60 seconds"]).contradicted
        ('the claim says 30 where the cited lines say 60',)
    """
    facts = facts_of(claim)
    text = _Text("\n".join(chain(sentences, around)))
    numbers = [number.text for number in facts.numbers if not _has_number(number, text)]
    dates = [date.text for date in facts.dates if not _has_date(date, text)]
    names = [name for name in facts.names if not text.has_name(name)]
    missing = [
        *(f'the quote "{quote}" is not in the cited lines' for quote in facts.quotes if not text.has_quote(quote)),
        *(
            f"`{name}` is not in the cited lines"
            for name in facts.identifiers
            if not text.has_identifier(name, as_written=f"`{name}" in claim)
        ),
        *(f"the number {number} is not in the cited lines" for number in numbers),
        *(f"the date {date} is not in the cited lines" for date in dates),
        *(f"the name {name} is not in the cited lines" for name in names),
    ]
    turned = (
        denial_disagrees(claim, sentences),
        opposite_disagrees(claim, sentences),
        alternative_disagrees(claim, sentences),
        value_disagrees(claim, sentences),
    )
    swapped = {
        (kind, f"the claim says {own} where the cited lines say {their}")
        for kind, own, their in swaps(claim, sentences, facts)
    }
    # People are called by several names, so that another name is no contradiction.
    missing += sorted(reason for kind, reason in swapped if kind == "name")
    contradicted = [*sorted(reason for kind, reason in swapped if kind != "name"), *filter(None, turned)]
    stated = len(facts.numbers) + len(facts.dates)
    return Agreement(
        tuple(missing),
        tuple(contradicted),
        (len(numbers) + len(dates)) / stated if stated else 0.0,
        len(names) / len(facts.names) if facts.names else 0.0,
    )


class _Text:
    """What is cited, in the forms that facts are looked up in; each made when first needed."""

    def __init__(self, text: str) -> None:
        self._text = unicodedata.normalize("NFC", text)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        return numbers_of(self._text, implied=True)

    @cached_property
    def values(self) -> frozenset[float]:
        """Every run of digits as a value, those inside of names and dates included."""
        digits = (_value(match.group()) for match in _DIGITS.finditer(self._text))
        return frozenset(chain(digits, (float(int(match.group(), 16)) for match in _HEX.finditer(self._text))))

    def has_below_zero(self, value: float) -> bool:
        """Say whether a number stands there with a sign, or some number with its sign as a word."""
        signed = any(_same(value, number.value) for number in self.numbers)
        return signed or not self.lower_words.isdisjoint({"minus", "negative"})

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        return dates_of(self._text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self._text))

    @cached_property
    def lower_words(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.words)

    @cached_property
    def name_stems(self) -> frozenset[str]:
        return frozenset(word[:_NAME_STEM_CHARS] for word in self.lower_words)

    @cached_property
    def initials(self) -> str:
        return "".join(word[0] for word in _WORD.findall(self._text))

    @cached_property
    def _plain(self) -> str:
        return _squash(self._text)

    def has_quote(self, quote: str) -> bool:
        """Look a quote up, its markup, case, white space, last mark and ellipses aside."""
        parts = [_squash(part).strip(" .,;:!?") for part in _GAP.split(quote)]
        return all(part in self._plain for part in parts)

    def has_identifier(self, name: str, *, as_written: bool) -> bool:
        """Look a name of code up: as it is, part by part where it is dotted, else in another spelling."""
        name = name.strip()
        if not _WORD.search(name):
            return True
        parts = [part for part in _SEPARATOR.split(name) if part]
        if len(parts) > 1 and all(_WORD.fullmatch(part) for part in parts):
            return all(self.has_identifier(part, as_written=as_written) for part in parts)
        words = _WORD.findall(name)
        if all(word in self.words or (_PLAIN.fullmatch(word) and word in self.lower_words) for word in words):
            return True
        pieces = _PART.findall(name)
        if len(pieces) > 1 and len(words) == 1 and not as_written:
            respelled = r"[\W_]?".join(map(re.escape, pieces))
            return re.search(rf"(?<![A-Za-z]){respelled}(?![a-z])", self._text, re.IGNORECASE) is not None
        return _squash(name) in self._plain and len(words) > 1

    def has_name(self, name: str) -> bool:
        """Look a name up: one telling word of it, or its initials, are enough."""
        words = [word for word in _WORD.findall(name) if word[0].isupper()]
        telling = [word for word in words if len(word) >= _SHORTEST_NAME_WORD] or words
        if any(self._has_name_word(word.lower()) for word in telling):
            return True
        is_acronym = len(name) > 1 and name.isupper()
        return is_acronym and name in self.initials

    def _has_name_word(self, word: str) -> bool:
        return word in self.lower_words or (
            len(word) >= _NAME_STEM_CHARS and word[:_NAME_STEM_CHARS] in self.name_stems
        )


def _value(digits: str) -> float:
    return float(re.sub(r"[,_]", "", digits))


def _squash(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).lower().split())


def _has_number(number: Number, text: _Text) -> bool:
    if number.kind == "version":
        return any(other.kind == "version" and other.text == number.text for other in text.numbers)
    if number.value < 0 and not text.has_below_zero(number.value):
        return False
    if not number.kind:
        return abs(number.value) in text.values or any(
            _same(abs(number.value), abs(other.value)) for other in text.numbers if other.kind in {"", "share"}
        )
    digits = _DIGITS.search(number.text)
    raw = _value(digits.group()) if digits else number.value
    alike = [other for other in text.numbers if other.kind == number.kind]
    if any(_same(abs(number.value), abs(other.value)) for other in alike):
        return True
    # `timeout_s = 30` says no unit that could be read.
    bare = {other.value for other in text.numbers if not other.kind} | (set() if alike else text.values)
    return any(_same(value, other) for value in (raw, number.value) for other in bare)


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= _CLOSE * max(abs(a), abs(b))


def _has_date(date: Date, text: _Text) -> bool:
    """Look a date up by its parts: the year may stand in another line than the day."""
    if date.year and float(date.year) not in text.values:
        return False
    if date.day:
        return any((other.month, other.day) == (date.month, date.day) for other in text.dates) or (
            date.month in {other.month for other in text.dates} and float(date.day) in text.values
        )
    return not date.month or date.month in {other.month for other in text.dates}


@dataclass(frozen=True, slots=True)
class _Aligned:
    word: str
    kind: str
    """`number`, `identifier`, `name`, or empty for a plain word."""
    key: object
    """What equals it: lower case, or the value of a number."""


def swaps(claim: str, sentences: Sequence[str], facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Yield kind, word of the claim and word of the source, where a claim follows its source but for one fact."""
    if not facts:
        return
    own = _aligned(claim, facts)
    said = {word.word.lower() for word in own}
    for sentence in sentences[:_ALIGNED_SENTENCES]:
        if (
            len(said.intersection(_ALIGNED_WORD.findall(sentence.lower())))
            < _LEAST_ALIGNED * len(said) - _LONGEST_SWAP_WORDS
        ):
            continue
        theirs = _aligned(sentence, facts_of(sentence))
        matcher = SequenceMatcher(None, [word.key for word in own], [word.key for word in theirs], autojunk=False)
        codes = matcher.get_opcodes()
        equal = sum(i2 - i1 for tag, i1, i2, _, _ in codes if tag == "equal")
        if equal < _LEAST_ALIGNED * len(own):
            continue
        for before, (tag, i1, i2, j1, j2), after in zip([None, *codes], codes, [*codes[1:], None], strict=False):
            is_short = tag == "replace" and max(i2 - i1, j2 - j1) <= _LONGEST_SWAP_WORDS
            if is_short and all(code is None or code[0] == "equal" for code in (before, after)):
                yield from _swapped(own[i1:i2], theirs[j1:j2])


def _swapped(own: Sequence[_Aligned], theirs: Sequence[_Aligned]) -> Iterator[tuple[str, str, str]]:
    for kind in ("number", "identifier", "name"):
        mine = [word.word for word in own if word.kind == kind]
        other = [word.word for word in theirs if word.kind == kind]
        if mine and other and not _are_alike(mine, other):
            yield kind, " ".join(mine), " ".join(other)


def _are_alike(mine: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether names begin alike, as America and American do."""
    stems = ({word[:_NAME_STEM_CHARS].lower() for word in words if word.isalpha()} for words in (mine, other))
    return not next(stems).isdisjoint(next(stems))


def _aligned(text: str, facts: Facts) -> list[_Aligned]:
    numbers = {number.start: number for number in facts.numbers}
    identifiers = {part for name in facts.identifiers for part in (name, *_ALIGNED_WORD.findall(name))}
    names = {word for name in facts.names for word in name.split()}
    found: list[_Aligned] = []
    for match in _ALIGNED_WORD.finditer(text):
        word = match.group()
        if word in identifiers:
            found.append(_Aligned(word, "identifier", word))
        elif match.start() in numbers or word[0].isdigit():
            number = numbers.get(match.start())
            found.append(_Aligned(word, "number", abs(number.value) if number else _key_of(word)))
        else:
            found.append(_Aligned(word, "name" if word in names and found else "", word.lower()))
    return found


def _key_of(digits: str) -> object:
    return _value(digits) if _DIGITS.fullmatch(digits) else digits
