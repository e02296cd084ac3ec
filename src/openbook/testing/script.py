"""What a scripted model says: one step for each call, in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from openbook.errors import ModelError
from openbook.llm.messages import Message, Part, StopReason, TextBlock, Usage

S = TypeVar("S")

_USAGE = Usage(input_tokens=10, output_tokens=5)


class ScriptedReply:
    """A scripted reply of a model."""

    def __init__(
        self,
        *parts: str | Part,
        usage: Usage | None = _USAGE,
        stop: StopReason | None = None,
        error: ModelError | None = None,
    ) -> None:
        """Say `parts`; none of them is an empty reply.

        Args:
            parts: Texts, tool calls, citations, in order.
            usage: 10 tokens read and 5 written, unless said; None: not reported.
            stop: Unless said, `tools` if a tool is called, else `end`.
            error: Raised by a `ScriptedModel` after the parts, instead of an end. A `FakeServer` has `Fault` for it.
        """
        self.message: Message = Message(
            "assistant", tuple(TextBlock(part) if isinstance(part, str) else part for part in parts)
        )
        self.usage = usage
        self.stop: StopReason = stop or ("tools" if self.message.calls else "end")
        self.error = error


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response of a server that is an error."""

    status: int
    message: str = "refused by the script"
    headers: Mapping[str, str] = field(default_factory=dict)
    """Such as `retry-after`."""
    param: str | None = None
    """What is wrong in the request, where the wire says so."""
    page: str = ""
    """HTML that is sent instead of the wire's JSON, as by a proxy on the way."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A reply that goes wrong on its way."""

    then: Literal["cut", "end", "error", "hold", "malformed"]
    """What happens after some events.

    `cut`: the connection breaks. `end`: the response ends properly, and lacks the rest. `error`: an
    event reports that the provider is overloaded. `hold`: nothing more comes until the client goes.
    `malformed`: an event that is not JSON, and the end.
    """
    reply: ScriptedReply = field(default_factory=lambda: ScriptedReply("Well, here is what I found."))
    after: int = 0
    """Events that get through. `hold` after none sends not even a status; a response that is no stream has no events,
    so a part of its text gets through instead."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request that a server has found to be right."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]


ModelStep = str | ScriptedReply | ModelError
ServerStep = str | ScriptedReply | Fault | Refusal


class Script(Generic[S]):
    """Steps that must be consumed exactly."""

    def __init__(self, steps: tuple[S, ...]) -> None:
        self._steps = deque(steps)
        self._read = 0
        self._lock = threading.Lock()
        self._problems: list[str] = []

    def take(self, what: str) -> S:
        """Return the next step.

        Raises:
            AssertionError: There is none. `check` fails then too, in case this gets caught.
        """
        with self._lock:
            if not self._steps:
                surprise = AssertionError(f"the script has {self._read} steps, and was asked for one more by {what}")
                self.note(surprise)
                raise surprise
            self._read += 1
            return self._steps.popleft()

    def note(self, problem: Exception) -> None:
        """Make `check` fail, wherever the problem is caught."""
        if repr(problem) not in self._problems:
            self._problems.append(repr(problem))

    def check(self) -> None:
        """Fail if a step was not read, or if there was a problem.

        Raises:
            AssertionError: It says all that was wrong.
        """
        unread = [f"{len(self._steps)} steps of the script were not read"] if self._steps else []
        if unread or self._problems:
            raise AssertionError("; ".join(unread + self._problems))
