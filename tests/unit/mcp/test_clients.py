from __future__ import annotations

import json
import resource
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from openbook.errors import OpenbookError, SettingsError
from openbook.mcp.clients import CLIENTS, file_of, plan_install, plan_uninstall, write_change

COMMAND = ["/bin/openbook", "mcp"]
FOLDERS = ["/shop"]

ENTRY = {"command": "/bin/openbook", "args": ["mcp", "/shop"]}
ENTRIES: dict[str, dict[str, Any]] = {
    "vscode": {"type": "stdio", "command": "/bin/openbook", "args": ["mcp", "/shop"]},
    "claude": {"type": "stdio", "command": "/bin/openbook", "args": ["mcp", "/shop"], "alwaysLoad": True},
    "zed": {"source": "custom", "command": "/bin/openbook", "args": ["mcp", "/shop"]},
    "opencode": {"type": "local", "command": ["/bin/openbook", "mcp", "/shop"], "enabled": True},
    "copilot": {"type": "local", "command": "/bin/openbook", "args": ["mcp", "/shop"], "tools": ["*"]},
    "goose": {
        "name": "openbook",
        "type": "stdio",
        "enabled": True,
        "timeout": 60,
        "cmd": "/bin/openbook",
        "args": ["mcp", "/shop"],
    },
}


def read(text: str, name: str) -> Any:
    """Read the file of an agent as the agent does."""
    readers = {"codex": tomllib.loads, "goose": yaml.safe_load}
    return readers.get(name, json.loads)(text)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.mark.parametrize("name", CLIENTS)
def test_an_entry_is_what_the_agent_reads(name: str, tmp_path: Path, kept: Path) -> None:
    client = CLIENTS[name]

    change = plan_install(client, tmp_path, "openbook", COMMAND, FOLDERS)

    assert change.path.is_relative_to(tmp_path)
    assert read(change.after or "", name)[client.table]["openbook"] == ENTRIES.get(name, ENTRY)


BEFORE = {
    "json": ["{}", "{}\n", '{\n  "x": 1\n}\n', '{"TABLE": {}}', '{"TABLE": {"a": {}}, "z": [1]}\r\n', "", "\ufeff{ }"],
    "jsonc": ['// mine\n{\n  // one\n  "x": 1, // two\n  "TABLE": {\n    "a": {}, /* b */\n  },\n}\n'],
    "toml": ["", "a = 1", "a = 1\n\n\n", "[TABLE.a]\nx = 1\n\n[z]\n# end\n"],
    "yaml": ["", "A: 1", "TABLE:\n  a:\n    x: 1\n\n# end\nz: 2\n", "TABLE: {}\n", "TABLE:\n"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("other", [False, True], ids=["once", "twice"])
def test_uninstalling_gives_every_byte_back(name: str, other: bool, tmp_path: Path, kept: Path) -> None:
    client = CLIENTS[name]
    suffix = file_of(client, tmp_path).suffix.removeprefix(".")
    texts = [*BEFORE[suffix], *(BEFORE["jsonc"] if suffix == "json" else [])]
    for text in [None, *(text.replace("TABLE", client.table).encode() for text in texts)]:
        file = file_of(client, tmp_path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_bytes(text)

        write_change(plan_install(client, tmp_path, "openbook", COMMAND, FOLDERS), kept)
        if other:
            write_change(plan_install(client, tmp_path, "openbook", COMMAND, ["/other"]), kept)
        assert b"/bin/openbook" in file.read_bytes()
        write_change(plan_uninstall(client, tmp_path, "openbook", kept), kept)

        assert (file.read_bytes() if file.exists() else None) == text
        assert list(kept.iterdir()) == []


@pytest.mark.parametrize("name", CLIENTS)
def test_what_the_person_changed_meanwhile_stays(name: str, tmp_path: Path, kept: Path) -> None:
    client = CLIENTS[name]
    write_change(plan_install(client, tmp_path, "openbook", COMMAND, FOLDERS), kept)
    file = file_of(client, tmp_path)
    comment = "//" if file.suffix == ".json" else "#"
    file.write_text(f"{comment} mine\n{file.read_text(encoding='utf-8')}", encoding="utf-8")

    write_change(plan_uninstall(client, tmp_path, "openbook", kept), kept)

    assert "openbook" not in file.read_text(encoding="utf-8")
    assert file.read_text(encoding="utf-8").startswith(f"{comment} mine\n")


@pytest.mark.parametrize("name", ["codex", "copilot", "goose"])
def test_an_entry_for_all_projects_serves_the_folder_that_the_agent_works_in(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]

    entry = read(plan_install(client, tmp_path, "openbook", COMMAND).after or "", name)[client.table]["openbook"]

    assert entry["args"] == ["mcp"]


def test_a_second_project_is_served_beside_the_first_where_agents_have_no_folder(tmp_path: Path, kept: Path) -> None:
    client = CLIENTS["windsurf"]
    projects = [tmp_path / "a", tmp_path / "b"]
    for project in [*projects, projects[0]]:
        project.mkdir(exist_ok=True)
        write_change(plan_install(client, project, "openbook", COMMAND), kept)

    entry = json.loads(file_of(client, tmp_path).read_text(encoding="utf-8"))["mcpServers"]["openbook"]

    assert entry["args"] == ["mcp", *map(str, projects)]


def test_a_file_with_comments_is_written_where_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "opencode.jsonc").write_text("{}", encoding="utf-8")

    assert file_of(CLIENTS["opencode"], tmp_path).name == "opencode.jsonc"


def test_what_is_kept_can_be_read_by_nobody_else(tmp_path: Path, kept: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{}", encoding="utf-8")

    write_change(plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND), kept)

    assert [each.stat().st_mode & 0o077 for each in (kept, *kept.iterdir())] == [0, 0]
    assert sorted(each.name for each in tmp_path.iterdir()) == [".mcp.json", "kept"]


def test_putting_twice_changes_nothing(tmp_path: Path, kept: Path) -> None:
    client = CLIENTS["claude"]
    write_change(plan_install(client, tmp_path, "openbook", COMMAND), kept)

    assert not plan_install(client, tmp_path, "openbook", COMMAND).is_needed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("vscode", "// mine", id="no-object"),
        pytest.param("goose", "extensions: [a]\n", id="a-yaml-list"),
        pytest.param("goose", "extensions:\n\ta: 1\n", id="tabs"),
        pytest.param("vscode", "[]", id="a-list"),
        pytest.param("vscode", '{"servers": []}', id="servers-in-a-list"),
        pytest.param("vscode", '{"a": ' + "[" * 50_000, id="deep"),
        pytest.param("codex", "a = ", id="broken-toml"),
        pytest.param("codex", "mcp_servers = 3", id="no-table"),
        pytest.param("codex", "mcp_servers = {a = 1}", id="an-inline-table"),
    ],
)
def test_a_file_that_cannot_be_read_stays_and_the_hint_says_what_to_add(name: str, text: str, tmp_path: Path) -> None:
    client = CLIENTS[name]
    file = file_of(client, tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")

    with pytest.raises(SettingsError, match="was not changed") as caught:
        plan_install(client, tmp_path, "openbook", COMMAND)

    assert "/bin/openbook" in caught.value.hint
    assert file.read_text(encoding="utf-8") == text


def test_a_path_that_is_no_text_cannot_be_written(tmp_path: Path, kept: Path) -> None:
    change = plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND, ["/caf\udce9"])

    with pytest.raises(SettingsError, match="is not valid text"):
        write_change(change, kept)

    assert not (tmp_path / ".mcp.json").exists()


@contextmanager
def full_disk() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("before", [{}, {".mcp.json": "{}"}], ids=["new", "there"])
def test_what_cannot_be_written_as_a_whole_leaves_everything_as_it_was(
    tmp_path: Path, kept: Path, before: dict[str, str]
) -> None:
    for name, text in before.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with full_disk(), pytest.raises(OpenbookError, match="cannot write"):
        write_change(plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND), kept)

    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir() if file.is_file()} == before


def test_the_path_that_cannot_be_written_is_named_though_it_is_not_that_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder", encoding="utf-8")

    with pytest.raises(OpenbookError, match=r"home/agents'") as caught:
        write_change(plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND), tmp_path / "home" / "agents")

    assert not isinstance(caught.value, SettingsError)  # nothing that could be unset
    assert "permissions" in caught.value.hint


def test_a_link_is_followed_and_rights_are_kept(tmp_path: Path, kept: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text("{}", encoding="utf-8")
    real.chmod(0o640)
    (tmp_path / ".mcp.json").symlink_to(real)

    write_change(plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND), kept)

    assert (tmp_path / ".mcp.json").is_symlink()
    assert "openbook" in real.read_text(encoding="utf-8")
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(("name", "text"), [("cursor", '{"a": 1}\n'), ("codex", "a = 1\n")])
def test_a_link_to_a_file_with_another_suffix_is_written_in_the_format_of_the_agent(
    name: str, text: str, tmp_path: Path, kept: Path
) -> None:
    client, real = CLIENTS[name], tmp_path / "dotfile"
    real.write_text(text, encoding="utf-8")
    link = tmp_path / "project" / client.file if name == "cursor" else Path(client.file).expanduser()
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(real)

    write_change(plan_install(client, tmp_path / "project", "openbook", COMMAND, FOLDERS), kept)
    assert read(real.read_text(encoding="utf-8"), name)[client.table]["openbook"] == ENTRY

    write_change(plan_uninstall(client, tmp_path / "project", "openbook", kept), kept)
    assert real.read_text(encoding="utf-8") == text


def test_a_file_that_is_as_install_left_it_is_restored_whatever_its_order(tmp_path: Path, kept: Path) -> None:
    client = CLIENTS["codex"]
    config = file_of(client, tmp_path)
    config.parent.mkdir(parents=True, exist_ok=True)
    text = "[[a]]\nx = 1\n[b]\n[[a]]\nx = 2\n"  # which tomlkit would write in another order
    config.write_text(text, encoding="utf-8")

    write_change(plan_install(client, tmp_path, "openbook", COMMAND, FOLDERS), kept)
    write_change(plan_uninstall(client, tmp_path, "openbook", kept), kept)

    assert config.read_text(encoding="utf-8") == text
