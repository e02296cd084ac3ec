"""Prints results on a terminal. Text of sources, models and errors is never parsed as markup."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from openbook.answers import anchor_of, written_place
from openbook.ingest.remedies import size_limits
from openbook.settings import read_color
from openbook.text import counted, size_text
from openbook.types import Chunk, Excerpt, RetrievalResult, SkipReason, Span, shown_text

if TYPE_CHECKING:
    from openbook.index.protocol import Source
    from openbook.ingest.sync import SyncReport

# Control characters would let a file control the terminal, and bidirectional controls would let it display other code
# than it contains. Line feeds and tabs are kept. A lone surrogate, which stands for an invalid byte, cannot be printed
# at all.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Characters of a line that `search` prints without `--show`: two lines of a usual terminal.
_PREVIEW_CHARS = 160

# Narrower text is unreadable however it is wrapped.
_MIN_WIDTH = 20

# Files of a sync to print on a line each; more would push the answer off the screen.
_MAX_REMARKS = 20

# Examples to name beside the number of skipped files.
_MAX_EXAMPLES = 3

# From this size on, one machine may be too small. The cost per chunk for a searching process comes from (409 - 93) MiB
# and (60 - 5) ms between libraries of 909,202 and 9,881 chunks (`benchmarks.engines --ask`).
_LARGE_CHUNKS = 500_000
_BYTES_A_CHUNK = 370
_WORK_MS_A_CHUNK = 0.00006

_SAID_BY_NAME = frozenset({SkipReason.SECRET, SkipReason.BINARY_NAME})


def printable(text: str) -> str:
    r"""Replace characters that could control a terminal by U+FFFD; a carriage return before a line feed is removed.

    Example:
        >>> printable("a\x1b[31mb\r\n")
        'a�[31mb\n'
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", shown_text(text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    r"""Format a name on one line: a line feed in it could imitate output of ours.

    Example:
        >>> one_line("a\nb")
        'a�b'
    """
    return printable(text.replace("\n", "\r"))


def say(text: str = "", *, style: Mapping[str, Any] | None = None) -> None:
    """Print a line of results."""
    typer.secho(printable(text), **(style or {}))


def wrapped(text: str, *, indent: str = "", first: str | None = None, err: bool = False) -> str:
    """Wrap prose at the width of the terminal; in a pipe, it is not changed.

    `indent` begins each line except the first, if that has `first`. `err` is for text on standard error.
    """
    first = indent if first is None else first
    if not (sys.stderr if err else sys.stdout).isatty():
        return first + text
    import textwrap

    width = max(_MIN_WIDTH, shutil.get_terminal_size().columns)
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def note(text: str) -> None:
    """Print a line to standard error, beside the results."""
    typer.secho(wrapped(one_line(text), err=True), err=True, dim=True, color=read_color())


def complain(message: str, hint: str) -> None:
    """Print an error and its hint to standard error."""
    label, text = "error: ", wrapped(f"error: {one_line(message)}", err=True)
    # Errors are printed after the command has ended, and with it the context that knows the colour.
    typer.secho(label, err=True, nl=False, fg="red", bold=True, color=read_color())
    typer.echo(text.removeprefix(label), err=True)
    if hint:
        typer.echo(wrapped(f"hint: {one_line(hint)}", err=True), err=True)


def advise(message: str, hint: str) -> None:
    """Print to standard error that there are no results, which is not an error, with an optional hint."""
    note(message)
    if hint:
        note(f"hint: {hint}")


def print_json(value: object) -> None:
    """Print one line of JSON. Non-ASCII characters are escaped, so that any terminal or pipe accepts it."""
    typer.echo(json.dumps(value))


def print_results(
    results: Sequence[RetrievalResult],
    places: LocationFormatter,
    *,
    show: bool = False,
    explain: bool = False,
) -> None:
    """Print ranked results, best first, with matching lines or in full, and optionally with their signals."""
    for number, result in enumerate(results, start=1):
        chunk = result.chunk
        label = result.symbol or " › ".join(chunk.context)
        say(f"{number:>2}. {places.of(chunk)}{f'  {label}' if label else ''}  {result.score:.3f}")
        if explain:
            strongest = sorted(result.signals.items(), key=lambda signal: (-abs(signal[1]), signal[0]))
            say(f"      {'  '.join(f'{name} {value:+.3f}' for name, value in strongest)}")
        if show or result.excerpt is None:
            print_excerpt(chunk)
        else:
            print_matches(result.excerpt, numbered=anchor_of(chunk) is None)


def print_files(results: Sequence[RetrievalResult], places: LocationFormatter) -> None:
    """Print the file paths of results, best first."""
    for path in dict.fromkeys(places.file_of(result.chunk) for result in results):
        say(path)


def print_matches(excerpt: Excerpt, *, numbered: bool) -> None:
    """Print the lines of an excerpt, with line numbers if the original has them, and words of the question in bold."""
    offset = 0
    for number, line in enumerate(excerpt.text.split("\n"), start=excerpt.start_line):
        matches = [(start - offset, end - offset) for start, end in excerpt.matches if 0 <= start - offset < len(line)]
        offset += len(line) + 1
        if line.strip():
            head = f"{number:>6}  " if numbered else "      "
            typer.echo(typer.style(head, dim=True) + _highlighted(line.removesuffix("\r"), matches))


def _highlighted(line: str, matches: Sequence[tuple[int, int]]) -> str:
    """Highlight the matches in a line; a long one is shortened to the surroundings of the first."""
    first = matches[0][0] if matches else 0
    begin = 0 if first < _PREVIEW_CHARS // 2 else min(first - _PREVIEW_CHARS // 4, max(0, len(line) - _PREVIEW_CHARS))
    end = min(len(line), begin + _PREVIEW_CHARS)
    parts, at = ["…" if begin else ""], begin
    for start, stop in matches:
        if at <= start and stop <= end:
            parts += [printable(line[at:start]), typer.style(printable(line[start:stop]), bold=True)]
            at = stop
    return "".join([*parts, printable(line[at:end]), "…" if end < len(line) else ""])


def print_excerpt(chunk: Chunk) -> None:
    """Print a chunk with line numbers, highlighted on a terminal."""
    text = "\n".join(map(str.rstrip, printable(chunk.text).split("\n")))
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.syntax import Syntax

        language = chunk.language or "text"
        Console(markup=False).print(
            Syntax(text, language, line_numbers=True, start_line=chunk.span.start_line, word_wrap=True)
        )
        return
    for number, line in enumerate(text.split("\n"), start=chunk.span.start_line):
        say(f"{number:>6}  {line}")


def print_report(report: SyncReport) -> None:
    """Print to standard error what a sync changed, and which files could not be read."""
    for line in remark_lines(report.remarks, "; openbook status counts the reasons"):
        note(line)
    if not report.wrote:
        return
    counts = {name: getattr(report, name) for name in ("added", "changed", "renamed", "removed")}
    done = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    note(f"indexed {report.source}: {done} in {report.seconds:.1f} s{skipped_text(report.skipped)}")
    for reason in (SkipReason.TOO_LARGE, SkipReason.UNREADABLE_FOLDER):  # files that users may have wanted
        if reason in report.skipped:
            note(f"{reason}: {named_examples(reason, report.skipped[reason])}")


def remark_lines(remarks: Mapping[str, Sequence[str]], more: str = "") -> Iterator[str]:
    """Yield what is missing from files; those that miss the same share a line. The last line counts the rest."""
    alike: dict[str, list[str]] = {}
    for path, of_file in remarks.items():
        alike.setdefault("; ".join(of_file), []).append(path)
    for remark, paths in list(alike.items())[:_MAX_REMARKS]:
        others = max(0, len(paths) - _MAX_EXAMPLES)
        and_more = f" and {counted(others, 'more file')}" if others else ""
        yield f"{', '.join(paths[:_MAX_EXAMPLES])}{and_more}: {remark}"
    left = sum(map(len, list(alike.values())[_MAX_REMARKS:]))
    if left:
        yield f"... and {counted(left, 'more file')}{more}"


def skipped_text(skipped: Mapping[str, Sequence[str]]) -> str:
    """Count skipped files by reason, as the end of a sentence; empty without any."""
    total = sum(map(len, skipped.values()))
    if not total:
        return ""
    return f"; {total} skipped ({', '.join(f'{len(paths)} {reason}' for reason, paths in skipped.items())})"


def named_examples(reason: str, paths: Sequence[str]) -> str:
    """Name some of the skipped files and the remedy; empty if the names suffice."""
    if reason in _SAID_BY_NAME:
        return ""
    more = ", ..." if len(paths) > _MAX_EXAMPLES else ""
    remedy = f"; {size_limits(paths)} can be raised" if reason == SkipReason.TOO_LARGE else ""
    return f"{', '.join(map(one_line, paths[:_MAX_EXAMPLES]))}{more}{remedy}"


def skipped_line(reason: str, path: str) -> str:
    """Describe a skipped file; for a secret, with the pattern that it matches.

    Example:
        >>> skipped_line("secret", "keys/server.pem"), skipped_line("secret", ".ssh/")
        ('keys/server.pem (*.pem)', '.ssh/ (folder of credentials)')
    """
    if reason != SkipReason.SECRET:
        return one_line(path)
    # Lazy: only `status --skipped` needs it.
    from openbook.sources.exclusions import secret_pattern

    *_, name = path.rstrip("/").split("/")
    pattern = "folder of credentials" if path.endswith("/") else secret_pattern(name) or "begins like a private key"
    return f"{one_line(path)} ({pattern})"


def size_advice(chunks: int, library: str) -> list[str]:
    """Return the cost per process of a library of so many chunks, and advice; [] below the limit."""
    if chunks < _LARGE_CHUNKS:
        return []
    memory, work_ms = size_text(chunks * _BYTES_A_CHUNK), chunks * _WORK_MS_A_CHUNK
    return [
        f"it is large: it takes each process about {memory}, and each search {work_ms:.0f} ms of processor time",
        f"to share it between machines: openbook migrate {shlex.quote(library)} --to lance:ADDRESS (docs/scale.md)",
    ]


def age_text(then: float, *, now: float | None = None) -> str:
    """Format the age of a time in its largest unit. `then` is Unix seconds, 0 for never.

    Example:
        >>> [age_text(then, now=1_000_000) for then in (999_990, 999_000, 900_000, 0)]
        ['just now', '16 minutes ago', '1 day ago', 'never']
    """
    if not then:
        return "never"
    passed = (time.time() if now is None else now) - then
    for seconds, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if passed >= seconds:
            return f"{counted(int(passed // seconds), unit)} ago"
    return "just now"


def origin_of(root: Source) -> str:
    """Format the origin of a source: a path, or the address of a repository and its commit."""
    return f"{root.url} at {root.commit[:12] or 'no commit'}" if root.url else root.location


class LocationFormatter:
    """Format spans as `path:line`, which terminals make clickable."""

    def __init__(self, roots: Sequence[Source]) -> None:
        self._roots = {root.name: root for root in roots}
        self._folders = {
            root.name: Path(root.location).parent if root.kind == "file" else Path(root.location) for root in roots
        }

    def of(self, chunk: Chunk) -> str:
        return self.link(chunk.source, chunk.span, anchor_of(chunk))

    def file_of(self, chunk: Chunk) -> str:
        """Return the path of a chunk's file, or its permanent URL."""
        return self.link(chunk.source, chunk.span, "")

    def link(self, source: str, span: Span, anchor: str | None = None) -> str:
        """Format a span with its path relative to the working folder, or absolute outside of it.

        An anchor replaces the lines, as in `written_place`. Files of repositories have their permanent URL, if the page
        format of the host is known.
        """
        folder = self._folders.get(source)
        address = self._address(source, span, anchor)
        if address:
            return one_line(f"{address} {anchor or ''}".rstrip())
        if folder is None:
            return one_line(written_place(span, anchor))
        path = folder / span.path
        here = Path.cwd()
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        return one_line(written_place(replace(span, path=shown.as_posix()), anchor))

    def _address(self, source: str, span: Span, anchor: str | None) -> str:
        root = self._roots.get(source)
        if root is None or not root.url:
            return ""
        from openbook.libraries.repositories import link_to

        return link_to(root, span, anchor)
