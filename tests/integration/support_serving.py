"""Runs `openbook serve` as a process for tests."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from typing import Any

import httpx2

_ADDRESS = re.compile(r"serving on (http://\S+:\d+)/")


class Serving:
    """A server in its own process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        assert process.stderr is not None
        address = None
        while address is None:
            line = process.stderr.readline()
            assert line, "".join(self.said)
            self.said.append(line)
            address = _ADDRESS.search(line)
        self.url = address[1]
        self.client = httpx2.Client(base_url=self.url, timeout=30, headers={"X-Openbook": "1"})
        self._reading = threading.Thread(target=self.said.extend, args=(process.stderr,))
        self._reading.start()

    def end(self, sent: signal.Signals) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(sent)
        code = self.process.wait(60)
        self._reading.join()
        self.client.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code

    def ask(self, query: str) -> Any:
        return self.client.post("/api/query", json={"query": query}).json()

    def settled(self) -> list[Any]:
        """Wait until nothing is being indexed, and list the sources."""
        while True:
            sources: list[Any] = self.client.get("/api/sources").json()["sources"]
            if all(source["state"] != "indexing" for source in sources):
                return sources
            time.sleep(0.05)
