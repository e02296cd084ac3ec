"""Processes that answer: searching and checking on all cores, while this process keeps its loop for those who wait."""

from __future__ import annotations

import asyncio
import logging
import pickle
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from functools import partial
from itertools import count

from openbook.agent.driving import CallModel, Wait
from openbook.answering.options import AnswerOptions
from openbook.answering.steps import arun
from openbook.answers import AnswerEvent
from openbook.libraries.catalog import Location
from openbook.llm.messages import ReplyFinished
from openbook.process_pool import CHILD, child_greeting
from openbook.server.answer_process import (
    READY,
    SIZE_BYTES,
    CancelAnswer,
    ChildMessage,
    ResumeAnswer,
    StartAnswer,
    run_child,
    without_models,
)
from openbook.server.failures import RequestRefusedError
from openbook.settings import Settings
from openbook.types import Filter

_logger = logging.getLogger(__name__)

# No step takes so long. A child that says nothing meanwhile hangs, and all that it was to answer with it.
_LONGEST_STEP_S = 120.0

# What a child computes when it is to end is waited for so long.
_GRACE_S = 2.0


# Of one answer, when the process that had it has ended. What ends every process that it is given must end some time.
_MOST_MOVES = 1


class WorkerEndedError(RequestRefusedError):
    """The process that had an answer has ended, or hung and was killed."""

    def __init__(self) -> None:
        super().__init__(503, "the process that was to answer has ended", hint="ask again")


class AnswerPool:
    """A pool of child processes that answer, started on demand. Not thread-safe: for one event loop."""

    def __init__(
        self, location: Location, settings: Settings, most: int, *, longest_step_s: float = _LONGEST_STEP_S
    ) -> None:
        self._greeting = child_greeting(partial(run_child, location, settings))
        self._most = most
        self._longest_step_s = longest_step_s
        self._children: list[_Child] = []
        self._starting = asyncio.Lock()
        self._growing: asyncio.Task[None] | None = None
        self._numbers = count(1)

    def stream(
        self, query: str, limit: int | None, where: Filter, options: AnswerOptions
    ) -> AsyncGenerator[AnswerEvent, None]:
        asked = StartAnswer(next(self._numbers), query, limit, where, without_models(options))
        return arun(_Steps(self, asked), options)

    @property
    def turns(self) -> int:
        """How many questions are searched for at a time: each process has the next one at hand."""
        return 2 * max(1, self._most)

    @property
    def pids(self) -> list[int]:
        """The processes that run, in the order in which they were started."""
        return [child.pid for child in self._children if not child.is_gone]

    async def start(self, size: int = 1) -> None:
        """Start up to so many children, and wait until they are ready."""
        for child in await self._grown(size):
            await child.ready.wait()

    async def close(self) -> None:
        """End the children, now and for good. What they had to answer fails."""
        self._most = 0
        async with self._starting:
            children, self._children = self._children, []
        await asyncio.gather(*(child.close() for child in children))

    async def least_busy(self) -> _Child:
        """Return the child that has least to do, and start another one if all have something."""
        # One that is not ready yet takes questions too: whoever waits for it then notices if it hangs.
        running = [child for child in self._children if not child.is_gone] or await self._grown(1)
        if not running:
            raise RequestRefusedError(503, "the server is being stopped", hint="ask again when it runs")
        found = min(running, key=lambda child: (not child.ready.is_set(), child.busy))
        if found.busy and len(running) < self._most and (self._growing is None or self._growing.done()):
            self._growing = asyncio.create_task(self.start(len(running) + 1))
        return found

    async def _grown(self, size: int) -> list[_Child]:
        """Start children up to so many, and give all that run."""
        async with self._starting:
            self._children = [child for child in self._children if not child.is_gone]
            while len(self._children) < min(size, self._most):
                self._children.append(await _Child.start(self._greeting, self._longest_step_s))
            return list(self._children)


class _Child:
    """One child, and what is waited for of it."""

    def __init__(self, process: asyncio.subprocess.Process, longest_step_s: float) -> None:
        self.ready = asyncio.Event()
        """Set once it can answer without delay, or never will."""
        self.is_gone = False
        self.busy = 0
        """Questions whose next step it is to take."""
        self._process = process
        self._longest_step_s = longest_step_s
        self._heard_s = 0.0
        self._said: dict[int, asyncio.Queue[ChildMessage | None]] = {}
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, said_first: bytes, longest_step_s: float) -> _Child:
        """Start one. It takes about a second until it is ready."""
        pipe = asyncio.subprocess.PIPE
        # A session of its own: Ctrl-C is for the server, which decides what it means.
        process = await asyncio.create_subprocess_exec(
            sys.executable, *CHILD, stdin=pipe, stdout=pipe, start_new_session=True
        )
        child = cls(process, longest_step_s)
        child._write(said_first)
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, message: StartAnswer | ResumeAnswer) -> None:
        if not self.busy:
            self._heard_s = asyncio.get_running_loop().time()
        self.busy += 1
        self._said.setdefault(message.number, asyncio.Queue())
        self._write(pickle.dumps(message))
        if self.is_gone:
            self._said[message.number].put_nowait(None)

    async def hear(self, number: int) -> ChildMessage:
        """Wait for what is said of a question.

        Raises:
            WorkerEndedError: The child has gone, or hangs and was ended.
        """
        queue, loop = self._said[number], asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout_at(self._heard_s + self._longest_step_s):
                    said = await queue.get()
            except TimeoutError:
                if loop.time() - self._heard_s >= self._longest_step_s:
                    self._kill()
                continue
            if said is None:
                raise WorkerEndedError
            if said.said is None or isinstance(said.said, CallModel | Exception):
                self.busy -= 1
            return said

    def leave(self, number: int, *, is_waiting: bool) -> None:
        """Drop a question. `is_waiting`: it is still being answered."""
        self._said.pop(number, None)
        if is_waiting:
            self.busy -= 1
        self._write(pickle.dumps(CancelAnswer(number)))

    async def close(self) -> None:
        """End the process: in order, or at once if it is busy for long."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await self._process.wait()
        self._kill()
        await self._listening

    def _write(self, packed: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        if not stdin.is_closing():
            stdin.write(packed)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                size = int.from_bytes(await stdout.readexactly(SIZE_BYTES), "big")
                said: ChildMessage = pickle.loads(await stdout.readexactly(size))
                self._heard_s = asyncio.get_running_loop().time()
                if said == READY:
                    self.ready.set()
                elif said.number in self._said:
                    self._said[said.number].put_nowait(said)
        self.is_gone = True
        self.ready.set()
        for queue in self._said.values():
            queue.put_nowait(None)
        await self._process.wait()


class _Steps:
    """The steps of one answer, taken in a child; in another one if that ends before it is done."""

    def __init__(self, answer_pool: AnswerPool, asked: StartAnswer) -> None:
        self._answerers = answer_pool
        self._child: _Child | None = None
        self._is_waiting = False
        self._number = asked.number
        self._sent: list[StartAnswer | ResumeAnswer] = [asked]
        """All that a child has to be told to get as far."""
        self._calls: list[CallModel] = []
        """What each of those led to, but the last."""
        self._moves = 0

    async def take(self, reply: ReplyFinished | None) -> AsyncGenerator[AnswerEvent | CallModel | Wait, None]:
        """Yield steps up to the next that asks a model, or to the end.

        Raises:
            WorkerEndedError: The child has ended, and the answer cannot go on in another one.
        """
        if self._calls:
            self._sent.append(ResumeAnswer(self._number, reply))
        told = 0
        while True:
            try:
                async with aclosing(self._steps()) as steps:
                    skipped = 0
                    async for step in steps:
                        if skipped < told:  # of the same step, in the child that has ended
                            skipped += 1
                            continue
                        told, skipped = told + 1, skipped + 1
                        if isinstance(step, CallModel):
                            self._calls.append(step)
                        yield step
            except WorkerEndedError:
                if self._moves == _MOST_MOVES:
                    raise
                self._moves += 1
                self._child = None
                _logger.warning("a worker has ended; its answer goes on in another one")
            else:
                return

    async def _steps(self) -> AsyncGenerator[AnswerEvent | CallModel | Wait, None]:
        """Yield the steps that the last message leads to. A child that does not know the answer is brought so far."""
        if self._child is None:
            self._child = await self._answerers.least_busy()
            for message, call in zip(self._sent, self._calls, strict=False):
                async with aclosing(self._answer_to(message)) as steps:
                    taken = [step async for step in steps]
                if taken[-1:] != [call]:  # the library has changed, and what the model wrote is of other sources
                    raise WorkerEndedError
        async with aclosing(self._answer_to(self._sent[-1])) as steps:
            async for step in steps:
                yield step

    async def _answer_to(
        self, message: StartAnswer | ResumeAnswer
    ) -> AsyncGenerator[AnswerEvent | CallModel | Wait, None]:
        assert self._child is not None
        self._child.tell(message)
        self._is_waiting = True
        while self._is_waiting:
            said = (await self._child.hear(self._number)).said
            self._is_waiting = said is not None and not isinstance(said, CallModel | Exception)
            if isinstance(said, Exception):
                raise said
            if said is not None:
                yield said

    def close(self) -> None:
        if self._child is not None:
            self._child.leave(self._number, is_waiting=self._is_waiting)
