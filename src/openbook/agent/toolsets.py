"""Everything that can be a tool: functions, tools, objects that define themselves, and toolsets."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias, runtime_checkable

from openbook.agent.tools import Tool
from openbook.plugins import load_all

_logger = logging.getLogger(__name__)


@runtime_checkable
class Toolset(Protocol):
    """A set of tools that belong together, such as those of an MCP server."""

    def tools(self) -> Sequence[Tool]:
        """Return the tools, in order, connecting first if necessary.

        Raises:
            ToolError: They are not available.
        """


@runtime_checkable
class DefinedTool(Protocol):
    """An object that defines itself as a tool."""

    def get_tool_definition(self) -> Mapping[str, Any]:
        """Return `name`, `description` and `input_schema`, the JSON schema of an object."""

    @property
    def execute(self) -> Callable[..., Any]:
        """Run the tool. Called with the arguments by name; their types are not validated."""


ToolLike: TypeAlias = Tool | Toolset | DefinedTool | Callable[..., Any]
"""What can become a tool, or several."""

# Not `Iterable[ToolLike]`: mypy infers `list[object]` for a list of a function and a `Tool`. An invalid item raises
# TypeError when the agent is created.
Tools: TypeAlias = ToolLike | Iterable[object]
"""One tool, or several."""


def flat_tools(given: object) -> tuple[ToolLike, ...]:
    """Return everything that can become a tool, in order, without connecting to anything.

    Raises:
        TypeError: Something can never become a tool.
    """
    if isinstance(given, Tool | Toolset | DefinedTool) or callable(given):
        return (given,)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"{given!r} is no tool; give a function, a Tool, an object with `execute`, or a list of them")
    return tuple(tool for each in given for tool in flat_tools(each))


def as_tools(given: Tools, *, strict: bool = False) -> list[Tool]:
    """Return tools, in order.

    Raises:
        TypeError: Something cannot become a tool.
        ToolError: A toolset is not available.
    """
    return [tool for each in flat_tools(given) for tool in _tools_of(each, strict=strict)]


@cache
def installed_tools() -> tuple[Tool, ...]:
    """Return the tools from plugins. Unusable ones are logged and left out; so is the second of two with one name."""
    found: dict[str, Tool] = {}
    for name, loaded in load_all("tools").items():
        try:
            is_definition = inspect.isclass(loaded) and hasattr(loaded, "get_tool_definition")
            for tool in as_tools(loaded() if is_definition else loaded):
                if found.setdefault(tool.name, tool) is not tool:
                    _logger.warning(
                        "the tool %s of a plugin is left out: another plugin has a %r as well", name, tool.name
                    )
        except Exception as exc:  # noqa: BLE001 - third-party code can raise anything
            _logger.warning("the tool %s of a plugin is left out: %s", name, exc)
    return tuple(found.values())


def _tools_of(given: ToolLike, *, strict: bool) -> Sequence[Tool]:
    if isinstance(given, Tool):
        return [given]
    if isinstance(given, Toolset):
        return given.tools()
    if isinstance(given, DefinedTool):
        return [_defined(given, strict=strict)]
    return [Tool.from_function(given, strict=strict)]


def _defined(given: DefinedTool, *, strict: bool) -> Tool:
    definition = given.get_tool_definition()
    try:
        name, description, schema = (definition[key] for key in ("name", "description", "input_schema"))
    except (KeyError, TypeError) as exc:
        raise TypeError(
            f"{type(given).__name__}.get_tool_definition returned {definition!r};"
            " `name`, `description` and `input_schema` are needed"
        ) from exc
    return Tool.from_schema(name, description, schema, given.execute, strict=strict)
