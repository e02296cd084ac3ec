"""What is said to greetings, thanks and arithmetic: no source is needed for them."""

from __future__ import annotations

from decimal import Decimal

from openbook.answers import GenerationResult, RefusalReason
from openbook.questions.kinds import kind_of
from openbook.questions.words import FOREIGN_WORDS, content_words_of_question

_TOLD = (
    "I answer questions from the sources of this library, and from nothing else; each answer says where it stands. "
    "Ask about something that they speak of."
)

_CALCULATED = (
    "This is arithmetic, and no source is needed for it: "
    "I only answer questions that the sources of this library speak of."
)

# Words that sources may well speak of, if nothing else is said.
_MAY_BE_NAMES = frozenset("cool day great help hilfe nice ok okay perfect prima super".split())


def _names_a_thing(text: str) -> bool:
    words = [word.lower() for word in content_words_of_question(text)]
    return any(word.isalpha() and word not in FOREIGN_WORDS for word in words)


def reply_to_small_talk(
    text: str, *, after_answer: bool = False, nothing_found: bool = False
) -> GenerationResult | None:
    """Return what can be asked, where nothing is; None for all else.

    Args:
        text: What was typed.
        after_answer: A single word such as `super` is praise then, and a name that is looked for otherwise.
        nothing_found: Nothing relevant was found. A sum in words may as well be a question to the sources, as "Down to
            how many tokens can a prompt of 50,000 be reduced?", and is looked for first.
    """
    kind = kind_of(text)
    if kind == "arithmetic" and (nothing_found or not _names_a_thing(text)):
        return GenerationResult(
            text.strip(), _CALCULATED, refused=True, reason=RefusalReason.ARITHMETIC, cost_usd=Decimal(0)
        )
    may_be_name = not after_answer and text.strip(" .!?").lower() in _MAY_BE_NAMES
    if may_be_name or kind != "small talk":
        return None
    return GenerationResult(text.strip(), _TOLD, refused=True, reason=RefusalReason.NOTHING_ASKED, cost_usd=Decimal(0))
