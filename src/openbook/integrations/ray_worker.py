"""What runs on the machines of a Ray cluster. A worker passes on what it is sent, and a child of it prepares files.

Imports little: what prepares files is loaded by the child alone.
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

# Asks a child which Openbook it is. No pickle is empty.
_WHO = b""


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """The configuration that each batch carries to a worker. A few hundred bytes when pickled."""

    preparer: bytes
    """A pickled `Preparer`, which only a child unpacks."""
    timeout_s: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """What a worker says whose child ended, or took too long, before it saw a file."""

    reason: str
    """Of which loading is the subject."""


def identity_of(preparer: Preparer) -> str:
    """Name all that decides what becomes of a file, as it is installed here. The options travel with the preparer."""
    from openbook.chunking.identity import chunks_identity
    from openbook.settings import Settings
    from openbook.tokens import tokens_identity

    embedder = preparer.load_embedder().identity if preparer.load_embedder else "no embedder"
    return f"openbook {_version()}, {chunks_identity(Settings())}, {tokens_identity()}, {embedder}"


def _version() -> str:
    try:
        return version("openbook")
    except PackageNotFoundError:  # run from a folder that is on the path
        return "of a folder"


_serving: dict[WorkerSetup, tuple[str, SharedProcess[bytes, bytes]]] = {}
"""By what a worker was told: what it is, and the child that works, which a file can bring down. One at most."""


def prepare_batch(setup: WorkerSetup, contents: Sequence[bytes]) -> tuple[str | JobFailure | NotLoaded, list[bytes]]:
    """Prepare a few files in a child of this process, which is a worker of the cluster.

    Returns:
        What `identity_of` gives here, and a pickled `PreparedFile` or `JobFailure` for each file, in order; or why
        nothing can be prepared here, ever or this time.
    """
    if setup not in _serving:
        stop_children()
        child = SharedProcess(_Preparing(setup.preparer), timeout_s=setup.timeout_s, memory_bytes=setup.memory_bytes)
        told = child.ask(_WHO)
        assert told is not None  # only who may not wait gets none
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
    """Prepares what is pickled, with a pickled result: what only passes a worker is not unpacked there."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._preparer: Preparer | None = None

    def __call__(self, packed: bytes) -> bytes:
        if packed == _WHO:  # a reason is an answer too: without one, the child was lost
            return pickle.dumps(apply_safely(lambda _: identity_of(self._loaded()), packed))
        return pickle.dumps(self._loaded()(pickle.loads(packed)))

    def _loaded(self) -> Preparer:
        preparer: Preparer = self._preparer or pickle.loads(self._packed)
        self._preparer = preparer
        return preparer
