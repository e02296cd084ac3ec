"""Exchanges as they were kept, read with the verdicts and the ids of today."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from openbook.answers import read_saved
from openbook.server.rendering import chip

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
