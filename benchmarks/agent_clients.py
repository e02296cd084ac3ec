"""What coding agents make of the MCP server: whether its tools are in their first request, and what the model sees.

    python -m benchmarks.agent_clients FOLDER

The programs are installed from npm into `FOLDER`, unless they are there. Each is configured by its own command, or by
`openbook install`, in a home and a small project of its own, and gets one prompt. A stand-in for its model asks for
`search` once, if it is offered, and ends the turn. All requests stay on this machine. What the model sees is compared
with what the tool returns.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from openbook.library import Library
from openbook.mcp.tools import McpTools
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary

Json = dict[str, Any]

PROMPT = "How heavy may a parcel be? Use openbook."
QUERY = "How heavy may a parcel be?"
CODE = 'def weigh(parcel: str) -> float:\n    """Weigh a parcel, which has at most 31 kg."""\n    return 1.0\n'

# What a busy machine may take for one prompt, and starts of two programs.
_LIMIT_S = 240
_WAIT_S = 600.0

# With what Claude Code fetches a tool that it only names, as it does if a server has not started within five seconds,
# and how often it is called.
_FETCHES, _MAX_FETCHES = "ToolSearch", 4

# Of the call of `search`.
_CALL_ID = "call_search"

# The names of tools that are not ours have no such part.
_OURS = "openbook"


@dataclass(slots=True)
class Seen:
    """What the stand-in for a model saw."""

    requests: int = 0
    first_with_tools: int = 0
    """Number of the first request that offered `search`, from 1; 0 if none did."""
    result: str | None = None
    """What came back for the call."""
    said: str = ""
    """The end of what the agent wrote."""

    def shows(self, text: str) -> bool:
        """Return whether the model sees a text, as it is or within JSON."""
        return self.result is not None and (text in self.result or json.dumps(text)[1:-1] in self.result)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that an agent offers."""

    name: str
    namespace: str = ""
    id: str = _CALL_ID

    @property
    def arguments(self) -> Json:
        """What the tool is given."""
        return {"query": QUERY if self.id == _CALL_ID else f"+{_OURS} search"}


class StandIn:
    """Stands in for a model on the four wires that agents speak: asks for `search` once, if it is there; writes."""

    def __init__(self, text: str = "Done.") -> None:
        self.seen = Seen()
        self.bodies: list[Json] = []
        """Of the requests to a model, in order."""
        self._text = text
        self._lock = threading.Lock()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                self._send(*stand_in.answer(self.path, json.loads(body or b"{}")))

            def do_GET(self) -> None:
                self._send("application/json", json.dumps({"data": [], "models": []}))

            def do_HEAD(self) -> None:
                self.do_GET()

            def _send(self, kind: str, text: str) -> None:
                sent = text.encode()
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        """End the server."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, body: Json) -> tuple[str, str]:
        """Return type and text of the answer to a request."""
        wire = next((wire for pattern, wire in _WIRES.items() if re.search(pattern, path)), None)
        if wire is None:
            return "application/json", "{}"
        with self._lock:
            self.bodies.append(body)
            offered, result = _search(body.get("tools", [])), _result(body)
            if not body.get("tools"):  # a title for the conversation, or the like
                return wire(self._text, body)
            self.seen.requests += 1
            if offered and not self.seen.first_with_tools:
                self.seen.first_with_tools = self.seen.requests
            self.seen.result = self.seen.result or result
            if self.seen.result is not None:
                return wire(self._text, body)
            return wire(offered or _fetch(body, self.seen.requests) or self._text, body)


def _search(tools: Sequence[Json], namespace: str = "") -> Call | None:
    """Return the tool `search` of Openbook among those that are offered."""
    for tool in tools:
        inner = tool.get("tools") or tool.get("functionDeclarations") or tool.get("function_declarations")
        if inner:
            found = _search(inner, str(tool.get("name", "")))
            if found:
                return found
        name = str(tool.get("function", tool).get("name", ""))
        if name.endswith("search") and _OURS in f"{namespace}{name}":
            return Call(name, namespace)
    return None


def _fetch(body: Json, number: int) -> Call | None:
    """Return a call of the tool that fetches others, if there is one, for the first requests."""
    names = {str(tool.get("name")) for tool in body["tools"]}
    return Call(_FETCHES, id=f"call_{number}") if _FETCHES in names and number < _MAX_FETCHES else None


def _result(body: Json) -> str | None:
    """Return the result of the call in what a request holds, as the model sees it."""
    for found in _objects(body.get("messages") or body.get("input") or body.get("contents") or []):
        if _CALL_ID in (found.get("tool_use_id"), found.get("tool_call_id")):
            return _text(found["content"])
        if found.get("type") == "function_call_output" and found.get("call_id") == _CALL_ID:
            return _text(found["output"])
        if "functionResponse" in found and _OURS in found["functionResponse"]["name"]:
            return _text(found["functionResponse"]["response"])
    return None


def _objects(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _objects(each)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    return _text(value["text"] if "text" in value else list(value.values()))


def _events(events: Sequence[Json], *, named: bool = True) -> tuple[str, str]:
    lines = ((f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n" for each in events)
    return "text/event-stream", "".join(lines)


def _messages(reply: Call | str, body: Json) -> tuple[str, str]:
    """Answer as Anthropic Messages."""
    if isinstance(reply, Call):
        block: Json = {"type": "tool_use", "id": reply.id, "name": reply.name, "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
        whole = block | {"input": reply.arguments}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply}
        whole = {"type": "text", "text": reply}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
    stopped = {"stop_reason": "tool_use" if isinstance(reply, Call) else "end_turn", "stop_sequence": None}
    if not body.get("stream"):
        return "application/json", json.dumps(message | stopped | {"content": [whole]})
    return _events(
        [
            {"type": "message_start", "message": message | {"content": [], "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
    )


def _responses(reply: Call | str, _: Json) -> tuple[str, str]:
    """Answer as OpenAI Responses."""
    if isinstance(reply, Call):
        item: Json = {"type": "function_call", "id": "f", "call_id": reply.id, "name": reply.name}
        item |= {"arguments": json.dumps(reply.arguments)}
        item |= {"namespace": reply.namespace} if reply.namespace else {}
    else:
        item = {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": reply}]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return _events(
        [
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
        ]
    )


def _completions(reply: Call | str, body: Json) -> tuple[str, str]:
    """Answer as OpenAI Chat Completions."""
    delta: Json = {"role": "assistant"}
    if isinstance(reply, Call):
        function = {"name": reply.name, "arguments": json.dumps(reply.arguments)}
        delta |= {"tool_calls": [{"index": 0, "id": reply.id, "type": "function", "function": function}]}
    else:
        delta |= {"content": reply}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if isinstance(reply, Call) else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    kind, text = _events(
        [
            head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            head | {"choices": [ended], "usage": usage},
        ],
        named=False,
    )
    return kind, f"{text}data: [DONE]\n\n"


def _contents(reply: Call | str, _: Json) -> tuple[str, str]:
    """Answer as Gemini's streamGenerateContent."""
    part: Json = {"text": reply} if isinstance(reply, str) else {}
    if isinstance(reply, Call):
        part = {"functionCall": {"name": reply.name, "args": reply.arguments}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return _events([{"candidates": [candidate], "usageMetadata": usage}], named=False)


_WIRES: dict[str, Callable[[Call | str, Json], tuple[str, str]]] = {
    r"/v1/messages(?:\?|$)": _messages,
    r"/responses$": _responses,
    r"/chat/completions$": _completions,
    r":(?:streamG|g)enerateContent": _contents,
}


@dataclass(frozen=True, slots=True)
class Agent:
    """How an agent is set up and asked. `@URL@` stands for the stand-in, `@OPENBOOK@` for our command."""

    title: str
    program: str
    package: str
    set_up: tuple[tuple[str, ...], ...]
    ask: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """In the project, or in the home if they begin with `~/`."""
    clean_up: tuple[tuple[str, ...], ...] = ()
    waits: bool = True
    """It asks its model only when its servers have started, or asks again then."""


_FAKE_OPENCODE = {
    "provider": {
        "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": "@URL@/v1", "apiKey": "none"},
            "models": {"fake": {"name": "Fake", "tool_call": True}},
        }
    }
}

AGENTS = (
    Agent(
        "Claude Code",
        "claude",
        "@anthropic-ai/claude-code@2.1.332",
        (("@OPENBOOK@", "install", "claude"),),
        # The file is named because nobody is there to trust what a project brings.
        ("claude", "-p", PROMPT, "--mcp-config", ".mcp.json", "--allowedTools", "mcp__openbook__search"),
        {"ANTHROPIC_BASE_URL": "@URL@", "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    ),
    Agent(
        "Codex, with `required = true`",
        "codex",
        "@openai/codex@0.171.0",
        (("codex", "mcp", "add", "openbook", "--", "@OPENBOOK@", "mcp"),),
        (
            *("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
            *("-c", 'model_providers.fake={name="Fake",base_url="@URL@/v1",wire_api="responses"}'),
            *("-c", 'model_provider="fake"', "-c", "mcp_servers.openbook.required=true", "-m", "fake", PROMPT),
        ),
    ),
    Agent(
        "Gemini CLI",
        "gemini",
        "@google/gemini-cli@0.61.0",
        (("gemini", "mcp", "add", "openbook", "@OPENBOOK@", "mcp"),),
        ("gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "--skip-trust", "-p", PROMPT),
        {"GOOGLE_GEMINI_BASE_URL": "@URL@", "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        {"~/.gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'},
    ),
    Agent(
        "opencode",
        "opencode",
        "opencode-ai@1.18.33",
        (("@OPENBOOK@", "install", "opencode"),),
        ("opencode", "run", "-m", "fake/fake", PROMPT),
        {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        {"opencode.json": json.dumps(_FAKE_OPENCODE)},
    ),
    Agent(
        "Copilot CLI",
        "copilot",
        "@github/copilot@1.0.102",
        (("@OPENBOOK@", "install", "copilot"),),
        ("copilot", "-p", PROMPT, "--allow-all-tools"),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "@URL@/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "fake",
        },
    ),
    Agent(
        "Cline CLI",
        "cline",
        "cline@3.0.65",
        (
            ("cline", "auth", "-p", "openai", "-k", "none", "-m", "fake", "-b", "@URL@/v1"),
            ("@OPENBOOK@", "install", "cline-cli"),
        ),
        ("cline", "-P", "openai-compatible", "-m", "fake", PROMPT),
        clean_up=(("cline", "hub", "stop"),),  # it goes on in the background
        waits=False,
    ),
)


def run_agent(agent: Agent, programs: Path, folder: Path) -> Seen:
    """Set an agent up in an empty folder, ask it, and return what the stand-in for its model saw."""
    home, project = folder / "home", folder / "shop"
    for each in (home, project):
        each.mkdir(parents=True)
    (project / "parcels.py").write_text(CODE, encoding="utf-8")
    stand_in = StandIn()
    ours = str(Path(sys.executable).with_name("openbook"))

    def filled(text: str) -> str:
        return text.replace("@URL@", stand_in.url).replace("@OPENBOOK@", ours)

    environment = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    environment |= {"HOME": str(home), "OPENBOOK_HOME": str(home / "openbook"), "CI": "1"}
    environment |= {key: filled(value) for key, value in agent.environment.items()}
    for name, text in agent.files.items():
        place = home / name.removeprefix("~/") if name.startswith("~/") else project / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(filled(text), encoding="utf-8")
    try:
        for command in (*agent.set_up, agent.ask, *agent.clean_up):
            program = programs / "node_modules" / ".bin" / command[0]
            called = [str(program) if program.exists() else filled(command[0]), *map(filled, command[1:])]
            done = subprocess.run(
                called,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                timeout=_LIMIT_S,
                check=False,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            stand_in.seen.said += done.stdout[-500:] + done.stderr[-1500:]
    except subprocess.TimeoutExpired as exc:
        stand_in.seen.said += str(exc)
    finally:
        stand_in.close()
    return stand_in.seen


def expected(project: Path, home: Path) -> str:
    """Return what the tool returns for a project."""
    with Library.open("expected", settings=Settings(home=home)) as library:
        return McpTools(WatchedLibrary(library, [project], watch=False, patience_s=_WAIT_S)).search(QUERY)


def install(npm: str, folder: Path, packages: Sequence[str]) -> None:
    """Install packages into a folder, unless it has all of them in the wanted versions."""
    wanted = dict(package.rsplit("@", 1) for package in packages)
    if any(_version(folder / "node_modules" / name) != version for name, version in wanted.items()):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}", encoding="utf-8")  # else npm looks for one above
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", *packages]
        subprocess.run(command, cwd=folder, check=True, timeout=_WAIT_S)


def _version(package: Path) -> str | None:
    """Return the version of an installed package; None if it is not there."""
    try:
        found: str = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    except FileNotFoundError:
        return None
    return found


def _told(seen: Seen, text: str) -> str:
    if seen.result is None:
        return "nothing: `search` was not called"
    before, found, after = seen.result.partition(text)
    if not found and seen.shows(text):
        return "the result as JSON, with the text in it"
    if not found:
        return "something else: " + " ".join(seen.result.split())[:80]
    around = [f"`{' '.join(each.split())[:60]}`" for each in (before, after) if each.strip()]
    return f"the text, with {' and '.join(around)} around it" if around else "the text"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=[agent.program for agent in AGENTS])
    arguments = parser.parse_args()
    npm = shutil.which("npm")
    if npm is None:
        parser.error("npm is not installed")
    print("| agent | version | requests | `search` is offered from | what the model sees |")
    print("|---|---|---|---|---|")
    install(npm, arguments.folder, [agent.package for agent in AGENTS])
    with tempfile.TemporaryDirectory() as work:
        for agent in AGENTS:
            if arguments.only in (None, agent.program):
                seen = run_agent(agent, arguments.folder.resolve(), Path(work) / agent.program)
                text = expected(Path(work) / agent.program / "shop", Path(work) / "home" / agent.program)
                offered = f"request {seen.first_with_tools}" if seen.first_with_tools else "never"
                row = (agent.title, agent.package.rpartition("@")[2], str(seen.requests), offered, _told(seen, text))
                print(f"| {' | '.join(row)} |", flush=True)
                if seen.result is None:
                    print(seen.said, file=sys.stderr)


if __name__ == "__main__":
    main()
