"""Functions as tools: their schemas for the model, and the validation of its arguments."""

from __future__ import annotations

import functools
import inspect
import json
import operator
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from openbook.agent.docstrings import read_docstring
from openbook.errors import ToolError
from openbook.llm.messages import ToolSpec

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

# The restriction of providers.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

# A user is waiting for the answer.
_TIMEOUT_S = 30.0

# About 5,000 tokens. Longer results would crowd out the rest of the conversation.
_MAX_CHARS = 20_000

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call.

    Tool calls of the same reply run in parallel, each in its own thread.
    """

    spec: ToolSpec
    function: Callable[..., Any]
    """Called with the arguments by name. May be `async`."""
    read_arguments: Callable[[str], Arguments]
    """Parses the arguments that the model wrote; raises `ToolError` if they are invalid."""
    timeout_s: float = _TIMEOUT_S
    """After that, the model is told that the call timed out. A thread cannot be stopped, so it keeps running."""
    max_chars: int = _MAX_CHARS
    """Longer results are truncated, with a note."""
    errors: tuple[type[Exception], ...] = (Exception,)
    """Exceptions that are reported to the model. All others end the run."""
    cost_usd: Decimal = Decimal(0)
    """Price per call, for paid tools."""

    @property
    def name(self) -> str:
        return self.spec.name

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        *,
        name: str = "",
        timeout_s: float = _TIMEOUT_S,
        max_chars: int = _MAX_CHARS,
        strict: bool = False,
        errors: tuple[type[Exception], ...] = (),
        cost_usd: Decimal | float = 0,
    ) -> Tool:
        """Build a tool from a function with type hints and a docstring in Google, NumPy or Sphinx style.

        Args:
            function: A function, method, `functools.partial` or callable object. The text of its docstring becomes
                the description for the model. Its result is shown as text, or as JSON if it is not a string. The
                model does not see arguments bound by a partial.
            name: Name for the model, if not the function's own.
            timeout_s: Maximum seconds per call.
            max_chars: Maximum characters of a result that the model sees.
            strict: Whether exceptions end the run and reach the caller. Otherwise, they are reported to the model.
            errors: Exceptions to report to the model even if strict, in addition to `ToolError`.
            cost_usd: Price per call in US dollars. Counts against the budget and towards the cost of a run.

        Raises:
            TypeError: The docstring is missing; an argument has no type, or a type without a JSON schema; or the
                docstring describes an argument that does not exist.
        """
        inner = _innermost(function)
        name = name or getattr(inner, "__name__", type(inner).__name__)
        _check_name(name)
        description, described = read_docstring(_docstring_of(inner))
        if not description:
            raise TypeError(f"tool {name!r}: the docstring does not say what it is for")
        from pydantic import PydanticUserError

        try:
            model = _model_of(name, function, described)
            spec = ToolSpec(name, description, _schema(model))
        except PydanticUserError as exc:
            raise TypeError(f"tool {name!r}: a type has no JSON schema: {exc.message}") from exc
        told: tuple[type[Exception], ...] = (ToolError, *errors) if strict else (Exception,)
        return cls(spec, function, _reader(name, model), timeout_s, max_chars, told, Decimal(str(cost_usd)))

    @classmethod
    def from_schema(
        cls,
        name: str,
        description: str,
        schema: Mapping[str, Any],
        function: Callable[..., Any],
        *,
        timeout_s: float = _TIMEOUT_S,
        max_chars: int = _MAX_CHARS,
        strict: bool = False,
    ) -> Tool:
        """Build a tool from a JSON schema. Only the names of arguments are validated.

        Args:
            name: Name for the model.
            description: Description for the model.
            schema: JSON schema of an object.
            function: Called with the arguments by name.
            timeout_s: Maximum seconds per call.
            max_chars: Maximum characters of a result that the model sees.
            strict: Whether exceptions end the run, except `ToolError`.

        Raises:
            TypeError: The name or the description is invalid, or the schema does not describe an object.
        """
        _check_name(name)
        if not description.strip():
            raise TypeError(f"tool {name!r}: the description does not say what it is for")
        if schema.get("type") != "object":
            raise TypeError(f"tool {name!r}: the schema of its arguments must be that of an object")
        told: tuple[type[Exception], ...] = (ToolError,) if strict else (Exception,)
        spec = ToolSpec(name, description.strip(), dict(schema))
        return cls(spec, function, _schema_reader(spec), timeout_s, max_chars, told)

    def show(self, value: object) -> str:
        """Return a result as the model sees it: strings as they are, everything else as JSON; truncated if long."""
        if isinstance(value, str):
            text = value
        else:
            from pydantic_core import to_json

            text = to_json(value, bytes_mode="base64", inf_nan_mode="constants", fallback=str).decode()
        if len(text) <= self.max_chars:
            return text
        return f"{text[: self.max_chars]}\n[cut: the first {self.max_chars} of {len(text)} characters]"


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling the function returns a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - to look at it


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise TypeError(f"{name!r} cannot be the name of a tool; give it one of letters, digits, _ and -")


def _schema_reader(spec: ToolSpec) -> Callable[[str], Arguments]:
    known: Mapping[str, Any] = spec.parameters.get("properties", {})
    required: Sequence[str] = spec.parameters.get("required", ())
    is_open = spec.parameters.get("additionalProperties", not known) is not False

    def read_arguments(text: str) -> Arguments:
        try:
            given = json.loads(text.strip() or "{}")
        except (ValueError, RecursionError) as exc:
            raise ToolError(f"the arguments are not a JSON object: {exc}") from exc
        if not isinstance(given, dict):
            raise ToolError("the arguments are not a JSON object")
        wrong = [f"argument {name!r} is missing" for name in required if name not in given]
        if not is_open:
            takes = ", ".join(known) or "none"
            wrong += [f"argument {name!r} is unknown; {spec.name!r} takes {takes}" for name in given.keys() - known]
        if wrong:
            raise ToolError("\n".join(wrong))
        return given

    return read_arguments


def _innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _docstring_of(function: Callable[..., Any]) -> str:
    """Return the docstring of a function; of an object, that of its `__call__` or else of its class."""
    if inspect.isroutine(function) or inspect.isclass(function):
        return function.__doc__ or ""
    return function.__call__.__doc__ or function.__doc__ or ""  # type: ignore[operator]


def _model_of(tool: str, function: Callable[..., Any], described: Mapping[str, str]) -> type[BaseModel]:
    """Build the model that validates arguments. Its fields are numbered, because some names are special to pydantic."""
    from pydantic import ConfigDict, Field, create_model

    given = function.keywords if isinstance(function, functools.partial) else {}
    parameters = [part for part in inspect.signature(function).parameters.values() if part.name not in given]
    try:
        hints = hints_of(_innermost(function))
    except NameError as exc:
        raise TypeError(f"tool {tool!r}: a type is not known where the function is defined: {exc}") from exc
    unknown = described.keys() - inspect.signature(_innermost(function)).parameters.keys()
    if unknown:
        raise TypeError(f"tool {tool!r}: the docstring describes {', '.join(sorted(unknown))}, which it does not take")
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters):
        name = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"tool {tool!r}: argument {name!r} cannot be passed by name")
        if name not in hints:
            raise TypeError(f"tool {tool!r}: argument {name!r} has no type")
        default = ... if parameter.default is parameter.empty else parameter.default
        description = description_in(hints[name]) or described.get(name) or None
        fields[f"field{number}"] = (hints[name], Field(default, alias=name, description=description))
    return create_model(tool, __config__=ConfigDict(extra="forbid"), **fields)


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        """Omits titles: they repeat the names and cost tokens in each call."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    schema = model.model_json_schema(schema_generator=Untitled)
    schema.pop("title", None)
    return schema


def _reader(tool: str, model: type[BaseModel]) -> Callable[[str], Arguments]:
    from pydantic import ValidationError

    names = {field: str(part.alias) for field, part in model.model_fields.items()}

    def read_arguments(text: str) -> Arguments:
        try:
            # A lone surrogate cannot be encoded.
            given = model.model_validate_json(text.encode("utf-8", "replace").strip() or b"{}")
        except ValidationError as exc:
            raise ToolError(_complaint(tool, exc, list(names.values()))) from exc
        # Leave out arguments that were not given, so that the function's own defaults apply.
        return {name: getattr(given, field) for field, name in names.items() if field in given.model_fields_set}

    return read_arguments


def _complaint(tool: str, error: ValidationError, names: list[str]) -> str:
    """Describe which arguments are invalid and why, one line each."""
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        place = ".".join(str(step) for step in problem["loc"])
        if problem["type"] == "missing":
            lines.append(f"argument {place!r} is missing")
        elif problem["type"] == "extra_forbidden":
            lines.append(f"argument {place!r} is unknown; {tool!r} takes {', '.join(names) or 'none'}")
        elif place:
            lines.append(f"argument {place!r}: {problem['msg']}, got {_shortened(problem['input'])}")
        else:
            lines.append(f"the arguments are not a JSON object: {problem['msg']}")
    return "\n".join(lines)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of arguments by name.

    Raises:
        NameError: A type cannot be resolved in the function's module.
    """
    where = function if inspect.isroutine(function) or inspect.isclass(function) else function.__call__  # type: ignore[operator]
    hints = typing.get_type_hints(where, include_extras=True)
    if sys.version_info >= (3, 12):
        return hints
    made: dict[Any, Any] = {}
    return {name: _with_own_dicts(hint, made) for name, hint in hints.items()}


def description_in(hint: Any) -> str:
    """Return the description in an annotation; empty if there is none.

    Example:
        >>> description_in(Annotated[int, "Most results."]), description_in(int)
        ('Most results.', '')
    """
    if get_origin(hint) is not Annotated:
        return ""
    for note in get_args(hint)[1:]:
        # pydantic's `Field` and `typing_extensions.Doc`.
        text = (
            note
            if isinstance(note, str)
            else getattr(note, "description", None) or getattr(note, "documentation", None)
        )
        if isinstance(text, str) and text.strip():
            return text.strip()
    return ""


def _with_own_dicts(hint: Any, made: dict[Any, Any]) -> Any:
    """Replace each `typing.TypedDict` with one that pydantic can read on Python below 3.12."""
    if typing.is_typeddict(hint):
        return made.get(hint) or _own_dict(hint, made)
    parts = get_args(hint)
    inner = tuple(_with_own_dicts(part, made) if not isinstance(part, list) else part for part in parts)
    if inner == parts or get_origin(hint) is typing.Literal:
        return hint
    if get_origin(hint) is Annotated:
        return Annotated[(inner[0], *parts[1:])]
    if get_origin(hint) in (Union, types.UnionType):
        return functools.reduce(operator.or_, inner)
    return get_origin(hint)[inner]


def _own_dict(hint: Any, made: dict[Any, Any]) -> Any:
    import typing_extensions  # a dependency of pydantic, so it is installed

    # Map a recursive type to itself; pydantic then reports what it cannot read.
    made[hint] = hint
    members: Mapping[str, Any] = typing.get_type_hints(hint, include_extras=True)
    fields = {}
    for name, member in members.items():
        wrapper = get_origin(member)
        if wrapper in (typing.Required, typing.NotRequired):
            (member,) = get_args(member)
        else:  # with string annotations, these keys ignore wrappers such as `Required`
            wrapper = typing.Required if name in hint.__required_keys__ else typing.NotRequired
        fields[name] = wrapper[_with_own_dicts(member, made)]
    made[hint] = typing_extensions.TypedDict(hint.__name__, fields)  # type: ignore[operator]
    made[hint].__doc__ = hint.__doc__
    return made[hint]
