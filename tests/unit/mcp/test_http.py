from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.server.mcpserver import MCPServer

from openbook.errors import SettingsError
from openbook.mcp.http import KeyMiddleware, of_this_machine, run_http
from openbook.server.keys import KeyStore

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send


@pytest.mark.parametrize(("host", "name"), [("127.0.0.2", "127.0.0.2"), ("::1", "[::1]"), ("localhost", "localhost")])
def test_on_this_machine_it_answers_under_names_that_no_other_site_has(host: str, name: str) -> None:
    allowed = of_this_machine(host)

    assert allowed.enable_dns_rebinding_protection
    assert {name, f"{name}:*", "localhost:*"} <= set(allowed.allowed_hosts)
    assert f"http://{name}:*" in allowed.allowed_origins


def test_nobody_is_served_from_elsewhere_before_there_is_a_key(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"on 0\.0\.0\.0 everybody needs a key") as caught:
        run_http(MCPServer("openbook"), tmp_path, "0.0.0.0", 0, started=pytest.fail)

    assert "openbook keys add NAME" in caught.value.hint


def asked(keys: KeyStore, *headers: tuple[bytes, bytes], kind: str = "http") -> list[Any]:
    """Return the status with which a request is answered; `[]` if it is let in."""
    sent: list[Any] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer nothing: the request was let in."""

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(KeyMiddleware(inside, keys)({"type": kind, "headers": list(headers)}, receive, send))
    return [message["status"] for message in sent if message["type"] == "http.response.start"]


def test_who_has_a_key_is_let_in(tmp_path: Path) -> None:
    keys = KeyStore(tmp_path)
    key = keys.add("agents")

    assert asked(keys, (b"authorization", f"Bearer {key}".encode())) == []
    assert asked(keys, (b"authorization", f"bearer  {key} ".encode())) == []


@pytest.mark.parametrize("sent", [b"", b"Bearer", b"Bearer wrong", b"Basic KEY", b"KEY"])
def test_who_has_none_is_refused(tmp_path: Path, sent: bytes) -> None:
    keys = KeyStore(tmp_path)
    key = keys.add("agents")

    assert asked(keys, (b"authorization", sent.replace(b"KEY", key.encode()))) == [401]
    assert asked(keys) == [401]


def test_what_is_no_request_needs_no_key(tmp_path: Path) -> None:
    assert asked(KeyStore(tmp_path), kind="lifespan") == []
