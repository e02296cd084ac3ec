"""Files that commands are given to read questions and runs from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import typer

from openbook.errors import QueryError


def read_text_file(file: Path, parameter: str) -> str:
    """Read a text file."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as exc:  # ValueError: no UTF-8, or a NUL character in the path
        raise typer.BadParameter(f"cannot read {str(file)!r}: {exc}", param_hint=parameter) from exc


def read_queries(file: Path) -> Iterator[str]:
    """Read one question a line."""
    from openbook.questions.question import read_question

    # Not `splitlines`: JSON may hold other line ends than line feeds inside its texts.
    for number, line in enumerate(read_text_file(file, "--queries").split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{str(file)!r}, line {number}"
        try:
            question = json.loads(line)["query"]
        except (ValueError, TypeError, KeyError, RecursionError) as exc:
            raise typer.BadParameter(f'{place}: not of the form {{"query": "..."}}', param_hint="--queries") from exc
        if not isinstance(question, str):
            raise typer.BadParameter(f"{place}: the query must be a string", param_hint="--queries")
        try:
            read_question(question)
        except QueryError as exc:
            raise typer.BadParameter(f"{place}: {exc}", param_hint="--queries") from exc
        yield question
