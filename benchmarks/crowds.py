"""The server in a crowd: `python -m benchmarks.server --crowds [--seconds 30]`. Loopback only; it ends by itself.

The server, a fake model and the clients share this machine. In one run: 20 and 50 questions a second, the latter also
with a queue that has no limit; one caller with a hundred questions beside another one with one; 1,000 connections that
send half a header beside normal use; 200 streams at once; a worker that is killed every five seconds; and the server
itself, killed and started again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from benchmarks.server import Watch, different, playing_model, serving

RATES = (20, 50)
SLOW_CONNECTIONS = 1_000
STREAMS = 200
MANY = 100
BESIDE_A_SECOND = 5
KILL_EVERY_S = 5.0
_UNLIMITED = {"OPENBOOK_SERVER_QUEUE": "1000000", "OPENBOOK_SERVER_WAIT_S": "1000000"}


@dataclass(slots=True)
class Crowd:
    """What became of questions, by the clocks of those who asked."""

    outcomes: Counter[str] = field(default_factory=Counter)
    took_s: list[float] = field(default_factory=list)
    """Of answers."""
    refused_s: list[float] = field(default_factory=list)
    """Of refusals."""
    apart_s: list[float] = field(default_factory=list)
    """By how much the answer says less than its client waited."""
    memory_mb: float = 0.0
    cpu_s: float = 0.0
    """Processor time of the server. Less than 0 if processes of it have ended meanwhile."""

    async def ask(self, client: httpx2.AsyncClient, question: str) -> None:
        """Ask, and count what comes."""
        begun = time.perf_counter()
        try:
            reply = await client.post("/api/query", json={"query": question})
        except httpx2.HTTPError as exc:
            self.outcomes[type(exc).__name__] += 1
            return
        took_s = time.perf_counter() - begun
        self.outcomes[str(reply.status_code)] += 1
        if reply.is_success:
            self.took_s.append(took_s)
            self.apart_s.append(took_s - reply.json()["took_ms"] / 1000)
        else:
            self.refused_s.append(took_s)

    def show(self, name: str) -> None:
        """Print a line."""
        refused = f"; refusals p95 {_at(self.refused_s, 0.95)}" if self.refused_s else ""
        memory = f"; {self.memory_mb:.0f} MB at most" if self.memory_mb else ""
        if self.cpu_s > 0 and self.took_s:
            memory += f"; processor {self.cpu_s / len(self.took_s) * 1000:.0f} ms for each answer"
        print(
            f"{name}: {dict(self.outcomes)}; answers p50 {_at(self.took_s, 0.5)}, p95 {_at(self.took_s, 0.95)}, "
            f"most {_at(self.took_s, 1.0)}; not in `took_ms` p95 {_at(self.apart_s, 0.95)}{refused}{memory}",
            flush=True,
        )


def _at(times_s: list[float], share: float) -> str:
    return f"{sorted(times_s)[int(share * (len(times_s) - 1))] * 1000:.0f} ms" if times_s else "none"


@contextlib.asynccontextmanager
async def _client(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=5_000, max_keepalive_connections=500)
    # Each that could speak TLS would load certificates for some 20 ms.
    async with httpx2.AsyncClient(base_url=url, timeout=120, limits=limits, verify=False) as client:
        await client.get("/api/me")  # gets a cookie, as a browser does
        yield client


async def at_rate(url: str, rate: float, seconds: float, watch: Watch, questions: Iterator[str]) -> Crowd:
    """Ask so many questions each second, whether or not those before were answered."""
    crowd = Crowd()
    before_s = watch.cpu_s()

    async def look() -> None:
        while True:
            crowd.memory_mb = max(crowd.memory_mb, await asyncio.to_thread(watch.memory_mb))
            await asyncio.sleep(1)

    async with _client(url) as client:
        looking, asked, started = asyncio.create_task(look()), [], time.monotonic()
        for number in range(int(seconds * rate)):
            await asyncio.sleep(max(0.0, started + number / rate - time.monotonic()))
            asked.append(asyncio.create_task(crowd.ask(client, next(questions))))
        await asyncio.gather(*asked)
        looking.cancel()
    crowd.cpu_s = watch.cpu_s() - before_s
    return crowd


async def one_beside_many(url: str, questions: Iterator[str]) -> tuple[Crowd, Crowd]:
    """Have one caller ask a hundred questions at once, and another one ask five after each other."""
    many, one = Crowd(), Crowd()
    async with _client(url) as greedy, _client(url) as modest:
        asking = [asyncio.create_task(many.ask(greedy, next(questions))) for _ in range(MANY)]
        await asyncio.sleep(0.3)
        for _ in range(5):
            await one.ask(modest, next(questions))
        await asyncio.gather(*asking)
    return many, one


async def beside_slow(url: str, seconds: float, watch: Watch, questions: Iterator[str]) -> tuple[int, Crowd]:
    """Open connections that send half a header, and use the server; give how many were open at once."""
    address = urlsplit(url)
    assert address.hostname is not None
    writers = []
    for _ in range(SLOW_CONNECTIONS):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: loc")
            writers.append(writer)
    crowd = await at_rate(url, BESIDE_A_SECOND, seconds, watch, questions)
    for writer in writers:
        writer.close()
    return len(writers), crowd


async def streams(url: str, questions: Iterator[str]) -> tuple[Counter[str], list[float], list[float], int]:
    """Open 200 streams at once; give how they ended, seconds to the first event and to `done`, and the last place.

    An error is counted by its message.
    """
    ends: Counter[str] = Counter()
    first_s: list[float] = []
    last_s: list[float] = []
    place = 0

    async def read(client: httpx2.AsyncClient, question: str) -> None:
        nonlocal place
        begun, event = time.perf_counter(), "none"
        async with client.stream("POST", "/api/query/stream", json={"query": question}) as reply:
            async for line in reply.aiter_lines():
                if line.startswith("event: "):
                    if event == "none":
                        first_s.append(time.perf_counter() - begun)
                    event = line[7:]
                elif event == "status" and line.startswith("data: "):
                    place = max(place, json.loads(line[6:]).get("place", 0))
                elif event == "error" and line.startswith("data: "):
                    event = f"error: {json.loads(line[6:])['message']}"
            if not reply.is_success:
                event = str(reply.status_code)
        ends[event] += 1
        if event == "done":
            last_s.append(time.perf_counter() - begun)

    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(_client(url)) for _ in range(STREAMS)]
        await asyncio.gather(*(read(client, next(questions)) for client in clients))
    return ends, first_s, last_s, place


async def while_workers_die(url: str, seconds: float, watch: Watch, server: int, questions: Iterator[str]) -> Crowd:
    """Ask ten questions each second, and kill a worker every five seconds."""

    async def kill() -> None:
        while True:
            await asyncio.sleep(KILL_EVERY_S)
            workers = [pid for pid in _children(server) if b"-I" in _command(pid)]
            if workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(workers[0], signal.SIGKILL)

    killing = asyncio.create_task(kill())
    crowd = await at_rate(url, 10, seconds, watch, questions)
    killing.cancel()
    return crowd


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(child) for child in text.split()]


def _command(pid: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def measure_crowds(seconds: float, folder: Path) -> None:
    """Do all of it, and print a line for each."""
    questions = cycle(different())
    with playing_model() as environ:
        for name, more in (("", {}), (" without a limit of the queue", _UNLIMITED)):
            with serving(folder, environ | more) as (url, server):
                watch = Watch(url, server.pid)
                asyncio.run(at_rate(url, 10, 3, watch, questions))  # what is loaded once is not measured
                for rate in RATES if not more else RATES[-1:]:
                    crowd = asyncio.run(at_rate(url, rate, seconds, watch, questions))
                    crowd.show(f"{rate} questions a second for {seconds:.0f} s{name}")
                if more:
                    continue
                many, one = asyncio.run(one_beside_many(url, questions))
                many.show(f"{MANY} questions of one caller at once")
                one.show("five of another caller meanwhile")
                opened, crowd = asyncio.run(beside_slow(url, min(seconds, 20), watch, questions))
                crowd.show(f"{BESIDE_A_SECOND} questions a second beside {opened:,} connections with half a header")
                _show_streams(url, watch, questions)
                crowd = asyncio.run(while_workers_die(url, min(seconds, 20), watch, server.pid, questions))
                crowd.show(f"10 questions a second, a worker killed every {KILL_EVERY_S:.0f} s")
        _kill_and_restart(folder, environ)


def _show_streams(url: str, watch: Watch, questions: Iterator[str]) -> None:
    ends, first_s, last_s, place = asyncio.run(streams(url, questions))
    print(
        f"{STREAMS} streams at once: {dict(ends)}; first event p50 {_at(first_s, 0.5)}, p95 {_at(first_s, 0.95)}; "
        f"end p50 {_at(last_s, 0.5)}, p95 {_at(last_s, 0.95)}; last place {place}; {watch.memory_mb():.0f} MB",
        flush=True,
    )


def _kill_and_restart(folder: Path, environ: dict[str, str]) -> None:
    """Kill the server right after it has accepted an upload, start it again, and ask for what was uploaded."""
    word = "Zebrafinch"
    with serving(folder, environ) as (url, server):
        text = f"# {word}\n\nThe {word} sleeps in the belfry of the old tower.\n"
        accepted = httpx2.post(
            f"{url}/api/uploads", files={"files": (f"{word}.md", text.encode())}, headers={"X-Openbook": "1"}
        )
        accepted.raise_for_status()
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    begun = time.perf_counter()
    with serving(folder, environ) as (url, _):
        serves_s = time.perf_counter() - begun
        body = {"query": f"Where does the {word} sleep?", "model": "extractive"}
        while True:
            reply = httpx2.post(f"{url}/api/query", json=body, timeout=60)
            found_s = time.perf_counter() - begun
            if reply.is_success and "belfry" in reply.json()["answer"]:
                break
            if found_s > 60:
                raise SystemExit("the upload was lost")
            time.sleep(0.1)
    print(f"killed and started again: serves after {serves_s:.1f} s, answers from the upload after {found_s:.1f} s")
