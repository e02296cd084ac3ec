"""How right `openbook verify` is about the citations of real repositories, as labelled by hand.

    python -m benchmarks.citations --data DIR [--labelled] [--second-reader] [--details] [--sets SET ...]

`DIR` has a clone of each repository of `cases/citations.jsonl`, with its whole history, as `NAME` of `OWNER/NAME`.
Each is cloned again at the commit of the labels, checked, fixed, and fixed a second time.

The labels were written before the check was run: the cited lines were read at the commit that wrote the citation, and
at the newest one. `moved` has the new place. With `either`, lines have so many edits that a reader accepts `changed`
as well as the place. With `unclear`, the citation did not say what it named when it was written; it is not counted.
Lines that are the same at the same place were labelled `ok` by comparison, without reading.

`cases/citations_second_reader.jsonl` has some of them, labelled again by somebody who had seen neither the labels nor
the check. `--second-reader` scores these alone, by those labels, and prints how often the two readers agree.

The rules were tuned on some of the repositories. Others are held out, and the `fresh` ones were fetched and labelled
when the rules were done, and the `newest` ones after the rules that these led to. The `unseen` ones came last, in
`cases/citations_unseen.jsonl`: of them, what one page says in two links of the same line is one case. The `latest` ones
are of four more repositories, and the `last` ones of ten more, in the same file. The `blind` ones are of yet others, in
`cases/citations_blind.jsonl`: their readers and the author of the rules did not see each other's work. So are the
`sealed` ones of eighteen more, in `cases/citations_sealed.jsonl`, which were written down before the check was run,
the `tenth` ones of twelve more, in `cases/citations_tenth.jsonl`, the `eleventh` ones of another twelve, in
`cases/citations_eleventh.jsonl`, the `twelfth` ones of thirteen, in `cases/citations_twelfth.jsonl`, the `thirteenth`
ones of another thirteen, in `cases/citations_thirteenth.jsonl`, the `fourteenth` ones of three, the `fifteenth` ones
of nine, the `sixteenth` ones of three, one of which the fifteenth round has as well, the `seventeenth` ones of
thirteen, the `eighteenth` ones of 42, whose two readers were told the same rule, and the `nineteenth` ones of 33, whose
one reader was told that rule as well. `first_label` is what the reader
had written before the check was run, where that was revised. The `worded` ones, in `cases/citations_worded.jsonl`, are
of the form `path` (lines 12-18), and have one reader.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from openbook.verify.finding import Finding
from openbook.verify.mentions import find_mentions
from openbook.verify.verify import FileReport, FileVerifier, files_to_check

SETS = (
    *("tuned", "held-out", "fresh", "newest", "unseen", "latest", "last", "blind", "sealed", "tenth"),
    *("eleventh", "twelfth", "worded", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
    *("eighteenth", "nineteenth"),
)
CASES = Path(__file__).parent / "cases"
SECOND_READER = tuple(sorted(CASES.glob("citations*_second_reader.jsonl")))
FIRST_READER = tuple(sorted({*CASES.glob("citations*.jsonl")} - {*SECOND_READER}))

_Key = tuple[str, int, str, int, int]
"""Citing file, line, path as written, first and last cited line."""


@dataclass(frozen=True, slots=True)
class Label:
    """What a reader found."""

    key: _Key
    verdict: str
    now: str = ""
    """Path and lines, for `moved`; for `either` path and first line."""


@dataclass(slots=True)
class Score:
    """Counts over all repositories."""

    citations: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Label and verdict; the verdict `wrong place` for a move to another place than the label's."""
    writes: Counter[str] = field(default_factory=Counter)
    """`right`, `wrong` and `not labelled`, of the citations that were fixed."""
    changed_again: int = 0
    """Files that a second fix changed."""

    def precision(self, verdict: str) -> tuple[int, int]:
        """Return how many findings of a verdict are right, and how many there are, `unclear` ones left out."""
        also = "wrong place" if verdict == "moved" else verdict
        said = sum(n for (label, got), n in self.pairs.items() if got in (verdict, also) and label != "unclear")
        return sum(self.pairs[label, verdict] for label in (verdict, "either")), said

    def recall(self, verdict: str) -> tuple[int, int]:
        """Return how many citations of a label were found, and how many there are."""
        return self.pairs[verdict, verdict], sum(n for (label, _), n in self.pairs.items() if label == verdict)


def read_labels(chosen: str, *, second_reader: bool = False) -> dict[tuple[str, str], list[Label]]:
    """Return the labels of a set of repositories, by repository and commit; those of the second reader if asked to."""
    read_again = dict(chain.from_iterable(map(_rows, SECOND_READER)))
    found: dict[tuple[str, str], list[Label]] = defaultdict(list)
    for file in FIRST_READER:
        default = file.stem.removeprefix("citations").lstrip("_") or "tuned"
        for (repository, key), row in _rows(file):
            again = read_again.get((repository, key))
            if row.get("set", default) == chosen and (again or not second_reader):
                said = again if again and second_reader else row
                found[repository, row["commit"]].append(Label(key, said["label"], said.get("now", "")))
    return found


def _rows(file: Path) -> Iterator[tuple[tuple[str, _Key], dict[str, str]]]:
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        first, _, last = row["lines"].partition("-")
        yield (row["repository"], (row["file"], row["line"], row["path"], int(first), int(last or first))), row


def agreement(sets: Sequence[str]) -> str:
    """Return how often two readers gave the same label, as a table in Markdown."""
    read = [(of, label) for name in sets for (of, _), labels in read_labels(name).items() for label in labels]
    first = {(of, label.key): label for of, label in read}
    both = [(first[key], row) for key, row in chain.from_iterable(map(_rows, SECOND_READER)) if key in first]
    pairs = Counter((label.verdict, row["label"]) for label, row in both)
    lines = [f"| {one} | {other} | {number} |" for (one, other), number in pairs.most_common()]
    moved = [label.now == row["now"] for label, row in both if label.verdict == row["label"] == "moved"]
    same = f"To the same place: {sum(moved)} of {len(moved)} that both call `moved`."
    return "\n".join(["| first reader | second reader | citations |", "|---|---|---|", *lines, "", same])


def measure(
    data: Path, chosen: str, *, labelled: bool = False, details: bool = False, second_reader: bool = False
) -> Score:
    """Check all repositories of a set, or of each only the documents that have labels."""
    score = Score()
    for (repository, commit), labels in read_labels(chosen, second_reader=second_reader).items():
        with tempfile.TemporaryDirectory() as folder:
            clone = Path(folder) / "clone"
            _git("clone", "-q", "--shared", "--no-checkout", str(data / repository.partition("/")[2]), str(clone))
            check_out(clone, commit)
            _git("-C", str(clone), "remote", "set-url", "origin", f"https://github.com/{repository}")
            named = [str(clone / file) for file in sorted({label.key[0] for label in labels})]
            files = named if labelled else files_to_check([str(clone)])
            _score(score, clone, files, {label.key: label for label in labels}, details=details)
    return score


def _score(score: Score, clone: Path, files: Sequence[str], labels: Mapping[_Key, Label], *, details: bool) -> None:
    began = time.perf_counter()
    reports = _verified(clone, files)
    score.seconds += time.perf_counter() - began
    left = dict(labels)
    for report in reports:
        for finding in report.findings:
            score.citations += 1
            score.verdicts[finding.verdict] += 1
            label = left.pop(_key(report.path, finding), None)
            if label is not None:
                got = _judged(label, finding)
                score.pairs[label.verdict, got] += 1
                if details and got != label.verdict:
                    print(
                        f"{label.verdict:12} {got:12} {label.key} label {label.now} says {finding.now}", finding.reason
                    )
    for label in left.values():
        score.pairs[label.verdict, "not a citation"] += 1
        if details:
            print(f"{label.verdict:12} not found    {label.key}")
    _score_fixes(score, clone, files, labels, details=details)


def _score_fixes(
    score: Score, clone: Path, files: Sequence[str], labels: Mapping[_Key, Label], *, details: bool
) -> None:
    for report in _verified(clone, files, fix=True):
        for position in report.fixed:
            finding = report.findings[position]
            label = labels.get(_key(report.path, finding))
            known = label and label.verdict != "unclear"
            score.writes["not labelled" if not known else "right" if _is_place(label, finding) else "wrong"] += 1
    for report in _verified(clone, files, fix=True):
        score.changed_again += bool(report.fixed)
        if details:
            for position in report.fixed:
                print(f"fixed again {report.path}: {report.findings[position]}")


def _verified(clone: Path, files: Sequence[str], *, fix: bool = False) -> list[FileReport]:
    verifier = FileVerifier(clone)
    verifier.prepare(files)
    return list(_reports(verifier, files, fix=fix))


def _reports(verifier: FileVerifier, files: Sequence[str], *, fix: bool) -> Iterator[FileReport]:
    for file in files:
        try:
            yield verifier.verify(file, fix=fix)
        except Exception as exc:  # noqa: BLE001 - one broken file of somebody else does not stop the benchmark
            print(f"{file}: {exc}", file=sys.stderr)


def _key(file: str, finding: Finding) -> _Key:
    # What asks for another view of a file, as `a.md?plain=1#L3`, is a citation only in a link.
    mentions = find_mentions(finding.cited) or find_mentions(f"]({finding.cited})")
    if not mentions:  # a path in brackets or with blanks, of which the sample has none
        return file, finding.line, finding.cited, 0, 0
    mention = mentions[0]
    return file, finding.line, mention.path, mention.first_line, mention.last_line


def _judged(label: Label, finding: Finding) -> str:
    is_wrong_place = finding.verdict == "moved" and not _is_place(label, finding)
    return "wrong place" if is_wrong_place else finding.verdict


def _is_place(label: Label | None, finding: Finding) -> bool:
    if label is None or label.verdict not in {"moved", "either"} or finding.now is None:
        return False
    begins = f"{finding.now.path}:{finding.now.first_line}"
    return str(finding.now) == label.now or (label.verdict == "either" and begins == label.now)


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


def check_out(clone: Path, commit: str) -> None:
    """Write the files of a commit. A copy may lack the largest ones, at which `git checkout` would stop."""

    def git(*arguments: str, asked: str = "") -> str:
        command = ["git", "-C", str(clone), *arguments]
        return subprocess.run(command, input=asked, check=True, capture_output=True, encoding="utf-8").stdout

    listed = [line.split(maxsplit=3) for line in git("ls-tree", "-r", "-z", commit).split("\0") if line]
    known = git("cat-file", "--batch-check", asked="".join(f"{name}\n" for _, _, name, _ in listed))
    missing = {line.split()[0] for line in known.splitlines() if line.endswith(" missing")}
    git("read-tree", commit)
    git("update-ref", "--no-deref", "HEAD", commit)
    away = "".join(f"{path}\0" for _, kind, name, path in listed if kind == "blob" and name in missing)
    git("update-index", "-z", "--skip-worktree", "--stdin", asked=away)
    git("checkout-index", "-q", "-a", "-f")


def _share(part: tuple[int, int]) -> str:
    return f"{part[0]} of {part[1]} ({part[0] / max(1, part[1]):.1%})"


def table(scores: Mapping[str, Score]) -> str:
    """Return the scores of several sets side by side, as a table in Markdown."""
    columns = [_column(score) for score in scores.values()]
    rows = [("what", *scores), *((what, *(column[what] for column in columns)) for what in columns[0])]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join((lines[0], "|---" * (1 + len(scores)) + "|", *lines[1:]))


def _column(score: Score) -> dict[str, str]:
    said = ", ".join(f"{number} {verdict}" for verdict, number in score.verdicts.most_common())
    return {
        "citations": f"{score.citations}: {said}",
        "labelled": str(sum(score.pairs.values())),
        "precision of `moved`": _share(score.precision("moved")),
        "recall of `moved`": _share(score.recall("moved")),
        "precision of `changed`": _share(score.precision("changed")),
        "recall of `changed`": _share(score.recall("changed")),
        "written by `--fix`": ", ".join(f"{number} {what}" for what, number in sorted(score.writes.items())),
        "files that a second `--fix` changes": str(score.changed_again),
        "seconds": f"{score.seconds:.1f}",
    }


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder with the clones")
    parser.add_argument("--labelled", action="store_true", help="check only documents with labels")
    parser.add_argument("--second-reader", action="store_true", help="score what a second reader labelled, by that")
    parser.add_argument("--details", action="store_true", help="list what differs from the labels")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="leave the others out")
    given = parser.parse_args()
    options = {"labelled": given.labelled, "details": given.details, "second_reader": given.second_reader}
    print(table({name: measure(given.data, name, **options) for name in given.sets}))
    if given.second_reader:
        print(f"\n{agreement(given.sets)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
