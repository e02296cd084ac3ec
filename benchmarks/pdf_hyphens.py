"""Whether words that PDFs break at the end of a line keep the hyphens that are theirs, against the sources of the PDFs.

    python -m benchmarks.pdf_hyphens FOLDER [--wrong]

`FOLDER` holds PDFs beside their sources, as for `benchmarks.pdf_order`. A broken word counts if its source writes it
either with a hyphen, which makes it a compound, or without. Projects are in two halves, by their names.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.pdf_order import half_of, with_sources
from openbook.errors import SkippedFileError
from openbook.sources.readers.pdf import open_pdf
from openbook.sources.readers.pdf_layout import text_of
from openbook.sources.readers.pdf_pages import rows_of
from openbook.sources.readers.pdf_words import BROKEN_WORD, words_of
from openbook.sources.readers.reading import DEFAULT_PDF_OPTIONS

_COMPOUND = re.compile(r"(?=(?<!\w)(\w+-\w+)(?!\w))")
_WORD = re.compile(r"\w+")
_HYPHENS = str.maketrans("\u2010\u2011", "--")


def main() -> None:
    """Read the arguments, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", action="store_true", help="print what is wrong in the chosen half, too")
    given = parser.parse_args()
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for file, source in with_sources(given.folder):
        half = half_of(file, given.folder)
        for is_compound, is_kept, word in broken_words(file, source):
            counts[half, is_compound, is_compound == is_kept] += 1
            if given.wrong and half == "chosen" and is_compound != is_kept:
                print(word)
    print("| half | compounds that keep their hyphen | other words that are whole |\n|---|---|---|")
    for half in ("chosen", "left out"):
        cells = (
            f"{counts[half, one, True]:,} of {counts[half, one, True] + counts[half, one, False]:,}"
            for one in (True, False)
        )
        print(f"| {half} | {' | '.join(cells)} |")


def broken_words(file: Path, source: str) -> Iterator[tuple[bool, bool, str]]:
    """Yield for each broken word that a source has: whether it is a compound there, and whether it keeps its hyphen."""
    said = source.casefold().translate(_HYPHENS)
    compounds, whole = set(_COMPOUND.findall(said)), set(_WORD.findall(said))
    lines = _lines(file)
    known = words_of(lines)
    for before, behind in (pair for line in lines for pair in BROKEN_WORD.findall(line)):
        word = f"{before}-{behind}".casefold()
        is_compound, is_whole = word in compounds, word.replace("-", "") in whole
        if before and behind and is_compound != is_whole:
            yield is_compound, known.keeps_hyphen(before, behind), word


def _lines(file: Path) -> list[str]:
    try:
        with open_pdf(file.read_bytes(), file.name, DEFAULT_PDF_OPTIONS) as document:
            return [text_of(row) for page in document for row in rows_of(page.get_textpage())]
    except SkippedFileError:
        return []


if __name__ == "__main__":
    main()
