"""A server whose uploads are on object storage, and what happens when that refuses, or the disk does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from openbook.server.failures import RequestRefusedError
from openbook.server.upload_bucket import UploadBucket
from tests.server.conftest import Serve
from tests.server.reading import finished


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """Return a folder that is the object storage."""
    (tmp_path / "storage").mkdir()
    return tmp_path / "storage"


def upload(client: TestClient, *names: str) -> None:
    files = [("files", (name, f"# {name}\n\nAbout {name}.\n".encode())) for name in names]
    outcome, _ = finished(client, client.post("/api/uploads", files=files).json()["job_id"])
    assert outcome == "done"


def away(*_: object) -> None:
    raise RequestRefusedError(503, "the upload storage does not respond", hint="try again")


def listed(client: TestClient) -> list[str]:
    sources = client.get("/api/sources").json()["sources"]
    return [file["name"] for source in sources for file in source["uploaded"]]


def test_a_source_whose_files_the_storage_does_not_delete_stays(
    serve: Serve, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(uploads=storage.as_uri())
    upload(client, "heron.md")
    with monkeypatch.context() as refusing:
        refusing.setattr(UploadBucket, "delete", away)
        refused = client.delete("/api/sources/uploads")
    still = listed(client)
    removed = client.delete("/api/sources/uploads")

    assert (refused.status_code, still) == (503, ["heron.md"])
    assert (removed.is_success, listed(client)) == (True, [])
    assert not [file for file in storage.rglob("*") if file.is_file()]


def test_a_server_starts_with_a_full_disk_and_lists_what_it_has(
    serve: Serve, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(serve(uploads=storage.as_uri()), "heron.md")

    def is_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(UploadBucket, "refresh", is_full)

    assert listed(serve(uploads=storage.as_uri())) == ["heron.md"]


def test_other_documents_get_the_usual_errors_while_the_storage_is_away(
    serve: Serve, folder: Path, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(uploads=storage.as_uri())
    upload(client, "heron.md")
    library = client.app.state.library  # type: ignore[attr-defined]
    with library.in_use() as assistant:
        source = next(root.name for root in assistant.sources() if root.location == str(folder.resolve()))
    path = next(file.name for file in folder.iterdir() if file.suffix == ".md")
    document = library.document_id(source, path)
    (folder / path).unlink()
    monkeypatch.setattr(UploadBucket, "refresh", away)

    assert client.get(f"/api/documents/{document}/original").status_code == 404
    assert client.delete(f"/api/documents/{document}").status_code == 403
    assert client.delete(f"/api/documents/{'0' * 32}").status_code == 404


def test_files_that_another_server_stores_during_a_start_are_not_removed(
    serve: Serve, storage: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(serve(uploads=storage.as_uri()), "heron.md", "osprey.md")
    refreshes = []
    real = UploadBucket.refresh

    def refresh(bucket: UploadBucket) -> None:
        real(bucket)
        refreshes.append(bucket)
        if len(refreshes) == 1:  # as if it had been stored just behind this moment
            next(home.rglob("osprey.md")).unlink()

    monkeypatch.setattr(UploadBucket, "refresh", refresh)
    client = serve(uploads=storage.as_uri())
    jobs = client.app.state.jobs  # type: ignore[attr-defined]
    until = time.monotonic() + 60
    while jobs.open() and time.monotonic() < until:
        time.sleep(0.02)
    documents = next(
        one["documents"] for one in client.get("/api/sources").json()["sources"] if one["name"] == "uploads"
    )

    assert documents == 2
