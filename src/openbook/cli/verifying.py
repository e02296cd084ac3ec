"""`openbook verify`: which files and which folder, what is known already, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from openbook.cli import EXIT_FAILURE, EXIT_NOTHING, printing
from openbook.cli.opening import check_paths
from openbook.cli.verify_output import OutputStyle, print_reports
from openbook.errors import SourceError
from openbook.index.filters import path_matcher
from openbook.text import counted
from openbook.verify.baseline import Baseline
from openbook.verify.selection import files_to_check
from openbook.verify.verify import FileReport, FileVerifier

_MOST_STALE = 5


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """What a person asked for, beside the files."""

    root: Path
    fix: bool = False
    style: OutputStyle = "text"
    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore, of paths relative to the root."""
    with_comments: bool = False
    baseline: str | None = None
    """File of findings that do not fail."""
    write_baseline: str | None = None
    """File to write findings to."""


def verify_files(named: Sequence[str], options: VerifyOptions) -> int:
    """Check files, print what was found, and return the exit code.

    Raises:
        SourceError: The root or the baseline is not there, or a folder cannot be listed.
        QueryError: A pattern to exclude is none.
        BadParameter: A file stands where the root should.
    """
    check_paths([options.root, *(Path(name) for name in named if Path(name).is_dir())])
    if not options.root.is_dir():
        raise typer.BadParameter(
            f"{str(options.root)!r} is a file; name the folder that paths are relative to", param_hint="--root"
        )
    baseline = Baseline.read(Path(options.baseline)) if options.baseline else Baseline(())
    verifier = FileVerifier(options.root)
    files = files_to_check(
        named, with_comments=options.with_comments, is_excluded=_excluded(options.exclude, verifier.path_of)
    )
    reports, failures = _checked(verifier, files, fix=options.fix)
    gone = {path for path in baseline.files() if not (options.root / path).exists()}
    reports, stale = baseline.mark(reports, gone)
    print_reports(reports, failures, options.style, verifier.gap)
    if stale:
        some = ", ".join(map(printing.one_line, stale[:_MOST_STALE])) + (", ..." if len(stale) > _MOST_STALE else "")
        printing.note(f"no longer found, though in the baseline: {some}; write it anew with --write-baseline")
    if options.write_baseline:
        written = Baseline.of(reports)
        written.write(Path(options.write_baseline))
        printing.note(f"{counted(len(written), 'finding')} written to {options.write_baseline}")
    if failures:
        return EXIT_FAILURE
    is_wrong = any(report.wrong for report in reports) and not options.write_baseline
    return EXIT_NOTHING if is_wrong else 0


def _excluded(globs: tuple[str, ...], path_of: Callable[[str], str]) -> Callable[[Path], bool]:
    matches = path_matcher(globs) if globs else None
    return lambda path: matches is not None and matches(path_of(str(path)))


def _checked(
    verifier: FileVerifier, files: Sequence[str], *, fix: bool
) -> tuple[list[FileReport], list[tuple[str, str]]]:
    verifier.prepare(files)
    reports, failures = [], []
    for file in files:
        try:
            reports.append(verifier.verify(file, fix=fix))
        except SourceError as exc:
            failures.append((file, str(exc)))
            printing.complain(str(exc), exc.hint or "name text files")
        except Exception as exc:  # noqa: BLE001 - one broken file must not stop the others
            failures.append((file, f"cannot check {file!r}: {type(exc).__name__}"))
            printing.complain(failures[-1][1], "leave it out with --exclude, and report this")
    return reports, failures
