"""Computes how strongly chunks define the names of a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from openbook.index.protocol import Outline
from openbook.questions.names import stands_in
from openbook.questions.parameters_asked import CONSTRUCTORS
from openbook.questions.question import Question
from openbook.retrieval.paths import is_named, stem_of

# If the query is a name, its definition outweighs any number of mentions; within a sentence, a name is one hint among
# others.
_DEFINITION_OF_SYMBOL = 2.0
_DEFINITION_OF_WORD = 1.0
_DEFINITION_IN_TEXT = 0.9
_TYPE_DEFINITION, _FUNCTION_DEFINITION = 1.0, 0.95
_INNER_DEFINITION = 0.6
# `impl Client` and `extension Client` are parts of a definition; so are descriptions, if code is asked for.
_PART_DEFINITION = 0.3
# The description of an option or a setting counts as a definition.
_ENTRY = 1.0
_OTHER_CASE = 0.6
_FILE_NAMED_SO = 1.5
_WEAKER_DEFINITION = 0.5
# For `Client.send`, the `send` of another class, if `Client` has one.
_NAMESAKE = 0.5
# `get` is defined in every second class: the more definitions a name has, the less each counts.
_COMMON_DEFINITIONS, _MIN_RARITY = 5, 0.3

_TYPE = re.compile(
    r"\b(?:class|struct|interface|trait|enum|type|protocol|module|record|object|union|data|newtype|namespace|package"
    r"|impl|contract|library)\b"
)
# `struct result *make(`: the type that a function returns, between the keyword and the name. `enum class Color(` of
# Kotlin has two keywords.
_RETURNED = r"\b(?:struct|enum|union|class)\s+(?!(?:class|struct)\b)\w[^(){};=]*?[\s*&:]"
_PARTS = ("impl", "extension", "instance")


def definition_strengths(query: Question, outlines: Sequence[Outline]) -> list[float]:
    """Return how strongly each chunk defines the names of the query; 0 for most."""
    if not query.terms:
        return [0.0] * len(outlines)
    if not query.is_symbol:
        worth = _DEFINITION_IN_TEXT
    else:
        worth = _DEFINITION_OF_WORD if query.text.islower() and query.text.isalpha() else _DEFINITION_OF_SYMBOL
    totals = [0.0] * len(outlines)
    described = not query.is_symbol and query.intents.isdisjoint(("where", "uses"))
    owners_of = dict(zip(query.identifiers, query.owners, strict=True))
    for name in query.terms:
        owners = owners_of.get(name, ())
        strengths = [
            _describes(name, outline, query) * (_ENTRY if described else _PART_DEFINITION)
            if outline.kind != "code"
            else max(_defines(name, outline), query.asks_for_parameters * _constructs(name, outline))
            * (name in owners_of)
            for outline in outlines
        ]
        if owners:
            strengths = _without_namesakes(strengths, [belongs(outline, owners) for outline in outlines])
        equals, strongest = Counter(strengths), max(strengths, default=0.0)
        for position, strength in enumerate(strengths):
            if strength:
                rarity = max(_MIN_RARITY, min(1.0, math.sqrt(_COMMON_DEFINITIONS / equals[strength])))
                totals[position] += worth * strength * rarity * (1.0 if strength == strongest else _WEAKER_DEFINITION)
    return totals


def defines_type(signature: str, name: str) -> bool:
    """Return whether a signature defines a type, a module or the like, which has members.

    Example:
        >>> defines_type("class Client:", "Client"), defines_type("def send(self, type):", "send")
        (True, False)
        >>> defines_type("struct client *make(int a) {", "make")
        False
    """
    # A selector of CSS may be cut after a dot, which leaves no name.
    if not name or _TYPE.search(signature.partition(name)[0]) is None:
        return False
    return re.search(rf"{_RETURNED}{re.escape(name)}\s*\(", signature) is None


def belongs(outline: Outline, owners: Sequence[str]) -> bool:
    """Return whether a definition belongs to the named owners: classes, modules or files."""
    return stands_in(owners, outline.symbol, *outline.defines, *outline.context, outline.span.path)


def _without_namesakes(strengths: Sequence[float], belonging: Sequence[bool]) -> list[float]:
    """Weaken definitions of other owners, if one belongs to the owner in the question."""
    if not any(strength and owned for strength, owned in zip(strengths, belonging, strict=True)):
        return list(strengths)
    return [strength if owned else _NAMESAKE * strength for strength, owned in zip(strengths, belonging, strict=True)]


def _describes(name: str, outline: Outline, query: Question) -> float:
    """Return how strongly an entry of a definition list describes a name, case-sensitively: `-l` is not `-L`.

    Many pages have an option `-l`; "of scp" prefers `scp.1`.
    """
    if name not in outline.defines:
        return 0.0
    return _FILE_NAMED_SO if is_named(outline.span.path, query.tokens) else 1.0


def _constructs(name: str, outline: Outline) -> float:
    """Return how strongly a chunk defines the constructor of a class with that name."""
    owner, _, own = outline.symbol.rpartition(".")
    is_inside = name in outline.defines and not CONSTRUCTORS.isdisjoint(outline.defines)
    is_own = own in CONSTRUCTORS and own in outline.defines and owner.rpartition(".")[2] == name
    return _TYPE_DEFINITION * (is_inside or is_own or f"New{name}" in outline.defines)


def _defines(name: str, outline: Outline) -> float:
    if name in outline.defines:
        found, strength = name, 1.0
    else:
        found = next((other for other in outline.defines if other.lower() == name.lower()), "")
        strength = _OTHER_CASE
    if not found:
        return 0.0
    if outline.signature.lstrip().startswith(_PARTS):
        strength *= _PART_DEFINITION
    elif found != outline.symbol:
        strength *= _INNER_DEFINITION
    else:
        strength *= _TYPE_DEFINITION if defines_type(outline.signature, found) else _FUNCTION_DEFINITION
    if stem_of(outline.span.path).lower() == name.lower():
        strength *= _FILE_NAMED_SO
    return strength
