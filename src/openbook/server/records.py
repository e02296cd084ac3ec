"""Exchanges as they were kept, read with the verdicts and the ids of today; and those whose place a question takes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openbook.answers import Exchange, read_saved
from openbook.server.failures import RequestRefusedError
from openbook.server.rendering import chip
from openbook.server.schemas import AnswerResponse
from openbook.sessions.protocol import Cut, Sessions, session_title

# What older versions wrote, after it was sanitised: no text of an answer looks like it.
_OTHERS = r'(?: [\w-]+="[^"]*")*'
_CHIP = re.compile(rf'<a{_OTHERS} data-cite="(\d+)"{_OTHERS}>.*?</a>', re.DOTALL)
_CLAIM = re.compile(rf'<span class="claim claim-(?:partial|unsupported|uncited)"{_OTHERS}>')
_REMARK = re.compile(
    r'<span class="flag">[^<]*</span>'
    r'|<span class="unseen"> \((?:only partly supported|not supported|no source given)[^<]*</span>'
)
_OLD = re.compile(
    r'class="(?:cite cite-(?:supported|partial|unsupported)|claim claim-(?:partial|unsupported|uncited))"'
)


def read_records(session_id: str, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the exchanges of a conversation, in order. Those that were kept without an id get one that stays."""
    read = [read_record(record) for record in records]
    for at, record in enumerate(read):
        if not record.get("id"):
            record["id"] = hashlib.sha256(f"{session_id}\0{at}".encode()).hexdigest()[:32]
    return read


def read_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saved reply with the verdicts of today, in its HTML too."""
    read = read_saved(record)
    html = read.get("html")
    if isinstance(html, str) and _OLD.search(html):
        read["html"] = _renewed(html, read.get("citations") or ())
    return read


def _renewed(html: str, citations: Sequence[Mapping[str, Any]]) -> str:
    """Write chips anew, and take off what was said of claims by the overlap of words."""

    def chip_of(match: re.Match[str]) -> str:
        number = int(match[1])
        cited = citations[number - 1]
        return chip(number, cited["verdict"], cited["place"])

    return _CHIP.sub(chip_of, _REMARK.sub("", _CLAIM.sub("<span>", html)))


# Each is kept whole within the one that replaced it, so a conversation must not grow with every attempt.
_MOST_EARLIER = 5


@dataclass(frozen=True, slots=True)
class Replacing:
    """The answer whose place a question takes."""

    id: str
    cut: Cut
    earlier: list[AnswerResponse]
    """That answer, and those that it had replaced, the oldest first."""
    is_title: bool
    """Whether its question is the title of the conversation."""


def find_replaced(sessions: Sessions, owner: str, session_id: str | None, answer_id: str) -> Replacing:
    """Find the answer that is to be replaced.

    Raises:
        SessionError: Conversations cannot be read.
    """
    found = sessions.records(owner, session_id) if session_id else None
    if found is None or session_id is None:
        raise _no_answer()
    session, kept = found
    records = read_records(session_id, kept)
    at = next((at for at, record in enumerate(records) if record["id"] == answer_id), None)
    if at is None:
        raise _no_answer()
    title = session_title(Exchange(records[at]["query"], ""))
    return Replacing(
        answer_id, Cut(at, len(records)), _earlier(records[at]), is_title=at == 0 and session.title == title
    )


def _earlier(record: dict[str, Any]) -> list[AnswerResponse]:
    replaced = AnswerResponse.model_validate(record)
    before, replaced.earlier = replaced.earlier, []
    return [*before, replaced][-_MOST_EARLIER:]


def _no_answer() -> RequestRefusedError:
    return RequestRefusedError(
        404,
        "this conversation has no such answer to replace",
        hint="open the conversation again: it may have been changed meanwhile",
    )
