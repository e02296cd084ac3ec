"""What is sent to a cluster and what becomes of its losses, in this process. `tests/ray` has a real one."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from openbook.embedding.protocol import Embedder
from openbook.errors import ClusterError, MissingExtraError, SettingsError
from openbook.ingest.preparation import FileJob, FilePreparer, PreparedFile, Preparer
from openbook.integrations.ray_executor import BATCH_FILES, RayExecutor
from openbook.integrations.ray_worker import stop_children
from openbook.process_pool import JobFailure
from openbook.settings import Settings
from openbook.sources.folder import Folder
from openbook.testing import HashEmbedder
from tests.fakes.one_process_ray import OneProcessRay
from tests.jobs import EndingLoader, FirstLoader, HangingLoader, OtherHashEmbedder
from tests.support import write_tree

FILES = {f"{number}.md": f"# Part {number}\n\nOwls.\n" for number in range(2 * BATCH_FILES + 6)}


Run = Callable[..., dict[str, PreparedFile | JobFailure]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    folder = Folder(write_tree(tmp_path / "tree", FILES), "s")

    def prepared(
        ray: OneProcessRay,
        load_embedder: Callable[[], Embedder] | None = HashEmbedder,
        take: int = 10_000,
        settings: Settings = Settings(),  # noqa: B008 - cannot be changed
        **options: Any,
    ) -> dict[str, PreparedFile | JobFailure]:
        files = FilePreparer(folder, Preparer("s", Settings(), load_embedder))
        executor = RayExecutor("auto", connect=lambda *_: contextlib.nullcontext(ray), **options)
        outcomes = executor.run(files, [FileJob(path, "") for path in [*FILES, "gone.md"]], settings)
        with contextlib.closing(outcomes):
            return {job.path: outcome for job, outcome in islice(outcomes, take)}

    yield prepared
    stop_children()


def documents(outcomes: dict[str, PreparedFile | JobFailure]) -> set[str]:
    return {path for path, outcome in outcomes.items() if isinstance(outcome, PreparedFile) and outcome.document}


@pytest.mark.slow
def test_files_go_out_in_batches_and_every_one_comes_back(run: Run) -> None:
    ray = OneProcessRay()

    outcomes = run(ray)

    assert documents(outcomes) == set(FILES)
    assert outcomes["gone.md"] == PreparedFile(reason="vanished")
    assert ray.sizes == [BATCH_FILES, BATCH_FILES, 6]


@pytest.mark.slow
def test_no_more_is_out_than_twice_the_processors(run: Run) -> None:
    ray = OneProcessRay(cpus=1)

    assert documents(run(ray)) == set(FILES)
    assert ray.most_out == 2


@pytest.mark.slow
def test_results_are_written_while_as_much_is_out_as_may_be(tmp_path: Path) -> None:
    many = {f"{number}.md": "Owls.\n" for number in range(6 * BATCH_FILES)}
    files = FilePreparer(Folder(write_tree(tmp_path / "many", many), "s"), Preparer("s", Settings(), HashEmbedder))
    ray = OneProcessRay(cpus=1)
    executor = RayExecutor("auto", connect=lambda *_: contextlib.nullcontext(ray))

    out = [ray.out for _ in executor.run(files, [FileJob(path, "") for path in many], Settings())]
    stop_children()

    assert out == [2] * (4 * BATCH_FILES) + [1] * BATCH_FILES + [0] * BATCH_FILES


@pytest.mark.slow
def test_a_batch_that_is_lost_comes_again_one_by_one(run: Run) -> None:
    ray = OneProcessRay(loses=lambda number, _: number == 1)

    assert documents(run(ray)) == set(FILES)
    assert sorted(ray.sizes) == [1] * BATCH_FILES + [6, BATCH_FILES, BATCH_FILES]


@pytest.mark.slow
def test_a_file_that_loses_its_worker_again_and_again_is_given_up(run: Run) -> None:
    ray = OneProcessRay(loses=lambda _, size: size in {1, 6})

    outcomes = run(ray)

    lost = {path for path, outcome in outcomes.items() if isinstance(outcome, JobFailure)}
    assert lost == set(list(FILES)[-6:])
    assert {outcomes[path] for path in lost} == {JobFailure("ended the worker that read it, on the cluster")}
    assert ray.sizes.count(1) == 6 * 3


def test_who_stops_taking_results_calls_off_what_is_out(run: Run) -> None:
    ray = OneProcessRay()

    assert len(run(ray, take=1)) == 1
    assert ray.cancelled > 0


@pytest.mark.slow
def test_without_an_embedder_entries_have_no_vectors(run: Run) -> None:
    outcomes = run(OneProcessRay(), load_embedder=None)

    first = outcomes["0.md"]
    assert isinstance(first, PreparedFile)
    assert len(first.texts) == len(first.entries.rows) > 0
    assert first.entries.vectors == b""


@pytest.mark.slow
def test_a_machine_with_another_openbook_is_refused(run: Run) -> None:
    with pytest.raises(ClusterError, match=r"another Openbook: .*-\d+; here it is .*-\d+") as caught:
        run(OneProcessRay(), load_embedder=OtherHashEmbedder)

    assert "same version" in caught.value.hint


@pytest.mark.slow
def test_a_machine_that_cannot_do_it_is_refused_with_the_reason(run: Run) -> None:
    with pytest.raises(ClusterError, match="cannot prepare files: ArithmeticError: no model here"):
        run(OneProcessRay(), load_embedder=FirstLoader())


@pytest.mark.slow
def test_children_that_are_ended_while_they_load_are_started_again(run: Run, tmp_path: Path) -> None:
    ray = OneProcessRay(cpus=2)

    outcomes = run(ray, load_embedder=EndingLoader(tmp_path / "ended", 5))

    assert documents(outcomes) == set(FILES)
    assert (tmp_path / "ended").stat().st_size == 5
    assert min(ray.sizes) == 6  # no file was the cause


@pytest.mark.slow
def test_a_cluster_whose_children_are_ended_whenever_they_load_is_given_up(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"loading what prepares files ended the process .*\(7\)") as caught:
        run(OneProcessRay(cpus=2), load_embedder=EndingLoader(tmp_path / "ended", 100))

    assert (tmp_path / "ended").stat().st_size == 6
    assert "memory" in caught.value.hint


@pytest.mark.slow
def test_a_cluster_that_takes_too_long_to_load_is_given_up_with_the_setting_that_allows_more(run: Run) -> None:
    with pytest.raises(ClusterError, match=r"loading what prepares files took longer than 1 s") as caught:
        run(OneProcessRay(cpus=1), load_embedder=HangingLoader(), settings=Settings(file_timeout_s=1.0))

    assert "OPENBOOK_FILE_TIMEOUT_S" in caught.value.hint


def test_what_passes_files_on_loads_nothing_that_prepares_them() -> None:
    asked = "import sys, openbook.integrations.ray_worker; print(*sys.modules)"

    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, encoding="utf-8", check=True).stdout
    loaded = told.split()

    assert "openbook.process_pool" in loaded
    assert not {"numpy", "openbook.ingest.preparation", "openbook.chunking"}.intersection(loaded)


def test_a_cluster_without_processors_is_given_up_after_a_while(run: Run) -> None:
    minutes = count()

    with pytest.raises(ClusterError, match="no processor for 300 s") as caught:
        run(OneProcessRay(cpus=0), now=lambda: next(minutes) * 60.0)

    assert caught.value.hint


@pytest.mark.parametrize(
    ("address", "connected"),
    [("auto", "auto"), ("head:6379", "head:6379"), ("//head:10001", "ray://head:10001"), ("ray://h:1", "ray://h:1")],
)
def test_an_address_is_what_follows_the_name_or_one_with_the_scheme_of_ray(address: str, connected: str) -> None:
    asked: list[tuple[str, int]] = []

    def connect(*arguments: Any) -> Any:
        asked.append(arguments)
        return contextlib.nullcontext(OneProcessRay())

    files = FilePreparer(Folder(Path()), Preparer("s", Settings(), HashEmbedder))

    assert list(RayExecutor(address, connect=connect).run(files, [], Settings(workers=3))) == []
    assert asked == [(connected, 3)]


def test_an_executor_without_an_address_is_refused() -> None:
    with pytest.raises(SettingsError, match="names no Ray cluster") as caught:
        RayExecutor("")

    assert "ray:auto" in caught.value.hint


def test_that_ray_is_not_installed_is_told_before_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(MissingExtraError, match="the package 'ray' is not installed") as caught:
        RayExecutor("auto")

    assert "openbook[ray]" in caught.value.hint
