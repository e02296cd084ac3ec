"""Recognizes questions for an enumeration, as "what error kinds are there", or for a value of it: `Mode.APPEND`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from openbook.questions.definitions import AskedTerm
from openbook.questions.names import ONE_WORD, name_parts
from openbook.questions.phrases import Phrases
from openbook.questions.words import content_words_of_question


class AskedEnumeration(NamedTuple):
    """An enumeration that may be asked for. Whether there is one of that name, only the sources know."""

    terms: tuple[AskedTerm, ...]
    """Its possible names, in any spelling."""
    member: str = ""
    """The value that is asked for; empty if all are."""

    def is_name(self, name: str) -> bool:
        """Return whether the name of a type is one of its possible names."""
        return any(term.is_name(name) for term in self.terms)


_VALUES = r"(?:variants?|values?|members?|cases|constants|enumerators|entries)"
_KIND = r"(?P<kind>kind|type|level|mode|state|status|format)s?"
_ENUM = r"(?:enum|enumeration|enum\s+class|enum\s+type)"
_ALL = r"(?:(?:all|the|its|possible|available|different|valid|allowed|supported|defined)\s+)*"
_NAME = r"(?:an?\s+|the\s+)?(?P<name>`[^`]+`|[\w.:#]*\w(?:[ -]\w+){0,3}?)"
_EXIST = (
    r"(?:are\s+there|exist|(?:are|is)\s+(?:available|allowed|defined|possible|supported|valid))(?:\s+(?:here|in\s.*))?"
)
_OPENS = r"(?:(?:what|which)(?:\s+(?:is|are)|['’]s)?|list|name|show(?:\s+me)?|explain|describe)"
_ASKS = Phrases(
    rf"(?:{_OPENS}\s+)?{_ALL}{_VALUES}\s+(?:(?:are\s+there|exist)\s+)?(?:of|in|for)\s+{_NAME}(?:\s+{_ENUM})?",
    rf"(?:what|which)\s+{_ALL}{_VALUES}\s+(?:do|does|can|may|could)\s+{_NAME}(?:\s+{_ENUM})?"
    r"\s+(?:have|has|take|be|hold|contain|include|define|get)",
    rf"(?:what|which)\s+{_ALL}{_KIND}\s+of\s+{_NAME}\s+{_EXIST}",
    rf"(?:what|which)\s+{_ALL}{_NAME}(?:\s+{_VALUES})?\s+{_EXIST}",
    rf"(?:{_OPENS}\s+|what\s+does\s+)?{_NAME}\s+{_ENUM}(?:\s+(?:do|mean|represent|contain|define))?",
    rf"(?:{_OPENS}\s+)?(?:an?\s+|the\s+)?{_ENUM}\s+{_NAME}",
)
# A type by its name: "What is ErrorKind?"
_DESCRIBES = Phrases(rf"what(?:\s+is|['’]s)\s+{_NAME}(?:\s+for)?", rf"what\s+does\s+{_NAME}\s+(?:do|mean|represent)")


def enumeration_of(
    text: str, names: Sequence[str] = (), owners: Sequence[Sequence[str]] = ()
) -> AskedEnumeration | None:
    """Return the enumeration that a question may ask for, if any.

    `names` are the unqualified code names of the question, and `owners` the qualifiers of each.

    Example:
        >>> asked = enumeration_of("what error kinds are there?")
        >>> asked.is_name("ErrorKind"), asked.is_name("Error")
        (True, False)
        >>> enumeration_of("What does Mode::Append do?", ["Append"], [("Mode",)]).member
        'Append'
        >>> enumeration_of("What does the crane do?") is None
        True
    """
    qualified = next((n for n, of in enumerate(owners) if of and of[-1][:1].isupper()), None)
    if qualified is not None:
        return AskedEnumeration((AskedTerm((owners[qualified][-1],)),), names[qualified]) if len(names) == 1 else None
    found = _ASKS.fullmatch(text) or (_DESCRIBES.fullmatch(text) if names else None)
    if found is None:
        return None
    name = found["name"].strip("`")
    words = name_parts(name)[-1:] if ONE_WORD.fullmatch(name) else name.replace("-", " ").split()
    if not content_words_of_question(" ".join(words)):
        return None
    kind = found.groupdict().get("kind")
    several = [(*words[:-1], words[-1].removesuffix("s"), kind)] if kind else []
    return AskedEnumeration(tuple(map(AskedTerm, (tuple(words), *several))))
