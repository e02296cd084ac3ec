"""What is known of the definitions in a text, whoever found them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

# Kept whole up to here, and cut above. Retrieval quality was flat between 800 and 2,200.
MAX_CHUNK_CHARS = 1500

MAX_SIGNATURE_CHARS = 300  # a header of about four full lines

Role = Literal["type", "scope", "function", "constant", "element"]
"""What a definition is to the code in it.

`type`: a name whose members belong to it. `scope`: qualifies its members but defines nothing, such
as an `impl`. `function`: what is in it is local. `constant`: named, but never names a chunk that
holds something better. `element`: has no name, but is better not cut.
"""


@dataclass(slots=True)
class Definition:
    """A named stretch of code, whole lines."""

    path: tuple[str, ...]
    """Its name behind the names that enclose it, outermost first."""
    names: tuple[str, ...]
    """What it defines, unqualified. Empty if it only qualifies what is in it."""
    role: Role
    first_line: int
    """1-based, with the comments and attributes that lead up to it."""
    line: int
    """1-based line of its own first character."""
    last_line: int
    """1-based, inclusive."""
    signature: str = ""
    """Its header as it stands in the source, at most 300 characters."""
    docstring: str = ""
    """First paragraph of what it says about itself, without marks; at most 500 characters."""
    inner: list[Definition] = field(default_factory=list)
    """Definitions in it, in order of appearance. Small functions are not looked into."""


def flatten(definitions: Iterable[Definition]) -> Iterator[Definition]:
    """Yield the definitions and all that are in them, in order of appearance."""
    for definition in definitions:
        yield definition
        yield from flatten(definition.inner)
