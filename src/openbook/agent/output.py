"""Structured output: a reply as a value of a type, brought by the call of a tool that checks it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

from openbook.agent.tools import Tool
from openbook.errors import ToolError

T = TypeVar("T")

# Models that cannot call tools write JSON, mostly in a fence.
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?```", re.DOTALL)


class OutputReader(Generic[T]):
    """Read a value of a type from what a model writes.

    The model is told of a tool whose only argument, `result`, is the value. What does not fit is an error of that
    tool, so the model can mend it.
    """

    def __init__(self, type_: type[T]) -> None:
        """Take a type: a pydantic model, dataclass, `TypedDict`, or anything else that pydantic checks.

        Raises:
            TypeError: It has no JSON schema.
        """
        self._values: list[T] = []

        def final_result(result: Any) -> str:
            """Return the reply to the user. Call it once, as the last thing."""
            self._values.append(result)
            return "taken"

        final_result.__annotations__["result"] = type_
        tool = Tool.from_function(final_result, strict=True)
        self.tool: Tool = replace(tool, read_arguments=partial(_read_result, tool))

    @property
    def has_value(self) -> bool:
        return bool(self._values)

    @property
    def value(self) -> T:
        """The last value that was brought.

        Raises:
            IndexError: There is none.
        """
        return self._values[-1]

    @property
    def text(self) -> str:
        from pydantic_core import to_json

        return to_json(self.value, fallback=str).decode()

    def take_text(self, text: str) -> bool:
        """Read a reply that has the value as JSON in its text. Return whether it had."""
        fenced = _FENCE.fullmatch(text.strip())
        try:
            arguments = self.tool.read_arguments(f'{{"result": {fenced[1] if fenced else text}}}')
        except ToolError:
            return False
        self.tool.function(**arguments)
        return True


def _read_result(tool: Tool, arguments: str) -> Mapping[str, Any]:
    """Read the value of a call. Many models leave `result` out, and write the fields of the value in its place.

    Raises:
        ToolError: The value does not fit.
    """
    try:
        return tool.read_arguments(arguments)
    except ToolError:
        with suppress(ToolError):
            return tool.read_arguments(f'{{"result": {arguments}}}')
        raise
