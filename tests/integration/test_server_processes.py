"""`openbook serve` as people run it: a child process that is stopped, killed, and given a full disk."""

from __future__ import annotations

import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.integration.support_cli import assert_fails_clearly, only_library, run, run_alone, start
from tests.integration.support_serving import Serving
from tests.support import children_of, write_tree

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

QUESTION = "When do sessions end?"

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "harbour", {"guide.md": "# Sessions\n\nSessions end after one hour.\n"})


@pytest.fixture
def serve(harbour: Path) -> Iterator[Callable[..., Serving]]:
    """Start servers of the folder. Those that a test leaves running are killed."""
    with ExitStack() as stack:

        def begin(**options: Any) -> Serving:
            serving = Serving(start("serve", harbour, "--port", "0", **options))
            stack.callback(lambda: serving.process.poll() is None and serving.end(signal.SIGKILL))
            return serving

        yield begin


def test_on_another_address_nothing_is_served_without_a_key(capsys: Captured, harbour: Path) -> None:
    for arguments in (("--host", "0.0.0.0"), ("--require-key",)):
        outcome = run(capsys, "serve", harbour, "--port", "0", *arguments)

        assert_fails_clearly(outcome, 2, "everybody needs a key", "openbook keys add NAME")


@pytest.mark.parametrize(
    ("name", "value", "code", "told"),
    [
        ("OPENBOOK_MODEL", "groq", 3, "GROQ_API_KEY is not set"),
        ("OPENBOOK_SERVER_MODELS", "nobody:knows", 2, "unknown provider 'nobody'"),
        ("OPENBOOK_SERVER_HOSTS", "https://books.example", 2, "without scheme and port"),
        ("OPENBOOK_SERVER_GIT_HOSTS", "https://git.example", 2, "without scheme and path"),
        ("OPENBOOK_VERIFIER", "nobody", 2, "verifier is 'nobody'"),
        ("OPENBOOK_RERANKER", "onnx:/nowhere", 2, "no model '/nowhere'"),
        ("OPENBOOK_SERVER_HOSTS", "*", 2, "server_hosts is '*'"),
        ("OPENBOOK_EXECUTOR", "rai:auto", 2, "there is no executor 'rai'"),
        ("OPENBOOK_AUDIO", "whisper-teeny", 2, "OPENBOOK_AUDIO is 'whisper-teeny'"),
        ("OPENBOOK_STORAGE", "lance", 2, "OPENBOOK_STORAGE names no folder or bucket"),
        ("OPENBOOK_UPLOADS", "nowhere", 2, "the folder 'nowhere' for uploads is not there"),
        ("OPENBOOK_TELEMETRY", "otpl", 2, "telemetry is 'otpl'"),
        ("OPENBOOK_OIDC_ISSUER", "https://sso.example", 2, "OPENBOOK_OIDC_CLIENT_ID is not"),
    ],
)
def test_what_would_fail_later_fails_at_the_start_and_at_the_doctor_with_the_same_words(
    capsys: Captured, harbour: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, code: int, told: str
) -> None:
    monkeypatch.setenv(name, value)

    assert_fails_clearly(run(capsys, "serve", harbour, "--port", "0"), code, told)
    seen = run(capsys, "doctor")
    assert seen.code != 0
    assert told in seen.out + seen.err


def test_a_variable_that_is_not_read_is_told_at_the_start(capsys: Captured, harbour: Path) -> None:
    (harbour / ".env").write_text("OPENBOOK_STORAGE=lance:/srv/books\n", encoding="utf-8")
    mistyped = {"OPENBOOK_MODLE": "groq", "OPENBOOK_TELEMETRY": "otpl"}

    outcome = run(capsys, "serve", "--port", "0", cwd=harbour, env=mistyped)

    assert "warning: OPENBOOK_MODLE is no setting; did you mean OPENBOOK_MODEL?" in outcome.err
    assert "warning: OPENBOOK_STORAGE in .env: ignored" in outcome.err


def test_a_key_is_made_shown_once_listed_and_removed(capsys: Captured) -> None:
    made = run(capsys, "keys", "add", "team")
    listed = run(capsys, "keys", "list")
    removed, again = run(capsys, "keys", "remove", "team"), run(capsys, "keys", "remove", "team")

    assert re.fullmatch(r"obk_[\w-]{43}\n", made.out)
    assert listed.out.startswith("team  reader  made ")
    assert made.out.strip() not in listed.out
    assert (removed.code, again.code) == (0, 1)
    assert "there are no keys" in run(capsys, "keys", "list").err


def test_a_port_that_is_taken_is_told_before_anything_is_read(capsys: Captured, harbour: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = run(capsys, "serve", harbour, "--port", str(taken.getsockname()[1]))

    assert_fails_clearly(outcome, 2, "cannot listen on 127.0.0.1", "--port")


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_told_to_stop_ends_well(serve: Callable[..., Serving], sent: signal.Signals) -> None:
    serving = serve()
    answer = serving.ask(QUESTION)["answer"]

    code = serving.end(sent)

    assert "one hour" in answer
    assert (code, serving.said[-1]) == (0, "stopped\n")
    assert "Traceback" not in "".join(serving.said)


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_no_process_behind(serve: Callable[..., Serving]) -> None:
    serving = serve()
    serving.ask(QUESTION)
    children = children_of(serving.process.pid)

    serving.end(signal.SIGKILL)

    assert children
    while any(Path(f"/proc/{child}").exists() for child in children):
        time.sleep(0.01)


@pytest.mark.slow
def test_what_was_accepted_before_a_kill_is_indexed_after_it(serve: Callable[..., Serving]) -> None:
    killed = serve()
    session_id = killed.ask(QUESTION)["session_id"]
    cookies = dict(killed.client.cookies)
    texts = ["The zebra sleeps standing.", *(f"Parcel {number} is blue." for number in range(19))]
    files = [("files", (f"{number}.md", f"# Note\n\n{text}\n")) for number, text in enumerate(texts)]

    accepted = killed.client.post("/api/uploads", files=files).json()["accepted"]
    killed.end(signal.SIGKILL)
    again = serve()
    again.client.cookies.update(cookies)
    sources = {source["name"]: source["documents"] for source in again.settled()}

    assert (len(accepted), sources) == (20, {"harbour": 1, "uploads": 20})
    assert "standing" in again.ask("How does the zebra sleep?")["answer"]
    assert again.client.get(f"/api/sessions/{session_id}").status_code == 200


@pytest.mark.slow
def test_an_upload_that_a_kill_cuts_off_leaves_nothing(serve: Callable[..., Serving], harbour: Path) -> None:
    killed = serve()
    address = urlsplit(killed.url)
    head = (
        f"POST /api/uploads HTTP/1.1\r\nHost: {address.netloc}\r\nX-Openbook: 1\r\nContent-Length: 100000\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
        'Content-Disposition: form-data; name="files"; filename="half.md"\r\n\r\n# Half\n\nThe half moon rises.\n'
    )

    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode())
        killed.client.get("/healthz")
        killed.end(signal.SIGKILL)
    again = serve()

    assert [source["name"] for source in again.settled()] == ["harbour"]
    assert list(only_library().parents[1].glob("uploads/*/*")) == []
    assert "one hour" in again.ask(QUESTION)["answer"]


@pytest.mark.slow
def test_a_server_that_is_started_before_its_library_is_made_is_ready_once_it_is_filled(
    capsys: Captured, harbour: Path
) -> None:
    run(capsys, "add", harbour, "--library", "team")
    serving = Serving(start("serve", "--library", "teem", "--port", "0"))
    early, alive = serving.client.get("/readyz"), serving.client.get("/healthz")
    run(capsys, "add", harbour, "--library", "teem")
    filled, answer = serving.client.get("/readyz"), serving.ask(QUESTION)["answer"]
    serving.end(signal.SIGTERM)

    said = " ".join("".join(serving.said).split())
    assert "there is no library 'teem'; did you mean 'team'?" in said
    assert "not ready until it is filled: `openbook add PATH --library teem`" in said
    assert (early.status_code, alive.status_code, filled.json()["documents"]) == (503, 200, 1)
    assert early.json()["error"]["message"] == "nothing has been added to the library 'teem' yet"
    assert "one hour" in answer


@pytest.mark.slow
def test_an_empty_library_that_was_made_for_uploads_is_ready(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    run(capsys, "add", tmp_path / "none", "--library", "team")
    serving = Serving(start("serve", "--library", "team", "--port", "0"))
    ready = serving.client.get("/readyz").json()
    serving.client.post("/api/uploads", files={"files": ("zebra.md", b"The zebra sleeps standing.")})
    sources = {source["name"]: source["documents"] for source in serving.settled()}
    serving.end(signal.SIGTERM)

    assert ready == {"status": "ok", "documents": 0, "chunks": 0}
    assert "the library 'team' is empty" in "".join(serving.said)
    assert sources == {"none": 0, "uploads": 1}


@pytest.mark.slow
def test_in_a_home_that_cannot_be_written_the_library_is_served_as_it_is(capsys: Captured, harbour: Path) -> None:
    run(capsys, "add", harbour, "--library", "team")
    key = run(capsys, "keys", "add", "me", "--role", "owner").out.strip()
    home = only_library().parents[1]
    closed = [path for path in (home, *home.rglob("*")) if path.is_dir() or path.suffix == ".sqlite"]
    for path in closed:
        path.chmod(0o555 if path.is_dir() else 0o444)
    serving = Serving(start("serve", "--library", "team", "--require-key", "--port", "0", unprivileged=True))
    serving.client.headers["Authorization"] = f"Bearer {key}"
    reply, ready = serving.ask(QUESTION), serving.client.get("/readyz").json()
    uploaded = serving.client.post("/api/uploads", files={"files": ("a.md", b"# Tea")})
    listed = run_alone("keys", "list", unprivileged=True)
    refused = run_alone("keys", "add", "you", unprivileged=True)
    serving.end(signal.SIGTERM)
    for path in closed:
        path.chmod(0o755 if path.is_dir() else 0o644)

    assert f"the home {home} cannot be written" in " ".join("".join(serving.said).split())
    assert "one hour" in reply["answer"]
    assert "conversations cannot be kept" in reply["warning"]
    assert (ready["status"], ready["documents"]) == ("degraded", 1)
    assert (uploaded.status_code, uploaded.json()["error"]["hint"]) == (
        507,
        "nothing was stored; the server needs a folder that it may write to",
    )
    assert listed.out.startswith("me  owner")
    assert_fails_clearly(refused, 2, "hint: set OPENBOOK_HOME to a folder that you can write to")


@pytest.mark.slow
def test_on_a_full_disk_answers_go_on_and_nothing_is_half_kept(serve: Callable[..., Serving]) -> None:
    first = serve()
    first.end(signal.SIGTERM)
    full = serve(largest_file_bytes=max(100_000, only_library().stat().st_size + 4096))

    refused = full.client.post("/api/uploads", files={"files": ("big.md", b"# Big\n" + b"word " * 100_000)})
    warned = next(reply for reply in (full.ask(QUESTION) for _ in range(200)) if reply["warning"])
    kept = full.client.get("/api/sessions").json()["sessions"]

    assert (refused.status_code, "nothing was stored" in refused.text) == (507, True)
    assert list(only_library().parents[1].glob("uploads/*/uploads/*")) == []
    assert "one hour" in warned["answer"]
    assert "conversations cannot be kept" in warned["warning"]
    assert len(kept) > 0
    assert all(full.client.get(f"/api/sessions/{each['id']}").status_code == 200 for each in kept)
