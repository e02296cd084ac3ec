"""The MCP server over HTTP as it is stopped."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_stopping_ends_requests_whose_body_has_not_arrived_with_an_error_and_logs_no_crash(tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry leaves.\n", encoding="utf-8")
    command = [sys.executable, "-m", "openbook", "mcp", str(tmp_path), "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stderr is not None
        address = urlsplit(next(line for line in process.stderr if "serving on" in line).split()[2])
        with socket.create_connection((address.hostname, address.port), timeout=30) as silent:
            head = f"POST /mcp HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
            silent.sendall(f"{head}Content-Length: 500\r\n\r\n".encode())
            httpx2.post(address.geturl(), json={})  # so that the other request has arrived
            process.send_signal(signal.SIGINT)
            while "Shutting down" not in process.stderr.readline():
                pass
            process.send_signal(signal.SIGINT)
            told = silent.makefile("rb").read()
        log = process.stderr.read()

    assert told.split(b" ", 2)[1] == b"503"
    assert b"the server stopped before it had answered" in told
    assert "CancelledError" not in log
    assert process.returncode == 0
