"""Readiness: whether a load balancer may send questions to a server."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from openbook.library import Library
from openbook.server.app import create_app
from openbook.settings import Settings
from tests.server.conftest import Serve

_PAGE_BYTES = 4096


def test_a_server_is_not_ready_while_its_library_is_damaged_and_says_how_to_make_it_again(
    serve: Serve, home: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = serve(needs_key=True)
    before = client.get("/readyz")
    (file,) = (home / "libraries").glob("*.sqlite")
    sound = file.read_bytes()

    # In place, beyond the first page: the file is not replaced, and its counts stay in the cache.
    with file.open("r+b") as opened, caplog.at_level(logging.WARNING):
        opened.seek(_PAGE_BYTES)
        opened.write(b"\xff" * (len(sound) - _PAGE_BYTES))
        opened.flush()
        damaged = client.get("/readyz")
    file.unlink()
    Library.of(folder, settings=Settings(home=home, workers=1)).close()
    again = client.get("/readyz")

    assert (before.status_code, again.status_code, before.json()) == (200, 200, again.json())
    assert (damaged.status_code, damaged.json()["error"]["message"]) == (503, f"the library {file.stem!r} is damaged")
    assert f"openbook add --rebuild --library {file.stem} " in damaged.json()["error"]["hint"]
    assert str(home) not in damaged.text
    assert str(file) in caplog.records[-1].__dict__["reason"]  # the log has the whole message


def test_a_server_is_not_ready_before_anything_was_added_to_its_library_and_stays_ready_when_that_is_removed(
    folder: Path, home: Path
) -> None:
    settings = Settings(home=home, workers=1)
    with TestClient(create_app(Library.open("team", settings=settings)), base_url="http://localhost") as client:
        early = client.get("/readyz")
        with Library.open("team", settings=settings) as job:
            job.register(folder)
            registered = client.get("/readyz")
            job.add(folder)
            filled = client.get("/readyz")
            job.remove(job.sources()[0].name)
        emptied = client.get("/readyz")

    assert [each.status_code for each in (early, registered, filled, emptied)] == [503, 503, 200, 200]
    assert early.json()["error"]["hint"] == "fill it: openbook add PATH --library team"
    assert (filled.json()["documents"], emptied.json()["documents"]) == (3, 0)


def test_metrics_tell_of_the_documents_of_the_library_its_last_change_and_what_is_not_in_it(
    serve: Serve, folder: Path
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    client = serve()

    counted = client.get("/metrics").text

    assert "openbook_library_documents 3.0" in counted
    assert 'openbook_library_unread_files{reason="damaged"} 1.0' in counted
    (changed,) = [line for line in counted.splitlines() if line.startswith("openbook_library_changed_timestamp_s")]
    assert abs(float(changed.split()[1]) - folder.stat().st_mtime) < 3600.0
