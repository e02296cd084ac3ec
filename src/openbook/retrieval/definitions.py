"""How strongly chunks define what a question names, and whether it is the one that is meant."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from openbook.index.protocol import Outline
from openbook.questions.names import stands_in
from openbook.questions.question import Question
from openbook.retrieval.paths import stem_of

# A definition of the name asked for outweighs any number of mentions; inside a sentence a name is
# one hint among others.
_DEFINITION_OF_SYMBOL = 2.0
_DEFINITION_OF_WORD = 1.0
_DEFINITION_IN_TEXT = 0.9
_TYPE_DEFINITION, _FUNCTION_DEFINITION = 1.0, 0.95
_INNER_DEFINITION = 0.6
# `impl Client`, `extension Client` and a heading of that name say where more of it stands.
_PART_DEFINITION = 0.3
_OTHER_CASE = 0.6
_FILE_NAMED_SO = 1.5
_WEAKER_DEFINITION = 0.5
# Of `Client.send`, the `send` of another class is a namesake, if there is one of `Client`.
_NAMESAKE = 0.5
# `get` is defined in every second class: a name defined often identifies little.
_COMMON_DEFINITIONS, _LEAST_RARITY = 5, 0.3

_TYPE = re.compile(
    r"\b(?:class|struct|interface|trait|enum|type|protocol|module|record|object|union|data|newtype|namespace|package"
    r"|impl)\b"
)
_PART = re.compile(r"\s*(impl|extension|instance)\b")


def definition_strengths(query: Question, outlines: Sequence[Outline]) -> list[float]:
    """Return how strongly each chunk defines what the query names; 0 for most."""
    if not query.identifiers:
        return [0.0] * len(outlines)
    if not query.is_symbol:
        worth = _DEFINITION_IN_TEXT
    else:
        worth = _DEFINITION_OF_WORD if query.text.islower() and query.text.isalpha() else _DEFINITION_OF_SYMBOL
    totals = [0.0] * len(outlines)
    for name, owners in zip(query.identifiers, query.owners, strict=True):
        strengths = [_defines(name, outline) for outline in outlines]
        if owners:
            strengths = _without_namesakes(strengths, [belongs(outline, owners) for outline in outlines])
        equals, strongest = Counter(strengths), max(strengths, default=0.0)
        for position, strength in enumerate(strengths):
            if strength:
                rarity = max(_LEAST_RARITY, min(1.0, math.sqrt(_COMMON_DEFINITIONS / equals[strength])))
                totals[position] += worth * strength * rarity * (1.0 if strength == strongest else _WEAKER_DEFINITION)
    return totals


def defines_type(signature: str, name: str) -> bool:
    """Return whether a signature is that of a type, a module or the like, which has members and is not called.

    Example:
        >>> defines_type("class Client:", "Client"), defines_type("def send(self, type):", "send")
        (True, False)
    """
    return _TYPE.search(signature.partition(name)[0]) is not None


def belongs(outline: Outline, owners: Sequence[str]) -> bool:
    """Return whether a definition stands in what was named before it: a class, a module or a file."""
    return stands_in(owners, outline.symbol, *outline.defines, *outline.context, outline.span.path)


def _without_namesakes(strengths: Sequence[float], belonging: Sequence[bool]) -> list[float]:
    """Weaken the definitions that belong elsewhere, unless none belongs where the question says."""
    if not any(strength and owned for strength, owned in zip(strengths, belonging, strict=True)):
        return list(strengths)
    return [strength if owned else _NAMESAKE * strength for strength, owned in zip(strengths, belonging, strict=True)]


def _defines(name: str, outline: Outline) -> float:
    if name in outline.defines:
        found, strength = name, 1.0
    else:
        found = next((other for other in outline.defines if other.lower() == name.lower()), "")
        strength = _OTHER_CASE
    if not found:
        return 0.0
    if outline.kind != "code" or _PART.match(outline.signature):
        strength *= _PART_DEFINITION
    elif found != outline.symbol:
        strength *= _INNER_DEFINITION
    else:
        strength *= _TYPE_DEFINITION if defines_type(outline.signature, found) else _FUNCTION_DEFINITION
    if stem_of(outline.span.path).lower() == name.lower():
        strength *= _FILE_NAMED_SO
    return strength
