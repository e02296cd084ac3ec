"""The characters of symbol fonts, whose glyphs have the codes of letters."""

from __future__ import annotations

FIRST_PICTURE = 0xF000
"""Start of these fonts in Unicode's private use area. The code of the letter is added."""

# https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt, without parts of brackets.
SYMBOLS = dict(
    zip(
        (*range(0x41, 0x5B), *range(0x61, 0x7B), *range(0x30, 0x3A)),
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ0123456789",  # noqa: RUF001
        strict=True,
    )
)
SYMBOLS |= dict(zip(b" %()+,./:;<=>[]{|}", " %()+,./:;<=>[]{|}", strict=True))
SYMBOLS |= dict(zip(range(0xA2, 0xC0), "′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵", strict=True))  # noqa: RUF001
SYMBOLS |= dict(zip(range(0xC4, 0xDF), "⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒", strict=True))  # noqa: RUF001
SYMBOLS |= {0x2D: "\u2212", 0x7E: "~", 0x40: "≅", 0xE5: "∑", 0xF2: "∫"}
