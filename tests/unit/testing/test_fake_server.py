"""What a script does to a server. That it is faithful is shown with the SDKs, in tests/integration."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from openbook.errors import CutOffError
from openbook.testing import FakeServer, Fault, ReceivedRequest, Refusal, ScriptedReply

Servers = Callable[..., FakeServer]

# What reaches this machine, for tests that open a server on their own.
loopback = pytest.mark.allow_hosts(["127.0.0.1"])


def post(server: FakeServer, body: Any, path: str = "/v1/chat/completions", **headers: str) -> tuple[int, Any]:
    """Send a request without an SDK, and give the status and the JSON."""
    place = server.anthropic_url.removeprefix("http://")
    connection = http.client.HTTPConnection(place, timeout=10)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"authorization": f"Bearer {server.key}", "content-type": "application/json", **headers}
        connection.request("POST", path, raw, sent)
        response = connection.getresponse()
        answer = response.read().decode()
        return response.status, json.loads(answer) if answer.startswith("{") else answer
    finally:
        connection.close()


def wait_for(happened: Callable[[], bool]) -> None:
    """Wait until something has happened, or ten seconds have gone."""
    for _ in range(1000):
        if happened():
            return
        time.sleep(0.01)


ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def test_a_step_can_be_a_function_of_the_request(fake_server: Servers) -> None:
    def echo(received: ReceivedRequest) -> ScriptedReply:
        return ScriptedReply(f"You said {received.body['messages'][0]['content']}.")

    server = fake_server(echo)

    _, completion = post(server, ASK)

    assert completion["choices"][0]["message"]["content"] == "You said Hi."


def test_headers_are_kept_in_lower_case(fake_server: Servers) -> None:
    server = fake_server("Hello.")

    post(server, ASK, **{"X-Trace": "7"})

    assert server.requests[0].headers["x-trace"] == "7"


@loopback
def test_a_step_that_is_not_read_fails_the_test_and_says_what_was_refused() -> None:
    complaint = "1 step of the script was not read; refused: Missing required"

    with pytest.raises(AssertionError, match=complaint), FakeServer("Hello.") as server:
        post(server, {"model": "m"})


@loopback
def test_a_request_too_many_fails_the_test_and_is_not_worth_a_retry() -> None:
    with pytest.raises(AssertionError, match="has 0 steps, and was asked for one more"), FakeServer() as server:
        status, _ = post(server, ASK)

    assert status == 400


@loopback
def test_a_script_that_is_wrong_fails_the_test() -> None:
    def broken(_: ReceivedRequest) -> Refusal:
        raise LookupError("no such thing")

    with pytest.raises(AssertionError, match="no such thing"), FakeServer(broken) as server:
        status, _ = post(server, ASK)

    assert status == 400


@loopback
def test_an_error_behind_a_reply_is_a_script_that_is_wrong() -> None:
    with (
        pytest.raises(AssertionError, match="use Fault"),
        FakeServer(ScriptedReply("So", error=CutOffError("cut"))) as server,
    ):
        post(server, ASK)


@loopback
def test_clients_that_still_wait_are_let_go_when_the_server_ends() -> None:
    with FakeServer(Fault("hold")) as server:
        host, port = server.anthropic_url.removeprefix("http://").split(":")
        idle, waiting = (socket.create_connection((host, int(port)), timeout=10) for _ in range(2))
        head = f"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer {server.key}\r\n"
        body = json.dumps(ASK)
        waiting.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        wait_for(lambda: bool(server.requests))

    with idle, waiting:
        assert (idle.recv(1), waiting.recv(1)) == (b"", b"")
    assert not server.wait_for_disconnect(timeout_s=0)


def test_a_refusal_can_be_a_page_of_a_proxy(fake_server: Servers) -> None:
    server = fake_server(Refusal(502, page="<h1>Bad gateway</h1>"))

    status, page = post(server, ASK)

    assert (status, page) == (502, "<h1>Bad gateway</h1>")


@loopback
def test_a_failure_is_not_hidden_behind_the_steps_after_it() -> None:
    with pytest.raises(KeyError), FakeServer("Hello."):
        raise KeyError


@pytest.mark.parametrize(
    ("body", "headers", "complaint"),
    [
        pytest.param(b"{", {}, "not valid JSON", id="not-json"),
        pytest.param([], {}, "not valid JSON", id="not-an-object"),
        pytest.param(ASK, {"content-type": "text/plain"}, "must be application/json", id="not-said-to-be-json"),
    ],
)
def test_what_is_no_json_object_is_refused(
    fake_server: Servers, body: Any, headers: dict[str, str], complaint: str
) -> None:
    server = fake_server()

    status, answer = post(server, body, **headers)

    assert (status, complaint in answer["error"]["message"]) == (400, True)
