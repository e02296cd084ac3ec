"""Bodies that do not come, and bodies that nobody reads."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openbook.server.auth import Authenticator
from openbook.server.keys import KeyStore
from openbook.server.metrics import Metrics
from openbook.server.security import UPLOADS, SecurityMiddleware


async def read_all(_: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass


def status_of(app: ASGIApp, path: str, *came: Message) -> Any:
    """Send a request whose body is what came and no more; give the status of the reply."""
    messages, sent = list(came), []
    headers = [(b"host", b"localhost"), (b"x-openbook", b"1")]

    async def receive() -> Message:
        return messages.pop(0) if messages else await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    return sent[0]["status"]


def guarded(home: Path, *, needs_key: bool) -> tuple[SecurityMiddleware, KeyStore]:
    keys = KeyStore(home)
    authenticator = Authenticator(keys, needs_key=needs_key)
    return SecurityMiddleware(
        read_all, authenticator=authenticator, hosts=(), upload_bytes=100, metrics=Metrics(), silence_s=0.01
    ), keys


@pytest.mark.slow
def test_a_body_whose_rest_does_not_come_is_given_up(tmp_path: Path) -> None:
    app, keys = guarded(tmp_path, needs_key=False)
    with closing(keys):
        status = status_of(app, "/api/query", {"type": "http.request", "body": b"{", "more_body": True})

    assert status == 408


@pytest.mark.slow
def test_an_unauthenticated_upload_is_refused_before_its_body_is_read(tmp_path: Path) -> None:
    app, keys = guarded(tmp_path, needs_key=True)
    with closing(keys):
        status = status_of(app, UPLOADS)  # nothing comes: waiting for it would end with 408

    assert status == 401
