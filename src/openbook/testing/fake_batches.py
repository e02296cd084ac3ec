"""Batches of the fake server, for both APIs: requests are answered at once, results are shown at the second poll."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from openbook.testing.script import Refusal
from openbook.testing.strictness import RequestRefused, expect

Json = dict[str, Any]
Answer = Callable[[str, Json], tuple[int, Json]]
"""Takes the path and body of a request, and returns the status and body of its response."""

BATCH_PATHS = re.compile(
    r"/v1/(?:messages/batches|batches|files)(?:/(?P<id>[\w-]+))?(?:/(?P<what>results|cancel|content))?"
)


@dataclass(slots=True)
class _Batch:
    lines: list[Json]
    looks: int = 0
    is_cancelled: bool = False


@dataclass(slots=True)
class FakeBatches:
    """The batches and files of a server."""

    answer: Answer
    cancelled: list[str] = field(default_factory=list)
    """Ids of batches that were cancelled."""
    began: threading.Event = field(default_factory=threading.Event)
    """Set when the first batch begins."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a batch is cancelled."""
    refusals: list[Refusal] = field(default_factory=list)
    """Responses to the next polls of a batch."""
    _files: dict[str, list[Json]] = field(default_factory=dict)
    _batches: dict[str, _Batch] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of batches so far."""
        return len(self._batches)

    @property
    def largest(self) -> int:
        """Number of requests of the largest batch, or batch file, so far."""
        sent = [*(batch.lines for batch in self._batches.values()), *self._files.values()]
        return max(map(len, sent), default=0)

    def respond(self, method: str, path: str, raw: bytes) -> Json | str:
        """Respond to a request to one of `BATCH_PATHS`."""
        found = BATCH_PATHS.fullmatch(path)
        assert found is not None
        if path == "/v1/files":
            return self._take_file(raw)
        if method == "POST" and found["what"] != "cancel":
            return self._begin(json.loads(raw), is_anthropic="messages" in path)
        name = str(found["id"])
        if found["what"] == "content":
            expect(name in self._files, f"No such File object: {name}", status=404)
            return _jsonl(self._files[name])
        expect(name in self._batches, f"No such batch: {name}", status=404)
        if method == "GET" and self.refusals:
            raise RequestRefused(self.refusals.pop(0))
        if found["what"] == "results":
            return _jsonl(self._batches[name].lines)
        if found["what"] == "cancel":
            self._batches[name].is_cancelled = True
            self.cancelled.append(name)
            self.left.set()
        return self._shown(name, is_anthropic="messages" in path)

    def _take_file(self, raw: bytes) -> Json:
        expect(b'name="purpose"' in raw and b"\r\nbatch\r\n" in raw, "'purpose' must be batch", param="purpose")
        lines = [json.loads(line) for line in raw.splitlines() if line.startswith(b"{")]
        name = f"file-{len(self._files) + 1}"
        self._files[name] = lines
        return {"id": name, "object": "file", "purpose": "batch", "bytes": len(raw), "created_at": 1, "filename": "f"}

    def _begin(self, body: Json, *, is_anthropic: bool) -> Json:
        name = f"batch-{len(self._batches) + 1}"
        if is_anthropic:
            lines = [self._of_anthropic(each) for each in body["requests"]]
        else:
            expect(body.get("completion_window") == "24h", "'completion_window' must be 24h")
            lines = [self._of_openai(each) for each in self._files[body["input_file_id"]]]
            self._files[f"{name}-output"] = lines
        self._batches[name] = _Batch(lines)
        self.began.set()
        return self._shown(name, is_anthropic=is_anthropic)

    def _of_anthropic(self, entry: Json) -> Json:
        status, body = self.answer("/v1/messages", entry["params"])
        result = {"type": "succeeded", "message": body} if status == 200 else {"type": "errored", "error": body}
        return {"custom_id": entry["custom_id"], "result": result}

    def _of_openai(self, entry: Json) -> Json:
        expect(entry["url"] == "/v1/chat/completions", "the url of a request is not that of the batch")
        status, body = self.answer(entry["url"], entry["body"])
        return {"custom_id": entry["custom_id"], "response": {"status_code": status, "body": body}, "error": None}

    def _shown(self, name: str, *, is_anthropic: bool) -> Json:
        batch = self._batches[name]
        batch.looks += 1
        is_over = batch.looks > 2  # the first is the response to its creation
        if is_anthropic:
            return {"id": name, "type": "message_batch", "processing_status": "ended" if is_over else "in_progress"}
        status = "cancelled" if batch.is_cancelled else "completed" if is_over else "in_progress"
        shown: Json = {"id": name, "object": "batch", "status": status, "endpoint": "/v1/chat/completions"}
        return shown | ({"output_file_id": f"{name}-output"} if is_over else {})


def _jsonl(lines: list[Json]) -> str:
    # Results are not in the order of the requests.
    return "".join(f"{json.dumps(line)}\n" for line in reversed(lines))
