"""Work in the background: several pieces at a time, told as it goes, and stopped between two commits."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import pytest

from openbook.errors import SourceError
from openbook.ingest.sync import Progress
from openbook.process_pool import ProcessPool
from openbook.server.failures import RequestRefusedError
from openbook.server.jobs import Job, JobQueue
from tests.jobs import act
from tests.support import children_of


def queue(most: int = 1, timeout_s: float = 60.0) -> JobQueue:
    return JobQueue(most=most, timeout_s=timeout_s)


def followed(jobs: JobQueue, job: Job) -> list[tuple[str, int, int]]:
    async def read() -> list[tuple[str, int, int]]:
        return [(each.state, each.done, each.total) async for each in jobs.follow(job)]

    return asyncio.run(read())


def test_work_is_followed_to_its_report() -> None:
    jobs = queue()

    def work(progress: Progress) -> dict[str, Any]:
        progress(3, 3)
        return {"added": 3}

    job = jobs.start("ada", "docs", work)

    assert followed(jobs, job)[-1] == ("done", 3, 3)
    assert (job.report, jobs.find("ada", job.id), jobs.find("eve", job.id)) == ({"added": 3}, job, None)
    jobs.close()


def test_work_that_fails_tells_why_until_it_succeeds() -> None:
    jobs = queue()

    def fail(_: Progress) -> dict[str, Any]:
        raise SourceError("docs", "does not exist", hint="look again")

    failing = jobs.start("ada", "docs", fail)
    states = followed(jobs, failing)
    failed = jobs.failed()
    followed(jobs, jobs.start("ada", "docs", lambda _: {}))

    assert states[-1][0] == "error"
    assert failed == {"docs": "cannot read 'docs': does not exist; look again"}
    assert jobs.failed() == {}
    jobs.close()


def test_one_piece_is_done_after_the_other_and_a_stop_ends_both() -> None:
    jobs, began, may_go_on = queue(), threading.Event(), threading.Event()

    def work(progress: Progress) -> dict[str, Any]:
        began.set()
        may_go_on.wait(30)
        progress(1, 2)
        return {}

    first, second = jobs.start("ada", "docs", work), jobs.start("ada", "src", work)
    began.wait(30)
    waiting = second.state
    jobs.stop()
    may_go_on.set()
    jobs.close()

    assert waiting == "queued"
    assert {job.state for job in (first, second)} == {"error"}
    assert {job.message for job in (first, second)} == {"the server was stopped; it continues when it is started again"}


def test_jobs_beyond_the_size_of_the_queue_are_refused() -> None:
    jobs, may_go_on = queue(), threading.Event()

    def work(_: Progress) -> dict[str, Any]:
        may_go_on.wait(30)
        return {}

    for _ in range(100):
        jobs.start("ada", "docs", work)
    with pytest.raises(RequestRefusedError, match="too many jobs are waiting"):
        jobs.start("ada", "docs", work)
    may_go_on.set()
    jobs.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_internal_error_of_a_job_is_reported_without_its_message() -> None:
    jobs = queue()

    def break_down(_: Progress) -> dict[str, Any]:
        raise ValueError("with a secret in it")

    job = jobs.start("ada", "docs", break_down)

    assert followed(jobs, job)[-1][0] == "error"
    assert "secret" not in job.message
    jobs.close()


def test_a_cancelled_job_stops_and_others_go_on() -> None:
    jobs, began, may_go_on = queue(), threading.Event(), threading.Event()

    def work(progress: Progress) -> dict[str, Any]:
        began.set()
        may_go_on.wait(30)
        progress(1, 2)
        return {}

    running, waiting, other = (jobs.start("ada", name, work) for name in ("docs", "src", "lib"))
    began.wait(30)
    jobs.cancel_source("src")
    states = [job.state for job in (running, waiting, other)]
    threading.Timer(0.2, may_go_on.set).start()  # once the next line has begun
    jobs.cancel_source("docs")

    assert states == ["running", "error", "queued"]
    assert (running.state, running.message) == ("error", "its source was removed")
    assert followed(jobs, other)[-1][0] == "done"
    assert jobs.failed() == {}
    jobs.close()


def test_waiting_jobs_end_at_once_when_the_server_stops() -> None:
    jobs, may_go_on = queue(), threading.Event()

    def work(_: Progress) -> dict[str, Any]:
        may_go_on.wait(30)
        return {}

    _, waiting = jobs.start("ada", "docs", work), jobs.start("ada", "src", work)
    jobs.stop()

    assert followed(jobs, waiting) == [("error", 0, 0)]
    may_go_on.set()
    jobs.close()


def test_a_job_that_hangs_holds_up_only_jobs_about_the_same_files() -> None:
    jobs, may_go_on = queue(most=2), threading.Event()

    def hang(_: Progress) -> dict[str, Any]:
        may_go_on.wait(30)
        return {}

    hangs = jobs.start("ada", "uploads", hang, paths=["bad.pdf"])
    same = jobs.start("ada", "uploads", lambda _: {}, paths=["bad.pdf", "more.md"])
    all_of_it = jobs.start("ada", "uploads", lambda _: {})
    behind = jobs.start("eve", "uploads", lambda _: {}, paths=["good.md"])
    others = [jobs.start("eve", name, lambda _: {}, paths=["bad.pdf"]) for name in ("docs", "more uploads")]
    ended = [followed(jobs, other)[-1][0] for other in others]
    waiting = [job.state for job in (hangs, same, all_of_it, behind)]
    may_go_on.set()

    assert ended == ["done", "done"]
    assert waiting == ["running", "queued", "queued", "queued"]  # the last one is about a part of all
    assert [followed(jobs, job)[-1][0] for job in (same, all_of_it, behind)] == ["done"] * 3
    jobs.close()


@pytest.mark.slow
@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "late"])
def test_a_job_ends_while_a_child_reads_a_file_without_end(is_cancelled: bool) -> None:
    jobs, began = queue(timeout_s=60.0 if is_cancelled else 0.5), threading.Event()
    pool = ProcessPool(act, count=1, timeout_s=60.0)

    def read(_: Progress) -> dict[str, Any]:
        began.set()
        return dict(pool.run(["sleep 60"]))

    before = children_of(os.getpid())
    job = jobs.start("ada", "uploads", read)
    began.wait(30)
    if is_cancelled:
        jobs.cancel(job)

    assert followed(jobs, job)[-1][0] == "error"
    assert job.message == ("it was cancelled" if is_cancelled else "it took longer than 0.5 s; send less at once")
    assert children_of(os.getpid()) <= before
    jobs.close()
