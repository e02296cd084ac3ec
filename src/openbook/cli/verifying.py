"""`openbook verify`: which files and which folder, and how findings look on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import typer

from openbook.cli import EXIT_FAILURE, EXIT_NOTHING, printing
from openbook.cli.opening import check_paths
from openbook.errors import SourceError
from openbook.verify.finding import OUTCOMES, Finding
from openbook.verify.verify import FileReport, FileVerifier

OutputStyle = Literal["text", "json", "github"]
"""How findings are printed. `github`: one annotation for each, as GitHub Actions reads them from a log."""


def verify_files(files: Sequence[str], root: Path, *, fix: bool, style: OutputStyle = "text") -> int:
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
            printing.complain(str(exc), exc.hint or "name text files")
            if style == "github":
                printing.say(annotation("error", file, None, "cannot be checked", str(exc)))
    if style == "json":
        counts = _counts(reports)
        printing.print_json({"files": [report.to_dict() for report in reports], "counts": counts})
    else:
        for report in reports:
            _print(report, style)
        if reports:
            _summarise(reports)
    if verifier.is_cut:
        printing.note("the git history is incomplete and was not used; in CI, fetch all of it (fetch-depth: 0)")
    if failed:
        return EXIT_FAILURE
    return EXIT_NOTHING if any(report.wrong for report in reports) else 0


def _check_files(files: Sequence[str]) -> None:
    for file in files:
        if Path(file).is_dir():
            example = (Path(file) / "*.md").as_posix()
            raise typer.BadParameter(f"{file!r} is a folder; name its files, such as {example}", param_hint="FILE")


def annotation(level: Literal["error", "notice"], file: str, line: int | None, title: str, message: str) -> str:
    """Spell a workflow command of GitHub Actions, which shows a message beside a line of a pull request.

    Args:
        level: `error` for what somebody has to put right.
        file: Relative to the root of the repository.
        line: 1-based; None for the file as a whole.
        title: What stands above the message.
        message: Whatever is in it, it ends no command and begins none.

    Example:
        >>> annotation("error", "docs/a.md", 3, "moved", "100% of a.py:1")
        '::error file=docs/a.md,line=3,title=moved::100%25 of a.py:1'
    """
    place = f"file={_property(file)}" + (f",line={line}" if line else "")
    return f"::{level} {place},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _print(report: FileReport, style: OutputStyle) -> None:
    for number, finding in enumerate(report.findings):
        is_fixed = number in report.fixed
        verdict = "fixed" if is_fixed else finding.verdict
        if verdict == "ok":
            continue
        if style == "github":
            level: Literal["error", "notice"] = "error" if finding.is_wrong and not is_fixed else "notice"
            file = Path(report.file).as_posix()
            printing.say(annotation(level, file, finding.line, f"citation: {verdict}", _detail(finding)))
        else:
            printing.say(f"{printing.one_line(f'{report.file}:{finding.line}:')} {verdict}: {_detail(finding)}")


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
