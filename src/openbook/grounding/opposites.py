"""Words that turn a statement round, as "halves" in place of "doubles"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from openbook.grounding.facts import KEPT_TEXTS
from openbook.grounding.negation import denials_of
from openbook.retrieval.tokens import tokenize

# Pairs that describe software and are rarely both meant. "First" and "last" may both be true; these not.
_PAIRS = (
    "double halve, increase decrease, raise lower, grow shrink, higher lower, larger smaller, longer shorter,"
    " faster slower, before after, minimum maximum, enable disable, enabled disabled, allow deny, allow forbid,"
    " accept reject, accept refuse, include exclude, start stop, add remove, create delete, append prepend,"
    " encode decode, encrypt decrypt, compress decompress, serialize deserialize, upload download, import export,"
    " true false, required optional, public private, synchronous asynchronous, ascending descending,"
    " mutable immutable, lock unlock, connect disconnect, install uninstall, show hide, succeed fail, success failure,"
    " must may, always sometimes, always rarely, always seldom, often rarely, often seldom, all some, every some,"
    " everyone only, acquire release, left right,"
    " win lose, north south, east west, above below, older newer, oldest newest, earlier later, earliest latest"
)

# What shares fewer of the claim's words speaks of something else.
_LEAST_SHARED = 0.5


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _PAIRS.split(","):
        one, other = tokenize(pair)
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


def opposite_disagrees(claim: str, sentences: Sequence[str]) -> str:
    """Say which word of a claim stands turned round in a sentence that is near to it; empty if none does.

    A word that any sentence has as it is agrees. What denies something is left to the check of denials.

    Example:
        >>> opposite_disagrees("the pause halves each time", ["the pause doubles each time"])
        'the claim says "halves" where the cited lines say "doubles"'
    """
    own = words_by_token(claim)
    turned = {token: _opposites()[token] for token in own if token in _opposites()}
    wanted = frozenset().union(*turned.values())
    if not turned or denials_of(claim) or all(wanted.isdisjoint(tokenize(sentence)) for sentence in sentences):
        return ""
    cited = [words_by_token(sentence) for sentence in sentences]
    for sentence, theirs in zip(sentences, cited, strict=True):
        if not is_near(claim, sentence) or denials_of(sentence):
            continue
        for token, others in turned.items():
            found = sorted(others & theirs.keys() - own.keys())
            if found and not any(token in words for words in cited):
                return f'the claim says "{own[token]}" where the cited lines say "{theirs[found[0]]}"'
    return ""


def is_near(claim: str, sentence: str) -> bool:
    """Say whether a sentence shares so many words with a claim that it speaks of the same, but for one word."""
    own = words_by_token(claim).keys()
    least = _LEAST_SHARED * (len(own) - 1)
    # Tokens of the whole are found sooner, and are all that its words can give.
    return len(own & set(tokenize(sentence))) >= least and len(own & words_by_token(sentence).keys()) >= least


@lru_cache(maxsize=KEPT_TEXTS)
def words_by_token(text: str) -> Mapping[str, str]:
    """Give the words of a text by their tokens, words that are split left out."""
    words = ((word.strip(".,;:!?()\"'"), tokenize(word)) for word in text.split())
    return {tokens[0]: word for word, tokens in words if len(tokens) == 1}
