"""How `openbook verify` shows what it found: on a terminal, as JSON, as annotations of GitHub and as SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from openbook import __version__
from openbook.cli import printing
from openbook.text import counted
from openbook.verify.finding import OUTCOMES, Finding
from openbook.verify.sarif import as_sarif
from openbook.verify.verify import FileReport

OutputStyle = Literal["text", "json", "github", "sarif"]
"""How findings are printed. `github`: one annotation for each, as GitHub Actions reads them from a log."""

STYLES: tuple[OutputStyle, ...] = ("text", "json", "github", "sarif")

Level = Literal["error", "warning", "notice"]


def print_reports(
    reports: Sequence[FileReport], failures: Sequence[tuple[str, str]], style: OutputStyle, gap: str
) -> None:
    """Print reports.

    Args:
        reports: In the order of the files.
        failures: Files that could not be checked, and why.
        style: How.
        gap: Why the history cannot tell about all citations; empty if it can.
    """
    if style == "json":
        printing.print_json({"files": [report.to_dict() for report in reports], "counts": _counts(reports), "gap": gap})
    elif style == "sarif":
        printing.print_json(as_sarif(reports, __version__, failures))
    else:
        for file, reason in failures if style == "github" else ():
            printing.say(annotation("error", file, None, "cannot be checked", reason))
        for report in reports:
            _print(report, style, gap)
    _summarise(reports, gap, style, failed=bool(failures))


def annotation(level: Level, file: str, line: int | None, title: str, message: str) -> str:
    """Spell a workflow command of GitHub Actions, which shows a message beside a line of a pull request.

    Args:
        level: `error` for what somebody has to put right.
        file: Relative to the root of the repository; empty for what belongs to no file.
        line: 1-based; None for the file as a whole.
        title: What stands above the message.
        message: Whatever is in it, it ends no command and begins none.

    Example:
        >>> annotation("error", "docs/a.md", 3, "moved", "100% of a.py:1")
        '::error file=docs/a.md,line=3,title=moved::100%25 of a.py:1'
    """
    place = (f"file={_property(file)}," if file else "") + (f"line={line}," if line else "")
    return f"::{level} {place}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _print(report: FileReport, style: OutputStyle, gap: str) -> None:
    for number, finding in enumerate(report.findings):
        is_fixed = number in report.fixed
        verdict = "fixed" if is_fixed else finding.verdict
        # The gap is said once for all that are unknown for it.
        if verdict in {"ok", "foreign"} or number in report.known or (verdict == "unknown" and gap):
            continue
        if style == "github":
            level: Level = "error" if finding.is_wrong and not is_fixed else "notice"
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


def _summarise(reports: Sequence[FileReport], gap: str, style: OutputStyle, *, failed: bool) -> None:
    counts = _counts(reports)
    total = sum(counts[outcome] for outcome in OUTCOMES)
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    more = "".join(f"; {counts[name]} {words}" for name, words in _MORE.items() if counts[name])
    where = f"{counted(total, 'citation')} in {counted(len(reports), 'file')}"
    if (reports or not failed) and style in {"text", "github"}:
        printing.note(where + (f": {said}{more}" if total else ""))
    if gap and counts["unknown"]:
        advice = "; in CI, fetch all of it (fetch-depth: 0)" if "shallow" in gap else ""
        message = f"{gap}, so that {counted(counts['unknown'], 'citation')} could not be judged{advice}"
        printing.note(message)
        if style == "github":
            printing.say(annotation("warning", "", None, "citations", message))


_MORE = {"fixed": "fixed", "known": "in the baseline"}


def _counts(reports: Sequence[FileReport]) -> dict[str, int]:
    by_verdict = Counter(finding.verdict for report in reports for finding in report.findings)
    return {
        **{outcome: by_verdict[outcome] for outcome in OUTCOMES},
        "fixed": sum(len(report.fixed) for report in reports),
        "known": sum(len(report.known) for report in reports),
    }
