"""How many citations are found again after the files they cite have changed, and how many wrongly.

    python -m benchmarks.relocation [--count 500] [--seed 0] [--details]

Citations of definitions, blocks and lines of installed packages. Then, in three rounds, lines are inserted,
functions moved within and between files, neighbouring lines edited, files renamed, and a third of the citing
sentences reworded, which hides their age from `git blame`. The truth is kept by the identity of each line.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.drift import Cited, Tree, choose, drift
from openbook.verify.finding import Finding
from openbook.verify.verify import FileVerifier

PACKAGES = ("click", "rich", "_pytest", "hatchling", "markdown_it", "httpx2", "anyio", "importlinter")
ROUNDS = 3
_PER_FILE = 5
_PER_PAGE = 10
# Lines of a result around the quoted ones.
_CHUNK_LINES = 12

Where = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """What became of the citations in one setting."""

    setting: str
    count: int
    right: int
    """The place where the lines are now was named."""
    unsure: int
    """It was said that the lines are changed or gone, or that only the range was checked."""
    wrong: int
    """Another place was named, or a drifted citation called right."""
    ms: float
    """Per citation."""

    def __str__(self) -> str:
        shares = " | ".join(f"{value / self.count:.1%}" for value in (self.right, self.unsure, self.wrong))
        return f"| {self.setting} | {self.count} | {shares} | {self.wrong} | {self.ms:.1f} |"


HEADER = (
    "| citations | count | right | said to be unsure | silently wrong | wrong, count | ms each |\n"
    "|---|---|---|---|---|---|---|"
)


def table(count: int = 500, seed: int = 0) -> str:
    """Return what is measured as a table in Markdown."""
    return "\n".join((HEADER, *map(str, measure(count, seed))))


def measure(count: int = 500, seed: int = 0, *, details: bool = False) -> list[Row]:
    """Measure all settings and both baselines, each on the same citations."""
    with tempfile.TemporaryDirectory() as folder:
        world = _World(Path(folder), count, seed)
        rows = [
            _row("prose, with git", world, lambda: world.verified("prose")),
            _row("answers (`ask --json`), with git", world, lambda: world.verified("answers")),
            _row("baseline: line numbers unchanged", world, world.unchanged),
            _row("baseline: git blame of the sentence, lines through the diff", world, world.blamed),
        ]
        world.forget_history()
        rows.append(_row("answers, without git", world, lambda: world.verified("answers")))
        rows.append(_row("prose, without git: by names and quotes", world, lambda: world.verified("prose")))
        if details:
            world.explain()
    return rows


def _row(setting: str, world: _World, run: Callable[[], list[tuple[str, Where | None]]]) -> Row:
    began = time.perf_counter()
    named = run()
    took_ms = (time.perf_counter() - began) * 1000
    tally = Counter(world.judge(cited, *answer) for cited, answer in zip(world.cited, named, strict=True))
    return Row(setting, len(named), tally["right"], tally["unsure"], tally["wrong"], took_ms / len(named))


class _World:
    """A repository of code and of pages that cite it, after it has drifted."""

    def __init__(self, folder: Path, count: int, seed: int) -> None:
        self.folder = folder
        self._random = random.Random(seed)
        self._tree = Tree.of(Path(sysconfig.get_paths()["purelib"]), PACKAGES, self._random)
        self.cited = self._choose(count)
        self._sentences = [self._sentence(cited) for cited in self.cited]
        self._git("init", "-q", "-b", "main")
        self._commit()
        self._write_answers()
        for _ in range(ROUNDS):
            for path in sorted({self._tree.place(cited)[0] for cited in self.cited}):
                drift(self._tree, path, self._random)
            for position, sentence in enumerate(self._sentences):
                if self._random.random() < 1 / ROUNDS / 3:
                    self._sentences[position] = f"{sentence} Reworded."
            self._commit()
        self.truth = [self._tree.place(cited) for cited in self.cited]
        self.findings: dict[str, list[Finding]] = {}

    def _choose(self, count: int) -> list[Cited]:
        cited: list[Cited] = []
        paths = list(self._tree.files)
        used = []
        for path in paths:
            some = [choose(self._tree, path, self._random) for _ in range(2 * _PER_FILE)]
            cited += [one for one in some if one is not None][:_PER_FILE]
            used.append(path)
            if len(cited) >= count:
                break
        return cited[:count]

    def _sentence(self, cited: Cited) -> str:
        lines = f"{cited.first_line}-{cited.last_line}" if cited.last_line > cited.first_line else f"{cited.first_line}"
        place = f"{cited.path}:{lines}"
        if cited.name:
            return f"`{cited.name}` ({place}) is what callers use."
        if cited.first_line == cited.last_line and "`" not in cited.lines[0].text:
            return f"It is done by `{cited.lines[0].text.strip()}` at {place}."
        return f"The details are in {place}."

    def _pages(self) -> list[str]:
        starts = range(0, len(self._sentences), _PER_PAGE)
        return ["\n\n".join(self._sentences[start : start + _PER_PAGE]) + "\n" for start in starts]

    def _commit(self) -> None:
        self._tree.write(self.folder)
        (self.folder / "docs").mkdir(exist_ok=True)
        for number, page in enumerate(self._pages()):
            (self.folder / "docs" / f"{number:03}.md").write_text(page, encoding="utf-8")
        self._git("add", "-A")
        self._git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "change")

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, capture_output=True, check=True, encoding="utf-8")
        return done.stdout

    def _write_answers(self) -> None:
        """Write what `ask --json` would have said of the cited lines, an answer each."""
        answers = []
        for cited in self.cited:
            lines = [line.text + "\n" for line in self._tree.files[cited.path]]
            first, last = max(0, cited.first_line - 1 - _CHUNK_LINES), cited.last_line + _CHUNK_LINES
            start = len("".join(lines[: cited.first_line - 1]))
            quote = "".join(lines[cited.first_line - 1 : cited.last_line]).removesuffix("\n")
            citation: dict[str, str | int] = {
                "mark": "[1]",
                "source": "code",
                "path": cited.path,
                "quote": quote,
                "verdict": "supported",
            }
            citation |= {"start_line": cited.first_line, "end_line": cited.last_line}
            citation |= {"start_char": start, "end_char": start + len(quote)}
            chunk: dict[str, str | int] = {"source": "code", "path": cited.path, "text": "".join(lines[first:last])}
            chunk |= {"start_char": len("".join(lines[:first]))}
            answers.append(json.dumps({"query": "?", "answer": "[1]", "citations": [citation], "sources": [chunk]}))
        (self.folder / "answers.jsonl").write_text("\n".join(answers) + "\n", encoding="utf-8")

    def forget_history(self) -> None:
        (self.folder / ".git").rename(self.folder / "no-longer-git")

    # What is measured: for each citation in order, the verdict and the place that is named.

    def verified(self, what: str) -> list[tuple[str, Where | None]]:
        verifier = FileVerifier(self.folder)
        files = ["answers.jsonl"] if what == "answers" else [f"docs/{n:03}.md" for n in range(len(self._pages()))]
        found = [finding for file in files for finding in verifier.verify(str(self.folder / file)).findings]
        self.findings[f"{what}-{len(self.findings)}"] = found
        return [_named(finding) for finding in found]

    def unchanged(self) -> list[tuple[str, Where | None]]:
        return [("ok", (cited.path, cited.first_line, cited.last_line)) for cited in self.cited]

    def blamed(self) -> list[tuple[str, Where | None]]:
        diffs: dict[str, dict[str, tuple[str, list[tuple[int, int, int, int]]]]] = {}
        named: list[tuple[str, Where | None]] = []
        for number in range(len(self._pages())):
            blame = self._git("blame", "-s", "-l", "--", f"docs/{number:03}.md").splitlines()
            commits = [line.split()[0].lstrip("^") for line in blame if line.partition(") ")[2].strip()]
            for cited, short in zip(self.cited[number * _PER_PAGE :], commits, strict=False):
                commit = self._git("rev-parse", short).strip()
                if commit not in diffs:
                    diffs[commit] = _hunks(self._git("diff", "-M", "-U0", commit, "HEAD", "--", ".", ":!docs"))
                path, hunks = diffs[commit].get(cited.path, (cited.path, []))
                named.append(("moved", (path, _through(hunks, cited.first_line), _through(hunks, cited.last_line))))
        return named

    def judge(self, cited: Cited, verdict: str, where: Where | None) -> str:
        if where is None or verdict not in {"ok", "moved"}:
            return "unsure"
        return "right" if where == self._tree.place(cited) else "wrong"

    def explain(self) -> None:
        for setting, findings in self.findings.items():
            for cited, truth, finding in zip(self.cited, self.truth, findings, strict=True):
                judged = self.judge(cited, *_named(finding))
                if judged != "right":
                    old = f"{cited.path}:{cited.first_line}-{cited.last_line}"
                    print(
                        setting, judged, old, "is", truth, finding.verdict, finding.basis, finding.now, finding.reason
                    )


def _named(finding: Finding) -> tuple[str, Where | None]:
    where = finding.now if finding.verdict == "moved" else finding.place
    verdict = "unsure" if finding.basis == "range" else finding.verdict
    return verdict, (where.path, where.first_line, where.last_line) if where else None


def _hunks(diff: str) -> dict[str, tuple[str, list[tuple[int, int, int, int]]]]:
    """Read a diff as old path to new path and hunks: old start and size, new start and size."""
    found: dict[str, tuple[str, list[tuple[int, int, int, int]]]] = {}
    old = ""
    hunks: list[tuple[int, int, int, int]] = []
    for line in diff.splitlines():
        names = re.match(r"diff --git a/(\S+) b/(\S+)", line)
        if names:
            old, hunks = names[1], []
            found[old] = (names[2], hunks)
        numbers = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
        if numbers:
            hunks.append((int(numbers[1]), int(numbers[2] or 1), int(numbers[3]), int(numbers[4] or 1)))
    return found


def _through(hunks: Sequence[tuple[int, int, int, int]], line: int) -> int:
    """Take a line number through a diff: shifted by what changed before it, or to what replaced it."""
    shift = 0
    for old, old_size, new, new_size in hunks:
        if line < (old if old_size else old + 1):
            break
        if old_size and line < old + old_size:
            return max(1, min(new + line - old, new + max(new_size, 1) - 1))
        shift = new + (new_size or 1) - old - (old_size or 1)
    return line + shift


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--details", action="store_true", help="list what was not found again")
    arguments = parser.parse_args()
    print(HEADER, *measure(arguments.count, arguments.seed, details=arguments.details), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
