"""Question sets: one JSON object per line, with the expected properties of the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from openbook.errors import QueryError
from openbook.evals.metrics import ExpectedSpan
from openbook.questions.question import read_question

_KEYS = ("question", "files", "lines", "facts", "unanswerable")
_EXPECTED = ("files", "lines", "facts")

T = TypeVar("T")

_LINES = re.compile(r"(.+):(\d{1,9})(?:-(\d{1,9}))?")

# A file in another format has an error on every line; this many are enough.
_MAX_FAULTS = 10


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with the expected answer. Without expectations, it only has to be answered."""

    text: str
    files: tuple[str, ...] = ()
    """Paths as shown in results, or prefixed with the name of the source."""
    lines: tuple[ExpectedSpan, ...] = ()
    """Paths as in `files`, which need not repeat them."""
    facts: tuple[str, ...] = ()
    """Texts that a correct answer must contain."""
    unanswerable: bool = False
    """Whether it should be refused, because the sources do not answer it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON values in the format of `read_questions`."""
        expected: dict[str, Any] = {
            "files": list(self.files),
            "lines": [str(place) for place in self.lines],
            "facts": list(self.facts),
            "unanswerable": self.unanswerable,
        }
        return {"question": self.text} | {key: value for key, value in expected.items() if value}


def read_questions(text: str | Path, name: str = "") -> list[EvalQuestion]:
    r"""Parse a question set, in order. Blank lines are ignored.

    `name` is for messages.

    Raises:
        OSError: The file cannot be read.
        QueryError: There are no questions, or some lines are invalid; the message lists them.

    Example:
        >>> read_questions('{"question": "Which port?", "lines": ["docs/server.md:14-18"]}\n')[0].lines
        (ExpectedSpan(path='docs/server.md', start_line=14, end_line=18),)
    """
    if isinstance(text, Path):
        text, name = text.read_text(encoding="utf-8"), name or str(text)
    name = name or "the question set"
    found: dict[str, EvalQuestion] = {}
    line_of: dict[str, int] = {}
    faults = []
    # Not `splitlines`: JSON strings may contain other line separators.
    for number, line in enumerate(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").split("\n"), start=1):
        if line.strip():
            try:
                question = _question(line, line_of)
            except QueryError as exc:
                faults.append(f"line {number}: {exc}")
            else:
                found[question.text] = question
                line_of[question.text] = number
    if faults:
        more = f"; and {len(faults) - _MAX_FAULTS} more" if len(faults) > _MAX_FAULTS else ""
        raise QueryError(
            f"{name} cannot be used: {'; '.join(faults[:_MAX_FAULTS])}{more}",
            hint='a line is like {"question": "...", "files": ["a.md"], "lines": ["a.md:3-9"], "facts": ["..."]}',
        )
    if not found:
        raise QueryError(f"{name} contains no questions", hint="draft some with: openbook eval --draft FOLDER")
    return list(found.values())


def _question(line: str, line_of: Mapping[str, int]) -> EvalQuestion:
    try:
        entry = json.loads(line)
    except RecursionError as exc:
        raise QueryError("too deeply nested") from exc
    except ValueError as exc:
        raise QueryError("not JSON") from exc
    if not isinstance(entry, dict):
        raise QueryError("not a JSON object")
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        raise QueryError(f"unknown key {unknown[0]!r}; keys are {', '.join(_KEYS)}")
    text, unanswerable = entry.get("question"), entry.get("unanswerable", False)
    if not isinstance(text, str):
        raise QueryError("`question` is missing or not a string")
    if not isinstance(unanswerable, bool):
        raise QueryError("`unanswerable` is neither true nor false")
    if unanswerable and any(entry.get(key) for key in _EXPECTED):
        raise QueryError("an unanswerable question cannot have files, lines or facts")
    text = read_question(text).text
    if text in line_of:
        raise QueryError(f"has the same question as line {line_of[text]}")
    return EvalQuestion(
        text,
        _texts(entry, "files", str.strip),
        _texts(entry, "lines", _place),
        _texts(entry, "facts", str.strip),
        unanswerable,
    )


def _texts(entry: Mapping[str, Any], key: str, read: Callable[[str], T]) -> tuple[T, ...]:
    texts = entry.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise QueryError(f"`{key}` is not a list of strings")
    return tuple(dict.fromkeys(read(text) for text in texts))


def _place(text: str) -> ExpectedSpan:
    match = _LINES.fullmatch(text.strip())
    start, end = (int(match[2]), int(match[3] or match[2])) if match else (0, 0)
    if match is None or not 1 <= start <= end:
        raise QueryError(f"{text!r} names no lines; write path:start-end, counted from 1")
    return ExpectedSpan(match[1], start, end)
