"""Judges claims of any program: JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import typer

from openbook.cli import EXIT_NOTHING, EXIT_USAGE, printing
from openbook.cli.options import read_text_file
from openbook.costs import format_usd
from openbook.grounding.entailment import JudgedClaim, judge_claims
from openbook.grounding.protocol import CitedClaim, Judge, SourceText
from openbook.text import counted

# Unreadable lines to name individually.
_MAX_NAMED = 20

# In the order of the summary.
_VERDICTS = ("exact", "confirmed", "conflict", "unverified", "uncited", "")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    id: Any
    claim: CitedClaim


def judge_file(file: Path, judge: Judge | None, *, as_json: bool) -> int:
    """Judge the claims of a file, print each with its verdict, and return the exit code.

    Unreadable lines are reported on standard error; the others are judged.

    Returns:
        2 if a line could not be read, else 1 if a claim is in conflict, else 0.
    """
    lines, faults = _read(_text_of(file))
    judged = judge_claims([line.claim for line in lines], judge)
    for line, found in zip(lines, judged, strict=True):
        if as_json:
            entry = {"id": line.id, "claim": line.claim.claim, "verdict": found.verdict, "reason": found.reason}
            printing.print_json(entry)
        elif found.verdict:
            name = line.number if line.id is None else line.id
            because = f": {printing.one_line(found.reason)}" if found.reason else ""
            printing.say(f"{printing.one_line(str(name))}: {found.verdict}{because}")
            printing.say(f"    {printing.one_line(' '.join(line.claim.claim.split()))}", style={"dim": True})
    for fault in faults[:_MAX_NAMED]:
        printing.complain(fault, "")
    if len(faults) > _MAX_NAMED:
        printing.note(f"... and {counted(len(faults) - _MAX_NAMED, 'more line')}")
    _note_summary(judged, judge)
    if faults:
        return EXIT_USAGE
    return EXIT_NOTHING if any(found.verdict == "conflict" for found in judged) else 0


def _note_summary(judged: Sequence[JudgedClaim], judge: Judge | None) -> None:
    counts: Counter[str] = Counter(found.verdict for found in judged)
    told = ", ".join(f"{counts[verdict]} {verdict or 'without facts'}" for verdict in _VERDICTS if counts[verdict])
    printing.note(f"{counted(len(judged), 'claim')}{f': {told}' if told else ''}")
    spent = getattr(judge, "spent", None)
    if judge is not None and spent is not None:
        printing.note(f"verifier {judge.name}: {spent.usage.output_tokens:,} tokens, {format_usd(spent.cost_usd)}")
    for failure in getattr(judge, "failures", ()):
        printing.note(f"the verifier failed: {failure}")


def _text_of(file: Path) -> str:
    if str(file) != "-":
        return read_text_file(file, "CLAIMS.jsonl")
    try:
        # None: closed, by `<&-`.
        return "" if sys.stdin is None else sys.stdin.buffer.read().decode("utf-8-sig")
    except (OSError, ValueError) as exc:
        raise typer.BadParameter(f"cannot read standard input: {exc}", param_hint="CLAIMS.jsonl") from exc


def _read(text: str) -> tuple[list[_Line], list[str]]:
    """Return the lines with claims, and the errors of the others."""
    found: list[_Line] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = _object_of(line)
            claim = CitedClaim(_field(entry, "claim"), _field(entry, "cited_text"), tuple(_sources_of(entry)))
        except ValueError as exc:
            faults.append(f"line {number}: {exc}")
        else:
            found.append(_Line(number, entry.get("id"), claim))
    return found, faults


def _object_of(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(entry, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004  # one kind of fault, for all that is wrong
    return entry


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _sources_of(entry: Mapping[str, Any]) -> Iterator[SourceText]:
    sources = entry.get("sources") or []
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        raise ValueError("'sources' must be a list of objects with 'text', and optionally 'path' and 'symbol'")
    for source in sources:
        yield SourceText(_field(source, "text"), _field(source, "path", ""), _field(source, "symbol", ""))


def _field(entry: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = entry.get(name, default)
    value = default if value is None else value
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is missing, or is not a text")  # noqa: TRY004
    if name == "claim" and not value.strip():
        raise ValueError("'claim' is empty")
    return value
