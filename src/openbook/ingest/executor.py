"""What prepares files: this process, child processes of it, or what a plugin brings."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from openbook.ingest.preparation import FileJob, FilePreparer, PreparedFile
from openbook.plugins import require_plugin
from openbook.process_pool import JobFailure, ProcessPool, apply_safely
from openbook.settings import Settings

MEMORY_BYTES = 2 * 1024**3
"""What a process may have for its data that prepares files.

A PDF of 1,000 pages takes 0.1 GB. Compressed contents of 7 MB were seen to take 8 GB.
"""

Outcome = tuple[FileJob, PreparedFile | JobFailure]


class Executor(Protocol):
    """Prepares files. Called with an address, it is what an entry point of `openbook.executors` refers to."""

    @property
    def min_bytes(self) -> int:
        """Below this size of all files another one would be done before this one has begun."""

    def run(self, files: FilePreparer, jobs: Sequence[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        """Yield every job with its result, as they finish. Closing the generator calls off the rest.

        Args:
            files: Called with a job, it prepares a file of this machine. For another machine, `files.read` reads it
                here, and `files.preparer`, which pickles, prepares there what was read.
            jobs: Each is a file. What goes wrong with one is its result, a `JobFailure`.
            settings: How many processes to use, and how long one file may take.

        Raises:
            ClusterError: The work cannot be done there.
            MissingExtraError: A package is not installed.
        """


class ProcessExecutor:
    """Prepares files in child processes of this machine."""

    min_bytes = 2 * 1024 * 1024  # one process is done before two more have started (0.4 s each)

    def run(self, files: FilePreparer, jobs: Sequence[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        return _pool(files, settings, settings.workers).run(jobs)


class InlineExecutor:
    """Prepares text in this process, and all else in one child, which can be killed."""

    min_bytes = 0

    def run(self, files: FilePreparer, jobs: Sequence[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        apart = []
        for job in jobs:
            outcome = apply_safely(files.here, job)
            if not isinstance(outcome, JobFailure) and outcome.elsewhere:
                apart.append(job)
            else:
                yield job, outcome
        if apart:
            yield from _pool(files, settings, 1).run(apart)


def executor_for(settings: Settings, size_bytes: int) -> Executor:
    """Return what prepares files of that size in total: the executor of the settings, or this machine.

    Raises:
        SettingsError: There is no such executor, or its address means nothing to it.
        PluginError: The executor cannot be loaded.
    """
    if settings.executor:
        executor: Executor = require_plugin("executors", settings.executor, "OPENBOOK_EXECUTOR")
        if size_bytes >= executor.min_bytes:
            return executor
    if settings.workers > 1 and size_bytes >= ProcessExecutor.min_bytes:
        return ProcessExecutor()
    return InlineExecutor()


def _pool(files: FilePreparer, settings: Settings, count: int) -> ProcessPool[FileJob, PreparedFile]:
    return ProcessPool(files, count=count, timeout_s=settings.file_timeout_s, memory_bytes=MEMORY_BYTES)
