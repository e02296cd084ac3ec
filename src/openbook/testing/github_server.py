"""A strict server on this machine that speaks as much of GitHub's REST API as loading repositories takes."""

from __future__ import annotations

import base64
import json
import re
import socketserver
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal, Self
from urllib.parse import parse_qs, unquote, urlsplit

from openbook.testing.github_repository import Content, GitHubRepository

_JSON = "application/json; charset=utf-8"
_PER_PAGE = 30
_GONE = (BrokenPipeError, ConnectionResetError)


@dataclass(frozen=True, slots=True)
class GitHubRequest:
    """A request that the server has answered."""

    path: str
    """With the query."""
    headers: Mapping[str, str]
    """By names in lower case."""
    status: int
    codeload: bool
    """Whether it went to the host of archives, which is not the one of the API."""


@dataclass(frozen=True, slots=True)
class GitHubFault:
    """What goes wrong with a response."""

    then: Literal["cut", "hold", "drip", "damage", "refuse"]
    """The connection ends in the middle of the body; nothing more comes; a byte at a time; other bytes; an error."""
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "Server Error"


@dataclass(slots=True)
class _Response:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class GitHubServer:
    """Serves repositories over HTTP: the API at `api_url`, archives at another port, as GitHub has another host.

    What GitHub would not know gets its 404, and is kept in `refused`.

    Example:
        with GitHubServer() as server:
            server.add("octo/shop", {"README.md": "# Shop"})
            print(server.api_url)
    """

    def __init__(self, token: str = "token-of-the-github-server") -> None:
        """Get ready to serve.

        Args:
            token: The only one that is accepted. Private repositories are shown to it alone.
        """
        self.token = token
        self.requests: list[GitHubRequest] = []
        """All that were answered, in order."""
        self.refused: list[str] = []
        """Requests that GitHub would not understand."""
        self.remaining: int | None = None
        """Requests until the rate limit; None for no limit."""
        self.resets_in_s = 3600
        self.etags = True
        """Whether unchanged things are said to be so. What stands between may know no ETags."""
        self._repositories: dict[str, GitHubRepository] = {}
        self._moved: dict[str, int] = {}
        self._faults: list[tuple[re.Pattern[str], GitHubFault]] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._servers = [_Tcp(self), _Tcp(self)]
        self._threads = [threading.Thread(target=tcp.serve_forever, args=(0.02,)) for tcp in self._servers]

    @property
    def api_url(self) -> str:
        """Address of the API."""
        return _address(self._servers[0])

    def add(self, full_name: str, files: Mapping[str, Content] | None = None, **about: Any) -> GitHubRepository:
        """Serve a repository, with one commit if there are files."""
        repository = GitHubRepository(full_name, id=len(self._repositories) + 1, **about)
        if files is not None:
            repository.commit(files)
        self._repositories[full_name.lower()] = repository
        return repository

    def rename(self, repository: GitHubRepository, full_name: str) -> None:
        """Give a repository another name. The old one leads to it."""
        old = repository.full_name.lower()
        del self._repositories[old]
        self._moved[old] = repository.id
        repository.full_name = full_name
        self._repositories[full_name.lower()] = repository

    def fail(self, path: str, fault: GitHubFault, *, times: int = 1) -> None:
        """Spoil the next responses to requests whose path a pattern matches anywhere."""
        self._faults += [(re.compile(path), fault)] * times

    def paths(self) -> list[str]:
        """List what was asked for, without the part that names the repository."""
        return [re.sub(r"^/repos/[^/]+/[^/?]+", "", request.path) for request in self.requests]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        for tcp, thread in zip(self._servers, self._threads, strict=True):
            tcp.shutdown()
            thread.join()
            tcp.server_close()

    def answer(self, exchange: _Exchange, tcp: object) -> None:
        """Answer one request."""
        headers = {name.lower(): value for name, value in exchange.headers.items()}
        codeload = tcp is self._servers[1]
        with self._lock:
            fault = self._take_fault(exchange.path)
            if fault is not None and fault.then == "refuse":
                response = _failure(fault.status, fault.message, **fault.headers)
            else:
                response = self._archive(exchange.path) if codeload else self._respond(exchange.path, headers)
            self.requests.append(GitHubRequest(exchange.path, headers, response.status, codeload))
        with suppress(*_GONE):
            exchange.send(response, fault, self._closing)

    def _take_fault(self, path: str) -> GitHubFault | None:
        for position, (pattern, fault) in enumerate(self._faults):
            if pattern.search(path):
                del self._faults[position]
                return fault
        return None

    def _respond(self, path: str, headers: Mapping[str, str]) -> _Response:
        if "user-agent" not in headers or "x-github-api-version" not in headers:
            return self._refuse(403, f"Request forbidden by administrative rules: {path}")
        sent = headers.get("authorization", "")
        if sent and sent.partition(" ")[2] != self.token:
            return _failure(401, "Bad credentials")
        limits = self._limits()
        if self.remaining is not None:
            if self.remaining <= 0:
                return _failure(403, "API rate limit exceeded for 127.0.0.1.", **limits)
            self.remaining -= 1
        response = self._route(path, headers, known=bool(sent))
        if not self.etags:
            response.headers.pop("ETag", None)
        if response.status == 200 and headers.get("if-none-match") == response.headers.get("ETag", ""):
            response = _Response(304, headers=response.headers)
            if self.remaining is not None and sent:
                self.remaining += 1  # costs nothing
        response.headers |= limits
        return response

    def _limits(self) -> dict[str, str]:
        left = 5000 if self.remaining is None else self.remaining
        reset = str(int(time.time()) + self.resets_in_s)
        return {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": str(left), "X-RateLimit-Reset": reset}

    def _route(self, path: str, headers: Mapping[str, str], *, known: bool) -> _Response:
        parts = urlsplit(path)
        match = re.fullmatch(r"/(?:repos/([^/]+/[^/]+)|repositories/(\d+))(?:/(.*))?", unquote(parts.path))
        if match is None:
            return self._refuse(404, f"Not Found: {path}")
        name, number, rest = (match[1] or "").lower(), match[2], match[3] or ""
        if name in self._moved:
            query = f"?{parts.query}" if parts.query else ""
            there = f"{self.api_url}/repositories/{self._moved[name]}/{rest}".rstrip("/") + query
            return _Response(
                301, json.dumps({"message": "Moved Permanently", "url": there}).encode(), {"Location": there}
            )
        found = (r for key, r in self._repositories.items() if key == name or str(r.id) == number)
        repository = next(found, None)
        if repository is None or (repository.private and not known):
            return _failure(404, "Not Found")
        accept = headers.get("accept", "")
        asked = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        return self._part(repository, rest, accept, asked) or self._refuse(404, f"Not Found: {path}")

    def _part(self, repository: GitHubRepository, rest: str, accept: str, asked: dict[str, str]) -> _Response | None:
        if not rest:
            return _reply(repository.about())
        if not repository.refs:
            return _failure(409, "Git Repository is empty.")
        kind, _, name = rest.partition("/")
        if kind == "git":
            kind, _, name = name.partition("/")
        if kind == "commits":
            return _commit(repository, name, accept)
        if kind == "matching-refs":
            return self._refs(repository, name, int(asked.get("page", 1)))
        if kind == "trees" and name in repository.trees:
            return _tree(repository, name, recursive="recursive" in asked)
        if kind == "blobs" and name in repository.blobs:
            return _blob(repository.blobs[name], name, accept)
        if kind == "tarball" and (sha := repository.resolve(name)):
            secret = "?token=passing" if repository.private else ""
            there = f"{_address(self._servers[1])}/{repository.full_name}/legacy.tar.gz/{sha}{secret}"
            return _Response(302, headers={"Location": there})
        return None

    def _refs(self, repository: GitHubRepository, prefix: str, page: int) -> _Response:
        names = sorted(name for name in repository.refs if name.startswith(f"refs/{prefix}"))
        shown = names[(page - 1) * _PER_PAGE : page * _PER_PAGE]
        response = _reply([{"ref": name, "object": {"sha": repository.refs[name]}} for name in shown])
        if len(names) > page * _PER_PAGE:
            there = f"{self.api_url}/repos/{repository.full_name}/git/matching-refs/{prefix}?page={page + 1}"
            response.headers["Link"] = f'<{there}>; rel="next"'
        return response

    def _archive(self, path: str) -> _Response:
        match = re.fullmatch(r"/([^/]+/[^/]+)/legacy\.tar\.gz/([0-9a-f]{40})(\?token=passing)?", path)
        repository = self._repositories.get(match[1].lower()) if match else None
        if match is None or repository is None or repository.private != bool(match[3]):
            return self._refuse(404, f"Not Found: {path}")
        return _Response(200, repository.tarball(match[2]), {"Content-Type": "application/x-gzip"})

    def _refuse(self, status: int, message: str) -> _Response:
        self.refused.append(message)
        return _failure(status, message.partition(":")[0])


def _commit(repository: GitHubRepository, ref: str, accept: str) -> _Response:
    sha = repository.resolve(ref)
    if sha is None:
        return _failure(422, f"No commit found for SHA: {ref}")
    if accept == "application/vnd.github.sha":
        return _Response(200, sha.encode(), {"Content-Type": accept, "ETag": f'"{sha}"'})
    return _reply({"sha": sha})


def _tree(repository: GitHubRepository, sha: str, *, recursive: bool) -> _Response:
    entries = repository.entries(sha, recursive=recursive)
    cut = entries[: repository.most_entries]
    return _reply({"sha": sha, "tree": cut, "truncated": len(cut) < len(entries)})


def _blob(raw: bytes, sha: str, accept: str) -> _Response:
    if accept == "application/vnd.github.raw+json":
        return _Response(200, raw, {"Content-Type": accept})
    return _reply({"sha": sha, "size": len(raw), "encoding": "base64", "content": base64.encodebytes(raw).decode()})


def _reply(value: object) -> _Response:
    return _Response(200, json.dumps(value).encode(), {"Content-Type": _JSON})


def _failure(status: int, message: str, **headers: str) -> _Response:
    return _Response(status, json.dumps({"message": message}).encode(), {"Content-Type": _JSON, **headers})


def _address(tcp: _Tcp) -> str:
    host, port = tcp.server_address[:2]
    return f"http://{host!s}:{port}"


class _Exchange(BaseHTTPRequestHandler):
    """One request and its response."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Tcp

    def do_GET(self) -> None:
        """Answer a request."""
        self.server.owner.answer(self, self.server)

    def send(self, response: _Response, fault: GitHubFault | None, closing: threading.Event) -> None:
        """Send a response, or as much of it as a fault leaves."""
        then = fault.then if fault is not None else ""
        body = bytes(byte ^ 1 for byte in response.body) if then == "damage" else response.body
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.close_connection = self.close_connection or then in ("cut", "hold", "drip")
        for piece in _pieces(body, then):
            self.wfile.write(piece)
            if then == "drip":
                closing.wait(0.05)
        if then == "hold":
            closing.wait()

    def log_message(self, *_: object) -> None:
        """Say nothing on the terminal."""


def _pieces(body: bytes, then: str) -> Iterator[bytes]:
    if then == "drip":
        yield from (body[at : at + 1] for at in range(len(body)))
    else:
        yield body[: len(body) // 2] if then in ("cut", "hold") else body


class _Tcp(socketserver.ThreadingTCPServer):
    """A thread for each connection. Those that wait for a client do not keep the tests waiting."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: GitHubServer) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.owner = owner
