"""What tests of the server share: reading its streams and waiting for its work."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi.testclient import TestClient

_EVENT = re.compile(r"event: (?P<event>\w+)\ndata: (?P<data>.*)\n\n")


def events_of(text: str) -> list[tuple[str, Any]]:
    """Read a whole stream as names and values, and fail if there is anything else in it."""
    assert _EVENT.sub("", text).replace(": ping\n\n", "") == ""
    return [(match["event"], json.loads(match["data"])) for match in _EVENT.finditer(text)]


def ask(client: TestClient, query: str, **more: Any) -> Any:
    """Ask, and give the reply of what must be a success."""
    response = client.post("/api/query", json={"query": query, **more})
    assert response.status_code == 200, response.text
    return response.json()


def finished(client: TestClient, job_id: str) -> Any:
    """Follow a job to its end, and give how it ended."""
    *_, last = events_of(client.get(f"/api/jobs/{job_id}/events").text)
    return last
