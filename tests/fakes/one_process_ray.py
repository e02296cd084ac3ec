"""A replacement for Ray that uses only this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """The worker is lost."""


class RayTaskError(RayError):
    """The function raised."""


class OneProcessRay:
    """The used part of the `ray` API, without other processes. Tasks run when their result is requested."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, *, cpus: int = 2, loses: Callable[[int, int], bool] = lambda _, __: False) -> None:
        """`cpus` is the number of processors. `loses` selects lost tasks by their number and number of files."""
        self.cpus = cpus
        self.loses = loses
        self.sizes: list[int] = []
        self.most_out = 0
        self.cancelled = 0
        self._out: dict[int, tuple[Callable[..., Any], Any, Sequence[bytes]]] = {}

    @property
    def out(self) -> int:
        """Number of submitted tasks whose results were not requested."""
        return len(self._out)

    def remote(self, **_: object) -> Callable[[Callable[..., Any]], Any]:
        return lambda function: SimpleNamespace(remote=lambda setup, files: self._send(function, setup, files))

    def _send(self, function: Callable[..., Any], setup: object, files: Sequence[bytes]) -> int:
        self.sizes.append(len(files))
        self._out[len(self.sizes)] = (function, setup, files)
        self.most_out = max(self.most_out, self.out)
        return len(self.sizes)

    def wait(self, out: Sequence[int], **_: object) -> tuple[Sequence[int], Sequence[int]]:
        return (out[-1:] if self.cpus else []), out[:-1]  # the last first: nothing may depend on the order

    def get(self, reference: int) -> object:
        function, setup, files = self._out.pop(reference)
        if self.loses(reference, len(files)):
            raise RayError
        try:
            return function(setup, files)
        except Exception as exc:
            raise RayTaskError(f"remote traceback\n{type(exc).__name__}: {exc}") from exc

    def cancel(self, reference: int, **_: object) -> None:
        self._out.pop(reference)
        self.cancelled += 1

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus} if self.cpus else {}
