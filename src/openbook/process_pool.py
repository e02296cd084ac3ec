"""Child processes with limits of time and memory: messages to and from them, and pools that do jobs.

One bad file ends one job, not the pool. Not `multiprocessing`: its children import the caller's main module again,
which runs scripts that have no guard twice, and a crash of one child breaks its whole pool.
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
from openbook.types import SkipReason

Job = TypeVar("Job")
Result = TypeVar("Result")
Reply = TypeVar("Reply")

# The child takes the parent's import path instead of the working folder's, where a source under
# scrutiny may well hold a file called `pickle.py`.
# A parent that is interrupted may go before it has said anything.
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

# Jobs of each child that are handed out before their results are taken: fast children must not fill the memory of a
# slow consumer.
_AHEAD = 5

# A job that took so long had much to hold. Giving it back takes a hundredth of that.
_LONG_JOB_S = 1.0

# For a thread whose process is gone: an interrupt may have left a lock of `subprocess` taken, which it waits for.
_JOIN_S = 10.0

INTERRUPT: ContextVar[Callable[[], None]] = ContextVar("INTERRUPT", default=lambda: None)
"""Called again and again while a pool of this thread waits for a job. What it raises ends the pool and its children."""

# A parent ends what takes too long. A child whose parent was killed does that itself, and so late that
# the parent, if it is there, comes first and can say why.
_ORPHAN_TIMEOUTS = 2


class ChildEndedError(Exception):
    """A child has ended; its text says why."""


def child_greeting(
    run: Callable[[Iterator[Any], Callable[[Any], None]], None], memory_bytes: int | None = None
) -> bytes:
    """Return what starts a `ChildProcess`.

    Args:
        run: The whole life of the child: takes the messages to it, and what sends one back. It is picklable, and not
            from the caller's main module.
        memory_bytes: What the child may have for its data, where the system can tell; None for no limit.
    """
    return pickle.dumps(sys.path) + pickle.dumps(partial(_serve, run, memory_bytes))


def _serve(
    run: Callable[[Iterator[Any], Callable[[Any], None]], None],
    memory_bytes: int | None,
    requests: IO[bytes],
    replies: IO[bytes],
) -> None:
    """Live as a child: messages are pickles, one behind the other, both ways."""
    own_process()
    if memory_bytes:
        _limit_memory(memory_bytes)
    # Where there are no sessions, Ctrl-C reaches children as well.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # whatever prints must not end up between the messages

    def messages() -> Iterator[Any]:
        with contextlib.suppress(EOFError, pickle.UnpicklingError):  # no more, or half of one, of a parent that is gone
            while True:
                yield pickle.load(requests)

    def say(message: Any) -> None:
        pickle.dump(message, replies)
        replies.flush()

    try:
        run(messages(), say)
    except BrokenPipeError:  # the parent is gone; leaving the usual way would flush once more, and complain
        os._exit(0)


class ChildProcess(Generic[Reply]):
    """A child process, to which messages are sent and which replies. It is killed if it is silent for too long."""

    def __init__(self, greeting: bytes, timeout_s: float) -> None:
        """Start it, with what `child_greeting` gives. `timeout_s`: how long it may be silent when it is waited for."""
        self.waited_since_s: float | None = None
        """When it was asked something or said something, by `time.monotonic`; None while nothing is waited for."""
        self._timeout_s = timeout_s
        self._late = ""
        self._ended = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the parent, which decides what it means
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()
        with contextlib.suppress(ChildEndedError):  # told when it is used
            self.send(greeting)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def send(self, packed: bytes) -> None:
        """Send a pickled message. Waits while the child reads none and the pipe is full.

        Raises:
            ChildEndedError: It has ended.
        """
        try:
            self._stdin.write(packed)
            self._stdin.flush()
        except (OSError, ValueError):  # closed by another thread
            raise ChildEndedError(self.end()) from None

    def receive(self) -> Reply:
        """Wait for the next message of the child.

        Raises:
            ChildEndedError: It has ended.
        """
        try:
            return cast("Reply", pickle.load(self._stdout))
        except ValueError:
            if not self._stdout.closed:  # by another thread; else the message itself could not be read
                raise
            raise ChildEndedError(self.end()) from None
        except (OSError, EOFError, pickle.UnpicklingError):
            raise ChildEndedError(self.end()) from None

    def ask(self, packed: bytes) -> Reply:
        """Send a pickled message, and wait for the reply.

        Raises:
            ChildEndedError: It has ended, or took too long.
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
        """End it at once. Whoever waits for it is told."""
        self._process.kill()

    def close_input(self) -> None:
        """Send nothing more. It ends when it has done what it was sent."""
        _close_quietly(self._stdin)

    def end(self, grace_s: float = 0.0) -> str:
        """End it, and return why it has ended. `grace_s`: how long it may take to end by itself."""
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
    """A job that returned no result, and why."""

    reason: str


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
        greeting = child_greeting(partial(_do_jobs, function, timeout_s), memory_bytes)
        self._worker = partial(_Worker[Result], greeting, timeout_s)
        self._count = count

    def run(self, jobs: Iterable[Job]) -> Generator[tuple[Job, Result | JobFailure], None, None]:
        """Yield every job with its result, as they finish. Closing the iterator ends the children."""
        # Not `queue.Queue`: Ctrl-C may come when that has taken its lock, which is written in Python, and is not yet
        # where it would release it. Then whoever is to put a result waits for ever.
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
                left += hand_out(1) - 1  # where the caller's jobs may fail, which must not take a result along
        finally:
            for worker in workers:
                worker.stop()
            waiting.put(None)
            for thread in threads:
                if thread.is_alive():  # an interrupt may have come before it was started
                    thread.join(_JOIN_S)


class SharedProcess(Generic[Job, Result]):
    """One child process for the jobs of many threads, one at a time. It starts with the first job.

    `first`: a job that the child does before others, such as one that loads what takes long. Others are done even if
    that fails.
    """

    def __init__(
        self,
        function: Callable[[Job], Result],
        *,
        timeout_s: float,
        longest_wait_s: float = -1,
        memory_bytes: int | None = None,
        first: Job | None = None,
    ) -> None:
        """Take what `ProcessPool` takes. `longest_wait_s`: how long a job may wait for others; -1 for ever."""
        greeting = child_greeting(partial(_do_jobs, function, timeout_s), memory_bytes)
        self._worker = _Worker[Result](greeting, timeout_s, b"" if first is None else pickle.dumps(first))
        self._longest_wait_s = longest_wait_s
        self._lock = threading.Lock()

    def ask(self, job: Job) -> Result | JobFailure | None:
        """Run one job. None: those of others took longer than it may wait."""
        if not self._lock.acquire(timeout=self._longest_wait_s):
            return None
        try:
            return self._worker.ask(pickle.dumps(job))
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the child. The next job starts another one."""
        with self._lock:
            self._worker.end()


def _feed(
    worker: _Worker[Result],
    waiting: queue.SimpleQueue[tuple[Job, bytes] | None],
    done: queue.SimpleQueue[tuple[Job, Result | JobFailure]],
) -> None:
    """Have a worker do what waits, in a thread of its own. None says that no more will come."""
    while not worker.is_stopped and (given := waiting.get()) is not None:
        job, packed = given
        done.put((job, worker.ask(packed)))
    waiting.put(None)  # for the next worker
    worker.end()


class _Worker(Generic[Result]):
    """A child that does jobs, which one thread asks. It starts with the first job, and again when it has ended."""

    def __init__(self, greeting: bytes, timeout_s: float, first: bytes = b"") -> None:
        self.is_stopped = False
        self._start = partial(ChildProcess[Result | JobFailure], greeting, timeout_s)
        self._first = first
        self._child: ChildProcess[Result | JobFailure] | None = None

    def ask(self, packed: bytes) -> Result | JobFailure:
        is_new = self._child is None or self._child.has_ended
        if is_new and self._first and isinstance(self._ask(self._first), JobFailure):
            self._first = b""  # it would only fail again, and hold up every job behind it
        return self._ask(packed)

    def _ask(self, packed: bytes) -> Result | JobFailure:
        try:
            return self._started().ask(packed)
        except ChildEndedError as exc:
            return JobFailure(str(exc))
        except Exception as exc:  # noqa: BLE001 - the edge of a thread: somebody waits for every job
            self.end()
            return JobFailure(f"{type(exc).__name__}: {exc}")

    def _started(self) -> ChildProcess[Result | JobFailure]:
        if self._child is not None and not self._child.has_ended:
            return self._child
        self.end()
        child = self._child = self._start()
        if self.is_stopped:  # `stop` may have come before there was a child to kill
            child.kill()
        return child

    def stop(self) -> None:
        """End the child from another thread, whatever it does. It is not started again."""
        self.is_stopped = True
        child = self._child
        if child is not None:
            child.kill()

    def end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


def took_longer(seconds: float) -> str:
    """Return the reason why a job is lost that took longer than that."""
    return f"{SkipReason.TOOK_LONGER} {seconds:g} s"


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


def _do_jobs(
    function: Callable[[Job], Result], timeout_s: float, jobs: Iterator[Job], say: Callable[[Result | JobFailure], None]
) -> None:
    """Do jobs until there are no more."""
    for job in jobs:
        started = time.monotonic()
        _end_after(_ORPHAN_TIMEOUTS * timeout_s)
        outcome = apply_safely(function, job)
        _end_after(0)
        say(outcome)
        del job, outcome  # nothing of it is held while the next is waited for
        if time.monotonic() - started > _LONG_JOB_S:
            gc.collect()
            release_memory()


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
