"""Parses docstrings in the three common styles: Google, NumPy and Sphinx."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

_ARGUMENTS = frozenset(
    {
        "args",
        "arguments",
        "params",
        "parameters",
        "keyword args",
        "keyword arguments",
        "keyword parameters",
        "other args",
        "other arguments",
        "other parameters",
    }
)
_OTHERS = frozenset(
    {"attributes", "example", "examples", "note", "notes", "raises", "references", "return", "returns", "see also"}
    | {"todo", "warning", "warnings", "warns", "yield", "yields"}
)

_GOOGLE_HEADER = re.compile(r"(?P<title>[A-Z][A-Za-z]*(?: [A-Za-z]+)?):\s*$")
_UNDERLINE = re.compile(r"-{3,}\s*$")
_FIELD = re.compile(r"[:@](?P<kind>[a-z]+)(?:\s+(?P<about>[^:]+?))?\s*:(?:\s+(?P<text>.*))?$")
_FIELDS_OF_ARGUMENTS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword", "kwarg"})
_OTHER_FIELDS = frozenset({"type", "return", "returns", "rtype", "raise", "raises", "except", "exception", "yield"})
_OTHER_FIELDS |= {"yields", "ytype", "var", "ivar", "cvar", "vartype", "meta"}

_GOOGLE_ARGUMENT = re.compile(r"(?P<names>\\?\*{0,2}\w+)\s*(?:\(.*?\))?:(?:\s+(?P<text>.*))?$")
_NUMPY_ARGUMENT = re.compile(r"(?P<names>\\?\*{0,2}\w+(?:\s*,\s*\\?\*{0,2}\w+)*)\s*(?::.*)?$")


@dataclass(slots=True)
class _Section:
    """A section of a docstring: the summary, the arguments, one argument, or anything else."""

    kind: str = "summary"
    """`summary`, `google`, `numpy`, `sphinx`, or empty."""
    names: tuple[str, ...] = ()
    """The arguments that deeper-indented lines continue."""
    depth: int | None = None
    """Indentation of argument names."""
    is_apart: bool = False
    """Whether an empty line was seen. Unindented text after it ends the section."""


@dataclass(slots=True)
class _Reading:
    summary: list[str] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)

    def begin(self, names: str, text: str | None) -> tuple[str, ...]:
        split = tuple(name.strip().lstrip("\\*") for name in names.split(","))
        self.arguments.update(dict.fromkeys(split, (text or "").strip()))
        return split

    def go_on(self, names: Sequence[str], text: str) -> None:
        for name in names:
            self.arguments[name] = f"{self.arguments[name]} {text}".strip()


def read_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    r"""Return the text before the first section, and the argument descriptions in order, each on one line.

    Accepts any text; without a section for arguments, there are no descriptions.

    Example:
        >>> read_docstring("Find a symbol.\n\nArgs:\n    name: Exact name,\n        without module.")
        ('Find a symbol.', {'name': 'Exact name, without module.'})
        >>> read_docstring("Find.\n\nParameters\n----------\nname : str\n    Exact name.\nlimit : int, optional")
        ('Find.', {'name': 'Exact name.', 'limit': ''})
        >>> read_docstring("Find.\n\n:param str name: Exact name.\n:returns: Where it is.")
        ('Find.', {'name': 'Exact name.'})
    """
    reading, section = _Reading(), _Section()
    for line, is_header in _lines(docstring):
        # Below the arguments, some authors indent the other section titles as well.
        begun = _header(line.strip() if section.kind == "google" else line)
        if is_header:
            begun = _Section("numpy" if line.lower() in _ARGUMENTS else "")
        if begun is not None:
            section = begun
        elif (found := _field(line)) is not None:
            kind, name, text = found
            is_argument = kind in _FIELDS_OF_ARGUMENTS and bool(name)
            section = _Section("sphinx", reading.begin(name, text) if is_argument else ())
        elif section.kind == "summary":
            reading.summary.append(line)
        elif section.kind:
            _read_line(line, section, reading)
    return "\n".join(reading.summary).strip(), reading.arguments


def _lines(docstring: str) -> Iterator[tuple[str, bool]]:
    """Yield each line without underlines, and whether it is an underlined section title."""
    lines = inspect.cleandoc(docstring).splitlines()
    skip = False
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if skip:
            skip = False
            continue
        title = line.strip().lower()
        skip = line[:1].strip() != "" and title in _ARGUMENTS | _OTHERS and _UNDERLINE.match(below) is not None
        yield (line.strip(), True) if skip else (line, False)


def _header(line: str) -> _Section | None:
    match = _GOOGLE_HEADER.match(line)
    title = match["title"].lower() if match is not None else ""
    if title in _ARGUMENTS:
        return _Section("google")
    return _Section("") if title in _OTHERS else None


def _field(line: str) -> tuple[str, str, str] | None:
    """Parse a known field such as `:param str name: What it is.` into kind, name and text; None for other lines."""
    match = _FIELD.match(line)
    if match is None or match["kind"] not in _FIELDS_OF_ARGUMENTS | _OTHER_FIELDS:
        return None
    about = (match["about"] or "").split()
    return match["kind"], about[-1] if about else "", match["text"] or ""


def _read_line(line: str, section: _Section, reading: _Reading) -> None:
    """Process a line that starts or continues an argument."""
    if not line.strip():
        section.is_apart = True
        return
    indent = len(line) - len(line.lstrip())
    # The first line sets the indentation of arguments; deeper lines continue the previous one.
    section.depth = indent if section.depth is None else section.depth
    if (section.depth and not indent) or (section.kind == "sphinx" and section.is_apart and not indent):
        section.kind = ""
        return
    if section.kind != "sphinx" and indent <= section.depth:
        pattern = _GOOGLE_ARGUMENT if section.kind == "google" else _NUMPY_ARGUMENT
        match = pattern.match(line.strip())
        if match is not None:
            section.names = reading.begin(match["names"], match["text"] if section.kind == "google" else "")
            return
    reading.go_on(section.names, line.strip())
