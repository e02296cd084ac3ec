"""Numbers list items in Word documents, formatted as Word shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from openbook.sources.readers.composing import numeral

_FORMS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_UNNUMBERED = frozenset({"bullet", "none"})

# "%1.%2" also shows the number of the outer list.
_NUMBER_IN_TEXT = re.compile(r"%([1-9])")

BULLET = "-"


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    start: int
    shown: str | None
    """The label before an item, with `%1` for the number of the first level; None if not given."""
    is_legal: bool
    """Whether all numbers in the label are decimal."""


class ListNumbering:
    """The list numbering of one document. As in Word, lists with the same definition continue each other."""

    def __init__(self, root: Element | None) -> None:
        elements = [] if root is None else list(root)
        definitions = {
            abstract.get("abstractNumId", ""): {integer(one.get("ilvl")): _level(one) for one in abstract.iter("lvl")}
            for abstract in elements
            if abstract.tag == "abstractNum"
        }
        self._definitions: dict[str, str] = {}
        self._levels: dict[str, dict[int, _Level]] = {}
        self._restarts: set[tuple[str, int]] = set()
        """Pairs of list and depth that restart on their first occurrence."""
        self._counted: dict[str, dict[int, int]] = {}
        for number in elements:
            if number.tag != "num":
                continue
            name, definition = number.get("numId", ""), value(number, "abstractNumId")
            levels = dict(definitions.get(definition, {}))
            for override in number.iter("lvlOverride"):
                depth = integer(override.get("ilvl"))
                if (changed := override.find("lvl")) is not None:
                    levels[depth] = _level(changed)
                if depth in levels and (start := value(override, "startOverride")):
                    levels[depth] = replace(levels[depth], start=integer(start, 1))
                    self._restarts.add((name, depth))
            self._definitions[name], self._levels[name] = definition, levels

    def __contains__(self, name: object) -> bool:
        return name in self._levels

    def mark(self, name: str, depth: int) -> str:
        """Count an item, and return its label: its formatted number, else a dash."""
        levels = self._levels[name]
        level = levels.get(depth)
        if level is None or level.form in _UNNUMBERED:
            return BULLET
        counted = self._counted.setdefault(self._definitions[name], {})
        for deeper in [at for at in counted if at > depth]:
            del counted[deeper]
        if (name, depth) in self._restarts:
            self._restarts.remove((name, depth))
            counted.pop(depth, None)
        counted[depth] = counted[depth] + 1 if depth in counted else level.start

        def number(match: re.Match[str]) -> str:
            at = int(match.group(1)) - 1
            of = levels.get(at, level)
            return numeral(counted.get(at, of.start), "1" if level.is_legal else _FORMS.get(of.form, "1"))

        shown = f"%{depth + 1}." if level.shown is None else level.shown
        return " ".join(_NUMBER_IN_TEXT.sub(number, shown).split()) or BULLET


def _level(element: Element) -> _Level:
    shown = element.find("lvlText")
    return _Level(
        value(element, "numFmt"),
        integer(value(element, "start"), 1),
        None if shown is None else shown.get("val", ""),
        element.find("isLgl") is not None,
    )


def value(parent: Element, name: str) -> str:
    """Return the value of a setting; empty if it is not set."""
    child = parent.find(name)
    return "" if child is None else child.get("val", "")


def integer(text: str | None, default: int = 0) -> int:
    """Parse a number of at most nine digits, which suffices for lists and outlines."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 9 else default
