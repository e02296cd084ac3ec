"""Clients that send slowly, by the hundred, beside one that wants an answer."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from openbook.server.connections import ConnectionLimits, raise_file_limit, throttled_handler
from openbook.server.running import Server, listen

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

# On loopback, ended by the test: as many as a class of slow clients could hold open.
MANY = 1_000


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the size of the body."""
    if scope["type"] != "http":
        return
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"7")]})
    await send({"type": "http.response.body", "body": b"%07d" % size})


@contextlib.contextmanager
def running(limits: ConnectionLimits) -> Iterator[tuple[str, int]]:
    listener = listen("127.0.0.1", 0)
    address = listener.getsockname()
    started = threading.Event()
    server = Server(echo, grace_s=0, started=started.set, limits=limits)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    assert started.wait(30)
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(30)


def opened(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=30)


def reply(connection: socket.socket) -> bytes:
    """Read until the server closes the connection, or has answered."""
    got = b""
    with contextlib.suppress(ConnectionError):
        while not re.search(rb"\r\n\r\n\d{7}$", got) and (more := connection.recv(4096)):
            got += more
    return got


@pytest.mark.slow
def test_a_thousand_half_sent_headers_do_not_keep_others_out_and_end() -> None:
    raise_file_limit()
    limits = ConnectionLimits(headers_s=3.0)
    with running(limits) as address, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(opened(address)) for _ in range(MANY)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")

        with opened(address) as quick:
            quick.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answered = reply(quick)
        ended = [reply(connection) for connection in slow]

    assert answered.startswith(b"HTTP/1.1 200 ")
    assert {each.partition(b"\r\n")[0] for each in ended} == {b"HTTP/1.1 408 Request Timeout"}


def test_connections_over_the_limit_are_closed() -> None:
    with running(ConnectionLimits(most=3)) as address, contextlib.ExitStack() as stack:
        kept = [stack.enter_context(opened(address)) for _ in range(3)]
        time.sleep(0.2)
        with opened(address) as one_more:
            refused = reply(one_more)
        kept[0].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")

        assert refused == b""
        assert reply(kept[0]).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow
def test_a_body_that_trickles_is_ended_and_one_that_flows_is_not() -> None:
    limits = ConnectionLimits(pause_s=0.5, pause_bytes=1_000)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    with running(limits) as address, opened(address) as slow, opened(address) as steady:
        slow.sendall(head % 1_000)
        steady.sendall(head % 60_000)
        for _ in range(30):
            with contextlib.suppress(ConnectionError):
                slow.sendall(b"x")
            steady.sendall(b"x" * 2_000)
            time.sleep(0.05)

        assert not reply(slow).startswith(b"HTTP/1.1 200")
        assert reply(steady).endswith(b"0060000")


@pytest.mark.slow
def test_a_kept_connection_has_the_same_deadline_for_its_next_request() -> None:
    with running(ConnectionLimits(headers_s=0.5)) as address, opened(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        first = reply(connection)
        connection.sendall(b"GET / HT")
        second = reply(connection)

    assert first.endswith(b"0000000")
    assert second.startswith(b"HTTP/1.1 408 ")


def test_an_error_of_asyncio_is_logged_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    handle = throttled_handler()
    loop = asyncio.new_event_loop()
    for _ in range(1_000):
        handle(loop, {"message": "socket.accept() out of system resource"})
    handle(loop, {"message": "another", "exception": ValueError("x")})
    loop.close()

    assert [record.getMessage() for record in caplog.records] == ["socket.accept() out of system resource", "another"]
