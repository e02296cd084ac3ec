"""Makes the fonts of the page from the npm package of Literata: the letters that it shows, without hints.

    npm pack @fontsource-variable/literata@5.3.0
    tar -xzf fontsource-variable-literata-5.3.0.tgz
    python tools/make_fonts.py package

What a page shows first needs one file, so that holds no more than ASCII and the punctuation of books. Browsers fetch
the others when they meet a letter of them (`unicode-range` in `style.css`).
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

TARGET = Path(__file__).parents[1] / "src" / "openbook" / "server" / "web" / "fonts"

# Answers are 17.5 pixels high and questions 26; the drawing for books is meant for 12.
OPTICAL_SIZE = 18.0

_ASCII = (*range(0x20, 0x7F), 0xA0, 0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026)
# Western Europe, then the rest of what the European Union writes in Latin letters.
_LATIN = (*range(0xA1, 0x100), 0x152, 0x153, 0x201A, 0x201E, 0x2039, 0x203A, 0x20AC)
_EXTENDED = (*range(0x100, 0x152), *range(0x154, 0x180), *range(0x218, 0x21C), 0x1E9E)


class _Font(NamedTuple):
    name: str
    source: str
    weight: float
    letters: tuple[int, ...]


FONTS = (
    _Font("literata-ascii", "latin-standard-normal", 400, _ASCII),
    _Font("literata-latin", "latin-standard-normal", 400, _LATIN),
    _Font("literata-extended", "latin-ext-standard-normal", 400, _EXTENDED),
    _Font("literata-italic-latin", "latin-standard-italic", 400, (*_ASCII, *_LATIN)),
    _Font("literata-italic-extended", "latin-ext-standard-italic", 400, _EXTENDED),
    _Font("literata-bold-latin", "latin-standard-normal", 600, (*_ASCII, *_LATIN)),
    _Font("literata-bold-extended", "latin-ext-standard-normal", 600, _EXTENDED),
)

# Of the files in version 5.3.0.
SHA256 = {
    "latin-standard-normal": "29de894c768689feef6ab4ef274a9a16d19bfc5b0c3cbfcdac80ef220816210c",
    "latin-ext-standard-normal": "1160835f4cdae6a86572ed501c13b62b341480cc7c13fc88ba0c21efdf1fcd73",
    "latin-standard-italic": "97bc5aa317653eb249d66782c8533e5f1bd7d27a97b5265155a3d1700e785b7b",
    "latin-ext-standard-italic": "09e48237261b84a90f2d6011c050d10d4bacd060cd884a10fe4edf69c0bf3870",
}


def main(package: Path) -> None:
    """Write all fonts and their licence."""
    TARGET.mkdir(exist_ok=True)
    for font in FONTS:
        source = package / "files" / f"literata-{font.source}.woff2"
        found = hashlib.sha256(source.read_bytes()).hexdigest()
        if found != SHA256[font.source]:
            raise SystemExit(f"{source} is another one than that of version 5.3.0: {found}")
        print(f"{_write(font, source):6,} bytes  {font.name}.woff2")
    shutil.copyfile(package / "LICENSE", TARGET / "LICENSE-literata.txt")


def _write(font: _Font, source: Path) -> int:
    """Write one font, and return how many bytes it has."""
    variable = TTFont(source, recalcTimestamp=False)
    drawn = instancer.instantiateVariableFont(variable, {"wght": font.weight, "opsz": OPTICAL_SIZE})
    options = subset.Options(flavor="woff2", hinting=False, layout_features=["kern", "mark"], name_IDs=[0, 1, 2, 5])
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=font.letters)
    subsetter.subset(drawn)
    target = TARGET / f"{font.name}.woff2"
    subset.save_font(drawn, str(target), options)
    return target.stat().st_size


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
