"""What the library holds over HTTP: sources, uploads, courses, documents, suggestions, and work in the background."""

from __future__ import annotations

import concurrent.futures
import os
import sqlite3
import tempfile
import threading
import time
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from openbook.ingest.sync import Progress
from tests.server.conftest import Serve
from tests.server.reading import ask, finished
from tests.support import write_tree


def upload(client: TestClient, *files: tuple[str, bytes], **fields: str) -> Any:
    return client.post("/api/uploads", files=[("files", file) for file in files], data=fields)


def test_courses_have_what_clients_of_the_seed_read_and_their_lessons(client: TestClient) -> None:
    reply = client.get("/api/courses").json()

    assert (reply["total_courses"], reply["course_titles"]) == (1, ["Working at the Quay"])
    (course,) = reply["courses"]
    assert (course["instructor"], course["link"]) == ("Runa Holm", "https://harbour.example/quay")
    assert [(lesson["number"], lesson["title"]) for lesson in course["lessons"]] == [(0, "Welcome"), (1, "Lifting")]


def test_suggested_questions_are_answered(client: TestClient) -> None:
    questions = client.get("/api/suggestions").json()["questions"]

    assert questions == [
        "What does lesson 0 of the course “Working at the Quay” teach?",
        "What can you tell me about Sessions?",
        "What does Ferry do?",
        "What can you tell me about retries?",
    ]
    assert [ask(client, question)["citations"][0]["path"] for question in questions] == [
        "quay.txt",
        "guide.md",
        "ferry.py",
        "guide.md",
    ]


def test_a_source_is_shown_without_its_place_on_the_machine(client: TestClient, folder: Path) -> None:
    (source,) = client.get("/api/sources").json()["sources"]

    assert (source["name"], source["kind"], source["documents"], source["state"]) == ("harbour", "folder", 3, "ready")
    assert str(folder.parent) not in str(source)


def test_a_folder_below_an_allowed_one_is_added_in_the_background_and_removed(client: TestClient, folder: Path) -> None:
    write_tree(folder / "annex", {"tides.md": "# Tides\n\nThe tide turns at noon.\n"})

    accepted = client.post("/api/sources", json={"path": str(folder / "annex")})
    name, value = finished(client, accepted.json()["job_id"])
    found = ask(client, "When does the tide turn?")
    removed = client.delete("/api/sources/annex")

    assert (accepted.status_code, accepted.json()["source"]) == (202, "annex")
    assert (name, value["report"]["added"]) == ("done", 1)
    assert found["citations"][0]["source"] == "annex"
    assert (removed.status_code, client.delete("/api/sources/annex").status_code) == (204, 404)
    assert (folder / "annex" / "tides.md").exists()


def test_a_folder_whose_indexing_a_killed_server_left_unfinished_is_finished_by_the_next_one(
    client: TestClient, serve: Serve, folder: Path
) -> None:
    write_tree(folder / "annex", {"tides.md": "# Tides\n\nThe tide turns at noon.\n"})
    with client.app.state.library.opened_anew() as library:  # type: ignore[attr-defined]
        library.register(folder / "annex")  # all that a server had done when it was killed

    (before,) = [each for each in client.get("/api/sources").json()["sources"] if each["name"] == "annex"]
    again = serve()
    concurrent.futures.wait([job.doing for job in again.app.state.jobs.all()])  # type: ignore[attr-defined]
    (after,) = [each for each in again.get("/api/sources").json()["sources"] if each["name"] == "annex"]

    assert (before["state"], before["documents"]) == ("indexing", 0)
    assert (after["state"], after["documents"]) == ("ready", 1)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"path": "/etc"}, 403, id="a folder elsewhere"),
        pytest.param({"path": "{folder}/../secrets"}, 403, id="a way out"),
        pytest.param({"path": "{folder}/link"}, 403, id="a link out"),
        pytest.param({"path": "{folder}/nothing"}, 400, id="nothing there"),
        pytest.param({"path": "\x00"}, 403, id="no path"),
        pytest.param({"url": "https://evil.example/o/r"}, 403, id="a host that is not allowed"),
        pytest.param({"url": "git@github.com:o/r.git"}, 403, id="by SSH"),
        pytest.param({"url": "file:///etc"}, 400, id="a file"),
        pytest.param({"url": "--upload-pack=x"}, 400, id="an option"),
        pytest.param({}, 400, id="neither"),
        pytest.param({"path": "a", "url": "o/r"}, 400, id="both"),
    ],
)
def test_no_source_comes_from_where_it_may_not(
    client: TestClient, folder: Path, body: dict[str, str], status: int
) -> None:
    (folder / "link").symlink_to("/etc")

    response = client.post(
        "/api/sources", json={name: value.replace("{folder}", str(folder)) for name, value in body.items()}
    )

    assert response.status_code == status, response.text
    assert response.json()["error"]["hint"]
    assert str(folder.parent) not in response.text
    assert len(client.get("/api/sources").json()["sources"]) == 1


def test_an_allowed_folder_may_be_named_below_the_home_of_the_user(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    notes = write_tree(tmp_path / "notes", {"heron.md": "# Heron\n\nThe heron stands in the reeds.\n"})
    client = serve(server_roots=("~/notes",))

    response = client.post("/api/sources", json={"path": str(notes)})

    assert response.status_code == 202


def test_the_hint_on_addresses_is_not_masked(client: TestClient) -> None:
    response = client.post("/api/sources", json={"url": "ftp://host/x"})

    assert response.json()["error"]["hint"].startswith("write owner/repo, 'https://HOST/owner/repo', or")


def test_an_uploaded_file_can_be_asked_about_and_goes_with_its_source(client: TestClient, home: Path) -> None:
    reply = upload(client, ("../../notes/zebra.md", b"# Zebra\n\nThe zebra sleeps standing.\n"))
    name, _ = finished(client, reply.json()["job_id"])

    found = ask(client, "How does the zebra sleep?")
    kept = list((home / "uploads").rglob("*.md"))
    client.delete("/api/sources/uploads")

    assert (reply.status_code, reply.json()["accepted"], name) == (202, ["zebra.md"], "done")
    assert found["citations"][0]["source"] == "uploads"
    assert (found["citations"][0]["path"], [file.name for file in kept]) == ("zebra.md", ["zebra.md"])
    assert list((home / "uploads").rglob("*.md")) == []


def test_a_source_that_is_removed_while_it_is_read_does_not_come_back(serve: Serve, folder: Path) -> None:
    client = serve(server_jobs=1)
    write_tree(folder / "annex", {"tides.md": "# Tides\n\nThe tide turns at noon.\n"})
    may_go_on = threading.Event()
    before = client.app.state.jobs.start("", "", lambda _: {"waited": may_go_on.wait(30)})  # type: ignore[attr-defined]
    job_id = client.post("/api/sources", json={"path": str(folder / "annex")}).json()["job_id"]

    removed = client.delete("/api/sources/annex")
    may_go_on.set()
    concurrent.futures.wait([before.doing])
    finished(client, upload(client, ("a.md", b"# A")).json()["job_id"])

    assert removed.status_code == 204
    assert finished(client, job_id) == ("error", {"message": "its source was removed", "hint": ""})
    assert [source["name"] for source in client.get("/api/sources").json()["sources"]] == ["harbour", "uploads"]


def test_an_upload_that_comes_while_its_source_is_removed_is_kept_and_what_was_deleted_is_not(
    client: TestClient,
) -> None:
    finished(client, upload(client, ("old.md", b"# Zebra\n\nThe zebra sleeps standing.\n")).json()["job_id"])
    may_go_on = threading.Event()
    jobs = client.app.state.jobs  # type: ignore[attr-defined]
    holding = jobs.start("", "uploads", lambda _: {"waited": may_go_on.wait(30)})

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        removing = threads.submit(client.delete, "/api/sources/uploads")
        while not holding.why_stopped:
            time.sleep(0.01)
        uploading = threads.submit(upload, client, ("new.md", b"# Okapi\n\nThe okapi sleeps lying.\n"))
        concurrent.futures.wait([uploading], timeout=0.3)  # it has to wait for the removal
        may_go_on.set()
    ended, _ = finished(client, uploading.result().json()["job_id"])

    assert (removing.result().status_code, uploading.result().status_code, ended) == (204, 202, "done")
    assert ask(client, "How does the okapi sleep?")["citations"][0]["path"] == "new.md"
    assert "standing" not in str(ask(client, "How does the zebra sleep?")["answer"])
    [uploads] = [each for each in client.get("/api/sources").json()["sources"] if each["name"] == "uploads"]
    assert [each["name"] for each in uploads["uploaded"]] == ["new.md"]


def test_an_answer_warns_while_sources_are_indexed_that_it_may_be_incomplete(client: TestClient) -> None:
    may_go_on, has_begun = threading.Event(), threading.Event()

    def index(progress: Progress) -> dict[str, Any]:
        progress(3, 1200)
        has_begun.set()
        return {"waited": may_go_on.wait(30)}

    job = client.app.state.jobs.start("", "docs", index)  # type: ignore[attr-defined]
    has_begun.wait(30)
    meanwhile = ask(client, "How does the zebra sleep?")
    elsewhere = ask(client, "When do sessions end?", filters={"sources": ["harbour"]})
    may_go_on.set()
    concurrent.futures.wait([job.doing])

    assert meanwhile["warning"] == "indexed 3 of 1,200 new and changed files: what is found may be incomplete"
    assert elsewhere["warning"] == ""
    assert ask(client, "How does the zebra sleep?")["warning"] == ""


def test_a_job_can_be_cancelled_by_its_owner_alone(client: TestClient) -> None:
    mine = upload(client, ("a.md", b"# A\n\nWords.\n")).json()["job_id"]
    finished(client, mine)
    may_go_on = threading.Event()
    other = client.app.state.jobs.start(  # type: ignore[attr-defined]
        "somebody", "docs", lambda _: {"waited": may_go_on.wait(30)}
    )

    replies = [client.delete(f"/api/jobs/{job_id}").status_code for job_id in (mine, other.id)]
    may_go_on.set()

    assert replies == [204, 404]
    assert client.get(f"/api/jobs/{mine}").json()["state"] == "done"  # it had ended before


def test_an_upload_beyond_the_quota_of_its_owner_is_refused_with_a_hint(serve: Serve) -> None:
    client = serve(key_upload_bytes=30)
    finished(client, upload(client, ("a.md", b"# Zebra\n\nIt sleeps.\n")).json()["job_id"])

    refused = upload(client, ("b.md", b"# Okapi\n\nIt sleeps.\n"))

    assert (refused.status_code, refused.json()["error"]["hint"]) == (413, "delete some of them, or send less")


def test_a_library_on_a_read_only_disk_is_reported(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    before = client.get("/api/sources").json()["writable"]
    monkeypatch.setattr("os.access", lambda *_: False)

    assert (before, client.get("/api/sources").json()["writable"]) == (True, False)


def test_an_upload_that_the_library_does_not_take_is_not_kept(client: TestClient, home: Path) -> None:
    (library,) = (home / "libraries").glob("*.sqlite")
    with closing(sqlite3.connect(library)) as disk:
        disk.execute("CREATE TRIGGER full BEFORE INSERT ON roots BEGIN SELECT RAISE(ABORT, 'disk is full'); END")

    response = upload(client, ("a.md", b"# A"))

    assert response.status_code >= 500
    assert [path for path in (home / "uploads").rglob("*") if path.is_file()] == []


def test_a_disk_that_is_full_while_an_upload_comes_is_told(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")  # what is larger than 1 MB is kept there while it comes

    response = upload(client, ("a.md", b"a" * 2**21))

    assert response.status_code == 507
    assert response.json()["error"]["hint"] == "nothing was stored; free some space"


def test_one_uploaded_file_is_removed_and_no_other_file_can_be(client: TestClient, home: Path, folder: Path) -> None:
    finished(
        client, upload(client, ("a.md", b"# Zebra\n\nThe zebra sleeps standing.\n"), ("b.md", b"# B")).json()["job_id"]
    )
    *_, uploads = client.get("/api/sources").json()["sources"]
    ids = {file["name"]: file["document_id"] for file in uploads["uploaded"]}
    (citation,) = ask(client, "When do sessions end?")["citations"]

    removed = client.delete(f"/api/documents/{ids['a.md']}")
    finished(client, removed.json()["job_id"])
    refused = [client.delete(f"/api/documents/{id_}").status_code for id_ in (citation["document_id"], "0" * 32)]

    again = client.delete(f"/api/documents/{ids['a.md']}")

    assert (removed.status_code, refused) == (202, [403, 404])
    assert (again.status_code, again.json()["error"]["hint"]) == (404, "it may have been removed already")
    assert ask(client, "How does the zebra sleep?")["refused"]
    assert [file.name for file in (home / "uploads").rglob("*.md")] == ["b.md"]
    assert (folder / "guide.md").exists()


def test_uploaded_course_material_is_a_course(client: TestClient) -> None:
    text = b"Course Title: Knots\n\nLesson 1: Bowline\nThe rabbit leaves the hole.\n"

    finished(client, upload(client, ("knots.txt", text), course="true").json()["job_id"])

    assert "Knots" in client.get("/api/courses").json()["course_titles"]


def test_each_upload_of_lessons_is_a_course_with_their_numbers_and_titles(client: TestClient) -> None:
    lessons = ("01 yeast.txt", b"The yeast wakes in warm water.\n"), ("02 kneading.txt", b"Fold the dough in thirds.\n")

    for files in (lessons, [("course.txt", b"Course Title: Ropes\n"), ("1 Bowline.txt", b"The rabbit leaves.\n")]):
        finished(client, upload(client, *files, course="true").json()["job_id"])
    courses = client.get("/api/courses").json()["courses"]
    found = ask(client, "How is the dough folded?")

    assert {course["title"]: [(each["number"], each["title"]) for each in course["lessons"]] for course in courses} == {
        "Working at the Quay": [(0, "Welcome"), (1, "Lifting")],
        "Uploaded course": [(1, "Yeast"), (2, "Kneading")],
        "Ropes": [(1, "Bowline")],
    }
    assert found["sources"] == ["Uploaded course/02 kneading.txt:1 (Uploaded course · Lesson 2: Kneading)"]


def test_an_unreadable_upload_is_listed_with_the_reason_and_can_be_removed(client: TestClient, home: Path) -> None:
    sent = upload(client, ("a.md", b"# A\n\nThe zebra sleeps.\n"), ("b.md", b"\x00\x01\x02" * 99), ("c.md", b" \n"))
    _, job = finished(client, sent.json()["job_id"])

    *_, source = client.get("/api/sources").json()["sources"]
    listed = {file["name"]: (file["outcome"], file["document_id"]) for file in source["uploaded"]}
    removed = client.delete(f"/api/documents/{listed['b.md'][1]}")
    finished(client, removed.json()["job_id"])
    *_, after = client.get("/api/sources").json()["sources"]

    assert (job["report"]["added"], job["report"]["left_out"]) == (
        1,
        [{"name": "b.md", "reason": "binary"}, {"name": "c.md", "reason": "it contains no text"}],
    )
    assert {name: outcome for name, (outcome, _) in listed.items()} == {
        "a.md": "added",
        "b.md": "binary",
        "c.md": "added",
    }
    assert (removed.status_code, [file["name"] for file in after["uploaded"]]) == (202, ["a.md", "c.md"])
    assert list((home / "uploads").rglob("b.md")) == []


def test_skipped_attachments_of_uploaded_mail_are_reported(client: TestClient) -> None:
    message = EmailMessage()
    message["Subject"] = "Zoo"
    message.set_content("See below.")
    for name, content in (("zebras.md", b"The zebra sleeps.\n"), ("zebra.png", b"\x89PNG")):
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    _, job = finished(client, upload(client, ("zoo.eml", bytes(message))).json()["job_id"])

    assert (job["report"]["added"], job["report"]["left_out"]) == (
        2,
        [{"name": "zebra.png", "reason": "binary by name"}],
    )


def test_files_that_are_not_taken_are_named_with_the_reason(client: TestClient) -> None:
    mixed = upload(
        client, ("a.md", b"# A"), ("b.png", b"\x89PNG"), (".env", b"KEY=1"), (".gitignore", b"*"), ("c.md", b"")
    )
    nothing = upload(client, ("b.exe", b"MZ"))

    refused = {each["name"]: each["reason"] for each in mixed.json()["refused"]}
    assert mixed.json()["accepted"] == ["a.md"]
    assert refused == {"b.png": "binary by name", ".env": "secret", ".gitignore": "hidden by its name", "c.md": "empty"}
    assert nothing.status_code == 415
    assert "b.exe" in nothing.json()["error"]["message"]


@pytest.mark.parametrize(
    ("limits", "files"),
    [
        pytest.param({"upload_files": 1}, [("a.md", b"# A"), ("b.md", b"# B")], id="too many"),
        pytest.param({"upload_bytes": 1000}, [("a.md", b"x" * 900), ("b.md", b"x" * 900)], id="too large together"),
        pytest.param({"upload_bytes": 1000}, [("a.md", b"x" * 300_000)], id="too large to be read"),
    ],
)
def test_an_upload_has_its_limits(
    serve: Serve, limits: dict[str, int], files: list[tuple[str, bytes]], home: Path
) -> None:
    client = serve(**limits)

    response = upload(client, *files)

    assert response.status_code == 413
    assert not (home / "uploads").exists()


def test_work_of_another_caller_is_nobodys(client: TestClient) -> None:
    job_id = upload(client, ("a.md", b"# A")).json()["job_id"]
    own = finished(client, job_id)

    client.cookies.clear()

    assert own[0] == "done"
    assert client.get(f"/api/jobs/{job_id}").status_code == 404
    assert client.get(f"/api/jobs/{job_id}/events").status_code == 404


@pytest.mark.parametrize("document_id", ["0" * 32, "..%2F..%2Fetc%2Fpasswd", "guide.md"])
def test_no_document_is_named_by_its_path(client: TestClient, document_id: str) -> None:
    assert client.get(f"/api/documents/{document_id}").status_code in (404, 422)


def test_a_span_that_a_document_does_not_have_is_told(client: TestClient) -> None:
    (citation,) = ask(client, "When do sessions end?")["citations"]

    response = client.get(f"/api/documents/{citation['document_id']}", params={"start_char": 5, "end_char": 9_999})

    assert (response.status_code, "9999" in response.json()["error"]["message"]) == (400, True)


def test_a_server_that_was_killed_goes_on_with_what_was_uploaded(serve: Serve, home: Path, folder: Path) -> None:
    from openbook.libraries.catalog import name_for

    uploads = home / "uploads" / name_for([folder])
    halves = {"9f.part": "half", "7e.part": "of another server, which writes it now"}
    write_tree(uploads, {"uploads/zebra.md": "# Zebra\n\nThe zebra sleeps standing.\n", **halves})
    os.utime(uploads / "9f.part", (0, 0))
    write_tree(
        uploads, {"uploaded courses/Uploaded course/knots.txt": "Lesson 1: Bowline\nThe rabbit leaves the hole.\n"}
    )

    client = serve()
    sources = client.get("/api/sources").json()["sources"]
    while any(source["state"] == "indexing" for source in client.get("/api/sources").json()["sources"]):
        time.sleep(0.01)

    assert [source["name"] for source in sources] == ["harbour", "uploaded courses", "uploads"]  # from the beginning
    assert client.get("/api/courses").json()["total_courses"] == 2
    assert ask(client, "How does the zebra sleep?")["sources"] == ["zebra.md:3 (Zebra)"]
    assert [part.name for part in uploads.glob("*.part")] == ["7e.part"]


def test_a_document_of_markdown_is_rendered_and_its_links_and_tags_do_nothing(serve: Serve, folder: Path) -> None:
    text = "# Piers\n\n[map](map.md) [x](javascript:alert(1)) <b>bold</b>\n\n- one\n- the brass bell rings\n"
    (folder / "piers.md").write_text(text, encoding="utf-8")
    client = serve()
    cited = ask(client, "When does the brass bell ring?")["citations"]
    citation = next(each for each in cited if each["path"] == "piers.md")
    path = f"/api/documents/{citation['document_id']}"
    span = {name: citation[name] for name in ("start_char", "end_char")}

    html = client.get(path, params={**span, "rendered": True}).json()["html"]
    whole = client.get(f"{path}/text")

    assert '<li class="cited">the brass bell rings</li>' in html
    assert ("href" in html, "<b>" in html, "&lt;b&gt;bold" in html) == (False, False, True)
    assert client.get(path, params=span).json()["html"] == ""
    assert (whole.text, whole.headers["content-disposition"]) == (text, "attachment; filename*=UTF-8''piers.md")


def test_code_has_colours_by_the_line_and_stays_text(serve: Serve, folder: Path) -> None:
    (folder / "bell.py").write_text('def brass():\n    """Ring\n    <b>it</b>."""\n', encoding="utf-8")
    client = serve()
    citation = ask(client, "brass")["citations"][0]

    units = client.get(f"/api/documents/{citation['document_id']}").json()["units"]

    assert [unit["text"] for unit in units] == ["def brass():", '    """Ring', '    <b>it</b>."""']
    assert units[0]["html"].startswith('<span class="hl-k">def</span>')
    assert all("<b>" not in unit["html"] and unit["html"] for unit in units)


@pytest.mark.parametrize("label", ["1000000", "1.1000", "\N{ARABIC-INDIC DIGIT ONE}"])
def test_a_number_that_no_lesson_can_have_is_refused_everywhere(client: TestClient, label: str) -> None:
    number, _, part = label.partition(".")
    asked = {"query": "What does it teach?", "lesson_number": number, **({"lesson_part": part} if part else {})}
    edit = {"source": "quay", "path": "course", "lesson": label, "action": "hide"}

    replies = [
        client.get("/api/study", params={"course": "quay/course", "lesson": label}),
        client.patch("/api/courses", json=edit),
        client.post("/api/query", json=asked),
    ]

    assert [reply.status_code for reply in replies] == [422, 422, 422]


@pytest.mark.slow
def test_an_editor_changes_the_lessons_of_a_course_beside_its_files(serve: Serve) -> None:
    client = serve()
    files = (
        ("1-ropes.md", b"# Ropes\n\nHemp is heavy.\n\n## Care\n\nDry them.\n"),
        ("2-bends.md", b"# Bends\n\nHold.\n"),
    )
    finished(client, upload(client, *files, course="true").json()["job_id"])
    course = next(each for each in client.get("/api/courses").json()["courses"] if "Quay" not in each["title"])

    def change(action: str, lesson: str, value: str = "", **other: str) -> Any:
        body = {"source": course["source"], "path": course["path"], "lesson": lesson, "action": action, "value": value}
        return client.patch("/api/courses", json=body | other)

    def lessons(reply: Any) -> list[tuple[str, str]]:
        found = next(each for each in reply.json()["courses"] if each["source"] == course["source"])
        return [(each["label"], each["title"]) for each in found["lessons"]]

    assert lessons(change("rename", "1", "Rope")) == [("1", "Rope"), ("2", "Bends")]
    assert lessons(change("move", "2", "1")) == [("1", "Bends"), ("2", "Rope")]
    assert lessons(change("split", "2", "Care")) == [("1", "Bends"), ("2", "Rope"), ("3", "Care")]
    assert lessons(change("hide", "1")) == [("2", "Rope"), ("3", "Care")]
    assert change("rename", "9", "Nothing").status_code == 400
    assert change("rename", "2").json()["error"]["hint"] == "send it as `value`"
    assert change("rename", "2", "X", source="elsewhere").status_code == 404
    key = f"{course['source']}/{course['path']}"
    guide = client.get("/api/study", params={"course": key, "lesson": "2"})
    assert (guide.status_code, "Hemp is heavy." in guide.text) == (200, True)
