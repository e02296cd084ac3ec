"""Load on the server: `python -m benchmarks.server [--seconds 60] [--alike] [--offline] [--crowds]`.

The server with its processes, a fake model server and the clients share this machine. First 200 questions are open at
all times, then 20 come each second, then a model holds 20 questions for five seconds while others ask for health and
for quotes, then 10,000 conversations are made and expire. Each question is another one; with `--alike` eight come again
and again, as those of a class do. `--offline` has no model: answers are quotes, and none is held. `--crowds` does what
`benchmarks.crowds` describes instead.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import httpx2

from openbook.answers import Exchange
from openbook.sessions.protocol import new_id
from openbook.sessions.sqlite import SqliteSessions
from openbook.testing import FakeServer
from openbook.testing.script import ReceivedRequest

ROOT = Path(__file__).parents[1]
OPEN_AT_ONCE = 200
A_SECOND = 20
SESSIONS = 10_000

ALIKE = (
    "How long is a line that is cited by sentence?",
    "What happens to claims that fail?",
    "How are prices of models found?",
    "Which files are left out of a source?",
    "How does a search rank chunks?",
    "What does a key of the server cost?",
    "How is a citation checked?",
    "When is the word index merged?",
)
# Questions that the model holds, for so long, and how often something else is asked meanwhile.
HELD = 20
HOLD_S = 5.0
_HELD_QUESTION = "How is a citation checked, after a while?"
_MEANWHILE_S = 0.05

# So many units are quoted in an answer, and one claim more that nothing supports.
_QUOTED = 4
_UNIT = re.compile(r'<source number="(?P<source>\d+)"|^(?P<unit>\d+)\| *(?P<text>\w.{30,200})$', re.MULTILINE)
_BUCKET = re.compile(r'openbook_stage_seconds_bucket\{le="(?P<le>[^"]+)",stage="(?P<stage>\w+)"\} (?P<count>\S+)')


def different() -> list[str]:
    """Ask for what the package says of its parts: about 1,500 questions, in an order of chance that stays the same."""
    asked = set[str]()
    for file in (ROOT / "src" / "openbook").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                asked.add((ast.get_docstring(node) or "").partition("\n")[0].rstrip("."))
    ordered = sorted(f"{summary}?" for summary in asked if summary)
    random.Random(1).shuffle(ordered)
    return ordered


def answer(received: ReceivedRequest) -> str:
    """Answer as a good model does: mostly in the words of what it is shown, with marks that name the place."""
    text = json.dumps(received.body, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')
    if _HELD_QUESTION in text:
        time.sleep(HOLD_S)
    source = ""
    claims: list[str] = []
    for match in _UNIT.finditer(text):
        source = match["source"] or source
        if source and match["unit"] and len(claims) < _QUOTED:
            claims.append(f"- {match['text']} [{source}:{match['unit']}]")
    return "\n".join(["From the sources:", "", *claims, "- Nothing of this was ever measured [1:1]."])


def play_model() -> None:
    """Answer every call of a model in this process, until it is killed."""
    server = FakeServer(*[answer] * 1_000_000, piece=40)
    with server:
        print(server.openai_url, server.key, flush=True)
        sys.stdin.read()
        os._exit(0)  # a script that is not read to its end is no failure here


def quantile(counts: dict[float, float], share: float) -> float:
    """Estimate a quantile from the counts of a histogram, linear within its buckets. 0 of nothing."""
    total, below, before = max(counts.values(), default=0.0), 0.0, 0.0
    for limit, count in sorted(counts.items()):
        if count >= share * total and count > before:
            upper = below if limit == float("inf") else limit
            return below + (upper - below) * (share * total - before) / (count - before)
        below, before = limit, count
    return 0.0


class Watch:
    """What the server says of itself, and the system of it and of its children."""

    def __init__(self, url: str, pid: int) -> None:
        self._url = url
        self._pid = str(pid)

    def memory_mb(self) -> float:
        """Return the memory that the processes hold. Pages that they share count once, in shares."""
        held = (_read(folder / "smaps_rollup") for folder in self._processes())
        return sum(int(text.partition("\nPss:")[2].split()[0]) for text in held) / 1024

    def cpu_s(self) -> float:
        """Return the seconds of processor time that the processes have taken."""
        return sum(sum(map(int, _stat(folder)[11:13])) for folder in self._processes()) / os.sysconf("SC_CLK_TCK")

    def _processes(self) -> list[Path]:
        folders = [folder for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
        return [folder for folder in folders if self._pid in (folder.name, _stat(folder)[1])]

    def buckets(self) -> dict[str, dict[float, float]]:
        """Return the histogram of each stage."""
        found: dict[str, dict[float, float]] = {}
        for match in _BUCKET.finditer(httpx2.get(f"{self._url}/metrics", timeout=60).text):
            found.setdefault(match["stage"], {})[float(match["le"])] = float(match["count"])
        return found


def _read(path: Path) -> str:
    with contextlib.suppress(OSError):  # a process that has ended meanwhile
        return path.read_text(encoding="utf-8", errors="replace")
    return "\nPss: 0"


def _stat(folder: Path) -> list[str]:
    """Return what the system tells of a process, from its state on. The next one is the process that made it."""
    return _read(folder / "stat").rpartition(")")[2].split()


async def _ask(client: httpx2.AsyncClient, question: str, outcomes: Counter[str]) -> None:
    try:
        response = await client.post("/api/query", json={"query": question})
        outcomes[str(response.status_code)] += 1
    except httpx2.HTTPError as exc:
        outcomes[type(exc).__name__] += 1


def _client(url: str) -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=OPEN_AT_ONCE + 50, max_keepalive_connections=OPEN_AT_ONCE)
    return httpx2.AsyncClient(base_url=url, timeout=120, limits=limits)


async def all_at_once(
    url: str, seconds: float, watch: Watch, questions: Iterator[str]
) -> tuple[Counter[str], list[float]]:
    """Keep 200 questions open, and look at the memory meanwhile."""
    outcomes: Counter[str] = Counter()
    memory: list[float] = []
    end = time.monotonic() + seconds

    async def keep_asking(client: httpx2.AsyncClient) -> None:
        while time.monotonic() < end:
            await _ask(client, next(questions), outcomes)

    async def look() -> None:
        while True:
            memory.append(watch.memory_mb())
            await asyncio.sleep(seconds / 60)

    async with _client(url) as client:
        looking = asyncio.create_task(look())
        await asyncio.gather(*(keep_asking(client) for _ in range(OPEN_AT_ONCE)))
        looking.cancel()
    return outcomes, memory


async def at_a_rate(url: str, seconds: float, questions: Iterator[str]) -> tuple[Counter[str], list[float]]:
    """Ask 20 questions each second, whether or not those before were answered. Gives what came and how long it took."""
    outcomes: Counter[str] = Counter()
    took_s: list[float] = []

    async def timed(client: httpx2.AsyncClient) -> None:
        begun = time.monotonic()
        await _ask(client, next(questions), outcomes)
        took_s.append(time.monotonic() - begun)

    async with _client(url) as client:
        asked = []
        started = time.monotonic()
        for number in range(int(seconds * A_SECOND)):
            await asyncio.sleep(max(0.0, started + number / A_SECOND - time.monotonic()))
            asked.append(asyncio.create_task(timed(client)))
        await asyncio.gather(*asked)
    return outcomes, sorted(took_s)


async def while_held(url: str) -> dict[str, list[float]]:
    """Have a model hold questions, and give the seconds that others take meanwhile, by what was asked."""
    took_s: dict[str, list[float]] = {"health": [], "quotes": []}
    async with _client(url) as client:
        held = [asyncio.create_task(_ask(client, _HELD_QUESTION, Counter())) for _ in range(HELD)]
        await asyncio.sleep(HOLD_S / 5)  # until all are held
        while not any(task.done() for task in held):
            for name, each in took_s.items():
                begun = time.monotonic()
                quoting = {"query": ALIKE[2], "model": "extractive"}
                reply = await (client.get("/healthz") if name == "health" else client.post("/api/query", json=quoting))
                reply.raise_for_status()
                each.append(time.monotonic() - begun)
            await asyncio.sleep(_MEANWHILE_S)
        await asyncio.gather(*held)
    return {name: sorted(each) for name, each in took_s.items()}


def expire_sessions(folder: Path) -> tuple[float, float]:
    """Make 10,000 conversations and let them expire; give the seconds of both."""
    now = [0.0]
    sessions = SqliteSessions(folder / "sessions.sqlite", expire_s=1, now=lambda: now[0])
    started = time.perf_counter()
    for number in range(SESSIONS):
        record = {"query": ALIKE[0], "answer": "It is cited by sentence [1:1]."}
        sessions.add(f"owner {number % 100}", new_id(), Exchange(ALIKE[0], ""), record, begins=True)
    made = time.perf_counter()
    now[0] = 10.0
    assert sessions.expire() == SESSIONS
    assert sessions.of("owner 1") == []
    return made - started, time.perf_counter() - made


@contextlib.contextmanager
def playing_model() -> Iterator[dict[str, str]]:
    """Start the fake model, and give the variables that a server needs to ask it."""
    model = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.server", "--play-model"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    try:
        assert model.stdout is not None
        url, key = model.stdout.readline().split()
        yield {"OPENBOOK_MODEL": f"{url}#tiny", "LLM_API_KEY": key}
    finally:
        model.terminate()
        model.wait()


@contextlib.contextmanager
def serving(folder: Path, environ: dict[str, str]) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start the server with its home in a folder, and give its address and process."""
    with (folder / "server.log").open("w+", encoding="utf-8") as log:
        command = [sys.executable, "-m", "openbook", "serve", "src/openbook", "docs", "--port", "0"]
        environ = os.environ | {"OPENBOOK_HOME": str(folder)} | environ
        server = subprocess.Popen(command, cwd=ROOT, env=environ, stderr=log)
        try:
            yield _wait_for_address(folder / "server.log", server), server
        finally:
            server.terminate()
            server.wait()


def measure(seconds: float, folder: Path, *, alike: bool, offline: bool) -> None:
    """Start the processes, put load on the server, and print what came of it."""
    questions = cycle(ALIKE if alike else different())
    with contextlib.ExitStack() as stack:
        environ = {} if offline else stack.enter_context(playing_model())
        address, server = stack.enter_context(serving(folder, environ))
        watch = Watch(address, server.pid)
        asyncio.run(at_a_rate(address, 3, questions))  # what is loaded once is not measured
        _print_load(*asyncio.run(all_at_once(address, seconds, watch, questions)), seconds)
        before, cpu_s = watch.buckets(), watch.cpu_s()
        outcomes, took_s = asyncio.run(at_a_rate(address, seconds, questions))
        _print_rate(outcomes, before, watch.buckets())
        _print_took("client", took_s)
        print(f"  processor  {(watch.cpu_s() - cpu_s) / outcomes.total() * 1000:.0f} ms for each")
        if not offline:
            print(f"a model holds {HELD} questions for {HOLD_S:.0f} s; meanwhile:")
            for name, meanwhile_s in asyncio.run(while_held(address)).items():
                _print_took(name, meanwhile_s)
    made_s, expired_s = expire_sessions(folder / "expiring")
    print(f"{SESSIONS:,} conversations made in {made_s:.1f} s, expired in {expired_s:.2f} s")


def _wait_for_address(log: Path, server: subprocess.Popen[bytes]) -> str:
    while server.poll() is None:
        found = re.search(r"serving on (http://\S+)/ ", log.read_text(encoding="utf-8"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit(log.read_text(encoding="utf-8"))


def _print_load(outcomes: Counter[str], memory: list[float], seconds: float) -> None:
    third = len(memory) // 3
    first, last = (sum(part) / len(part) for part in (memory[third : 2 * third], memory[2 * third :]))
    rate = outcomes["200"] / seconds
    print(f"{OPEN_AT_ONCE} questions open for {seconds:.0f} s: {dict(outcomes)}, {rate:.0f} answers a second")
    print(f"memory: {memory[0]:.0f} MB at first, {first:.0f} MB in the middle third, {last:.0f} MB in the last")


def _print_rate(
    outcomes: Counter[str], before: dict[str, dict[float, float]], after: dict[str, dict[float, float]]
) -> None:
    print(f"{A_SECOND} questions a second: {dict(outcomes)}")
    for stage in ("queued", "searching", "writing", "checking", "rendering", "own"):
        counts = {le: count - before.get(stage, {}).get(le, 0.0) for le, count in after.get(stage, {}).items()}
        p50, p95 = (quantile(counts, share) * 1000 for share in (0.5, 0.95))
        print(f"  {stage:<10} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms")


def _print_took(name: str, took_s: list[float]) -> None:
    if not took_s:
        print(f"  {name:<10} nothing was answered")
        return
    p50, p95 = (took_s[int(share * (len(took_s) - 1))] * 1000 for share in (0.5, 0.95))
    print(f"  {name:<10} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms   most {took_s[-1] * 1000:6.1f} ms")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alike", action="store_true", help="ask the same eight questions again and again")
    parser.add_argument("--offline", action="store_true", help="answer by quotes, without a model")
    parser.add_argument("--crowds", action="store_true", help="more questions than it can answer, slow clients, kills")
    parser.add_argument("--play-model", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play_model:
        play_model()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.crowds:
            from benchmarks.crowds import measure_crowds

            measure_crowds(arguments.seconds, Path(folder))
            return
        measure(arguments.seconds, Path(folder), alike=arguments.alike, offline=arguments.offline)


if __name__ == "__main__":
    main()
