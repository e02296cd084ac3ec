"""Two servers behind nginx with one Redis, as processes on this machine."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import string
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.integration.support_cli import run_alone, start
from tests.integration.support_serving import Serving
from tests.redis_server import RedisServer
from tests.support import write_tree

TEMPLATE = Path(__file__).parents[2] / "deploy" / "nginx" / "openbook.conf.template"

# What surrounds the file that is shipped: everything nginx writes goes into the folder of the test.
_AROUND = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/openbook.conf;
}}
"""

_START_S = 30.0


class Cluster:
    """Two servers, a proxy in front of them, and a Redis behind them."""

    def __init__(self, folder: Path, redis: RedisServer, sources: Path, env: dict[str, str]) -> None:
        self.redis = redis
        self.key = run_alone("keys", "add", "team", "--role", "editor").out.strip()
        self._stack = ExitStack()
        self._sources = sources
        self._env = {"OPENBOOK_SHARED_STORE": redis.url, "OPENBOOK_SERVER_WORKERS": "0", **env}
        self._ports = [_free_port(), _free_port()]
        self.servers = [self._serve(port) for port in self._ports]
        self.url = self._proxy(folder)

    def client(self, *, key: bool = True, server: int | None = None) -> httpx2.Client:
        """Return a client of the proxy, or of one server."""
        headers = {"X-Openbook": "1"} | ({"Authorization": f"Bearer {self.key}"} if key else {})
        url = self.url if server is None else self.servers[server].url
        return self._stack.enter_context(httpx2.Client(base_url=url, timeout=60, headers=headers))

    def kill(self, server: int) -> None:
        """Kill a server, like a power failure."""
        self.servers[server].end(signal.SIGKILL)

    def restart(self, server: int) -> None:
        """Start a server again at the same address."""
        self.servers[server] = self._serve(self._ports[server])

    def close(self) -> None:
        self._stack.close()
        for serving in self.servers:
            if serving.process.poll() is None:
                serving.end(signal.SIGKILL)

    def _serve(self, port: int) -> Serving:
        return Serving(start("serve", self._sources, "--port", str(port), env=self._env))

    def _proxy(self, folder: Path) -> str:
        program = shutil.which("nginx")
        assert program is not None
        port = _free_port()
        names = {"PROXY_LISTEN": f"127.0.0.1:{port}", "PROXY_SCHEME": "http"}
        names |= {f"PROXY_SERVER_{number}": f"127.0.0.1:{each}" for number, each in enumerate(self._ports, start=1)}
        text = string.Template(TEMPLATE.read_text("utf-8")).safe_substitute(names)
        (folder / "openbook.conf").write_text(text, "utf-8")
        (folder / "nginx.conf").write_text(_AROUND.format(folder=folder), "utf-8")
        process = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")])
        self._stack.callback(process.wait, _START_S)
        self._stack.callback(process.terminate)
        until = time.monotonic() + _START_S
        while True:
            assert process.poll() is None, "nginx has ended"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return f"http://127.0.0.1:{port}"
            assert time.monotonic() < until, "nginx does not listen"
            time.sleep(0.01)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@pytest.fixture
def cluster(tmp_path: Path, redis_server: RedisServer) -> Iterator[Callable[..., Cluster]]:
    """Start a cluster, with settings of its servers."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    sources = write_tree(
        tmp_path / "harbour",
        {
            "guide.md": "# Sessions\n\nSessions end after one hour.\n\n# Retries\n\nThe retry waits 30 seconds.\n",
            "ferry.md": "# Ferry\n\nThe ferry departs at six.\n",
        },
    )
    with ExitStack() as stack:

        def begin(**env: str) -> Cluster:
            made = Cluster(tmp_path, redis_server, sources, env)
            stack.callback(made.close)
            return made

        yield begin
