"""How many citations of lines are found again in real repositories, whose history is replayed around a page.

    python -m benchmarks.replayed --data FOLDER [--back 600] [--count 300] [--seed 0] [--details] REPOSITORY ...

A page with citations is written BACK commits before the newest one, by the first parents, and each later commit is
made again with it. Cited are lines that are told without a history: their first and last line stand in the tree once,
then and today, or they are part of a definition whose name is defined once and whose text is the same then and today.
All of them are intact, so each has one place today. Nobody chose them, and the page says little of them.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.citations import check_out
from openbook.verify.finding import Finding, LineRange
from openbook.verify.verify import FileReport, FileVerifier

_SUFFIXES = frozenset(
    ".py .js .ts .tsx .go .rs .rb .java .kt .c .h .cc .cpp .hpp .ex .hs .swift .cs .php .ml .lua .sh .scala".split()
)
_MAX_FILE_BYTES = 400_000
_MIN_LINE_CHARS = 15
_MAX_BLOCK_LINES = 10
_MAX_OF_FILE = 6
_PAGE = "cited-lines/notes.md"
_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|async|abstract|final|override"
    r"|unsafe|suspend|inline|open|data|sealed|local|virtual)\s+)*"
    r"(?:def|class|func|fn|function|struct|enum|trait|interface|type|module|defmodule|object|fun|impl|protocol|extension)"
    r"\s+(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_]\w{5,})"
)
_CLOSES = re.compile(r"\s*(?:[}\])]|end\b)")
HEADER = (
    "| repository | commits | citations | stand elsewhere | found | found, not certain | not found | wrong place "
    "| wrong lines written | changed by a second `--fix` |\n|---|---|---|---|---|---|---|---|---|---|"
)

Tree = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines then, and where the same lines are today."""

    then: LineRange
    now: LineRange


def _git(folder: Path, *arguments: str, said: bytes = b"") -> bytes:
    return subprocess.run(["git", *arguments], cwd=folder, input=said, capture_output=True, check=True).stdout


def tree(repository: Path, commit: str) -> Tree:
    """Return the lines of the sources of a commit by their paths."""
    listed = [line.split("\t", 1) for line in _git(repository, "ls-tree", "-r", "-z", commit).decode().split("\0")[:-1]]
    blobs = {path: about.split()[2] for about, path in listed if Path(path).suffix in _SUFFIXES}
    content = _git(repository, "cat-file", "--batch", said="".join(f"{blob}\n" for blob in blobs.values()).encode())
    files, at = {}, 0
    for path in blobs:
        head = content[at : content.index(b"\n", at)]
        if head.endswith(b"missing"):
            at += len(head) + 1
            continue
        start, size = at + len(head) + 1, int(head.split()[2])
        text, at = content[start : start + size], start + size + 1
        if size < _MAX_FILE_BYTES and b"\0" not in text:
            files[path] = text.decode(errors="replace").replace("\r\n", "\n").split("\n")
    return files


def _once(places: Mapping[str, Sequence[tuple[str, int]]]) -> dict[str, tuple[str, int]]:
    return {what: found[0] for what, found in places.items() if len(found) == 1}


def _single_lines(files: Tree) -> dict[str, tuple[str, int]]:
    """Return where each line of several letters stands that stands once."""
    places = defaultdict(list)
    for path, lines in files.items():
        for number, line in enumerate(lines, start=1):
            if len(line.strip()) >= _MIN_LINE_CHARS and re.search(r"[A-Za-z]{4}", line):
                places[line.strip()].append((path, number))
    return _once(places)


def _definitions(files: Tree) -> dict[str, tuple[str, int]]:
    """Return where each name is defined that is defined once."""
    places = defaultdict(list)
    for path, lines in files.items():
        for number, line in enumerate(lines, start=1):
            if head := _DEFINITION.match(line):
                places[head[1]].append((path, number))
    return _once(places)


def _end_of(lines: Sequence[str], first: int) -> int:
    """Return the last line of a definition, by indentation."""
    depth = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    end = first
    for number, line in enumerate(lines[first:], start=first + 1):
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            return number if _CLOSES.match(line) else end
        end = number if line.strip() else end
    return end


def _text(files: Tree, place: LineRange) -> list[str]:
    return [line.strip() for line in files[place.path][place.first_line - 1 : place.last_line]]


def candidates(old: Tree, new: Tree, chance: random.Random) -> Iterator[Cited]:
    """Yield intact lines, in an order drawn by chance: marked by their ends, then parts of definitions."""
    then, now = _single_lines(old), _single_lines(new)
    marks = [(*then[line], *now[line]) for line in then if line in now]
    chance.shuffle(marks)
    ends = {(path, number): (there, line) for path, number, there, line in marks}
    for path, first, there, line in marks:
        size = chance.choice((0, 0, 1, 2, 3, 5, _MAX_BLOCK_LINES - 1))
        if ends.get((path, first + size)) == (there, line + size):
            yield Cited(LineRange(path, first, first + size), LineRange(there, line, line + size))
    heads, today = _definitions(old), _definitions(new)
    names = [name for name in heads if name in today]
    chance.shuffle(names)
    for name in names:
        (path, first), (there, line) = heads[name], today[name]
        length = _end_of(old[path], first) - first
        if length > 1 and length == _end_of(new[there], line) - line:
            skipped = chance.randrange(1, length)
            size = min(chance.choice((0, 0, 1, 2, 4)), length - skipped)
            begin, start = first + skipped, line + skipped
            part = Cited(LineRange(path, begin, begin + size), LineRange(there, start, start + size))
            whole = LineRange(path, first, first + length), LineRange(there, line, line + length)
            if _text(old, whole[0]) == _text(new, whole[1]) and re.search(r"\w", "".join(_text(old, part.then))):
                yield part


def choose(old: Tree, new: Tree, count: int, chance: random.Random) -> list[Cited]:
    """Return citations, each of other lines, mostly of lines that stand elsewhere today."""
    found: dict[LineRange, Cited] = {}
    of_file: Counter[str] = Counter()
    both = [*candidates(old, new, chance)]
    chance.shuffle(both)
    for cited in sorted(both, key=lambda each: each.then == each.now):
        is_intact = _text(old, cited.then) == _text(new, cited.now)
        if len(found) < count and of_file[cited.then.path] < _MAX_OF_FILE and is_intact and cited.then not in found:
            of_file[cited.then.path] += 1
            found[cited.then] = cited
    return [*found.values()]


def page(cited: Sequence[Cited]) -> str:
    """Return a page that cites lines in three ways, a citation a line."""
    lines = []
    for number, each in enumerate(cited):
        path, first, last = each.then.path, each.then.first_line, each.then.last_line
        link = f"../{path.replace(' ', '%20')}#L{first}" + (f"-L{last}" if last > first else "")
        ways = (
            f"Case {number} is in `{each.then}`.",
            f"Step {number} is [here]({link}).",
            f"Checked first ({each.then}).",
        )
        lines.append(f"- {ways[number % len(ways)]}\n")
    return "".join(lines)


def replay(source: Path, folder: Path, commits: Sequence[str], text: str) -> None:
    """Make the commits again, each with the page."""
    _git(folder, "init", "-q", "-b", "main")
    objects = _git(source, "rev-parse", "--path-format=absolute", "--git-path", "objects").decode()
    (folder / ".git/objects/info/alternates").write_text(objects, encoding="utf-8")
    content = text.encode()
    made = bytearray()
    for number, commit in enumerate(commits):
        kept = _git(folder, "rev-parse", f"{commit}^{{tree}}").decode().strip()
        made += f"commit refs/heads/main\nmark :{number + 1}\n".encode()
        made += f"committer a <a@b.c> {1_600_000_000 + number * 3600} +0000\ndata 7\nchange\n\n".encode()
        made += (f"from :{number}\n" if number else "").encode() + f"M 040000 {kept} \n".encode()
        made += f"M 100644 inline {_PAGE}\ndata {len(content)}\n".encode() + content + b"\n"
    _git(folder, "fast-import", "--quiet", said=bytes(made))
    check_out(folder, "main")


def _verified(folder: Path, *, fix: bool = False) -> FileReport:
    verifier = FileVerifier(folder)
    verifier.prepare([str(folder / _PAGE)])
    return verifier.verify(str(folder / _PAGE), fix=fix)


def outcome(cited: Cited, finding: Finding | None) -> str:
    """Return `found`, `unsure`, `lost` or `wrong` for what is said of a citation."""
    place = finding and {"moved": finding.now, "ok": finding.place}.get(finding.verdict)
    if finding is None or place is None:
        return "lost"
    if place != cited.now:
        return "wrong"
    return "unsure" if finding.doubt else "found"


def measure(source: Path, back: int, count: int, seed: int, *, details: bool = False) -> str:
    """Replay a repository, and return its row."""
    commits = _git(source, "rev-list", "--first-parent", "--reverse", f"-n{back + 1}", "HEAD").decode().split()
    cited = choose(tree(source, commits[0]), tree(source, commits[-1]), count, random.Random(seed))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        replay(source, folder, commits, page(cited))
        findings = {finding.line: finding for finding in _verified(folder).findings}
        said = [outcome(each, findings.get(line)) for line, each in enumerate(cited, start=1)]
        if details:
            for line, (each, what) in enumerate(zip(cited, said, strict=True), start=1):
                if what in {"lost", "wrong"}:
                    print(f"{what:6} {each.then} -> {each.now}: {findings.get(line)}")
        fixed = _verified(folder, fix=True)
        written = [fixed.findings[position] for position in fixed.fixed]
        wrong = sum(finding.now != cited[finding.line - 1].now for finding in written)
        again = len(_verified(folder, fix=True).fixed)
    counts, moved = Counter(said), sum(each.then != each.now for each in cited)
    shown = (len(commits), len(cited), moved, *(counts[what] for what in ("found", "unsure", "lost", "wrong")))
    return f"| {source.name} | {' | '.join(map(str, (*shown, f'{wrong} of {len(written)}', again)))} |"


def main() -> int:
    """Print a row for each repository."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder with the repositories")
    parser.add_argument("--back", type=int, default=600, help="commits that are made again")
    parser.add_argument("--count", type=int, default=300, help="citations of each")
    parser.add_argument("--seed", type=int, default=0, help="what chance begins with")
    parser.add_argument("--details", action="store_true", help="list what is not found")
    parser.add_argument("repositories", nargs="+", help="names of folders in the data")
    given = parser.parse_args()
    print(HEADER)
    for name in given.repositories:
        print(measure(given.data / name, given.back, given.count, given.seed, details=given.details), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
