"""Fixtures and hooks for all tests: no test touches the user's folders, and failures are reproducible."""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from openbook.integrations.lance_engine import _DeferredClient
from openbook.testing import FakeServer
from openbook.testing.script import Refusal
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.git_server import GitServer
from tests.fakes.rerank_server import RerankServer
from tests.model_server import ModelServer
from tests.redis_server import RedisServer

# No deadline: a slow machine is no bug. The same examples on every run where nobody is there to
# try again.
settings.register_profile("openbook", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("openbook")

# Workers and children: OpenBLAS starts a thread for each processor, and each spins for a while before it sleeps, which
# is a seventh of what a short command takes. Matrices as small as those of tests are never shared among threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_SERVERS = {
    "fake_server",
    "embedding_server",
    "git_server",
    "model_server",
    "redis_server",
    "rerank_server",
}


def pytest_report_header() -> str:
    """Report the hash seed, which is needed to reproduce failures that depend on it."""
    return f"hash seed: {os.environ.get('PYTHONHASHSEED', 'random')}"


def pytest_xdist_auto_num_workers() -> int:
    """Run one worker more than there are processors, because many tests wait for a child, a lock or a deadline."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, None, None]:
    """Freeze the garbage collector during collection, which otherwise takes a third of its time.

    Also import LanceDB as the engine does, without a client that takes more time than everything else.
    """
    gc.disable()
    sys.meta_path.insert(0, _DeferredClient())
    try:
        _import_in_turn(session.config)
        yield
    finally:
        _DeferredClient.end()
        gc.freeze()
        gc.enable()


def _import_in_turn(config: pytest.Config) -> None:
    """Start collecting at another module in each worker.

    pytest caches rewritten modules, which is half of the time of collection. Workers that begin with the same module
    never find a cached one. Modules that cannot be imported are reported by collection.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    modules = sorted((config.rootpath / "tests").rglob("test_*.py"))
    start = len(modules) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for module in modules[start:] + modules[:start]:
        name = ".".join(module.relative_to(config.rootpath).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow connections to this machine, and no other, in tests that use one of our test servers."""
    for item in items:
        if not _SERVERS.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.allow_hosts(["127.0.0.1"]))


@pytest.fixture
def fake_server() -> Iterator[Callable[..., FakeServer]]:
    """Start servers that play the given steps. All are closed and checked when the test ends."""
    with ExitStack() as stack:

        def start(*steps: Any, **options: Any) -> FakeServer:
            return stack.enter_context(FakeServer(*steps, **options))

        yield start


@pytest.fixture
def embedding_server() -> Iterator[Callable[..., EmbeddingServer]]:
    """Start servers that embed. All are closed when the test ends."""
    with ExitStack() as stack:

        def start(*refusals: Refusal | None, **options: Any) -> EmbeddingServer:
            return stack.enter_context(EmbeddingServer(*refusals, **options))

        yield start


@pytest.fixture
def rerank_server() -> Iterator[Callable[..., RerankServer]]:
    """Start servers that rerank. All are closed when the test ends."""
    with ExitStack() as stack:

        def start(*refusals: Refusal | None, **options: Any) -> RerankServer:
            return stack.enter_context(RerankServer(*refusals, **options))

        yield start


@pytest.fixture
def git_server(tmp_path: Path) -> Iterator[GitServer]:
    """Start a server for the git repositories below the folder `served` of the test."""
    (tmp_path / "served").mkdir()
    with GitServer(tmp_path / "served") as server:
        yield server


@pytest.fixture
def github(git_server: GitServer, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Redirect GitHub addresses to the git server of this test, and return the folder that it serves."""
    config = tmp_path_factory.mktemp("git") / "config"
    config.write_text(f'[url "{git_server.url}/"]\n\tinsteadOf = https://github.com/\n', encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    return git_server.folder


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Start a server that replaces the model hub in this test."""
    with ModelServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Start a Redis. It is killed when the test ends."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="session")
def _new_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Create folders with a counter, because `mktemp` lists all existing folders to find the next number."""
    parent, numbers = tmp_path_factory.mktemp("t"), itertools.count()

    def make(name: str) -> Path:
        folder = parent / f"{name}{next(numbers)}"
        folder.mkdir(mode=0o700)
        return folder

    return make


@pytest.fixture
def tmp_path(_new_folder: Callable[[str], Path], request: pytest.FixtureRequest) -> Path:
    """Return a folder for one test, like pytest's own fixture."""
    return _new_folder(re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(autouse=True)
def _home_of_its_own(_new_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    home = _new_folder("home")
    monkeypatch.setenv("OPENBOOK_HOME", str(home))
    for name in [name for name in os.environ if name.startswith("OPENBOOK_") and name != "OPENBOOK_HOME"]:
        monkeypatch.delenv(name)
    for name in ("ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENAI_API_KEY", "LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)  # no test asks a model that somebody pays for
