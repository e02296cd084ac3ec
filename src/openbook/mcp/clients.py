"""Where coding agents keep their list of MCP servers, and how ours is put in and taken out. Starts nothing."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from openbook.errors import SettingsError

_HEADER = re.compile(r"\s*\[\[?([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class Client:
    """A coding agent, and how it is told of a server."""

    title: str
    file: str
    """From the project's folder, or from the person's own if it begins with `~`. `{config}`: their settings."""
    table: str = "mcpServers"
    """Key or table that holds the servers."""
    says_type: bool = False
    """Whether an entry names its transport."""


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        "claude": Client("Claude Code", ".mcp.json", says_type=True),
        "claude-desktop": Client("Claude Desktop", "{config}/claude_desktop_config.json"),
        "codex": Client("Codex", "~/.codex/config.toml", "mcp_servers"),
        "cursor": Client("Cursor", ".cursor/mcp.json"),
        "gemini": Client("Gemini CLI", ".gemini/settings.json"),
        "vscode": Client("Visual Studio Code", ".vscode/mcp.json", "servers", says_type=True),
        "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json"),
    }
)
"""By the name that `openbook install` takes."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it will be."""

    path: Path
    before: str | None
    """None if it is not there."""
    after: str

    @property
    def is_needed(self) -> bool:
        """Whether anything changes."""
        return self.after != (self.before or "")


def file_of(client: Client, project: Path) -> Path:
    """Give the file of an agent. A link is followed: what it leads to is changed, not the link."""
    from platformdirs import user_config_path

    config = user_config_path("Claude", appauthor=False, roaming=True)
    return (project / Path(client.file.format(config=config)).expanduser()).resolve()


def put(client: Client, project: Path, name: str, command: Sequence[str]) -> Change:
    """Plan to put a server in, in place of one of that name. All else in the file stays.

    Raises:
        SettingsError: The file cannot be read, or is not what the agent reads.
    """
    return _changed(client, project, name, command)


def take(client: Client, project: Path, name: str) -> Change:
    """Plan to take a server out.

    Raises:
        SettingsError: The file cannot be read, or is not what the agent reads.
    """
    return _changed(client, project, name, None)


def write(change: Change) -> Path | None:
    """Write a change at once or not at all, and give the copy of what was there; None if there was nothing.

    Raises:
        SettingsError: It cannot be written.
    """
    path = change.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        copy = None if change.before is None else _free(path)
        with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
            fresh = Path(beside) / path.name
            fresh.write_text(change.after, encoding="utf-8", newline="")
            if copy is not None:
                shutil.copy2(path, copy)
                shutil.copymode(path, fresh)
            fresh.replace(path)
    except OSError as exc:
        raise SettingsError(f"cannot write {str(path)!r}: {exc.strerror}") from exc
    return copy


def _free(path: Path) -> Path:
    """Give a name for a copy that no earlier copy has."""
    candidates = (path.with_name(f"{path.name}.bak{number or ''}") for number in range(1000))
    return next(candidate for candidate in candidates if not candidate.exists())


def _changed(client: Client, project: Path, name: str, command: Sequence[str] | None) -> Change:
    path = file_of(client, project)
    try:
        before = path.read_bytes().decode("utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"cannot read {str(path)!r}: {exc}", hint="nothing was changed") from exc
    edit = _in_toml if path.suffix == ".toml" else _in_json
    return Change(path, before, edit(before or "", path, client, name, command))


def _in_json(text: str, path: Path, client: Client, name: str, command: Sequence[str] | None) -> str:
    try:
        settings: Any = json.loads(text) if text.strip() else {}
    except ValueError as exc:
        raise _unreadable(path, f"it is no JSON ({exc})", client, name, command) from exc
    servers = settings.setdefault(client.table, {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        raise _unreadable(path, f"its {client.table!r} is no list of servers", client, name, command)
    if command is None:
        if servers.pop(name, None) is None:
            return text
    else:
        old = servers.get(name)
        servers[name] = (old if isinstance(old, dict) else {}) | _entry(client, command)
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _in_toml(text: str, path: Path, client: Client, name: str, command: Sequence[str] | None) -> str:
    """Change one table as text, because what reads TOML forgets its comments."""
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise _unreadable(path, f"it is no TOML ({exc})", client, name, command) from exc
    there = name in settings.get(client.table, {})
    rest = _without_table(text, f"{client.table}.{name}", below=command is None)
    left = tomllib.loads(rest).get(client.table, {}).get(name, {})
    if "command" in left or (left and command is None):
        raise _unreadable(path, "its entry is written in a way that cannot be replaced", client, name, command)
    if command is None:
        return rest if there else text
    entry = _entry(client, command)
    lines = [f"[{client.table}.{json.dumps(name)}]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]
    return (rest.rstrip() + "\n\n" if rest.strip() else "") + "\n".join(lines) + "\n"


def _without_table(text: str, table: str, *, below: bool) -> str:
    """Cut a table, and on demand those below it, out of TOML by its lines: a header stands alone on one."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        header = _HEADER.match(line)
        if header:
            name = header[1].replace('"', "").replace("'", "").replace(" ", "")
            inside = name == table or (below and name.startswith(f"{table}."))
        if not inside:
            kept.append(line)
    return "".join(kept)


def _entry(client: Client, command: Sequence[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "stdio"} if client.says_type else {}
    return entry | {"command": command[0], "args": list(command[1:])}


def _unreadable(path: Path, why: str, client: Client, name: str, command: Sequence[str] | None) -> SettingsError:
    wanted = "" if command is None else json.dumps({client.table: {name: _entry(client, command)}})
    hint = f"add by hand: {wanted}" if wanted else "take the entry out by hand"
    return SettingsError(f"{str(path)!r} was left as it is: {why}", hint=hint)
