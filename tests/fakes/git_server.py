"""Serves real git repositories over HTTP on this machine: git's own server program, behind a small web server."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import socketserver
import subprocess
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from openbook.sources.git_environment import environment_of_git


class GitServer:
    """Serves the repositories below a folder with `git http-backend`.

    Example:
        with GitServer(folder) as server:  # which holds octo/shop/.git
            print(f"{server.url}/octo/shop")
    """

    def __init__(self, folder: Path) -> None:
        """Prepare to serve the repositories below `folder`, bare or not."""
        self.folder = folder
        self.requests: list[str] = []
        """Paths with queries, in order."""
        self.status: int | None = None
        """Status of every response; None for normal ones."""
        self.silent = False
        """Whether requests are accepted and never answered."""
        self.token = ""
        """The only accepted token, in GitHub's form; if empty, reading needs none."""
        self.credentials: list[str] = []
        """Credentials that were sent, each as `name:password`."""
        self.leads_to = ""
        """Address of another server to redirect to; empty for none."""
        self.closing = threading.Event()
        self._tcp = _Tcp(self)
        self._thread = threading.Thread(target=self._tcp.serve_forever, args=(0.02,))

    @property
    def host(self) -> str:
        """Name and port."""
        host, port = self._tcp.server_address[:2]
        return f"{host!s}:{port}"

    @property
    def url(self) -> str:
        """URL of the folder with the repositories."""
        return f"http://{self.host}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._tcp.shutdown()
        self._thread.join()
        self._tcp.server_close()

    def run(self, path: str, method: str, content_type: str, protocol: str, body: bytes) -> bytes:
        """Run git's CGI program for a request."""
        parts = urlsplit(path)
        match = re.fullmatch(r"/(.+?)(?:\.git)?/(info/refs|git-upload-pack)", parts.path)
        name, rest = (match[1], match[2]) if match else ("", parts.path)
        inner = f"/{name}/.git" if (self.folder / name / ".git").is_dir() else f"/{name}.git"
        environ = environment_of_git() | {
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": protocol,
            "PATH_INFO": f"{inner}/{rest}",
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": method,
            "CONTENT_TYPE": content_type,
            "REMOTE_ADDR": "127.0.0.1",
        }
        git = [shutil.which("git") or "git", "-c", "safe.directory=*", "http-backend"]
        # Where it fails, it has said so to the client.
        return subprocess.run(git, input=body, env=environ, capture_output=True, check=False).stdout


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Tcp

    def do_GET(self) -> None:
        """Handle the listing of branches."""
        self._answer()

    def do_POST(self) -> None:
        """Handle a request for objects."""
        self._answer()

    def _answer(self) -> None:
        owner = self.server.owner
        owner.requests.append(self.path)
        if owner.silent:
            self.close_connection = owner.closing.wait()
            return
        body = self._body()
        kind, _, coded = self.headers.get("Authorization", "").partition(" ")
        sent = base64.b64decode(coded).decode() if kind == "Basic" else ""
        owner.credentials += [sent] if sent else []
        if owner.status is not None:
            self._send(owner.status, [], b"")
            return
        if owner.leads_to:
            self._send(301, [("Location", owner.leads_to + self.path)], b"")
            return
        if owner.token and sent != f"x-access-token:{owner.token}":
            self._send(401, [("WWW-Authenticate", 'Basic realm="GitHub"')], b"")
            return
        kind, protocol = self.headers.get("Content-Type", ""), self.headers.get("Git-Protocol", "")
        head, _, content = owner.run(self.path, self.command, kind, protocol, body).partition(b"\r\n\r\n")
        headers = [(name, value.strip()) for name, _, value in (h.partition(":") for h in head.decode().splitlines())]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        self._send(status, [(name, value) for name, value in headers if name != "Status"], content)

    def _body(self) -> bytes:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw

    def _send(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: GitServer) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.owner = owner
