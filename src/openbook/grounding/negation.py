"""Which words of a text are denied, and whether a claim denies what the cited text affirms, or the reverse.

A "not" counts for the words behind it in its own clause, never for the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from openbook.grounding.facts import KEPT_TEXTS, without_quotes
from openbook.grounding.sentences import words_of_signs
from openbook.retrieval.tokens import tokenize

# A denial reaches this many telling words: the predicate and what it is said of.
_REACH_WORDS = 3

# Sentences that carry a claim; what the others deny is of something else.
_READ_SENTENCES = 3

# Fewer words of a clause in a claim mean that the claim says something else.
_LEAST_SHARED = 0.5

# In this distance a word such as "missing" may say in its own way what the cited text denies.
_NEAR_WORDS = 4

_CUES = frozenset(
    "not never no none nothing nobody nowhere neither nor without unless except excluding cannot unable"
    " lack lacks lacking"
    " nicht nie niemals ohne weder außer nichts niemand kein keine keinen keiner keinem keines"
    # Of these languages only what no other of them has as another word, as English has "sans" and "sin".
    " pas jamais aucun aucune rien nunca ningún ninguna ninguno não nenhum nenhuma nessun nessuna nessuno".split()
)
# What they deny may stand on either side: "no request is retried", "requests are not retried".
_DETERMINERS = frozenset(
    "no none neither nor nothing nobody nicht kein keine keinen keiner keinem keines pas jamais nunca não".split()
)
# German and French deny the verb before them, or the word behind them.
_BEHIND_VERBS = frozenset("nicht nie niemals pas jamais".split())

# Words that deny without being a negation. They excuse one that is not repeated; alone they prove nothing.
_DENYING = re.compile(
    r"miss(?:ing|es)?|absent|absence|lack[a-z]*|fail[a-z]*|refus[a-z]*|reject[a-z]*|den(?:y|ies|ied)|ignor[a-z]*|skip[a-z]*"
    r"|omit[a-z]*|prevent[a-z]*|avoid[a-z]*|forbid[a-z]*|drop[a-z]*|lost|lose[a-z]*|empty|instead|only|rather|few|little"
    r"|hardly|rarely|seldom|barely|zero|less|illegal|stop[a-z]*|ceas[a-z]*|neglect[a-z]*|contrary|exclud[a-z]*"
)
_SETTING = frozenset({"set", "default", "assign"})
_NO_VALUE = re.compile(r"\b(?:None|null|nil|undefined)\b")
_DENYING_START = re.compile(r"(?:un|in|im|ir|dis|non|mis)(?=\w{3})")

# "not only ... but also" denies nothing, nor does "whether or not", "No. 7" or "no matter".
_NO_DENIAL = re.compile(
    r"\b(?:no|not|never) (?:more|less|fewer|(?:great|long|larg|small|short|high|low|lat|earli)er) than\b(?= \S*\d)"
    r"|\b(?:not|never) exceed(?:s|ing)?\b(?=(?: \w+)? \S*\d)"
    r"|\bnot (?:only|just|merely|simply)\b|\bwhether or not\b|\bno\.? ?(?=\d)|\bno (?:matter|doubt)\b"
    r"|\bif not\b(?= (?:the|more|most)\b)|\bnone ?the ?less\b",
    re.IGNORECASE,
)

# Denied words and their negation stand in one clause. A line end of code is a border as well.
_BORDER = re.compile(
    r"[,.;:!?()\[\]{}—–\n]+(?=\s|$)|[()\n;—]|\s-{1,2}\s"
    r"|\b(?:but|because|which|while|whereas|although|though|until|so|then|if|when|where|unless|weil|aber|wenn|dass|sondern)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+(?:[’'](?:t|s|re|ve|ll|d|m)\b)?")
_CONTRACTED = re.compile(r"(?:\w*n[’']t|cannot|can[’']t|(?:do|does|is|wo)nt)", re.IGNORECASE)

_CUE_BEFORE = re.compile(r"fail(?:s|ed|ing)?(?= to\b)|(?:hard|bare|scarce)ly(?= (?:ever|any)\b)", re.IGNORECASE)

_ANY_CUE = re.compile(
    rf"\b(?:{'|'.join(sorted(_CUES))}|{_CUE_BEFORE.pattern}|(?:do|does|is|wo)nt)\b|n[’']t\b|[不没未无別别]",
    re.IGNORECASE,
)

# They stand between a negation and what it denies, or carry no meaning of their own.
_LIGHT = frozenset(
    "a an the be been being is are was were am do does did done to of it its that this these those there any anything"
    " all ever yet have has had having will would can could may might must shall should need needs get gets got even"
    " also just as at in on for by with from into or and other than then their his her they he she you we i one longer"
    " der die das den dem des ein eine einen einem einer ist sind war wird werden wurde worden hat haben zu und oder"
    " mehr mit im am auf von für sich es er sie t s"
    " la le les un une des du et est sont ne n se au aux el los las una um uma il gli di".split()
)

# Chinese denies with a character before the word. Those in the look-ahead only look like it.
_CHINESE = re.compile(
    r"(?:不(?![过仅但同断管论])|没有?|未(?![来])|无(?![线论限数疑])|別|别(?![人的]))(?:[会能可以有是再要应该]{0,2}?)"
    r"(?P<denied>[\u4e00-\u9fff]{2})"
)


@dataclass(frozen=True, slots=True)
class Denial:
    """A negation, what it denies, and what else its clause says."""

    cue: str
    """Lower case, such as `doesn't`."""
    text: str
    """The cue and the first word that it denies, for people."""
    denied: tuple[str, ...]
    """At most three tokens: the nearest first."""
    before: str
    """Token of the telling word before the cue; empty at the start of a clause."""
    clause: frozenset[str]
    """Tokens of the clause, those of light words left out."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    word: str
    token: str
    """Empty for a light word and for a cue."""
    is_cue: bool


def denials_of(text: str) -> tuple[Denial, ...]:
    """List the negations of a text, in order: English, the basics of German, Chinese and four Romance languages.

    Example:
        >>> [(denial.cue, denial.denied) for denial in denials_of("It does not retry. It is closed without waiting.")]
        [('not', ('retri',)), ('without', ('wait',))]
    """
    return tuple(denial for _, denials in _read(text) for denial in denials)


@lru_cache(maxsize=KEPT_TEXTS)
def _read(text: str) -> tuple[tuple[frozenset[str], tuple[Denial, ...]], ...]:
    """Give the tokens of each clause, and what it denies."""
    plain = _NO_DENIAL.sub(lambda match: " " * len(match.group()), text)
    found = [
        (frozenset(spoken.token for spoken in clause if spoken.token), tuple(_denials_in(clause)))
        for clause in map(_spoken, _clauses(plain))
    ]
    for match in _CHINESE.finditer(text):
        denied = match["denied"]
        denial = Denial(match.group()[: -len(denied)], match.group(), (denied,), "", frozenset({denied}))
        found.append((denial.clause, (denial,)))
    return tuple(found)


def tokens_of(text: str) -> frozenset[str]:
    """Give the tokens that words of a text may be denied as, light words left out."""
    words = (match.group() for match in _WORD.finditer(text) if match.group().lower() not in _LIGHT)
    return frozenset(chain.from_iterable(map(tokenize, words)))


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for match in _BORDER.finditer(text):
        yield text[start : match.start()]
        # A conjunction opens the clause that it belongs to: "unless" is a negation itself.
        start = match.start() if match.group()[0].isalpha() else match.end()
    yield text[start:]


def _spoken(clause: str) -> list[_Spoken]:
    words = []
    for match in _WORD.finditer(clause):
        word = match.group().lower()
        is_code = clause[match.start() - 1 : match.start()] == "`"
        is_value = is_code or (match.group() == "None" and not clause.startswith(" of", match.end()))
        is_cue = (word in _CUES and not is_value) or _CONTRACTED.fullmatch(word) is not None
        is_cue = is_cue or _CUE_BEFORE.match(clause, match.start()) is not None
        tokens = [] if is_cue or word in _LIGHT else tokenize(match.group())
        words.append(_Spoken(word, tokens[-1] if tokens else "", is_cue))
    return words


def _denials_in(clause: Sequence[_Spoken]) -> Iterator[Denial]:
    tokens = frozenset(spoken.token for spoken in clause if spoken.token)
    for position, spoken in enumerate(clause):
        if not spoken.is_cue:
            continue
        behind = [other for other in clause[position + 1 :] if other.token][:_REACH_WORDS]
        before = [other for other in reversed(clause[:position]) if other.token][:_REACH_WORDS]
        denied = [*behind[:2], *before[:2]] if spoken.word in _BEHIND_VERBS else behind or before
        shown = " ".join((spoken.word, *(other.word for other in denied[:1])))
        preceding = before[0].token if before else ""
        yield Denial(spoken.word, shown, tuple(other.token for other in denied), preceding, tokens)


def denial_disagrees(claim: str, cited: Sequence[str]) -> str:
    """Say where a claim and the cited sentences differ by a negation; empty if nowhere.

    Args:
        claim: One claim.
        cited: Sentences that carry it, the best first. The first three are read.

    Example:
        >>> denial_disagrees("The client does not retry.", ["The client retries on 503."])
        'the claim says "not retry", the cited lines do not'
    """
    cited = cited[:_READ_SENTENCES]
    if not any(map(_ANY_CUE.search, (claim, *cited))):
        return ""
    clauses = [clause for text in cited for clause in _read(text)]
    everything = " ".join(cited)
    # A quote is checked as a quote; what it denies, its author denies.
    own = denials_of(without_quotes(claim))
    said = tokens_of(everything + " ".join(map(words_of_signs, cited))) if own else frozenset()
    for denial in own:
        if _is_denied_alone(denial, _nearest(denial, clauses), said, everything):
            return f'the claim says "{denial.text}", the cited lines do not'
    if cited and (twice := _denied_twice(own, denials_of(cited[0]))):
        return f'the claim denies "{twice}" another time than the cited lines'
    # Parts of an identifier are not said; of a script without spaces there are only parts.
    own, spoken = denials_of(claim), frozenset().union(*(tokens for tokens, _ in _read(claim)))
    spoken = spoken if claim.isascii() else spoken | tokens_of(claim)
    for number, text in enumerate(cited):
        for denial in denials_of(text):
            shared = denial.clause & spoken
            # A short clause of a sentence that carries little of the claim shares a word by accident.
            is_telling = len(shared) >= _LEAST_SHARED * len(denial.clause) and (not number or len(shared) > 1)
            if is_telling and not _affirmed(denial, shared, clauses) and _is_denied_alone(denial, own, spoken, claim):
                return f'the cited lines say "{denial.text}", the claim does not'
    return ""


_Clauses = Sequence[tuple[frozenset[str], tuple[Denial, ...]]]


def _nearest(denial: Denial, clauses: _Clauses) -> list[Denial]:
    """Give what those clauses deny that say most of what a denial is about."""
    shares = [len(tokens.intersection(denial.denied)) for tokens, _ in clauses]
    most = max(shares, default=0)
    return [other for (_, denials), share in zip(clauses, shares, strict=True) if share == most for other in denials]


def _affirmed(denial: Denial, shared: Set[str], clauses: _Clauses) -> bool:
    """Say whether another clause says what is shared, without the negation."""
    return any(
        shared <= tokens and not any(set(denial.denied[:1]) & set(other.denied) for other in denials)
        for tokens, denials in clauses
    )


def _is_denied_alone(denial: Denial, others: Sequence[Denial], spoken: Set[str], text: str) -> bool:
    """Say whether a text speaks of what is denied, and none of the others denies it."""
    present = [token for token in denial.denied if token in spoken]
    if not present:
        return False
    wanted = set(present[:2] if denial.cue in _DETERMINERS else present[:1])
    if any(wanted.intersection(other.denied) or (other.cue == denial.cue and not other.denied) for other in others):
        return False
    return _says_the_same(text, denial, present[0]) or not _denies_otherwise(text, present[0])


def _says_the_same(text: str, denial: Denial, token: str) -> bool:
    """Say whether a text has the same words around the denied one: then it is the same sentence, undenied."""
    tokens = [spoken.token for spoken in _spoken(text) if spoken.token]
    around = {(denial.before, denial.denied[0]), *pairwise(denial.denied)}
    return any(token in pair and pair in around for pair in pairwise(tokens))


def _denied_twice(own: Sequence[Denial], theirs: Sequence[Denial]) -> str:
    """Find a word that one side denies and the other denies twice, as in "unless it is not"."""
    for denial in own:
        for token in denial.denied[:1]:
            mine, other = (sum(token in one.denied for one in side) for side in (own, theirs))
            if mine and other and (mine - other) % 2:
                return token
    return ""


def _denies_otherwise(text: str, token: str) -> bool:
    """Say whether a word near `token` denies it, as in "missing files", or its own first syllable, as in "invalid"."""
    words = [match.group().lower() for match in _WORD.finditer(text)]
    if any(token in tokenize(_DENYING_START.sub("", word)) for word in words if _DENYING_START.match(word)):
        return True
    places = [place for place, word in enumerate(words) if token in tokenize(word)]
    if not places:  # a sign of code says it, and `x = None` sets nothing
        return token in _SETTING and _NO_VALUE.search(text) is not None
    near = {other for place in places for other in range(place - _NEAR_WORDS, place + _NEAR_WORDS + 1)} - set(places)
    return any(_DENYING.fullmatch(words[place]) for place in near if 0 <= place < len(words))
