"""A real Ray cluster on this machine, of two processors, started once. `make test-ray` runs these tests."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from openbook.settings import Settings

_PATIENCE_S = 60.0
_MAX_STARTS = 5


@pytest.fixture(scope="session")
def cluster() -> Iterator[tuple[str, str]]:
    """Start a cluster as `ray start` does, and end it with all that it has started. Gives both its addresses."""
    if find_spec("ray") is None:  # not imported yet: it reads the token when it is
        pytest.skip("the package ray is not installed")
    here = str(Path(__file__).parents[2])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([f"{here}/src", here]),  # the workers load embedders of the tests
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_USAGE_STATS_ENABLED", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
            patch.setenv(name, environment[name])
        for left in reversed(range(_MAX_STARTS)):
            try:
                with _started(environment) as addresses:
                    yield addresses
                return
            except _NotStartedError:  # another program took a port that was free when it was chosen
                if not left:
                    raise


class _NotStartedError(Exception):
    """The cluster ended while it started, or does not answer. Says what it printed."""


@contextlib.contextmanager
def _started(environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    # Not below the folder of the test: the names of Ray's sockets would be too long for the system.
    folder = tempfile.mkdtemp(prefix="ray-")
    log = Path(f"{folder}.log")  # next to the folder, which Ray wants for itself
    port, client_port = _free_ports(2)
    options = ["--head", "--block", f"--port={port}", "--num-cpus=2", "--include-dashboard=false"]
    options += ["--object-store-memory=100000000", f"--temp-dir={folder}", f"--ray-client-server-port={client_port}"]
    # Or Ray keeps ports from 10002 to 19999 for workers, and refuses to start where one of the two above is there.
    options += ["--min-worker-port=0", "--max-worker-port=0"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
    try:
        _wait_for(port, process, log)
        _wait_for(client_port, process, log)
        yield f"127.0.0.1:{port}", f"ray://127.0.0.1:{client_port}"
    finally:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_PATIENCE_S)
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
        log.unlink(missing_ok=True)


@pytest.fixture
def settings(cluster: tuple[str, str], tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, workers=2, executor=f"ray:{cluster[0]}")


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as found:
        sockets = [found.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while True:
        if process.poll() is not None or time.monotonic() > ends:
            raise _NotStartedError(log.read_text("utf-8", "replace"))
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
