"""Uploads on object storage: what one server does, all see, and a storage that is away loses nothing."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi import UploadFile

from openbook.errors import SettingsError
from openbook.server.failures import RequestRefusedError
from openbook.server.upload_bucket import UploadBucket
from openbook.server.uploads import UploadStore
from openbook.settings import Settings
from tests.object_storage import served_bucket

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with served_bucket(monkeypatch) as address:
        yield address


def server(home: Path, address: str, **settings: int) -> UploadStore:
    return UploadStore("library", Settings(home=home, uploads=address, **settings))  # type: ignore[arg-type]


def keep(uploads: UploadStore, *files: tuple[str, bytes], owner: str = "ada", course: bool = False) -> list[str]:
    sent = [(name, UploadFile(io.BytesIO(text), size=len(text), filename=name)) for name, text in files]
    return uploads.keep(sent, owner, course=course)


def written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def seen(uploads: UploadStore, *, course: bool = False) -> dict[str, bytes]:
    uploads.refresh()
    folder = uploads.folder(course=course)
    return {path: (folder / path).read_bytes() for path in uploads.files(folder)}


@pytest.mark.slow
def test_other_servers_see_stored_renamed_and_deleted_files(bucket: str, tmp_path: Path) -> None:
    one, other = (server(tmp_path / name, bucket) for name in ("one", "other"))

    kept = [keep(uploads, ("a (b).md", text)) for uploads, text in ((one, b"1"), (other, b"2"), (other, b"1"))]
    course = keep(one, ("01 Über+Hefe.txt", b"Yeast."), ("02 kneading.txt", b"Knead."), course=True)
    both = seen(other)
    other.remove(other.folder(), "a (b).md")
    other.refresh()
    other.forget(str(other.folder(course=True).resolve()))

    assert kept == [["a (b).md"], ["a (b) (2).md"], ["a (b).md"]]
    assert both == {"a (b).md": b"1", "a (b) (2).md": b"2"}
    assert course == ["Uploaded course/01 Über+Hefe.txt", "Uploaded course/02 kneading.txt"]
    assert (seen(one), seen(one, course=True)) == ({"a (b) (2).md": b"2"}, {})


@pytest.mark.slow
def test_a_copy_that_is_whole_is_not_read_again_and_a_changed_file_is(bucket: str, tmp_path: Path) -> None:
    one, other = (server(tmp_path / name, bucket) for name in ("one", "other"))
    keep(one, ("Knots.md", b"Rope."), course=True)
    seen(other, course=True)
    file = other.folder(course=True) / "Knots/Knots.md"
    number, modified = file.stat().st_ino, file.stat().st_mtime_ns

    seen(other, course=True)
    unread = file.stat().st_ino == number
    one.change(lambda: written(one.folder(course=True) / "Knots/course.toml", "title = 'Knots'\n"))

    assert unread
    assert modified == (one.folder(course=True) / "Knots/Knots.md").stat().st_mtime_ns  # so the index takes it as read
    assert seen(other, course=True) == seen(one, course=True) == {
        "Knots/Knots.md": b"Rope.",
        "Knots/course.toml": b"title = 'Knots'\n",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("course", [False, True])
def test_files_of_one_name_that_arrive_at_two_servers_at_once_are_both_kept(
    bucket: str, tmp_path: Path, course: bool
) -> None:
    servers = [server(tmp_path / name, bucket) for name in ("one", "other")]
    together = threading.Barrier(2)

    def send(number: int) -> list[str]:
        kept = []
        for turn in range(4):
            files = [
                (f"0{part} of {number}.md" if course else f"{part}.md", f"{number} {turn} {part}".encode())
                for part in (1, 2)
            ]
            together.wait(60)
            kept += keep(servers[number], *files, owner=f"owner {number}", course=course)
        return kept

    with ThreadPoolExecutor(2) as threads:
        kept = list(threads.map(send, range(2)))

    found = seen(servers[0], course=course)
    assert sorted(found.values()) == sorted(
        f"{n} {turn} {part}".encode() for n in (0, 1) for turn in range(4) for part in (1, 2)
    )
    assert found == seen(servers[1], course=course)
    if course:
        folders = [{path.partition("/")[0] for path in paths} for paths in kept]
        assert [len(each) for each in folders] == [4, 4]
        assert folders[0].isdisjoint(folders[1])
    used = [UploadBucket(bucket, "library", tmp_path).used_bytes(f"owner {number}") for number in range(2)]
    assert used == [sum(len(text) for text in found.values() if text.startswith(b"%d" % n)) for n in (0, 1)]


@pytest.mark.slow
def test_the_limit_of_an_owner_counts_at_all_servers_together(bucket: str, tmp_path: Path) -> None:
    one, other = (server(tmp_path / name, bucket, key_upload_bytes=10) for name in ("one", "other"))
    keep(one, ("a.md", b"12345678"))

    with pytest.raises(RequestRefusedError, match="your uploads have 8 bytes, and may have 10") as caught:
        keep(other, ("b.md", b"123"))
    other.remove(other.folder(), "a.md")

    assert caught.value.status == 413
    assert keep(other, ("c.md", b"1234567890"), owner="ada") == ["c.md"]


@pytest.mark.slow
def test_an_unreachable_storage_is_an_error_and_the_copy_stays(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(server(tmp_path, bucket), ("a.md", b"one"))
    with monkeypatch.context() as away:
        away.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
        uploads = server(tmp_path, bucket)
        refused = []
        for change in (
            lambda: keep(uploads, ("b.md", b"two")),
            lambda: uploads.remove(uploads.folder(), "a.md"),
            lambda: uploads.forget(str(uploads.folder().resolve())),
        ):
            with pytest.raises(RequestRefusedError, match="the upload storage does not respond") as caught:
                change()
            refused.append((caught.value.status, bool(caught.value.hint)))
        still = uploads.files(uploads.folder())

    assert (refused, still) == ([(503, True)] * 3, ["a.md"])
    assert seen(server(tmp_path / "other", bucket)) == {"a.md": b"one"}


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """Return a folder that is the object storage."""
    (tmp_path / "storage").mkdir()
    return tmp_path / "storage"


@pytest.mark.slow
def test_a_changed_file_is_stored_though_others_list_meanwhile(storage: Path, tmp_path: Path) -> None:
    uploads = server(tmp_path / "home", storage.as_uri())
    keep(uploads, ("Knots.md", b"Rope."), course=True)
    listing = threading.Thread(target=uploads.refresh)

    def write() -> Path:
        file = written(uploads.folder(course=True) / "Knots/course.toml", "title = 'Knots'\n")
        listing.start()
        listing.join(0.5)  # it would delete a file that is not stored
        return file

    uploads.change(write)
    listing.join(60)

    assert sorted(seen(uploads, course=True)) == ["Knots/Knots.md", "Knots/course.toml"]
    assert (storage / "library/files/uploaded courses/Knots/course.toml").read_text("utf-8") == "title = 'Knots'\n"


def is_called(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.mark.slow
def test_listings_wait_neither_for_a_storage_without_reply_nor_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host, port = silent.getsockname()
        for name, value in {"ENDPOINT": f"http://{host}:{port}", "ALLOW_HTTP": "true", "REGION": "us-east-1"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tester")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
        uploads = server(tmp_path, "s3://bucket/notes")
        started = time.monotonic()
        first = threading.Thread(target=uploads.refresh_for_listing)
        first.start()
        with silent.accept()[0]:
            uploads.refresh_for_listing()  # another asks at this moment
            waits_for_another = not first.is_alive()
            first.join(60)
        first_s = time.monotonic() - started
        while is_called(silent):  # by the tries of the first
            pass
        uploads.refresh_for_listing()  # it was away just now
        asks_again = is_called(silent)

    assert 1 < first_s < 20  # the client would wait for 30 s alone
    assert not waits_for_another
    assert not asks_again


def test_a_listing_asks_again_when_some_seconds_have_passed(storage: Path, tmp_path: Path) -> None:
    now = [100.0]
    one = server(tmp_path / "one", storage.as_uri())
    settings = Settings(home=tmp_path / "other", uploads=storage.as_uri())
    other = UploadStore("library", settings, clock=lambda: now[0])
    other.refresh_for_listing()
    keep(one, ("a.md", b"one"))
    other.refresh_for_listing()
    at_once = other.files(other.folder())
    now[0] += 3

    other.refresh_for_listing()

    assert (at_once, other.files(other.folder())) == ([], ["a.md"])


def test_a_disk_that_does_not_take_the_copy_is_told(storage: Path, tmp_path: Path) -> None:
    keep(server(tmp_path / "one", storage.as_uri()), ("a.md", b"one"))
    written(tmp_path / "home", "no folder")

    with pytest.raises(RequestRefusedError, match="the copy of the uploads cannot be kept") as caught:
        server(tmp_path / "home", storage.as_uri()).refresh()

    assert caught.value.status == 507


def test_objects_of_other_programs_do_not_stop_an_upload(storage: Path, tmp_path: Path) -> None:
    (storage / "library/files/uploaded courses/Knots").mkdir(parents=True)
    (storage / "library/files/uploaded courses/Knots/.DS_Store").write_bytes(b"x")

    assert keep(server(tmp_path / "home", storage.as_uri()), ("Knots.md", b"Rope."), course=True) == ["Knots/Knots.md"]


@pytest.mark.slow
def test_an_upload_that_others_are_always_before_ends(
    storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads = server(tmp_path / "home", storage.as_uri())
    monkeypatch.setattr(UploadBucket, "put", lambda *_: False)

    with pytest.raises(RequestRefusedError, match="other uploads with these names are in progress") as caught:
        keep(uploads, ("a.md", b"one"))

    assert (caught.value.status, uploads.files(uploads.folder())) == (503, [])


def test_errors_of_the_storage_are_logged_without_query_strings_and_not_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "tester")
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")

    with pytest.raises(RequestRefusedError) as caught:
        server(tmp_path, "s3://bucket/notes").refresh()

    assert str(caught.value) == "the upload storage does not respond"
    assert "http://127.0.0.1:9/bucket" in caplog.text
    assert "list-type" not in caplog.text


def test_an_invalid_storage_address_is_reported_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'ftp://notes' cannot be used for uploads") as caught:
        server(tmp_path, "ftp://notes")

    assert "OPENBOOK_UPLOADS" in caught.value.hint
