"""Executors prepare files: in this process, in child processes, or in a plugin."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from openbook.ingest.preparation import FileJob, FilePreparer, PreparedFile
from openbook.plugins import having, require_plugin
from openbook.process_pool import JobFailure, ProcessPool, apply_safely
from openbook.settings import Settings

Outcome = tuple[FileJob, PreparedFile | JobFailure]


class Executor(Protocol):
    """Prepares files. An entry point of `openbook.executors` is a factory that takes an address."""

    @property
    def min_bytes(self) -> int:
        """Total file size below which another executor finishes before this one has started."""

    def run(self, files: FilePreparer, jobs: Sequence[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        """Yield each job with its result, in order of completion. Closing the generator cancels the rest.

        Args:
            files: Called with a job, prepares a local file. For remote workers, `files.read` reads it here, and
                the picklable `files.preparer` prepares the content there.
            jobs: One per file. A failure is returned as the file's result, a `JobFailure`.
            settings: Number of processes, and limits per file.

        Raises:
            ClusterError: The cluster cannot do the work.
            MissingExtraError: A package is not installed.
        """


class ProcessExecutor:
    """Prepares files in child processes of this machine."""

    min_bytes = 2 * 1024 * 1024  # below, one process finishes before two more have started (0.4 s each)

    def run(self, files: FilePreparer, jobs: Sequence[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        return _pool(files, settings, settings.workers).run(jobs)


class InlineExecutor:
    """Prepares text in this process, and everything else in one child process, which can be killed."""

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
    """Return the executor for files of a total size: the configured one, or one of this machine.

    Raises:
        SettingsError: The executor does not exist, or rejects its address.
        PluginError: The executor cannot be loaded.
    """
    if settings.executor:
        executor: Executor = require_plugin(
            "executors", settings.executor, "OPENBOOK_EXECUTOR", having("min_bytes", "run")
        )
        if size_bytes >= executor.min_bytes:
            return executor
    if settings.workers > 1 and size_bytes >= ProcessExecutor.min_bytes:
        return ProcessExecutor()
    return InlineExecutor()


def _pool(files: FilePreparer, settings: Settings, count: int) -> ProcessPool[FileJob, PreparedFile]:
    memory_bytes = settings.file_memory_bytes
    return ProcessPool(files, count=count, timeout_s=settings.file_timeout_s, memory_bytes=memory_bytes)
