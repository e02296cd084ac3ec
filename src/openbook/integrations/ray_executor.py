"""Prepares files on the machines of a Ray cluster. They need no disk of ours: content goes out, entries come back."""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openbook.errors import ClusterError, SettingsError
from openbook.ingest.executor import MEMORY_BYTES, Outcome
from openbook.ingest.preparation import FileContent, FileJob, FilePreparer
from openbook.integrations.ray_connection import Ray, connected
from openbook.integrations.ray_worker import NotLoaded, WorkerSetup, identity_of, prepare_batch
from openbook.memory import collection_paused
from openbook.process_pool import JobFailure, apply_safely
from openbook.settings import Settings
from openbook.types import SkipReason

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

# To send 10,833 files of 8 KB and take back what became of them costs this process 3.4 s with 8 in a batch, 1.9 s with
# 32, 1.4 s with 64 and 1.0 s with 128 (`python -m benchmarks.cluster FOLDER --batches`). Few are lost at once so.
BATCH_FILES = 128
BATCH_BYTES = 1024 * 1024

# One batch at work and one that waits beside it, so that no processor waits for this machine.
_BATCHES_PER_CPU = 2

# Of content that is out; what comes back takes about four times as much. At least one batch is out, whatever its size.
_OUT_BYTES = 64 * 1024 * 1024

# A file is given up when that many workers were lost with it, each alone with this file: a machine that
# goes down takes one of them, a file that is the cause takes all.
_TRIES = 3

_POLL_S = 0.5
_LOOK_S = 5.0

# A cluster that grows by itself takes minutes for its first machine.
_PATIENCE_S = 300.0


class RayExecutor:
    """The machines of a Ray cluster. Implements `Executor`."""

    # Two cores prepare 2 to 3 MB in a second. To import Ray, connect and wait for the first result takes 3 to 10 s
    # (`python -m benchmarks.cluster FOLDER --batches`).
    min_bytes = 16 * 1024 * 1024

    def __init__(
        self,
        address: str,
        *,
        connect: Callable[[str, int], AbstractContextManager[Ray]] = connected,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the address of a cluster; nothing is connected before the first job.

        Args:
            address: As `connected` takes it. `//host:10001` stands for `ray://host:10001`.
            connect: Yields the package `ray`, connected.
            now: Clock, in seconds.

        Raises:
            SettingsError: There is no address.
        """
        if not address:
            raise SettingsError(
                "OPENBOOK_EXECUTOR names no Ray cluster", hint="set it to ray:auto, ray:HOST:6379 or ray://HOST:10001"
            )
        self._address = f"ray:{address}" if address.startswith("//") else address
        self._connect = connect
        self._now = now

    def run(self, files: FilePreparer, jobs: Iterable[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        setup = WorkerSetup(pickle.dumps(files.preparer), settings.file_timeout_s, MEMORY_BYTES)
        identity = identity_of(files.preparer)
        with (
            self._connect(self._address, settings.workers) as ray,
            contextlib.closing(_Flights(ray, setup, identity, self._now)) as flights,
        ):
            landed: list[Outcome] = []
            for job in jobs:
                read = apply_safely(files.read, job)
                if isinstance(read, FileContent):
                    flights.take(job, read)
                else:
                    yield job, read
                if flights.full():
                    # Only now, when as much is out as may be: what is done with a result takes longer than a file.
                    yield from landed
                    landed = []
                while flights.full():
                    landed += flights.landed()
            flights.send_the_rest()
            yield from landed
            while flights.out():
                yield from flights.landed()


@dataclass(frozen=True, slots=True)
class _Flight:
    """A batch that is out: jobs, each with its pickled content."""

    files: Sequence[tuple[FileJob, bytes]]
    tries: int = 1

    def size_bytes(self) -> int:
        return sum(len(content) for _, content in self.files)


class _Flights:
    """The batches that are out, and the one that is being filled."""

    def __init__(self, ray: Ray, setup: WorkerSetup, identity: str, now: Callable[[], float]) -> None:
        self._ray = ray
        self._setup = setup
        self._identity = identity
        # Not again by itself: Ray would try forever what takes too much memory. See `_lost`.
        self._prepare = ray.remote(num_cpus=1, max_retries=0)(prepare_batch)
        self._out: dict[Any, _Flight] = {}
        self._filling: list[tuple[FileJob, bytes]] = []
        self._filled_bytes = 0
        self._out_bytes = 0
        self._cpus = 0
        self._not_loaded = 0
        self._now = now
        self._seen_s = now()
        self._looked_s = self._seen_s - _LOOK_S
        self._look()

    def take(self, job: FileJob, content: FileContent) -> None:
        """Add a file to the current batch, and submit the batch when it is full."""
        packed = pickle.dumps(content)
        self._filling.append((job, packed))
        self._filled_bytes += len(packed)
        if len(self._filling) >= BATCH_FILES or self._filled_bytes >= BATCH_BYTES:
            self.send_the_rest()

    def send_the_rest(self) -> None:
        """Send the batch that is being filled, as it is."""
        if self._filling:
            self._send(_Flight(self._filling))
        self._filling, self._filled_bytes = [], 0

    def out(self) -> bool:
        """Return whether something is out."""
        return bool(self._out)

    def full(self) -> bool:
        """Return whether something must come back before more goes out."""
        return bool(self._out) and (
            len(self._out) >= max(1, self._cpus) * _BATCHES_PER_CPU or self._out_bytes >= _OUT_BYTES
        )

    def landed(self) -> list[Outcome]:
        """Return what has come back, after a short wait; often nothing."""
        self._look()
        ready, _ = self._ray.wait(list(self._out), num_returns=1, timeout=_POLL_S)
        return [file for reference in ready for file in self._landed(reference)]

    def close(self) -> None:
        """Call off what is out. What a worker has begun is lost with it."""
        for reference in self._out:
            with contextlib.suppress(Exception):  # the cluster may be gone, and nobody wants it any more
                self._ray.cancel(reference, force=True)
        self._out.clear()

    def _send(self, flight: _Flight) -> None:
        self._out[self._prepare.remote(self._setup, [content for _, content in flight.files])] = flight
        self._out_bytes += flight.size_bytes()

    def _landed(self, reference: Any) -> list[Outcome]:
        errors = self._ray.exceptions
        flight = self._out.pop(reference)
        self._out_bytes -= flight.size_bytes()
        try:
            identity, results = self._ray.get(reference)
        except errors.RayTaskError as exc:
            # Whatever a file does is a result. This is the installation there, and will be so for the next batch.
            raise _failed_there(str(exc)) from exc
        except errors.RayError:
            return self._lost(flight)
        if isinstance(identity, NotLoaded):
            return self._not_begun(flight, identity.reason)
        self._not_loaded = 0
        if isinstance(identity, JobFailure):
            raise _failed_there(identity.reason)
        if identity != self._identity:
            raise ClusterError(
                f"a machine of the cluster has another Openbook: {identity}; here it is {self._identity}",
                hint="install the same version of openbook, with the same packages, on all machines",
            )
        with collection_paused():
            return [(job, pickle.loads(result)) for (job, _), result in zip(flight.files, results, strict=True)]

    def _lost(self, flight: _Flight) -> list[Outcome]:
        """Send what went down with a worker again, each file alone; in the end give one up."""
        if len(flight.files) > 1:
            for file in flight.files:
                self._send(_Flight([file]))
            return []
        if flight.tries < _TRIES:
            self._send(_Flight(flight.files, flight.tries + 1))
            return []
        return [(job, JobFailure("ended the worker that read it, on the cluster")) for job, _ in flight.files]

    def _not_begun(self, flight: _Flight, reason: str) -> list[Outcome]:
        """Send a batch again, as it is: memory may be short while all load at once, or on one of the machines.

        Raises:
            ClusterError: Again and again, on average of each processor, nothing could be loaded.
        """
        self._not_loaded += 1
        if self._not_loaded >= _TRIES * max(1, self._cpus):
            is_slow = reason.startswith(SkipReason.TOOK_LONGER)
            short = "if memory is short there, give Ray fewer processors (ray start --num-cpus); its logs may say more"
            raise ClusterError(
                f"on the cluster, loading what prepares files {reason}",
                hint="raise OPENBOOK_FILE_TIMEOUT_S" if is_slow else short,
            )
        self._send(flight)
        return []

    def _look(self) -> None:
        """Ask now and then how many processors the cluster has: machines come and go."""
        now = self._now()
        if now - self._looked_s < _LOOK_S:
            return
        self._looked_s = now
        self._cpus = int(self._ray.cluster_resources().get("CPU", 0))
        if self._cpus:
            self._seen_s = now
        elif now - self._seen_s > _PATIENCE_S:
            raise ClusterError(
                f"the cluster has had no processor for {_PATIENCE_S:g} s",
                hint="start machines of the cluster; indexed files are kept; the next run continues from there",
            )


def _failed_there(told: str) -> ClusterError:
    *_, reason = told.strip().splitlines() or ["unknown reason"]
    return ClusterError(
        f"a machine of the cluster cannot prepare files: {reason.strip()}",
        hint="install the same version of openbook on all machines of the cluster",
    )
