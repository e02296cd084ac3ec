"""The definitions of a text, however they were found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

# Definitions up to this size stay whole. Retrieval quality was flat between 800 and 2,200.
MAX_CHUNK_CHARS = 1500

MAX_SIGNATURE_CHARS = 300  # a header of about four full lines

Role = Literal["type", "scope", "function", "constant", "element"]
"""The role of a definition for the code in it.

`type`: a name whose members belong to it. `scope`: qualifies its members but defines nothing, such as an `impl`.
`function`: its content is local. `constant`: named, but does not name a chunk that contains another definition.
`element`: has no name, but should stay whole.
"""


@dataclass(slots=True)
class Definition:
    """A definition, in whole lines."""

    path: tuple[str, ...]
    """Its name after the names that enclose it, outermost first."""
    names: tuple[str, ...]
    """The unqualified names that it defines. Empty if it only qualifies its content."""
    role: Role
    first_line: int
    """1-based, including leading comments and attributes."""
    line: int
    """1-based line where it begins itself, below its attributes."""
    last_line: int
    """1-based, inclusive."""
    signature: str = ""
    """Its header as in the source, at most 300 characters."""
    docstring: str = ""
    """First paragraph of its documentation, without comment markers; at most 500 characters."""
    inner: list[Definition] = field(default_factory=list)
    """Nested definitions, in order of appearance. Those in small functions are not listed."""


def flatten(definitions: Iterable[Definition]) -> Iterator[Definition]:
    """Yield definitions and all nested ones, in order of appearance."""
    for definition in definitions:
        yield definition
        yield from flatten(definition.inner)
