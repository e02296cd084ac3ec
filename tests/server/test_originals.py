"""Files of documents as they were read, and pages of PDF as pictures."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path
from threading import Event, Thread

import pytest
from fastapi.testclient import TestClient

from openbook.library import Library
from openbook.server.failures import RequestRefusedError
from openbook.server.originals import Originals, _boxes, page_of
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from openbook.sources.readers.pdf_picture import PageJob
from openbook.types import Anchor, Document
from tests.children import run_child
from tests.server.conftest import Serve
from tests.server.reading import ask

# As long as a token, in two pieces, so that nobody takes it for one.
MADE_UP = "16C7e42F292c6912E7" + "710c838347Ae178B4a"

PDF = Path(__file__).parents[2] / "examples" / "formats" / "tides.pdf"


@pytest.fixture
def client(serve: Serve, folder: Path) -> TestClient:
    shutil.copy(PDF, folder / "tides.pdf")
    (folder / "keys.md").write_text(f"# Keys\n\nThe pier key is ghp_{MADE_UP}.\n", encoding="utf-8")
    return serve()


def cited(client: TestClient, query: str) -> tuple[str, dict[str, int]]:
    citation = ask(client, query)["citations"][0]
    return f"/api/documents/{citation['document_id']}", {name: citation[name] for name in ("start_char", "end_char")}


@pytest.mark.slow
def test_a_page_of_a_pdf_is_a_picture_and_its_file_can_be_downloaded(client: TestClient) -> None:
    route, span = cited(client, "How long does a lunar day last?")

    shown = client.get(route, params=span).json()
    picture = client.get(f"{route}/pages/{shown['page']}", params=span)
    plain = client.get(f"{route}/pages/{shown['page']}")
    original = client.get(f"{route}/original")

    assert (shown["page"], shown["pages"] >= 3) == (2, True)
    assert picture.headers["content-type"] == "image/png"
    assert picture.content != plain.content
    assert original.content == PDF.read_bytes()
    assert original.headers["content-disposition"] == "attachment; filename*=UTF-8''tides.pdf"
    assert client.get(f"{route}/pages/99").status_code == 404
    assert client.get(f"/api/documents/{'0' * 32}/original").status_code == 404


@pytest.mark.slow
def test_an_attached_pdf_has_pages_and_an_original_too(serve: Serve, folder: Path) -> None:
    message = EmailMessage()
    message["Subject"] = "Tides"
    message.set_content("See the slides.")
    message.add_attachment(PDF.read_bytes(), maintype="application", subtype="pdf", filename="slides.pdf")
    (folder / "mail.eml").write_bytes(bytes(message))
    client = serve()
    route, span = cited(client, "How long does a lunar day last?")

    shown = client.get(route, params=span).json()

    assert (shown["path"], shown["page"], shown["original"]) == ("mail.eml/slides.pdf", 2, True)
    assert client.get(f"{route}/pages/2").headers["content-type"] == "image/png"
    assert client.get(f"{route}/original").content == PDF.read_bytes()
    (folder / "mail.eml").write_bytes(b"Subject: Tides\n\nNo slides.\n")
    assert client.get(f"{route}/original").status_code == 404


@pytest.mark.slow
def test_what_was_recognized_on_a_scanned_page_is_marked_in_its_box(client: TestClient) -> None:
    anchors = (Anchor(0, "p. 1"), Anchor(10, "p. 2 box 72,90,300,130"), Anchor(30, "p. 2 box 72,200,300,240"))
    scan = Document("s", "scan.pdf", "docs", "pdf", "x" * 50, "", anchors=anchors)

    assert [page_of(scan, offset) for offset in (0, 12, 49)] == [1, 2, 2]
    assert list(_boxes(scan, 2, 12, 29)) == [(72, 90, 300, 130)]
    assert list(_boxes(scan, 2, 0, 50)) == [(72, 90, 300, 130), (72, 200, 300, 240)]
    assert list(_boxes(scan, 1, 0, 50)) == []


@pytest.mark.slow
def test_other_formats_have_an_original_but_no_pages(client: TestClient) -> None:
    route, span = cited(client, "When do sessions end?")

    assert client.get(route, params=span).json()["page"] == 0
    assert client.get(f"{route}/pages/1").status_code == 404
    assert client.get(f"{route}/original").content.startswith(b"# Sessions")


@pytest.mark.slow
def test_a_file_with_secrets_that_has_changed_or_is_gone_is_not_sent(client: TestClient, folder: Path) -> None:
    keys, guide = cited(client, "What is the pier key?")[0], cited(client, "When do sessions end?")[0]

    assert "secrets were masked" in client.get(f"{keys}/original").text
    (folder / "guide.md").write_text("# Sessions\n\nNever said before.\n", encoding="utf-8")
    assert "has changed" in client.get(f"{guide}/original").text
    (folder / "guide.md").unlink()
    assert "cannot be read" in client.get(f"{guide}/original").text
    shutil.rmtree(folder)
    assert "not on this machine" in client.get(f"{guide}/original").text


@pytest.mark.slow
def test_strangers_get_no_file_where_a_key_is_needed(client: TestClient, serve: Serve) -> None:
    route, _ = cited(client, "When do sessions end?")
    strict = serve(needs_key=True)

    assert {strict.get(f"{route}/{what}").status_code for what in ("original", "pages/1")} == {401}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ServedLibrary]:
    with closing(ServedLibrary(Library.of(PDF, settings=Settings(home=tmp_path / "home", workers=1)))) as served:
        yield served


def has_in_a_closed_folder(tree: str, home: str) -> bool:
    """Return whether a document has its file while the folder of its source is closed."""
    with closing(ServedLibrary(Library.of(tree, settings=Settings(home=Path(home), workers=1)))) as served:
        with served.in_use() as assistant:
            document = assistant.index.document(assistant.sources()[0].name, "tides.md")
        assert document is not None
        Path(tree).chmod(0o000)
        try:
            return Originals(served).has(document)
        finally:
            Path(tree).chmod(0o700)


@pytest.mark.slow
def test_a_file_in_a_folder_that_cannot_be_read_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "tides.md").write_text("# Tides\n\nThey turn twice a day.\n", encoding="utf-8")

    assert run_child(has_in_a_closed_folder, tmp_path / "tree", tmp_path / "home", unprivileged=True) == "False"


def never_end(job: PageJob) -> bytes:
    Event().wait(60)
    return b""


@pytest.mark.slow
def test_a_slow_page_fails_and_the_next_one_is_rendered(library: ServedLibrary) -> None:
    with library.in_use() as assistant:
        document = assistant.index.document(assistant.sources()[0].name, "tides.pdf")
    assert document is not None
    hasty = Originals(library, timeout_s=0.0, draw=never_end)
    patient = Originals(library, max_wait_s=0.0)

    with pytest.raises(RequestRefusedError, match="cannot be drawn") as refused:
        hasty.page(document, 1, 0, 0)
    assert refused.value.status == 503
    hasty.close()
    begun = Event()

    def draw() -> None:
        with patient._process._lock:  # as another page has it
            begun.set()
            done.wait(60)

    done = Event()
    other = Thread(target=draw)
    other.start()
    begun.wait(60)
    with pytest.raises(RequestRefusedError, match="other pages are being rendered"):
        patient.page(document, 1, 0, 0)
    done.set()
    other.join()
    assert patient.page(document, 1, 0, 0).startswith(b"\x89PNG")
    patient.close()
