"""A conversation as Markdown, with every citation as a numbered note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from openbook.grounding.blocks import Fence, read_line
from openbook.server.rendering import visible
from openbook.sessions import Session

# What a program that shows Markdown would load or run. Code stays as it is.
_ACTIVE = re.compile(r"(`+[^`]*`+)|!(?=\[)|<(?=[A-Za-z/!?])")
_SIGNS = re.compile(r"[\\`*\[\]<!]")


def as_markdown(session: Session, records: Sequence[dict[str, Any]]) -> str:
    """Write a conversation: each question as a heading, its answer, and what the answer cites."""
    parts = [f"# {_line(session.title)}", *(part for record in records for part in _exchange(record))]
    return "\n\n".join(parts) + "\n"


def _exchange(record: dict[str, Any]) -> Iterator[str]:
    yield f"## {_line(record['query'])}"
    yield "\n".join(_harmless(record["answer"].strip()))
    if record["citations"]:
        yield "\n".join(f"- `{cited['mark']}` {_place(cited)}: {_verdict(cited)}" for cited in record["citations"])


def _place(cited: dict[str, Any]) -> str:
    place = _line(cited["place"]) or "nothing that was shown"
    return f"<{cited['url']}> ({place})" if cited["url"] else place


def _verdict(cited: dict[str, Any]) -> str:
    return f"{cited['verdict']}, {_line(cited['reason'])}" if cited["reason"] else str(cited["verdict"])


def _harmless(answer: str) -> Iterator[str]:
    fence: Fence | None = None
    for line in answer.split("\n"):
        inside, (_, fence) = fence, read_line(line, fence)
        yield line if inside or fence else _ACTIVE.sub(lambda match: match[1] or f"\\{match[0]}", line)


def _line(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", " ".join(visible(text).split()))
