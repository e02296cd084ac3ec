"""Servers whose library is in LanceDB, where other machines use it too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from openbook.library import Library
from openbook.settings import Settings
from tests.object_storage import served_bucket
from tests.server.conftest import Serve
from tests.server.reading import ask, finished
from tests.support import write_tree


def upload(client: TestClient, name: str, text: str) -> None:
    reply = client.post("/api/uploads", files=[("files", (name, text.encode()))])
    outcome, _ = finished(client, reply.json()["job_id"])
    assert outcome == "done"


@pytest.mark.slow
def test_a_server_asks_and_fills_a_library_of_several_machines(serve: Serve, tmp_path: Path) -> None:
    client = serve(storage=f"lance:{tmp_path / 'shared'}")

    answer = ask(client, "When do sessions end?")
    sources = client.get("/api/sources").json()
    upload(client, "heron.md", "# Heron\n\nThe heron stands in the reeds.\n")

    assert "after one hour" in answer["answer"]
    assert {citation["verdict"] for citation in answer["citations"]} == {"exact"}
    assert sources["writable"]
    assert "reeds" in ask(client, "Where does the heron stand?")["answer"]


@pytest.fixture(params=["folder", "bucket"])
def uploads(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return where servers keep uploads together."""
    if request.param == "folder":
        (tmp_path / "disk").mkdir()
        yield str(tmp_path / "disk")
    else:
        with served_bucket(monkeypatch) as address:
            yield address


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_uploads_to_one_server_are_found_opened_and_deleted_at_another(
    serve: Serve, home: Path, tmp_path: Path, uploads: str
) -> None:
    shared = {"storage": f"lance:{tmp_path / 'shared'}", "uploads": uploads}
    one = serve(**shared)
    upload(one, "heron.md", "# Heron\n\nThe heron stands in the reeds.\n")
    home.rename(tmp_path / "home-of-the-first")

    other = serve(**shared)
    upload(other, "osprey.md", "# Osprey\n\nThe osprey dives for perch.\n")
    found = ask(other, "Where does the heron stand?")["citations"][0]
    original = other.get(f"/api/documents/{found['document_id']}/original")
    before = listed(other)
    removed = other.delete(f"/api/documents/{found['document_id']}")
    outcome, _ = finished(other, removed.json()["job_id"])

    assert (found["path"], outcome) == ("heron.md", "done")
    assert original.content == b"# Heron\n\nThe heron stands in the reeds.\n"
    assert (before, listed(other)) == (["heron.md", "osprey.md"], ["osprey.md"])
    assert ask(other, "Where does the heron stand?")["refused"]
    assert "perch" in ask(other, "What does the osprey dive for?")["answer"]


def listed(client: TestClient) -> list[str]:
    sources = client.get("/api/sources").json()["sources"]
    return [file["name"] for source in sources for file in source["uploaded"]]


@pytest.mark.slow
def test_uploads_of_two_machines_whose_homes_have_one_path_are_two_sources(
    serve: Serve, home: Path, tmp_path: Path
) -> None:
    shared = f"lance:{tmp_path / 'shared'}"
    upload(serve(storage=shared), "heron.md", "# Heron\n\nThe heron stands in the reeds.\n")
    home.rename(tmp_path / "home-of-the-first")

    other = serve(storage=shared)
    upload(other, "osprey.md", "# Osprey\n\nThe osprey dives for perch.\n")

    assert "reeds" in ask(other, "Where does the heron stand?")["answer"]
    assert "perch" in ask(other, "What does the osprey dive for?")["answer"]


@pytest.mark.slow
def test_a_folder_that_another_machine_left_unfinished_is_not_finished_here(
    serve: Serve, folder: Path, tmp_path: Path
) -> None:
    storage = f"lance:{tmp_path / 'shared'}"
    serve(storage=storage)
    write_tree(folder / "annex", {"tides.md": "# Tides\n\nThe tide turns at noon.\n"})
    with Library.open("team", settings=Settings(home=tmp_path / "there", storage=storage)) as library:
        library.register(folder / "annex")

    again = serve(storage=storage)

    assert again.app.state.jobs.all() == []  # type: ignore[attr-defined]
