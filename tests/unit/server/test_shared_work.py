"""What a server tells others of its work, and what it makes of what they tell, when the store or a server goes away."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.sse import ServerSentEvent

from openbook.errors import SharedError
from openbook.server.failures import RequestRefusedError
from openbook.server.jobs import JobQueue, RemoteJob
from openbook.server.running_answers import RemoteAnswer, RunningAnswer, RunningAnswers
from openbook.server.shared_store import Kind, UpdateReply, WorkRecord, WorkUpdate
from openbook.server.shutdown import ShutdownSignal
from openbook.server.work_reporter import WorkReporter

HEADER = json.dumps({"id": "1", "session_id": "2", "begins": True, "query": "Why?", "state": "running", "place": 0})
JOB = {"id": "1", "state": "running", "done": 1, "total": 3, "message": "", "report": None}


class MemoryWork:
    """The store of a test: keeps what it is told, loses it, or is away for some calls."""

    def __init__(self, *told: WorkRecord) -> None:
        self.told = {each.id: each for each in told}
        self.updates: list[WorkUpdate] = []
        self.stopped: list[str] = []
        self.away = 0
        self.is_behind = False

    def update(self, kind: Kind, update: WorkUpdate) -> UpdateReply:
        self._check()
        is_behind, self.is_behind = self.is_behind and bool(update.known), False
        if not is_behind:
            self.updates.append(update)
        return UpdateReply(is_behind, update.id in self.stopped)

    def find(self, kind: Kind, owner: str, work_id: str, after: int = 0) -> WorkRecord | None:
        self._check()
        found = self.told.get(work_id)
        if found is None:
            return None
        return dataclasses.replace(found, events=tuple(each for each in found.events if each[0] > after))

    def all(self, kind: Kind, owner: str | None = None) -> list[WorkRecord]:
        self._check()
        return list(self.told.values())

    def stop(self, kind: Kind, owner: str, work_id: str) -> None:
        self.stopped.append(work_id)
        found = self.told.pop(work_id)
        assert found.owner == owner

    def _check(self) -> None:
        if self.away:
            self.away -= 1
            raise SharedError("the store is away")


class Answers:
    """The answers of a server."""

    def __init__(self, *answers: RunningAnswer) -> None:
        self.answers = list(answers)

    def all(self) -> list[RunningAnswer]:
        return self.answers


class Asker:
    """Admits every question, and answers it at once."""

    @asynccontextmanager
    async def admitted(self, *_: object) -> AsyncIterator[Any]:
        yield SimpleNamespace(session_id="2", begins=True)

    async def events(self, *_: object, sees_place: bool) -> AsyncGenerator[Any, None]:
        return
        yield


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


def event(name: str, **data: object) -> ServerSentEvent:
    return ServerSentEvent(event=name, data=data)


async def followed(answer: RemoteAnswer) -> list[tuple[str | None, str | None]]:
    return [(each.event, each.id) async for each in answer.follow(0)]


def test_following_an_answer_of_a_lost_server_ends_with_an_error() -> None:
    lost = WorkRecord("1", "ada", HEADER, is_lost=True, events=((1, 'delta\n{"text": "A"}'), (4, "delta\n{}")))
    answer = RemoteAnswer(MemoryWork(lost), lost, ShutdownSignal())

    assert answer.response().state == "error"
    assert run(followed(answer)) == [("delta", "1"), ("delta", "4"), ("error", "5")]


@pytest.mark.slow
def test_following_survives_a_restart_of_the_store_and_ends_if_the_answer_is_unknown() -> None:
    running = WorkRecord("1", "ada", HEADER, is_lost=False)
    work = MemoryWork(dataclasses.replace(running, header=HEADER.replace("running", "done"), events=((1, "done\n{}"),)))
    work.away = 1

    assert run(followed(RemoteAnswer(work, running, ShutdownSignal()))) == [("done", "1")]
    assert run(followed(RemoteAnswer(MemoryWork(), running, ShutdownSignal()))) == []


def test_questions_at_other_servers_count_against_the_limit_unless_the_store_is_away() -> None:
    work = MemoryWork(*(WorkRecord(str(number), "ada", HEADER, is_lost=False) for number in range(5)))
    asker: Any = Asker()
    caller: Any = SimpleNamespace(owner="ada")
    question: Any = SimpleNamespace(query="Why?", replaces=None)
    arrival: Any = None

    async def ask_twice() -> str:
        answers = RunningAnswers(asker, ShutdownSignal(), work)
        with pytest.raises(RequestRefusedError, match="5 of your questions are still being answered"):
            await answers.start(question, caller, arrival)
        work.away = 1
        return (await answers.start(question, caller, arrival)).query

    assert run(ask_twice()) == "Why?"


@pytest.mark.parametrize("turns", range(1, 9))
def test_a_caller_who_leaves_before_the_question_is_admitted_leaves_nothing_behind(
    caplog: pytest.LogCaptureFixture, turns: int
) -> None:
    left: list[str] = []

    class SlowAsker(Asker):
        @asynccontextmanager
        async def admitted(self, *_: object) -> AsyncIterator[Any]:
            try:
                for _turn in range(3):
                    await asyncio.sleep(0)
                yield SimpleNamespace(session_id="2", begins=True)
            finally:
                left.append("left")

        async def events(self, *_: object, sees_place: bool) -> AsyncGenerator[Any, None]:
            await asyncio.sleep(60)
            yield

    async def leave() -> tuple[bool, int]:
        asker: Any = SlowAsker()
        caller: Any = SimpleNamespace(owner="ada")
        question: Any = SimpleNamespace(query="Why?", replaces=None)
        arrival: Any = None
        answers = RunningAnswers(asker, ShutdownSignal(), None)
        starting = asyncio.create_task(answers.start(question, caller, arrival))
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        await asyncio.wait({starting})
        for _ in range(9):
            await asyncio.sleep(0)
        here = len(answers.all())
        await answers.close()
        return starting.cancelled(), here

    has_left, here = run(leave())

    assert (here, left, caplog.text) == (not has_left, ["left"], "")
    assert has_left or turns > 2  # later, it is admitted, and goes on without its caller


def test_new_work_goes_on_whatever_prevents_its_report(caplog: pytest.LogCaptureFixture) -> None:
    class BrokenWork(MemoryWork):
        def update(self, kind: Kind, update: WorkUpdate) -> UpdateReply:
            raise ValueError("the store replies nonsense")

    async def report(work: MemoryWork) -> None:
        answers: Any = Answers(RunningAnswer("ada", "Why?", session_id="2"))
        await WorkReporter(work, answers, JobQueue(most=1, timeout_s=9)).report_now()

    away = MemoryWork()
    away.away = 1
    run(report(away))
    assert caplog.text == ""

    run(report(BrokenWork()))
    assert "the store replies nonsense" in caplog.text


def test_superseded_events_are_dropped_and_a_store_that_lost_updates_gets_everything_again() -> None:
    async def tell() -> list[WorkUpdate]:
        answer, work = RunningAnswer("ada", "Why?", session_id="2"), MemoryWork()
        reporter = WorkReporter(work, Answers(answer), JobQueue(most=1, timeout_s=9))  # type: ignore[arg-type]
        answer.add(event("status", stage="searching"))
        answer.add(event("draft", html="A"))
        await reporter.report()
        answer.add(event("draft", html="AB"))
        await reporter.report()
        await reporter.report()  # nothing is new
        work.is_behind = True
        answer.add(event("block", html="ABC"))
        await reporter.report()
        answer.add(event("done", answer="ABC"))
        await reporter.report()
        await reporter.report()  # it has ended
        return work.updates

    told = run(tell())

    assert [[number for number, _ in update.events] for update in told] == [[1, 2], [3], [1, 4], [5]]
    assert [(update.known, update.dropped) for update in told] == [(0, ()), (2, (2,)), (0, ()), (4, (1,))]
    assert [(update.is_whole, update.has_ended) for update in told] == [(False, False)] * 3 + [(True, True)]


def test_unchanged_work_sends_heartbeats() -> None:
    now_s = [0.0]

    async def tell() -> int:
        work = MemoryWork()
        answers: Any = Answers(RunningAnswer("ada", "Why?", session_id="2"))
        reporter = WorkReporter(work, answers, JobQueue(most=1, timeout_s=9), clock=lambda: now_s[0])
        for _ in range(10):
            await reporter.report()
            now_s[0] += 1.0
        return len(work.updates)

    assert run(tell()) == 5


@pytest.mark.slow
def test_work_cancelled_elsewhere_stops_and_an_unreachable_store_stops_nothing() -> None:
    goes_on = threading.Event()

    async def tell() -> tuple[bool, str]:
        answer, work, jobs = RunningAnswer("ada", "Why?", session_id="2"), MemoryWork(), JobQueue(most=1, timeout_s=9)
        answer.task = asyncio.create_task(asyncio.sleep(60))
        jobs.start("", "", lambda _: {"waited": goes_on.wait(30)})
        job = jobs.start("ada", "notes", lambda _: {})
        answers: Any = Answers(answer)
        work.stopped = [answer.id, job.id]
        work.away = 1
        reporter = asyncio.create_task(WorkReporter(work, answers, jobs).run())
        while not job.has_ended:  # noqa: ASYNC110 - another thread ends it
            await asyncio.sleep(0.01)
        reporter.cancel()
        goes_on.set()
        jobs.close()
        return answer.task.cancelled(), job.message

    assert run(tell()) == (True, "it was cancelled")


def test_a_job_of_a_lost_server_has_failed() -> None:
    told = WorkRecord("1", "ada", json.dumps({"source": "notes", "job": JOB}), is_lost=True)

    job = RemoteJob(told)

    assert (job.has_ended, job.response().state, "stopped" in job.response().message) == (True, "error", True)


def test_a_source_is_free_when_other_servers_have_stopped_its_jobs() -> None:
    header = json.dumps({"source": "notes", "job": JOB})
    work = MemoryWork(
        WorkRecord("1", "ada", header, is_lost=False), WorkRecord("2", "bo", header.replace("notes", "a"), False)
    )
    jobs = JobQueue(most=1, timeout_s=9, work=work)

    busy = [job.source for job in jobs.elsewhere()]
    jobs.cancel_elsewhere("notes")
    work.away = 1

    assert busy == ["notes", "a"]
    assert work.stopped == ["1"]
    assert jobs.elsewhere() == []  # nobody knows
    assert [job.source for job in jobs.elsewhere()] == ["a"]


@pytest.mark.slow
def test_a_job_of_another_server_is_followed_until_it_ends_or_is_forgotten() -> None:
    running = WorkRecord("1", "ada", json.dumps({"source": "notes", "job": JOB}), is_lost=False)
    done = dataclasses.replace(running, header=running.header.replace("running", "done"))

    async def states(work: MemoryWork) -> list[str]:
        jobs = JobQueue(most=1, timeout_s=9, work=work)
        return [each.state async for each in jobs.follow(RemoteJob(running))]

    assert run(states(MemoryWork(done))) == ["running", "done"]
    assert run(states(MemoryWork())) == ["running"]


def test_an_answer_elsewhere_is_stopped_by_its_server() -> None:
    running = WorkRecord("1", "ada", HEADER, is_lost=False)
    work = MemoryWork(running)

    run(RemoteAnswer(work, running, ShutdownSignal()).stop())

    assert work.stopped == ["1"]
