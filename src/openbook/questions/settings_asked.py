"""Finds the settings that a question asks for by name: their description, default, values, or how to set them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from openbook.questions.phrases import Phrases
from openbook.tokens import tokenize


class AskedSetting(NamedTuple):
    """A setting as a question names it."""

    name: str
    owners: tuple[str, ...]
    """Its parents, outermost first: `("gui", "theme")` for `gui.theme.borderColor`; mostly empty."""


_WORD = r"[A-Za-z_][\w-]*(?<!-)"
# `gui.tabWidth`, `readpool.unified.max-tasks`, `idle-timeout`, `tx_confirmation`, `tabWidth`, `--quiet`.
_SPELLED = re.compile(
    rf"(?<![\w./-])(?:--?[A-Za-z][\w-]*|{_WORD}(?:\.{_WORD})+|[A-Za-z]\w+(?:-\w\w+)+"
    r"|[A-Za-z]\w*_\w+|[a-z]\w*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)"
    r"(?![\w/(]|\.\w)"
)
# A name with a sign, as documentation writes it: `:write`, `$nu`, `~p`, `%Z`, `&mo`, `{q}`, `#{pane_id}`, `[no-cd]`.
# `@Bind` is a type, and `$HOME` a variable of the environment, which tables name without the sign.
SIGNS = "&:~%#$@{["
_SIGNED = re.compile(
    r"(?<![^\s`\"'(])(?:(?:[&:~%#]|[$@](?![A-Z]))[A-Za-z](?:[\w-]*\w)?!?|[#$%]?\{[\w.:+-]+\}|\[[a-z]+(?:-[a-z]+)*\])"
    r"(?=[\s`\"'?,)]|[.!]?$)"
)
# A type, unless the question says that it is a setting.
_TYPE = re.compile(r"[A-Z]\w*[a-z]\w*")
_KIND = r"(?:option|flag|setting|variable|directive|keyword|parameter|key|field|property)"
# A type before a parameter or field of it: "ProxyPool max_size", "Schema loadOnly"; a name of code before a plain word
# that the question calls a setting: "proxy_pool's size option".
_BEFORE_MEMBER = re.compile(
    rf"`?\b([A-Z]\w*(?=(?:`|['\u2019]s)?[ ]`?(?:[A-Za-z]\w*_\w|[a-z]\w*[A-Z]))"
    rf"|[a-z][^\W_]*+_\w++(?=(?:`|['\u2019]s)?[ ]`?{_WORD}`?[ ]{_KIND}\b))(?:`|['\u2019]s)?[ ]`?"
)
# "What is a pre-commit hook?", but "What does max-load do?" and "what is max-load for".
_COMPOUND = re.compile(r"[A-Za-z]\w+(?:-\w\w+)+")
_NOUN = re.compile(
    rf"\s+(?!(?:{_KIND}|do|does|mean|means|for|of|in|on|by|to|can|may|have|has|take|takes|set|used?|controls?|default"
    r"|is|are|be|and|or|under|with)\b)\w"
)
# "priority in opsgenie_config"
_INSIDE = re.compile(r"\b(?:in|of|under|inside)\s+(?:the\s+)?[`\"']?$", re.IGNORECASE)
# A plain word that the question calls a setting: "the mouse option", "the default of mouse".
_QUOTED = rf"(?:the\s+)?[`\"']?({_WORD})[`\"']?"
_PLAIN = re.compile(
    rf"\bthe\s+[`\"']?({_WORD})[`\"']?\s+{_KIND}\b"
    rf"|\bdefault(?:\s+value)?\s+(?:of|for)\s+{_QUOTED}(?:\s+{_KIND})?\W*$|\bvalues\s+(?:can|does|may|for|of)\s+{_QUOTED}\b"
    rf"|\bdoes\s+{_QUOTED}\s+default\s+to\b",
    re.IGNORECASE,
)
# A parameter of a function: "the reach argument of lift", "what does reach do in lift", "default of .reach in lift".
_ARGUMENT = r"(?:arg(?:ument)?|param(?:eter)?)"
_REACH = rf"[`\"']?\.?(?P<name>{_WORD})[`\"']?"
_LIFT = (
    r"\s+(?:of|in|for|to)\s+(?:the\s+)?(?:function\s+)?"
    rf"[`\"']?(?P<owner>(?:{_WORD}(?:\.|::))*{_WORD})[`\"']?(?:\(\))?(?!\w)"
)
_OF_FUNCTION = Phrases(
    rf"\bthe\s+{_REACH}\s+{_ARGUMENT}{_LIFT}",
    rf"\b{_ARGUMENT}\s+{_REACH}{_LIFT}",
    rf"\bdoes\s+{_REACH}\s+(?:do|mean){_LIFT}$",
    rf"\bdefault(?:\s+value)?\s+(?:of|for)\s+{_REACH}{_LIFT}$",
)
_NO_NAME = frozenset(
    "a an the this that it my your our its all any each every other same new which what possible allowed valid default"
    " values value config configuration do does mean for control list is are".split()
)

_SAYS_SO = re.compile(
    r"\b(?:options?|settings?|flags?|keys?|fields?|parameters?|config\w*|defaults?|values)\b", re.IGNORECASE
)
# Tokens of such questions that do not name a setting.
FRAME = frozenset(
    tokenize(
        "option flag switch setting settings variable directive keyword parameter argument arg param command key field"
        " property config configuration configure default defaults value values possible allowed valid available accept"
        " take have set"
        " setting change enable disable control mean used use purpose for do does can turn on off choose type types"
        " choices short form abbreviation"
        " standardwert macht bewirkt werte option wert setze setzen valeur valeurs sert valor valores qué hace"
    )
)
# Longer texts are pasted, and ask for no setting.
_MAX_CHARS = 300
# "What is --fraction of pastel mix?" and "What does the fraction option do when I mix colors?", but not "How do I use
# --fraction with colors of different spaces?"
_MAX_WORDS_BESIDE_OPTION = 4
_DOES = re.compile(rf"\bdoes\s+the\s+[`\"']?{_WORD}[`\"']?\s+{_KIND}\s+(?:do|mean|control)\b", re.IGNORECASE)
_ASKS_WHAT = re.compile(
    r"\W*(?:what|which|how\s+(?:many|much|long|often)\b|was|welche|que\b|quel|qu[ée])", re.IGNORECASE
)
# "in lazygit?", "to 5?"
_AT_THE_END = re.compile(r"\b(?:in\s+(?:the\s+)?\w+|to\s+\d+)\W*$", re.IGNORECASE)

_WANTS_VALUE = re.compile(r"\bdefaults?\b|\bstandard(?:wert|mäßig)|par défaut|por defecto|predeterminad", re.IGNORECASE)
_WANTS_CHOICES = re.compile(r"\b(?:values|choices|types|modes)\b|\bwerte\b|\bvaleurs\b|\bvalores\b", re.IGNORECASE)


def asked_settings(text: str, tokens: Collection[str]) -> tuple[AskedSetting, ...]:
    """Return the settings that a question asks for, if it asks for nothing else; mostly none.

    Example:
        >>> asked_settings("What does gui.tabWidth do?", tokenize("gui.tabWidth"))
        (AskedSetting(name='tabWidth', owners=('gui',)),)
        >>> asked_settings("Which values can mouse have?", tokenize("mouse"))
        (AskedSetting(name='mouse', owners=()),)
        >>> asked_settings("Where is tabWidth read?", ["tabwidth", "read"])
        ()
    """
    if len(text) > _MAX_CHARS:
        return ()
    found = _OF_FUNCTION.search(text)
    if found and found["name"].lower() not in _NO_NAME and FRAME.issuperset({*tokens}.difference(tokenize(found[0]))):
        return (AskedSetting(found["name"], tuple(re.split(r"\.|::", found["owner"]))),)
    signed = [found.group() for found in _SIGNED.finditer(text)]
    unsigned = _SIGNED.sub(lambda found: " " * len(found.group()), text)
    unsigned = _BEFORE_MEMBER.sub(lambda found: _as_owner(found, tokens), unsigned)
    spelled = [found for found in _SPELLED.finditer(unsigned) if not _is_word(found)]
    plain = [name for found in _PLAIN.finditer(text) for name in found.groups() if name]
    plain = [name for name in plain if name.lower() not in _NO_NAME]
    if not says_setting(text):
        others = [found for found in spelled if not _TYPE.fullmatch(found.group())]
        owning = [found for found in spelled if _INSIDE.search(text, 0, found.start())] if others or plain else []
        spelled = [found for found in spelled if found in others or found in owning]
    written = " ".join(found.group() for found in spelled)
    plain = [name for name in plain if name not in written]
    about = frozenset(tokenize(" ".join((written, *signed, *plain, *_AT_THE_END.findall(text))))) | FRAME
    has_option = bool(signed or _DOES.search(text)) or any(found.group().startswith("-") for found in spelled)
    most = _MAX_WORDS_BESIDE_OPTION if has_option and _ASKS_WHAT.match(text) else 0
    if len(set(tokens) - about) > most:
        return ()
    inside = [found for found in spelled if _INSIDE.search(text, 0, found.start())]
    named = [found.group() for found in spelled if found not in inside]
    around = tuple(part for found in inside for part in found.group().split("."))
    if not (named or plain or signed):
        named, around = [found.group() for found in inside], ()
    parts = [*([name] for name in signed), *(name.split(".") for name in dict.fromkeys((*named, *plain)))]
    return tuple(AskedSetting(name, (*around, *owners)) for *owners, name in parts)


def _as_owner(found: re.Match[str], tokens: Collection[str]) -> str:
    """Return a type as a qualifier, in the same length; the text itself for another word: "Set max_size"."""
    words = frozenset(tokenize(found[1]))
    is_name = words.issubset(tokens) and not words.issubset(FRAME)
    return f"{found[1]}.".rjust(len(found.group())) if is_name else found.group()


def _is_word(found: re.Match[str]) -> bool:
    """Return whether a hyphenated name is a word of the sentence, as in "a pre-commit hook"."""
    is_compound = _COMPOUND.fullmatch(found.group()) is not None
    return is_compound and _NOUN.match(found.string, found.end()) is not None


def says_setting(text: str) -> bool:
    """Return whether a question contains a word such as "option" or "setting"."""
    return _SAYS_SO.search(text) is not None


def wants_default(text: str) -> bool:
    """Return whether a question asks for a default."""
    return _WANTS_VALUE.search(text) is not None


def wants_choices(text: str) -> bool:
    """Return whether a question asks for possible values."""
    return _WANTS_CHOICES.search(text) is not None
