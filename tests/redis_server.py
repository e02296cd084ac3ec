"""A real Redis for tests: a process of its own on this machine, that keeps nothing."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

PASSWORD = "sesame+opens/nothing:else"  # with signs that an address has to escape
_QUOTED = "sesame%2Bopens%2Fnothing%3Aelse"

_START_S = 30.0


class RedisServer:
    """A Redis that can be killed, started again and held up."""

    def __init__(self, folder: Path) -> None:
        self._program = shutil.which("redis-server")
        if self._program is None:
            pytest.skip("redis-server is not installed")
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"redis://:{_QUOTED}@127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert self._program is not None
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self._folder)]
        kept = ["--save", "", "--appendonly", "no", "--requirepass", PASSWORD]
        self._process = subprocess.Popen([self._program, *where, *kept], stdout=subprocess.DEVNULL)
        until = time.monotonic() + _START_S
        while True:
            assert self._process.poll() is None, "redis-server has ended"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            assert time.monotonic() < until, "redis-server does not listen"
            time.sleep(0.01)

    def hold(self) -> None:
        """Let it answer nobody, and keep its connections."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it answer again."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it, with all that it holds."""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait(_START_S)
            self._process = None

    def _signal(self, sent: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(sent)
