"""The contract of executors. A new one joins by adding a line to `EXECUTORS`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from openbook.ingest.executor import Executor, InlineExecutor, ProcessExecutor
from openbook.ingest.preparation import FileJob, FilePreparer, PreparedFile, Preparer
from openbook.integrations.ray_executor import RayExecutor
from openbook.integrations.ray_worker import stop_children
from openbook.process_pool import JobFailure
from openbook.settings import Settings
from openbook.sources.folder import Folder
from tests.fakes.one_process_ray import OneProcessRay
from tests.jobs import FragileEmbedder
from tests.support import write_tree

SETTINGS = Settings(workers=2, file_timeout_s=60.0)
FILES = {f"{number}.md": f"# Part {number}\n\nOwls.\n" for number in range(40)} | {"bad.md": "A thorn.\n"}
JOBS = [FileJob(path, "") for path in [*FILES, "gone.md"]]

EXECUTORS: dict[str, Callable[[], Executor]] = {
    "inline": InlineExecutor,
    "processes": ProcessExecutor,
    "ray": lambda: RayExecutor("auto", connect=lambda *_: contextlib.nullcontext(OneProcessRay())),
}


@pytest.fixture(params=list(EXECUTORS.values()), ids=list(EXECUTORS))
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    yield request.param()
    stop_children()


@pytest.fixture
def files(tmp_path: Path) -> FilePreparer:
    return FilePreparer(Folder(write_tree(tmp_path / "tree", FILES), "s"), Preparer("s", SETTINGS, FragileEmbedder))


def prepared(file: PreparedFile | JobFailure) -> Any:
    assert isinstance(file, PreparedFile)
    return file.document, file.reason, file.entries


@pytest.mark.slow
def test_every_job_has_one_result_and_it_is_that_of_this_process(executor: Executor, files: FilePreparer) -> None:
    outcomes = list(executor.run(files, JOBS, SETTINGS))

    good = {job.path: prepared(outcome) for job, outcome in outcomes if job.path != "bad.md"}
    assert sorted(job.path for job, _ in outcomes) == sorted(job.path for job in JOBS)
    assert good == {job.path: prepared(files(job)) for job in JOBS if job.path != "bad.md"}


@pytest.mark.slow
def test_a_file_that_fails_has_the_reason_as_its_result(executor: Executor, files: FilePreparer) -> None:
    outcomes = {job.path: outcome for job, outcome in executor.run(files, JOBS, SETTINGS)}

    assert outcomes["bad.md"] == JobFailure("ArithmeticError: thorn")


@pytest.mark.slow
def test_what_has_not_changed_is_not_prepared(executor: Executor, files: FilePreparer) -> None:
    known = [
        FileJob(path, outcome.document.content_hash)
        for path in ("1.md", "2.md")
        if (outcome := files(FileJob(path, ""))).document
    ]

    assert [outcome for _, outcome in executor.run(files, known, SETTINGS)] == [PreparedFile(), PreparedFile()]


@pytest.mark.slow
def test_who_stops_taking_results_is_not_kept(executor: Executor, files: FilePreparer) -> None:
    with contextlib.closing(executor.run(files, JOBS, SETTINGS)) as outcomes:
        assert next(outcomes)[0] in JOBS

    assert list(outcomes) == []


def test_without_jobs_there_is_nothing(executor: Executor, files: FilePreparer) -> None:
    assert list(executor.run(files, [], SETTINGS)) == []
