"""A server on this machine that keeps models as the hub does: small files at once, large ones behind a redirect."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass(frozen=True)
class Response:
    """What a path answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    """Whether the connection ends in the middle of the body."""
    claimed_bytes: int | None = None
    """What the header says of the size; None for the truth."""


class ModelServer:
    """Serves what it was given; all else is 404."""

    def __init__(self) -> None:
        self.responses: dict[str, Response] = {}
        self.requests: list[str] = []
        """Paths that were asked for, in order."""
        self.headers: list[dict[str, str]] = []
        """Of the requests, by names in lower case."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _exchange_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """Address of the hub."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def add(self, repository: str, files: Mapping[str, bytes], revision: str = "main") -> None:
        """Serve a repository of the hub, under its revision and its commit."""
        for path, body in files.items():
            about = {"X-Repo-Commit": COMMIT, "ETag": '"small"'}
            response = Response(body, headers=about)
            if path.endswith(".onnx"):
                digest = sha256(body).hexdigest()
                self.responses[f"/storage/{digest}"] = Response(body)
                linked = {"X-Linked-Etag": f'"{digest}"', "Location": f"/storage/{digest}"}
                response = Response(status=302, headers={**about, **linked})
            for name in (revision, COMMIT):
                self.responses[f"/{repository}/resolve/{name}/{path}"] = response

    def add_folder(self, at: str, folder: Path) -> None:
        """Serve the files of a folder below a path."""
        for file in folder.iterdir():
            self.responses[f"{at}/{file.name}"] = Response(file.read_bytes())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _exchange_of(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Exchange(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append(self.path)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            response = server.responses.get(self.path, Response(b"not found", 404))
            claimed = len(response.body) if response.claimed_bytes is None else response.claimed_bytes
            self.send_response(response.status)
            for name, value in {**response.headers, "Content-Length": str(claimed)}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(response.body[: len(response.body) // 2] if response.cut else response.body)

        def log_message(self, *_: Any) -> None:
            """Say nothing on the terminal."""

    return Exchange
