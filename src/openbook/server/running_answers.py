"""Background answers: each is a task with an event log, which clients can replay from any event on.

Servers with a shared store can find each other's answers.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal

from fastapi.encoders import jsonable_encoder
from fastapi.sse import ServerSentEvent
from pydantic import BaseModel

from openbook.errors import SharedError
from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError, error_body, internal_error
from openbook.server.question_queue import Arrival
from openbook.server.question_service import QuestionService
from openbook.server.schemas import QueryRequest, RunningAnswerResponse
from openbook.server.shared_store import SharedWork, WorkRecord
from openbook.server.shutdown import ShutdownSignal
from openbook.server.streaming import as_events

_logger = logging.getLogger(__name__)

State = Literal["running", "done", "error", "stopped"]

# Callers do not wait for background answers, so this limits how many they start.
_MAX_RUNNING_PER_CALLER = 5

# Later, the answer is in its conversation. Only failures are lost.
_REMEMBERED_S = 600.0
_MAX_REMEMBERED = 300

# The state of an answer by the name of its last event.
_ENDS: dict[str, State] = {"done": "done", "error": "error", "stopped": "stopped"}


@dataclass(slots=True, eq=False)
class RunningAnswer:
    """An answer in progress, or one that ended recently."""

    owner: str
    query: str
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    session_id: str = ""
    begins: bool = False
    """Whether it is the first of its conversation, which is stored together with it."""
    replaces: str = ""
    """Id of the replaced answer."""
    state: State = "running"
    ended_at: float = 0.0
    """By `time.monotonic`."""
    events: list[ServerSentEvent | None] = field(default_factory=list)
    """The event with id N is at index N - 1. None: superseded."""
    place: int = 0
    """Place in the queue; 0 once its turn has come."""
    queued_at: int | None = None
    """Index of the last event with a place, which the next status supersedes."""
    draft_at: int | None = None
    """Index of the last draft, which the next draft or block supersedes."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at the next event, and then replaced."""
    task: asyncio.Task[None] | None = None

    def add(self, event: ServerSentEvent) -> None:
        """Append an event, and wake up followers."""
        numbered = ServerSentEvent(event=event.event, data=event.data, id=str(len(self.events) + 1))
        if event.event == "done":  # it contains everything that the others reported
            self.events = [None] * len(self.events)
        elif event.event in ("draft", "block") and self.draft_at is not None:
            self.events[self.draft_at], self.draft_at = None, None
        if event.event == "status":
            if self.queued_at is not None:
                self.events[self.queued_at], self.queued_at = None, None
            self.place = event.data.get("place", 0)
            if self.place:
                self.queued_at = len(self.events)
        if event.event == "draft":
            self.draft_at = len(self.events)
        self.events.append(numbered)
        if event.event in _ENDS:
            self.state, self.ended_at = _ENDS[event.event], time.monotonic()
        self.changed.set()
        self.changed = asyncio.Event()

    async def stop(self) -> None:
        """Cancel the answer and its model call. A finished answer is not changed."""
        if self.state == "running" and self.task is not None:
            self.task.cancel()
            await asyncio.wait({self.task})

    def response(self) -> RunningAnswerResponse:
        return RunningAnswerResponse.model_validate(self)

    async def follow(self, after: int) -> AsyncIterator[ServerSentEvent]:
        """Yield the events after one, past and future, until the answer ends."""
        at = after
        while True:
            changed = self.changed
            has_ended = self.state != "running"
            while at < len(self.events):
                event = self.events[at]
                at += 1
                if event is not None:
                    yield event
            if has_ended:
                return
            if not changed.is_set():
                await changed.wait()


# The interval in which its server reports.
LOOK_EVERY_S = 0.15

# A restart of the store takes some seconds. After that, the stream ends, and the client's next request gets the error.
_STORE_AWAY_S = 20.0

# The other server sees the stop request with its next report.
_STOPPED_WITHIN_S = 10.0

_LOST = "the server that was writing this answer has stopped"
_LOST_HINT = "ask again"


class RemoteAnswer:
    """An answer on another server."""

    def __init__(self, work: SharedWork, record: WorkRecord, stopping: ShutdownSignal) -> None:
        self._work = work
        self._record = record
        self._stopping = stopping

    def response(self) -> RunningAnswerResponse:
        return _response(self._record)

    async def follow(self, after: int) -> AsyncIterator[ServerSentEvent]:
        """Yield the events after one, past and future, until the answer ends."""
        at, away_s = after, 0.0
        while True:
            try:
                record = await self.read(at)
            except SharedError:
                if away_s >= _STORE_AWAY_S:
                    return
                away_s += 1
                async with self._stopping.interruptible():
                    await asyncio.sleep(1)
                continue
            away_s = 0.0
            if record is None:
                return
            for number, text in record.events:
                at = number
                yield read_event(number, text)
            if record.is_lost:
                data = error_body(_LOST, _LOST_HINT)["error"]
                yield ServerSentEvent(event="error", data=data, id=str(at + 1))
            if _response(record).state != "running":
                return
            async with self._stopping.interruptible():
                await asyncio.sleep(LOOK_EVERY_S)

    async def stop(self) -> None:
        """Ask its server to stop it, and wait for that. A finished answer is not changed."""
        await asyncio.to_thread(self._work.stop, "answer", self._record.owner, self._record.id)
        for _ in range(round(_STOPPED_WITHIN_S / LOOK_EVERY_S)):
            record = await self.read(0)
            if record is None or _response(record).state != "running":
                return
            await asyncio.sleep(LOOK_EVERY_S)

    async def read(self, after: int) -> WorkRecord | None:
        """Return its current state, with the events after one."""
        return await asyncio.to_thread(self._work.find, "answer", self._record.owner, self._record.id, after)


class RunningAnswers:
    """Running and recently ended answers, of this server and of servers with the same store.

    Only for the event loop.
    """

    def __init__(self, asker: QuestionService, stopping: ShutdownSignal, work: SharedWork | None) -> None:
        self._asker = asker
        self._stopping = stopping
        self._work = work
        self._answers: OrderedDict[str, RunningAnswer] = OrderedDict()

    async def start(self, question: QueryRequest, caller: Caller, arrival: Arrival) -> RunningAnswer:
        """Start an answer here, and return once the question is admitted. It continues without the caller."""
        try:
            others = await self._elsewhere(caller.owner)
        except SharedError:
            others = []  # the answers of this server are still limited
        self._forget()
        running = [each for each in self._answers.values() if each.owner == caller.owner and each.state == "running"]
        if len(running) + sum(each.state == "running" for each in others) >= _MAX_RUNNING_PER_CALLER:
            raise RequestRefusedError(
                *(429, f"{_MAX_RUNNING_PER_CALLER} of your questions are still being answered"),
                hint="wait for one of them, or stop it",
            )
        answer = RunningAnswer(caller.owner, question.query, replaces=question.replaces or "")
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._answers[answer.id] = answer
        answer.task = asyncio.create_task(self._answer(answer, question, caller, arrival, admitted))
        try:
            await admitted
        except BaseException:
            self._answers.pop(answer.id, None)
            answer.task.cancel()  # a caller who has left never learns its id, and pays nothing
            raise
        return answer

    async def find(self, owner: str, answer_id: str) -> RunningAnswer | RemoteAnswer | None:
        """Return an answer; None if this owner has none of that id.

        Raises:
            SharedError: It is not an answer of this server, and the store cannot be read.
        """
        found = self._here(owner, answer_id)
        if found is not None or self._work is None:
            return found
        record = await asyncio.to_thread(self._work.find, "answer", owner, answer_id)
        return None if record is None else RemoteAnswer(self._work, record, self._stopping)

    async def of(self, owner: str) -> list[RunningAnswerResponse]:
        """List the answers of an owner: first those of other servers, then those of this one, the oldest first.

        Raises:
            SharedError: The store cannot be read.
        """
        self._forget()
        here = {each.id: each.response() for each in self.all() if each.owner == owner}
        elsewhere = {each.id: each for each in await self._elsewhere(owner)}
        return list((elsewhere | here).values())

    def all(self) -> list[RunningAnswer]:
        """List the admitted answers of this server, whose conversation is known, the oldest first."""
        return [each for each in self._answers.values() if each.session_id]

    async def close(self) -> None:
        here = asyncio.all_tasks()  # answers of another event loop have ended with it
        tasks = [each.task for each in self._answers.values() if each.task in here and each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(
        self,
        answer: RunningAnswer,
        question: QueryRequest,
        caller: Caller,
        arrival: Arrival,
        admitted: asyncio.Future[None],
    ) -> None:
        try:
            async with self._asker.admitted(question, caller, arrival) as asked:
                if admitted.done():  # its caller has just left
                    return
                answer.session_id, answer.begins = asked.session_id, asked.begins
                admitted.set_result(None)
                happening = self._asker.events(asked, sees_place=True)
                events = as_events(happening, asked.session_id)
                async with aclosing(events):
                    async for event in events:
                        answer.add(event)
        except asyncio.CancelledError:
            if not admitted.done():
                admitted.set_exception(
                    RequestRefusedError(503, "the server was stopped", hint="ask again when it runs")
                )
            if answer.state == "running":
                answer.add(ServerSentEvent(event="stopped", data=error_body("it was stopped")["error"]))
        except Exception as exc:
            if not admitted.done():
                admitted.set_exception(exc)
                return
            _logger.exception("a question failed")
            if answer.state == "running":
                answer.add(ServerSentEvent(event="error", data=internal_error()["error"]))

    def _here(self, owner: str, answer_id: str) -> RunningAnswer | None:
        self._forget()
        found = self._answers.get(answer_id)
        return found if found is not None and found.owner == owner else None

    async def _elsewhere(self, owner: str) -> list[RunningAnswerResponse]:
        if self._work is None:
            return []
        records = await asyncio.to_thread(self._work.all, "answer", owner)
        return [_response(each) for each in records if self._here(owner, each.id) is None]

    def _forget(self) -> None:
        """Forget answers that ended long ago and, if there are too many, the oldest ended ones."""
        ended = [each for each in self._answers.values() if each.state != "running"]
        too_many = max(0, len(self._answers) - _MAX_REMEMBERED)
        since = time.monotonic() - _REMEMBERED_S
        for at, each in enumerate(ended):
            if at < too_many or each.ended_at < since:
                del self._answers[each.id]


def _response(record: WorkRecord) -> RunningAnswerResponse:
    response = RunningAnswerResponse.model_validate_json(record.header)
    return response.model_copy(update={"state": "error"}) if record.is_lost else response


def write_event(event: ServerSentEvent) -> str:
    """Serialize an event: its name, and on the next line its value as JSON."""
    data = event.data
    written = data.model_dump_json() if isinstance(data, BaseModel) else json.dumps(jsonable_encoder(data))
    return f"{event.event}\n{written}"


def read_event(number: int, text: str) -> ServerSentEvent:
    """Parse an event that `write_event` has serialized."""
    name, _, data = text.partition("\n")
    return ServerSentEvent(event=name, raw_data=data, id=str(number))
