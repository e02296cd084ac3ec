"""Recognizes questions for what a term means, and the texts that define it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from openbook.questions.phrases import Phrases

_ARTICLE = r"(?:(?:an?|the)\s+)?"
_PLACE = r"(\s+(?:here|in\s+(?:the\s+|this\s+)?[\w.-]+(?:\s+[\w.-]+)?))"
# Each has a group for the term, without its article. English, German, French, Spanish.
_ASKS_WHAT = Phrases(
    rf"(?:and\s+)?(?:what|who)(?:\s+(?:is|are|was|were)|['’]?s)\s+(?!meant\b){_ARTICLE}(.+)",
    rf"what\s+(?:does|do)\s+(?:the\s+(?:word|term)\s+)?{_ARTICLE}(.+?)\s+(?:mean|stand\s+for){_PLACE}?",
    rf"what(?:\s+is|['’]?s)\s+meant\s+by\s+(?:the\s+(?:word|term)\s+)?{_ARTICLE}(.+)",
    rf"(?:please\s+)?(?:explain|define)(?:\s+to\s+me)?\s+what\s+{_ARTICLE}(.+?)\s+(?:is|are|means?)",
    rf"(?:please\s+)?(?:explain|define)\s+(?!to\b|me\b|why\b|how\b|what\b|where\b|when\b){_ARTICLE}(.+)",
    r"(?:was|wer)\s+(?:ist|sind|war|waren)\s+(?:(?:ein|eine|der|die|das)\s+)?(.+)",
    r"qu['’]est[- ]ce\s+qu(?:e\s+(?:c['’]est\s+qu)?|['’])(?:e?\s*)(?:une?\s+|l[ea]s?\s+|l['’])?(.+)",
    r"¿?qu[ée]\s+(?:es|son)\s+(?:una?\s+|el\s+|l[ao]s?\s+)?(.+)",
    ends=" \t?？!.。`'\"“”‘’¿",
    max_chars=120,
)
_ASKS_WHAT_IT_DOES = Phrases(
    r"what\s+(?:does|do)\s+(?:the\s+(?:function\s+)?)?[`'\"]?(?P<name>[\w.]*\w)(?:\(\))?[`'\"]?\s+(?:do|return)",
    r"what\s+(?:does|do)\s+[`'\"]?(?P<name>[\w.]*_\w+|[\w.]+(?=\(\)))(?:\(\))?[`'\"]?\s+(?!mean\b)[a-z]+(?:\s+(?:for|with|to|by))?",
)
# Longer terms ask for something else, as "What is the default port of the server?" does for a value.
_MAX_WORDS = 3
_PURPOSE = re.compile(r"\s+(?:(?:there|used|good|meant)\s+)?for$", re.IGNORECASE)
# "What is a task in this project?", but not "What is stored in the cache?".
_WITH_PLACE = re.compile(rf"(?P<term>.*?\S)(?P<place>{_PLACE})", re.IGNORECASE)
_NO_TERM = re.compile(r".*(?:ed|ing|en|wrong|new|different|next|left|missing|kept|set|done|run)", re.IGNORECASE)
_OF_OTHER = re.compile(r"(?:it|this|that|they|these|those|defaults?)\b", re.IGNORECASE)

# The copula of a definition, unlike those of "A chunk is cut" and "Harbour is used by": an article follows.
_IS = (
    r"(?:,?\s(?:is|was|means)\s(?:(?:simply|basically|just|essentially)\s)?(?:an?|the|one|any|our|that|when|what)\b"
    r"|\s(?:represents?|provides?|describes?|denotes?|refers?\sto|stands?\sfor|lets?|allows?|contains?|connects?)\s"
    r"|\s(?:are|were)\s(?!not\b|(?!used\b|meant\b)\w+ed\b)\w"
    r"|\s(?:ist|war)\s(?:eine?|der|die|das)\b|\ssind\s\w|\s(?:est|désigne)\s(?:une?\b|l[ea]\b|l['’])|\ssont\s(?:des|les)\b"
    r"|\ses\s(?:una?|el|la)\b|\sson\s\w|\s(?:\\?-{1,2}|[–—])\s(?-i:an?\b|the\b|[AT]\w{0,2}\s|[a-z]))"
)
_SURNAME = r"(?:\s(?-i:[A-Z])[\w/+.-]*)?"  # "Debian GNU/Linux is"
_BESIDE = r"(?:[^\w\s-]|_|\s?\([^)\n]*\)|\s?<[^>\n]*>){0,6}"  # markup, links, other names
# Spoken definitions: "So tool use, also known as function calling," and "This is called query expansion".
_LEADS = r"(?:(?:so|now|and|or|well|also|next),?\s)?"
_APART = r",\s(?:which|also known|or)\s"
_CALLED = r"\b(?:called|known as|referred to as)\s(?:(?:an?|the)\s)?(?:[^\w\n]|_){0,16}"
_MARKS = r"(?:[^\w\n]|_){0,16}"  # more is a rule across the page
_OPENS = rf"{_MARKS}(?:(?:an?|the|eine?|der|die|das|une?|l[ea]s?|l['’]|una?|el|l[ao]s)\s+|(?-i:\.B[RI]?)\s+)?{_MARKS}"


# The key of a description in a manifest.
_DESCRIPTION = re.compile(r"^[ \t{\"'-]*(?:short_)?(?:description|summary)[\"']?[ \t]*[:=]", re.MULTILINE)


@dataclass(frozen=True)
class AskedTerm:
    """A term whose meaning is asked for."""

    words: tuple[str, ...]
    """As in the question, without an article."""
    place: str = ""
    """Where it is used: "the proxy core" for "What is a layer in the proxy core?"."""

    def is_defined_in(self, text: str, *, is_code: bool = False) -> bool:
        """Return whether a text has a sentence that defines the term, or prose an entry for it in a glossary."""
        return self._told.search(text) is not None or (not is_code and self._entry.search(text) is not None)

    def is_beside(self, name: str) -> bool:
        """Return whether the question names a project, page or the like as the place of the term."""
        return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.place, re.IGNORECASE) is not None

    def is_heading_in(self, text: str) -> bool:
        r"""Return whether the term is a heading in a text, or its title.

        Example:
            >>> term = AskedTerm(("tide", "table"))
            >>> texts = ("## Tide tables\n", "The tide table\n---\n", "# Tide table of May")
            >>> [term.is_heading_in(text) for text in texts]
            [True, True, False]
        """
        return self._heading.search(text) is not None

    @cached_property
    def _heading(self) -> re.Pattern[str]:
        title = rf"(?:what\s+(?:is|are)\s+)?(?:(?:an?|the|about)\s+)?[`*\"']*{self._name}s?[`*\"'?]*"
        marked = rf"(?:#{{1,6}}|={{1,6}}|title:)[ \t]+{title}[ \t]*(?:[{{#][^\n]*)?$"
        underlined = rf"{title}[ \t]*\n(?P<sign>[=\-~^\"'`*+#.])(?P=sign){{2,}}[ \t]*$"
        return re.compile(rf"^(?:{marked}|{underlined})", re.IGNORECASE | re.MULTILINE)

    @cached_property
    def _name(self) -> str:
        return r"[\W_]{0,8}".join(map(re.escape, self.words))

    def is_described_in(self, text: str) -> bool:
        r"""Return whether keys in a text have the term as a name, and a description, as those of a manifest.

        Example:
            >>> term = AskedTerm(("tide", "table"))
            >>> [term.is_described_in(f"name: {name}\nsummary: It lists tides.") for name in ("tide-table", "tide")]
            [True, False]
        """
        return _DESCRIPTION.search(text) is not None and self._named.search(text) is not None

    @cached_property
    def _named(self) -> re.Pattern[str]:
        key = r"^[ \t{\"'-]*(?:name|module|plugin|title|id)[\"']?[ \t]*[:=][ \t]*"
        return re.compile(rf"{key}[\"']?{self._name}[\"',]*[ \t]*$", re.IGNORECASE | re.MULTILINE)

    def is_subject_of(self, text: str) -> bool:
        """Return whether a text begins with the term and a verb: "`moor()` ties a ship"."""
        return self._acts.match(text) is not None

    @cached_property
    def _acts(self) -> re.Pattern[str]:
        return re.compile(rf"(?:[-*+][ \t]+)?[`*\"]*{self._name}(?:\([^()\n]*\))?[`*\"]*\s+(?!was\b|has\b)[a-z]+s\b")

    @cached_property
    def _entry(self) -> re.Pattern[str]:
        below = rf"[^\S\n]*(?P<sign>[*_]*){self._name}(?P=sign)[^\S\n]*\n(?::[^\S\n]+|[^\S\n]{{2,}})[^\W\d_]"
        beside = rf"[^\S\n]*(?:[-*+][ \t]+)?(?P<bold>\*\*|__){self._name}s?(?:(?P=bold)[ \t]*:|:(?P=bold))[ \t]+\w"
        return re.compile(rf"^(?:{below}|{beside})", re.IGNORECASE | re.MULTILINE)

    @cached_property
    def _told(self) -> re.Pattern[str]:
        name = self._name
        # "Overlays are layers" is a definition, "The overlays are listed" is not.
        begins = rf"(?:^|[.!?]\s|\s(?=or\s)){_LEADS}(?!\W*the\s\W*{name}s\b){_OPENS}"
        told = rf"{begins}{name}s?{_SURNAME}{_BESIDE}(?:{_IS}|{_APART})"
        # "A quay keeps ..." speaks of quays in general, "The quay keeps ..." of one.
        of_any = rf"(?:^|[.!?]\s){_MARKS}an?\s+{_MARKS}{name}{_BESIDE}\s(?:\w+s|can|may|will|must)\s"
        return re.compile(rf"{told}|{of_any}|{_CALLED}{name}s?\b", re.IGNORECASE | re.MULTILINE)

    def is_name(self, name: str) -> bool:
        """Return whether a name in code or a heading is the term, in any spelling, singular or plural.

        Example:
            >>> term = AskedTerm(("control", "link"))
            >>> [term.is_name(name) for name in ("ControlLink", "control_links", "Control links", "Link")]
            [True, True, True, False]
        """
        return self.may_be_in(name) and _letters(name) == _letters("".join(self.words))

    def may_be_in(self, text: str) -> bool:
        """Return quickly whether a text, such as one of thousands of paths, has the beginning of the term."""
        return self._lead in text.lower()

    @cached_property
    def _lead(self) -> str:
        return re.split(r"[\W_]+", self.words[0].lower())[0].removesuffix("s")


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower().removesuffix("s")


def term_of(question: str) -> AskedTerm | None:
    """Return the term whose meaning a question asks for; None if it asks for something else.

    Example:
        >>> term_of("What is a tide table?").is_defined_in("See below. A **tide table** is a list.")
        True
        >>> term_of("what does tide table mean in Harbour")
        AskedTerm(words=('tide', 'table'), place='in Harbour')
        >>> term_of("What happens at low tide?") is None
        True
    """
    found = _ASKS_WHAT.fullmatch(question)
    if found is None:
        return None
    term, *places = found.groups()
    place = next(filter(None, places), "")
    around = None if place else _WITH_PLACE.fullmatch(term)
    if around and not _NO_TERM.fullmatch(around["term"]):
        term, place = around["term"], around["place"]
    term = _PURPOSE.sub("", term)
    words = tuple(re.findall(r"[.+#/-]*\w[\w'’.+#/-]*", term))
    if not 0 < len(words) <= _MAX_WORDS or _OF_OTHER.match(term):
        return None
    return AskedTerm(words, place.strip())


def doing_of(question: str) -> AskedTerm | None:
    """Return the name of which a question asks what it does; None if it asks for something else.

    Example:
        >>> doing_of("What does moor() do?"), doing_of("What does the crane lift?")
        (AskedTerm(words=('moor',), place=''), None)
    """
    found = _ASKS_WHAT_IT_DOES.fullmatch(question)
    return AskedTerm((found["name"],)) if found and not _OF_OTHER.match(found["name"]) else None
