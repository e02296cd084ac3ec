"""Classifies questions: about a whole, small talk, arithmetic, or specific.

The classifier is a linear model over words. `python -m benchmarks.kinds` trains it, and cross-validates it by project.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from openbook.questions.dates_asked import dates_asked
from openbook.questions.linear_model import load_model
from openbook.questions.words import FILLING_WORDS, STOP_WORDS, THIS_PROJECT, content_words_of_question

Kind = Literal["whole", "small talk", "arithmetic", "specific"]
"""`whole` asks about the project, page or lesson as a whole. `small talk` and `arithmetic` need no source. All else is
`specific`, including questions for a summary of a part."""

# "What is git rebase?", "What does git rebase do?": a command of a project, or a word on the project itself.
_ASKS_FOR_PART = (
    r"what(?:\s+is|['\u2019]s|\s+does(?=.+\sdo\W*$))\s+(?:the\s+)?`?(?:{})\s+(?P<part>\w[\w-]*)`?(?:\s+(?:for|do))?\W*"
)
_OF_WHOLE = frozenset(
    "actually basically best built called capable do doing done exactly good great is known like made meant mean offer"
    " offering project really special supposed trying useful written".split()
)
# "Why is it so?" asks for nothing.
_ASKS_ABOUT_IT = re.compile(
    r"\W*(?:what|how|who|why|can)\b.*\b(?:it|this)(?:\s+(?:do|work|for|about))?\W*$", re.IGNORECASE
)
_WITH_IT = re.compile(rf"\s+(?:with|using)\s+{THIS_PROJECT}", re.IGNORECASE)
MIN_SHARE: Mapping[Kind, float] = {"whole": 0.6, "small talk": 0.6, "arithmetic": 0.6, "specific": 0.0}
"""The least probability of each kind. Small talk is not searched for, so it has to be certain."""


def kind_of(text: str) -> Kind:
    """Return the kind of a question: `specific` unless another one is likely.

    Questions in other languages than English, German, French and Spanish, or with mostly unknown words, are `specific`.

    Example:
        >>> kind_of("in a nutshell, what is this project?"), kind_of("Summarize the chapter on sauces")
        ('whole', 'specific')
        >>> kind_of("how many seconds does the retry wait?")
        'specific'
    """
    scores = load_model("kinds").scores(text)
    if scores is None:
        return "specific"
    most = max(scores.values())
    odds = {kind: math.exp(score - most) for kind, score in scores.items()}
    best = max(MIN_SHARE, key=lambda kind: odds[kind])
    # "The minutes of 20 March 2024" has two numbers, and nothing to calculate.
    is_likely = odds[best] > MIN_SHARE[best] * sum(odds.values()) and not (best == "arithmetic" and dates_asked(text))
    return best if is_likely else "specific"


def is_about_it(text: str) -> bool:
    """Return whether a question has no words of its own but asks about "it" or "this", which is then the whole.

    Example:
        >>> [is_about_it(text) for text in ("How does it work?", "what can I do with this", "how does it moor ships")]
        [True, True, False]
    """
    return _ASKS_ABOUT_IT.match(text) is not None and not content_words_of_question(text)


def without_names(text: str, names: Iterable[str]) -> str:
    """Return a question with "this project" for each of its names, as the model was trained to read it.

    Example:
        >>> without_names("Which databases does Harbour support?", ["harbour"])
        'Which databases does this project support?'
    """
    named = "|".join(re.escape(name) for name in names if name)
    return re.sub(rf"(?<!\w)(?:{named})(?!\w)", "this project", text, flags=re.IGNORECASE) if named else text


def asks_for_use(text: str) -> bool:
    """Return whether a question asks how to do something in particular with a project.

    Example:
        >>> [asks_for_use(f"How do I {what} with this tool?") for what in ("moor two ships", "begin")]
        [True, False]
    """
    left = _WITH_IT.sub("", text)
    return left != text and len(content_words_of_question(left)) > 1


def names_part(text: str, names: Iterable[str]) -> bool:
    """Return whether a question asks what a part of a project is, called by the project's name and its own.

    Example:
        >>> [names_part(text, ["harbour"]) for text in ("What is Harbour moor?", "What is Harbour good for?")]
        [True, False]
    """
    named = "|".join(re.escape(name) for name in names if name)
    found = re.fullmatch(_ASKS_FOR_PART.format(named), text.strip(), re.IGNORECASE) if named else None
    return found is not None and found["part"].casefold() not in STOP_WORDS | FILLING_WORDS | _OF_WHOLE
