"""In what order Openbook and other tools read the text of PDFs with two columns, against the sources they were made of.

    python -m benchmarks.pdf_order FOLDER [--pdftotext PROGRAM] [--pymupdf4llm PYTHON] [--files]

`FOLDER` holds PDFs, at any depth, each beside its source: `paper.pdf` and `paper.tex`, `paper.tex.gz` or `paper.xml`
(JATS, as journals publish it). `PROGRAM` is pdftotext, `PYTHON` an interpreter that has pymupdf4llm and
pymupdf-layout. PDFs count that have two columns on half of their pages.

Four words that follow each other once in the source and once in what a tool has read are a place. `found` is the share
of the places of the source that are there, `order` the share of these that stand in the order of the source: the
longest increasing sequence. Floats, footnotes and formulas of the source are left out, because a page puts them
elsewhere. Files of one folder below FOLDER, numbers aside, are one project, and the projects are in two halves.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from xml.etree import ElementTree
from zlib import crc32

from openbook.errors import SkippedFileError
from openbook.sources.readers.pdf import read_pdf

_SUFFIXES = (".tex", ".ltx", ".tex.gz", ".ltx.gz", ".xml")
_WORDS_IN_PLACE = 4
_MIN_PLACES = 150

# A line of a column ends before the middle of the page, or begins behind it; a page of text has 30 lines.
_MIN_LINES = 12
_MIDDLE = (0.44, 0.56)
_MIN_LINE_WIDTH = 0.25

_ENVIRONMENTS = (
    "figure|table|equation|align|eqnarray|displaymath|verbatim|lstlisting|tabular|thebibliography|"
    "widetext|gather|mul[t]line|algorithm|CCSXML|tabbing|longtable|sidewaystable|teaserfigure|minted|math|picture"
)
_LEFT_OUT = (
    re.compile(r"(?<!\\)%.*"),
    re.compile(rf"\\begin\{{({_ENVIRONMENTS})(\*?)\}}.*?\\end\{{\1\2\}}", re.DOTALL),
    re.compile(r"\\\[.*?\\\]|\$\$.*?\$\$|\$[^$]*\$|\\\(.*?\\\)", re.DOTALL),
    re.compile(r"\\(?:footnote|thanks|label|cite\w*|ref|eqref|cref|Cref|index|bibliography\w*|vspace\*?)(?:\[[^\]]*\])*\{[^{}]*\}"),
)  # fmt: skip
# Of JATS: what a page shows elsewhere, or as numbers.
_NOT_READ = {
    "fig",
    "table-wrap",
    "xref",
    "fn",
    "disp-formula",
    "inline-formula",
    "boxed-text",
    "supplementary-material",
}
_PARAGRAPHS = {"p", "title", "list-item"}

_COMMAND = re.compile(r"\\[a-zA-Z@]+\*?(?:\[[^\]]*\])?|\\.")
_WORD = re.compile(r"[^\W\d_]+")

_OTHER = """
import json, sys
import pymupdf.layout
import pymupdf4llm
print(json.dumps(pymupdf4llm.to_markdown(sys.argv[1], show_progress=False)))
"""

Reader = Callable[[Path], str]


def main() -> None:
    """Read the arguments, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pdftotext", default="")
    parser.add_argument("--pymupdf4llm", default="")
    parser.add_argument("--files", action="store_true", help="print each file, too")
    given = parser.parse_args()
    tools: dict[str, Reader] = {"Openbook": _ours}
    if given.pdftotext:
        tools["pdftotext"] = lambda file: _run(given.pdftotext, str(file), "-")
    if given.pymupdf4llm:
        tools["pymupdf4llm"] = lambda file: json.loads(
            _run(given.pymupdf4llm, "-c", _OTHER, str(file)).splitlines()[-1]
        )
    scores: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for file, source in _papers(given.folder):
        half = half_of(file, given.folder)
        for name, read in tools.items():
            found, order = score(source, read(file))
            scores[name, half].append((found, order))
            if given.files:
                print(f"{half} {name:12} {found:.3f} {order:.3f} {file.relative_to(given.folder)}", flush=True)
    print("| tool | half | papers | found | order |\n|---|---|---|---|---|")
    for (name, half), of_files in sorted(scores.items()):
        means = (f"{mean(column):.3f}" for column in zip(*of_files, strict=True))
        print(f"| {name} | {half} | {len(of_files)} | {' | '.join(means)} |")


def half_of(file: Path, folder: Path) -> str:
    """Return the half of a project, by its name alone."""
    project = re.sub(r"[\d.-]+$", "", file.relative_to(folder).parts[0])
    return "left out" if crc32(project.encode()) % 2 else "chosen"


def score(source: Sequence[str], text: str) -> tuple[float, float]:
    """Return which share of the places of a source a text has, and which share of these in its order."""
    wanted, given = _places(source), _places(words(text))
    shared = [given[place] for place in wanted if place in given]
    return len(shared) / max(1, len(wanted)), _longest_increasing(shared) / max(1, len(shared))


def words(text: str) -> list[str]:
    """Return the words of a text, without case and hyphens at the ends of lines."""
    return [word.casefold() for word in _WORD.findall(re.sub(r"(?<=\w)-\n(?=\w)", "", text))]


def _places(text: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Return what words stand in a text once, in its order, and where."""
    groups = list(zip(*(text[at:] for at in range(_WORDS_IN_PLACE)), strict=False))
    counts = Counter(groups)
    return {group: at for at, group in enumerate(groups) if counts[group] == 1}


def _longest_increasing(numbers: Sequence[int]) -> int:
    ends: list[int] = []
    for number in numbers:
        at = bisect_left(ends, number)
        ends[at : at + 1] = [number]
    return len(ends)


def _papers(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield PDFs of two columns with the words of their sources, each source once."""
    seen = set()
    for file, text in with_sources(folder):
        said = words(text)
        if len(_places(said)) >= _MIN_PLACES and tuple(said) not in seen and _has_columns(file):
            seen.add(tuple(said))
            yield file, said


def with_sources(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield PDFs with the texts of their sources, without markup."""
    for file in sorted(folder.rglob("*.pdf")):
        beside = [file.with_name(file.stem + suffix) for suffix in _SUFFIXES]
        source = next((one for one in beside if one.is_file()), None)
        if source is None or file.is_symlink() or not file.is_file():
            continue
        raw = gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes()
        text = raw.decode("utf-8", "replace")
        yield file, _of_article(text) if source.suffix == ".xml" else without_markup(text)


def without_markup(text: str) -> str:
    """Return the words of a source of LaTeX that a page shows in their order."""
    for pattern in _LEFT_OUT:
        text = pattern.sub(" ", text)
    return _COMMAND.sub(" ", text.partition("\\begin{document}")[2] or text)


def _of_article(text: str) -> str:
    """Return the words of an article in JATS: its abstracts and its body."""
    try:
        article = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return ""
    parts = [*article.iterfind("./front//abstract"), *article.iterfind("./body")]
    return " ".join(piece for part in parts for piece in _texts(part))


def _texts(element: ElementTree.Element) -> Iterator[str]:
    if element.tag not in _NOT_READ:
        yield element.text or ""
        for child in element:
            yield from _texts(child)
            yield child.tail or ""
        if element.tag in _PARAGRAPHS:
            yield " "


def _has_columns(file: Path) -> bool:
    """Return whether half of the pages of a PDF have two columns."""
    import pypdfium2

    with pypdfium2.PdfDocument(file) as document:
        pages = [_is_in_columns(document[index]) for index in range(len(document))]
    return sum(pages) * 2 >= len(pages)


def _is_in_columns(page: object) -> bool:
    width, text = page.get_width(), page.get_textpage()  # type: ignore[attr-defined]  # a PdfPage
    boxes = [text.get_rect(at) for at in range(text.count_rects())]
    wide = [box for box in boxes if box[2] - box[0] > _MIN_LINE_WIDTH * width]
    left = sum(box[2] < _MIDDLE[1] * width for box in wide)
    right = sum(box[0] > _MIDDLE[0] * width for box in wide)
    return bool(min(left, right) >= _MIN_LINES and left + right > len(wide) / 2)


def _ours(file: Path) -> str:
    try:
        return read_pdf(file.read_bytes(), file.name).text
    except SkippedFileError:
        return ""


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False, text=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise SystemExit(f"{command[0]} failed with {command[-2]}: {done.stderr[-500:]}")
    return done.stdout


if __name__ == "__main__":
    main()
