"""A child of the server: searches and checks for many questions, a step at a time. Models are called elsewhere."""

from __future__ import annotations

import logging
import pickle
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import IO, Any

from openbook.agent.driving import Ask, Wait, next_step
from openbook.agent.running import wait_for
from openbook.answering.steps import Steps
from openbook.answering.writing import Writing
from openbook.assistant import Assistant
from openbook.errors import OpenbookError
from openbook.generation import AnswerEvent
from openbook.libraries import Location
from openbook.llm.messages import Event, Finished, Request
from openbook.repositories import linked
from openbook.retrieval.search import EVERYTHING
from openbook.server.library import Library
from openbook.server.logs import log_as_json
from openbook.settings import Settings
from openbook.types import Filter
from openbook.workers import be_a_child, leave_at_once

logger = logging.getLogger(__name__)

SIZE_BYTES = 4
"""How many bytes before each message of a child say how long it is, the highest first."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Answer a question, up to the first call of a model."""

    number: int
    query: str
    limit: int
    where: Filter
    writing: Writing


@dataclass(frozen=True, slots=True)
class GoOn:
    """The model has replied."""

    number: int
    reply: Finished | None


@dataclass(frozen=True, slots=True)
class Leave:
    """Nobody waits for the answer any more."""

    number: int


@dataclass(frozen=True, slots=True)
class Said:
    """What a child says of a question."""

    number: int
    said: AnswerEvent | Ask | OpenbookError | None
    """A step or an error; None behind the last step."""


READY = Said(0, None)
"""What a child says once it can answer without delay. No question has this number."""

_NOBODYS = "Where are sessions kept?"


@dataclass(frozen=True, slots=True)
class Absent:
    """The name of a model that another process calls."""

    name: str

    def stream(self, request: Request) -> Iterator[Event]:
        """Cannot be called here."""
        raise NotImplementedError

    def astream(self, request: Request) -> AsyncIterator[Event]:
        """Cannot be called here."""
        raise NotImplementedError


def absent(writing: Writing) -> Writing:
    """Return what can be sent to a child: names in the place of models. A judge is sent as it is."""
    model = None if writing.model is None else Absent(writing.model.name)
    other = writing.other_verifier
    return replace(writing, model=model, verifier=writing.verifier if other is None else Absent(other.name))


def answer(location: Location, settings: Settings, told: IO[bytes], says: IO[bytes]) -> None:
    """Open a library and answer from it. This is the child's whole life."""
    be_a_child()
    # Whoever stops a service tells all of its processes. This one ends when the server has no more use for it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    log_as_json()
    with closing(Library(Assistant(location, settings))) as library:
        try:
            attend(library, told, says)
        except BrokenPipeError:
            leave_at_once()


def attend(library: Library, told: IO[bytes], says: IO[bytes]) -> None:
    """Do what is told, until nothing more is.

    Args:
        library: To answer from.
        told: `Begin`, `GoOn` and `Leave`, pickled, one behind the other.
        says: Where each `Said` goes, pickled, behind its length.
    """

    def say(said: Said) -> None:
        packed = pickle.dumps(said)
        says.write(len(packed).to_bytes(SIZE_BYTES, "big") + packed)
        says.flush()

    # The first question loads a lot, which nobody should have to wait for.
    nobodys = _Answerer(library, say=lambda _: None)
    nobodys.heed(Begin(READY.number, _NOBODYS, 1, EVERYTHING, Writing(model=Absent("none"))))
    nobodys.heed(Leave(READY.number))
    answerer = _Answerer(library, say)
    say(READY)
    with suppress(EOFError, pickle.UnpicklingError):  # no more, or half of something, of a server that is gone
        while True:
            answerer.heed(pickle.load(told))


class _Answerer:
    """The questions that a child answers."""

    def __init__(self, library: Library, say: Callable[[Said], None]) -> None:
        self._library = library
        self._say = say
        self._answering: dict[int, Steps[Any]] = {}

    def heed(self, told: Begin | GoOn | Leave) -> None:
        """Do what the server wants."""
        match told:
            case Begin(number):
                self._answering[number] = self._steps(told)
                self._go_on(number, None)
            case GoOn(number, reply) if number in self._answering:
                self._go_on(number, reply)
            case Leave(number) if number in self._answering:
                self._answering.pop(number).close()

    def _steps(self, asked: Begin) -> Steps[None]:
        with self._library.in_use() as assistant:
            steps = assistant.generator.steps(asked.query, asked.limit, where=asked.where, writing=asked.writing)
            step = _next(steps, None)
            while step is not None:
                if isinstance(step, Ask | Wait):
                    step = _next(steps, (yield step))
                else:
                    yield linked(step, assistant.index)
                    step = _next(steps, None)

    def _go_on(self, number: int, reply: Finished | None) -> None:
        last = self._taken(number, self._answering[number], reply)
        if not isinstance(last, Ask):
            del self._answering[number]
        self._say(Said(number, last))

    def _taken(self, number: int, steps: Steps[None], reply: Finished | None) -> Ask | OpenbookError | None:
        """Take steps, and give the first that somebody else has to do, or why there is none."""
        try:
            step = _next(steps, reply)
            while step is not None and not isinstance(step, Ask):
                if isinstance(step, Wait):
                    wait_for(step.running, step.timeout_s)
                else:
                    self._say(Said(number, step))
                step = _next(steps, None)
        except OpenbookError as exc:
            return exc
        except Exception:
            logger.exception("a question failed")
            return OpenbookError("this question could not be answered", hint="the log of the server has more")
        return step


def _next(steps: Steps[None], reply: Finished | None) -> AnswerEvent | Ask | Wait | None:
    return next_step(steps, reply)
