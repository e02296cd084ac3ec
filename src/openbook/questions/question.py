"""A question, read once and passed on: its words, the names in it, and what kind of answer it wants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from openbook.errors import QueryError
from openbook.questions.course_questions import CourseQuestion, read_course_question
from openbook.questions.defining import definition_of
from openbook.questions.intents import Intent, intents_of
from openbook.questions.kinds import kind_of
from openbook.questions.names import ONE_WORD, identifiers, name_parts
from openbook.questions.words import content_words_of_question, is_in_other_language, stop_words
from openbook.tokens import tokenize
from openbook.types import View

# A topic is named in a few words. Longest topic in public sets of code search: 12 words.
_TOPIC_WORDS = 14
_SURE = 0.9
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")  # the second of Chinese and Japanese, the third of Arabic

# A pasted log or file is no question; what it is about would drown. Longest question seen in
# public sets of questions on code: 1,900 characters.
MAX_QUERY_CHARS = 20_000

# "Which lessons talk about ..." asks for places. The words up to "about" are not what is looked for.
_ASKS_FOR_PLACES = re.compile(
    r"\s*(?:in\s+)?(?:which|what|list|name|all)\b(?:\s+(?:the|of|all|these|my|our)\b)*\s+"
    r"(?:lessons?|courses?|files|documents|pages|chapters|sections|modules)\b"
    # "Which files are never indexed?" asks what they are, not where something stands.
    r"(?!\s+(?:is|are|was|were|can|may|must|should|will|has|have|had)\b)"
    r"(?:\s+(?:that|which|do|does|we|you|talks?|speaks?|tells?|explains?|discuss|covers?|mentions?|about|of|on)\b)*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Question:
    """A question, read. What is not needed for every question is read when it is asked for, once."""

    text: str
    """Without the white space around it."""
    tokens: tuple[str, ...]
    """Distinct, in order, words of asking left out unless nothing else is there."""
    identifiers: tuple[str, ...]
    """Distinct unqualified names that the question spells as code, in order."""
    owners: tuple[tuple[str, ...], ...]
    """What each of these was said to stand in, outermost first: `("Client",)` of `Client.send`; mostly nothing."""
    name: str = ""
    """All of the question, if it is one name as code, options or files have them: `message-delay-limit`."""
    is_symbol: bool = False
    """The whole question is one name as code spells it."""
    asks_for_places: bool = False
    """It asks which lessons, files or the like: several places are the answer, not one passage."""

    @property
    def content_words(self) -> int:
        """The number of distinct tokens: how much the question itself says."""
        return len(self.tokens)

    @cached_property
    def intents(self) -> frozenset[Intent]:
        """What kind of answer it wants; empty for most topics."""
        is_of_thing = self.definition is not None and not self.identifiers
        return intents_of(self.text) | ({"definition"} if is_of_thing else frozenset())

    @cached_property
    def view(self) -> View:
        """`files` for what names a topic or a symbol, `passages` for what asks something: see `docs/retrieval.md`."""
        is_question = self.text.endswith(_QUESTION_MARKS) or len(self.text.split()) > _TOPIC_WORDS
        return "passages" if is_question or self.asks_for_places else "files"

    @cached_property
    def course(self) -> CourseQuestion | None:
        """What it asks of courses; None if it mentions none."""
        return read_course_question(self.text)

    @cached_property
    def definition(self) -> re.Pattern[str] | None:
        """What finds the sentence that says what something is, if it asks for that."""
        return definition_of(self.text)

    def asks_for_whole(self, names: Iterable[str] = ()) -> bool:
        """Return whether it asks what the project, page or lesson at hand is, which may go by one of `names`."""
        named = "|".join(re.escape(name) for name in names if name)
        text = (
            re.sub(rf"(?<!\w)(?:{named})(?!\w)", "this project", self.text, flags=re.IGNORECASE) if named else self.text
        )
        # Where a name makes it one, it has to be sure: "Why does harbour count ships?" asks for no overview.
        return "whole" in (kind_of(self.text), kind_of(text, at_least=_SURE))

    @cached_property
    def in_other_language(self) -> bool:
        """Whether it is a sentence without a word that English sentences are made with, or has no Latin letters."""
        return is_in_other_language(self.text)

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Words that only make its sentence, if it is German, French or Spanish; in lower case."""
        return stop_words(self.text)


def read_question(text: str) -> Question:
    """Read a question.

    Raises:
        QueryError: It is blank, holds no word at all, or is longer than 20,000 characters.

    Example:
        >>> question = read_question("where is `Client.send_request` tested?")
        >>> question.identifiers, question.is_symbol, sorted(question.intents)
        (('send_request',), False, ['uses', 'where'])
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
    is_symbol = ONE_WORD.fullmatch(text) is not None
    # In `Client.get` nothing is a word of asking; "List all files" asks for nothing but its places.
    told = " ".join(content_words_of_question(text[places.end() :] if places else text))
    tokens = tuple(dict.fromkeys(tokenize(text) if is_symbol else tokenize(told)))
    if not tokens and (places or kind_of(text) == "whole"):
        tokens = tuple(dict.fromkeys(tokenize(text)))
    if not tokens:
        raise QueryError(f"the question {text[:40]!r} holds no telling word", hint="say what it is about, or name it")
    named: dict[str, tuple[str, ...]] = {}
    for *owners, name in map(name_parts, [text] if is_symbol else identifiers(text)):
        named[name] = named.get(name) or tuple(owners)
    alone = text.strip("`\"'").removesuffix("()") if len(text.split()) == 1 else ""
    return Question(text, tokens, tuple(named), tuple(named.values()), alone, is_symbol, places is not None)
