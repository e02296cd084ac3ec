"""Running answers of all servers that share a store, whichever of them is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi.sse import ServerSentEvent

from openbook.errors import SharedError
from openbook.server.auth import Caller
from openbook.server.failures import error_body
from openbook.server.question_queue import Arrival
from openbook.server.running_answers import RunningAnswer, RunningAnswers
from openbook.server.schemas import QueryRequest, RunningAnswerResponse
from openbook.server.shared_store import SharedWork, ToldWork
from openbook.server.shutdown import ShutdownSignal
from openbook.server.work_teller import WorkTeller, read_event

# As often as its server tells of it.
LOOK_EVERY_S = 0.15

# A restart of the store takes some seconds. Who follows asks again when the stream has ended, and is told why then.
_STORE_AWAY_S = 20.0

# A server that is asked to stop an answer hears it the next time that it tells of it.
_STOPPED_WITHIN_S = 10.0

_LOST = "the server that was writing this answer has stopped"
_LOST_HINT = "ask again"


class RemoteAnswer:
    """An answer that another server writes."""

    def __init__(self, work: SharedWork, told: ToldWork, stopping: ShutdownSignal) -> None:
        self._work = work
        self._told = told
        self._stopping = stopping

    def response(self) -> RunningAnswerResponse:
        return _response(self._told)

    async def follow(self, after: int) -> AsyncIterator[ServerSentEvent]:
        """Yield what happened after an event, and what happens from now on, until the answer has ended."""
        at, away_s = after, 0.0
        while True:
            try:
                told = await self.read(at)
            except SharedError:
                if away_s >= _STORE_AWAY_S:
                    return
                away_s += 1
                async with self._stopping.heeded():
                    await asyncio.sleep(1)
                continue
            away_s = 0.0
            if told is None:
                return
            for number, text in told.events:
                at = number
                yield read_event(number, text)
            if told.is_lost:
                data = error_body(_LOST, _LOST_HINT)["error"]
                yield ServerSentEvent(event="error", data=data, id=str(at + 1))
            if _response(told).state != "running":
                return
            async with self._stopping.heeded():
                await asyncio.sleep(LOOK_EVERY_S)

    async def stop(self) -> None:
        """Have its server stop it, and wait for that. One that has ended stays as it is."""
        await asyncio.to_thread(self._work.stop, "answer", self._told.owner, self._told.id)
        for _ in range(round(_STOPPED_WITHIN_S / LOOK_EVERY_S)):
            told = await self.read(0)
            if told is None or _response(told).state != "running":
                return
            await asyncio.sleep(LOOK_EVERY_S)

    async def read(self, after: int) -> ToldWork | None:
        """Return what is known of it now, with its events behind one."""
        return await asyncio.to_thread(self._work.find, "answer", self._told.owner, self._told.id, after)


class SharedAnswers:
    """Start and find answers, those of other servers too. Without a store there are none. For the event loop alone."""

    def __init__(
        self, here: RunningAnswers, stopping: ShutdownSignal, work: SharedWork | None, teller: WorkTeller | None
    ) -> None:
        self._here = here
        self._stopping = stopping
        self._work = work
        self._teller = teller

    async def start(self, question: QueryRequest, caller: Caller, arrival: Arrival) -> RunningAnswer:
        """Begin to answer here, and tell the others before the caller may ask them."""
        elsewhere = 0
        if self._work is not None:
            try:
                elsewhere = sum(each.state == "running" for each in await self._elsewhere(caller.owner))
            except SharedError:
                elsewhere = 0  # what this server counts still holds
        answer = await self._here.start(question, caller, arrival, elsewhere=elsewhere)
        if self._teller is not None:
            await self._teller.tell_now()
        return answer

    async def find(self, owner: str, answer_id: str) -> RunningAnswer | RemoteAnswer | None:
        """Return an answer; None if this owner has none of that id.

        Raises:
            SharedError: It is none of this server, and what others do cannot be read.
        """
        found = self._here.get(owner, answer_id)
        if found is not None or self._work is None:
            return found
        told = await asyncio.to_thread(self._work.find, "answer", owner, answer_id)
        return None if told is None else RemoteAnswer(self._work, told, self._stopping)

    async def of(self, owner: str) -> list[RunningAnswerResponse]:
        """List the answers of an owner in the order of their questions, here and elsewhere.

        Raises:
            SharedError: What other servers do cannot be read.
        """
        here = {each.id: each.response() for each in self._here.of(owner)}
        elsewhere = {} if self._work is None else {each.id: each for each in await self._elsewhere(owner)}
        return list((elsewhere | here).values())

    async def _elsewhere(self, owner: str) -> list[RunningAnswerResponse]:
        assert self._work is not None
        told = await asyncio.to_thread(self._work.all, "answer", owner)
        return [_response(each) for each in told if self._here.get(owner, each.id) is None]


def _response(told: ToldWork) -> RunningAnswerResponse:
    response = RunningAnswerResponse.model_validate_json(told.header)
    return response.model_copy(update={"state": "error"}) if told.is_lost else response
