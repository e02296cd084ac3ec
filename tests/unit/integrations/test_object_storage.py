"""Asks a small server on this machine that speaks as much S3 as writing and deleting one object takes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal, cast

import pytest

from openbook.errors import LibraryWriteError
from openbook.integrations.lance_tables import LanceTables, check_conditional_writes, names_at
from tests.support import IDENTITY

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Kind = Literal["keeps", "overwrites", "refuses"]
Start = Callable[[Kind], "Bucket"]

_DENIED = b"<Error><Code>AccessDenied</Code><Message>not on a Sunday</Message></Error>"


class Bucket(ThreadingHTTPServer):
    """Object storage with an opinion of conditional writes."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.kind = kind
        self.objects: dict[str, bytes] = {}
        self.asked: list[tuple[str, str, str]] = []
        """Method, path and condition of each request."""
        self.listing = b""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        bucket, body = self._taken()
        exists = self.headers["If-None-Match"] == "*" and self.path in bucket.objects
        if bucket.kind == "refuses":
            self._answer(403, _DENIED)
        elif bucket.kind == "keeps" and exists:
            self._answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        else:
            bucket.objects[self.path] = body
            self._answer(200)

    def do_GET(self) -> None:
        bucket, _ = self._taken()
        self._answer(200, bucket.listing)

    def do_DELETE(self) -> None:
        bucket, _ = self._taken()
        bucket.objects.pop(self.path, None)
        self._answer(204)

    def do_POST(self) -> None:
        """Delete several objects, as `POST /bucket?delete` does."""
        bucket, body = self._taken()
        keys = re.findall("<Key>([^<]+)</Key>", body.decode())
        for key in keys:
            bucket.objects.pop(f"{self.path.removesuffix('?delete')}/{key}", None)
        told = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self._answer(200, f"<DeleteResult>{told}</DeleteResult>".encode())

    def _taken(self) -> tuple[Bucket, bytes]:
        bucket = cast("Bucket", self.server)
        bucket.asked.append((self.command, self.path, self.headers.get("If-None-Match", "")))
        return bucket, self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("ETag", '"1"')
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(kind: Kind) -> Iterator[Bucket]:
    bucket = Bucket(kind)
    thread = threading.Thread(target=bucket.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield bucket
    finally:
        bucket.shutdown()
        thread.join()
        bucket.server_close()


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start object storage of a kind, and have the environment lead there."""
    with ExitStack() as stack:

        def started(kind: Kind) -> Bucket:
            bucket = stack.enter_context(served(kind))
            monkeypatch.setenv("AWS_ENDPOINT", f"http://127.0.0.1:{bucket.server_port}")
            monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush-hush")
            monkeypatch.setenv("AWS_REGION", "us-east-1")
            return bucket

        yield started


def test_storage_that_keeps_what_is_there_is_taken_and_left_as_it_was(start: Start) -> None:
    bucket = start("keeps")
    bucket.objects["/notes/x/kept"] = b"kept"

    check_conditional_writes("s3://notes/x")

    written = [(path, condition) for command, path, condition in bucket.asked if command == "PUT"]
    assert len(written) == 2
    assert written[0] == written[1]
    assert written[0][0].startswith("/notes/x/openbook-probe-")
    assert written[0][1] == "*"
    assert bucket.objects == {"/notes/x/kept": b"kept"}


def test_no_two_probes_have_one_name(start: Start) -> None:
    bucket = start("keeps")

    check_conditional_writes("s3://notes/x")
    check_conditional_writes("s3://notes/x")

    assert len({path for command, path, _ in bucket.asked if command == "PUT"}) == 2


def test_storage_that_overwrites_is_refused_and_left_as_it_was(start: Start) -> None:
    bucket = start("overwrites")

    with pytest.raises(LibraryWriteError, match=r"'s3://notes/x' overwrites what it is told not to") as caught:
        check_conditional_writes("s3://notes/x")

    assert "If-None-Match" in caught.value.hint
    assert bucket.objects == {}


def test_storage_that_refuses_is_told_with_what_it_said_and_without_secrets(start: Start) -> None:
    start("refuses")

    with pytest.raises(LibraryWriteError, match="cannot write to 's3://notes/x'") as caught:
        check_conditional_writes("s3://notes/x")

    assert "403 Forbidden" in str(caught.value)
    assert "AccessDenied" in str(caught.value)
    assert "permissions" in caught.value.hint
    assert "hush-hush" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_library_is_not_made_on_storage_that_overwrites(start: Start) -> None:
    bucket = start("overwrites")
    bucket.listing = b"<ListBucketResult><Name>notes</Name><KeyCount>0</KeyCount></ListBucketResult>"

    with pytest.raises(LibraryWriteError, match="overwrites what it is told not to"):
        LanceTables("s3://notes/x/mine", IDENTITY, lock_timeout_s=1)

    assert bucket.objects == {}


def test_a_folder_by_address_keeps_what_is_there(tmp_path: Path) -> None:
    check_conditional_writes(tmp_path.as_uri())

    assert list(tmp_path.iterdir()) == []


def test_a_library_in_a_folder_by_address_is_made_and_found(tmp_path: Path) -> None:
    address = (tmp_path / "shared").as_uri()

    with closing(LanceTables(f"{address}/mine", IDENTITY, lock_timeout_s=1)):
        assert names_at(address) == ["mine"]

    assert sorted(file.name for file in (tmp_path / "shared").iterdir()) == ["mine.documents.lance", "mine.words.lance"]


@pytest.mark.parametrize("address", ["s3://", "ftp://notes/x"])
def test_an_address_that_leads_to_no_storage_is_an_error_of_ours(address: str) -> None:
    with pytest.raises(LibraryWriteError, match="cannot write to") as caught:
        check_conditional_writes(address)

    assert caught.value.hint
