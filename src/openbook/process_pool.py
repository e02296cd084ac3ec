"""Child processes with limits on time and memory, and pools that run jobs in them.

A bad file fails its own job, not the pool. Not `multiprocessing`: its children import the caller's main module again,
which reruns scripts without a guard, and a crashed child breaks its whole pool.
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
from collections.abc import Callable, Generator, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO, Any, Generic, TypeVar, cast

from openbook.memory import own_process, release_memory
from openbook.text import size_text
from openbook.types import SkipReason

Job = TypeVar("Job")
Result = TypeVar("Result")
Reply = TypeVar("Reply")

# The child uses the parent's import path instead of the working folder, where a source under analysis may
# contain a file named `pickle.py`.
# EOFError: an interrupted parent may exit before it has sent anything.
_CHILD = """
import pickle, sys
try:
    sys.path[:] = pickle.load(sys.stdin.buffer)
    serve = pickle.load(sys.stdin.buffer)
except (EOFError, pickle.UnpicklingError):
    sys.exit()
serve(sys.stdin.buffer, sys.stdout.buffer)
"""

_POLL_S = 0.2

# Jobs per child to submit ahead of consumed results, so that fast children do not fill the memory of a slow consumer.
_AHEAD = 5

# A job that took this long used much memory. Releasing it takes a hundredth of that time.
_LONG_JOB_S = 1.0

# For a thread whose process is gone: an interrupt may have left a lock of `subprocess` held, on which it waits.
_JOIN_S = 10.0

INTERRUPT: ContextVar[Callable[[], None]] = ContextVar("INTERRUPT", default=lambda: None)
"""Called repeatedly while a pool of this thread waits for a job. An exception ends the pool and its children."""

# The parent kills children that take too long. A child whose parent was killed exits by itself after this
# many timeouts, so that a living parent comes first and can report the reason.
_ORPHAN_TIMEOUTS = 2


class ChildEndedError(Exception):
    """A child has ended; the message says why."""


def child_greeting(
    run: Callable[[Iterator[Any], Callable[[Any], None]], None], memory_bytes: int | None = None
) -> bytes:
    """Return the message that starts a `ChildProcess`.

    Args:
        run: The main function of the child. Takes the incoming messages and a function that sends one. Must be
            picklable, and not from the caller's main module.
        memory_bytes: Memory limit of the child, where the system supports it; None for no limit.
    """
    return pickle.dumps(sys.path) + pickle.dumps(partial(_serve, run, memory_bytes))


def _serve(
    run: Callable[[Iterator[Any], Callable[[Any], None]], None],
    memory_bytes: int | None,
    requests: IO[bytes],
    replies: IO[bytes],
) -> None:
    """Run as a child. Messages in both directions are consecutive pickles."""
    own_process()
    if memory_bytes:
        _limit_memory(memory_bytes)
    # On systems without sessions, children receive Ctrl-C as well.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # printed output must not get between the messages

    def messages() -> Iterator[Any]:
        with contextlib.suppress(EOFError, pickle.UnpicklingError):  # the parent is gone, maybe mid-message
            while True:
                yield pickle.load(requests)

    def say(message: Any) -> None:
        pickle.dump(message, replies)
        replies.flush()

    try:
        run(messages(), say)
    except BrokenPipeError:  # the parent is gone; a normal exit would flush again and print an error
        os._exit(0)


class ChildProcess(Generic[Reply]):
    """A child process that exchanges messages with this one. It is killed if it does not reply in time."""

    def __init__(self, greeting: bytes, timeout_s: float) -> None:
        """Start it with the result of `child_greeting`. `timeout_s`: maximum silence while a reply is awaited."""
        self.waited_since_s: float | None = None
        """Time of the last message in either direction (`time.monotonic`); None while no reply is awaited."""
        self._timeout_s = timeout_s
        self._late = ""
        self._ended = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # only the parent receives Ctrl-C, and decides what to do
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()
        with contextlib.suppress(ChildEndedError):  # reported on first use
            self.send(greeting)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def send(self, packed: bytes) -> None:
        """Send a pickled message. Blocks while the pipe is full.

        Raises:
            ChildEndedError: The child has ended.
        """
        try:
            self._stdin.write(packed)
            self._stdin.flush()
        except (OSError, ValueError):  # closed by another thread
            raise ChildEndedError(self.end()) from None

    def receive(self) -> Reply:
        """Wait for the next message from the child.

        Raises:
            ChildEndedError: The child has ended.
        """
        try:
            return cast("Reply", pickle.load(self._stdout))
        except ValueError:
            if not self._stdout.closed:  # not closed by another thread, so the message itself is invalid
                raise
            raise ChildEndedError(self.end()) from None
        except (OSError, EOFError, pickle.UnpicklingError):
            raise ChildEndedError(self.end()) from None

    def ask(self, packed: bytes) -> Reply:
        """Send a pickled message and wait for the reply.

        Raises:
            ChildEndedError: The child has ended, or took too long.
        """
        self.waited_since_s = time.monotonic()
        try:
            self.send(packed)
            return self.receive()
        finally:
            self.waited_since_s = None

    def _watch(self) -> None:
        while not self._ended.wait(_POLL_S):
            since = self.waited_since_s
            if since is not None and time.monotonic() - since > self._timeout_s:
                self._late = took_longer(self._timeout_s)
                self.kill()

    def kill(self) -> None:
        """Kill the child. Threads that wait for it get an error."""
        self._process.kill()

    def close_input(self) -> None:
        """Close the input. The child exits after the messages it has received."""
        _close_quietly(self._stdin)

    def end(self, grace_s: float = 0.0) -> str:
        """End the child, and return why it ended. `grace_s`: time for it to exit by itself."""
        if grace_s:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_s)
        self.kill()
        _close_quietly(self._stdin)
        _close_quietly(self._stdout)
        code = self._process.wait()
        self._ended.set()
        self._watching.join()
        return self._late or f"ended the process that read it ({code})"


@dataclass(frozen=True, slots=True)
class JobFailure:
    """A job without a result, and the reason."""

    reason: str


class ProcessPool(Generic[Job, Result]):
    """A pool of child processes that apply one function to jobs.

    Function, jobs and results are pickled. If a child crashes or times out, only its current job is
    lost, and the child is replaced.
    """

    def __init__(
        self, function: Callable[[Job], Result], *, count: int, timeout_s: float, memory_bytes: int | None = None
    ) -> None:
        """Prepare the pool. Children start with the first job.

        Args:
            function: Picklable, and not from the caller's main module. An exception becomes a `JobFailure` result.
            count: Number of children.
            timeout_s: Maximum seconds per job.
            memory_bytes: Memory limit per child, where the system supports it; None for no limit.
        """
        # Pickled here, so that a pickling error is raised to the caller.
        greeting = child_greeting(partial(_do_jobs, function, timeout_s), memory_bytes)
        self._worker = partial(_Worker[Result], greeting, timeout_s)
        self._count = count

    def run(self, jobs: Iterable[Job]) -> Generator[tuple[Job, Result | JobFailure], None, None]:
        """Yield each job with its result, in order of completion. Closing the iterator ends the children."""
        # Not `queue.Queue`: its lock is written in Python, and Ctrl-C may arrive between acquiring it and entering the
        # block that releases it. Then a worker that puts a result waits forever.
        waiting: queue.SimpleQueue[tuple[Job, bytes] | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Job, Result | JobFailure]] = queue.SimpleQueue()
        todo = iter(jobs)

        def hand_out(most: int) -> int:
            handed = [(job, pickle.dumps(job)) for job in islice(todo, most)]
            for each in handed:
                waiting.put(each)
            if len(handed) < most:
                waiting.put(None)
            return len(handed)

        left = hand_out(_AHEAD * self._count)
        workers = [self._worker() for _ in range(min(self._count, left))]
        threads = [threading.Thread(target=_feed, args=(each, waiting, done), daemon=True) for each in workers]
        try:
            for thread in threads:
                thread.start()
            while left:
                try:
                    finished = done.get(timeout=_POLL_S)
                except queue.Empty:
                    INTERRUPT.get()()
                    continue
                yield finished
                left += hand_out(1) - 1  # after the yield: an error in the caller's jobs must not lose a result
        finally:
            for worker in workers:
                worker.stop()
            waiting.put(None)
            for thread in threads:
                if thread.is_alive():  # an interrupt may have come before it started
                    thread.join(_JOIN_S)


class SharedProcess(Generic[Job, Result]):
    """One child process that runs the jobs of many threads, one at a time. It starts with the first job.

    `first`: a job to run before all others, such as one that loads something large. If it fails, the others still
    run.
    """

    def __init__(
        self,
        function: Callable[[Job], Result],
        *,
        timeout_s: float,
        max_wait_s: float = -1,
        memory_bytes: int | None = None,
        first: Job | None = None,
    ) -> None:
        """Take the arguments of `ProcessPool`. `max_wait_s`: maximum wait for other jobs; -1 for no limit."""
        greeting = child_greeting(partial(_do_jobs, function, timeout_s), memory_bytes)
        self._worker = _Worker[Result](greeting, timeout_s, b"" if first is None else pickle.dumps(first))
        self._max_wait_s = max_wait_s
        self._lock = threading.Lock()

    def ask(self, job: Job) -> Result | JobFailure | None:
        """Run one job. None if it waited too long for others."""
        if not self._lock.acquire(timeout=self._max_wait_s):
            return None
        try:
            return self._worker.ask(pickle.dumps(job))
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the child. The next job starts a new one."""
        with self._lock:
            self._worker.end()


def _feed(
    worker: _Worker[Result],
    waiting: queue.SimpleQueue[tuple[Job, bytes] | None],
    done: queue.SimpleQueue[tuple[Job, Result | JobFailure]],
) -> None:
    """Run queued jobs in a worker, in a thread. None marks the end of the queue."""
    while not worker.is_stopped and (given := waiting.get()) is not None:
        job, packed = given
        done.put((job, worker.ask(packed)))
    waiting.put(None)  # for the next worker
    worker.end()


class _Worker(Generic[Result]):
    """A child that runs jobs for one thread. It starts with the first job, and is restarted when it has ended."""

    def __init__(self, greeting: bytes, timeout_s: float, first: bytes = b"") -> None:
        self.is_stopped = False
        self._start = partial(ChildProcess[Result | JobFailure], greeting, timeout_s)
        self._first = first
        self._child: ChildProcess[Result | JobFailure] | None = None

    def ask(self, packed: bytes) -> Result | JobFailure:
        is_new = self._child is None or self._child.has_ended
        if is_new and self._first and isinstance(self._ask(self._first), JobFailure):
            self._first = b""  # it would fail again, and delay every later job
        return self._ask(packed)

    def _ask(self, packed: bytes) -> Result | JobFailure:
        try:
            return self._started().ask(packed)
        except ChildEndedError as exc:
            return JobFailure(str(exc))
        except Exception as exc:  # noqa: BLE001 - the edge of a thread: every job needs a result
            self.end()
            return JobFailure(f"{type(exc).__name__}: {exc}")

    def _started(self) -> ChildProcess[Result | JobFailure]:
        if self._child is not None and not self._child.has_ended:
            return self._child
        self.end()
        child = self._child = self._start()
        if self.is_stopped:  # `stop` may have been called before there was a child to kill
            child.kill()
        return child

    def stop(self) -> None:
        """Kill the child from another thread. It is not restarted."""
        self.is_stopped = True
        child = self._child
        if child is not None:
            child.kill()

    def end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


def took_longer(seconds: float) -> str:
    """Return the failure reason for a job that exceeded the time limit."""
    return f"{SkipReason.TOOK_LONGER} {seconds:g} s"


def took_more_memory(size_bytes: int) -> str:
    """Return the failure reason for a job that exceeded the memory limit."""
    return f"{SkipReason.TOO_MUCH_MEMORY}, more than {size_text(size_bytes)}"


def _close_quietly(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        return  # closing flushes, but there is no reader left


def apply_safely(function: Callable[[Job], Result], job: Job) -> Result | JobFailure:
    """Apply a function like a child does: an exception becomes a `JobFailure` result, except Ctrl-C."""
    try:
        return function(job)
    except MemoryError:
        return JobFailure(SkipReason.TOO_MUCH_MEMORY)
    except Exception as exc:
        if isinstance(exc.__cause__ or exc.__context__, KeyboardInterrupt):
            # Ctrl-C inside a callback of an extension module surfaces as SystemError.
            raise KeyboardInterrupt from exc
        return JobFailure(f"{type(exc).__name__}: {exc}")


def _do_jobs(
    function: Callable[[Job], Result], timeout_s: float, jobs: Iterator[Job], say: Callable[[Result | JobFailure], None]
) -> None:
    """Run jobs until the input ends."""
    for job in jobs:
        started = time.monotonic()
        _end_after(_ORPHAN_TIMEOUTS * timeout_s)
        outcome = apply_safely(function, job)
        _end_after(0)
        say(outcome)
        del job, outcome  # free them before waiting for the next job
        if time.monotonic() - started > _LONG_JOB_S:
            gc.collect()
            release_memory()


def _end_after(seconds: float) -> None:
    """Let the system end this process after some seconds; 0 cancels that. Not on Windows."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(size_bytes: int) -> None:
    """Let the system limit the memory of this process. Not on Windows."""
    with contextlib.suppress(ModuleNotFoundError):
        import resource

        limit_data(resource, size_bytes)


def limit_data(system: Any, size_bytes: int) -> None:
    """Set a memory limit with the `resource` module. If the system refuses, as macOS may, there is none."""
    hard = system.getrlimit(system.RLIMIT_DATA)[1]
    soft = size_bytes if hard == system.RLIM_INFINITY else min(size_bytes, hard)
    with contextlib.suppress(OSError, ValueError):
        system.setrlimit(system.RLIMIT_DATA, (soft, hard))
