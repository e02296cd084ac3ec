"""Mines pairs from package archives into one file, deterministically.

python -m tools.static_model.mine --archives FOLDER --never-train FILE --keep-away FOLDER... --output pairs.jsonl
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from multiprocessing import Pool
from pathlib import Path

from tools.static_model.archives import CODE, PROSE, suffix, texts
from tools.static_model.code_pairs import code_pairs
from tools.static_model.packages import LIST, path_of, read_list
from tools.static_model.pairs import Pair, dice
from tools.static_model.prose_pairs import dictionary_pairs, factbook_pairs, prose_pairs

MAX_FILES = 300
MAX_FILES_OF_DOCUMENTATION = 1_500
MAX_CHARS_OF_FILE = 200_000
MAX_PAIRS_OF_CODE_FILE = 60
MAX_PAIRS_OF_PROSE_FILE = 60
MAX_PAIRS = 3_000
MAX_PAIRS_OF_DOCUMENTATION = 10_000

# Shorter lines are equal by chance: `from __future__ import annotations` has 34 characters.
_LONG_LINE = 40
_LEGAL = re.compile(r"licen[sc]e|copyright|warrant|apache\.org|KIND, either|AS IS|distributed under", re.I)


def main() -> None:
    """Mine all archives of a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--archives", type=Path, required=True)
    parser.add_argument("--never-train", type=Path, required=True, help="names of projects, one a line")
    parser.add_argument("--keep-away", type=Path, nargs="*", default=[], help="files and folders of texts to keep out")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()

    never = read_names(arguments.never_train)
    known = frozenset(long_lines(arguments.keep_away))
    packages = read_list(LIST)
    refused = {package.archive for package in packages if is_named(package.archive, never)}
    print(f"left out, as told: {', '.join(sorted(refused)) or 'none'}", file=sys.stderr)
    archives = [path_of(package, arguments.archives) for package in packages if package.archive not in refused]
    partial = arguments.output.with_suffix(".partial")
    counts: Counter[str] = Counter()
    with (
        Pool(arguments.processes, initializer=_start, initargs=(never, known)) as pool,
        partial.open("w", encoding="utf-8", newline="\n") as output,
    ):
        for archive, pairs, dropped in pool.imap(mine, archives, chunksize=1):
            counts["files kept away from"] += dropped
            for pair in pairs:
                counts[pair.kind] += 1
                record = [pair.kind, archive, pair.query, pair.text]
                output.write(json.dumps(record, ensure_ascii=False) + "\n")
    partial.replace(arguments.output)
    for kind, count in counts.most_common():
        print(f"| {kind} | {count:,} |")


_never: list[list[str]] = []
_known: frozenset[str] = frozenset()


def _start(never: list[list[str]], known: frozenset[str]) -> None:
    global _never, _known
    _never, _known = never, known


def mine(archive: Path) -> tuple[str, list[Pair], int]:
    """Return the name of an archive, its pairs, and how many of its files were too near to what is measured with."""
    kept: list[list[Pair]] = []
    dropped = 0
    dictionaries: dict[str, str] = {}
    documentation = is_documentation(archive.name)
    files = sorted(islice(texts(archive), 20_000), key=lambda file: dice(file[0]).random())
    for path, text in files:
        if len(kept) >= (MAX_FILES_OF_DOCUMENTATION if documentation else MAX_FILES):
            break
        if "/dictd/" in path:
            dictionaries[path] = text
            continue
        if is_named(path, _never, whole=True):
            continue
        text = text[:MAX_CHARS_OF_FILE]
        if is_near(text, _known):
            dropped += 1
        elif pairs := file_pairs(path, text):
            kept.append(pairs)
    kept += [list(dictionary_pairs(*both)) for both in _both_halves(dictionaries)]
    limit = MAX_PAIRS_OF_DOCUMENTATION if documentation else MAX_PAIRS
    flat = [pair for pairs in kept for pair in pairs]
    chosen = dice(archive.name).sample(range(len(flat)), min(limit, len(flat)))
    return archive.name, [flat[place] for place in sorted(chosen)], dropped


def file_pairs(path: str, text: str) -> list[Pair]:
    """Return the pairs of one file, at most as many as a file may bring."""
    ending = suffix(path)
    if ending == "json":
        pairs = list(factbook_pairs(text))
    elif ending in CODE:
        pairs = list(code_pairs(path, text))
    elif ending in PROSE:
        pairs = list(prose_pairs(path, text))
    else:
        return []
    limit = MAX_PAIRS_OF_CODE_FILE if ending in CODE else MAX_PAIRS_OF_PROSE_FILE
    chosen = dice(path, "file").sample(range(len(pairs)), min(limit, len(pairs)))
    return [pairs[place] for place in sorted(chosen)]


def _both_halves(files: dict[str, str]) -> Iterator[tuple[str, str]]:
    for path, index in sorted(files.items()):
        if path.endswith(".index"):
            text = files.get(path.removesuffix(".index") + ".dict.dz", "")
            if text:
                yield index, text


def is_documentation(name: str) -> bool:
    """Tell by its name whether a package is made to be read."""
    return bool(
        re.search(r"-doc\b|-docs\b|-doc-|^dict-|^manpages|-help|handbook|reference|guide|anarchism|factbook", name)
    )


def read_names(file: Path) -> list[list[str]]:
    """Read names of projects, each as its parts."""
    return [parts(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def parts(name: str) -> list[str]:
    """Return the parts of a name in small letters: `golang-github-spf13-Cobra` has four."""
    return [part for part in re.split(r"[-_.@/~+%]", name.lower()) if part]


def is_named(name: str, never: Iterable[list[str]], *, whole: bool = False) -> bool:
    """Return whether a package name has a project's name in it; for a path, whether a folder or file is called so."""
    pieces = [parts(piece.rpartition(".")[0] or piece) for piece in name.split("/")] if whole else [parts(name)]
    for project in never:
        for piece in pieces:
            if whole and piece == project:
                return True
            if not whole and any(piece[n : n + len(project)] == project for n in range(len(piece))):
                return True
    return False


def long_lines(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the lines, and in prose the sentences, that tell a text from others."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.stat().st_size < 10_000_000:
                yield from _lines(
                    file.read_text(encoding="utf-8", errors="ignore"), inside_json=file.suffix.startswith(".json")
                )


def _lines(text: str, *, inside_json: bool = False) -> Iterator[str]:
    for line in re.split(r"\n|(?<=[.?!])\s", text.replace("\\n", "\n") if inside_json else text):
        plain = line.strip()
        if len(plain) >= _LONG_LINE and not _LEGAL.search(plain):
            yield plain


def is_near(text: str, known: frozenset[str]) -> bool:
    """Return whether at least three long lines, and more than a twentieth of them, are among those known."""
    lines = list(_lines(text))
    shared = sum(line in known for line in lines)
    return shared >= 3 and shared > 0.05 * len(lines)


if __name__ == "__main__":
    main()
