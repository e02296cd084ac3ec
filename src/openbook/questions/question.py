"""Parses questions: each module of this package recognizes what one form of question asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from openbook.errors import QueryError
from openbook.questions.changes_asked import AskedChange, change_of
from openbook.questions.comparisons import compared
from openbook.questions.course_questions import CourseQuestion, read_course_question
from openbook.questions.data_asked import asks_for_data
from openbook.questions.dates_asked import AskedDates, dates_asked
from openbook.questions.definitions import AskedTerm, term_of
from openbook.questions.enumerations_asked import AskedEnumeration, enumeration_of
from openbook.questions.errors_asked import error_of, messages_of
from openbook.questions.forms import documentation_odds, is_question
from openbook.questions.intents import Intent, asks_whether, intents_of
from openbook.questions.kinds import asks_for_use, is_about_it, kind_of, names_part, without_names
from openbook.questions.languages import is_foreign, languages_of
from openbook.questions.lists_asked import AskedList, list_of
from openbook.questions.names import ONE_WORD, coded_names, identifiers, name_parts, signed_names
from openbook.questions.parameters_asked import parameters_of, says_parameters
from openbook.questions.references_asked import AskedEdition, AskedReference, edition_asked, reference_of
from openbook.questions.releases_asked import AskedRelease, release_of
from openbook.questions.settings_asked import FRAME, SIGNS, AskedSetting, asked_settings
from openbook.questions.summaries_asked import summary_asked
from openbook.questions.values_asked import asks_for_number
from openbook.questions.versions_asked import AskedVersions, versions_of
from openbook.questions.words import (
    NO_CHOICE,
    content_words_of_question,
    is_in_other_language,
    stop_words,
    without_place,
)
from openbook.tokens import tokenize
from openbook.types import View

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
# What is written as code is searched for even if it is a stop word: `with`, `&to`, `-i`, `it()`.
_MARKED = re.compile(rf"`[^`\s]+(?: [^`\s]+)?`|{OPTION.pattern}|(?<!\S)[@#&:$%!+.]\w+|(?<![\w.])\w+\(\)")
_KINDS = "option flag switch setting variable directive keyword parameter command key field"
_KIND = rf"(?:{_KINDS.replace(' ', '|')}|method)s?"
# A word beside its kind: "the mouse option", "setting tab-size".
_TERM = re.compile(
    rf"\bthe\s+(?P<before>[\w./-]*\w)\s+{_KIND}\b|\b{_KIND}\s+(?P<behind>[\w./-]*\w)\b|(?P<joined>\b\w+(?:-\w+)+\b)"
    r"|(?<![\w.-])(?P<place>[\w.-]+/)(?=[\s?.,]|$)",
    re.IGNORECASE,
)

# Longer queries are questions. The longest topic in public sets of code search has 12 words.
_TOPIC_WORDS = 14
# "What is a fender" is a question even without a question mark. "How fenders are tied" and "where ropes lie" are
# topics; of 1,200 topics in public sets, two dozen begin with "how does" or "how are".
_ASKS = re.compile(
    r"\W*(?:(?:what|which|who|when|why)(?:['’]s|\s+(?:\w+\s+){0,3}(?:is|are|was|were|does|can|could|should|has|have)\b)"
    r"|(?:is|are|does|can|could|should|has|have)\s+\w+\s+\w"
    r"|how\s+(?:do|can|could|should|would)\s+(?:i|we|you|one)\b"
    r"|where\s+(?:is|are|was|were|do|does|did|can|should)\b)",
    re.IGNORECASE,
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")  # of Latin scripts, of Chinese and Japanese, of Arabic

# Longer texts are pasted logs or files, not questions. The longest question on code in public sets has 1,900
# characters.
MAX_QUERY_CHARS = 20_000

# Texts of several words in double quotation marks. A long question is pasted, as a log, and quotes for other reasons.
_QUOTED = re.compile(r"\"(-{0,2}\w[^\"]*\s[^\"]*)\"|[“„]([^“”]+\s[^“”]+)[“”]|«\s*([^«»]+\s[^«»]+?)\s*»")
_MAX_QUOTING_CHARS = 300

# A quoted text of any length, in which `\"` is a mark of its own, and a question that is nothing but such texts.
# Possessive, because each `\"` may be read in two ways.
_WRITTEN = r"\"(?:[^\"\\]|\\\"?+)++\"|[“„][^“”]+[“”]|«[^«»]+»"
_ONLY_WRITTEN = re.compile(rf"[\s,;]*+(?:(?:{_WRITTEN})[\s,;.!?]*+)++")

# "Which lessons talk about ..." asks for places. The words up to "about" are not searched for.
_PLACES = r"(?:lessons?|courses?|files|documents|pages|chapters|sections|modules|notes)"
_ASKS_FOR_PLACES = re.compile(
    rf"\s*in\s+(?:which|what)\s+{_PLACES}\s+(?:is|are)\s+(?P<topic>.+?)\s+(?:mentioned|discussed|described|explained)\W*$"
    r"|\s*(?:in\s+)?(?:which|what|list|name|all)\b(?:\s+(?:the|of|all|these|my|our)\b)*\s+"
    rf"(?:{_PLACES}|\w+(?=\s+are\s+tagged\b))\b"
    # "Which files are never indexed?" asks what they are, not where something is.
    r"(?!\s+(?:is|are|was|were|can|may|must|should|will|has|have|had)\b(?!\s+(?:tagged|about)\b))"
    r"(?:\s+(?:that|which|do|does|we|you|talks?|speaks?|tells?|explains?|discuss|covers?|mentions?|about|of|on"
    r"|are(?=\s+(?:tagged|about)\b)|tagged|links?(?=\s+to\b)|(?<=link )to|(?<=links )to)\b)*",
    re.IGNORECASE,
)

_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """A parsed question. Attributes that few callers need are computed lazily, once."""

    text: str
    """Stripped."""
    tokens: tuple[str, ...]
    """Distinct, in order, without stop words unless there is nothing else."""
    identifiers: tuple[str, ...]
    """Distinct unqualified code names, in order."""
    owners: tuple[tuple[str, ...], ...]
    """The qualifiers of each name, outermost first: `("Client",)` for `Client.send`; mostly empty."""
    is_symbol: bool = False
    """The whole question is one code name."""
    compared: tuple[str, ...] = ()
    """The things that it compares, as written; mostly empty."""
    topic_of_places: str | None = None
    """The topic of the lessons, files or the like that it asks for, as "which notes mention ropes" does, if any."""
    asks_for_parameters: bool = False
    """It asks for the parameters of its only name, a function or class."""

    @cached_property
    def name(self) -> str:
        """The whole question if it is one word, such as a code name, an option or a file; or its hyphenated setting."""
        if len(self.text.split()) == 1:
            return self.text.strip("`\"'").removesuffix("()")
        alone = self.settings[0].name if len(self.settings) == 1 else ""
        has_others = not FRAME.union(tokenize(alone)).issuperset(self.tokens)
        return "" if has_others or "-" not in alone else alone

    @cached_property
    def quoted(self) -> tuple[str, ...]:
        """The texts of several words that it has in double quotation marks, such as a message, to be found as written.

        Example:
            >>> read_question('When is "the quay is full" printed?').quoted
            ('the quay is full',)
        """
        if len(self.text) > _MAX_QUOTING_CHARS:
            return ()
        return quoted_in_marks(self.text)

    def naming(self, defined: Collection[str]) -> Question:
        """Return it with the names that code defines and that other languages would split, as `moor->quay!` of Lisp.

        Those of which it has only the code are named as well: `Rule_CV06` by "What does CV06 check?".

        Example:
            >>> question = read_question("what does moor->quay do in harbour.ropes")
            >>> question.identifiers, question.naming({"moor->quay"}).identifiers
            (('quay', 'ropes'), ('moor->quay',))
        """
        found = [each for each in signed_names(self.text) if each.name in defined]
        found += coded_names(self.text, defined)
        if not found:
            return self
        split = {part for each in found for part in each.parts}
        kept = [pair for pair in zip(self.identifiers, self.owners, strict=True) if pair[0] not in split]
        named = {**{each.name: each.owners for each in found}, **dict(kept)}
        return replace(self, identifiers=tuple(named), owners=tuple(named.values()))

    @cached_property
    def as_written(self) -> tuple[str, ...]:
        r"""The texts in double quotation marks, also single words, if it is nothing else: a search for these texts.

        Example:
            >>> [read_question(text).as_written for text in ('"moor(ship"', r'"say(\"a\")"', 'what is "moor"?')]
            [('moor(ship',), ('say("a")',), ()]
        """
        if len(self.text) > _MAX_QUOTING_CHARS or not _ONLY_WRITTEN.fullmatch(self.text):
            return ()
        texts = (text[1:-1].strip().replace('\\"', '"') for text in re.findall(_WRITTEN, self.text))
        return tuple(dict.fromkeys(filter(None, texts)))

    @property
    def is_quotation(self) -> bool:
        """Whether it is a text in quotation marks, or several, and nothing else."""
        return bool(self.quoted) and not any(map(str.isalnum, _QUOTED.sub("", self.text)))

    def quoted_in(self, text: str) -> list[str]:
        """Return which of its quoted texts a text contains, in any case and across line ends."""
        told = _in_one_line(text) if self.quoted else ""
        return [each for each in self.quoted if _in_one_line(each) in told]

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Its code names, and words that may be options, settings or other list entries."""
        # A message may name an option, and be no question for it.
        said = _QUOTED.sub(" ", self.text)
        named = (found[found.lastgroup or 0] for found in _TERM.finditer(said))
        told = (term for term in named if set(tokenize(term)).intersection(self.tokens))
        return tuple(dict.fromkeys((*self.identifiers, *OPTION.findall(said), *told)))

    @cached_property
    def settings(self) -> tuple[AskedSetting, ...]:
        """The settings that it asks for, if it asks for nothing else."""
        if self.compared or self.quoted or self.change or not self.intents.isdisjoint(("where", "uses")):
            return ()
        # "What does max_load accept?" may ask for a setting, unlike "Which arguments does max_load accept?"
        if self.asks_for_parameters and says_parameters(self.text):
            return ()
        return asked_settings(self.text, self.tokens)

    @property
    def content_words(self) -> int:
        """The number of distinct tokens."""
        return len(self.tokens)

    @cached_property
    def intents(self) -> frozenset[Intent]:
        """The kinds of answers that it asks for; none for most topics."""
        if self.change is not None:
            return frozenset()
        is_of_thing = (self.term is not None or bool(self.compared)) and not self.identifiers
        defining: frozenset[Intent] = frozenset({"definition"} if is_of_thing else ())
        found = intents_of(self.text) | defining
        return frozenset(each for each in found if each != "where" or not asks_for_data(self.text))

    @cached_property
    def asks_whether(self) -> bool:
        """Whether it is a yes-or-no question."""
        return asks_whether(self.text) and not self.compared

    @cached_property
    def view(self) -> View:
        """`files` for a topic or a symbol, `passages` for a question or a quotation: see `docs/retrieval.md`."""
        is_marked = self.text.endswith(_QUESTION_MARKS) or len(self.text.split()) > _TOPIC_WORDS
        is_read = is_marked or self.asks_for_places or bool(self.quoted) or _ASKS.match(self.text) is not None
        is_read = is_read or self.listed is not None or self.versions is not None or self.release is not None
        is_read = is_read or self.change is not None or self.asks_for_parameters
        is_read = is_read or self.dates is not None or self.reference is not None
        is_read = is_read or bool(self.compared) or "how-to" in self.intents
        return "passages" if is_read or (not self.is_symbol and is_question(self.text)) else "files"

    @cached_property
    def documentation_odds(self) -> float:
        """The log-odds that documentation answers it, not code; 0 for settings, which are described anywhere."""
        is_setting = self.settings and not self._is_signed
        return 0.0 if is_setting or self.change else documentation_odds(self.text)

    @cached_property
    def course(self) -> CourseQuestion | None:
        """Its reading as a question on courses; None if it mentions none."""
        return read_course_question(self.text)

    @cached_property
    def term(self) -> AskedTerm | None:
        """The term whose meaning it asks for, if any."""
        is_other = self.compared or self.asks_for_places or self.asks_for_parameters
        return None if is_other else term_of(self.text)

    @cached_property
    def error(self) -> str:
        """The unqualified name of the error that it asks the cause of; mostly empty."""
        return "" if self.compared else error_of(self.text, self.identifiers)

    @cached_property
    def enumeration(self) -> AskedEnumeration | None:
        """The enumeration that it may ask for, as "What error kinds are there?" does, if any."""
        is_other = self.compared or self.asks_for_parameters or self.error or "uses" in self.intents
        return None if is_other else enumeration_of(self.text, self.identifiers, self.owners)

    @cached_property
    def messages(self) -> tuple[str, ...]:
        """The texts in it that a program may have printed; code tells. None for most topics and questions."""
        # "Cannot use a berth outside a harbour" has the words of questions, and begins as messages do.
        may_ask = not self.text[0].isupper() or self.text.endswith(_QUESTION_MARKS)
        asks = _ASKS.match(self.text) is not None or (may_ask and is_question(self.text))
        return () if self.compared else messages_of(self.text, self.quoted, is_question=asks)

    @cached_property
    def listed(self) -> AskedList | None:
        """What it asks for the list of, as "Which databases are supported?" does, if anything."""
        is_other = self.compared or self.asks_for_places or self.settings or self.term is not None
        return None if is_other else list_of(self.text)

    @cached_property
    def release(self) -> AskedRelease | None:
        """The release of which it asks for the changes, as "What changed in 4.0.0?" does, if any."""
        return None if self.compared or self.quoted else release_of(self.text)

    @cached_property
    def dates(self) -> AskedDates | None:
        """The days and months that it names, as "on 20 March 2024" and "in March" do, if any."""
        return None if self.compared or self.quoted else dates_asked(self.text)

    @cached_property
    def reference(self) -> AskedReference | None:
        """The numbered part of a document that it refers to, as "section 7.3" does, if any."""
        return None if self.compared or self.quoted else reference_of(self.text)

    @property
    def asks_for_part_alone(self) -> bool:
        """Whether it asks for nothing but what the numbered part says that it refers to."""
        other = {token for word in self.stop_words for token in tokenize(word)}
        return self.reference is not None and self.reference.asks_for_it_alone(set(self.tokens) - other)

    @cached_property
    def edition(self) -> AskedEdition | None:
        """The document that it names by a word and a version, as "ASVS 4" does, if any; the names of files tell."""
        return None if self.compared or self.quoted else edition_asked(self.text)

    @cached_property
    def asks_for_number(self) -> bool:
        """Whether it asks for a number, as "how often is it checked" does."""
        return asks_for_number(self.text)

    @property
    def may_rank_low(self) -> bool:
        """Whether what answers it may have its words once, and rank below many uses: a definition, a date."""
        asked = (self.term, self.release, self.versions, self.change, self.dates, self.reference)
        # A qualified name mostly is no value of an enumeration.
        is_enumeration = self.enumeration is not None and not self.enumeration.member
        return bool(self.settings or self.error) or is_enumeration or any(each is not None for each in asked)

    @cached_property
    def summarized(self) -> frozenset[str] | None:
        """The words that choose the document whose summary it asks for, perhaps none; None if it asks for none."""
        return None if self.compared or self.quoted or self.reference else summary_asked(self.text)

    @cached_property
    def change(self) -> AskedChange | None:
        """The change whose release it asks for, as "Which version added it?" does, if any."""
        return None if self.compared or self.quoted else change_of(self.text)

    @cached_property
    def versions(self) -> AskedVersions | None:
        """The things of which it asks for the required versions, as "Which Python does it need?" does, if any."""
        return None if self.compared or self.settings or self.quoted else versions_of(self.text)

    @property
    def asks_for_places(self) -> bool:
        """Whether it asks which lessons, files or the like: the answer is several places, not one passage."""
        return self.topic_of_places is not None

    def has_topic(self, text: str) -> bool:
        """Return whether a text has the topic of the places that it asks for, in these words and any case."""
        topic = re.escape(self.topic_of_places or "")
        return bool(topic) and re.search(rf"(?<!\w){topic}(?!\w)", text, re.IGNORECASE) is not None

    @cached_property
    def _is_signed(self) -> bool:
        """Whether it asks for a name with a sign, such as `$nu`, which is no option."""
        return any(setting.name[0] in SIGNS for setting in self.settings)

    def asks_for_whole(self, names: Iterable[str] = ()) -> bool:
        """Return whether it asks about the project, page or lesson as a whole, which may be called by one of `names`.

        Any other code name, such as `Client.send`, is a part of the project.
        """
        names = tuple(names)
        is_of_part = self.term is not None and any(map(self.term.is_beside, names))
        if is_of_part or names_part(self.text, names):
            return False
        text = without_names(self.text, names)
        is_of_other = self.compared or self._is_signed or identifiers(text) or asks_for_use(text)
        return not is_of_other and (kind_of(text) == "whole" or is_about_it(text))

    @cached_property
    def languages(self) -> frozenset[str]:
        """The codes of its possible languages; empty if there is too little evidence."""
        return languages_of(self.text)

    @cached_property
    def in_other_language(self) -> bool:
        """Whether it is a sentence without English function words, or has no Latin letters."""
        return is_in_other_language(self.text)

    @cached_property
    def is_foreign(self) -> bool:
        """Whether it is surely not English: its stop words or its letters say so. Keywords are in any language."""
        if self.languages:
            return "en" not in self.languages and is_foreign(self.text)
        return self.in_other_language and any(char.isalpha() and not char.isascii() for char in self.text)

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Its stop words in lower case, if it is German, French or Spanish."""
        return stop_words(self.text)


def quoted_in_marks(text: str) -> tuple[str, ...]:
    """Return the distinct texts of several words that a text has in double quotation marks, in order."""
    return tuple(dict.fromkeys(next(filter(None, found.groups())) for found in _QUOTED.finditer(text)))


def _in_one_line(text: str) -> str:
    return " ".join(text.split()).casefold()


def _topic_in(text: str) -> str:
    """Return the topic in the end of a question, in one line, without an article and the marks around it."""
    return _ARTICLE.sub("", " ".join(text.split()).strip(" ?!.\"'`"))


def check_text(text: object) -> None:
    """Raise an error for a question that is no string, with what to write instead.

    Raises:
        TypeError: It is no string.
    """
    if not isinstance(text, str):
        raise TypeError(f"the question is {text!r}; write a string, such as 'What is a chunk?'")


def _checked(text: str) -> str:
    check_text(text)
    text = text.strip()
    if not text:
        raise QueryError("the question is empty", hint="write what you want to know")
    if len(text) > MAX_QUERY_CHARS:
        raise QueryError(
            f"the question is {len(text):,} characters long; at most {MAX_QUERY_CHARS:,} are read",
            hint="ask a shorter question, such as its most important line",
        )
    return text


def read_question(text: str) -> Question:
    """Parse a question.

    Raises:
        QueryError: It is blank, has no word, or is longer than 20,000 characters.

    Example:
        >>> question = read_question("where is `Client.send_request` tested?")
        >>> question.identifiers, question.is_symbol, sorted(question.intents)
        (('send_request',), False, ['uses', 'where'])
    """
    text = _checked(text)
    places = _ASKS_FOR_PLACES.match(text)
    topic = None if places is None else _topic_in(places["topic"] or text[places.end() :])
    is_symbol = ONE_WORD.fullmatch(text) is not None
    sides = () if places or is_symbol else compared(text)
    # `Client.get` has no stop words. "List all files" has no topic beside its places. An answer to a comparison need
    # not contain "difference".
    looked_for = " and ".join(sides) or NO_CHOICE.sub(r"\1by default", without_place(text)) if topic is None else topic
    asked = parameters_of(text)
    if asked is not None and asked.is_code:
        looked_for = asked.name  # "takes" and "arguments" are in the code of any function
    elif not (places or sides) and (change := change_of(text)) is not None:
        looked_for = change.topic
    elif not (places or sides) and (term := term_of(text)) is not None:
        looked_for = " ".join((*term.words, term.place))
    told = " ".join((*content_words_of_question(looked_for), *_MARKED.findall(text)))
    tokens = tuple(dict.fromkeys(tokenize(text) if is_symbol else tokenize(told)))
    if not tokens and (places or kind_of(text) == "whole" or is_about_it(text)):
        tokens = tuple(dict.fromkeys(tokenize(text)))
    if not tokens:
        raise QueryError(f"the question {text[:40]!r} contains no word to search for", hint="name what it is about")
    named: dict[str, tuple[str, ...]] = {}
    names = [text] if is_symbol else [asked.name] if asked is not None else identifiers(text)
    for *owners, name in map(name_parts, names):
        named[name] = named.get(name) or tuple(owners)
    return Question(
        text,
        tokens,
        tuple(named),
        tuple(named.values()),
        is_symbol=is_symbol,
        compared=sides,
        topic_of_places=topic,
        asks_for_parameters=asked is not None,
    )
