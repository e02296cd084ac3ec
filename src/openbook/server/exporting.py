"""A conversation as Markdown, with every citation as a numbered note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from openbook.sessions import Session


def as_markdown(session: Session, records: Sequence[dict[str, Any]]) -> str:
    """Write a conversation: each question as a heading, its answer, and what the answer cites."""
    parts = [f"# {_line(session.title)}", *(part for record in records for part in _exchange(record))]
    return "\n\n".join(parts) + "\n"


def _exchange(record: dict[str, Any]) -> Iterator[str]:
    yield f"## {_line(record['query'])}"
    yield record["answer"].strip()
    if record["citations"]:
        yield "\n".join(f"- `{cited['mark']}` {_place(cited)}: {_verdict(cited)}" for cited in record["citations"])


def _place(cited: dict[str, Any]) -> str:
    place = _line(cited["place"]) or "nothing that was shown"
    return f"<{cited['url']}> ({place})" if cited["url"] else place


def _verdict(cited: dict[str, Any]) -> str:
    return f"{cited['verdict']}, {_line(cited['reason'])}" if cited["reason"] else str(cited["verdict"])


def _line(text: str) -> str:
    return " ".join(text.split())
