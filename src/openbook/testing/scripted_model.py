"""A model double with scripted replies."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import closing
from typing import Self

from openbook.errors import ModelError
from openbook.llm.messages import (
    CitationDelta,
    Event,
    ProviderCitation,
    ReplyFinished,
    Request,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolStarted,
    Usage,
)
from openbook.testing.script import ModelStep, Script, ScriptedReply
from openbook.text import counted

# Characters of the instructions of an unexpected call, which tell the model that answers from its verifier.
_SHOWN_CHARS = 50

_WORDS = re.compile(r"\s*\S+\s*|\s+")


class ScriptedModel:
    """Replies by a script, with one step per call.

    A step is a string, a `ScriptedReply`, an error, or a function of the request.

    As a context manager, it fails a test that leaves a step unused. An unexpected call fails at once.

    Example:
        >>> from openbook.llm.messages import Message, Request
        >>> from openbook.llm.protocol import complete
        >>> with ScriptedModel("Hello.") as model:
        ...     complete(model, Request((Message.user("Hi"),))).message.text
        'Hello.'
        >>> model.requests[0].messages[0].text
        'Hi'
    """

    def __init__(self, *steps: ModelStep | Callable[[Request], ModelStep], name: str = "scripted:model") -> None:
        """Prepare to play `steps` in order."""
        self.name = name
        self.requests: list[Request] = []
        """The requests so far, in order."""
        self.cancelled = 0
        """Number of streams that were closed before their end."""
        self._script = Script(steps)

    def stream(self, request: Request) -> Generator[Event, None, None]:
        """Play the next step. Strings are streamed word by word.

        Raises:
            ModelError: The step is an error.
            AssertionError: There is no step left.
        """
        reply = self._next(request)
        try:
            yield from _events(reply)
            if reply.error is not None:
                raise reply.error
            yield ReplyFinished(reply.message, reply.usage or Usage(known=False), reply.stop, self.name)
        except GeneratorExit:
            self.cancelled += 1
            raise

    async def astream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Play the next step, like `stream`."""
        with closing(self.stream(request)) as events:
            for event in events:
                yield event

    def check(self) -> None:
        """Fail if a step was not used, or if there was an unexpected call.

        Raises:
            AssertionError: With the problems.
        """
        self._script.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:  # otherwise that exception is the failure
            self.check()

    def _next(self, request: Request) -> ScriptedReply:
        self.requests.append(request)
        about = f' that begins with "{request.system[:_SHOWN_CHARS]}..."' if request.system else ""
        taken = self._script.take(f"a call with {counted(len(request.messages), 'message')}{about}")
        step = taken(request) if callable(taken) else taken
        if isinstance(step, ModelError):
            raise step
        return ScriptedReply(step) if isinstance(step, str) else step


def _events(reply: ScriptedReply) -> Iterator[Event]:
    for part in reply.message.parts:
        match part:
            case TextBlock(text):
                yield from map(TextDelta, _WORDS.findall(text))
            case ToolCall(id=call_id, name=name):
                yield ToolStarted(call_id, name)
            case ProviderCitation():
                yield CitationDelta(part)
