"""Makes files drift under citations, and keeps count of where each cited line goes."""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Line:
    """A line that keeps its identity wherever it goes."""

    text: str
    is_cited: bool = False


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines that a sentence cites."""

    path: str
    """As they were called when the sentence was written."""
    first_line: int
    last_line: int
    lines: tuple[Line, ...]
    name: str
    """What they define; empty if they are no definition."""


@dataclass(slots=True)
class Tree:
    """Files by path, each as lines."""

    files: dict[str, list[Line]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, packages: Sequence[str], random_: random.Random) -> Tree:
        """Read the Python files of installed packages, those of 40 to 1,500 lines, in a random order."""
        tree = cls()
        paths = sorted(path for package in packages for path in (folder / package).rglob("*.py"))
        random_.shuffle(paths)
        for path in paths:
            text = path.read_text(encoding="utf-8").replace("\f", "")
            if 40 <= text.count("\n") <= 1_500 and text.isascii():
                tree.files[path.relative_to(folder).as_posix()] = [Line(line) for line in text.splitlines()]
        return tree

    def write(self, folder: Path) -> None:
        """Write all files into a folder, and remove those that it no longer has."""
        for old in folder.rglob("*.py"):
            if old.relative_to(folder).as_posix() not in self.files:
                old.unlink()
        for path, lines in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("".join(f"{line.text}\n" for line in lines), encoding="utf-8")

    def place(self, cited: Cited) -> tuple[str, int, int]:
        """Return where cited lines are: path, first and last line, 1-based."""
        wanted = {id(line) for line in cited.lines}
        for path, lines in self.files.items():
            numbers = [number for number, line in enumerate(lines, start=1) if id(line) in wanted]
            if numbers:
                return path, numbers[0], numbers[-1]
        raise AssertionError("a cited line was lost")


def choose(tree: Tree, path: str, random_: random.Random) -> Cited | None:
    """Choose lines to cite: a definition, a block of up to eight lines, or one line; None if there are none."""
    lines = tree.files[path]
    kind = random_.choice(("definition", "definition", "block", "block", "line"))
    name = ""
    if kind == "definition":
        spans = [
            (node.lineno, node.end_lineno or 0, node.name)
            for node in ast.walk(ast.parse("\n".join(line.text for line in lines)))
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and 2 <= (node.end_lineno or 0) - node.lineno <= 40
        ]
        if not spans:
            return None
        first, last, name = random_.choice(spans)
    else:
        first = random_.randrange(1, len(lines) + 1)
        last = min(len(lines), first + (random_.randrange(1, 8) if kind == "block" else 0))
    block = lines[first - 1 : last]
    is_telling = re.search(r"\w", block[0].text) and block[-1].text.strip()
    if not is_telling or any(line.is_cited for line in block):
        return None
    for line in block:
        line.is_cited = True
    return Cited(path, first, last, tuple(block), name)


def drift(tree: Tree, path: str, random_: random.Random) -> None:
    """Change one file as people do: lines come, definitions move, neighbours are edited, it is renamed."""
    for _ in range(random_.randrange(1, 4)):
        _insert(tree, path, random_)
    if random_.random() < 0.5:
        _move(tree, path, random_)
    for _ in range(random_.randrange(0, 4)):
        _edit_nearby(tree.files[path], random_)
    if random_.random() < 0.2:
        folder, _, name = path.rpartition("/")
        new = f"{folder}/{random_.choice(('core', 'impl', 'inner'))}_{name}"
        if new not in tree.files:
            tree.files[new] = tree.files.pop(path)


def _is_border(lines: Sequence[Line], at: int) -> bool:
    """Return whether something can come between two lines without falling into a cited block."""
    return not (0 < at < len(lines) and lines[at - 1].is_cited and lines[at].is_cited)


def _insert(tree: Tree, path: str, random_: random.Random) -> None:
    """Insert lines of another file, as deep as what follows: real code, with all that looks alike in it."""
    lines = tree.files[path]
    at = random_.randrange(0, len(lines) + 1)
    if not _is_border(lines, at):
        return
    other = tree.files[random_.choice([name for name in tree.files if name != path])]
    start = random_.randrange(len(other))
    copied = other[start : start + random_.choice((1, 2, 3, 5, 8, 13, 30))]
    added = [line.text for line in copied if not line.is_cited]  # a copy would be as right as the original
    below = next((line.text for line in lines[at:] if line.text.strip()), "")
    margin = " " * (len(below) - len(below.lstrip()))
    lines[at:at] = [Line(f"{margin}{text}".rstrip()) for text in textwrap.dedent("\n".join(added)).split("\n")]


def _move(tree: Tree, path: str, random_: random.Random) -> None:
    """Move a stretch between blank lines, as a function is, within its file or, one time in four, to another."""
    lines = tree.files[path]
    starts = [at for at in range(1, len(lines)) if not lines[at - 1].text.strip() and _is_border(lines, at)]
    starts = [at for at in starts if re.match(r"\s*(def|class|@)", lines[at].text)]
    if len(starts) < 3:
        return
    index = random_.randrange(len(starts) - 1)
    start, end = starts[index], starts[index + 1]
    moved = lines[start:end]
    del lines[start:end]
    others = [other for other in tree.files if other != path and "_moved" not in other]
    goal = tree.files[random_.choice(others)] if random_.random() < 0.25 and others else lines
    places = [at for at in range(1, len(goal)) if not goal[at - 1].text.strip() and _is_border(goal, at)] or [len(goal)]
    at = random_.choice(places)
    goal[at:at] = moved


def _edit_nearby(lines: list[Line], random_: random.Random) -> None:
    """Change lines that are within five of a cited one, and not cited."""
    near = [
        at
        for at, line in enumerate(lines)
        if not line.is_cited and line.text.strip() and any(other.is_cited for other in lines[max(0, at - 5) : at + 6])
    ]
    if near:
        at = random_.choice(near)
        text = lines[at].text
        lines[at].text = random_.choice(
            (f"{text}  # see above", re.sub(r"\b([a-z]\w{3,})\b", r"\1_new", text, count=1))
        )
