"""A conversation as Markdown, with every citation as a numbered note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from markdown_it import MarkdownIt

from openbook.grounding.blocks import Fence, read_line
from openbook.server.rendering import visible
from openbook.sessions.protocol import Session

# What a program that shows Markdown would load or run, and how it is written as text: no sign before it changes that.
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")
_AS_TEXT = {"!": "!\\", "<": "&lt;"}
_CODE = re.compile(r"(`+[^`]*`+)")

# Programs differ in what they read that is deeper than this.
_DEEPEST = 15

_SIGNS = re.compile(r"[\\`*\[\]<!]")


def as_markdown(session: Session, records: Sequence[dict[str, Any]]) -> str:
    """Write a conversation: each question as a heading, its answer, and what the answer cites.

    Nothing in it is loaded or run where it is shown. Code stays as it is, unless something in it could be no code.
    """
    text = _written(session, records, _but_code)
    return text if _is_harmless(text) else _written(session, records, _as_text)


def _written(session: Session, records: Sequence[dict[str, Any]], write: Callable[[str], str]) -> str:
    parts = [f"# {_line(session.title)}", *(part for record in records for part in _exchange(record, write))]
    return "\n\n".join(parts) + "\n"


def _exchange(record: dict[str, Any], write: Callable[[str], str]) -> Iterator[str]:
    yield f"## {_line(record['query'])}"
    yield write(record["answer"].strip())
    if record["citations"]:
        yield "\n".join(f"- `{cited['mark']}` {_place(cited)}: {_verdict(cited)}" for cited in record["citations"])


def _place(cited: dict[str, Any]) -> str:
    place = _line(cited["place"]) or "nothing that was shown"
    return f"<{cited['url']}> ({place})" if cited["url"] else place


def _verdict(cited: dict[str, Any]) -> str:
    return f"{cited['verdict']}, {_line(cited['reason'])}" if cited["reason"] else str(cited["verdict"])


def _as_text(answer: str) -> str:
    return _ACTIVE.sub(lambda match: _AS_TEXT[match[0]], answer)


def _but_code(answer: str) -> str:
    """Write as text what is not in a fence or between backticks, as far as one line tells."""
    lines: list[str] = []
    fence: Fence | None = None
    for line in answer.split("\n"):
        inside, (_, fence) = fence, read_line(line, fence)
        if not (inside or fence):  # every second piece is code
            line = "".join(piece if at % 2 else _as_text(piece) for at, piece in enumerate(_CODE.split(line)))
        lines.append(line)
    return "\n".join(lines)


def _is_harmless(text: str) -> bool:
    tokens = MarkdownIt("commonmark").parse(text)
    everything = [*tokens, *(child for token in tokens for child in token.children or ())]
    return not any(
        token.type in ("html_block", "html_inline", "image") or token.level >= _DEEPEST for token in everything
    )


def _line(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", " ".join(visible(text).split()))
