"""The literal check of a claim: is it a verbatim quote, or are its facts missing from the cited text?

Each rule finds one kind of conflict, and is kept only because it pays on claims written by a strong model
(`python -m benchmarks.model_claims`). Word overlap is not a rule: it does not separate true paraphrases
from false ones. A claim that no rule decides stays `unverified`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from openbook.answers import Verdict
from openbook.grounding.alignment import exchanged_words, misattributed_words, replaced_word
from openbook.grounding.facts import Facts, content_words, facts_of, likeliest
from openbook.grounding.languages import differ, language_of
from openbook.grounding.lookup import (
    DIGITS,
    SearchedText,
    equal_values,
    in_order,
    results_in,
    value_of,
)
from openbook.grounding.numbers import blank_out, is_unspaced
from openbook.grounding.polarity import opposite_disagrees, polarity_disagrees
from openbook.grounding.protocol import CitedClaim
from openbook.grounding.sentences import is_code_line, sentences_of
from openbook.grounding.verbatim import stands_in, words_of

# A claim is one sentence and cites a few lines. Longer text is cut to bound the time per claim.
_MAX_CLAIM_CHARS = 2_000
_MAX_CITED_CHARS = 40_000
_MAX_SOURCE_CHARS = 200_000

# Most sentences to compare word by word, so that citing a whole page costs no more than citing a long section.
_MAX_SENTENCES = 30

# A minus sign without a mapping in a PDF becomes U+FFFD. It may be on either side of a number, or be a decimal point.
_PLAIN_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BESIDE_UNKNOWN = re.compile(
    rf"(?=\ufffd[ ^]?({_PLAIN_NUMBER.pattern}))|(?<![\d.,])({_PLAIN_NUMBER.pattern})(?=[ ^]?\ufffd)"
)

NOT_CHECKED = "nothing checked whether the cited lines say it"
"""The reason when no rule decided."""

UNCLEAR = "unclear"
"""The rule name when a number of the claim is not legible in the source, so that no judge can decide either."""

# Fewer words, such as "Yes.", occur anywhere.
_MIN_EXACT_WORDS = 3

_NUMBER_OF_NAME = re.compile(r"[A-Za-z][-/]$")

# Openings of a sentence that concludes from the one before: "So the default is 100 MB."
_CONCLUSION = re.compile(
    r"\W{0,4}(?:so|thus|hence|therefore|consequently|in effect|(?:this|that) means)\b", re.IGNORECASE
)

# A worked example such as "starts at 0, so `-v -v -v` gives 3".
_EXAMPLE_BEFORE = re.compile(
    r"\b(?:so|e\.g\.|for example|for instance|such as|say)\b[^.;]*`[^`]+`[^.;]*$", re.IGNORECASE
)
# Text seldom says its own line numbers.
_LINES_BEFORE = re.compile(
    r"\b(?:lines?|zeilen?|lignes?|l[ií]neas?)\s+(?:\d+\s*(?:[-\u2013,]|to|and|bis|und)\s*){0,9}$", re.IGNORECASE
)
_NUMBERED_LINE = re.compile(r"\b(?:line|zeile|ligne|l[ií]nea)s?n?\s+\d", re.IGNORECASE)
_ENUMERATION = re.compile(r"\d{1,2}[.)]\s+\S")

# Parts of code in backticks that are not names: string literals and arguments.
_STRINGS = re.compile(r"\"[^\"]*\"|'[^']*'")
_ARGUMENTS = re.compile(r"\([^()]*\)")
_NAME = re.compile(r"(?<![\w$])[A-Za-z_]\w+")
_TICKED = re.compile(r"(`{1,2})(?=[^`])([^`\n]{1,200}?)\1(?!`)")
# Without backticks, names that no prose has: `disk_min_size`, `maxDepth`, `JsonReaderException`. With two humps, it has
# `WebAssembly` and `JavaScript`; of true claims (`benchmarks.model_claims`), one more was flagged for these.
_BARE_NAME = re.compile(
    r"(?<![\w./\\@#$-])(?:(?:[A-Z][a-z0-9]+){3,}|[a-z]{3}[a-z0-9]*(?:[A-Z][a-z0-9]+)+|[A-Za-z]{3}[A-Za-z0-9]*_[A-Za-z]\w+)"
    r"(?![\w/\\@-]|\.\w)"
)
# Values, keywords and placeholders need not occur in the source.
_VALUES = frozenset(
    "none null nil undefined true false self this args kwargs foo bar foobar name value file path with for while"
    " if else elif try except finally catch throw raise return yield async await import from def class func function"
    " const let var new switch case match".split()
)
_MIN_NAME_CHARS = 3
# A header, a package or a property is one name: `X-Auth-Token`, `font-size`.
_HYPHENATED = re.compile(r"(?<![\w$./\[-])[A-Za-z]\w*(?:-[A-Za-z]\w*)+(?![\w-])")
# The receiver of a method call can have any name, such as `program` in `program.error`.
_RECEIVER = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.|->)(?=[A-Za-z_])")
_OPTION_OR_NAME = re.compile(r"(?<=--)[A-Za-z][\w-]+|(?<![\w-])(?:[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)")
# "There is no `remove`" is right if the name does not occur.
_DENIED = re.compile(
    r"\b(?:no|not|never|without|neither|nor|than|unlike|isn['’]t|aren['’]t|doesn['’]t|don['’]t|instead of)\b"
    r"[^.;:]{0,25}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"^\W{0,3}(?:\w+ ){0,3}?(?:(?:is|are|does|do|was|were)(?: not|n['’]t)|(?:is|are) (?:absent|missing|unknown))\b"
)

# The code in "something like `foobar.main`" is an example by the writer.
_EXAMPLE = re.compile(r"(?:\b(?:such as|like|e\.g\.|i\.e\.|for example|for instance|say),?|\()\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LiteralVerdict:
    """The verdict on one claim."""

    verdict: Verdict
    reason: str = ""
    """Explanation for users: the conflict, or why the claim is not confirmed. Empty for `exact` and `confirmed`."""
    rule: str = ""
    """Name of the rule in `RULES` that found a conflict, or `UNCLEAR`; else empty."""
    quote: str = ""
    """The deciding words of the cited text, if a judge named them."""


def check_literally(claim: CitedClaim) -> LiteralVerdict:
    """Return `exact`, `conflict` or `unverified`, based on words alone.

    Example:
        >>> check_literally(CitedClaim("`get` waits 30 seconds.", "get waits 60 seconds")).reason
        'the number 30 seconds is not in the cited lines'
        >>> check_literally(CitedClaim("It gives up after a minute.", "get waits 60 seconds")).verdict
        'unverified'
    """
    unclear = unclear_number(claim.claim, claim.cited_text)
    if is_verbatim(claim.claim, claim.cited_text):
        return LiteralVerdict("unverified", unclear, UNCLEAR) if unclear else LiteralVerdict("exact")
    read = ReadClaim(claim)
    for name, rule in RULES.items():
        if reason := rule(read):
            return LiteralVerdict("conflict", reason, name)
    if unclear:
        return LiteralVerdict("unverified", unclear, UNCLEAR)
    return LiteralVerdict("unverified", NOT_CHECKED)


def is_conclusion(claim: str) -> bool:
    """Return whether a claim begins as a conclusion from the one before it."""
    return _CONCLUSION.match(claim) is not None


def is_verbatim(claim: str, cited_text: str) -> bool:
    r"""Return whether a text states the words of a claim, ignoring markup, case, whitespace and final punctuation.

    Example:
        >>> is_verbatim("It `waits` for 3 s.", "By default, it waits\n    for 3 s, and ends")
        True
        >>> is_verbatim("It waits for 3 s.", "We doubt that it waits for 3 s.")
        False
    """
    words = words_of(claim)
    return _count_words(words) >= _MIN_EXACT_WORDS and stands_in(words, cited_text)


def _count_words(squashed: str) -> int:
    """Count the words of a text. In scripts without spaces, two characters count as one word."""
    return len(squashed.split()) + sum(map(is_unspaced, squashed)) // 2


def unclear_number(claim: str, cited_text: str) -> str:
    """Return why a number of a claim is uncertain: a character next to it is illegible in the source; else empty.

    Example:
        >>> unclear_number("It is 0.93.", "It is \ufffd0.93."), unclear_number("It is 5.", "It is 5, not \ufffd0.93.")
        ('the sign beside 0.93 cannot be read in the source', '')
    """
    if "\ufffd" not in cited_text:
        return ""
    said = set(_PLAIN_NUMBER.findall(claim))
    beside = (number for pair in _BESIDE_UNKNOWN.findall(cited_text) for number in pair)
    return next((f"the sign beside {number} cannot be read in the source" for number in beside if number in said), "")


class ReadClaim:
    """A claim and its cited text in the forms that rules compare, each computed lazily."""

    def __init__(self, claim: CitedClaim) -> None:
        self.claim: str = claim.claim[:_MAX_CLAIM_CHARS]
        self.cited: SearchedText = SearchedText(claim.cited_text[:_MAX_CITED_CHARS])
        self.premise: SearchedText = SearchedText(claim.premise[:_MAX_CITED_CHARS])
        self._claim = claim

    @cached_property
    def facts(self) -> Facts:
        return facts_of(self.claim)

    @cached_property
    def numbers_lines(self) -> bool:
        """Whether the cited text itself speaks of numbered lines."""
        return _NUMBERED_LINE.search(self.cited.text) is not None

    @cached_property
    def sentences(self) -> list[str]:
        """Sentences of the cited lines; of a whole page, those that share the most word beginnings with the claim."""
        every = sentences_of(self.cited.text.split("\n"))
        return [every[place] for place in likeliest(self.claim, every, _MAX_SENTENCES)]

    @cached_property
    def source(self) -> SearchedText | None:
        """The whole sources of the cited lines, with path and symbol; None if the caller gave none."""
        if not self._claim.sources:
            return None
        parts = [part for source in self._claim.sources for part in (source.path, source.symbol, source.text)]
        return SearchedText("\n".join((*parts, self.cited.text))[:_MAX_SOURCE_CHARS])

    @cached_property
    def is_foreign(self) -> bool:
        """Whether the claim and the cited text are in different languages.

        A claim too short to detect counts as foreign if it shares no word with a text that is not English.
        """
        if language_of(self.claim) or language_of(self.cited.text) in ("", "en"):
            return differ(self.claim, self.cited.text)
        words = {word for word in content_words(self.claim) if not word.isdigit()}
        return bool(words) and words.isdisjoint(content_words(self.cited.text))


def absent_quote(read: ReadClaim) -> str:
    """Find a quotation that is not in the cited lines; a single word must be missing from the whole source."""
    for quote in () if read.is_foreign else read.facts.quotes:
        if f"'{quote}'" in read.claim or f"‘{quote}’" in read.claim:
            continue  # writers put single quotes around words of their own
        where = read.cited if " " in quote.strip() else read.source
        if where is not None and not where.has_quote(quote):
            return f'the quote "{quote}" is not in the cited lines'
    return ""


def absent_number(read: ReadClaim) -> str:
    """Find a number in digits that is neither in the cited lines, in any unit, nor computed from them.

    A number that the claim repeats or computes itself is an example or a sum by the writer. That of a conclusion may
    stand where the claim before it points to.
    """
    if read.is_foreign:
        return ""
    own = list(results_in(read.claim))
    own += (value_of(match.group()) for match in DIGITS.finditer(read.claim))
    own = in_order(own)
    for number in read.facts.numbers:
        is_written = number.text.lstrip("+-−$€£~<> ")[:1].isdigit()  # noqa: RUF001
        is_part = _NUMBER_OF_NAME.search(read.claim[: number.start]) is not None  # UTF-8, HTTP/2
        is_order = _ENUMERATION.match(read.claim, number.start) is not None
        is_example = _EXAMPLE_BEFORE.search(read.claim[: number.start]) is not None
        is_line = _LINES_BEFORE.search(read.claim[: number.start]) is not None and not read.numbers_lines
        digits = DIGITS.search(number.text)
        is_own = digits is not None and len(equal_values(value_of(digits.group()), own)) > 1
        is_ours = is_part or is_order or is_own or is_example or is_line
        if is_written and not is_ours and not (read.cited.has_number(number) or read.premise.has_number(number)):
            return f"the number {number.text} is not in the cited lines"
    return ""


def absent_identifier(read: ReadClaim) -> str:
    """Find a code name, in backticks or spelled as only code is, that occurs nowhere in the cited sources."""
    if read.source is None:
        return ""
    ticked = [(match.span(), names_of_code(match[2])) for match in _TICKED.finditer(read.claim)]
    plain = blank_out(read.claim, [place for place, _ in ticked])
    bare = [(match.span(), names_of_code(match[0])) for match in _BARE_NAME.finditer(plain)]
    for (start, end), names in (*ticked, *bare):
        before = read.claim[:start]
        if _DENIED.search(before) or _EXAMPLE.search(before) or _DENIED_AFTER.match(read.claim[end:]):
            continue
        for name in names:
            if not read.source.has_name(name):
                return f"`{name}` is not in the cited lines"
    return ""


def names_of_code(code: str) -> list[str]:
    """Return the names in a piece of code, in order, without strings, arguments, receivers and placeholders.

    For a command, return its options and the words that can only be code names.

    Example:
        >>> names_of_code("cache.set(key, 'a', expire=60)"), names_of_code("make build --jobs N")
        (['set'], ['jobs'])
    """
    plain = _STRINGS.sub(" ", code)
    while (shorter := _ARGUMENTS.sub(" ", plain)) != plain:
        plain = shorter
    plain = _RECEIVER.sub("", plain)
    is_command = " " in plain.strip() or plain.lstrip().startswith("--")
    if is_command:
        names = _OPTION_OR_NAME.findall(plain)
    else:
        names = [*_HYPHENATED.findall(plain), *_NAME.findall(_HYPHENATED.sub(" ", plain))]
    return [name for name in names if name.lower() not in _VALUES and len(name) >= _MIN_NAME_CHARS]


def polarity(read: ReadClaim) -> str:
    """Find a statement that the cited lines make with opposite polarity: "is shared", "may not be shared"."""
    if read.is_foreign:
        return ""
    # Negation in code uses operators, which the polarity rules cannot read.
    prose = [sentence for sentence in read.sentences if not any(map(is_code_line, sentence.split("\n")))]
    return polarity_disagrees(read.claim, prose)


def opposite(read: ReadClaim) -> str:
    """Find an antonym in place of a word: "before" for "after"."""
    return "" if read.is_foreign else opposite_disagrees(read.claim, read.sentences)


def replaced(read: ReadClaim) -> str:
    """Find a word of a cited sentence that the claim replaces with another, in the same context."""
    return "" if read.is_foreign else replaced_word(read.claim, read.sentences)


def exchanged(read: ReadClaim) -> str:
    """Find two swapped words: "A on Unix and B on Windows" for "B on Unix, A on Windows"."""
    return "" if read.is_foreign else exchanged_words(read.claim, read.sentences)


def misattributed(read: ReadClaim) -> str:
    """Find words that the cited lines say about a different code name."""
    return "" if read.is_foreign else misattributed_words(read.claim, "\n".join(read.sentences))


RULES: Mapping[str, Callable[[ReadClaim], str]] = {
    "quote": absent_quote,
    "number": absent_number,
    "identifier": absent_identifier,
    "polarity": polarity,
    "opposite": opposite,
    "replaced": replaced,
    "exchanged": exchanged,
    "misattributed": misattributed,
}
"""The rules that find conflicts, by name, in the order of evaluation."""
