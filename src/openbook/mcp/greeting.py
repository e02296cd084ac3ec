"""Answers the first requests before the SDK is imported, because some agents do not wait that long for tools.

Importing the SDK takes .8 s of CPU time. The answers are those of the SDK, recorded by
`tools/write_mcp_greeting.py`. All other requests are passed on to the SDK.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

COURSE_TOOLS = frozenset({"list_courses", "course_outline"})
"""Tools that are listed only if the library has courses."""

VERSION = "@VERSION@"
"""Placeholder for the version of Openbook in the recorded answers."""

# Agents send their first requests in a burst. After a pause of this length, the SDK is imported.
_BURST_GAP_S = 0.02

_META = "io.modelcontextprotocol/"


@dataclass(frozen=True, slots=True)
class Opening:
    """The start of a connection: what was answered, and what is left to the SDK."""

    lines: tuple[bytes, ...] = ()
    """Messages to replay to the SDK, in order."""
    is_answered: bool = False
    """Whether `lines` begins with an `initialize` request that is already answered."""
    is_over: bool = False
    """Whether the client has disconnected."""
    offers_courses: bool | None = None
    """Whether the tools for courses were listed; None if no tools were."""


class Greeter:
    """Answers the first requests over two file descriptors."""

    def __init__(self, version: str, has_courses: Callable[[], bool], *, source: int = 0, target: int = 1) -> None:
        """Take the version, a function that says whether to list the tools for courses, and the file descriptors."""
        recorded = files("openbook.mcp").joinpath("greeting.json").read_text(encoding="utf-8")
        self._recorded = json.loads(recorded.replace(VERSION, version))
        self._has_courses = has_courses
        self._source = source
        self._target = target
        self._is_initialized = False
        self._offers_courses: bool | None = None

    def greet(self) -> Opening:
        """Answer requests until the tools are listed or a request needs the SDK."""
        kept: list[bytes] = []
        is_done = False
        while not is_done or self._has_more():
            line = self._read_line()
            if not line:
                return self._opening(kept, is_over=not kept or self._is_initialized)
            message = _message(line)
            result = self._result(message)
            if result is None or message["method"] == "initialize":
                kept.append(line)
            if result is not None:
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})
            is_done = is_done or message.get("method") == "tools/list" or (result is None and "id" in message)
            if not self._is_initialized and kept:  # without a handshake, the SDK has to answer
                break
        return self._opening(kept)

    def _opening(self, kept: Sequence[bytes], *, is_over: bool = False) -> Opening:
        return Opening(tuple(kept), self._is_initialized, is_over, self._offers_courses)

    def _result(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the recorded answer to a request; None if there is none."""
        method, params, number = message.get("method"), message.get("params") or {}, message.get("id")
        if not isinstance(number, int | str) or isinstance(number, bool) or not isinstance(params, dict):
            return None
        if method == "initialize":
            return self._initialized(params)
        meta = params.get("_meta", {})
        if params.keys() - {"_meta"} or not isinstance(meta, dict):
            return None
        is_modern = any(key.startswith(_META) for key in meta)
        if is_modern == self._is_initialized or (is_modern and not self._is_enveloped(meta)):
            return None
        result: dict[str, Any] | None = self._recorded["modern" if is_modern else "handshake"].get(method)
        if method == "tools/list" and result is not None:
            self._offers_courses = self._has_courses()
            if not self._offers_courses:
                return {**result, "tools": [tool for tool in result["tools"] if tool["name"] not in COURSE_TOOLS]}
        return result

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to the handshake of protocol versions before 2026."""
        version = params.get("protocolVersion")
        if self._is_initialized or version not in self._recorded["handshake_versions"]:
            return None
        if not _is_client(params.get("clientInfo"), params.get("capabilities")):
            return None
        self._is_initialized = True
        return {**self._recorded["handshake"]["initialize"], "protocolVersion": version}

    def _is_enveloped(self, meta: dict[str, Any]) -> bool:
        """Return whether the metadata of a request describe its client, as the protocol requires since 2026."""
        named = {key.removeprefix(_META): value for key, value in meta.items() if key != "progressToken"}
        return (
            named.keys() == {"protocolVersion", "clientInfo", "clientCapabilities"}
            and named["protocolVersion"] in self._recorded["modern_versions"]
            and _is_client(named["clientInfo"], named["clientCapabilities"])
        )

    def _has_more(self) -> bool:
        """Return whether more input is available. Windows cannot tell for pipes, so the SDK takes over there."""
        if sys.platform == "win32":
            return False
        return bool(select.select([self._source], [], [], _BURST_GAP_S)[0])

    def _read_line(self) -> bytes:
        """Read exactly one line, because the SDK may have to read the next one. Empty at the end."""
        read = bytearray()
        while not read.endswith(b"\n") and (byte := os.read(self._source, 1)):
            read += byte
        return bytes(read)

    def _write(self, message: dict[str, Any]) -> None:
        left = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        while left:
            left = left[os.write(self._target, left) :]


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else {"id": None}


def _is_client(info: object, capabilities: object) -> bool:
    """Return whether the description of a client is one that the SDK accepts."""
    return (
        isinstance(info, dict)
        and isinstance(info.get("name"), str)
        and isinstance(info.get("version"), str)
        and isinstance(capabilities, dict)
        and all(isinstance(each, dict) for each in capabilities.values())
    )
