"""Sources prepared on a real Ray cluster: the same library as without, whatever happens to a worker."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openbook.embedding.protocol import Embedder
from openbook.errors import ClusterError
from openbook.index.protocol import Index, Source
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.sync import SyncReport, sync
from openbook.settings import Settings
from openbook.testing import HashEmbedder
from tests.jobs import EndingLoader, FirstLoader, FragileEmbedder, OtherHashEmbedder
from tests.support import IDENTITY, answers, children_of, everything, heed_interrupts, write_tree

pytestmark = [pytest.mark.ray, pytest.mark.allow_hosts(["127.0.0.1"])]

# Long words make a source large with little to index.
PARAGRAPH = ("w" * 2000 + "\n") * 8 + "\n"
# More than the least that a cluster is asked for, in more batches than are out at once.
LARGE = {f"{number % 3}/{number}.md": f"# Part {number}\n\n" + PARAGRAPH * 14 for number in range(90)}
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("large") / "tree", LARGE)


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Callable[[str], Index]]:
    with contextlib.ExitStack() as stack:
        yield lambda name: stack.enter_context(contextlib.closing(SqliteIndex(tmp_path / f"{name}.sqlite", IDENTITY)))


def bring(
    index: Index,
    tree: Path,
    settings: Settings,
    *,
    load_embedder: Callable[[], Embedder] = HashEmbedder,
    kind: str = "folder",
    progress: Callable[[int, int], None] | None = None,
) -> SyncReport:
    root = Source("s", kind, str(tree))
    return sync(root, index, settings=settings, load_embedder=load_embedder, progress=progress, now=lambda: 4e9)


def contents(index: Index) -> dict[str, Any]:
    """Return all that an index holds but for the ids, which depend on who was first."""
    assert isinstance(index, SqliteIndex)
    read = index._connection.execute
    question = ["part", "7"], HashEmbedder().embed(["part 7"])[0]
    told = everything(index, *question)
    return {
        "roots": told["roots"],
        "records": told["records"],
        "documents": told["documents"],
        "chunks": sorted(index.fetch([id_ for (id_,) in read("SELECT id FROM chunks")]), key=lambda chunk: chunk.key),
        "vectors": read(
            "SELECT d.path, v.chunks, v.lengths, v.rows FROM vectors v JOIN documents d ON d.id = v.document_id"
            " ORDER BY d.path"
        ).fetchall(),
        "words": sorted({word for (tokens,) in read("SELECT tokens FROM postings") for word in tokens.split(" ")}),
        "answers": answers(index, *question),
    }


def workers_of_ray() -> list[int]:
    """Return the processes of this machine that work for a Ray cluster."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if file.read_bytes().startswith(b"ray::prepare_batch"):
                found.append(int(file.parent.name))
    return found


@pytest.mark.parametrize("kind", ["folder", "course"])
def test_a_cluster_and_this_machine_make_the_same_library(
    open_index: Callable[[str], Index], tree: Path, settings: Settings, tmp_path: Path, kind: str
) -> None:
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for folder in tree.iterdir():
        (mixed / folder.name).mkdir()
        for file in folder.iterdir():
            (mixed / folder.name / file.name).hardlink_to(file)
    write_tree(
        mixed, {"0/README.md": "Course Title: Knots\n\nOf ropes.\n", "1/.env": "A=1\n", "code.py": "def f(): ...\n"}
    )
    (mixed / "picture.md").write_bytes(b"\0\1\2\3" * 1000)
    here, there = open_index("here"), open_index("there")

    reports = (
        bring(here, mixed, replace(settings, executor=""), kind=kind),
        bring(there, mixed, settings, kind=kind),
    )

    assert reports[0] == reports[1]
    assert reports[0].added == len(LARGE) + 2
    assert contents(here) == contents(there)


def test_a_cluster_is_reached_from_outside_by_its_client_port(
    open_index: Callable[[str], Index], tree: Path, cluster: tuple[str, str], settings: Settings
) -> None:
    here, there = open_index("here"), open_index("there")

    bring(here, tree, replace(settings, executor=""))
    for attempts_left in (2, 1, 0):
        try:
            bring(there, tree, replace(settings, executor=f"ray:{cluster[1]}"))
            break
        except ClusterError:
            # Ray gives each client a server on a port from 23000 on that was free a moment before. Where another
            # program of this machine was faster, the next client gets the next port.
            if not attempts_left:
                raise

    assert contents(here) == contents(there)


def test_what_has_not_changed_stays_at_home(
    open_index: Callable[[str], Index], tree: Path, settings: Settings, tmp_path: Path
) -> None:
    index = open_index("library")
    copy = write_tree(tmp_path / "copy", LARGE)
    bring(index, copy, settings)
    for file in copy.rglob("*.md"):
        os.utime(file, (1, 1))

    report = bring(index, copy, settings, load_embedder=FragileEmbedder)

    assert (report.read, report.unchanged, report.wrote) == (len(LARGE), len(LARGE), False)


def test_a_file_that_crashes_or_hangs_costs_one_line(
    open_index: Callable[[str], Index], tree: Path, settings: Settings, tmp_path: Path
) -> None:
    bad = {"a.md": "poison\n", "b.md": "venom\n", "c.md": "thorn\n", "d.md": "mire\n"}
    copy = write_tree(tmp_path / "copy", LARGE | bad)
    index = open_index("library")

    first = bring(index, copy, replace(settings, file_timeout_s=5.0), load_embedder=FragileEmbedder)
    second = bring(index, copy, replace(settings, file_timeout_s=5.0), load_embedder=FragileEmbedder)

    assert first.added == len(LARGE)
    assert first.skipped == {
        "ArithmeticError: thorn": ("c.md",),
        "ended the process that read it (-11)": ("b.md",),
        "ended the process that read it (7)": ("a.md",),
        "took longer than 5 s": ("d.md",),
    }
    assert (second.read, second.unchanged, second.skipped) == (0, len(LARGE), first.skipped)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="workers are told by what Linux shows of them")
def test_workers_that_are_killed_in_the_middle_cost_nothing(
    open_index: Callable[[str], Index], tree: Path, settings: Settings
) -> None:
    index, whole = open_index("library"), open_index("whole")
    killed: list[int] = []
    done = threading.Event()

    def kill_two() -> None:
        while len(killed) < 2 and not done.wait(0.005):
            for pid in set(workers_of_ray()) - set(killed):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=kill_two)
    thread.start()
    try:
        report = bring(index, tree, settings)
    finally:
        done.set()
        thread.join()
    bring(whole, tree, replace(settings, executor=""))

    assert len(killed) >= 2
    assert (report.added, report.skipped) == (len(LARGE), {})
    assert contents(index) == contents(whole)


def test_children_that_are_ended_while_they_load_cost_nothing(
    open_index: Callable[[str], Index], tree: Path, settings: Settings, tmp_path: Path
) -> None:
    index = open_index("library")

    # Two workers may count one end together: that makes four at most, fewer than are too many.
    report = bring(index, tree, settings, load_embedder=EndingLoader(tmp_path / "ended", 2))

    assert (report.added, report.skipped) == (len(LARGE), {})
    assert (tmp_path / "ended").stat().st_size == 2


def test_an_interrupt_keeps_what_was_committed_and_the_next_run_goes_on(
    open_index: Callable[[str], Index], tree: Path, settings: Settings
) -> None:
    index = open_index("library")

    def interrupt(done: int, todo: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bring(index, tree, settings, progress=interrupt)
    kept = len(index.records("s"))
    report = bring(index, tree, settings)

    assert 0 < kept < len(LARGE)
    assert (report.added, report.unchanged) == (len(LARGE) - kept, kept)


def test_a_cluster_with_another_openbook_is_refused(
    open_index: Callable[[str], Index], tree: Path, settings: Settings
) -> None:
    with pytest.raises(ClusterError, match="has another Openbook") as caught:
        bring(open_index("library"), tree, settings, load_embedder=OtherHashEmbedder)

    assert "same version" in caught.value.hint


def test_a_cluster_that_lacks_something_is_refused(
    open_index: Callable[[str], Index], tree: Path, settings: Settings
) -> None:
    with pytest.raises(ClusterError, match=r"cannot prepare files: ArithmeticError.*no model here") as caught:
        bring(open_index("library"), tree, settings, load_embedder=FirstLoader())

    assert caught.value.hint


def test_an_address_where_nothing_listens_is_an_error_at_once(
    open_index: Callable[[str], Index], tree: Path, settings: Settings
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

    with pytest.raises(ClusterError, match=f"cannot reach the Ray cluster at 127.0.0.1:{port}") as caught:
        bring(open_index("library"), tree, replace(settings, executor=f"ray:127.0.0.1:{port}"))

    assert "ray start --head" in caught.value.hint


def test_a_small_source_does_not_wait_for_a_cluster(
    open_index: Callable[[str], Index], settings: Settings, tmp_path: Path
) -> None:
    small = write_tree(tmp_path / "small", {"a.md": "One.\n"})

    assert bring(open_index("library"), small, replace(settings, executor="ray:127.0.0.1:1")).added == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are told by what Linux shows of them")
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_cluster_of_this_machine_ends_with_the_command(tree: Path, tmp_path: Path, interrupted: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"OPENBOOK_EXECUTOR": "ray:local", "OPENBOOK_WORKERS": "2", "OPENBOOK_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "openbook", "add", str(tree), "--library", "large"]
    process = subprocess.Popen(
        command, env=environment, text=True, encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=heed_interrupts,
    )  # fmt: skip
    started: set[int] = set()
    ends = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < ends:
        started |= {found for pid in {process.pid, *started} for found in children_of(pid)}
        if interrupted and list(tmp_path.glob("libraries/*.sqlite-wal")) and any(map(is_worker, started)):
            os.killpg(process.pid, signal.SIGINT)
            break
        time.sleep(0.05)
    out, err = process.communicate(timeout=PATIENCE_S)
    while any(map(lives, started)) and time.monotonic() < ends:
        time.sleep(0.1)

    assert (process.returncode, "Traceback" in err) == (130 if interrupted else 0, False), err
    assert interrupted or f"{len(LARGE)}" in out + err
    assert started
    assert [pid for pid in started if lives(pid)] == []


def is_worker(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::prepare_batch")
    return False


def lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False
