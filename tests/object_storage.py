"""Object storage for tests: moto's server, which is a mock, or a real one where `TEST_BUCKET` has its address."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

_START_S = 60.0


@contextlib.contextmanager
def served_bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start it in a process of its own, and yield the address of an empty folder. Credentials are in the environment.

    With `TEST_BUCKET`, which `python -m benchmarks.object_store` goes well with, nothing is started.
    """
    if given := os.environ.get("TEST_BUCKET"):
        yield f"{given}/{secrets.token_hex(8)}"
        return
    pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    for name, value in {
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": "sesame",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT": address,
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + _START_S
            while True:
                assert server.poll() is None, "the object storage has ended"
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                assert time.monotonic() < until, "the object storage does not listen"
                time.sleep(0.05)
            boto3.client("s3", endpoint_url=address, region_name="us-east-1").create_bucket(Bucket="notes")
            yield "s3://notes/openbook"
        finally:
            server.kill()
