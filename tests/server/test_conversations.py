"""A caller's own conversations over HTTP: listed, read, renamed, exported, deleted."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from fastapi.testclient import TestClient

from openbook.testing import ScriptedModel
from tests.server.conftest import Serve
from tests.server.reading import ask

QUESTION = "When do sessions end?"


def test_a_conversation_is_listed_read_renamed_and_deleted(client: TestClient) -> None:
    first = ask(client, QUESTION)
    second = ask(client, "How long does the retry policy wait?", session_id=first["session_id"])
    route = f"/api/sessions/{first['session_id']}"

    renamed = client.patch(route, json={"title": "Ends and waits"})
    (listed,) = client.get("/api/sessions").json()["sessions"]
    whole = client.get(route).json()
    deleted = client.delete(route)

    assert (renamed.status_code, listed["title"], listed["exchanges"]) == (204, "Ends and waits", 2)
    assert whole["exchanges"] == [first, second]
    assert (deleted.status_code, client.get(route).status_code) == (204, 404)
    assert client.get("/api/sessions").json() == {"sessions": []}


def test_a_conversation_that_an_older_version_kept_is_read_with_the_verdicts_of_today(serve: Serve, home: Path) -> None:
    client = serve(ScriptedModel("Sessions end after one hour [1:2]."))
    kept = ask(client, QUESTION, model="scripted:model")
    del kept["verifier"]
    kept["html"] = kept["html"].replace("cite-exact", "cite-partial")
    kept["citations"][0] |= {"verdict": "partial", "reason": "the words are not all there"}
    kept["claims"][0]["verdict"] = "partial"
    with closing(sqlite3.connect(home / "sessions.sqlite")) as tables, tables:
        tables.execute("UPDATE exchanges SET record = ?", (json.dumps(kept),))
    route = f"/api/sessions/{kept['session_id']}"

    (read,) = client.get(route).json()["exchanges"]
    exported = client.get(f"{route}/export").text

    assert (read["citations"][0]["verdict"], read["claims"][0]["verdict"]) == ("unverified", "unverified")
    assert (read["quality_score"], read["verifier"]) == (None, "")
    assert 'class="cite cite-unverified"' in read["html"]
    assert "[1:2]` guide.md:3: unverified, the words are not all there" in exported


def test_an_export_holds_nothing_that_a_viewer_of_markdown_would_load_or_run(serve: Serve) -> None:
    hostile = "![see](https://tracker.example/a) <img src=x onerror=run> `vec![1]` <b\n\n```rust\nvec![1]; // <b>\n```"
    client = serve(ScriptedModel(f"Sessions end after one hour [1:2]. {hostile}"))
    session_id = ask(client, f"{QUESTION} ![x](https://tracker.example)", model="scripted:model")["session_id"]
    client.patch(f"/api/sessions/{session_id}", json={"title": "<script>\n# [x](javascript:1) \u202e"})

    exported = client.get(f"/api/sessions/{session_id}/export").text

    assert exported.startswith("# \\<script> # \\[x\\](javascript:1) ‹U+202E›\n")
    assert not re.search(r"(?<!\\)<(img|script)|(?<!c)!\[", exported)
    assert "`vec![1]`" in exported
    assert "\nvec![1]; // <b>\n" in exported


def test_an_export_has_every_citation_with_its_verdict(client: TestClient) -> None:
    reply = ask(client, QUESTION)
    route = f"/api/sessions/{reply['session_id']}/export"

    markdown, as_json = client.get(route), client.get(route, params={"format": "json"})

    assert markdown.text == (
        "# When do sessions end?\n\n## When do sessions end?\n\n"
        f"{reply['answer']}\n\n- `[1:2]` guide.md:3 (Sessions): exact\n"
    )
    assert as_json.json()["exchanges"] == [reply]
    for response, ending in ((markdown, "md"), (as_json, "json")):
        assert response.headers["content-disposition"] == f'attachment; filename="{reply["session_id"]}.{ending}"'
    assert client.get(route, params={"format": "pdf"}).status_code == 422
