"""A child of the server: searches and checks for many questions, a step at a time. Models are called elsewhere."""

from __future__ import annotations

import logging
import pickle
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import IO, Any

from openbook.agent.driving import CallModel, Wait, next_step
from openbook.agent.running import wait_for
from openbook.agent.toolsets import installed_tools
from openbook.answering.options import AnswerOptions
from openbook.answering.steps import Steps
from openbook.answers import AnswerEvent
from openbook.errors import OpenbookError
from openbook.libraries.catalog import Location
from openbook.libraries.repositories import with_permalinks
from openbook.library import Library
from openbook.llm.messages import Event, ReplyFinished, Request
from openbook.process_pool import become_child, exit_immediately
from openbook.retrieval.search import EVERYTHING
from openbook.server.logs import log_as_json
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from openbook.types import Filter

_logger = logging.getLogger(__name__)

SIZE_BYTES = 4
"""How many bytes before each message of a child say how long it is, the highest first."""


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
    """A message of a child: an event, a model call, the end or an error."""

    number: int
    said: AnswerEvent | CallModel | OpenbookError | None
    """A step or an error; None behind the last step."""


READY = ChildMessage(0, None)
"""What a child says once it can answer without delay. No question has this number."""

_NOBODYS = "Where are sessions kept?"


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """Stands for a model that the parent process calls."""

    name: str

    def stream(self, request: Request) -> Iterator[Event]:
        """Cannot be called here."""
        raise NotImplementedError

    def astream(self, request: Request) -> AsyncIterator[Event]:
        """Cannot be called here."""
        raise NotImplementedError


def without_models(options: AnswerOptions) -> AnswerOptions:
    """Return what can be sent to a child: names in the place of models, and no tools, which it finds by itself.

    A judge is sent as it is.
    """
    model = None if options.writer is None else RemoteModel(options.writer.name)
    other = options.other_verifier
    return replace(
        options,
        model=model,
        tools=options.uses_tools,
        verifier=options.verifier if other is None else RemoteModel(other.name),
    )


def run_child(location: Location, settings: Settings, requests: IO[bytes], says: IO[bytes]) -> None:
    """Open a library and answer from it. This is the child's whole life."""
    become_child()
    # Whoever stops a service tells all of its processes. This one ends when the server has no more use for it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    log_as_json()
    with closing(ServedLibrary(Library(location, settings))) as library:
        try:
            serve_answers(library, requests, says)
        except BrokenPipeError:
            exit_immediately()


def serve_answers(library: ServedLibrary, requests: IO[bytes], says: IO[bytes]) -> None:
    """Do what is told, until nothing more is.

    `requests` has `StartAnswer`, `ResumeAnswer` and `CancelAnswer`, pickled, one behind the other. Each `ChildMessage`
    goes to `says`, pickled, behind its length.
    """

    def say(said: ChildMessage) -> None:
        packed = pickle.dumps(said)
        says.write(len(packed).to_bytes(SIZE_BYTES, "big") + packed)
        says.flush()

    # The first question loads a lot, which nobody should have to wait for.
    nobodys = _Answerer(library, say=lambda _: None)
    nobodys.handle(StartAnswer(READY.number, _NOBODYS, 1, EVERYTHING, AnswerOptions(model=RemoteModel("none"))))
    nobodys.handle(CancelAnswer(READY.number))
    answerer = _Answerer(library, say)
    say(READY)
    with suppress(EOFError, pickle.UnpicklingError):  # no more, or half of something, of a server that is gone
        while True:
            answerer.handle(pickle.load(requests))


class _Answerer:
    """The questions that a child answers."""

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
            step = _next(steps, None)
            while step is not None:
                if isinstance(step, CallModel | Wait):
                    step = _next(steps, (yield step))
                else:
                    yield with_permalinks(step, assistant.index)
                    step = _next(steps, None)

    def _go_on(self, number: int, reply: ReplyFinished | None) -> None:
        last = self._taken(number, self._answering[number], reply)
        if not isinstance(last, CallModel):
            del self._answering[number]
        self._say(ChildMessage(number, last))

    def _taken(self, number: int, steps: Steps[None], reply: ReplyFinished | None) -> CallModel | OpenbookError | None:
        """Take steps, and give the first that somebody else has to do, or why there is none."""
        try:
            step = _next(steps, reply)
            while step is not None and not isinstance(step, CallModel):
                if isinstance(step, Wait):
                    wait_for(step.running, step.timeout_s)
                else:
                    self._say(ChildMessage(number, step))
                step = _next(steps, None)
        except OpenbookError as exc:
            return exc
        except Exception:
            _logger.exception("a question failed")
            return OpenbookError("this question could not be answered", hint="the log of the server has more")
        return step


def _next(steps: Steps[None], reply: ReplyFinished | None) -> AnswerEvent | CallModel | Wait | None:
    return next_step(steps, reply)
