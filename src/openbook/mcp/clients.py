"""Where coding agents keep their list of MCP servers, and how ours is put in and taken out. Starts nothing."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from openbook.errors import SettingsError
from openbook.mcp.editing import edit_json, edit_toml


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
class FileChange:
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
    """Return the file of an agent. A link is followed: what it leads to is changed, not the link."""
    from platformdirs import user_config_path

    config = user_config_path("Claude", appauthor=False, roaming=True)
    return (project / Path(client.file.format(config=config)).expanduser()).resolve()


def plan_install(client: Client, project: Path, name: str, command: Sequence[str]) -> FileChange:
    """Plan to put a server in, in place of one of that name. All else in the file stays.

    Raises:
        SettingsError: The file cannot be read, or is not what the agent reads.
    """
    return _changed(client, project, name, command)


def plan_uninstall(client: Client, project: Path, name: str) -> FileChange:
    """Plan to take a server out.

    Raises:
        SettingsError: The file cannot be read, or is not what the agent reads.
    """
    return _changed(client, project, name, None)


def write_change(change: FileChange) -> Path | None:
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
    except UnicodeEncodeError as exc:
        raise SettingsError(f"cannot write {str(path)!r}: a path in it is no text", hint="rename that folder") from exc
    except OSError as exc:
        raise SettingsError(f"cannot write {str(path)!r}: {exc.strerror}") from exc
    return copy


def _free(path: Path) -> Path:
    """Return a name for a copy that no earlier copy has."""
    candidates = (path.with_name(f"{path.name}.bak{number or ''}") for number in range(1000))
    return next(candidate for candidate in candidates if not candidate.exists())


def _changed(client: Client, project: Path, name: str, command: Sequence[str] | None) -> FileChange:
    path = file_of(client, project)
    try:
        before = path.read_bytes().decode("utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"cannot read {str(path)!r}: {exc}", hint="nothing was changed") from exc
    entry = None if command is None else _entry(client, command)
    edit = edit_toml if path.suffix == ".toml" else edit_json
    try:
        return FileChange(path, before, edit(before or "", client.table, name, entry))
    except ValueError as exc:
        hint = "take the entry out by hand" if entry is None else f"add by hand: {_told(path, client, name, entry)}"
        raise SettingsError(f"{str(path)!r} was not changed: {exc}", hint=hint) from exc


def _told(path: Path, client: Client, name: str, entry: Mapping[str, Any]) -> str:
    if path.suffix != ".toml":
        return json.dumps({client.table: {name: entry}})
    keys = " and ".join(f"{key} = {json.dumps(value)}" for key, value in entry.items())
    return f"[{client.table}.{json.dumps(name)}] with {keys}"


def _entry(client: Client, command: Sequence[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "stdio"} if client.says_type else {}
    return entry | {"command": command[0], "args": list(command[1:])}
