"""Prepares files on the machines of a Ray cluster. It sends content and receives entries, without a shared disk."""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openbook.errors import ClusterError, SettingsError
from openbook.ingest.executor import Outcome
from openbook.ingest.preparation import FileContent, FileJob, FilePreparer
from openbook.integrations.ray_connection import Ray, check_installed, connected
from openbook.integrations.ray_worker import NotLoaded, WorkerSetup, identity_of, prepare_batch
from openbook.memory import collection_paused
from openbook.process_pool import JobFailure, apply_safely
from openbook.settings import Settings
from openbook.types import SkipReason

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

# Sending 10,833 files of 8 KB and receiving the results costs this process 3.4 s with 8 files per batch, 1.9 s with 32,
# 1.4 s with 64 and 1.0 s with 128 (`python -m benchmarks.cluster FOLDER --batches`). More would lose more files at
# once.
BATCH_FILES = 128
BATCH_BYTES = 1024 * 1024

# One batch in progress and one waiting, so that no processor idles.
_BATCHES_PER_CPU = 2

# Limit of content in flight; results take about four times as much. At least one batch is sent, whatever its size.
_OUT_BYTES = 64 * 1024 * 1024

# A file is given up after so many lost workers, the later ones alone with this file: a failing machine takes down one
# of them, a bad file all.
_TRIES = 3

_POLL_S = 0.5
_POLL_PROCESSORS_S = 5.0

# An autoscaling cluster takes minutes to start its first machine.
_START_TIMEOUT_S = 300.0


class RayExecutor:
    """The machines of a Ray cluster. Implements `Executor`."""

    # Two cores prepare 2 to 3 MB per second. Importing Ray, connecting and waiting for the first result takes 3 to 10 s
    # (`python -m benchmarks.cluster FOLDER --batches`).
    min_bytes = 16 * 1024 * 1024

    def __init__(
        self,
        address: str,
        *,
        connect: Callable[[str, int], AbstractContextManager[Ray]] = connected,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the address of a cluster. It is connected with the first job.

        Args:
            address: An address for `connected`. `//host:10001` stands for `ray://host:10001`.
            connect: Yields the package `ray`, connected.
            now: Returns seconds.

        Raises:
            SettingsError: There is no address.
            MissingExtraError: Ray is not installed.
        """
        if not address:
            raise SettingsError(
                "OPENBOOK_EXECUTOR names no Ray cluster", hint="set it to ray:auto, ray:HOST:6379 or ray://HOST:10001"
            )
        if connect is connected:
            check_installed()
        self._address = f"ray:{address}" if address.startswith("//") else address
        self._connect = connect
        self._now = now

    def run(self, files: FilePreparer, jobs: Iterable[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        setup = WorkerSetup(pickle.dumps(files.preparer), settings.file_timeout_s, settings.file_memory_bytes)
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
                    # After filling the queue, because processing a result takes longer than reading a file.
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
    """A submitted batch: jobs, each with its pickled content."""

    files: Sequence[tuple[FileJob, bytes]]
    tries: int = 1

    def size_bytes(self) -> int:
        return sum(len(content) for _, content in self.files)


class _Flights:
    """The submitted batches, and the one being filled."""

    def __init__(self, ray: Ray, setup: WorkerSetup, identity: str, now: Callable[[], float]) -> None:
        self._ray = ray
        self._setup = setup
        self._identity = identity
        # No retries by Ray, which would repeat forever what exceeds the memory. See `_lost`.
        self._prepare = ray.remote(num_cpus=1, max_retries=0)(prepare_batch)
        self._out: dict[Any, _Flight] = {}
        self._filling: list[tuple[FileJob, bytes]] = []
        self._filled_bytes = 0
        self._out_bytes = 0
        self._cpus = 0
        self._not_loaded = 0
        self._now = now
        self._seen_s = now()
        self._looked_s = self._seen_s - _POLL_PROCESSORS_S
        self._poll_processors()

    def take(self, job: FileJob, content: FileContent) -> None:
        """Add a file to the current batch, and submit the batch when it is full."""
        packed = pickle.dumps(content)
        self._filling.append((job, packed))
        self._filled_bytes += len(packed)
        if len(self._filling) >= BATCH_FILES or self._filled_bytes >= BATCH_BYTES:
            self.send_the_rest()

    def send_the_rest(self) -> None:
        """Submit the current batch, although it is not full."""
        if self._filling:
            self._send(_Flight(self._filling))
        self._filling, self._filled_bytes = [], 0

    def out(self) -> bool:
        """Return whether a batch is in flight."""
        return bool(self._out)

    def full(self) -> bool:
        """Return whether a batch must come back before another is submitted."""
        return bool(self._out) and (
            len(self._out) >= max(1, self._cpus) * _BATCHES_PER_CPU or self._out_bytes >= _OUT_BYTES
        )

    def landed(self) -> list[Outcome]:
        """Return finished files after a short wait; often none."""
        self._poll_processors()
        ready, _ = self._ray.wait(list(self._out), num_returns=1, timeout=_POLL_S)
        return [file for reference in ready for file in self._landed(reference)]

    def close(self) -> None:
        """Cancel the batches in flight. Work in progress is lost."""
        for reference in self._out:
            with contextlib.suppress(Exception):  # the cluster may be gone, and nobody needs the result
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
            # Faults of a file are results. This is a fault of the installation, which the next batch would also hit.
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
        """Resubmit the files of a lost worker, each alone. After several losses, give a file up."""
        if len(flight.files) > 1:
            for file in flight.files:
                self._send(_Flight([file]))
            return []
        if flight.tries < _TRIES:
            self._send(_Flight(flight.files, flight.tries + 1))
            return []
        return [(job, JobFailure("ended the worker that read it, on the cluster")) for job, _ in flight.files]

    def _not_begun(self, flight: _Flight, reason: str) -> list[Outcome]:
        """Resubmit a batch unchanged: memory may be short while all workers load, or on one machine.

        Raises:
            ClusterError: Loading has failed repeatedly, on average on each processor.
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

    def _poll_processors(self) -> None:
        """Poll the number of processors of the cluster: machines come and go."""
        now = self._now()
        if now - self._looked_s < _POLL_PROCESSORS_S:
            return
        self._looked_s = now
        self._cpus = int(self._ray.cluster_resources().get("CPU", 0))
        if self._cpus:
            self._seen_s = now
        elif now - self._seen_s > _START_TIMEOUT_S:
            raise ClusterError(
                f"the cluster has had no processor for {_START_TIMEOUT_S:g} s",
                hint="start machines of the cluster; indexed files are kept; the next run continues from there",
            )


def _failed_there(told: str) -> ClusterError:
    *_, reason = told.strip().splitlines() or ["unknown reason"]
    return ClusterError(
        f"a machine of the cluster cannot prepare files: {reason.strip()}",
        hint="install the same version of openbook on all machines of the cluster",
    )
