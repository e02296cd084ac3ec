"""The history of a conversation: pruning between turns, and saving as JSON.

An exchange (a question and everything up to the next one) is kept or dropped as a whole, so that a
tool call is never separated from its result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from openbook.llm.messages import Message, Request, ToolResult
from openbook.llm.request_tokens import estimate_messages

if TYPE_CHECKING:
    from pydantic import TypeAdapter

History = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A request to summarize the history, and the messages that follow the summary."""

    request: Request
    rest: History


Pruning = Callable[[History], History | SummaryRequest]
"""Prunes a history. It may only drop exchanges, or ask for a summary of them."""


def exchanges(history: Sequence[Message]) -> list[History]:
    """Split a history before each user message. In order; concatenated, they are the history."""
    split: list[list[Message]] = []
    for message in history:
        is_question = message.role == "user" and not any(isinstance(part, ToolResult) for part in message.parts)
        if is_question or not split:
            split.append([])
        split[-1].append(message)
    return [tuple(exchange) for exchange in split]


@dataclass(frozen=True, slots=True)
class KeepExchanges:
    """Keeps the last exchanges."""

    count: int

    def __call__(self, history: History) -> History:
        return _joined(exchanges(history)[-self.count :] if self.count > 0 else [])


@dataclass(frozen=True, slots=True)
class KeepTokens:
    """Keeps as many of the last exchanges as fit. Everything before the first that does not fit is dropped."""

    max_tokens: int
    """Estimated."""

    def __call__(self, history: History) -> History:
        kept: list[History] = []
        left = self.max_tokens
        for exchange in reversed(exchanges(history)):
            left -= estimate_messages(exchange)
            if left < 0:
                break
            kept.append(exchange)
        return _joined(kept[::-1])


@dataclass(frozen=True, slots=True)
class Summarize:
    """Lets the model summarize all but the last exchanges when the history gets too long."""

    max_tokens: int
    """Estimated. A shorter history is left alone."""
    keep: int = 2
    """Number of exchanges at the end that are kept verbatim."""
    summary_tokens: int = 1000
    """Maximum length of the summary."""

    def __call__(self, history: History) -> History | SummaryRequest:
        split = exchanges(history)
        cut = max(len(split) - self.keep, 0)
        if cut == 0 or estimate_messages(history) <= self.max_tokens:
            return history
        asked = (*_joined(split[:cut]), Message.user(_prompt("summarize")))
        return SummaryRequest(Request(asked, max_tokens=self.summary_tokens), _joined(split[cut:]))


def after_summary(text: str, rest: History) -> History:
    """Return a history that continues from a summary."""
    summary = _prompt("summary").replace("{summary}", text)
    return (Message.user(summary), Message.assistant("Understood."), *rest)


def _prompt(name: str) -> str:
    from importlib.resources import files  # only long conversations need it

    return (files("openbook.agent") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def _joined(split: Sequence[History]) -> History:
    return tuple(message for exchange in split for message in exchange)


def history_to_json(history: Sequence[Message]) -> str:
    """Serialize a history to a JSON list of messages with `role` and `parts`; a part has the fields of its class.

    It contains everything that was said, including tool results and shown sources.
    """
    return _histories().dump_json(tuple(history)).decode()


def history_from_json(text: str | bytes) -> History:
    """Parse the output of `history_to_json`.

    Raises:
        ValueError: The text is not a history.
    """
    return _histories().validate_json(text)


@cache
def _histories() -> TypeAdapter[History]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Message, ...])
