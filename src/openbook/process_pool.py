"""A pool of child processes with a timeout and a memory limit per job: one bad file ends one job, not the pool.

Not `multiprocessing`: its children import the caller's main module again, which runs scripts that
have no guard twice, and a crash of one child breaks its whole pool.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Generic, NoReturn, TypeVar, cast

from openbook.memory import release_memory
from openbook.types import SkipReason

Job = TypeVar("Job")
Result = TypeVar("Result")

# The child takes the parent's import path instead of the working folder's, where a source under
# scrutiny may well hold a file called `pickle.py`.
# A parent that is interrupted may go before it has said anything.
_CHILD = """
import pickle, sys
try:
    sys.path[:] = pickle.load(sys.stdin.buffer)
    run = pickle.load(sys.stdin.buffer)
except (EOFError, pickle.UnpicklingError):
    sys.exit()
run(sys.stdin.buffer, sys.stdout.buffer)
"""

CHILD = ("-I", "-c", _CHILD)
"""Arguments of Python for a child that waits on its standard input for what `child_greeting` gives."""

_POLL_S = 0.2

# A job that took so long had much to hold. Giving it back takes a hundredth of that.
_LONG_JOB_S = 1.0

# For a thread whose process is gone: an interrupt may have left a lock of `subprocess` taken, which it waits for.
_JOIN_S = 10.0

INTERRUPT: ContextVar[Callable[[], None]] = ContextVar("INTERRUPT", default=lambda: None)
"""Called again and again while a pool of this thread waits for a job. What it raises ends the pool and its children."""

# A parent ends what takes too long. A child whose parent was killed does that itself, and so late that
# the parent, if it is there, comes first and can say why.
_ORPHAN_TIMEOUTS = 2


@dataclass(frozen=True, slots=True)
class JobFailure:
    """A job that returned no result, and why."""

    reason: str


def child_greeting(run: Callable[[IO[bytes], IO[bytes]], None]) -> bytes:
    """Return what a child must be sent first: what it runs, with its standard input and output. It is picklable."""
    return pickle.dumps(sys.path) + pickle.dumps(run)


class ProcessPool(Generic[Job, Result]):
    """A pool of child processes that apply one function to jobs.

    Function, jobs and results cross the border pickled. A child that crashes or takes too long
    costs the job it had, and is replaced.
    """

    def __init__(
        self, function: Callable[[Job], Result], *, count: int, timeout_s: float, memory_bytes: int | None = None
    ) -> None:
        """Prepare; children start with the first job.

        Args:
            function: Picklable, and not from the caller's main module. An exception in it is a `JobFailure` result.
            count: Number of children.
            timeout_s: Seconds that one job may take.
            memory_bytes: What each child may have for its data, where the system can tell; None for no limit.
        """
        # Here, where what does not pickle is the caller's error.
        self._greeting = child_greeting(partial(serve_jobs, function, memory_bytes, timeout_s))
        self._count = count
        self._timeout_s = timeout_s

    def run(self, jobs: Iterable[Job]) -> Generator[tuple[Job, Result | JobFailure], None, None]:
        """Yield every job with its result, as they finish. Closing the iterator ends the children."""
        waiting: queue.SimpleQueue[tuple[Job, bytes]] = queue.SimpleQueue()
        left = 0
        for job in jobs:
            waiting.put((job, pickle.dumps(job)))
            left += 1
        done = _Done[tuple[Job, Result | JobFailure]](4 * self._count)
        count = min(self._count, left)
        children = [_Feeder[Job, Result](self._greeting, waiting, done) for _ in range(count)]
        try:
            for child in children:
                child.start()
            while left:
                try:
                    finished = done.get(timeout=_POLL_S)
                except queue.Empty:
                    INTERRUPT.get()()
                    for child in children:
                        child.kill_if_older(self._timeout_s)
                    continue
                left -= 1
                yield finished
        finally:
            for child in children:
                child.stop()


class SingleProcess(Generic[Job, Result]):
    """One child process that is kept between jobs, until `stop`."""

    def __init__(self, function: Callable[[Job], Result], *, timeout_s: float, memory_bytes: int | None = None) -> None:
        """Take what `ProcessPool` takes; the child starts with the first job."""
        self._process = _Process[Result](child_greeting(partial(serve_jobs, function, memory_bytes, timeout_s)))
        self._timeout_s = timeout_s
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def ask(self, job: Job) -> Result | JobFailure:
        """Run one job."""
        return self._process.ask(pickle.dumps(job))

    def stop(self) -> None:
        """End the child, which is asked nothing more."""
        self._stopped.set()
        self._process.end()

    def _watch(self) -> None:
        while not self._stopped.wait(_POLL_S):
            self._process.kill_if_older(self._timeout_s)


class SharedProcess(Generic[Job, Result]):
    """One child process for the jobs of many threads, one at a time. It starts with the first job.

    `first`: a job that the child does before others, such as one that loads what takes long.
    """

    def __init__(
        self,
        function: Callable[[Job], Result],
        *,
        timeout_s: float,
        longest_wait_s: float,
        memory_bytes: int | None = None,
        first: Job | None = None,
    ) -> None:
        self._start = partial(SingleProcess[Job, Result], function, timeout_s=timeout_s, memory_bytes=memory_bytes)
        self._longest_wait_s = longest_wait_s
        self._first = first
        self._lock = threading.Lock()
        self._process: SingleProcess[Job, Result] | None = None

    def ask(self, job: Job) -> Result | JobFailure | None:
        """Run one job. None: those of others took longer than it may wait."""
        if not self._lock.acquire(timeout=self._longest_wait_s):
            return None
        try:
            if self._process is None:
                self._process = self._start()
                if self._first is not None:
                    self._process.ask(self._first)
            return self._process.ask(job)
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the child."""
        with self._lock:
            if self._process is not None:
                self._process.stop()
                self._process = None


class _Done(Generic[Result]):
    """A queue of results with a bound, so that fast children do not fill the memory of a slow consumer.

    Not `queue.Queue`: Ctrl-C may come when that has taken its lock, which is written in Python, and is not yet where
    it would release it. Then whoever is to put a result waits for ever. A `SimpleQueue` has no such moment.
    """

    def __init__(self, size: int) -> None:
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._places: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(size):
            self._places.put(None)

    def put(self, result: Result, timeout: float) -> None:
        """Wait for a place and put a result there, or raise `queue.Empty` if there was no place in time."""
        self._places.get(timeout=timeout)
        self._results.put(result)

    def get(self, timeout: float) -> Result:
        """Return the next result, or raise `queue.Empty` if there was none in time."""
        result = self._results.get(timeout=timeout)
        self._places.put(None)
        return result


class _Feeder(Generic[Job, Result]):
    """One child process, and the thread that feeds it."""

    def __init__(
        self,
        said_first: bytes,
        waiting: queue.SimpleQueue[tuple[Job, bytes]],
        done: _Done[tuple[Job, Result | JobFailure]],
    ) -> None:
        self._process = _Process[Result](said_first)
        self._waiting = waiting
        self._done = done
        self._stopped = False
        self._thread = threading.Thread(target=self._feed, daemon=True)

    def start(self) -> None:
        """Start the thread, which starts the process with the first job."""
        self._thread.start()

    def _feed(self) -> None:
        while not self._stopped:
            try:
                job, packed = self._waiting.get_nowait()
            except queue.Empty:
                break
            self._deliver((job, self._process.ask(packed)))
        self._process.end()

    def _deliver(self, finished: tuple[Job, Result | JobFailure]) -> None:
        while not self._stopped:
            try:
                self._done.put(finished, timeout=_POLL_S)
            except queue.Empty:
                continue
            return

    def kill_if_older(self, seconds: float) -> None:
        """Kill the process if it has been at its job for longer; the thread notices."""
        self._process.kill_if_older(seconds)

    def stop(self) -> None:
        """End the process, whatever it does, and the thread."""
        self._stopped = True
        self._process.stop()
        if self._thread.is_alive():  # an interrupt may have come before it was started
            self._thread.join(_JOIN_S)


class _Process(Generic[Result]):
    """A child process that one thread asks. It starts with the first job, and again when it has ended."""

    def __init__(self, said_first: bytes) -> None:
        self._said_first = said_first
        self._process: subprocess.Popen[bytes] | None = None
        self._started_s: float | None = None
        self._late = ""
        self._stopped = False

    def ask(self, packed: bytes) -> Result | JobFailure:
        """Run one pickled job."""
        try:
            return self._ask(packed)
        except Exception as exc:  # noqa: BLE001 - the edge of a thread: somebody waits for every job
            self.end()
            return JobFailure(f"{type(exc).__name__}: {exc}")

    def _ask(self, packed: bytes) -> Result | JobFailure:
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._process = self._spawn()
        stdin, stdout = _pipes(self._process)
        self._late = ""
        self._started_s = time.monotonic()
        try:
            stdin.write(packed)
            stdin.flush()
            return cast("Result | JobFailure", pickle.load(stdout))
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self.end()
            return JobFailure(self._late or f"ended the process that read it ({code})")
        finally:
            self._started_s = None

    def _spawn(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, *CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the parent, which decides what it means
        )
        self._process = process
        if self._stopped:  # `stop` may have come before there was a process to kill
            process.kill()
        stdin, _ = _pipes(process)
        stdin.write(self._said_first)
        stdin.flush()
        return process

    def kill_if_older(self, seconds: float) -> None:
        """Kill the process if it has been at its job for longer; who asked it notices."""
        started, process = self._started_s, self._process
        if started is not None and process is not None and time.monotonic() - started > seconds:
            self._late = took_longer(seconds)
            process.kill()

    def stop(self) -> None:
        """End the process from another thread, whatever it does."""
        self._stopped = True
        process = self._process
        if process is not None:
            process.kill()

    def end(self) -> int | None:
        """End the process if there is one, and give its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        for pipe in _pipes(process):
            _close_quietly(pipe)
        return process.wait()


def took_longer(seconds: float) -> str:
    """Return the reason why a job is lost that took longer than that."""
    return f"{SkipReason.TOOK_LONGER} {seconds:g} s"


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _close_quietly(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        return  # closing flushes, and nobody is left to read


def apply_safely(function: Callable[[Job], Result], job: Job) -> Result | JobFailure:
    """Apply a function as a child would: an exception becomes a `JobFailure` result. Ctrl-C does not."""
    try:
        return function(job)
    except MemoryError:
        return JobFailure("takes too much memory")
    except Exception as exc:
        if isinstance(exc.__cause__ or exc.__context__, KeyboardInterrupt):
            # Ctrl-C within a callback of an extension module comes out as a SystemError.
            raise KeyboardInterrupt from exc
        return JobFailure(f"{type(exc).__name__}: {exc}")


def serve_jobs(
    function: Callable[[Job], Result],
    memory_bytes: int | None,
    timeout_s: float,
    jobs: IO[bytes],
    results: IO[bytes],
) -> None:
    """Answer jobs until the stream ends. This is the child's whole life."""
    if memory_bytes:
        _limit_memory(memory_bytes)
    become_child()
    try:
        while True:
            started = time.monotonic()
            _answer(function, timeout_s, jobs, results)
            if time.monotonic() - started > _LONG_JOB_S:
                _give_back()
    except (EOFError, pickle.UnpicklingError):
        return  # no more jobs, or half a job of a parent that is gone
    except BrokenPipeError:
        exit_immediately()


def _answer(function: Callable[[Job], Result], timeout_s: float, jobs: IO[bytes], results: IO[bytes]) -> None:
    """Do one job. Nothing of it is held while the next is waited for."""
    job = pickle.load(jobs)
    _end_after(_ORPHAN_TIMEOUTS * timeout_s)
    outcome = apply_safely(function, job)
    _end_after(0)
    pickle.dump(outcome, results)
    results.flush()


def _give_back() -> None:
    """Return the memory of a long job to the system."""
    gc.collect()
    release_memory()


def become_child() -> None:
    """Ignore Ctrl-C and detach standard output: both belong to the parent. Called once, first."""
    # Where there are no sessions, Ctrl-C reaches children as well.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # whatever prints must not end up between the results


def exit_immediately() -> NoReturn:
    """End a child whose parent is gone. Leaving the usual way would flush once more, and complain."""
    os._exit(0)


def _end_after(seconds: float) -> None:
    """Have the system end this process then; 0 calls that off. Not on Windows."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(size_bytes: int) -> None:
    """Have the system refuse this process more memory than that. Not on Windows."""
    with contextlib.suppress(ModuleNotFoundError):
        import resource

        limit_data(resource, size_bytes)


def limit_data(system: Any, size_bytes: int) -> None:
    """Set a limit through the module `resource`. Where the system refuses, as macOS may, there is none."""
    hard = system.getrlimit(system.RLIMIT_DATA)[1]
    soft = size_bytes if hard == system.RLIM_INFINITY else min(size_bytes, hard)
    with contextlib.suppress(OSError, ValueError):
        system.setrlimit(system.RLIMIT_DATA, (soft, hard))
