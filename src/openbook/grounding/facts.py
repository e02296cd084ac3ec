"""What a text states that can be checked to the letter: quotes, identifiers, numbers, dates and names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from openbook.grounding.numbers import Date, Number, blank_out, dates_of, is_unit, numbers_of
from openbook.retrieval.names import FILLING_WORDS, STOP_WORDS
from openbook.retrieval.tokens import tokenize

# A claim that fails is held against seven places, each of which is read again with its neighbours.
# What is read of a text takes about 1 KB.
KEPT_TEXTS = 1024

# A quote of one letter, or of more than a paragraph, is a pair of stray marks.
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
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+"  # CamelCase and camelCase
    r"|[A-Z]+[A-Z0-9]*[0-9][A-Z0-9]*"  # SHA256
    r")(?!\w)"
)
# "e.g.", a sentence without a space behind its full stop, or a host is no dotted name of code.
_PROSE_DOTS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?|[a-z]{2,}\.[A-Z][a-z]+")

_CAPITAL = r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]"
_NAME_WORD = rf"(?:{_CAPITAL}\.(?=\s*{_CAPITAL})|{_CAPITAL}[\w&]*(?:[’'-]\w*)*)"
_NAME = re.compile(rf"(?<![\w`@#$/.-]){_NAME_WORD}(?:\s+(?:(?:of|the|de|la|von|van|der|du|di)\s+){{0,2}}{_NAME_WORD})*")
_SENTENCE_START = re.compile(r"(?:[.!?:;|]\s*|\n\s*|[-*#>•]\s+|[\"“”(\[]\s*)$")
_START_CHARS = 8
_LETTERS = re.compile(r"[^\W\d_]")

# They open sentences, or are capitalised by rule, and name nothing that a text must repeat.
_NO_NAMES = frozenset(
    "i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december none true false null ok yes no not never mr mrs ms dr prof note".split()
)

# Every noun is capitalised in German, so capitals say nothing there.
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|wird|mit|für|auf|den|von|zu|werden)\b")
_FEWEST_GERMAN_WORDS = 2

# Talk about the answer and its sources is no claim of the sources.
_ABOUT_THE_ANSWER = re.compile(
    r"\s*(?:here(?:['’]s| is| are)\b|let(?: me|['’]s)\b|i\b|to summari[sz]e\b|sorry\b|see (?:also|below)\b"
    r"|hope this\b|feel free\b|thank(?:s| you)\b|(?:that['’]s |that is )?a? ?(?:good|great) question\b"
    r"|(?:this|that|it|nothing(?: else)?) is (?:not )?(?:documented|specified|known|covered|clear)\W*$"
    r"|quoted from the sources\b|no source\b"
    r"|(?:the|these) (?:(?:provided|given|cited|available) )?(?:sources?|context|excerpts?)"
    r" (?:do|does|did|don|doesn|contain|say|describe|mention|provide|give|show|cover|above|below))",
    re.IGNORECASE,
)
# Fewer are a greeting or the title of a list; so are these, unless they end as a sentence of three words ends.
_FEWEST_WORDS_OF_A_CLAIM = 3
_FEWEST_WORDS_OF_A_SENTENCE = 2
_YES = re.compile(r"^\s*(?:yes|no|ok|okay|well|so),?\s+", re.IGNORECASE)
_SENTENCE = re.compile(r"\S+\s+\S+\s+.*[.。][*_\s]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be checked to the letter, each in order of appearance, without repeats."""

    quotes: tuple[str, ...] = ()
    """Text between quotation marks, without them."""
    identifiers: tuple[str, ...] = ()
    """Names of code, without ticks and call brackets; also what else stands in ticks."""
    numbers: tuple[Number, ...] = ()
    """Those inside of quotes, identifiers and dates left out."""
    dates: tuple[Date, ...] = ()
    names: tuple[str, ...] = ()
    """Runs of capitalised words that are not capitalised by the rules of the sentence."""

    def __bool__(self) -> bool:
        return bool(self.quotes or self.identifiers or self.numbers or self.dates or self.names)


@lru_cache(maxsize=KEPT_TEXTS)
def facts_of(text: str) -> Facts:
    """Read the facts of a text.

    Example:
        >>> facts = facts_of('Since 2 May 2021 `Client.get()` waits 30 s and says "too late" to Grace Hopper.')
        >>> facts.quotes, facts.identifiers, [n.value for n in facts.numbers], facts.names
        (('too late',), ('Client.get',), [30.0], ('Grace Hopper',))
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
    loose = "".join(f" {content}" for _, content in ticked if not _LETTERS.search(content))
    return Facts(
        quotes=tuple(dict.fromkeys(quote.strip() for _, quote in quotes)),
        identifiers=tuple(dict.fromkeys(identifiers)),
        numbers=numbers_of(plain + loose),
        dates=dates_of(plain),
        names=tuple(dict.fromkeys(_names(plain))),
    )


def has_facts(claim: str) -> bool:
    """Say whether a claim states anything that a source must carry.

    Questions, headings of lists and talk about the answer itself state nothing.

    Example:
        >>> has_facts("Every request is encrypted."), has_facts("Here is what the sources say:")
        (True, False)
    """
    claim = claim.strip()
    if not claim or claim.endswith((":", "?", "：", "？")) or _ABOUT_THE_ANSWER.match(claim):
        return False
    if len(content_words(claim)) >= _FEWEST_WORDS_OF_A_CLAIM or facts_of(claim):
        return True
    rest = _YES.sub("", claim, count=1)
    return _SENTENCE.fullmatch(rest) is not None and len(content_words(rest)) >= _FEWEST_WORDS_OF_A_SENTENCE


def without_quotes(text: str) -> str:
    """Blank out what stands between quotation marks, so that offsets stay."""
    return blank_out(text, [match.span() for match in _QUOTE.finditer(text)])


@lru_cache(maxsize=KEPT_TEXTS)
def content_words(text: str) -> tuple[str, ...]:
    """List the distinct tokens of a text, in order, without those of words that only join others.

    Example:
        >>> content_words("It is the list of all the users")
        ('list', 'user')
    """
    tokens = chain.from_iterable(map(tokenize, telling_words(text)))
    return tuple(dict.fromkeys(token for token in tokens if len(token) > 1 or token.isdigit()))


def telling_words(text: str) -> list[str]:
    """List the words of a text as written, without those that only join others or say that something is said."""
    return [word for word in re.findall(r"\w+", _OPENER.sub("", text)) if word.lower() not in _JOINING]


# An answer says in its own words that it says something.
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


def _names(text: str) -> list[str]:
    if len(_GERMAN.findall(text)) >= _FEWEST_GERMAN_WORDS:
        return []
    found = []
    for match in _NAME.finditer(text):
        words = match.group().split()
        # The first word of a sentence may be capitalised only for where it stands.
        is_doubtful = words[0].lower() in _JOINING or len(words) == 1
        if is_doubtful and _opens_sentence(text, match.start()) and not _is_name_anywhere(words[0]):
            words = words[1:]
        while words and (words[0].lower() in _NO_NAMES or words[0].islower()):
            words = words[1:]
        kept = [word for word in words if word.lower() not in _NO_NAMES]
        # "Hadrian's Wall" names two, and either may be wrong.
        parts = re.split(r"[’']s(?:\s+|$)", " ".join(kept))
        found += [name for name in parts if len(_LETTERS.findall(name)) > 1 and not is_unit(name)]
    return found


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - _START_CHARS) : start]
    return (start < _START_CHARS and not before.strip()) or _SENTENCE_START.search(before) is not None


def _is_name_anywhere(word: str) -> bool:
    return len(word) > 1 and any(letter.isupper() for letter in word[1:])
