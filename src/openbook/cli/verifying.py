"""`openbook verify`: which files and which folder, and how findings look on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer

from openbook.cli import EXIT_FAILURE, EXIT_NOTHING, printing
from openbook.cli.opening import check_paths
from openbook.errors import SourceError
from openbook.verify.finding import OUTCOMES, Finding
from openbook.verify.verify import FileReport, FileVerifier


def verify_files(files: Sequence[str], root: Path, *, fix: bool, as_json: bool) -> int:
    """Check files, print what was found, and give the exit code.

    Raises:
        SourceError: A file or the folder is not there.
        BadParameter: A folder stands where a file should, or the other way around.
    """
    check_paths([root, *map(Path, files)])
    if not root.is_dir():
        raise typer.BadParameter(
            f"{str(root)!r} is a file; name the folder that paths are relative to", param_hint="--root"
        )
    _check_files(files)
    verifier = FileVerifier(root)
    reports, failed = [], False
    for file in dict.fromkeys(files):
        try:
            reports.append(verifier.verify(file, fix=fix))
        except SourceError as exc:
            failed = True
            printing.complain(str(exc), exc.hint or "name files of text")
    if as_json:
        counts = _counts(reports)
        printing.print_json({"files": [report.to_dict() for report in reports], "counts": counts})
    else:
        for report in reports:
            _print(report)
        if reports:
            _summarise(reports)
    if verifier.is_cut:
        printing.note("the git history is cut off, so it was not asked; in CI, fetch all of it (fetch-depth: 0)")
    if failed:
        return EXIT_FAILURE
    return EXIT_NOTHING if any(report.wrong for report in reports) else 0


def _check_files(files: Sequence[str]) -> None:
    for file in files:
        if Path(file).is_dir():
            example = (Path(file) / "*.md").as_posix()
            raise typer.BadParameter(f"{file!r} is a folder; name its files, such as {example}", param_hint="FILE")


def _print(report: FileReport) -> None:
    for number, finding in enumerate(report.findings):
        if number in report.fixed:
            printing.say(f"{_head(report, finding)} fixed: {_detail(finding)}")
        elif finding.verdict != "ok":
            printing.say(f"{_head(report, finding)} {finding.verdict}: {_detail(finding)}")


def _head(report: FileReport, finding: Finding) -> str:
    return printing.one_line(f"{report.file}:{finding.line}:")


def _detail(finding: Finding) -> str:
    arrow = {"moved": " -> ", "changed": ", perhaps "}.get(finding.verdict, "")
    now = f"{arrow}{finding.now}" if finding.now and arrow else ""
    pinned = " (the link still shows the old lines)" if finding.pinned and finding.verdict != "ok" else ""
    reason = f" ({finding.reason})" if finding.reason else ""
    return printing.one_line(f"{finding.cited}{now}{reason}{pinned}")


def _summarise(reports: Sequence[FileReport]) -> None:
    counts = _counts(reports)
    total = sum(counts[outcome] for outcome in OUTCOMES)
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    by_range = counts["by range"]
    unsure = f" ({by_range} by {'its' if by_range == 1 else 'their'} range alone)" if by_range else ""
    fixed = f"; {counts['fixed']} fixed" if counts["fixed"] else ""
    where = f"{printing.counted(total, 'citation')} in {printing.counted(len(reports), 'file')}"
    printing.note(where + (f": {said}{unsure}{fixed}" if total else ""))


def _counts(reports: Sequence[FileReport]) -> dict[str, int]:
    findings = [finding for report in reports for finding in report.findings]
    by_verdict = Counter(finding.verdict for finding in findings)
    unsure = sum(finding.verdict == "ok" and finding.basis == "range" for finding in findings)
    return {
        **{outcome: by_verdict[outcome] for outcome in OUTCOMES},
        "by range": unsure,
        "fixed": sum(len(report.fixed) for report in reports),
    }
