"""Object storage for tests: moto's server, which is a mock, or a real one where `TEST_BUCKET` has its address."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import pytest

# It says which port it has: one that is chosen before it starts may be somebody else's by then.
_SERVE = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""


@cache
def _started() -> str:
    """Start the server in a process of its own, once for all tests, and return its address. It ends with this one."""
    command = [sys.executable, "-c", _SERVE]
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8")
    atexit.register(server.communicate)
    assert server.stdout is not None
    port = server.stdout.readline().strip()
    assert port, "the object storage has ended"
    return f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def served_bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of an empty folder in a bucket of its own. Credentials are in the environment.

    With `TEST_BUCKET`, which `python -m benchmarks.object_store` goes well with, nothing is started.
    """
    if given := os.environ.get("TEST_BUCKET"):
        yield f"{given}/{secrets.token_hex(8)}"
        return
    pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    address, bucket = _started(), f"notes-{secrets.token_hex(8)}"
    for name, value in {
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": "sesame",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT": address,
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3", endpoint_url=address, region_name="us-east-1").create_bucket(Bucket=bucket)
    yield f"s3://{bucket}/openbook"
