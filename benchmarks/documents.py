"""Seconds and peak memory to index long PDFs, one and six in one process, and 500 small files of all formats.

python -m benchmarks.documents
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

PAGES = 1_000
FILES = 500
MANUALS, MANUAL_PAGES = 6, 600

_WORDS = (
    "library document index chunk span retrieval answer citation page model vector token lesson course reader source"
    " file embed search query cache commit branch merge review deploy server client request response header body"
).split()

# A page of a handbook: 40 lines of 13 words.
_LINES, _LINE_WORDS = 40, 13


def main() -> None:
    """Make the files, index each set in a process of its own, and print a table."""
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| files | MB | seconds | peak memory MB | of its largest child | chunks |\n|---|---|---|---|---|---|")
    sets = (
        (f"a PDF of {PAGES:,} pages", _one_pdf),
        (f"a PDF of {MANUAL_PAGES} pages", lambda folder: _manuals(folder, 1)),
        (f"{MANUALS} PDFs of {MANUAL_PAGES} pages, one after another", lambda folder: _manuals(folder, MANUALS)),
        (f"{FILES} small files", _small_files),
    )
    for name, make in sets:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "files"
            folder.mkdir()
            make(folder)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            command = [sys.executable, "-m", "benchmarks.documents", "--index", str(folder), f"{scratch}/home"]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        figures = (
            f"{size:.1f}",
            f"{found['seconds']:.1f}",
            *(f"{found[key]:.0f}" for key in ("peak_mb", "child_mb", "chunks")),
        )
        print(f"| {name} | {' | '.join(figures)} |")


def index(folder: Path, home: Path) -> None:
    """Index a folder, and print what it took as JSON. Memory is that of this process and its largest child."""
    import resource

    from openbook.library import Library
    from openbook.settings import Settings

    started = time.perf_counter()
    # One child reads long files one after another.
    settings = Settings(home=home, workers=1) if any(folder.glob("manual-*")) else Settings(home=home)
    with Library.open("measured", settings=settings) as assistant:
        report = assistant.add(folder, allow_large=True)
        chunks = assistant.stats().chunks
    seconds = time.perf_counter() - started
    expected = sum(1 for _ in folder.iterdir())
    if report.added != expected:
        sys.exit(f"{report.added} of {expected} files were indexed: {dict(report.remarks)}")
    own, child = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"seconds": seconds, "peak_mb": own + child, "child_mb": child, "chunks": chunks}))


def _sentence(random_: random.Random) -> str:
    return " ".join(random_.choices(_WORDS, k=_LINE_WORDS))


def _pdf(random_: random.Random, pages: int) -> bytes:
    from fpdf import FPDF

    file = FPDF()
    for number in range(1, pages + 1):
        file.add_page()
        file.set_font("helvetica", size=16)
        file.text(10, 20, f"{number} {_sentence(random_)[:30]}")
        file.set_font("helvetica", size=9)
        for line in range(_LINES):
            file.text(10, 30 + 6 * line, _sentence(random_))
    return bytes(file.output())


def _docx(random_: random.Random) -> bytes:
    from docx import Document

    document = Document()
    document.add_heading(_sentence(random_)[:30])
    for _ in range(10):
        document.add_paragraph(f"{_sentence(random_)}.")
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def _pptx(random_: random.Random) -> bytes:
    from pptx import Presentation

    deck = Presentation()
    for _ in range(3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = _sentence(random_)[:30]
        slide.placeholders[1].text = f"{_sentence(random_)}\n{_sentence(random_)}"
    stream = BytesIO()
    deck.save(stream)
    return stream.getvalue()


def _vtt(random_: random.Random) -> bytes:
    cues = (f"00:00:{n:02}.000 --> 00:00:{n:02}.900\n{_sentence(random_)}." for n in range(60))
    return ("WEBVTT\n\n" + "\n\n".join(cues)).encode()


def _markdown(random_: random.Random) -> bytes:
    return f"# {_sentence(random_)[:30]}\n\n{'. '.join(_sentence(random_) for _ in range(20))}.\n".encode()


_SMALL: dict[str, Callable[[random.Random], bytes]] = {
    "pdf": lambda random_: _pdf(random_, 2),
    "docx": _docx,
    "pptx": _pptx,
    "vtt": _vtt,
    "md": _markdown,
}


def _one_pdf(folder: Path) -> None:
    (folder / "handbook.pdf").write_bytes(_pdf(random.Random(1), PAGES))


def _manuals(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"manual-{number}.pdf").write_bytes(_pdf(random.Random(number), MANUAL_PAGES))


def _small_files(folder: Path) -> None:
    random_ = random.Random(1)
    suffixes = list(_SMALL)
    for number in range(FILES):
        suffix = suffixes[number % len(suffixes)]
        (folder / f"file-{number:03}.{suffix}").write_bytes(_SMALL[suffix](random_))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    # What a child is told to do, so that its memory can be measured.
    parser.add_argument("--index", nargs=2, type=Path, metavar=("FOLDER", "HOME"), help=argparse.SUPPRESS)
    given = parser.parse_args().index
    index(*given) if given else main()
