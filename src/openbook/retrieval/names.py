"""What a question asks for: its words, the identifiers in it, and the kind of question it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openbook.errors import QueryError
from openbook.retrieval.intents import Intent, intents_of
from openbook.retrieval.tokens import tokenize
from openbook.types import View

# A topic is named in a few words. Longest topic in public sets of code search: 12 words.
_TOPIC_WORDS = 14
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")  # the second of Chinese and Japanese, the third of Arabic

# A pasted log or file is no question; what it is about would drown. Longest question seen in
# public sets of questions on code: 1,900 characters.
MAX_QUERY_CHARS = 20_000

# Words of asking, not of what is asked. They are rare in code, where they would weigh most.
STOP_WORDS = frozenset(
    "a about all an and any are as at be by can could do does did for from get give has have how i if in into is it"
    " its me my of on one or our please show so tell than that the their them then there these this those to us use"
    " used uses using was we were what when where which who why will with work works would you your explain"
    " describe find".split()
)

# Words that only join others. Left out as well, unless the question has no others: `make all` is one.
FILLING_WORDS = frozenset(
    "also although always am among another anything because been being between both but cannot come each else ever"
    " every few gets getting goes going happen happens he her here him his however just let like made make makes making"
    " many may might more most much must need needs neither no nor now off often once only other others otherwise ought"
    " own per rather same she should since some something still such sure take takes they thing things though through"
    " thus together too toward towards upon very via want wants way ways well went whatever whether while whole whom"
    " whose yet".split()
)

# Of these, some are words of other languages as well.
_SHARED_WORDS = frozenset("a also am an as come do he in me no on or so want was will".split())
ENGLISH_WORDS = (STOP_WORDS | FILLING_WORDS) - _SHARED_WORDS

# Fewer words without one of them may be catchwords.
_SENTENCE_WORDS = 5

# What an apostrophe leaves behind is no word: "doesn't", "we'll", "the client's".
_CONTRACTION = re.compile(r"(?<=\w)(?:n['\u2019]t|['\u2019](?:s|m|d|ll|ve|re))\b", re.IGNORECASE)

# "Which lessons talk about ..." asks for places. The words up to "about" are not what is looked for.
_ASKS_FOR_PLACES = re.compile(
    r"\s*(?:in\s+)?(?:which|what|list|name|all)\b(?:\s+(?:the|of|all|these|my|our)\b)*\s+"
    r"(?:lessons?|courses?|files|documents|pages|chapters|sections|modules)\b"
    # "Which files are never indexed?" asks what they are, not where something stands.
    r"(?!\s+(?:is|are|was|were|can|may|must|should|will|has|have|had)\b)"
    r"(?:\s+(?:that|which|do|does|we|you|talks?|speaks?|tells?|explains?|discuss|covers?|mentions?|about|of|on)\b)*",
    re.IGNORECASE,
)

_QUOTED = re.compile(r"`([^`\s][^`]*)`")
_CALL = re.compile(r"\b([A-Za-z_][\w.]*)\(\)?")
_IDENTIFIER = re.compile(
    r"\b(?:[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+"  # dotted
    r"|[a-zA-Z]\w*_\w+|_\w+"  # snake_case
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+)\b"  # CamelCase and camelCase
)
# "The Error class" and "struct Error" spell a name that is a word as well.
_KIND = (
    r"(?:class|struct|enum|trait|interface|protocol|method|function|macro|constructor|decorator|type|object|mixin"
    r"|union|namespace|module)"
)
_NAME_BESIDE_KIND = re.compile(rf"\b[Tt]he (?P<before>[A-Z]\w*) {_KIND}\b|\b{_KIND} (?P<behind>[A-Z]\w*)")
_ONE_WORD = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)*")
_SEPARATOR = re.compile(r"\.|::|#|->")


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read."""

    text: str
    tokens: tuple[str, ...]
    """Distinct, in order, words of asking left out unless nothing else is there."""
    identifiers: tuple[str, ...]
    """Distinct unqualified names that the question spells as code, in order."""
    owners: tuple[tuple[str, ...], ...]
    """What each of these was said to stand in, outermost first: `("Client",)` of `Client.send`; mostly nothing."""
    is_symbol: bool
    """The whole question is one name."""
    asks_for_places: bool = False
    """It asks which lessons, files or the like: several places are the answer, not one passage."""
    in_other_language: bool = False
    """It is a sentence without a word that English sentences are made with, or not in Latin letters at all."""
    intents: frozenset[Intent] = frozenset()
    """What kind of answer it wants."""
    name: str = ""
    """All of the question, if it is one name as code, options or files have them: `message-delay-limit`."""

    @property
    def content_words(self) -> int:
        """Count the distinct tokens: how much the question itself says."""
        return len(self.tokens)


def read_query(text: str) -> Query:
    """Read a question.

    Raises:
        QueryError: It is blank, holds no word at all, or is longer than 20,000 characters.

    Example:
        >>> query = read_query("where is `Client.send_request` tested?")
        >>> query.identifiers, query.is_symbol
        (('send_request',), False)
    """
    text = text.strip()
    if not text:
        raise QueryError("the question is empty", hint="write what you want to know")
    if len(text) > MAX_QUERY_CHARS:
        raise QueryError(
            f"the question is {len(text):,} characters long; at most {MAX_QUERY_CHARS:,} are read",
            hint="ask about its most telling line",
        )
    places = _ASKS_FOR_PLACES.match(text)
    content = text[places.end() :] if places else text
    is_symbol = _ONE_WORD.fullmatch(text) is not None
    words = [word for word in re.findall(r"\w+", _CONTRACTION.sub("", content)) if word.lower() not in STOP_WORDS]
    told = [word for word in words if word.lower() not in FILLING_WORDS] or words
    # In `Client.get` nothing is a word of asking; "List all files" asks for nothing but its places.
    found = tokenize(text) if is_symbol else tokenize(" ".join(told)) or (tokenize(text) if places else [])
    tokens = tuple(dict.fromkeys(found))
    if not tokens:
        raise QueryError(f"the question {text[:40]!r} holds no telling word", hint="say what it is about, or name it")
    named: dict[str, tuple[str, ...]] = {}
    for *owners, name in map(name_parts, [text] if is_symbol else _identifiers(text)):
        named[name] = named.get(name) or tuple(owners)
    other = _is_in_other_language(text)
    name = text.strip("`\"'").removesuffix("()") if len(text.split()) == 1 else ""
    return Query(
        text,
        tokens,
        tuple(named),
        tuple(named.values()),
        is_symbol,
        places is not None,
        other,
        intents_of(text),
        name,
    )


def name_parts(name: str) -> list[str]:
    """Split a qualified name, as it is written in any language: `Client.send`, `Client::send`, `Client#send`.

    Example:
        >>> name_parts("http::Client.send()")
        ['http', 'Client', 'send']
    """
    return [part for part in _SEPARATOR.split(name.rstrip("()")) if part]


def stands_in(owners: Sequence[str], *places: str) -> bool:
    """Tell whether all of `owners` are words of `places`, in any case: of headings, of paths, of what encloses it.

    Example:
        >>> stands_in(["Client"], "class Client:", "http/api.py"), stands_in(["Server"], "class Client:")
        (True, False)
    """
    words = {word.lower() for place in places for word in re.findall(r"\w+", place)}
    return all(owner.lower() in words for owner in owners)


def _is_in_other_language(text: str) -> bool:
    words = re.findall(r"\w+", text.lower())
    is_sentence = len(words) >= _SENTENCE_WORDS or not any(word.isascii() for word in words)
    return is_sentence and ENGLISH_WORDS.isdisjoint(words)


def _identifiers(text: str) -> list[str]:
    found: list[tuple[int, str]] = []
    for pattern in (_QUOTED, _CALL, _IDENTIFIER):
        for match in pattern.finditer(text):
            name = match.group(match.lastindex or 0).rstrip("()")
            if _ONE_WORD.fullmatch(name):
                found.append((match.start(), name))
    found += [(match.start(), match["before"] or match["behind"]) for match in _NAME_BESIDE_KIND.finditer(text)]
    return [name for _, name in sorted(found)]


def choose_view(query: Query) -> View:
    """Tell whether a query names something that files are about, or asks something that passages answer.

    What ends in a question mark, or has more than 14 words, is answered by passages.

    Example:
        >>> choose_view(read_query("cookie handling")), choose_view(read_query("Who sends the cookies?"))
        ('files', 'passages')
    """
    is_question = query.text.endswith(_QUESTION_MARKS) or len(query.text.split()) > _TOPIC_WORDS
    return "passages" if is_question or query.asks_for_places else "files"
