"""Request checks of the fake server."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from openbook.testing.script import Refusal


class RequestRefused(Exception):  # noqa: N818 - it never leaves the server
    """A request is invalid."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def expect(right: bool, message: str, *, status: int = 400, param: str | None = None) -> None:
    """Reject the request unless a condition is true.

    Raises:
        RequestRefused: It is false.
    """
    if not right:
        raise RequestRefused(Refusal(status, message, param=param))


def only(
    value: Mapping[str, Any],
    place: str,
    allowed: Collection[str],
    *,
    required: Collection[str] = (),
    unknown: str = "{place}{name}: Extra inputs are not permitted",
    missing: str = "{place}{name}: Field required",
) -> None:
    """Reject a JSON object with unknown fields, or without required ones.

    Raises:
        RequestRefused: It has some, or lacks some.
    """
    expect(isinstance(value, Mapping), f"{place.rstrip('.')}: Input should be an object")
    for name in value:
        expect(name in allowed, unknown.format(place=place, name=name), param=f"{place}{name}")
    for name in sorted(required):
        expect(name in value, missing.format(place=place, name=name), param=f"{place}{name}")
