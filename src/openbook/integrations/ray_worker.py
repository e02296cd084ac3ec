"""Code that runs on the machines of a Ray cluster. A worker passes its input to a child, which prepares files.

Imports little: only the child loads the code that prepares files.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from openbook.process_pool import JobFailure, SharedProcess, apply_safely

if TYPE_CHECKING:
    from openbook.ingest.preparation import Preparer

# Asks a child for its identity. No pickle is empty.
_IDENTITY_REQUEST = b""


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """The configuration sent with each batch. A few hundred bytes when pickled."""

    preparer: bytes
    """A pickled `Preparer`, which only the child unpickles."""
    timeout_s: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """The result of a worker whose child died or timed out before it received a file."""

    reason: str
    """With loading as its subject."""


def identity_of(preparer: Preparer) -> str:
    """Identify everything that affects the result of a file in this installation. Options are part of the preparer."""
    from openbook.chunking.identity import chunks_identity
    from openbook.settings import Settings
    from openbook.tokens import tokens_identity

    embedder = preparer.load_embedder().identity if preparer.load_embedder else "no embedder"
    return f"openbook {_version()}, {chunks_identity(Settings())}, {tokens_identity()}, {embedder}"


def _version() -> str:
    try:
        return version("openbook")
    except PackageNotFoundError:  # run from a source folder
        return "of a folder"


_serving: dict[WorkerSetup, tuple[str, SharedProcess[bytes, bytes]]] = {}
"""By setup: the identity, and the working child, which a file can crash. At most one entry."""


def prepare_batch(setup: WorkerSetup, contents: Sequence[bytes]) -> tuple[str | JobFailure | NotLoaded, list[bytes]]:
    """Prepare a few files in a child process of this worker.

    Returns:
        The result of `identity_of` here, and a pickled `PreparedFile` or `JobFailure` for each file, in order; or why
        nothing can be prepared here, permanently or this time.
    """
    if setup not in _serving:
        stop_children()
        child = SharedProcess(_Preparing(setup.preparer), timeout_s=setup.timeout_s, memory_bytes=setup.memory_bytes)
        told = child.ask(_IDENTITY_REQUEST)
        assert told is not None  # None only if there is a time limit
        found = NotLoaded(told.reason) if isinstance(told, JobFailure) else pickle.loads(told)
        if not isinstance(found, str):
            child.close()
            return found, []
        _serving[setup] = (found, child)
    identity, child = _serving[setup]
    outcomes = [child.ask(content) for content in contents]
    return identity, [outcome if isinstance(outcome, bytes) else pickle.dumps(outcome) for outcome in outcomes]


def stop_children() -> None:
    """End the child that prepares files."""
    for _, child in _serving.values():
        child.close()
    _serving.clear()


class _Preparing:
    """Takes and returns pickles, so that the worker need not unpickle what it passes on."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._preparer: Preparer | None = None

    def __call__(self, packed: bytes) -> bytes:
        if packed == _IDENTITY_REQUEST:  # a failure is an answer too; without an answer, the child was lost
            return pickle.dumps(apply_safely(lambda _: identity_of(self._loaded()), packed))
        return pickle.dumps(self._loaded()(pickle.loads(packed)))

    def _loaded(self) -> Preparer:
        preparer: Preparer = self._preparer or pickle.loads(self._packed)
        self._preparer = preparer
        return preparer
