"""The settings that a question asks for by name: what one does, its default, its values, how it is set."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from openbook.tokens import tokenize


class AskedSetting(NamedTuple):
    """A setting, as a question names it."""

    name: str
    owners: tuple[str, ...]
    """What it stands in, outermost first: `("gui", "theme")` of `gui.theme.borderColor`; mostly nothing."""


_WORD = r"[A-Za-z_][\w-]*(?<!-)"
# `gui.tabWidth`, `readpool.unified.max-tasks`, `idle-timeout`, `tx_confirmation`, `tabWidth`; not behind dashes.
_SPELLED = re.compile(
    rf"(?<![\w./-])(?:{_WORD}(?:\.{_WORD})+|[A-Za-z]\w+(?:-\w\w+)+|[A-Za-z]\w*_\w+|[a-z]\w*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)"
    r"(?![\w/(]|\.\w)"
)
# A file, a place on the web such as `example.com`, or an abbreviation such as "e.g.".
_NO_SETTING = re.compile(
    r"(?:[a-z]\.)+[a-z]|.*\.(?:com|org|net|io|dev|py|[cm]?[jt]sx?|go|rs|[ch](?:pp)?|md|rst|txt|json|toml|ya?ml|ini|conf|cfg|lock|sh|html?|css|java|kt|rb|php|xml|proto)",
    re.IGNORECASE,
)
# "the -H flag of ssh-keygen" asks for no setting of that name.
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z]")
# A type, unless the question says that it is a setting.
_TYPE = re.compile(r"[A-Z]\w*[a-z]\w*")
# "What is a built-in?", "What is a pre-commit hook?", but "What does max-load do?" and "what is max-load for".
_COMPOUND = re.compile(r"[A-Za-z]\w+(?:-\w\w+)+")
_ARTICLE = re.compile(r"\b(?:an?|the)\s+$", re.IGNORECASE)
_NOUN = re.compile(
    r"\s+(?!(?:do|does|mean|means|for|of|in|on|by|to|can|may|have|has|take|takes|set|used?|control|controls|default"
    r"|is|are|be|and|or|under|with)\b)\w"
)
# "priority in opsgenie_config"
_INSIDE = re.compile(r"\b(?:in|of|under|inside)\s+(?:the\s+)?[`\"']?$", re.IGNORECASE)
_KIND = r"(?:option|flag|setting|variable|directive|keyword|parameter|key|field|property)"
# A word of everyday language, where the question says that it is a setting: "the default of mouse".
_PLAIN = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bdefault(?:\s+(?:value|setting))?\s+(?:of|for)\s+(?:the\s+)?[`\"']?(?P<name>{_WORD})[`\"']?(?:\s+{_KIND})?\W*$",
        rf"\bthe\s+[`\"']?(?P<name>{_WORD})[`\"']?\s+{_KIND}\b",
        rf"\b{_KIND}\s+[`\"']?(?P<name>{_WORD})[`\"']?(?:\s+(?:do|mean|for|control)\b|\W*$)",
        rf"\b(?:values|choices)\s+(?:can|does|do|may|are\s+possible\s+for|for|of)\s+(?:the\s+)?[`\"']?(?P<name>{_WORD})\b",
        rf"\b(?:which|what)\s+(?P<name>{_WORD})\s+values\b",
        rf"\bwhat\s+does\s+[`\"']?(?P<name>{_WORD})[`\"']?\s+default\s+to\b",
    )
)
_NO_NAME = frozenset(
    "a an the this that it my your our its all any each every other same new which what possible allowed valid default"
    " values value config configuration do does mean for control list is are".split()
)

_SAYS_SO = re.compile(
    r"\b(?:options?|settings?|flags?|keys?|fields?|parameters?|config\w*|defaults?|values)\b", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(?:what|which|how)\b|\bdefaults?\b|\b(?:was|welche\w*|wie|standardwert|quels?|quelles?|comment|qu[ée]|cu[aá]l\w*|c[oó]mo)\b",
    re.IGNORECASE,
)
# What frames such a question, and says nothing of the setting.
_FRAME = frozenset(
    tokenize(
        "option flag switch setting settings variable directive keyword parameter command key field property config"
        " configuration configure default defaults value values possible allowed valid available accept take have set"
        " setting change enable disable control mean used use purpose for do does can turn on off choose type types"
        " choices"
        " standardwert macht bewirkt werte option wert setze setzen valeur valeurs sert valor valores hace"
    )
)
_MOST_OTHER_WORDS = 1
# Who asks for a setting pastes no text.
_MOST_CHARS = 300

_WANTS_VALUE = re.compile(r"\bdefaults?\b|\bstandard(?:wert|mäßig)|par défaut|por defecto|predeterminad", re.IGNORECASE)

_WANTS_CHOICES = re.compile(r"\b(?:values|choices|types|modes)\b|\bwerte\b|\bvaleurs\b|\bvalores\b", re.IGNORECASE)


def asked_settings(text: str, tokens: Iterable[str]) -> tuple[AskedSetting, ...]:
    """Return the settings that a question asks for, if it asks for little else; mostly none.

    Example:
        >>> asked_settings("What does gui.tabWidth do?", tokenize("gui.tabWidth"))
        (AskedSetting(name='tabWidth', owners=('gui',)),)
        >>> asked_settings("Which values can mouse have?", ["mouse"])
        (AskedSetting(name='mouse', owners=()),)
        >>> asked_settings("Where is tabWidth read?", ["tabwidth", "read"])
        ()
    """
    if len(text) > _MOST_CHARS or not _ASKS.search(text) or _OPTION.search(text):
        return ()
    spelled = [found for found in _SPELLED.finditer(text) if not _NO_SETTING.fullmatch(found.group())]
    if not says_setting(text):
        spelled = [found for found in spelled if not _TYPE.fullmatch(found.group()) and not _is_word(found)]
    written = " ".join(found.group() for found in spelled)
    plain = [found["name"] for pattern in _PLAIN for found in pattern.finditer(text)]
    plain = [name for name in plain if name.lower() not in _NO_NAME and name not in written]
    told = frozenset(tokenize(" ".join((written, *plain)))) | _FRAME
    if len(set(tokens) - told) > _MOST_OTHER_WORDS:
        return ()
    inside = [found for found in spelled if _INSIDE.search(text, 0, found.start())]
    named = [found.group() for found in spelled if found not in inside]
    around = tuple(part for found in inside for part in found.group().split("."))
    if not (named or plain):
        named, around = [found.group() for found in inside], ()
    parts = (name.split(".") for name in dict.fromkeys((*named, *plain)))
    return tuple(AskedSetting(name, (*around, *owners)) for *owners, name in parts)


def _is_word(found: re.Match[str]) -> bool:
    """Return whether a name with hyphens alone is a word of the question: "a built-in", "pre-commit hook"."""
    if not _COMPOUND.fullmatch(found.group()):
        return False
    return (
        _ARTICLE.search(found.string, 0, found.start()) is not None
        or _NOUN.match(found.string, found.end()) is not None
    )


def says_setting(text: str) -> bool:
    """Return whether a question says that it asks for a setting."""
    return _SAYS_SO.search(text) is not None


def wants_default(text: str) -> bool:
    """Return whether a question asks for the default of something."""
    return _WANTS_VALUE.search(text) is not None


def wants_choices(text: str) -> bool:
    """Return whether a question asks which values something takes."""
    return _WANTS_CHOICES.search(text) is not None
