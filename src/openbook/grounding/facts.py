"""Extracts facts that can be checked literally: quotes, identifiers and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from openbook.grounding.numbers import Quantity, blank_out, is_unit, numbers_of
from openbook.questions.words import FILLING_WORDS, STOP_WORDS
from openbook.tokens import tokenize

# Cached texts per parser, about 1 KB each.
KEPT_TEXTS = 1024

_PREFIX_CHARS = 5

# A quote of a single letter, or longer than a paragraph, is a pair of unrelated quotation marks.
_QUOTE = re.compile(
    r"(?<![\w`])\"(?=\S)([^\"\n]{2,400}?)(?<=\S)\"(?!\w)|“([^”\n]{2,400})”|„([^“”\n]{2,400})[“”]|«([^»\n]{2,400})»"
    r"|「([^」\n]{1,400})」|(?<!\w)‘([^’\n]{2,400})’(?!\w)|(?<![\w'])'(?=\S)([^'\n]{2,80}?)(?<=\S)'(?!\w)"
)
_TICKED = re.compile(r"(`{1,2})(?=[^`])([^`\n]{1,200}?)\1(?!`)")
_BARE = re.compile(
    r"(?<![\w./-])(?:"
    r"--?[a-zA-Z][\w-]*(?<!-)(?=[\s=,.;:)]|$)"  # an option
    r"|[A-Za-z_][\w]*(?:(?:\.|::|->)[A-Za-z_]\w*)+(?:\(\))?"  # dotted
    r"|[A-Za-z_]\w*\(\)"  # a call
    r"|_*[A-Za-z][A-Za-z0-9]*_\w+|_\w+"  # snake_case
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*+(?:[A-Z][a-z0-9]*+)+"  # CamelCase and camelCase
    r"|[A-Z]++[0-9][A-Z0-9]*"  # SHA256
    r")(?!\w)"
)
# "e.g.", a missing space after a full stop, and host names are not dotted names of code.
_PROSE_DOTS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?|[a-z]{2,}\.[A-Z][a-z]+")

_LETTERS = re.compile(r"[^\W\d_]")

# Statements about the answer and its sources are not claims that a source could support.
_ABOUT_THE_ANSWER = re.compile(
    r"\s*(?:here(?:['’]s| is| are)\b|let(?: me|['’]s)\b|i\b|sorry\b|see (?:also|below)\b"
    r"|hope this\b|feel free\b|thank(?:s| you)\b|(?:that['’]s |that is )?a? ?(?:good|great) question\b"
    r"|(?:this|that|it|nothing(?: else)?) is (?:not )?(?:documented|specified|known|covered|clear)\W*$"
    r"|quoted from the sources\b|no source\b)"
    # "The sources that I was shown do not cover it", "is not among the sources shown".
    r"|.{0,120}\b(?:sources?|(?:given|provided|shown) (?:context|documentation)|excerpts?|snippets?|quellen"
    r"|les sources|las fuentes)\b.{0,60}"
    r"\b(?:do not|does not|did not|don['’]t|doesn['’]t|didn['’]t|no|nothing|not|never|nichts|kein\w*|nicht|ne|no)\b"
    r"|.{0,120}\b(?:not|isn['’]t|aren['’]t|nothing|nowhere)\b.{0,40}\b(?:sources?|excerpts?|quellen)\b",
    re.IGNORECASE | re.DOTALL,
)
# A summary repeats claims that were cited above it.
_SUMMARY = re.compile(
    r"\s*(?:in (?:short|summary|brief|other words|essence)|to (?:sum up|summari[sz]e)|put (?:simply|differently)"
    r"|overall|all in all|kurz(?:um| gesagt)|zusammengefasst|insgesamt|en (?:résumé|bref|resumen)|in breve)\b",
    re.IGNORECASE,
)
# Shorter text is a greeting or a list heading. Three words count only if they end like a sentence.
_MIN_CLAIM_WORDS = 3
_MIN_SENTENCE_WORDS = 2
_INTERJECTION = re.compile(r"^\s*(?:yes|no|ok|okay|well|so),?\s+", re.IGNORECASE)
_SENTENCE = re.compile(r"\S++\s++\S++\s.*[.。][*_\s]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that can be checked literally, in order of appearance, without repeats."""

    quotes: tuple[str, ...] = ()
    """Quoted text, without the quotation marks."""
    identifiers: tuple[str, ...] = ()
    """Code names without backticks and call parentheses, and everything else in backticks."""
    numbers: tuple[Quantity, ...] = ()
    """Numbers outside of quotes and identifiers."""

    def __bool__(self) -> bool:
        return bool(self.quotes or self.identifiers or self.numbers)


@lru_cache(maxsize=KEPT_TEXTS)
def facts_of(text: str) -> Facts:
    """Extract the facts of a text.

    Example:
        >>> facts = facts_of('`Client.get()` waits 30 s and says "too late".')
        >>> facts.quotes, facts.identifiers, [number.value for number in facts.numbers]
        (('too late',), ('Client.get',), [30.0])
    """
    ticked = [(match.span(), match.group(2).strip()) for match in _TICKED.finditer(text)]
    plain = blank_out(text, [place for place, _ in ticked])
    quotes = [(match.span(), next(filter(None, match.groups()))) for match in _QUOTE.finditer(plain)]
    plain = blank_out(plain, [place for place, _ in quotes])
    bare = [
        (match.span(), match.group())
        for match in _BARE.finditer(plain)
        if not _PROSE_DOTS.fullmatch(match.group()) and not is_unit(match.group())
    ]
    identifiers = [_uncalled(name) for _, name in sorted(chain(ticked, bare)) if _LETTERS.search(name)]
    plain = blank_out(plain, [place for place, _ in bare])
    return Facts(
        quotes=tuple(dict.fromkeys(quote.strip() for _, quote in quotes)),
        identifiers=tuple(dict.fromkeys(identifiers)),
        numbers=numbers_of(plain),
    )


def has_facts(claim: str) -> bool:
    """Return whether a claim states anything that needs a citation.

    Questions, list headings, summaries, and statements about the answer or its sources do not.

    Example:
        >>> has_facts("Every request is encrypted."), has_facts("Here is what the sources say:")
        (True, False)
    """
    claim = claim.strip()
    if not claim or claim.endswith((":", "?", "：", "？")) or _ABOUT_THE_ANSWER.match(claim) or _SUMMARY.match(claim):
        return False
    if len(content_words(claim)) >= _MIN_CLAIM_WORDS or facts_of(claim):
        return True
    rest = _INTERJECTION.sub("", claim, count=1)
    return _SENTENCE.fullmatch(rest) is not None and len(content_words(rest)) >= _MIN_SENTENCE_WORDS


@lru_cache(maxsize=KEPT_TEXTS)
def content_words(text: str) -> tuple[str, ...]:
    """List the distinct tokens of a text, in order, without stop words.

    Example:
        >>> content_words("It is the list of all the users")
        ('list', 'user')
    """
    tokens = chain.from_iterable(map(tokenize, salient_words(text)))
    return tuple(dict.fromkeys(token for token in tokens if len(token) > 1 or token.isdigit()))


def salient_words(text: str) -> list[str]:
    """List the words of a text as written, without stop words and reporting verbs."""
    return [word for word in re.findall(r"\w+", _OPENER.sub("", text)) if word.lower() not in _JOINING]


def likeliest(claim: str, texts: Sequence[str], limit: int) -> list[int]:
    """Select the texts that share the most words with a claim. Words with the same beginning are the same.

    Returns:
        At most `limit` indices, in ascending order. Ties are decided by the lower index.

    Example:
        >>> likeliest("Parcels wait.", ["Ships sail.", "A parcel waits.", "It waits."], 1)
        [1]
    """
    if len(texts) <= limit:
        return list(range(len(texts)))
    words = {word[:_PREFIX_CHARS].lower() for word in salient_words(claim)}
    shared = [sum(map(text.__contains__, words)) for text in map(str.lower, texts)]
    return sorted(sorted(range(len(texts)), key=lambda number: (-shared[number], number))[:limit])


# Reporting verbs: answers use them in their own words.
_REPORTING = frozenset(
    "say says said saying state states stated mention mentions mentioned describes described".split()
)
_OPENER = re.compile(
    r"^\s*(?:in (?:short|summary|this case|other words|general|particular|fact|addition)|here|overall|specifically"
    r"|as (?:described|noted|shown|stated)|note that|for (?:example|instance)),?\s",
    re.IGNORECASE,
)
_JOINING = (
    _REPORTING
    | STOP_WORDS - {"use", "uses", "used", "using", "work", "works", "find", "show", "give", "get"}
    | FILLING_WORDS
)


def _uncalled(name: str) -> str:
    return re.sub(r"\([^()]*\)$", "", name) or name
