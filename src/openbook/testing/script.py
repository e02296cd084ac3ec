"""Scripts for model doubles: one step per call, in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from openbook.errors import ModelError
from openbook.llm.messages import Message, Part, StopReason, TextBlock, Usage
from openbook.text import counted

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
        """Reply with `parts`; none for an empty reply.

        Args:
            parts: Texts, tool calls, citations, in order.
            usage: By default, 10 input and 5 output tokens; None if not reported.
            stop: By default, `tools` if a tool is called, else `end`.
            error: Raised by a `ScriptedModel` after the parts, instead of the end. For a `FakeServer`, use `Fault`.
        """
        self.message: Message = Message(
            "assistant", tuple(TextBlock(part) if isinstance(part, str) else part for part in parts)
        )
        self.usage = usage
        self.stop: StopReason = stop or ("tools" if self.message.calls else "end")
        self.error = error


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response of a server."""

    status: int
    message: str = "refused by the script"
    headers: Mapping[str, str] = field(default_factory=dict)
    """Such as `retry-after`."""
    param: str | None = None
    """The invalid parameter, if the API reports one."""
    page: str = ""
    """HTML to send instead of JSON, like a proxy would."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A reply that fails during transfer."""

    then: Literal["cut", "end", "error", "hold", "malformed"]
    """What happens after `after` events.

    `cut`: the connection breaks. `end`: the response ends properly, but incomplete. `error`: an event reports that the
    provider is overloaded. `hold`: nothing more is sent until the client disconnects. `malformed`: an event that is not
    JSON, and the end.
    """
    reply: ScriptedReply = field(default_factory=lambda: ScriptedReply("Well, here is what I found."))
    after: int = 0
    """Number of events sent before. `hold` after 0 does not even send a status. Without streaming there are no events,
    so part of the text is sent instead."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request that a server has accepted."""

    path: str
    headers: Mapping[str, str]
    """Header names are in lower case."""
    body: Mapping[str, Any]


ModelStep = str | ScriptedReply | ModelError
ServerStep = str | ScriptedReply | Fault | Refusal


class Script(Generic[S]):
    """Steps that must be used exactly."""

    def __init__(self, steps: tuple[S, ...]) -> None:
        self._steps = deque(steps)
        self._read = 0
        self._lock = threading.Lock()
        self._problems: list[str] = []

    def take(self, what: str) -> S:
        """Return the next step.

        Raises:
            AssertionError: There is none. `check` fails then too, in case this is caught.
        """
        with self._lock:
            if not self._steps:
                surprise = AssertionError(
                    f"the script has {counted(self._read, 'step')}, and was asked for one more by {what}"
                )
                self.note(surprise)
                raise surprise
            self._read += 1
            return self._steps.popleft()

    def note(self, problem: Exception) -> None:
        """Make `check` fail, even if the problem is caught elsewhere."""
        if repr(problem) not in self._problems:
            self._problems.append(repr(problem))

    def check(self) -> None:
        """Fail if a step was not used, or if there was a problem.

        Raises:
            AssertionError: With all problems.
        """
        left = len(self._steps)
        unread = [f"{counted(left, 'step')} of the script {'was' if left == 1 else 'were'} not read"] if left else []
        if unread or self._problems:
            raise AssertionError("; ".join(unread + self._problems))
