"""Structured output: a reply as a typed value, submitted through a tool call that validates it."""

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

# Models without tool calls write JSON, mostly in a code fence.
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?```", re.DOTALL)


class OutputReader(Generic[T]):
    """Reads a value of a type from model output.

    The model gets a tool whose only argument, `result`, is the value. Validation errors are returned as errors of
    that tool, so the model can correct the value.
    """

    def __init__(self, type_: type[T]) -> None:
        """Take a type: a pydantic model, dataclass, `TypedDict`, or anything else that pydantic validates.

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
        """The last value submitted.

        Raises:
            IndexError: There is none.
        """
        return self._values[-1]

    @property
    def text(self) -> str:
        from pydantic_core import to_json

        return to_json(self.value, fallback=str).decode()

    def take_text(self, text: str) -> bool:
        """Parse a reply that has the value as JSON in its text. Returns whether it did."""
        fenced = _FENCE.fullmatch(text.strip())
        try:
            arguments = self.tool.read_arguments(f'{{"result": {fenced[1] if fenced else text}}}')
        except ToolError:
            return False
        self.tool.function(**arguments)
        return True


def _read_result(tool: Tool, arguments: str) -> Mapping[str, Any]:
    """Read the value of a call. Many models omit `result` and pass the fields of the value directly.

    Raises:
        ToolError: The value is invalid.
    """
    try:
        return tool.read_arguments(arguments)
    except ToolError:
        with suppress(ToolError):
            return tool.read_arguments(f'{{"result": {arguments}}}')
        raise
