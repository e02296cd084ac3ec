"""A pool of worker processes that answer questions on all cores, without blocking the event loop.

A child runs the steps of many answers, each up to the next model call, which the parent makes.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import queue
import signal
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

from openbook.agent.driving import CallModel, Wait, next_step
from openbook.agent.running import wait_for
from openbook.agent.toolsets import installed_tools
from openbook.answering.options import AnswerOptions
from openbook.answering.steps import Steps, arun
from openbook.answers import AnswerEvent
from openbook.errors import OpenbookError
from openbook.libraries.catalog import Location
from openbook.libraries.repositories import with_permalinks
from openbook.library import Library
from openbook.llm.messages import Event, ReplyFinished, Request
from openbook.process_pool import ChildEndedError, ChildProcess, child_greeting
from openbook.retrieval.search import EVERYTHING
from openbook.server.failures import RequestRefusedError
from openbook.server.logs import log_as_json
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from openbook.types import Filter

_logger = logging.getLogger(__name__)

# Longer than any step. A child that sends nothing for this time hangs, and so do all of its answers.
_MAX_STEP_S = 120.0

# Time for a stopped child to finish its current step.
_GRACE_S = 2.0

# How often an answer may move to another process because its own ended: an answer that crashes every process must end.
_MAX_MOVES = 1

_WARM_UP = "Where are sessions kept?"


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """Message to a child: start an answer, up to the first model call."""

    number: int
    query: str
    limit: int | None
    where: Filter
    options: AnswerOptions


@dataclass(frozen=True, slots=True)
class ResumeAnswer:
    """Message to a child: resume an answer with the model's reply."""

    number: int
    reply: ReplyFinished | None


@dataclass(frozen=True, slots=True)
class CancelAnswer:
    """Message to a child: cancel an answer."""

    number: int


@dataclass(frozen=True, slots=True)
class ChildMessage:
    """A message from a child: an event, a model call, the end, or an error."""

    number: int
    said: AnswerEvent | CallModel | OpenbookError | None
    """A step or an error; None after the last step."""


READY = ChildMessage(0, None)
"""Sent by a child when it can answer without delay. No question has this number."""


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A placeholder for a model that the parent process calls."""

    name: str

    def stream(self, request: Request) -> Iterator[Event]:
        """Cannot be called here."""
        raise NotImplementedError

    def astream(self, request: Request) -> AsyncIterator[Event]:
        """Cannot be called here."""
        raise NotImplementedError


def without_models(options: AnswerOptions) -> AnswerOptions:
    """Return options that can be pickled: placeholders for models, and no tools, which the child loads itself.

    A judge is pickled as it is.
    """
    model = None if options.writer is None else RemoteModel(options.writer.name)
    other = options.other_verifier
    return replace(
        options,
        model=model,
        tools=options.uses_tools,
        verifier=options.verifier if other is None else RemoteModel(other.name),
    )


class WorkerEndedError(RequestRefusedError):
    """A worker process ended, or hung and was killed, before the answer was complete."""

    def __init__(self) -> None:
        super().__init__(503, "the worker process has ended", hint="ask again")


class AnswerPool:
    """A pool of child processes that answer, started on demand. Not thread-safe: for one event loop."""

    def __init__(self, location: Location, settings: Settings, most: int, *, max_step_s: float = _MAX_STEP_S) -> None:
        self._greeting = child_greeting(partial(run_child, location, settings))
        self._most = most
        self._max_step_s = max_step_s
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
        """Number of concurrent questions: two per process, so that none idles."""
        return 2 * max(1, self._most)

    @property
    def pids(self) -> list[int]:
        """Ids of the running processes, the oldest first."""
        return [child.pid for child in self._children if not child.is_gone]

    async def start(self, size: int = 1) -> None:
        """Start up to that many children, and wait until they are ready."""
        for child in await self._grown(size):
            await child.ready.wait()

    async def close(self) -> None:
        """Stop all children. Unfinished answers fail."""
        self._most = 0
        async with self._starting:
            children, self._children = self._children, []
        await asyncio.gather(*(child.close() for child in children))

    async def least_busy(self) -> _Child:
        """Return the least busy child. If all are busy, start another one."""
        # A child that is not ready also gets questions: those who wait for them notice if it hangs.
        running = [child for child in self._children if not child.is_gone] or await self._grown(1)
        if not running:
            raise RequestRefusedError(503, "the server is being stopped", hint="ask again when it runs")
        found = min(running, key=lambda child: (not child.ready.is_set(), child.busy))
        if found.busy and len(running) < self._most and (self._growing is None or self._growing.done()):
            self._growing = asyncio.create_task(self.start(len(running) + 1))
        return found

    async def _grown(self, size: int) -> list[_Child]:
        """Start children until there are that many, and return all."""
        async with self._starting:
            self._children = [child for child in self._children if not child.is_gone]
            while len(self._children) < min(size, self._most):
                self._children.append(_Child(self._greeting, self._max_step_s))
            return list(self._children)


class _Child:
    """One child, and the replies expected from it. Two threads use its pipes, so that they never block the loop."""

    def __init__(self, greeting: bytes, max_step_s: float) -> None:
        """Start the process, which takes about a second to be ready."""
        self.ready = asyncio.Event()
        """Set once it can answer without delay, or will never be able to."""
        self.is_gone = False
        self._process = ChildProcess[ChildMessage](greeting, max_step_s)
        self._loop = asyncio.get_running_loop()
        self._busy = set[int]()
        self._said: dict[int, asyncio.Queue[ChildMessage | None]] = {}
        self._sending: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._is_lost = asyncio.Event()
        for work in (self._send, self._listen):
            threading.Thread(target=work, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def busy(self) -> int:
        """Number of questions that wait for its next step."""
        return len(self._busy)

    def tell(self, message: StartAnswer | ResumeAnswer) -> None:
        said = self._said.setdefault(message.number, asyncio.Queue())
        if not self._busy:
            self._process.waited_since_s = time.monotonic()
        self._busy.add(message.number)
        self._sending.put(pickle.dumps(message))
        if self.is_gone:
            said.put_nowait(None)

    async def hear(self, number: int) -> AnswerEvent | CallModel | None:
        """Wait for the next step of an answer; None after the last.

        Raises:
            OpenbookError: The answer failed.
            WorkerEndedError: The child ended, or hung and was killed.
        """
        message = await self._said[number].get()
        if message is None:
            raise WorkerEndedError
        if isinstance(message.said, Exception):
            raise message.said
        return message.said

    def leave(self, number: int) -> None:
        """Forget a question, answered or not."""
        self._said.pop(number, None)
        self._busy.discard(number)
        if not self._busy:
            self._process.waited_since_s = None
        self._sending.put(pickle.dumps(CancelAnswer(number)))

    async def close(self) -> None:
        """Stop the process: gracefully, or by force if it stays busy."""
        self._sending.put(None)
        await asyncio.to_thread(self._process.end, _GRACE_S)
        await self._is_lost.wait()

    def _send(self) -> None:
        with suppress(ChildEndedError):
            while (packed := self._sending.get()) is not None:
                self._process.send(packed)
            self._process.close_input()

    def _listen(self) -> None:
        try:
            with suppress(ChildEndedError):
                while True:
                    self._loop.call_soon_threadsafe(self._take, self._process.receive())
        finally:
            self._process.end()
            self._sending.put(None)
            with suppress(RuntimeError):  # the loop was already closed
                self._loop.call_soon_threadsafe(self._lose)

    def _take(self, message: ChildMessage) -> None:
        # Measured at arrival, because a reader may pause for longer than a step may take while the child is idle.
        if message.said is None or isinstance(message.said, CallModel | Exception):
            self._busy.discard(message.number)
        self._process.waited_since_s = time.monotonic() if self._busy else None
        if message == READY:
            self.ready.set()
        elif message.number in self._said:
            self._said[message.number].put_nowait(message)

    def _lose(self) -> None:
        self.is_gone = True
        self.ready.set()
        self._is_lost.set()
        for said in self._said.values():
            said.put_nowait(None)


class _Steps:
    """The steps of one answer, run in a child, or in another one if the first ends early."""

    def __init__(self, pool: AnswerPool, asked: StartAnswer) -> None:
        self._pool = pool
        self._child: _Child | None = None
        self._number = asked.number
        self._sent: list[StartAnswer | ResumeAnswer] = [asked]
        """All messages that a child needs to get to the same state."""
        self._calls: list[CallModel] = []
        """The model calls that resulted from these messages, except the last."""
        self._moves = 0

    async def take(self, reply: ReplyFinished | None) -> AsyncGenerator[AnswerEvent | CallModel | Wait, None]:
        """Yield steps up to the next model call, or to the end.

        Raises:
            WorkerEndedError: The child ended, and the answer cannot continue in another one.
        """
        if self._calls:
            self._sent.append(ResumeAnswer(self._number, reply))
        told = 0
        while True:
            try:
                child = self._child or await self._moved()
                child.tell(self._sent[-1])
                at = 0
                while (step := await child.hear(self._number)) is not None:
                    at += 1
                    if at <= told:  # unless the previous child has already sent it
                        continue
                    told = at
                    if isinstance(step, CallModel):
                        self._calls.append(step)
                        yield step
                        return
                    yield step
            except WorkerEndedError:
                if self._moves == _MAX_MOVES:
                    raise
                self._moves += 1
                self._child = None
                _logger.warning("a worker has ended; its answer continues in another one")
            else:
                return

    async def _moved(self) -> _Child:
        """Replay the answer so far in another child, and return that child."""
        child = self._child = await self._pool.least_busy()
        for message, call in zip(self._sent, self._calls, strict=False):
            child.tell(message)
            step = await child.hear(self._number)
            while not (step is None or isinstance(step, CallModel)):
                step = await child.hear(self._number)
            if step != call:  # the library has changed, and the model has seen other sources
                raise WorkerEndedError
        return child

    def close(self) -> None:
        if self._child is not None:
            self._child.leave(self._number)


# Everything below runs in a child.


def run_child(
    location: Location, settings: Settings, requests: Iterator[Any], say: Callable[[ChildMessage], None]
) -> None:
    """Open a library and answer from it: the main function of a child."""
    # A stopped service gets signals in all of its processes. This one ends when the server closes its input.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    log_as_json()
    with closing(ServedLibrary(Library(location, settings))) as library:
        serve_answers(library, requests, say)


def serve_answers(
    library: ServedLibrary,
    requests: Iterator[StartAnswer | ResumeAnswer | CancelAnswer],
    say: Callable[[ChildMessage], None],
) -> None:
    """Handle messages until the input ends."""
    # The first question imports many modules: run it before somebody waits.
    nobodys = _Answerer(library, say=lambda _: None)
    nobodys.handle(StartAnswer(READY.number, _WARM_UP, 1, EVERYTHING, AnswerOptions(model=RemoteModel("none"))))
    nobodys.handle(CancelAnswer(READY.number))
    answerer = _Answerer(library, say)
    say(READY)
    for request in requests:
        answerer.handle(request)


class _Answerer:
    """The questions of one child."""

    def __init__(self, library: ServedLibrary, say: Callable[[ChildMessage], None]) -> None:
        self._library = library
        self._say = say
        self._answering: dict[int, Steps[Any]] = {}

    def handle(self, request: StartAnswer | ResumeAnswer | CancelAnswer) -> None:
        match request:
            case StartAnswer(number):
                self._answering[number] = self._steps(request)
                self._go_on(number, None)
            case ResumeAnswer(number, reply) if number in self._answering:
                self._go_on(number, reply)
            case CancelAnswer(number) if number in self._answering:
                self._answering.pop(number).close()

    def _steps(self, asked: StartAnswer) -> Steps[None]:
        options = replace(asked.options, tools=installed_tools() or True) if asked.options.uses_tools else asked.options
        with self._library.in_use() as assistant:
            steps = assistant.generator.steps(asked.query, asked.limit, where=asked.where, options=options)
            step: AnswerEvent | CallModel | Wait | None = next_step(steps, None)
            while step is not None:
                if isinstance(step, CallModel | Wait):
                    step = next_step(steps, (yield step))
                else:
                    yield with_permalinks(step, assistant.index)
                    step = next_step(steps, None)

    def _go_on(self, number: int, reply: ReplyFinished | None) -> None:
        last = self._taken(number, self._answering[number], reply)
        if not isinstance(last, CallModel):
            del self._answering[number]
        self._say(ChildMessage(number, last))

    def _taken(self, number: int, steps: Steps[None], reply: ReplyFinished | None) -> CallModel | OpenbookError | None:
        """Run steps up to the first that the parent must do, and return it, or the error that ended them."""
        step: AnswerEvent | CallModel | Wait | None
        try:
            step = next_step(steps, reply)
            while step is not None and not isinstance(step, CallModel):
                if isinstance(step, Wait):
                    wait_for(step.running, step.timeout_s)
                else:
                    self._say(ChildMessage(number, step))
                step = next_step(steps, None)
        except OpenbookError as exc:
            return exc
        except Exception:
            _logger.exception("a question failed")
            return OpenbookError("this question could not be answered", hint="the log of the server has more")
        return step
