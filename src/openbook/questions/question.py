"""A question, read once and passed on: its words, the names in it, and what kind of answer it wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from openbook.errors import QueryError
from openbook.questions.course_questions import CourseQuestion, read_course_question
from openbook.questions.kinds import kind_of, without_names
from openbook.questions.languages import languages_of
from openbook.questions.names import ONE_WORD, identifiers, name_parts
from openbook.questions.settings_asked import AskedSetting, asked_settings
from openbook.questions.words import IN_CODE, NO_CHOICE, content_words_of_question, is_in_other_language, stop_words
from openbook.tokens import tokenize
from openbook.types import View

# "On Linux or Windows" and "or not" compare no things.
_THING = r"(?!(?:it|not|to|on|in|from|with|for|by|at)\b).+?"
# Each with a group for each side.
_COMPARES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r".*\bdifferences?\s+between\s+(?:using\s+)?(.+?)\s+and\s+(.+)",
        r".*\bhow\s+(?:do|does|is|are)\s+(.+?)\s+(?:differ|different)\s+from\s+(.+)",
        r".*\bhow\s+(?:do|are)\s+(.+?)\s+and\s+(.+?)\s+(?:differ|different|compare)",
        r".*\bhow\s+(?:do|does)\s+(.+?)\s+compare\s+(?:to|with)\s+(.+)",
        r"(?:please\s+)?compare\s+(.+?)\s+(?:and|to|with)\s+(.+)",
        r"(.+?)\s+(?:vs\.?|versus)\s+(.+)",
        r"(?:(?:when|why)\s+)?(?:should|would|do)\s+(?:i|we|you|one)\s+(?:rather\s+)?(?:use|choose|pick|prefer)"
        rf"\s+({_THING})\s+(?:or|over|instead of|rather than)\s+({_THING})",
        rf"which\s+(?:one\s+)?is\s+(?:better|preferable),?\s+({_THING})\s+or\s+({_THING})",
        r".*\bunterschied(?:e|en)?\s+zwischen\s+(.+?)\s+und\s+(.+)",
        r".*\bdiff[ée]rences?\s+entre\s+(.+?)\s+et\s+(.+)",
        r".*\bdiferencias?\s+(?:hay\s+)?entre\s+(.+?)\s+y\s+(.+)",
    )
)
_ARTICLE = re.compile(
    r"^(?:an?|the|ein\w{0,2}|der|die|das|dem|den|une?|l[ea]s?|una?|el|l[ao]s)\s+|^l['’]", re.IGNORECASE
)
# A name of code, and no word of a sentence: it has a capital letter, or is spelled as no word is.
_NAME = re.compile(r"`[^`]+`|\w*[A-Z][\w.:]*|\w+(?:[._:]+\w+)+(?:\(\))?")
_SIDE_ENDS = " \t?？!.,"
# What has more words is no name of a thing: "between what the page shows and what the log says".
_MOST_SIDE_WORDS = 4


def compared(question: str) -> tuple[str, ...]:
    """Return the two things that a question compares, as written, without their articles; empty if it compares none.

    Example:
        >>> compared("What is the difference between a chain and a chord?"), compared("How does a chord end?")
        (('chain', 'chord'), ())
    """
    for compares in _COMPARES:
        if found := compares.fullmatch(question.strip(_SIDE_ENDS)):
            sides = tuple(_ARTICLE.sub("", side.strip(_SIDE_ENDS), count=1) for side in found.groups())
            is_short = all(0 < len(side.split()) <= _MOST_SIDE_WORDS for side in sides)
            return sides if is_short and sides[0] != sides[1] else ()
    return ()


def asking_what_is(side: str) -> str:
    """Return the question what one of the two things is, as the search and the choice of quotes read it.

    Example:
        >>> asking_what_is("request context"), asking_what_is("Bind"), asking_what_is("find")
        ('What is request context?', 'What does `Bind` do?', 'find')
    """
    # `find` is a word of asking as well: only alone is it searched for.
    if not content_words_of_question(side):
        return side
    return f"What does `{side.strip('`')}` do?" if _NAME.fullmatch(side) else f"What is {side}?"


# Each with a group for what is asked about, without its article. English, German, French, Spanish.
_ASKS_WHAT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:and\s+)?(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+(?:(?:an?|the)\s+)?(.+)",
        r"(?:was|wer)\s+(?:ist|sind|war|waren)\s+(?:(?:ein|eine|der|die|das)\s+)?(.+)",
        r"qu['’]est[- ]ce\s+qu(?:e\s+(?:c['’]est\s+qu)?|['’])(?:e?\s*)(?:une?\s+|l[ea]s?\s+|l['’])?(.+)",
        r"¿?qu[ée]\s+(?:es|son)\s+(?:una?\s+|el\s+|l[ao]s?\s+)?(.+)",
    )
)
# "What is the default port?" asks for a value: only so many words are the name of a thing.
_MOST_WORDS = 3
_ENDS = " \t?？!.。`'\"“”‘’"

# What tells a definition from "A chunk is cut" and "Harbour is used by": what it is follows with an article.
_IS = (
    r"(?:,?\s(?:is|was|means)\s(?:(?:simply|basically|just|essentially)\s)?(?:an?|the|one|any|our|that|when|what)\b"
    r"|\s(?:are|were)\s(?!not\b)\w"
    r"|\s(?:ist|war)\s(?:eine?|der|die|das)\b|\ssind\s\w|\s(?:est|désigne)\s(?:une?\b|l[ea]\b|l['’])|\ssont\s(?:des|les)\b"
    r"|\ses\s(?:una?|el|la)\b|\sson\s\w|\s(?:\\?-{1,2}|[–—])\s(?-i:an?\b|the\b|[AT]\w{0,2}\s|[a-z]))"
)
_SURNAME = r"(?:\s(?-i:[A-Z])[\w/+.-]*)?"  # "Debian GNU/Linux is"
_BESIDE = r"(?:[^\w\s-]|_|\s?\([^)\n]*\)|\s?<[^>\n]*>){0,6}"  # markup, links, other names
# As lessons say it: "So tool use, also known as function calling," and "This is called query expansion".
_LEADS = r"(?:(?:so|now|and|or|well|also|next),?\s)?"
_APART = r",\s(?:which|also known|or)\s"
_CALLED = r"\b(?:called|known as|referred to as)\s(?:(?:an?|the)\s)?[^\w\n]*"
_OPENS = r"[^\w\n]*(?:(?:an?|the|eine?|der|die|das|une?|l[ea]s?|l['’]|una?|el|l[ao]s)\s+|(?-i:\.B[RI]?)\s+)?[^\w\n]*"


def definition_of(question: str) -> re.Pattern[str] | None:
    """Return a pattern that finds where a text says what something is; None if a question asks for no such thing.

    Example:
        >>> definition_of("What is a tide table?").search("See below. A **tide table** is a list.") is not None
        True
        >>> definition_of("What happens at low tide?") is None
        True
    """
    for asks in _ASKS_WHAT:
        if found := asks.fullmatch(question.strip(_ENDS + "¿")):
            words = re.findall(r"[\w'’.+#/-]+", found[1])
            if not 0 < len(words) <= _MOST_WORDS:
                return None
            name = r"[\W_]+".join(map(re.escape, words))
            # "The overlays are listed" speaks of some, "Overlays are layers" of what they are.
            begins = rf"(?:^|[.!?]\s|\s(?=or\s)){_LEADS}(?!\W*the\s\W*{name}s\b){_OPENS}"
            told = rf"{begins}{name}s?{_SURNAME}{_BESIDE}(?:{_IS}|{_APART})"
            entry = rf"^[^\S\n]*{name}[^\S\n]*\n(?::[^\S\n]|[^\S\n]{{2,}})[^\W\d_]"
            return re.compile(rf"{told}|{_CALLED}{name}s?\b|{entry}", re.IGNORECASE | re.MULTILINE)
    return None


Intent = Literal["how-to", "mechanism", "where", "personal", "uses", "definition"]
"""`how-to` wants steps, `mechanism` how something works, `where` a place in code, `personal` is of one's own project,
`uses` wants who calls it."""

_VERBS = (
    r"(?:call|use|invok|reference|import|throw|rais|cover|test|exercis|instantiat|inherit|extend|implement)(?:e?s)?\b"
)
_DONE = (
    r"(?:called|used|invoked|referenced|imported|thrown|raised|covered|tested|exercised|instantiated|inherited|extended"
    r"|implemented|passed|needed)\b"
)

# English, German, French, Spanish. The ranking learns what each is worth (`benchmarks/fit.py`); "why", "how many"
# and "what happens" were tried as well, and change nothing on projects left out.
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
    "personal": re.compile(
        r"\b(?:i|my|me|we|our|us|ich|mein\w*|mir|wir|unser\w*|je|mon|ma|mes|nous|notre|mi|mis|nuestr\w+)\b",
        re.IGNORECASE,
    ),
    # "What does X call?" asks for what X does, "What calls X?" for uses of X. English and German.
    "uses": re.compile(
        rf"\b(?:who|what|that|which(?:\s+\w+)?)\s+(?:else\s+)?(?:{_VERBS}|use\b)"
        rf"|\b(?:where|how|when)(?:\s+else)?\s+(?:is|are|was|gets?)\b[^?\n]{{0,200}}\b{_DONE}"
        r"|\b(?:callers?|us(?:ag)?es?|references|calls)\s+(?:of|to)\b"
        r"|\bwer\s+(?:ruft|benutzt|verwendet|nutzt|wirft|testet)\b"
        r"|\bwo\s+(?:wird|werden)\b[^?\n]{0,200}\b(?:aufgerufen|benutzt|verwendet|genutzt|geworfen|getestet)\b",
        re.IGNORECASE,
    ),
}


# The verb comes first. "Can you show ...?", "Is there a way to ...?" and "Does anyone know how to ...?" want more than
# a yes. English, German, French, Spanish.
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
    """Return what a question wants; empty for most topics.

    Example:
        >>> sorted(intents_of("How do I retry a failed job?")), sorted(intents_of("Where are jobs retried?"))
        (['how-to', 'personal'], ['where'])
    """
    return frozenset(intent for intent, signs in _SIGNS.items() if signs.search(text))


OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_KINDS = "option flag switch setting variable directive keyword parameter command key field"
_KIND = rf"(?:{_KINDS.replace(' ', '|')}|method)s?"
# "the mouse option", "setting tab-size": a word beside what it is.
_TERM = re.compile(
    rf"\bthe\s+(?P<before>[\w./-]*\w)\s+{_KIND}\b|\b{_KIND}\s+(?P<behind>[\w./-]*\w)\b|(?P<joined>\b\w+(?:-\w+)+\b)"
    r"|(?<![\w.-])(?P<place>[\w.-]+/)(?=[\s?.,]|$)",
    re.IGNORECASE,
)

# A topic is named in a few words. Longest topic in public sets of code search: 12 words.
_TOPIC_WORDS = 14
# "What is a fender" is a question, with or without its mark. "How fenders are tied" and "where ropes lie" are topics,
# and of 1,200 in public sets two dozen begin with "how does" or "how are".
_ASKS = re.compile(
    r"\W*(?:(?:what|which|who|when|why)(?:['’]s|\s+(?:\w+\s+){0,3}(?:is|are|was|were|does|can|could|should|has|have)\b)"
    r"|(?:is|are|does|can|could|should|has|have)\s+\w+\s+\w"
    r"|how\s+(?:do|can|could|should|would)\s+(?:i|we|you|one)\b"
    r"|where\s+(?:is|are|was|were|do|does|did|can|should)\b)",
    re.IGNORECASE,
)
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
    is_symbol: bool = False
    """The whole question is one name as code spells it."""
    compared: tuple[str, ...] = ()
    """The two things whose difference it asks for, as written; mostly nothing."""
    asks_for_places: bool = False
    """It asks which lessons, files or the like: several places are the answer, not one passage."""

    @cached_property
    def name(self) -> str:
        """All of it, if it is one name as code, options or files have them; or the one setting that it asks for."""
        if len(self.text.split()) == 1:
            return self.text.strip("`\"'").removesuffix("()")
        alone = self.settings[0].name if len(self.settings) == 1 else ""
        return alone if "-" in alone else ""

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The names that it spells, and words that may be an option, a setting or another entry of a list."""
        named = (*OPTION.findall(self.text), *(found[found.lastgroup or 0] for found in _TERM.finditer(self.text)))
        told = (term for term in named if set(tokenize(term)).intersection(self.tokens))
        return tuple(dict.fromkeys((*self.identifiers, *told)))

    @cached_property
    def settings(self) -> tuple[AskedSetting, ...]:
        """The settings that it asks for, if it asks for little else."""
        if self.compared or not self.intents.isdisjoint(("where", "uses")):
            return ()
        return asked_settings(self.text, self.tokens)

    @property
    def content_words(self) -> int:
        """The number of distinct tokens: how much the question itself says."""
        return len(self.tokens)

    @cached_property
    def intents(self) -> frozenset[Intent]:
        """What kind of answer it wants; empty for most topics."""
        is_of_thing = (self.definition is not None or bool(self.compared)) and not self.identifiers
        return intents_of(self.text) | ({"definition"} if is_of_thing else frozenset())

    @cached_property
    def asks_whether(self) -> bool:
        """Whether yes or no would answer it."""
        return _ASKS_WHETHER.match(self.text) is not None and not self.compared

    @cached_property
    def view(self) -> View:
        """`files` for what names a topic or a symbol, `passages` for what asks something: see `docs/retrieval.md`."""
        is_marked = self.text.endswith(_QUESTION_MARKS) or len(self.text.split()) > _TOPIC_WORDS
        is_question = is_marked or _ASKS.match(self.text) is not None
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
        """Return whether it asks what the project, page or lesson at hand is, which may go by one of `names`.

        Another name that is spelled as code, such as `Client.send`, is something in the project.
        """
        text = without_names(self.text, names)
        return not self.compared and not identifiers(text) and kind_of(text) == "whole"

    @cached_property
    def languages(self) -> frozenset[str]:
        """The codes of the languages that it may be in; empty if too little tells."""
        return languages_of(self.text)

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
            hint="ask a shorter question, such as its most important line",
        )
    places = _ASKS_FOR_PLACES.match(text)
    is_symbol = ONE_WORD.fullmatch(text) is not None
    sides = () if places or is_symbol else compared(text)
    # In `Client.get` nothing is a word of asking; "List all files" asks for nothing but its places, and what tells two
    # things apart need not speak of a difference.
    looked_for = (
        text[places.end() :] if places else " and ".join(sides) or NO_CHOICE.sub(r"\1by default", IN_CODE.sub("", text))
    )
    told = " ".join(content_words_of_question(looked_for))
    tokens = tuple(dict.fromkeys(tokenize(text) if is_symbol else tokenize(told)))
    if not tokens and (places or kind_of(text) == "whole"):
        tokens = tuple(dict.fromkeys(tokenize(text)))
    if not tokens:
        raise QueryError(f"the question {text[:40]!r} contains no word to search for", hint="name what it is about")
    named: dict[str, tuple[str, ...]] = {}
    for *owners, name in map(name_parts, [text] if is_symbol else identifiers(text)):
        named[name] = named.get(name) or tuple(owners)
    return Question(text, tokens, tuple(named), tuple(named.values()), is_symbol, sides, places is not None)
