"""Adds the MCP server to the configuration files of coding agents, and removes it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from openbook.errors import OpenbookError, SettingsError
from openbook.mcp.editing import FORMATS, Format, common_start
from openbook.permissions import make_private_file, make_private_folder


@dataclass(frozen=True, slots=True)
class Record:
    """A configuration file that contains our servers, and its content without them."""

    path: str
    before: str | None
    """Its content without them; None if it did not exist."""
    after: str
    """The content that was written last."""
    names: tuple[str, ...]
    """Names of the servers."""

    def updated(self, text: str, format_: Format, table: str) -> Record:
        """Update the record of a file that the user may have changed since."""
        return self if text == self.after else replace(self, before=self._reverted(text, format_, table), after=text)

    def _reverted(self, text: str, format_: Format, table: str) -> str:
        """Undo our change if it is intact, else remove the servers one by one."""
        without = text
        for name in self.names:
            with suppress(ValueError):  # an entry that the user has rewritten in another form is left to the user
                without = format_.edit(without, table, name, None)
        before, after = self.before or "", self.after
        start = common_start(before, after)
        end = common_start(before[start:][::-1], after[start:][::-1])
        removed, added = before[start : len(before) - end], after[start : len(after) - end]
        if not added or text.count(added) != 1:
            return without
        exact = text.replace(added, removed)
        return exact if format_.says_same(exact, without, table) else without


def read_record(path: Path, records: Path) -> Record | None:
    """Read the record of a file; None if there is none."""
    try:
        found = json.loads(_file_of(path, records).read_text(encoding="utf-8"))
        return Record(**{**found, "names": tuple(found["names"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_record(path: Path, record: Record | None, records: Path) -> None:
    """Write the record of a file, readable only by its owner, or delete it."""
    file = _file_of(path, records)
    if record is None:
        file.unlink(missing_ok=True)
        return
    make_private_folder(records)
    make_private_file(file)
    file.write_text(json.dumps(asdict(record)), encoding="utf-8")


def _file_of(path: Path, records: Path) -> Path:
    return records / f"{hashlib.sha256(str(path).encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


_CONFIG = re.compile(r"\{config:(\w+)\}")

# Entries of agents, with strings that stand for the command.
_COMMAND = {"command": "{program}", "args": "{arguments}"}
_STDIO = {"type": "stdio", **_COMMAND}


@dataclass(frozen=True, slots=True)
class Client:
    """A coding agent, and the format of its configuration."""

    title: str
    file: str
    """Relative to the project, or to the home folder if it begins with `~`. `{config:NAME}`: settings of a program."""
    table: str = "mcpServers"
    """Key or table that holds the servers."""
    entry: Mapping[str, Any] = field(default_factory=lambda: _COMMAND)
    """An entry; `{program}`, `{arguments}`, `{command}` and `{name}` are replaced."""
    other_file: str = ""
    """Used instead if it exists."""
    follows_folder: bool = False
    """Whether the agent starts its servers in the folder of the project, though the file is for all projects."""

    @property
    def is_global(self) -> bool:
        """Whether one file serves all projects."""
        return self.file[0] in "~{"

    @property
    def format(self) -> Format:
        """The format of its file, whatever a symbolic link leads to."""
        return FORMATS[PurePath(self.file).suffix]


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        # Without `alwaysLoad`, Claude Code (seen with 2.1.332) does not wait for the server: its model is told in the
        # first request that there is one, and nothing of what it can do.
        "claude": Client("Claude Code", ".mcp.json", entry={**_STDIO, "alwaysLoad": True}),
        "claude-desktop": Client("Claude Desktop", "{config:Claude}/claude_desktop_config.json"),
        "cline": Client(
            "Cline", "{config:Code}/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
        ),
        "cline-cli": Client("Cline CLI", "~/.cline/data/settings/cline_mcp_settings.json", follows_folder=True),
        "codex": Client("Codex", "~/.codex/config.toml", "mcp_servers", follows_folder=True),
        "copilot": Client(
            "Copilot CLI",
            "~/.copilot/mcp-config.json",
            entry={"type": "local", **_COMMAND, "tools": ["*"]},
            follows_folder=True,
        ),
        "cursor": Client("Cursor", ".cursor/mcp.json"),
        "gemini": Client("Gemini CLI", ".gemini/settings.json"),
        "goose": Client(
            "Goose",
            "~/.config/goose/config.yaml",
            "extensions",
            # Seconds that a call may take: it waits four for files, and an answer takes one.
            {
                "name": "{name}",
                "type": "stdio",
                "enabled": True,
                "timeout": 60,
                "cmd": "{program}",
                "args": "{arguments}",
            },
            follows_folder=True,
        ),
        "opencode": Client(
            "opencode",
            "opencode.json",
            "mcp",
            {"type": "local", "command": "{command}", "enabled": True},
            other_file="opencode.jsonc",
        ),
        "vscode": Client("Visual Studio Code", ".vscode/mcp.json", "servers", _STDIO),
        "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json"),
        "zed": Client("Zed", ".zed/settings.json", "context_servers", {"source": "custom", **_COMMAND}),
    }
)
"""By the name that `openbook install` takes."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A planned change of a file."""

    path: Path
    before: str | None
    """None if it does not exist."""
    after: str | None
    """None if it is deleted."""
    client: Client
    name: str
    """Of the server."""
    is_install: bool = False
    """Whether a server is added; otherwise one is removed."""
    kept: tuple[str, ...] = ()
    """Fields of an entry that is replaced which the agent reads and we do not write, such as `env`."""

    @property
    def is_needed(self) -> bool:
        return (self.after or "") != (self.before or "") or (self.after is None) != (self.before is None)


def file_of(client: Client, project: Path) -> Path:
    """Return the configuration file of an agent, with symbolic links resolved."""
    other = project / client.other_file if client.other_file else None
    if other is not None and other.exists():
        return other.resolve()
    return (project / Path(_CONFIG.sub(_config_of, client.file)).expanduser()).resolve()


def _config_of(found: re.Match[str]) -> str:
    from platformdirs import user_config_path

    return str(user_config_path(found[1], appauthor=False, roaming=True))


def plan_install(
    client: Client, project: Path, name: str, command: Sequence[str], folders: Sequence[str] = ()
) -> FileChange:
    """Plan to add a server, or to replace one of that name. The rest of the file is kept.

    Without folders, a server serves the project. One for all projects serves the folder that it is started in, if
    the agent starts it in that of the project; else the project is added to the folders that it serves already.
    """
    if not folders and not (client.is_global and client.follows_folder):
        own = str(project.resolve())
        served = _served(client, project, name) if client.is_global else []
        folders = [*served, *([] if own in served else [own])]
    return _changed(client, project, name, [*command, *folders])


def plan_uninstall(client: Client, project: Path, name: str, records: Path) -> FileChange:
    """Plan to remove a server. A file that has not changed since `install` is restored."""
    path = file_of(client, project)
    record = read_record(path, records)
    if record is not None and record.names == (name,) and record.after == (before := _text_of(path)):
        return FileChange(path, before, record.before, client, name)
    change = _changed(client, project, name, None)
    if record is None or change.before is None or record.names != (name,):
        return change
    return replace(change, after=_updated(change, record).before)


def write_change(change: FileChange, records: Path) -> None:
    """Write a change atomically, and keep the content before the first `install`."""
    path = change.path
    try:
        if change.after is None:
            path.unlink()
            _remember(change, records)
            return
        if change.is_install:
            _remember(change, records)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
            fresh = Path(beside) / path.name
            fresh.write_text(change.after, encoding="utf-8", newline="")
            if change.before is not None:
                shutil.copymode(path, fresh)
            fresh.replace(path)
        if not change.is_install:
            _remember(change, records)
    except UnicodeEncodeError as exc:
        raise SettingsError(
            f"cannot write {str(path)!r}: it contains a path that is not valid text", hint="rename that folder"
        ) from exc
    except OSError as exc:
        denied = exc.filename or str(path)  # may be the record in the home
        raise OpenbookError(
            f"cannot write {denied!r}: {exc.strerror}", hint="check its permissions and its disk"
        ) from exc


def _remember(change: FileChange, records: Path) -> None:
    """Update the record of a file with a change; delete it with the last server."""
    record = read_record(change.path, records)
    if record is None and not change.is_install:
        return
    record = _updated(change, record) if record else Record(str(change.path), change.before, "", ())
    names = {*record.names, change.name} if change.is_install else {*record.names} - {change.name}
    record = replace(record, after=change.after or "", names=tuple(sorted(names)))
    write_record(change.path, record if names else None, records)


def _updated(change: FileChange, record: Record) -> Record:
    return record.updated(change.before or "", change.client.format, change.client.table)


def _changed(client: Client, project: Path, name: str, command: Sequence[str] | None) -> FileChange:
    path = file_of(client, project)
    before = _text_of(path)
    entry = None if command is None else _entry(client, name, command)
    try:
        after = client.format.edit(before or "", client.table, name, entry)
        kept = () if entry is None else tuple(sorted(_entry_of(client, after, name).keys() - entry.keys()))
        wanted = after if after or before is not None else None
        return FileChange(path, before, wanted, client, name, is_install=entry is not None, kept=kept)
    except ValueError as exc:
        hint = "take the entry out by hand" if entry is None else f"add by hand: {_manual_entry(client, name, entry)}"
        raise SettingsError(f"{str(path)!r} was not changed: {exc}", hint=hint) from exc


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"cannot read {str(path)!r}: {exc}", hint="nothing was changed") from exc


def _entry_of(client: Client, text: str, name: str) -> dict[str, Any]:
    """Return an entry; {} if there is none."""
    try:
        return dict(client.format.read(text)[client.table][name])
    except (ValueError, KeyError, TypeError):
        return {}


def _served(client: Client, project: Path, name: str) -> list[str]:
    """Return the folders in the arguments of an entry; [] if there is no entry, or it is not ours."""
    arguments = _entry_of(client, _text_of(file_of(client, project)) or "", name).get("args", [])
    return arguments[arguments.index("mcp") + 1 :] if "mcp" in arguments else []


def _manual_entry(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    if client.format is not FORMATS[".toml"]:
        return json.dumps({client.table: {name: entry}})
    keys = " and ".join(f"{key} = {json.dumps(value)}" for key, value in entry.items())
    return f"[{client.table}.{json.dumps(name)}] with {keys}"


def _entry(client: Client, name: str, command: Sequence[str]) -> dict[str, Any]:
    values = {"{name}": name, "{program}": command[0], "{arguments}": list(command[1:]), "{command}": list(command)}
    return {key: values.get(value, value) if isinstance(value, str) else value for key, value in client.entry.items()}
