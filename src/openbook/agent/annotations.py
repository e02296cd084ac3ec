"""What the type hints of a function say of its arguments, in the forms that pydantic takes."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Union, get_args, get_origin


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of arguments by name.

    Raises:
        NameError: A type is not known where the function is defined.
    """
    where = function if inspect.isroutine(function) or inspect.isclass(function) else function.__call__  # type: ignore[operator]
    hints = typing.get_type_hints(where, include_extras=True)
    if sys.version_info >= (3, 12):
        return hints
    made: dict[Any, Any] = {}
    return {name: _with_own_dicts(hint, made) for name, hint in hints.items()}


def description_in(hint: Any) -> str:
    """Return what an annotation says of its argument; empty if it says nothing.

    Example:
        >>> description_in(Annotated[int, "Most results."]), description_in(int)
        ('Most results.', '')
    """
    if get_origin(hint) is not Annotated:
        return ""
    for note in get_args(hint)[1:]:
        # Of pydantic's `Field`, and of `typing_extensions.Doc`.
        text = note if isinstance(note, str) else getattr(note, "description", None) or _documentation(note)
        if isinstance(text, str) and text.strip():
            return text.strip()
    return ""


def _documentation(note: object) -> object:
    return getattr(note, "documentation", None)


def _with_own_dicts(hint: Any, made: dict[Any, Any]) -> Any:
    """Replace each `typing.TypedDict` by one that Python below 3.12 lets pydantic read."""
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
    import typing_extensions  # pydantic needs it, and so it is there

    # Itself in place of one that is made of it: pydantic then says what it cannot read.
    made[hint] = hint
    members: Mapping[str, Any] = typing.get_type_hints(hint, include_extras=True)
    fields = {}
    for name, member in members.items():
        wrapper = get_origin(member)
        if wrapper in (typing.Required, typing.NotRequired):
            (member,) = get_args(member)
        else:  # the keys are wrong for wrappers in annotations that are text
            wrapper = typing.Required if name in hint.__required_keys__ else typing.NotRequired
        fields[name] = wrapper[_with_own_dicts(member, made)]
    made[hint] = typing_extensions.TypedDict(hint.__name__, fields)  # type: ignore[operator]
    made[hint].__doc__ = hint.__doc__
    return made[hint]
