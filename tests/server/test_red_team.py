"""What attackers try, as far as no other test has it; and the table of docs/server.md, which names a test for each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.server.conftest import Serve
from tests.server.reading import ask, finished
from tests.server.test_contents import upload
from tests.unit.sources.readers.test_zipped import BOMB, MAIN_PARTS
from tests.unit.sources.readers.zipped_files import changed

ROOT = Path(__file__).parents[2]
QUESTION = "When do sessions end?"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")

BOMBS = {
    "arrays": b"[" * 200_000,
    "objects": b'{"query":' * 25_000,
    "nested in a field": b'{"query": "x", "filters": ' + b'{"sources":' * 20_000,
    "closed": b"[" * 50_000 + b"]" * 50_000,
    "digits": b'{"query": "x", "limit": ' + b"9" * 200_000 + b"}",
    "beyond a float": b'{"query": "x", "limit": 1e999999}',
    "no number": b'{"query": "x", "limit": NaN}',
    "lone surrogate": b'{"query": "\\ud800 sessions", "course_name": "\\udfff"}',
    "many keys": b"{" + b",".join(b'"k%d":1' % number for number in range(20_000)) + b"}",
}


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve()


@pytest.mark.slow
@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS.keys())
def test_json_that_is_made_to_choke_a_parser_is_refused_and_others_are_answered(
    client: TestClient, body: bytes
) -> None:
    for route in ("/api/query", "/api/query/stream", "/api/search", "/api/login", "/v1/chat/completions"):
        reply = client.post(route, content=body, headers={"Content-Type": "application/json"})
        assert 400 <= reply.status_code < 500, route

    assert ask(client, QUESTION)["citations"]


@pytest.mark.slow
def test_a_name_of_a_file_or_conversation_adds_no_header(client: TestClient) -> None:
    name = 'a\r\nSet-Cookie: evil=1\r\n\r\n<script>".md'
    boundary = "x" * 20
    # As no client would send it.
    file = "filename*=UTF-8''a%0D%0ASet-Cookie%3A%20e=1.md"
    body = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="files"; {file}'
        f"\r\n\r\n# Bells\r\n\r\nThe brass bell rings at six.\r\n--{boundary}--\r\n"
    )
    sent = client.post(
        "/api/uploads", content=body, headers={"Content-Type": f"multipart/form-data; boundary={boundary}"}
    )
    replies = [sent]
    if sent.status_code == 202:
        finished(client, sent.json()["job_id"])
    reply = ask(client, QUESTION)
    session = f"/api/sessions/{reply['session_id']}"
    client.patch(session, json={"title": name})
    document = f"/api/documents/{reply['citations'][0]['document_id']}"
    routes = (f"{session}/export", f"{session}/export?format=json", f"{document}/text", f"{document}/original")
    hostile = {"X-Request-Id": "evil", "X-Forwarded-Host": "evil.example"}
    replies += [client.get(route, headers=hostile) for route in routes]

    assert [each.status_code for each in replies[1:]] == [200] * 4
    for each in replies:
        assert "evil" not in str(each.headers)
        assert "e=1" not in each.headers.get("set-cookie", "")
        assert not re.search(r"[\r\n]", "".join(each.headers.values()))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["docx", "odt", "epub"])
def test_an_uploaded_file_that_expands_without_end_is_left_out_and_the_rest_is_read(
    client: TestClient, form: str
) -> None:
    _, raw, name = MAIN_PARTS[form]
    sent = upload(
        client, (f"bomb.{form}", changed(raw, {name: BOMB})), ("bells.md", b"# Bells\n\nThe bell is brass.\n")
    )

    _, job = finished(client, sent.json()["job_id"])

    assert job["report"]["left_out"] == [{"name": f"bomb.{form}", "reason": "expands too much"}]
    assert "brass" in ask(client, "What is the bell made of?")["answer"]


def test_each_row_of_the_table_of_attacks_names_tests_that_are_there() -> None:
    page = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    table = page.partition("### What attackers try")[2].partition("\n## ")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ") and not row.startswith(("| attack", "|--"))]

    assert len(rows) >= 16
    for row in rows:
        named = _NAMED.findall(row)
        assert named, f"no test in: {row}"
        for path, test in named:
            assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path} has no {test}"
