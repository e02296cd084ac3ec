"""Parses questions: tokens, code names, intents, comparisons and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from openbook.errors import QueryError
from openbook.questions.changes_asked import AskedChange, change_of
from openbook.questions.course_questions import CourseQuestion, read_course_question
from openbook.questions.data_asked import asks_for_data
from openbook.questions.definitions import AskedTerm, term_of
from openbook.questions.enumerations_asked import AskedEnumeration, enumeration_of
from openbook.questions.errors_asked import error_of, messages_of
from openbook.questions.forms import documentation_odds, is_question
from openbook.questions.kinds import is_about_it, kind_of, names_part, without_names
from openbook.questions.languages import is_foreign, languages_of
from openbook.questions.lists_asked import AskedList, list_of
from openbook.questions.names import ONE_WORD, identifiers, name_parts
from openbook.questions.parameters_asked import parameters_of
from openbook.questions.releases_asked import AskedRelease, release_of
from openbook.questions.settings_asked import FRAME, SIGNS, AskedSetting, asked_settings
from openbook.questions.versions_asked import AskedVersions, versions_of
from openbook.questions.words import IN_CODE, NO_CHOICE, content_words_of_question, is_in_other_language, stop_words
from openbook.tokens import tokenize
from openbook.types import View

# "On Linux or Windows" and "or not" are no comparisons.
_THING = r"(?!(?:it|not|to|on|in|from|with|for|by|at)\b).+?"
# Each has one group per side, or per list of things with commas.
_COMPARES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r".*\b(?:diff[ée]rences?|unterschied(?:e|en)?|diferencias?)\s+(?:hay\s+)?(?:between\s+(?:using\s+)?(.+?)\s+and"
        r"|zwischen\s+(.+?)\s+und|entre\s+(.+?)\s+(?:et|y))\s+(.+)",
        r".*\bhow\s+(?:do|does|is|are)\s+(.+?)\s+(?:differ|different)\s+from\s+(.+)",
        r".*\bhow\s+(?:do|are)\s+(.+?)\s+and\s+(.+?)\s+(?:differ|different|compare)",
        r".*\bhow\s+(?:do|does)\s+(.+?)\s+compare\s+(?:to|with)\s+(.+)",
        r"(?:please\s+)?compare\s+(.+?)\s+(?:and|to|with)\s+(.+)",
        r"(?:.+,\s+)?(.+?)\s+(?:vs\.?|versus)\s+(.+)",
        r"(?:(?:when|why)\s+)?(?:should|would|do)\s+(?:i|we|you|one)\s+(?:rather\s+)?(?:use|choose|pick|prefer)"
        rf"\s+({_THING})\s+(?:or|over|instead of|rather than)\s+({_THING})",
        rf"which\s+(?:one\s+)?is\s+(?:better|preferable),?\s+({_THING})\s+or\s+({_THING})",
        r"(?:.*\b)?choos(?:e|ing)\s+between\s+(.+?)\s+(?:and|or)\s+(.+)",
    )
)
# Asked once more behind the things: "A vs B, which one", "A vs B what's the difference".
_ASKED_AGAIN = re.compile(
    r"(?<=\w)(?:\s+which(?:\s+one)?|\s*[,;:?–-]\s*(?:which|when)\b.*|\W+what['’]?(?:s|\s+is)\s+the\s+differences?)$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:an?|the|ein\w{0,2}|der|die|das|dem|den|une?|l[ea]s?|una?|el|l[ao]s)\s+|^l['’]", re.IGNORECASE
)
# A code name: with a capital letter, in backticks, or joined by dots, colons or underscores.
_NAME = re.compile(r"`[^`]+`|\w*[A-Z][\w.:]*|\w+(?:[._:]+\w+)+(?:\(\))?")
_SIDE_ENDS = " \t?？!.,"
# Longer sides name no thing: "between what the page shows and what the log says".
_MAX_SIDE_WORDS = 4


def compared(question: str) -> tuple[str, ...]:
    """Return the things that a question compares, as written, without articles; empty if it is no comparison.

    Example:
        >>> compared("What is the difference between a chain and a chord?"), compared("How does a chord end?")
        (('chain', 'chord'), ())
    """
    asked = _ASKED_AGAIN.sub("", question.strip(_SIDE_ENDS))
    for compares in _COMPARES:
        if found := compares.fullmatch(asked):
            listed = ",".join(filter(None, found.groups())).split(",")
            things = (_ARTICLE.sub("", each.strip(_SIDE_ENDS), count=1) for each in listed)
            sides = tuple(dict.fromkeys(filter(_is_thing, things)))
            is_short = all(len(side.split()) <= _MAX_SIDE_WORDS for side in sides)
            return sides if is_short and len(sides) > 1 else ()
    return ()


def _is_thing(side: str) -> bool:
    """Return whether one side of a comparison can be searched for: a word, or several that are not all stop words."""
    return bool(tokenize(side) if " " not in side else content_words_of_question(side))


def asking_what_is(side: str) -> str:
    """Return the question to search for one side of a comparison.

    Example:
        >>> asking_what_is("request context"), asking_what_is("Bind"), asking_what_is("find")
        ('What is request context?', 'What does `Bind` do?', 'find')
    """
    # Stop words such as `find` are searched for only if they are the whole query.
    if not content_words_of_question(side):
        return side
    return f"What does `{side.strip('`')}` do?" if _NAME.fullmatch(side) else f"What is {side}?"


Intent = Literal["how-to", "mechanism", "where", "uses", "definition"]
"""`how-to` asks for steps, `mechanism` for how something works, `where` for a place in code, `uses` for callers."""

_VERBS = (
    r"(?:call|use|invok|reference|import|throw|rais|cover|test|exercis|instantiat|inherit|extend|implement)(?:e?s)?\b"
)
_DONE = (
    r"(?:called|used|invoked|referenced|imported|thrown|raised|covered|tested|exercised|instantiated|inherited|extended"
    r"|implemented|passed|needed)\b"
)

# English, German, French, Spanish. The ranking learns a weight for each (`benchmarks/fit.py`); "why", "how many" and
# "what happens" were tried, and change nothing on projects left out.
_SIGNS: Mapping[Intent, re.Pattern[str]] = {
    "how-to": re.compile(
        r"\bhow (?:do|can|could|should|would|to)\b(?! (?:it|this|that|they|the)\b)|\b(?:can|could|may) (?:i|we)\b"
        r"|\bi (?:want|need)\b|\bis there (?:a|any) way\b|\b(?:am i|are we) supposed\b|\bwhat do (?:i|we)\b"
        r"|\bwie (?:kann|muss|soll|richte|mache|installiere|benutze|verwende) (?:ich|man|wir)\b"
        r"|\bcomment (?:puis-je|peut-on|faire|dois-je|je)\b|\bc[oó]mo (?:puedo|se puede|hago|debo)\b",
        re.IGNORECASE,
    ),
    "mechanism": re.compile(
        r"\bhow (?:does|do|is|are)\b(?! (?:i|we|you)\b)|\bwie (?:funktioniert|funktionieren|wird|werden)\b"
        r"|\bcomment (?:fonctionne|marche)\w*|\bc[oó]mo funcionan?\b",
        re.IGNORECASE,
    ),
    "where": re.compile(
        r"\bwhere\b|\bwho calls\b|\bwh(?:ich|at) (?:\w+ )?(?:function|file|class|module|method|code|struct|type|line"
        r"|component|query|trait|interface|constant)\b|\bwo (?:wird|werden|ist|sind|steht)\b|\bo[uù] est\b"
        r"|\bd[oó]nde\b|\bwelche (?:funktion|klasse|datei|methode)\b",
        re.IGNORECASE,
    ),
    # "What does X call?" asks what X does, "What calls X?" for uses of X. English and German.
    "uses": re.compile(
        rf"\b(?:who|what|that|which(?:\s+\w+)?)\s+(?:else\s+)?(?:{_VERBS}|use\b)"
        rf"|\b(?:where|how|when)(?:\s+else)?\s+(?:is|are|was|gets?)\b[^?\n]{{0,200}}\b{_DONE}"
        r"|\b(?:callers?|us(?:ag)?es?|references|calls)\s+(?:of|to)\b"
        r"|\bwer\s+(?:ruft|benutzt|verwendet|nutzt|wirft|testet)\b"
        r"|\bwo\s+(?:wird|werden)\b[^?\n]{0,200}\b(?:aufgerufen|benutzt|verwendet|genutzt|geworfen|getestet)\b",
        re.IGNORECASE,
    ),
}


# A question with the verb first. "Can you show ...?", "Is there a way to ...?" and "Does anyone know how to ...?" ask
# for more than a yes. English, German, French, Spanish.
_ASKS_WHETHER = re.compile(
    r"\W*(?:(?:can|could|may|must|should|does|do|did|is|are|was|were|will|has|have)\s+"
    r"(?!you\b|there\s+(?:a|any)\s+way\b|.*\bhow\b)"
    r"|(?:kann|können|muss|müssen|darf|gibt es|ist|sind|hat|wird|werden|lässt sich|unterstützt)\s+"
    r"(?!(?-i:Sie)\b|(?:eine\s+möglichkeit|einen\s+weg)\b|.*,\s*wie\b)"
    r"|(?:peut-on|puis-je|est-ce|est-il|y a-t-il|faut-il)\s+"
    r"(?!(?:un\s+moyen|une\s+(?:façon|manière))\b|.*\bcomment\b)"
    r"|(?:puedo|puede|se puede|hay|existe|tiene)\s+"
    r"(?!(?:alguna|una)\s+(?:manera|forma)\b|(?:algún|un)\s+modo\b|.*\bcómo\b))",
    re.IGNORECASE | re.DOTALL,
)


def intents_of(text: str) -> frozenset[Intent]:
    """Return the intents of a question; none for most topics.

    Example:
        >>> sorted(intents_of("How do I retry a failed job?")), sorted(intents_of("Where are jobs retried?"))
        (['how-to'], ['where'])
    """
    return frozenset(intent for intent, signs in _SIGNS.items() if signs.search(text))


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

# "Which lessons talk about ..." asks for places. The words up to "about" are not searched for.
_ASKS_FOR_PLACES = re.compile(
    r"\s*(?:in\s+)?(?:which|what|list|name|all)\b(?:\s+(?:the|of|all|these|my|our)\b)*\s+"
    r"(?:lessons?|courses?|files|documents|pages|chapters|sections|modules)\b"
    # "Which files are never indexed?" asks what they are, not where something is.
    r"(?!\s+(?:is|are|was|were|can|may|must|should|will|has|have|had)\b)"
    r"(?:\s+(?:that|which|do|does|we|you|talks?|speaks?|tells?|explains?|discuss|covers?|mentions?|about|of|on)\b)*",
    re.IGNORECASE,
)


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
    asks_for_places: bool = False
    """It asks which lessons, files or the like: the answer is several places, not one passage."""
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
        return _ASKS_WHETHER.match(self.text) is not None and not self.compared

    @cached_property
    def view(self) -> View:
        """`files` for a topic or a symbol, `passages` for a question or a quotation: see `docs/retrieval.md`."""
        is_marked = self.text.endswith(_QUESTION_MARKS) or len(self.text.split()) > _TOPIC_WORDS
        is_read = is_marked or self.asks_for_places or bool(self.quoted) or _ASKS.match(self.text) is not None
        is_read = is_read or self.listed is not None or self.versions is not None or self.release is not None
        is_read = is_read or self.change is not None or self.asks_for_parameters
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
        asks = _ASKS.match(self.text) is not None or is_question(self.text)
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
    def change(self) -> AskedChange | None:
        """The change whose release it asks for, as "Which version added it?" does, if any."""
        return None if self.compared or self.quoted else change_of(self.text)

    @cached_property
    def versions(self) -> AskedVersions | None:
        """The things of which it asks for the required versions, as "Which Python does it need?" does, if any."""
        return None if self.compared or self.settings or self.quoted else versions_of(self.text)

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
        is_named = self.compared or self._is_signed or identifiers(text)
        return not is_named and (kind_of(text) == "whole" or is_about_it(text))

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
    is_symbol = ONE_WORD.fullmatch(text) is not None
    sides = () if places or is_symbol else compared(text)
    # `Client.get` has no stop words. "List all files" has no topic beside its places. An answer to a comparison need
    # not contain "difference".
    looked_for = (
        text[places.end() :] if places else " and ".join(sides) or NO_CHOICE.sub(r"\1by default", IN_CODE.sub("", text))
    )
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
        asks_for_places=places is not None,
        asks_for_parameters=asked is not None,
    )
