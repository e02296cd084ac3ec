"""Recognizes questions for the parameters of a function or class, as "which arguments does Crane.lift take"."""

from __future__ import annotations

import re
from typing import NamedTuple

from openbook.questions.names import identifiers
from openbook.questions.phrases import Phrases

CONSTRUCTORS = frozenset("__init__ __new__ __construct constructor initialize init new".split())
"""Names of constructors that are not named after their class."""


class AskedParameters(NamedTuple):
    """The function or class whose parameters are asked for."""

    name: str
    """As written, perhaps with qualifiers: `Crane.lift`."""
    is_code: bool
    """It is surely a name in code, unlike a word such as `lift`, which may be a program."""


_PARAMETERS = r"(?:arguments?|args|parameters?|params|signature)"
_KIND = (
    r"(?:constructor|initiali[sz]er|class|struct|type|object|decorator|function|method|macro|hook|middleware|trait"
    r"|interface|mixin)"
)
_NAME = (
    rf"(?:the\s+)?(?:(?P<before>{_KIND})\s+(?:of\s+)?(?:the\s+)?)?"
    r"(?P<name>`[^`\s]+`|@?[A-Za-z_][\w]*(?:(?:\.|::|#|->)\w+)*(?:\([^()]*\))?)"
    rf"(?:['\u2019]s)?(?:\s+(?P<behind>{_KIND}))?"
)
_TAKES = r"(?:accept|take|have|expect|need|require|receive|get|support)s?"
_IN = r"(?:\s+(?:as\s+(?:its\s+)?(?:arguments?|parameters?|input)|in\s+[\w.-]+))?"
_WORDS = r"(?:(?!are\b|is\b)[\w-]+\s+){0,2}?"
_ASKS = Phrases(
    rf"(?:which|what|how\s+many)\s+{_WORDS}{_PARAMETERS}\s+(?:does|do|can|must|should|has)\s+{_NAME}(?:\s+{_TAKES})?{_IN}",
    rf"(?:which|what)\s+{_WORDS}{_PARAMETERS}\s+(?:are|is)\s+"
    rf"(?:(?:there|required|needed|accepted|supported|taken|expected)\s+)?(?:for|of|by|in)\s+{_NAME}{_IN}",
    rf"(?:which|what)\s+{_WORDS}{_PARAMETERS}\s+(?:can|must|should|do)\s+(?:i|we|you|one|be)\s+pass(?:ed)?\s+to\s+{_NAME}{_IN}",
    rf"(?:(?:what(?:['\u2019]s|\s+(?:is|are))|show(?:\s+me)?|list|give\s+me|explain)\s+)?(?:all\s+)?(?:the\s+)?"
    rf"{_WORDS}{_PARAMETERS}\s+(?:of|for|to|in|from)\s+{_NAME}{_IN}",
    rf"{_NAME}\s+{_PARAMETERS}",
    rf"(?P<unsaid>what)\s+does\s+{_NAME}\s+(?:accept|take|expect){_IN}",
)

_SAYS_SO = re.compile(rf"\b{_PARAMETERS}\b", re.IGNORECASE)


def says_parameters(question: str) -> bool:
    """Return whether a question contains a word such as "arguments"."""
    return _SAYS_SO.search(question) is not None


def parameters_of(question: str) -> AskedParameters | None:
    """Return the function or class whose parameters a question asks for, if any.

    Example:
        >>> parameters_of("Which arguments does Crane.lift take?")
        AskedParameters(name='Crane.lift', is_code=True)
        >>> parameters_of("parameters of hoist"), parameters_of("What does the parameter load of hoist mean?")
        (AskedParameters(name='hoist', is_code=False), None)
    """
    found = _ASKS.fullmatch(question)
    if found is None:
        return None
    written = found["name"]
    name = written.strip("`@").partition("(")[0]
    is_marked = written != name or bool(found["before"] or found["behind"])
    is_code = is_marked or bool(identifiers(written))
    # "What does the proxy accept?" asks for no parameters.
    is_said = is_code or "unsaid" not in found.groupdict()
    return AskedParameters(name, is_code) if name and is_said else None
