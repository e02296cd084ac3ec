"""The kernel beside pydantic-ai, openai-agents, smolagents and llm: small programs, run against a scripted server.

`python -m benchmarks.kernels --environments FOLDER` makes an environment for each below the folder, unless it is
there, runs `benchmarks/kernel_programs` in it, and prints two tables. What a server has received decides a row,
not what a library says of itself. A dash means that its documentation shows no way to write the program.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.llm.messages import ToolCall
from openbook.testing import FakeServer, Fault, ReceivedRequest, Refusal, ScriptedReply
from openbook.testing.script import ServerStep
from openbook.usage import Usage

PROGRAMS = Path(__file__).parent / "kernel_programs"
_REPEATED = 8
_IMPORTS = 7
_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@dataclass(frozen=True)
class Library:
    """One that is compared."""

    name: str
    package: str
    """As pip installs it."""
    module: str
    """As a program imports it."""
    parts: tuple[str, ...]
    """Folders of its own code whose lines count."""

    @property
    def program(self) -> Path:
        return PROGRAMS / f"with_{self.name.replace('-', '_')}.py"


LIBRARIES = (
    Library("openbook", f"{Path(__file__).parents[1]}[openai]", "openbook.agent", ("openbook/agent", "openbook/llm")),
    Library("pydantic-ai", "pydantic-ai-slim[openai]==2.68.0", "pydantic_ai", ("pydantic_ai",)),
    Library("openai-agents", "openai-agents==0.24.0", "agents", ("agents",)),
    Library("smolagents", "smolagents[openai]==1.26.0", "smolagents", ("smolagents",)),
    Library("llm", "llm==0.36", "llm", ("llm",)),
)

Step = ServerStep | Callable[[ReceivedRequest], ServerStep]


@dataclass(frozen=True)
class Ran:
    """What came of a program."""

    said: Mapping[str, Any]
    """What it printed."""
    requests: list[ReceivedRequest]
    batched: int
    """Requests of the largest batch that it has sent."""
    left: bool
    """Whether it closed a request before its reply, while it was still running."""


@dataclass(frozen=True)
class Feature:
    """A row: what the server says, and how what came of it is read."""

    row: str
    program: str
    steps: tuple[Step, ...]
    read: Callable[[Ran], str]


def _call(item: str, call_id: str = "c1") -> ScriptedReply:
    return ScriptedReply(ToolCall(call_id, "stock", json.dumps({"item": item})))


def _sent(ran: Ran, index: int) -> str:
    return json.dumps(ran.requests[index].body["messages"]) if len(ran.requests) > index else ""


def _tool(ran: Ran) -> str:
    return "yes" if "Twelve" in str(ran.said.get("text")) and "12" in _sent(ran, 1) else "no"


def _tool_error(ran: Ran) -> str:
    if "no such item" in _sent(ran, 1):
        return "told to the model"
    return "told, without its text" if len(ran.requests) > 1 else "ends the run"


def _repeated(ran: Ran) -> str:
    calls = int(ran.said.get("calls", _REPEATED))
    return f"after {calls}" if calls < _REPEATED else f"no, {calls} of {_REPEATED} made"


def _budget(ran: Ran) -> str:
    if not ran.requests:
        return "before the call"
    return "after the call" if ran.said.get("stopped") else "no"


def _structured(ran: Ran) -> str:
    if ran.said.get("pieces") == 2:
        return "yes, asks again"
    return "error at the first misfit" if ran.said.get("error") else "no"


def _history(ran: Ran) -> str:
    return "yes" if "My name is Ada" in _sent(ran, 1) else "no"


def _tracing(ran: Ran) -> str:
    kinds = {str(span.get("gen_ai.operation.name")) for span in ran.said.get("spans", ())} - {"None"}
    return f"yes: {', '.join(sorted(kinds))}" if kinds else "no"


def _picture(ran: Ran) -> str:
    return "yes" if "data:image/png;base64" in _sent(ran, 0) else "no"


def _cost(ran: Ran) -> str:
    return "yes" if ran.said.get("usd") else "no"


def _sampling(ran: Ran) -> str:
    body = ran.requests[0].body if ran.requests else {}
    return "yes" if (body.get("temperature"), body.get("seed")) == (0.5, 7) else "no"


def _refused(ran: Ran) -> str:
    if not ran.requests:
        return "error before the call" if ran.said.get("error") else "no"
    return "sent" if "temperature" in ran.requests[0].body else "left out"


def _rate(ran: Ran) -> str:
    # Three calls at two a minute: the third begins half a minute or a minute after the first.
    return "yes" if len(ran.requests) >= 3 and float(ran.said.get("seconds", 0)) > 25 else "no"


def _order(received: ReceivedRequest) -> ServerStep:
    """Reply with a value of the wrong type at first, by the way that the library has asked for it."""
    is_first = not any(message["role"] in ("assistant", "tool") for message in received.body["messages"])
    order: dict[str, Any] = {"customer": "Ada", "pieces": "two" if is_first else 2}
    tools = received.body.get("tools") or ()
    if not tools:
        return json.dumps(order)
    function = tools[0]["function"]
    names = list(function["parameters"]["properties"])
    value = order if set(names) == set(order) else {names[0]: order}
    return ScriptedReply(ToolCall("c1" if is_first else "c2", function["name"], json.dumps(value)))


def _by_model(received: ReceivedRequest) -> ServerStep:
    return Refusal(404, "no such model") if received.body["model"] == "broken" else "Hello."


_ANSWER = {"final_answer"}


def _last(text: str) -> Step:
    """Reply with a text, or by the tool that smolagents wants for it."""

    def reply(received: ReceivedRequest) -> ServerStep:
        names = {tool["function"]["name"] for tool in received.body.get("tools") or ()}
        if names & _ANSWER:
            return ScriptedReply(ToolCall("c9", "final_answer", json.dumps({"answer": text})))
        return text

    return reply


_REPEATING = (*(_call("pen", f"c{number}") for number in range(_REPEATED)), _last("Done."))

FEATURES = (
    Feature("a plain function as a tool", "tool", (_call("pen"), _last("Twelve.")), _tool),
    Feature("an exception of a tool", "tool", (_call("anchor"), _last("Sorry.")), _tool_error),
    Feature("a call that is repeated is stopped", "repeated", _REPEATING, _repeated),
    Feature("a budget of tokens ends a run", "budget", (ScriptedReply("Hello.", usage=Usage(1000, 5)),), _budget),
    Feature("cancelling closes the request", "cancel", (Fault("hold"),), lambda ran: "yes" if ran.left else "no"),
    Feature("a value of a type as the reply", "structured", (_order,) * 4, _structured),
    Feature(
        "a model that stands in", "fallback", (_by_model,) * 4, lambda ran: "yes" if ran.said.get("text") else "no"
    ),
    Feature("history through JSON", "history", (_last("Hello, Ada."), _last("Ada.")), _history),
    Feature("OpenTelemetry spans (GenAI)", "tracing", (_call("pen"), _last("Twelve.")), _tracing),
    Feature("an image in a message", "picture", (_last("A dot."),), _picture),
    Feature("cost in US dollars", "cost", (_last("Hello."),), _cost),
    Feature("the cost of each tool", "tool_cost", (_call("pen"), _last("Twelve.")), _cost),
    Feature("temperature and seed", "sampling", (_last("Hello."),), _sampling),
    Feature("a setting that the model refuses is", "refused", (_last("Hello."),), _refused),
    Feature(
        "the same request is sent once",
        "cached",
        ("Hello.",) * 2,
        lambda ran: "yes" if len(ran.requests) == 1 else "no",
    ),
    Feature("a limit of calls in a minute", "rate", (_last("Hello."),) * 4, _rate),
    Feature(
        "calls as a batch of the provider", "batch", ("Hello.",) * 2, lambda ran: "yes" if ran.batched == 2 else "no"
    ),
)


def run(library: Library, feature: Feature, python: Path, folder: Path) -> str:
    """Run the program of a library for a row, and read what came of it."""
    if f"def {feature.program}(" not in library.program.read_text(encoding="utf-8"):
        return "–"
    received = folder / "received"
    received.unlink(missing_ok=True)

    def hold(_: ReceivedRequest) -> ServerStep:
        received.touch()
        return Fault("hold")

    server = FakeServer(*(hold if isinstance(step, Fault) else step for step in feature.steps))
    with _Served(server):
        environ = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "OPENAI_BASE_URL": server.openai_url,
            "OPENAI_API_KEY": server.key,
            "LLM_USER_PATH": str(folder),
        }
        command = [str(python), str(library.program), feature.program]
        with subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            left = feature.program == "cancel" and server.wait_for_disconnect(20) and process.poll() is None
            out, errors = process.communicate(timeout=120)
        lines = out.strip().splitlines()
        said = json.loads(lines[-1]) if process.returncode == 0 and lines else {}
        if not said and process.returncode:
            print(f"{library.name} {feature.program}: {errors.strip().splitlines()[-1:]}", file=sys.stderr)
        if server.refused:
            print(f"{library.name} {feature.program}: refused {server.refused[:2]}", file=sys.stderr)
        return feature.read(Ran(said, server.requests, server.batches.largest, bool(left)))


class _Served:
    """Run a server whose script need not be read to its end."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server

    def __enter__(self) -> FakeServer:
        return self._server.__enter__()

    def __exit__(self, *_: object) -> None:
        self._server.close()


def environment(library: Library, folder: Path) -> Path:
    """Return the interpreter of an environment with the library, made if it is not there."""
    home = folder / library.name
    python = home / "bin" / "python"
    if not python.exists():
        print(f"installing {library.package} ...", file=sys.stderr)
        venv.create(home, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, library.package], check=True)
        (home / "size").write_text(json.dumps(_size(home)), encoding="utf-8")
        # For two rows alone, behind the measurement.
        subprocess.run([*pip, "opentelemetry-sdk", "pillow"], check=True)
    return python


def _size(home: Path) -> tuple[int, float]:
    """Return how many packages there are, and their MB, without pip and what belongs to it."""
    (site,) = home.glob("lib/python*/site-packages")
    packages = [path for path in site.glob("*.dist-info") if not path.name.startswith(("pip-", "setuptools-"))]
    files = [path for path in site.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    mine = [path for path in files if path.relative_to(site).parts[0].split("-")[0] not in ("pip", "setuptools")]
    return len(packages), sum(path.stat().st_size for path in mine) / 1e6


def import_ms(library: Library, python: Path) -> float:
    """Return the median CPU time in which an interpreter imports a library, beyond that of one which does not."""

    def took(code: str) -> float:
        times = []
        for _ in range(_IMPORTS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([str(python), "-c", code], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return statistics.median(times) * 1000

    took(f"import {library.module}")  # writes the bytecode
    return took(f"import {library.module}") - took("pass")


def lines_of(library: Library, python: Path) -> int:
    """Return the lines of its own code that are not blank."""
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    files = [path for part in library.parts for path in (site / part).rglob("*.py")]
    return sum(bool(line.strip()) for path in files for line in path.read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--environments", type=Path, required=True, help="folder of the environments")
    folder = parser.parse_args().environments.resolve()
    pythons = {library: environment(library, folder) for library in LIBRARIES}
    print(f"| | {' | '.join(library.name for library in LIBRARIES)} |\n|---{'|---' * len(LIBRARIES)}|")
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "dot.png").write_bytes(base64.b64decode(_PNG))
        for feature in FEATURES:
            marks = [run(library, feature, python, Path(place)) for library, python in pythons.items()]
            print(f"| {feature.row} | {' | '.join(marks)} |", flush=True)
    sizes = {library: json.loads((python.parents[1] / "size").read_text()) for library, python in pythons.items()}
    for row, value in (
        ("import, CPU ms", lambda library: f"{import_ms(library, pythons[library]):.0f}"),
        ("lines of its own code", lambda library: f"{lines_of(library, pythons[library]):,}"),
        ("packages installed", lambda library: f"{sizes[library][0]}"),
        ("MB installed", lambda library: f"{sizes[library][1]:.0f}"),
    ):
        print(f"| {row} | {' | '.join(map(value, pythons))} |", flush=True)


if __name__ == "__main__":
    main()
