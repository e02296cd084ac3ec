"""`openbook verify`: selects files and folder, reads the baseline, prints findings, and returns the exit code."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from openbook import __version__
from openbook.cli import EXIT_FAILURE, EXIT_NOTHING, EXIT_USAGE, printing
from openbook.cli.opening import check_paths
from openbook.errors import SourceError, SourceNotFoundError
from openbook.index.filters import path_matcher
from openbook.libraries.registration import why_wide
from openbook.text import counted
from openbook.verify.baseline import Baseline
from openbook.verify.citation_check import NOT_IN_CLONE
from openbook.verify.cited_folder import OUTSIDE
from openbook.verify.finding import OUTCOMES, Finding
from openbook.verify.sarif import as_sarif
from openbook.verify.verify import NOT_REWRITTEN, FileReport, FileVerifier, files_to_check

OutputStyle = Literal["text", "json", "github", "sarif"]
"""Output formats. `github` prints annotations for the logs of GitHub Actions."""

STYLES: tuple[OutputStyle, ...] = ("text", "json", "github", "sarif")

Level = Literal["error", "warning", "notice"]


def print_reports(
    reports: Sequence[FileReport], failures: Sequence[tuple[str, str]], style: OutputStyle, gap: str
) -> None:
    """Print reports.

    `gap` is why the history is incomplete; empty if it is complete.
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
    """Format a workflow command of GitHub Actions, which shows a message beside a line of a pull request.

    Paths are relative to the root of the repository. Messages are escaped, so that they cannot end or begin a command.

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
        # The gap is printed once for all findings that are unknown because of it.
        is_in_gap = verdict == "unknown" and gap and finding.reason in {"", NOT_IN_CLONE}
        if verdict in {"ok", "foreign"} or number in report.known or is_in_gap:
            continue
        if style == "github":
            level: Level = "error" if finding.is_wrong and not is_fixed else "notice"
            file = Path(report.file).as_posix()
            printing.say(annotation(level, file, finding.line, f"citation: {verdict}", _detail(finding, is_fixed)))
        else:
            place = printing.one_line(f"{report.file}:{finding.line}:")
            printing.say(f"{place} {verdict}: {_detail(finding, is_fixed)}")


def _detail(finding: Finding, is_fixed: bool) -> str:
    arrow = {"moved": " -> ", "changed": ", perhaps "}.get(finding.verdict, "")
    now = f"{arrow}{finding.now}" if finding.now and arrow else ""
    is_shown = not is_fixed and finding.pinned and finding.verdict in {"moved", "changed", "missing file"}
    still = "the link still shows the old lines" if is_shown else ""
    unsure = finding.doubt and (f"not certain: {finding.doubt}" if is_fixed else f"--fix leaves it: {finding.doubt}")
    reasons = "; ".join(filter(None, (finding.reason, unsure, still)))
    return printing.one_line(f"{finding.cited}{now}{f' ({reasons})' if reasons else ''}")


def _summarise(reports: Sequence[FileReport], gap: str, style: OutputStyle, *, failed: bool) -> None:
    counts = _counts(reports)
    total = sum(counts[outcome] for outcome in OUTCOMES)
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    more = "".join(f"; {counts[name]} {words}" for name, words in _MORE.items() if counts[name])
    where = f"{counted(total, 'citation')} in {counted(len(reports), 'file')}"
    if (reports or not failed) and style in {"text", "github"}:
        printing.note(where + (f": {said}{more}" if total else ""))
    if gap and counts["unknown"]:
        advice = "; in CI, fetch the full history (fetch-depth: 0)" if "shallow" in gap else ""
        message = f"{gap}, so that {counted(counts['unknown'], 'citation')} could not be judged{advice}"
        printing.note(message)
        if style == "github":
            printing.say(annotation("warning", "", None, "citations", message))


def _advice(wrong: Sequence[Finding], *, is_fixed: bool, meant: Path | None = None) -> str:
    """Return how the findings can be fixed. `meant`: the root that they are probably relative to."""
    moved = [each for each in wrong if each.is_fixable(unsafe=True) and not each.reason.startswith(NOT_REWRITTEN)]
    sure = [] if is_fixed else [each for each in moved if not each.doubt]
    unsure = [each for each in moved if each.doubt]
    steps = ["--fix updates what moved unchanged"] if sure else []
    if unsure:
        steps.append("--fix --unsafe-fixes also updates those that --fix leaves: look at their new lines first")
    if len(wrong) > len(sure) + len(unsure):
        steps.append("correct the text or the cited lines by hand")
    if meant is not None:
        steps = [f"the cited files are in another folder: try --root {shlex.quote(os.path.relpath(meant))}"]
    elif any(finding.reason == OUTSIDE for finding in wrong):
        steps.append("--root names the folder that paths are relative to")
    steps += ["'openbook: ignore' in a line skips it", "--write-baseline FILE accepts the current findings"]
    return "next: " + "; ".join(steps)


def _meant_root(reports: Sequence[FileReport], root: Path) -> Path | None:
    """Return the folder above the root, in its repository, that more paths are relative to than to the root."""
    found = [(report.file, finding) for report in reports for finding in report.findings]
    missing = {_path_of(finding) for _, finding in found if finding.verdict == "missing file"}
    # A path that is relative to its page tells nothing of the root.
    others = {_path_of(finding) for file, finding in found if not _has(Path(file).parent, _path_of(finding))}
    folders = [root.resolve(), *root.resolve().parents]
    top = next((number for number, each in enumerate(folders) if (each / ".git").exists()), 0)
    there = {each: sum(_has(each, path) for path in missing) for each in folders[1 : top + 1]}
    likeliest = max(there, key=there.__getitem__, default=None)
    is_root = likeliest is None or there[likeliest] <= sum(_has(root, path) for path in others)
    return None if is_root else likeliest


def _path_of(finding: Finding) -> str:
    return re.split("[:#]", finding.cited, maxsplit=1)[0]


def _has(folder: Path, path: str) -> bool:
    return os.path.isfile(folder / path)  # noqa: PTH113 - unlike `Path.is_file`, no error for names that are too long


_MORE = {"fixed": "fixed", "known": "in the baseline"}


def _counts(reports: Sequence[FileReport]) -> dict[str, int]:
    by_verdict = Counter(finding.verdict for report in reports for finding in report.findings)
    return {
        **{outcome: by_verdict[outcome] for outcome in OUTCOMES},
        "fixed": sum(len(report.fixed) for report in reports),
        "known": sum(len(report.known) for report in reports),
    }


_MAX_STALE = 5


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """The options of the command, besides the files."""

    root: Path
    fix: bool = False
    unsafe_fixes: bool = False
    """Whether to fix what is not certain, too."""
    style: OutputStyle = "text"
    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore, of paths relative to the root."""
    with_comments: bool = False
    baseline: str | None = None
    """File of accepted findings, which do not fail."""
    write_baseline: str | None = None
    """File to write findings to."""


def verify_files(named: Sequence[str], options: VerifyOptions) -> int:
    """Check files, print the findings, and return the exit code."""
    _check_folders([options.root, *(Path(name) for name in named if Path(name).is_dir())])
    if not options.root.is_dir():
        raise typer.BadParameter(
            f"{str(options.root)!r} is a file; name the folder that paths are relative to", param_hint="--root"
        )
    baseline = Baseline.read(Path(options.baseline)) if options.baseline else Baseline(())
    verifier = FileVerifier(options.root, unsafe_fixes=options.unsafe_fixes)
    files = files_to_check(
        named, with_comments=options.with_comments, is_excluded=_excluded(options.exclude, verifier.path_of)
    )
    reports, failures, code = _checked(verifier, files, fix=options.fix)
    gone = {path for path in baseline.files() if not (options.root / path).exists()}
    reports, stale = baseline.mark(reports, gone)
    print_reports(reports, failures, options.style, verifier.gap)
    if stale:
        some = ", ".join(map(printing.one_line, stale[:_MAX_STALE])) + (", ..." if len(stale) > _MAX_STALE else "")
        printing.note(f"no longer found, though in the baseline: {some}; write it anew with --write-baseline")
    if options.write_baseline:
        written = Baseline.of(reports)
        written.write(Path(options.write_baseline))
        printing.note(f"{counted(len(written), 'finding')} written to {options.write_baseline}")
    if code:
        return code
    wrong = [] if options.write_baseline else [finding for report in reports for finding in report.wrong]
    if wrong and options.style == "text":
        printing.note(_advice(wrong, is_fixed=options.fix, meant=_meant_root(reports, options.root)))
    return EXIT_NOTHING if wrong else 0


def _check_folders(folders: Sequence[Path]) -> None:
    """Raise an error for missing folders, and for those that nobody means, such as a home folder without a repository.

    In containers, and with a repository of configuration files, the home folder is the project.
    """
    check_paths(folders, may_be_wide=True)
    for folder in folders:
        full = folder.expanduser().resolve()
        is_project = any((each / ".git").exists() for each in (full, *full.parents))
        if not is_project and (reason := why_wide(full)):
            raise SourceError(str(folder), reason, hint="name a folder in it, and with --root that of the code")


def _excluded(globs: tuple[str, ...], path_of: Callable[[str], str]) -> Callable[[Path], bool]:
    matches = path_matcher(globs) if globs else None
    return lambda path: matches is not None and matches(path_of(str(path)))


def _checked(
    verifier: FileVerifier, files: Sequence[str], *, fix: bool
) -> tuple[list[FileReport], list[tuple[str, str]], int]:
    """Check each file. Returns reports, files that could not be checked with the reason, and their exit code."""
    verifier.prepare(files)
    reports, failures, code = [], [], 0
    for file in files:
        try:
            reports.append(verifier.verify(file, fix=fix))
        except SourceError as exc:
            failures.append((file, str(exc)))
            code = max(code, EXIT_USAGE if isinstance(exc, SourceNotFoundError) else EXIT_FAILURE)
            printing.complain(str(exc), exc.hint or "name text files")
        except Exception as exc:  # noqa: BLE001 - one broken file must not stop the others
            failures.append((file, f"cannot check {file!r}: {type(exc).__name__}"))
            code = EXIT_FAILURE
            printing.complain(failures[-1][1], "leave it out with --exclude, and report this")
    return reports, failures, code
