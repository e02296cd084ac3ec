"""Linearizes superscripts, fractions, and Office formulas."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

# Delimit superscript text until its paragraph is complete. XML cannot contain these characters.
_RAISED, _LOWERED = "\x0e", "\x0f"
_MARKS = re.compile(f"[{_RAISED}{_LOWERED}]")

# "10" before a superscript "6" or "-6"; a superscript "th" is not an exponent.
_EXPONENT = re.compile(rf"(?<=[^\s{_RAISED}{_LOWERED}]){_RAISED}(?=[-+\u2212\u2013]?\d)")

_SIMPLE = re.compile(r"[-\u2212]?[\w.,°]*|\([^()]*\)")

_DROPPED = frozenset({"del", "moveFrom"})


def raised(text: str) -> str:
    """Mark part of a paragraph as superscript, for `on_one_line`."""
    return f"{_RAISED}{text}{_LOWERED}" if text else ""


def on_one_line(text: str) -> str:
    """Write a paragraph with `^` before each superscript number, unless it begins a word.

    Example:
        >>> on_one_line("10" + raised("-") + raised("6") + " on the 5" + raised("th"))
        '10^-6 on the 5th'
    """
    return _MARKS.sub("", _EXPONENT.sub("^", text.replace(_LOWERED + _RAISED, "")))


def formula(part: Element) -> str:
    """Linearize an Office formula: `1/2`, `x^2`, `√2`. Expressions with several terms are in parentheses."""
    if part.tag == "t":
        return part.text or ""
    parts = [(child.tag, formula(child)) for child in part if child.tag not in _DROPPED]
    named = dict(parts)
    whole = named.get("e", "")
    match part.tag:
        case "f":
            bar = " " if _setting(part, "fPr", "type", "bar") == "noBar" else "/"
            return f"{_grouped(named.get('num', ''))}{bar}{_grouped(named.get('den', ''))}"
        case "sSup" | "sSubSup":
            return f"{_grouped(whole)}{named.get('sub', '')}^{_grouped(named.get('sup', ''))}"
        case "rad":
            return f"{named.get('deg', '')}√{_grouped(whole)}"
        case "d":
            between = ("begChr", "("), ("sepChr", "|"), ("endChr", ")")
            begin, separator, end = (_setting(part, "dPr", name, usual) for name, usual in between)
            return begin + separator.join(text for tag, text in parts if tag == "e") + end
        case "nary":
            bounds = [mark + _grouped(named[name]) for name, mark in (("sub", "_"), ("sup", "^")) if named.get(name)]
            return f"{_setting(part, 'naryPr', 'chr', '∫')}{''.join(bounds)} {whole}"
    return "".join(text for _, text in parts)


def _setting(part: Element, properties: str, name: str, usual: str) -> str:
    found = part.find(f"{properties}/{name}")
    return usual if found is None else found.get("val", usual)


def _grouped(term: str) -> str:
    return term if _SIMPLE.fullmatch(term) else f"({term})"
