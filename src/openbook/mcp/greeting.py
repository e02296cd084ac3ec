"""The first answers of the server, before the SDK is imported: that takes longer than some agents wait for tools.

What is answered is what the SDK answers, recorded by `tools/write_mcp_greeting.py`. What is not recorded is left to
the SDK, which is shown everything that it has to know.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

COURSE_TOOLS = frozenset({"list_courses", "course_outline"})
"""Names of the tools that only a library with courses has a use for."""

VERSION = "@VERSION@"
"""Stands in the recorded answers for the version of Openbook."""

# Agents send their first requests in one go. What comes later than that does not keep the SDK waiting.
_IN_ONE_GO_S = 0.02

_META = "io.modelcontextprotocol/"


@dataclass(frozen=True, slots=True)
class Opening:
    """How a connection began."""

    lines: tuple[bytes, ...] = ()
    """Messages that the SDK has to be shown, in their order."""
    is_answered: bool = False
    """Whether the first of `lines` is an `initialize` that was answered already."""
    is_over: bool = False
    """Whether the client has gone."""


class Greeter:
    """Answers first requests over two file descriptors."""

    def __init__(self, version: str, has_courses: Callable[[], bool], *, source: int = 0, target: int = 1) -> None:
        """Take the version to tell, whether tools for courses are listed, and where messages come from and go to."""
        recorded = files("openbook.mcp").joinpath("greeting.json").read_text(encoding="utf-8")
        self._recorded = json.loads(recorded.replace(VERSION, version))
        self._has_courses = has_courses
        self._source = source
        self._target = target
        self._is_initialized = False

    def greet(self) -> Opening:
        """Answer until the tools are listed, or something comes that only the SDK can answer."""
        kept: list[bytes] = []
        is_done = False
        while not is_done or self._has_more():
            line = self._read_line()
            if not line:
                return Opening(tuple(kept), self._is_initialized, is_over=not kept or self._is_initialized)
            message = _message(line)
            result = self._result(message)
            if result is None or message["method"] == "initialize":
                kept.append(line)
            if result is not None:
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})
            is_done = is_done or message.get("method") == "tools/list" or (result is None and "id" in message)
            if not self._is_initialized and kept:  # the SDK decides what is to be said first
                break
        return Opening(tuple(kept), self._is_initialized)

    def _result(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a request, None if it is not recorded."""
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
        if method == "tools/list" and result is not None and not self._has_courses():
            return {**result, "tools": [tool for tool in result["tools"] if tool["name"] not in COURSE_TOOLS]}
        return result

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to the handshake of the protocol versions until 2025."""
        version = params.get("protocolVersion")
        if self._is_initialized or version not in self._recorded["handshake_versions"]:
            return None
        if not _is_client(params.get("clientInfo"), params.get("capabilities")):
            return None
        self._is_initialized = True
        return {**self._recorded["handshake"]["initialize"], "protocolVersion": version}

    def _is_enveloped(self, meta: dict[str, Any]) -> bool:
        """Return whether a request says of its client what each has to say since the version of 2026."""
        named = {key.removeprefix(_META): value for key, value in meta.items() if key != "progressToken"}
        return (
            named.keys() == {"protocolVersion", "clientInfo", "clientCapabilities"}
            and named["protocolVersion"] in self._recorded["modern_versions"]
            and _is_client(named["clientInfo"], named["clientCapabilities"])
        )

    def _has_more(self) -> bool:
        """Return whether the client has sent more already. Windows does not tell, so there it is left to the SDK."""
        if sys.platform == "win32":
            return False
        return bool(select.select([self._source], [], [], _IN_ONE_GO_S)[0])

    def _read_line(self) -> bytes:
        """Read one line and nothing of the next one, which the SDK may have to read. Empty at the end."""
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
    """Return whether a client names itself and what it can do, so that the SDK accepts it too."""
    return (
        isinstance(info, dict)
        and isinstance(info.get("name"), str)
        and isinstance(info.get("version"), str)
        and isinstance(capabilities, dict)
        and all(isinstance(each, dict) for each in capabilities.values())
    )
