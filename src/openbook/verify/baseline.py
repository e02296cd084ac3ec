"""The baseline: known findings of a repository, so that only new ones fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from openbook.errors import SourceError, SourceNotFoundError
from openbook.verify.verify import FileReport

_VERSION = 1


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """A known finding. It has no line number, since edits above the citation change that."""

    file: str
    """POSIX path relative to the root."""
    cited: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.file}: {self.cited} ({self.verdict})"


class Baseline:
    """Counts of findings by file, citation and verdict."""

    def __init__(self, entries: Iterable[BaselineEntry]) -> None:
        self._counts = Counter(entries)

    @classmethod
    def of(cls, reports: Sequence[FileReport]) -> Baseline:
        """Collect the findings of reports."""
        return cls(_entry(report, at) for report in reports for at in _wrong(report))

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Read a baseline file."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            counts = {
                BaselineEntry(str(entry["file"]), str(entry["cited"]), str(entry["verdict"])): int(entry["count"])
                for entry in {_VERSION: content["findings"]}[content["version"]]
            }
        except FileNotFoundError as exc:
            raise SourceNotFoundError(str(path), "does not exist", hint="create it with --write-baseline") from exc
        except OSError as exc:
            raise SourceError(str(path), exc.strerror or "unreadable", hint="check its permissions") from exc
        except (ValueError, KeyError, TypeError) as exc:
            raise SourceError(str(path), "is no baseline", hint="recreate it with --write-baseline") from exc
        return cls(Counter(counts).elements())

    def write(self, path: Path) -> None:
        """Write the entries sorted, one per line, so that diffs are readable."""
        lines = [
            json.dumps({"file": one.file, "cited": one.cited, "verdict": one.verdict, "count": count})
            for one, count in sorted(self._counts.items())
        ]
        text = ",\n  ".join(lines)
        listed = f"[\n  {text}\n ]" if lines else "[]"
        try:
            path.write_text(f'{{"version": {_VERSION}, "findings": {listed}}}\n', encoding="utf-8")
        except OSError as exc:
            reason = f"cannot be written: {exc.strerror}"
            raise SourceError(str(path), reason, hint="name a file in a folder that exists") from exc

    def __len__(self) -> int:
        """Count findings."""
        return self._counts.total()

    def mark(self, reports: Sequence[FileReport], missing: Iterable[str] = ()) -> tuple[list[FileReport], list[str]]:
        """Mark the known findings.

        Returns:
            The reports, and the stale entries: those of the checked files that are no longer found.
        """
        left = self._counts.copy()
        marked = []
        for report in reports:
            known = set()
            for at in _wrong(report):
                entry = _entry(report, at)
                if left[entry] > 0:
                    left[entry] -= 1
                    known.add(at)
            marked.append(replace(report, known=frozenset(known)))
        files = {report.path for report in reports}.union(missing)
        return marked, [str(entry) for entry in sorted((+left).elements()) if entry.file in files]

    def files(self) -> set[str]:
        """Return the files of the entries."""
        return {entry.file for entry in self._counts}


def _wrong(report: FileReport) -> list[int]:
    return [at for at, finding in enumerate(report.findings) if finding.is_wrong and at not in report.fixed]


def _entry(report: FileReport, at: int) -> BaselineEntry:
    finding = report.findings[at]
    return BaselineEntry(report.path, finding.cited, finding.verdict)
