"""Command-line programs that answer prompts: how to call each without tools, and how to parse its output."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from openbook.llm.messages import StopReason
from openbook.usage import PricedUsage, Usage


@dataclass(slots=True)
class CliOutput:
    """Parses the output of a program incrementally. This class is for programs that write only text."""

    text: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=lambda: Usage(known=False))
    stop: StopReason = "end"
    model: str = ""
    error: str = ""
    """The program's error message; empty without one."""

    def read(self, piece: str) -> Iterator[str]:
        """Parse a piece of standard output, and yield the text in it."""
        if piece:
            self.text.append(piece)
            yield piece

    def close(self, errors: str) -> None:
        """Parse the end of standard error."""


_LLM_USAGE = re.compile(r"^Token usage: ([\d,]+) input, ([\d,]+) output", re.MULTILINE)


class LlmOutput(CliOutput):
    """Output of `llm prompt --usage`: text, with token counts on standard error."""

    __slots__ = ()

    def close(self, errors: str) -> None:
        if found := _LLM_USAGE.findall(errors):
            read, written = (int(number.replace(",", "")) for number in found[-1])
            self.usage = Usage(read, written)


class JsonOutput(CliOutput):
    """Output with one JSON object per line. Other lines are ignored."""

    __slots__ = ()

    def read(self, piece: str) -> Iterator[str]:
        try:
            entry = json.loads(piece)
            pieces = list(self._read(entry)) if isinstance(entry, dict) else []
        except (ValueError, TypeError, AttributeError, RecursionError, InvalidOperation):
            return
        self.text += pieces
        yield from pieces

    def _read(self, entry: Mapping[str, Any]) -> Iterator[str]:
        raise NotImplementedError


_CLAUDE_STOPS: Mapping[str, StopReason] = {"end_turn": "end", "max_tokens": "length", "refusal": "refused"}


class ClaudeOutput(JsonOutput):
    """Output of `claude -p --output-format stream-json`."""

    __slots__ = ()

    def _read(self, entry: Mapping[str, Any]) -> Iterator[str]:
        if entry.get("type") == "stream_event":
            delta = entry["event"].get("delta") or {}
            if delta.get("type") == "text_delta":
                yield str(delta["text"])
        elif entry.get("type") == "result":
            said = str(entry.get("result") or "")
            if entry.get("is_error"):
                self.error = said or str(entry.get("subtype") or "error")
            elif said and not self.text:
                yield said
            self.stop = _CLAUDE_STOPS.get(str(entry.get("stop_reason")), "end")
            self.model = next(iter(entry.get("modelUsage") or {}), "")
            self.usage = self._counted(entry.get("usage") or {}, entry.get("total_cost_usd"))

    def _counted(self, usage: Mapping[str, Any], cost_usd: object) -> Usage:
        written, cached = _number(usage, "cache_creation_input_tokens"), _number(usage, "cache_read_input_tokens")
        counts = (_number(usage, "input_tokens") + written + cached, _number(usage, "output_tokens"), cached, written)
        if cost_usd is None:
            return Usage(*counts, known=bool(usage))
        return PricedUsage(*counts, known=bool(usage), cost_usd=Decimal(str(cost_usd)))


class CodexOutput(JsonOutput):
    """Output of `codex exec --json`: whole messages, without deltas."""

    __slots__ = ()

    def _read(self, entry: Mapping[str, Any]) -> Iterator[str]:
        kind, item = entry.get("type"), entry.get("item") or {}
        if kind == "item.completed" and item.get("type") == "agent_message":
            yield ("\n\n" if self.text else "") + str(item["text"])
        elif kind == "turn.completed":
            usage = entry.get("usage") or {}
            self.usage = Usage(
                _number(usage, "input_tokens"),
                _number(usage, "output_tokens"),
                _number(usage, "cached_input_tokens"),
                _number(usage, "cache_write_input_tokens"),
                known=bool(usage),
            )
        elif kind == "turn.failed":
            self.error = str((entry.get("error") or {}).get("message") or "the turn failed")


class GeminiOutput(JsonOutput):
    """Output of `gemini --output-format stream-json`."""

    __slots__ = ()

    def _read(self, entry: Mapping[str, Any]) -> Iterator[str]:
        if entry.get("type") == "message" and entry.get("role") == "assistant":
            yield str(entry["content"])
        elif entry.get("type") == "result":
            if entry.get("status") == "error":
                self.error = str((entry.get("error") or {}).get("message") or "error")
            stats = entry.get("stats") or {}
            read = _number(stats, "input_tokens")
            self.usage = Usage(read, _number(stats, "output_tokens"), _number(stats, "cached"), known=read > 0)
            self.model = next(iter(stats.get("models") or {}), "")


def _number(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True)
class CliProgram:
    """A program that reads a prompt on standard input and writes a reply."""

    name: str
    """The name after `cli:`, without the model."""
    command: tuple[str, ...]
    model_option: str = ""
    """Option for the model; empty if it cannot be chosen."""
    system_file: str = ""
    """Option for a file with the system prompt. Empty: it is prepended to the prompt."""
    system_variable: str = ""
    """Environment variable with the path of such a file, instead of an option."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files in its working folder, by path: settings that disable its tools."""
    output: Callable[[], CliOutput] = CliOutput
    by_line: bool = False
    """Whether its output is read line by line."""
    install: str = ""
    """How to install it."""


# The flags are those of claude 2.1.332, codex 0.171.0, gemini 0.61.0 and llm 0.36: docs/models.md lists what was
# tested. Codex ignores unknown features.
_CODEX_TOOLS = (
    *("apps", "browser_use", "code_mode_host", "computer_use", "goals", "hooks", "image_generation", "multi_agent"),
    *("plugins", "shell_tool", "unified_exec", "view_image"),
)
_GEMINI_SETTINGS = {"tools": {"core": ["none"]}}

CLAUDE = CliProgram(
    name="claude",
    command=(
        *("claude", "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"),
        *("--safe-mode", "--tools", "", "--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands"),
        *("--no-session-persistence", "--name", "openbook"),  # without a name, another call generates one
    ),
    model_option="--model",
    system_file="--system-prompt-file",
    output=ClaudeOutput,
    by_line=True,
    install="npm install -g @anthropic-ai/claude-code",
)
CODEX = CliProgram(
    name="codex",
    command=(
        *("codex", "exec", "--json", "--color", "never", "--sandbox", "read-only", "--skip-git-repo-check"),
        *("--ephemeral", "--ignore-user-config", "--ignore-rules", "-c", "project_doc_max_bytes=0"),
        *("-c", 'web_search="disabled"', "-c", "include_environment_context=false"),
        *(word for name in _CODEX_TOOLS for word in ("-c", f"features.{name}=false")),
    ),
    model_option="--model",
    output=CodexOutput,
    by_line=True,
    install="npm install -g @openai/codex",
)
GEMINI = CliProgram(
    name="gemini",
    command=(
        *("gemini", "--prompt", "", "--output-format", "stream-json", "--skip-trust", "--approval-mode", "plan"),
        *("--extensions", "none", "--allowed-mcp-server-names", "none"),
    ),
    model_option="--model",
    system_variable="GEMINI_SYSTEM_MD",
    environment={"GEMINI_CLI_TRUST_WORKSPACE": "true"},  # otherwise the settings are not read, whatever the options are
    files={".gemini/settings.json": json.dumps(_GEMINI_SETTINGS)},
    output=GeminiOutput,
    by_line=True,
    install="npm install -g @google/gemini-cli",
)
LLM = CliProgram(
    name="llm",
    command=("llm", "prompt", "--no-log", "--usage"),
    model_option="--model",
    output=LlmOutput,
    install="pip install llm",
)

CLI_PROGRAMS: Mapping[str, CliProgram] = {program.name: program for program in (CLAUDE, CODEX, GEMINI, LLM)}


def read_cli_name(rest: str) -> tuple[CliProgram, str]:
    """Parse the text after `cli:` into a known program and its model, or a command.

    Raises:
        ValueError: It is empty, or a quote is not closed.

    Example:
        >>> program, model = read_cli_name("claude:opus")
        >>> program.name, model
        ('claude', 'opus')
        >>> read_cli_name("my-model --size 'very small'")[0].command
        ('my-model', '--size', 'very small')
    """
    head, _, model = rest.partition(":")
    if head in CLI_PROGRAMS:
        return CLI_PROGRAMS[head], model
    words = shlex.split(rest)
    if not words:
        raise ValueError("it names no program")
    # Without its arguments, which may contain secrets.
    return CliProgram(name=re.split(r"[/\\]", words[0])[-1], command=tuple(words)), ""
