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


@pytest.fixture(scope="session")
def cluster() -> Iterator[tuple[str, str]]:
    """Start a cluster as `ray start` does, and end it with all that it has started. Gives both its addresses."""
    if find_spec("ray") is None:  # not imported yet: it reads the token when it is
        pytest.skip("the package ray is not installed")
    # Not below the folder of the test: the names of Ray's sockets would be too long for the system.
    folder = tempfile.mkdtemp(prefix="ray-")
    here = str(Path(__file__).parents[2])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([f"{here}/src", here]),  # the workers load embedders of the tests
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }
    port, client_port = _free_port(), _free_port()
    options = ["--head", "--block", f"--port={port}", "--num-cpus=2", "--include-dashboard=false"]
    options += ["--object-store-memory=100000000", f"--temp-dir={folder}", f"--ray-client-server-port={client_port}"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options]
    with pytest.MonkeyPatch.context() as patch, open(f"{folder}.log", "wb") as log:  # noqa: PTH123 - next to the folder
        for name in ("RAY_USAGE_STATS_ENABLED", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
            patch.setenv(name, environment[name])
        started = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_for(port, started)
            _wait_for(client_port, started)
            yield f"127.0.0.1:{port}", f"ray://127.0.0.1:{client_port}"
        finally:
            started.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.wait(timeout=_PATIENCE_S)
            started.kill()
            started.wait()
            shutil.rmtree(folder, ignore_errors=True)
            Path(f"{folder}.log").unlink(missing_ok=True)


@pytest.fixture
def settings(cluster: tuple[str, str], tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, workers=2, executor=f"ray:{cluster[0]}")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(port: int, started: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while True:
        assert started.poll() is None, "the cluster did not start"
        assert time.monotonic() < ends
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
