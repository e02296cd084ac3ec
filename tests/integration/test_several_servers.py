"""`openbook serve` in several processes with one Redis, as people run it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.support_cli import assert_fails_clearly, run, run_alone, start
from tests.integration.support_serving import Serving
from tests.redis_server import PASSWORD, RedisServer
from tests.support import write_tree

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Captured = pytest.CaptureFixture[str]

QUESTION = "When do sessions end?"


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "harbour", {"guide.md": "# Sessions\n\nSessions end after one hour.\n"})


@pytest.fixture
def serve(harbour: Path, redis_server: RedisServer) -> Iterator[Callable[[], Serving]]:
    """Start servers of the folder that need a key and share a Redis. All are killed in the end."""
    with ExitStack() as stack:

        def begin() -> Serving:
            env = {"OPENBOOK_SHARED_STORE": redis_server.url, "OPENBOOK_SERVER_WORKERS": "0"}
            serving = Serving(start("serve", harbour, "--port", "0", "--require-key", env=env))
            stack.callback(lambda: serving.process.poll() is None and serving.end(signal.SIGKILL))
            return serving

        yield begin


@pytest.mark.slow
def test_processes_share_conversations_and_live_through_a_restart_of_redis(
    serve: Callable[[], Serving], redis_server: RedisServer
) -> None:
    key = run_alone("keys", "add", "team").out.strip()
    servers = [serve(), serve()]
    one, other = (serving.client for serving in servers)
    for client in (one, other):
        client.headers["Authorization"] = f"Bearer {key}"

    first = one.post("/api/query", json={"query": QUESTION}).json()
    follow_up = {"query": "And what ends after one hour?", "session_id": first["session_id"]}
    second = other.post("/api/query", json=follow_up).json()
    whole = one.get(f"/api/sessions/{first['session_id']}").json()["exchanges"]
    redis_server.kill()
    away = [client.get(f"/api/sessions/{first['session_id']}").status_code for client in (one, other)]
    redis_server.start()
    back = [client.post("/api/query", json={"query": QUESTION}).json()["warning"] for client in (one, other)]
    codes = [serving.end(signal.SIGTERM) for serving in servers]

    assert whole == [first, second]
    assert (away, back, codes) == ([503, 503], ["", ""], [0, 0])
    assert [line for serving in servers for line in serving.said if PASSWORD in line or redis_server.url in line] == []


def test_an_unreachable_redis_is_reported_before_anything_is_read(
    harbour: Path, redis_server: RedisServer, capsys: Captured
) -> None:
    redis_server.kill()

    outcome = run(capsys, "serve", harbour, "--port", "0", env={"OPENBOOK_SHARED_STORE": redis_server.url})

    place = f"Redis at redis://127.0.0.1:{redis_server.port}/0 cannot be used: Connection refused"
    assert_fails_clearly(outcome, 3, place, "OPENBOOK_SHARED_STORE")
    assert outcome.err.startswith("error: Redis at ")
    assert "guide.md" not in outcome.err
    assert "sesame" not in outcome.err


def test_an_invalid_address_is_reported_without_its_password(harbour: Path, capsys: Captured) -> None:
    invalid = {"OPENBOOK_SHARED_STORE": "redis://:ses/ame@localhost/0"}

    outcome = run(capsys, "serve", harbour, "--port", "0", env=invalid)

    assert_fails_clearly(outcome, 2, "OPENBOOK_SHARED_STORE is not an address of Redis", "redis://host:6379/0")
    assert "ses/" not in outcome.err


def test_the_doctor_shows_no_password_of_redis(capsys: Captured) -> None:
    outcome = run(capsys, "doctor", env={"OPENBOOK_SHARED_STORE": "redis://:sesame@localhost/0"})

    assert "shared_store = Secret(***)  (OPENBOOK_SHARED_STORE)" in outcome.out + outcome.err
    assert "sesame" not in outcome.out + outcome.err
