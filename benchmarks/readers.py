"""What Openbook and other readers of documents find of what stands in the same files, how fast, and in how much memory.

    python -m benchmarks.readers FOLDER [--files 12] [--pdftotext PROGRAM] [--pandoc PROGRAM] [--python PYTHON]

`FOLDER` holds DOCX, and PDFs beside their sources as `benchmarks.pdf_order` takes them, at any depth; of each format so
many files are taken, spread evenly over their names. `PYTHON` is an interpreter of an environment of its own, with
pymupdf4llm, `markitdown[docx,pdf]` and python-docx; pandoc comes from its own page, or with `pypandoc_binary`.

Places are four words that follow each other once. `found` is the share of the places of the source that were read,
`order` the share of these in the order of the source. The source of a DOCX is the text in the XML of its body. Each
tool reads all files of a format in one process, which has loaded it; seconds are those of reading, memory is the peak.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from xml.etree import ElementTree

from benchmarks.pdf_order import score, with_sources, words

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# A file with less says nothing of order.
_MIN_WORDS = 300
_TIMEOUT_S = 540

# Each defines `read`, which takes a path and returns text.
_OPENBOOK = """
from pathlib import Path
from openbook.sources.documents import read_document
def read(path): return read_document(Path(path).read_bytes(), source="s", path=path).text
"""
_MARKITDOWN = """
from markitdown import MarkItDown
converter = MarkItDown()
def read(path): return converter.convert(path).text_content
"""
_PYMUPDF = """
import pymupdf4llm
def read(path): return pymupdf4llm.to_markdown(path, show_progress=False)
"""
_PYTHON_DOCX = """
import docx
def read(path): return "\\n".join(each.text for each in docx.Document(path).paragraphs)
"""
_PROGRAM = """
import subprocess
def read(path):
    command = [each.replace("FILE", path) for each in {command!r}]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
"""
_MEASURE = """
import json, resource, sys, time
def tried(path):
    try:
        return read(path)
    except Exception:
        return None
tried(sys.argv[1])  # what is loaded on first use is not counted
started = time.perf_counter()
texts = [tried(path) for path in sys.argv[1:]]
seconds = time.perf_counter() - started
# `ru_maxrss` of this process would count what the one that started it had.
own = next(int(line.split()[1]) for line in open("/proc/self/status", encoding="ascii") if line.startswith("VmHWM"))
peak = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(json.dumps({"texts": texts, "seconds": seconds, "mib": peak / 1024}))
"""


def main() -> None:
    """Read the arguments, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--pdftotext", default="")
    parser.add_argument("--pandoc", default="")
    parser.add_argument("--python", default="")
    given = parser.parse_args()
    print("| format | tool | files read | found | order | seconds | MiB |\n|---|---|---|---|---|---|---|")
    for suffix, sources in (("PDF", _pdfs(given.folder)), ("DOCX", _documents(given.folder))):
        files = _spread({file: said for file, said in sources if len(said) >= _MIN_WORDS}, given.files)
        tools = _tools(suffix, given.pdftotext, given.pandoc, given.python) if files else ()
        for tool, python, code in tools:
            print(f"| {suffix} | {tool} | {' | '.join(_measured(python, code, files))} |", flush=True)


def _tools(suffix: str, pdftotext: str, pandoc: str, python: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each tool for a format that is there, the interpreter that runs it, and how it reads."""
    yield "Openbook", sys.executable, _OPENBOOK
    if pdftotext and suffix == "PDF":
        yield "pdftotext", sys.executable, _PROGRAM.format(command=[pdftotext, "FILE", "-"])
    if pandoc and suffix == "DOCX":
        yield "pandoc", sys.executable, _PROGRAM.format(command=[pandoc, "--to=plain", "--wrap=none", "FILE"])
    if python:
        yield "pymupdf4llm" if suffix == "PDF" else "python-docx", python, _PYMUPDF if suffix == "PDF" else _PYTHON_DOCX
        yield "markitdown", python, _MARKITDOWN


def _measured(python: str, code: str, files: Mapping[Path, Sequence[str]]) -> list[str]:
    command = [python, "-c", code + _MEASURE, *map(str, files)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", timeout=_TIMEOUT_S)
    if ran.returncode:
        sys.exit(f"{python}: {ran.stderr.strip().splitlines()[-1:]}")
    said = json.loads(ran.stdout.splitlines()[-1])
    scores = [score(source, text or "") for source, text in zip(files.values(), said["texts"], strict=True)]
    read = f"{sum(text is not None for text in said['texts'])} of {len(files)}"
    found, order = (f"{mean(column):.3f}" for column in zip(*scores, strict=True))
    return [read, found, order, f"{said['seconds']:.1f}", f"{said['mib']:.0f}"]


def _spread(files: Mapping[Path, Sequence[str]], count: int) -> dict[Path, Sequence[str]]:
    every, count = sorted(files), min(count, len(files))
    return {every[at * len(every) // count]: files[every[at * len(every) // count]] for at in range(count)}


def _pdfs(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    for file, text in with_sources(folder):
        yield file, words(text)


def _documents(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    for file in sorted(folder.rglob("*.docx")):
        if file.is_file() and not file.is_symlink() and zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as parts:
                if "word/document.xml" in parts.namelist():
                    yield file, words(body_text(parts.read("word/document.xml")))


def body_text(xml: bytes) -> str:
    """Return the text of the body of a DOCX, paragraph by paragraph, without what was deleted in it."""
    paragraphs = ElementTree.fromstring(xml).iter(f"{_WORD}p")
    return "\n".join("".join(each.text or "" for each in part.iter(f"{_WORD}t")) for part in paragraphs)


if __name__ == "__main__":
    main()
