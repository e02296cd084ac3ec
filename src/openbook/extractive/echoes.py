"""Tells passages that repeat a question, or ask one themselves, from those that answer it."""

from __future__ import annotations

import re

from openbook.extractive.inline_markup import plain_markup
from openbook.extractive.passages import Passage
from openbook.grounding.readable import readable
from openbook.questions.question import Question
from openbook.tokens import tokenize

NOTE = "Quoted from the sources; no model wrote this."

# A question at the end of a passage, perhaps followed by the number of the next one in a list.
_IS_QUESTION = re.compile(r"[?？](?:[^\w\n]|\b(?:\d+\.)+)*$")

# A passage that adds fewer words to the question than this repeats it, like a table of contents. It is quoted only if
# there is nothing better, or if the question is a whole sentence.
_MIN_NEW_WORDS = 3
SENTENCE_ENDS = (".", "!", "。", "！")
# An exact answer adds little more than a number and a unit to the question. It is a sentence with this share of the
# question's words, unlike "The items in the invoice." (a third works as well; without it, one question of forty in
# `benchmarks/courses.py` is lost), or the value behind a separator.
_MIN_COVERAGE = 0.5
_AROUND = "\"'”’)]」』）*_`| \t\r\n"
_VALUE = re.compile(r"[:：|]|\n\s*\n")

# A citation mark. A page that shows an answer, such as an exported conversation, is no evidence.
_PRINTED_MARK = re.compile(r"(?:^|\s)\[\d{1,4}:\d{1,6}(?:-\d{1,6})?\](?!\S)")

# Items that are nothing but links, as in a menu, perhaps below its title. They answer only those who ask for them.
_LINK = (
    r"(?:[-*+•]|\d{1,3}[.)])?[ \t]*(?:(?:See|See also)\b[^\w\[\n]{1,4})?"
    r"(?:\[[^]\n]{1,200}\]\([^)\s]{1,500}\)|`[^`<\n]{1,200}<[^>\s]{1,500}>`__?)[^\w\n]*"
)
_LINKS = re.compile(rf"\s*(?:#[^\n]*\n\s*)?{_LINK}(?:\n\s*{_LINK})*")

# A quote of at least so many words, all of which a better quote contains, is a repetition, as in a second README.
# Shorter ones are kept: they are read quickly, and the second place may be news.
_MIN_REPEATED_WORDS = 5


def is_echo(text: str, new: frozenset[str], place: frozenset[str], query: Question) -> bool:
    """Return whether a passage repeats the question without an answer.

    `new` are its tokens that the question lacks; `place` are its tokens, and those of the headings above.
    """
    if NOTE in text or any(mark[0].strip() not in query.text for mark in _PRINTED_MARK.finditer(text)):
        return True
    if _LINKS.fullmatch(text):
        return len(place.intersection(query.tokens)) < _MIN_COVERAGE * len(query.tokens)
    repeats = query.text.casefold() in text.casefold() and query.view == "passages"
    text = text.strip(_AROUND)
    if _IS_QUESTION.search(text):
        return True
    if len(new) >= _MIN_NEW_WORDS and not repeats:
        return False
    if text.endswith(SENTENCE_ENDS):
        return len(place.intersection(query.tokens)) < _MIN_COVERAGE * len(query.tokens)
    sign = _VALUE.search(text)
    return sign is None or new.isdisjoint(tokenize(text[sign.end() :]))


def answers_nothing(text: str) -> bool:
    """Return whether a text is a question, or nothing but links.

    Example:
        >>> answers_nothing("How are ships moored?"), answers_nothing("- [Ropes](#ropes)"), answers_nothing("By ropes.")
        (True, True, False)
    """
    return _LINKS.fullmatch(text) is not None or _IS_QUESTION.search(text.strip(_AROUND)) is not None


def adds_no_word(passage: Passage, said: Passage) -> bool:
    """Return whether another passage of prose contains all words of a passage."""
    if not (passage.shown.is_prose and said.shown.is_prose):
        return False
    words = frozenset(tokenize(text_shown(passage)))
    return len(words) >= _MIN_REPEATED_WORDS and words.issubset(tokenize(text_shown(said)))


def text_shown(passage: Passage) -> str:
    """Return the text of a passage in one line, of prose without markup: the same text may be in two formats."""
    text, chunk = passage.text, passage.shown.result.chunk
    return " ".join((readable(plain_markup(text, chunk.language)) if passage.shown.is_prose else text).split())
