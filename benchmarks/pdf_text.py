"""What Openbook and other tools leave in the text of PDFs that is none, and what they say about it.

    python -m benchmarks.pdf_text FOLDER [--pdftotext PROGRAM] [--pymupdf4llm PYTHON]

`FOLDER` holds PDFs, at any depth. `PROGRAM` is pdftotext, `PYTHON` an interpreter that has pymupdf4llm. Counted are
pages that begin or end with a line that is their number, control characters, characters of private use, names between
angle brackets that have become the letters `h` and `i`, such as `{hnamei}`, and signs that are said to have no meaning.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from openbook.errors import SkippedFileError
from openbook.sources.readers.pdf import read_pdf

_CONTROL = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_LETTERS_FOR_BRACKETS = re.compile(r"\{h[\w* -]+i\}|\[h[\w* -]+i\]")
_NUMBER = re.compile(r"\W*(\d{1,4})\W*")
_MIN_NUMBERED = 4

Pages = list[str]

_OTHER = """
import json, sys
import pymupdf4llm
pages = pymupdf4llm.to_markdown(sys.argv[1], page_chunks=True, show_progress=False)
print(json.dumps([page["text"] for page in pages]))
"""


def main() -> None:
    """Read the arguments, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pdftotext", default="")
    parser.add_argument("--pymupdf4llm", default="")
    given = parser.parse_args()
    tools: dict[str, Callable[[Path], Pages]] = {"Openbook": _ours}
    if given.pdftotext:
        tools["pdftotext"] = lambda file: _run(given.pdftotext, str(file), "-").split("\f")[:-1]
    if given.pymupdf4llm:
        tools["pymupdf4llm"] = lambda file: json.loads(
            _run(given.pymupdf4llm, "-c", _OTHER, str(file)).splitlines()[-1]
        )
    files = sorted(file for file in given.folder.rglob("*.pdf") if file.is_file() and not file.is_symlink())
    print(f"{platform.system()} {platform.machine()}, {len(files)} PDFs\n")
    print(
        "| tool | pages with text | page numbers left | control characters | private use | `{hnamei}` | U+FFFD |\n"
        "|---|---|---|---|---|---|---|"
    )
    for name, read in tools.items():
        total: Counter[str] = Counter()
        for file in files:
            total += counts(read(file))
        keys = ("pages", "numbers", "control", "private", "brackets", "unknown")
        print(f"| {name} | {' | '.join(f'{total[key]:,}' for key in keys)} |")


def counts(pages: Pages) -> Counter[str]:
    """Count what is left in the pages of one file."""
    text = "\n".join(pages)
    return Counter(
        pages=sum(1 for page in pages if page.strip()),
        numbers=_numbers_left(pages),
        control=len(_CONTROL.findall(text)),
        private=len(_PRIVATE.findall(text)),
        brackets=len(_LETTERS_FOR_BRACKETS.findall(text)),
        unknown=text.count("\ufffd"),
    )


def _numbers_left(pages: Pages) -> int:
    """Count the pages that begin or end with a number which counts them; few of these are chance."""
    offsets: Counter[int] = Counter()
    for index, page in enumerate(pages):
        lines = [line for line in page.split("\n") if line.strip()]
        ends = {int(found[1]) for line in (*lines[:1], *lines[-1:]) if (found := _NUMBER.fullmatch(line))}
        offsets.update(end - index for end in ends)
    most = max(offsets.values(), default=0)
    return most if most >= _MIN_NUMBERED else 0


def _ours(file: Path) -> Pages:
    try:
        reading = read_pdf(file.read_bytes(), file.name)
    except SkippedFileError:
        return []
    labels = [int(anchor.label.removeprefix("p. ")) for anchor in reading.anchors]
    starts = [anchor.start_char for anchor in reading.anchors]
    pages = [""] * max(labels, default=0)
    for label, start, end in zip(labels, starts, [*starts[1:], len(reading.text)], strict=True):
        pages[label - 1] = reading.text[start:end]
    return pages


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False, text=True, encoding="utf-8", errors="replace")
    return done.stdout if done.returncode == 0 else "[]" if "-c" in command else ""


if __name__ == "__main__":
    main()
