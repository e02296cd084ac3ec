from __future__ import annotations

import operator
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.process_pool import JobFailure, ProcessPool, SharedProcess, apply_safely, limit_data
from tests.jobs import act
from tests.support import child_environment, children_of, write_tree

NEVER_S = 600.0


def run(jobs: list[str], *, count: int = 2, timeout_s: float = NEVER_S) -> dict[str, object]:
    results = list(ProcessPool(act, count=count, timeout_s=timeout_s).run(jobs))
    assert len(results) == len(jobs)
    return dict(results)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_every_job_comes_back_once_with_its_own_result(count: int) -> None:
    jobs = [f"say {number}" for number in range(60)]

    assert run(jobs, count=count) == {job: job.removeprefix("say ") for job in jobs}


def test_equal_jobs_are_not_one() -> None:
    assert list(ProcessPool(act, count=2, timeout_s=NEVER_S).run(["say a"] * 5)) == [("say a", "a")] * 5


def test_without_jobs_no_process_is_started() -> None:
    before = children_of(os.getpid())

    assert run([]) == {}
    assert children_of(os.getpid()) == before


@pytest.mark.slow
def test_no_more_processes_are_started_than_there_are_jobs_or_were_asked_for() -> None:
    few = set(run(["pid 1", "pid 2"], count=8).values())
    many = set(run([f"pid {number}" for number in range(20)], count=2).values())

    assert len(few) <= 2
    assert len(many) <= 2
    assert os.getpid() not in few | many


@pytest.mark.slow
def test_what_a_long_job_leaves_is_given_back_before_the_next() -> None:
    results = run(["left before", "litter 1.1", "left behind"], count=1)

    assert (results["left before"], results["left behind"]) == (0, 0)


def test_an_exception_is_a_lost_job_and_nothing_more() -> None:
    results = run(["fail five", "pid a", "pid b"], count=1)

    assert results["fail five"] == JobFailure("ValueError: invalid literal for int() with base 10: 'five'")
    assert results["pid a"] == results["pid b"]


@pytest.mark.slow
@pytest.mark.parametrize("fatal", ["exit 0", "crash"])
def test_a_process_that_ends_costs_the_job_it_had_and_no_other(fatal: str) -> None:
    jobs = ["say a", fatal, *(f"say {number}" for number in range(10))]

    results = run(jobs)

    lost = results.pop(fatal)
    assert isinstance(lost, JobFailure)
    assert "ended the process that read it" in lost.reason
    assert results == {job: job.removeprefix("say ") for job in results}


@pytest.mark.slow
def test_processes_that_end_again_and_again_are_replaced_again_and_again() -> None:
    results = run([f"exit {number}" for number in range(1, 5)] + ["say a"])

    assert results.pop("say a") == "a"
    assert results == {f"exit {n}": JobFailure(f"ended the process that read it ({n})") for n in range(1, 5)}


@pytest.mark.slow
def test_a_process_that_ended_between_two_jobs_costs_none() -> None:
    # The sixth is handed out when the second result is asked for, and the last one not before the third.
    jobs = [*(f"say {number}" for number in range(5)), "fade", "say after"]
    iterator = ProcessPool(act, count=1, timeout_s=NEVER_S).run(jobs)
    next(iterator), next(iterator)
    time.sleep(1.0)  # meanwhile the child is gone

    assert list(iterator)[-2:] == [("fade", None), ("say after", "after")]


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_lost_and_no_other() -> None:
    results = run(["say a", "sleep 500", "say b", "say c"], timeout_s=3.0)

    assert results == {"say a": "a", "sleep 500": JobFailure("took longer than 3 s"), "say b": "b", "say c": "c"}


@pytest.mark.skipif(sys.platform != "linux", reason="only here the limit is kept for all kinds of memory")
def test_a_job_that_takes_too_much_memory_is_lost_and_no_other() -> None:
    jobs = ["swell 1000", f"swell {3 * 1024**3}", "say a"]

    results = dict(ProcessPool(act, count=1, timeout_s=NEVER_S, memory_bytes=1024**3).run(jobs))

    assert results == {jobs[0]: 1000, jobs[1]: JobFailure("takes too much memory"), "say a": "a"}


class RefusingSystem:
    """The module `resource` of a system that takes no limit of data."""

    RLIMIT_DATA, RLIM_INFINITY = 2, -1

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def getrlimit(self, which: int) -> tuple[int, int]:
        return (500, 500)

    def setrlimit(self, which: int, limits: tuple[int, int]) -> None:
        self.asked.append(limits)
        raise ValueError("current limit exceeds maximum limit")


def test_a_system_that_takes_no_limit_of_memory_does_without() -> None:
    system = RefusingSystem()

    limit_data(system, 1000)

    assert system.asked == [(500, 500)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ("lambda", "ended the process that read it (1)"),
        ("unreadable", "ValueError: invalid literal for int() with base 10: 'x'"),
    ],
)
def test_a_result_that_cannot_cross_is_a_lost_job(job: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    results = run([job, "say a"])

    assert results[job] == JobFailure(reason)
    assert results["say a"] == "a"
    capfd.readouterr()  # the child may say on the error stream what it could not send


def test_what_cannot_cross_to_a_child_is_the_callers_error() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        ProcessPool(lambda job: job, count=1, timeout_s=NEVER_S)
    with pytest.raises(TypeError):
        next(ProcessPool(operator.not_, count=1, timeout_s=NEVER_S).run([threading.Lock()]))


def test_jobs_that_fail_while_they_are_read_take_no_finished_result_along() -> None:
    def jobs() -> Iterator[str]:
        yield from (f"say {number}" for number in range(5))  # so many are read before the first result
        raise OSError("unreadable")

    iterator = ProcessPool(act, count=1, timeout_s=NEVER_S).run(jobs())

    assert next(iterator) == ("say 0", "0")
    with pytest.raises(OSError, match="unreadable"):
        next(iterator)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["exit 7", "fail five", "unreadable"])
def test_jobs_of_a_shared_process_are_done_even_if_its_first_job_fails(first: str) -> None:
    process = SharedProcess(act, timeout_s=NEVER_S, first=first)

    assert [process.ask(job) for job in ("say a", "say b")] == ["a", "b"]
    process.close()


@pytest.mark.slow
def test_a_first_job_that_failed_is_not_tried_again(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    process = SharedProcess(act, timeout_s=NEVER_S, first=f"mark {tried}")

    assert [process.ask(job) for job in ("say a", "exit 1", "say b")] == [
        "a",
        JobFailure("ended the process that read it (1)"),
        "b",
    ]
    process.close()
    assert tried.read_bytes() == b"x"


@pytest.mark.slow
def test_a_function_that_children_cannot_load_loses_every_job(tmp_path: Path) -> None:
    script = write_tree(tmp_path, {"main.py": MAIN}) / "main.py"

    result = subprocess.run([sys.executable, script], capture_output=True, encoding="utf-8", env=child_environment())

    assert result.stdout.count("JobFailure(reason='ended the process that read it (1)')") == 2


MAIN = """
from openbook.process_pool import ProcessPool

def own(job):
    return job

for pair in ProcessPool(own, count=1, timeout_s=600).run(["a", "b"]):
    print(pair)
"""


@pytest.mark.slow
def test_results_larger_than_a_pipe_come_back_whole() -> None:
    jobs = [f"big {size}" for size in (65_535, 65_537, 10_000_000)]

    assert {job: len(str(result)) for job, result in run(jobs).items()} == {
        job: int(job.removeprefix("big ")) for job in jobs
    }


@pytest.mark.slow
def test_more_large_results_than_wait_in_line_come_back_too() -> None:
    assert len(run([f"big {100_000 + number}" for number in range(40)])) == 40


def test_what_a_job_prints_does_not_mix_with_results(capfd: pytest.CaptureFixture[str]) -> None:
    results = run(["print hello", "say a"], count=1)

    assert results == {"print hello": 6, "say a": "a"}
    assert capfd.readouterr() == ("", "hello\n")


@pytest.mark.slow
def test_closing_early_leaves_no_process() -> None:
    before, threads = children_of(os.getpid()), threading.active_count()
    iterator = ProcessPool(act, count=3, timeout_s=NEVER_S).run(["say a", "say b", *["sleep 500"] * 9])
    next(iterator), next(iterator)

    close(iterator)

    assert children_of(os.getpid()) == before
    assert threading.active_count() == threads


INTERRUPTED = """
import sys, threading
from openbook.process_pool import ProcessPool
from tests.jobs import act

def interrupt_after(returns):
    # Python looks for Ctrl-C whenever a function of its own returns: then a lock may be held that nobody releases.
    def trace(frame, event, argument):
        nonlocal returns
        if event == "return" and frame.f_code is not ProcessPool.run.__code__:  # that one yields
            returns -= 1
            if returns == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace
    sys.settrace(trace)

for returns in range(1, 11):
    iterator = ProcessPool(act, count=1, timeout_s=600).run(["say a", "sleep 0.3", *["say b"] * 40])
    next(iterator)
    interrupt_after(returns)
    try:
        list(iterator)
    except KeyboardInterrupt:
        sys.stdout.write("interrupted ")
    sys.settrace(None)
    iterator.close()
    assert threading.active_count() == 1
"""


@pytest.mark.slow
def test_an_interrupt_at_any_moment_of_waiting_leaves_no_thread_that_waits_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, encoding="utf-8", env=child_environment(), timeout=60
    )

    assert (done.stdout.split(), done.stderr) == (["interrupted"] * 10, "")


def close(iterator: Iterator[object]) -> None:
    assert hasattr(iterator, "close")
    iterator.close()


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0.0, 0.002, 0.02])
def test_closing_while_children_start_leaves_no_process(delay_s: float) -> None:
    before, threads = children_of(os.getpid()), threading.active_count()
    iterator = ProcessPool(act, count=2, timeout_s=NEVER_S).run(["exit 1", *["sleep 500"] * 5])
    next(iterator)
    time.sleep(delay_s)  # the first child is being replaced

    close(iterator)

    assert children_of(os.getpid()) == before
    assert threading.active_count() == threads


@pytest.mark.slow
def test_a_finished_run_leaves_no_process() -> None:
    before, threads = children_of(os.getpid()), threading.active_count()

    run(["say a", "exit 1", "say b"])

    assert children_of(os.getpid()) == before
    assert threading.active_count() == threads


def test_the_callers_main_module_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import operator; from openbook.process_pool import ProcessPool\n"
        "print('main', list(ProcessPool(operator.not_, count=2, timeout_s=600).run([0, 1, 2])))\n",
        encoding="utf-8",
    )

    result = subprocess.run(
        [sys.executable, tmp_path / "main.py"], capture_output=True, encoding="utf-8", env=child_environment()
    )

    assert result.stdout.count("main") == 1
    assert result.stdout.count("(0, True)") == 1


@pytest.mark.parametrize("name", ["pickle", "openbook"])
def test_modules_of_the_working_folder_are_not_imported(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {f"{name}.py": "raise SystemExit(99)"})
    code = (
        "import operator; from openbook.process_pool import ProcessPool\n"
        "print(sorted(ProcessPool(operator.not_, count=1, timeout_s=600).run([0, 1])))"
    )

    # -P keeps the working folder out of the parent's path, as it is for an installed command.
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, cwd=tmp_path, encoding="utf-8", env=child_environment()
    )

    assert result.stdout == "[(0, True), (1, False)]\n"


def test_children_import_from_where_the_parent_does() -> None:
    assert run(["path"])["path"] == sys.path


def test_children_load_no_more_than_the_job_needs() -> None:
    modules = run(["modules"])["modules"]

    assert isinstance(modules, list)
    assert "openbook.process_pool" in modules
    assert {"openbook.library", "openbook.cli", "multiprocessing"}.isdisjoint(modules)


def test_ctrl_c_inside_an_extension_module_is_not_a_lost_job() -> None:
    def interrupted(_: int) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        apply_safely(interrupted, 1)
