"""Reads the signs that Word names by a font and a number, as from the font Symbol."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

# Signs of fonts that have pictures for letters stand here, by the number of the letter.
_PICTURES = range(0xF020, 0xF100)

# https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt, without brackets and what is built of them.
_SYMBOLS = dict(
    zip(
        (*range(0x41, 0x5B), *range(0x61, 0x7B), *range(0x30, 0x3A)),
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ0123456789",  # noqa: RUF001
        strict=True,
    )
)
_SYMBOLS |= dict(zip(b" %()+,./:;<=>[]{|}", " %()+,./:;<=>[]{|}", strict=True))
_SYMBOLS |= dict(zip(range(0xA2, 0xC0), "′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵", strict=True))  # noqa: RUF001
_SYMBOLS |= dict(zip(range(0xC4, 0xDF), "⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒", strict=True))  # noqa: RUF001
_SYMBOLS |= {0x2D: "\u2212", 0x7E: "~", 0x40: "≅", 0xE5: "∑", 0xF2: "∫"}

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{1,4}")


def sign(sym: Element) -> str:
    """Return the character of a sign that is named by font and number; U+FFFD for one that is not known.

    Example:
        >>> [sign(Element("sym", font=font, char=char)) for font, char in (("Symbol", "F0B0"), ("Arial", "00D7"))]
        ['°', '×']
    """
    digits = sym.get("char", "")
    number = int(digits, 16) if _HEXADECIMAL.fullmatch(digits) else 0
    if number not in _PICTURES:
        return chr(number) if number else "\ufffd"
    return _SYMBOLS.get(number - 0xF000, "\ufffd") if sym.get("font", "").lower() == "symbol" else "\ufffd"
