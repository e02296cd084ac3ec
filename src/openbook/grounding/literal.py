"""What words alone can say of a claim: that its very words are cited, or that its facts are not there.

Each rule finds one kind of conflict and is kept only because it pays on claims that a strong model wrote
(`python -m benchmarks.model_claims`). Word overlap is no rule: it does not tell a true paraphrase from a
false one, so that what no rule decides stays `unverified`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

from openbook.generation import Verdict
from openbook.grounding.facts import Facts, content_words, facts_of
from openbook.grounding.languages import differ
from openbook.grounding.numbers import Number, factors_of, numbers_of
from openbook.grounding.polarity import opposite_disagrees, polarity_disagrees
from openbook.grounding.protocol import CitedClaim
from openbook.grounding.sentences import is_code_line, sentences_of
from openbook.retrieval.tokens import tokenize

# A claim is one sentence, and what it cites a few lines. What is longer is cut, so that none costs seconds.
_MAX_CLAIM_CHARS = 2_000
_MAX_CITED_CHARS = 40_000
_MAX_SOURCE_CHARS = 200_000

# Fewer words, such as "Yes.", stand anywhere.
_FEWEST_EXACT_WORDS = 3

# What Markdown, quotation marks and wrapping add to words.
_MARKUP = re.compile(r"[*_`\"'“”„«»‘’\\|]+")
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\w))?")
_HEX = re.compile(r"\b0x[0-9a-fA-F]{1,16}\b")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBER_OF_NAME = re.compile(r"[A-Za-z][-/]$")

# `60 * 60`, `2**22` and `1 << 20` say their results.
_ARITHMETIC = re.compile(r"\d[\d_]*(?:\.\d+)?(?:\s*(?:\*\*|\*|<<)\s*\d[\d_]*(?:\.\d+)?){1,4}")
_OPERATION = re.compile(r"(\*\*|\*|<<)\s*(\d[\d_]*(?:\.\d+)?)")
_MOST_DIGITS = 30
# `lease_s / 3` is a result of another number of the lines; with many numbers, of any.
_OPERAND = re.compile(r"[A-Za-z_\])]\s*([*/])\s*(\d+(?:\.\d+)?)")
_MOST_OPERANDS = 12
# "... starts at 0, so `-v -v -v` gives 3."
_EXAMPLE_BEFORE = re.compile(
    r"\b(?:so|e\.g\.|for example|for instance|such as|say)\b[^.;]*`[^`]+`[^.;]*$", re.IGNORECASE
)
_ENUMERATION = re.compile(r"\d{1,2}[.)]\s+\S")

# "About 14.8" for 14.826: as close as two digits are.
_CLOSE = 0.005

# In code between backticks: what is called or named, without literal texts and arguments.
_STRINGS = re.compile(r"\"[^\"]*\"|'[^']*'")
_ARGUMENTS = re.compile(r"\([^()]*\)")
_NAME = re.compile(r"(?<![\w$])[A-Za-z_]\w+")
# Values, keywords of languages and placeholders stand for themselves: code need not spell them.
_VALUES = frozenset(
    "none null nil undefined true false self this args kwargs foo bar foobar name value file path with for while"
    " if else elif try except finally catch throw raise return yield async await import from def class func function"
    " const let var new switch case match".split()
)
_SHORTEST_BEGINNING = 4
_SHORTEST_NAME = 3
# The variable that a method is called of has any name: `program.error`.
_RECEIVER = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.|->)(?=[A-Za-z_])")
_OPTION_OR_NAME = re.compile(r"(?<=--)[A-Za-z][\w-]+|(?<![\w-])(?:[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)")
# "There is no `remove`" is right where nothing is called so.
_DENIED = re.compile(
    r"\b(?:no|not|never|without|neither|nor|than|unlike|isn['’]t|aren['’]t|doesn['’]t|don['’]t|instead of)\b"
    r"[^.;:]{0,25}$",
    re.IGNORECASE,
)
_DENIED_BEHIND = re.compile(
    r"^\W{0,3}(?:\w+ ){0,3}?(?:(?:is|are|does|do|was|were)(?: not|n['’]t)|(?:is|are) (?:absent|missing|unknown))\b"
)

# "Something like `foobar.main`" is an example of the writer's own.
_EXAMPLE = re.compile(r"(?:\b(?:such as|like|e\.g\.|i\.e\.|for example|for instance|say),?|\()\s*$", re.IGNORECASE)

# A literal that replaces another stands between the same words: so many of them, on both sides.
_SAME_WORDS, _SAME_PLAIN_WORDS = 3, 6
_LONGEST_EXCHANGE = 6
_ARTICLES = frozenset("a an the".split())
# They point to other words, in whatever order these stand.
_POINTING = frozenset("former latter first second last above below".split())
_TOKEN = re.compile(r"`[^`\n]{1,80}`|\d+(?:[.,]\d+)*|[^\W\d]\w*(?:(?:\.|::|->)[^\W\d]\w*)*")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9]{2,}")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one claim."""

    verdict: Verdict
    reason: str = ""
    """For people: why it is in conflict, or what kept it from being confirmed. Empty for `exact` and `confirmed`."""
    rule: str = ""
    """Name of the rule in `RULES` that found a conflict; else empty."""
    quote: str = ""
    """Words of the cited text that decided, where a judge named them."""


def check_literally(claim: CitedClaim) -> Judgement:
    """Return `exact`, `conflict` or `unverified`, as far as words alone can say.

    Example:
        >>> check_literally(CitedClaim("`get` waits 30 seconds.", "get waits 60 seconds")).reason
        'the number 30 seconds is not in the cited lines'
        >>> check_literally(CitedClaim("It gives up after a minute.", "get waits 60 seconds")).verdict
        'unverified'
    """
    if is_verbatim(claim.claim, claim.cited_text):
        return Judgement("exact")
    read = _Read(claim)
    for name, rule in RULES.items():
        if reason := rule(read):
            return Judgement("conflict", reason, name)
    return Judgement("unverified", "nothing checked whether the cited lines say it")


def conflicts_of(claim: CitedClaim) -> dict[str, str]:
    """Return the reasons of all rules that find a conflict, by name of the rule."""
    read = _Read(claim)
    found = {name: rule(read) for name, rule in RULES.items()}
    return {name: reason for name, reason in found.items() if reason}


def is_verbatim(claim: str, cited_text: str) -> bool:
    r"""Return whether the words of a claim stand in a text, markup, case, white space and the last mark aside.

    Example:
        >>> is_verbatim("It `waits` for 3 s.", "... so it waits\n    for 3 s, and ends")
        True
    """
    words = squash(claim).strip(" .,;:!?-•")
    return (
        len(words.split()) >= _FEWEST_EXACT_WORDS
        and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", squash(cited_text)) is not None
    )


def squash(text: str) -> str:
    """Return a text in lower case, without marks of emphasis and quotation, blanks as one."""
    return " ".join(_MARKUP.sub("", unicodedata.normalize("NFC", text)).lower().split())


class _Read:
    """A claim and what it cites, in the forms that rules compare; each made when first needed."""

    def __init__(self, claim: CitedClaim) -> None:
        self.claim = claim.claim[:_MAX_CLAIM_CHARS]
        self.cited = Text(claim.cited_text[:_MAX_CITED_CHARS])
        self._claim = claim

    @cached_property
    def facts(self) -> Facts:
        return facts_of(self.claim)

    @cached_property
    def sentences(self) -> list[str]:
        return sentences_of(self.cited.text.split("\n"))

    @cached_property
    def source(self) -> Text | None:
        """All that was shown around the cited lines, with its path and symbol; None where nobody gave it."""
        if not self._claim.sources:
            return None
        parts = [part for source in self._claim.sources for part in (source.path, source.symbol, source.text)]
        return Text("\n".join((*parts, self.cited.text))[:_MAX_SOURCE_CHARS])

    @cached_property
    def is_foreign(self) -> bool:
        """Whether the claim and the cited text are written in different languages."""
        return differ(self.claim, self.cited.text)


class Text:
    """A text that facts are looked up in."""

    def __init__(self, text: str) -> None:
        self.text = unicodedata.normalize("NFC", text)

    @cached_property
    def _squashed(self) -> str:
        return squash(self.text)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        return numbers_of(self.text, implied=True)

    @cached_property
    def values(self) -> frozenset[float]:
        """Every run of digits as a value, those inside of names included, and what is computed from them."""
        digits = (_value(match.group()) for match in _DIGITS.finditer(self.text))
        hexadecimal = (float(int(match.group(), 16)) for match in _HEX.finditer(self.text))
        found = frozenset(chain(digits, hexadecimal, _computed(self.text)))
        named = (_OPERAND.finditer(self.text)) if len(found) <= _MOST_OPERANDS else ()
        results = (
            value / operand if match[1] == "/" else value * operand
            for match in named
            for operand in [_value(match[2])]
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

    def has_number(self, number: Number) -> bool:
        """Return whether a number stands here, in any unit and spelling."""
        if number.kind == "version":
            return any(other.kind == "version" and other.text == number.text for other in self.numbers)
        value = abs(number.value)
        if any(_same(value, abs(other.value)) for other in self.numbers if other.kind in (number.kind, "")):
            return True
        # `timeout_s = 30` and `2**22` say no unit that could be read.
        digits = _DIGITS.search(number.text)
        raw = _value(digits.group()) if digits else value
        has_unit_here = any(other.kind == number.kind for other in self.numbers) if number.kind else False
        candidates = (value,) if has_unit_here else (value, raw)
        factors = (1.0, *(1 / factor for factor in factors_of(number.kind, self.text)))
        return any(_same(one * factor, other) for one in candidates for factor in factors for other in self.values)


def _value(digits: str) -> float:
    return float(re.sub(r"[,_]", "", digits))


def _same(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= _CLOSE * min(abs(a), abs(b))


def _computed(text: str) -> Iterator[float]:
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
    match = _DIGITS.match(expression.replace("_", ""))
    return match.group().replace(",", "") if match else "0"


def absent_quote(read: _Read) -> str:
    """Find a quotation that is not in the cited lines; a single word has to be missing from the whole source."""
    for quote in () if read.is_foreign else read.facts.quotes:
        if f"'{quote}'" in read.claim or f"‘{quote}’" in read.claim:
            continue  # single quotation marks are put around words of the writer's own
        where = read.cited if " " in quote.strip() else read.source
        if where is not None and not where.has_quote(quote):
            return f'the quote "{quote}" is not in the cited lines'
    return ""


def absent_number(read: _Read) -> str:
    """Find a number in digits that is not in the cited lines, in any unit, nor computed from what is there.

    What a claim says twice, or works out itself, is an example or a sum of its own.
    """
    if read.is_foreign:
        return ""
    own = list(_computed(read.claim))
    own += (_value(match.group()) for match in _DIGITS.finditer(read.claim))
    for number in read.facts.numbers:
        is_written = number.text.lstrip("+-−$€£~<> ")[:1].isdigit()  # noqa: RUF001
        is_part = _NUMBER_OF_NAME.search(read.claim[: number.start]) is not None  # UTF-8, HTTP/2
        is_order = _ENUMERATION.match(read.claim, number.start) is not None
        is_example = _EXAMPLE_BEFORE.search(read.claim[: number.start]) is not None
        digits = _DIGITS.search(number.text)
        is_own = digits is not None and sum(_same(_value(digits.group()), value) for value in own) > 1
        if is_written and not (is_part or is_order or is_own or is_example) and not read.cited.has_number(number):
            return f"the number {number.text} is not in the cited lines"
    return ""


def absent_identifier(read: _Read) -> str:
    """Find a name of code, written between backticks, that is nowhere in the sources that are cited."""
    if read.source is None:
        return ""
    for match in re.finditer(r"(`{1,2})(?=[^`])([^`\n]{1,200}?)\1(?!`)", read.claim):
        before = read.claim[: match.start()]
        if _DENIED.search(before) or _EXAMPLE.search(before) or _DENIED_BEHIND.match(read.claim[match.end() :]):
            continue
        for name in names_of_code(match[2]):
            if not read.source.has_name(name):
                return f"`{name}` is not in the cited source"
    return ""


def names_of_code(code: str) -> list[str]:
    """Return what a piece of code names, in order: not its literal texts, arguments, receivers and placeholders.

    Of a command, options and what can only be a name of code.

    Example:
        >>> names_of_code("cache.set(key, 'a', expire=60)"), names_of_code("make build --jobs N")
        (['set'], ['jobs'])
    """
    plain = _STRINGS.sub(" ", code)
    while (shorter := _ARGUMENTS.sub(" ", plain)) != plain:
        plain = shorter
    plain = _RECEIVER.sub("", plain)
    names = _OPTION_OR_NAME.findall(plain) if " " in plain.strip() else _NAME.findall(plain)
    return [name for name in names if name.lower() not in _VALUES and len(name) >= _SHORTEST_NAME]


def polarity(read: _Read) -> str:
    """Find a statement that the cited lines make with the opposite sign: "is shared", "may not be shared"."""
    return (
        ""
        if read.is_foreign
        else polarity_disagrees(read.claim, [one for one in read.sentences if not is_code_line(one)])
    )


def opposite(read: _Read) -> str:
    """Find a word in the place of its opposite: "before" for "after"."""
    return "" if read.is_foreign else opposite_disagrees(read.claim, read.sentences)


def replaced(read: _Read) -> str:
    """Find a word of a cited sentence that another one has taken the place of, the words around it the same.

    A plain word has synonyms, so that many more words around it have to be the same.
    """
    if read.is_foreign:
        return ""
    own = _tokens(read.claim)
    cited = [_tokens(sentence) for sentence in read.sentences]
    said = {word for sentence in cited for word, _ in sentence}
    mine = {word for word, _ in own}
    for place, (word, kind) in enumerate(own):
        if word in said or (not kind and not _is_telling(word)):
            continue
        for theirs in cited:
            for other, (instead, their_kind) in enumerate(theirs):
                if their_kind != kind or instead in mine or _is_part(word, instead):
                    continue
                if not kind and not _is_telling(instead):
                    continue
                sides = _shared_around(own, place, theirs, other)
                if sum(sides) >= (_SAME_WORDS if kind else _SAME_PLAIN_WORDS) and min(sides) >= (1 if kind else 2):
                    return f"the claim says {word} where the cited lines say {instead}"
    return ""


def _is_part(word: str, instead: str) -> bool:
    """Return whether the words of one are among those of the other: `restore` and `restic restore`."""
    one, other = set(word.split()), set(instead.split())
    return one <= other or other <= one


def _is_telling(word: str) -> bool:
    return bool(content_words(word)) and word.isalpha() and word not in _POINTING


def exchanged(read: _Read) -> str:
    """Find two words that have changed sides: "A on Unix and B on Windows" for "B on Unix, A on Windows"."""
    if read.is_foreign:
        return ""
    own = _tokens(read.claim)
    literals = _literals_before(own)
    for sentence in read.sentences:
        tokens = _tokens(sentence)
        theirs = _literals_before(tokens)
        for a, b in combinations(sorted(literals.keys() & theirs.keys()), 2):
            if literals[a] != literals[b] and literals[a] == theirs[b] and literals[b] == theirs[a]:
                return f"the claim exchanges {a} and {b}"
        if pair := _exchanged_words(own, tokens):
            return f"the claim exchanges {pair[0]} and {pair[1]}"
    return ""


def _exchanged_words(own: Sequence[tuple[str, str]], theirs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Find "threads, not processes" where the other text has "processes, not threads", other words around the same."""
    places = {word: place for place, word in enumerate(theirs)}
    for first, word in enumerate(own):
        for last in range(first + 2, min(first + _LONGEST_EXCHANGE, len(own))):
            size, at = last - first, places.get(own[last], -1)
            if at < 0 or word == own[last] or not (_is_telling(word[0]) and _is_telling(own[last][0])):
                continue
            if list(theirs[at + 1 : at + size + 1]) != [*own[first + 1 : last], word]:
                continue
            before, _ = _shared_around(own, first, theirs, at)
            _, behind = _shared_around(own, last, theirs, at + size)
            if before + behind + size - 1 >= _SAME_WORDS:
                return word[0], own[last][0]
    return None


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return words, articles left out, each with its kind: `code`, `number`, `acronym`, or empty for a plain word."""
    found = []
    for match in _TOKEN.finditer(text):
        word = match.group()
        kind = (
            "code"
            if word[0] == "`"
            else "number"
            if word[0].isdigit()
            else "acronym"
            if _ACRONYM.fullmatch(word)
            else ""
        )
        word = word.strip("`") if kind else _stem(word)
        if word not in _ARTICLES:
            found.append((word, kind))
    return found


def _stem(word: str) -> str:
    stems = tokenize(word)
    return stems[-1] if stems else word.lower()


def _shared_around(
    own: Sequence[tuple[str, str]], place: int, theirs: Sequence[tuple[str, str]], other: int
) -> tuple[int, int]:
    """Count the equal words right before and right behind two places."""
    before = behind = 0
    while before < min(place, other) and own[place - before - 1] == theirs[other - before - 1]:
        before += 1
    while (
        behind < min(len(own) - place, len(theirs) - other) - 1
        and own[place + behind + 1] == theirs[other + behind + 1]
    ):
        behind += 1
    return before, behind


def _literals_before(tokens: Sequence[tuple[str, str]]) -> Mapping[str, tuple[str, str]]:
    """Return the literals of a text that stand there once, each with the two words behind it."""
    words = [word for word, _ in tokens]
    return {
        word: (words[place + 1], words[place + 2])
        for place, (word, kind) in enumerate(tokens[:-2])
        if kind and words.count(word) == 1
    }


RULES: Mapping[str, Callable[[_Read], str]] = {
    "quote": absent_quote,
    "number": absent_number,
    "identifier": absent_identifier,
    "polarity": polarity,
    "opposite": opposite,
    "replaced": replaced,
    "exchanged": exchanged,
}
"""The rules that find conflicts, by name, in the order in which they are asked."""
