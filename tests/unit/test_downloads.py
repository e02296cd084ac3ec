"""Files come whole over HTTP, or not at all."""

from __future__ import annotations

import re
import shutil
import socket
from hashlib import sha256
from pathlib import Path

import pytest

from openbook.downloads import Download, FetchedFile, PlannedFile
from openbook.errors import FetchError
from tests.model_server import COMMIT, ModelServer, Response

BODY = b"weights" * 1000
GRAPH = PlannedFile("model.onnx", ("onnx/model.onnx",), 1 << 20)


@pytest.fixture
def hub(model_server: ModelServer) -> ModelServer:
    model_server.add("ada/m", {"onnx/model.onnx": BODY})
    return model_server


def fetch(url: str, folder: Path, plan: PlannedFile = GRAPH) -> FetchedFile | None:
    with Download("ada/m", f"{url}/ada/m/resolve/{{revision}}", "main") as download:
        return download.fetch(plan, folder)


def refused(url: str, folder: Path) -> FetchError:
    with pytest.raises(FetchError, match="cannot read 'ada/m': ") as caught:
        fetch(url, folder)
    assert caught.value.hint
    return caught.value


def storage(hub: ModelServer) -> str:
    return next(path for path in hub.responses if path.startswith("/storage/"))


def test_file_behind_a_redirect_comes_whole_with_its_hash(hub: ModelServer, tmp_path: Path) -> None:
    found = fetch(hub.url, tmp_path)

    assert found == FetchedFile("model.onnx", "onnx/model.onnx", len(BODY), sha256(BODY).hexdigest())
    assert (tmp_path / "model.onnx").read_bytes() == BODY


def test_commit_is_asked_for_as_soon_as_it_is_known(hub: ModelServer, tmp_path: Path) -> None:
    with Download("ada/m", f"{hub.url}/ada/m/resolve/{{revision}}", "main") as download:
        download.fetch(GRAPH, tmp_path)
        assert download.revision == COMMIT


def test_optional_file_may_be_missing(hub: ModelServer, tmp_path: Path) -> None:
    assert fetch(hub.url, tmp_path, PlannedFile("config.json", ("config.json",), 10, is_optional=True)) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "is private"),
        (403, "is private"),
        (404, "there is no onnx/model.onnx"),
        (429, "answers 429"),
        (503, "answers 503"),
    ],
)
def test_host_that_refuses_is_told(hub: ModelServer, tmp_path: Path, status: int, words: str) -> None:
    hub.responses["/ada/m/resolve/main/onnx/model.onnx"] = Response(status=status)

    error = refused(hub.url, tmp_path)

    assert words in str(error)
    assert error.status == (None if status == 404 else status)


@pytest.mark.parametrize(("cut", "claimed_bytes"), [(True, None), (False, 2 * len(BODY))], ids=["cut", "too-few"])
def test_connection_that_breaks_off_is_told(
    hub: ModelServer, tmp_path: Path, *, cut: bool, claimed_bytes: int | None
) -> None:
    hub.responses[storage(hub)] = Response(BODY, cut=cut, claimed_bytes=claimed_bytes, headers={"Connection": "close"})

    assert "broke off" in str(refused(hub.url, tmp_path))


def test_damaged_file_is_told(hub: ModelServer, tmp_path: Path) -> None:
    hub.responses[storage(hub)] = Response(BODY[::-1])

    assert "model.onnx was corrupted during download" in str(refused(hub.url, tmp_path))


@pytest.mark.parametrize(
    "response", [Response(b"{}", claimed_bytes=1 << 40), Response(b" " * 1_100_000)], ids=["claimed", "sent"]
)
def test_file_that_is_too_large_is_told(hub: ModelServer, tmp_path: Path, response: Response) -> None:
    hub.responses[storage(hub)] = response

    assert "model.onnx is too large" in str(refused(hub.url, tmp_path))


def test_file_larger_than_the_free_space_is_told_before_it_is_fetched(
    hub: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)

    error = refused(hub.url, tmp_path)

    assert re.search(r"model\.onnx has \d+ bytes, and 10 are free", str(error))
    assert "OPENBOOK_HOME" in error.hint


def test_redirect_away_from_https_is_refused(hub: ModelServer, tmp_path: Path) -> None:
    hub.responses["/ada/m/resolve/main/onnx/model.onnx"] = Response(
        status=302, headers={"Location": "http://models.example.org/model.onnx"}
    )

    assert "redirects to plain http" in str(refused(hub.url, tmp_path))


def test_redirects_in_circles_are_told(hub: ModelServer, tmp_path: Path) -> None:
    path = "/ada/m/resolve/main/onnx/model.onnx"
    hub.responses[path] = Response(status=302, headers={"Location": path})

    assert "too many redirects" in str(refused(hub.url, tmp_path))


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_host_that_is_not_there_is_told(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    assert "no connection" in str(refused(f"http://127.0.0.1:{port}", tmp_path))
