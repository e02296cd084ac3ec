from __future__ import annotations

import json
import resource
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import SettingsError
from openbook.mcp.clients import CLIENTS, file_of, plan_install, plan_uninstall, write_change

COMMAND = ["/bin/openbook", "mcp", "/shop"]
JSON_CLIENTS = [name for name in CLIENTS if name != "codex"]


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_put_in_is_there_and_what_is_taken_out_is_gone(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]

    copies = [
        write_change(plan_install(client, tmp_path, "openbook", COMMAND)),
        write_change(plan_uninstall(client, tmp_path, "openbook")),
    ]

    file = file_of(client, tmp_path)
    assert file.is_relative_to(tmp_path)
    assert copies[0] is None
    assert copies[1] is not None
    assert "/bin/openbook" in copies[1].read_text(encoding="utf-8")
    assert "/bin/openbook" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_an_entry_is_what_the_agent_reads(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]

    change = plan_install(client, tmp_path, "openbook", COMMAND)

    entry = json.loads(change.after)[client.table]["openbook"]
    assert entry.pop("type", "stdio") == "stdio"
    assert entry == {"command": "/bin/openbook", "args": ["mcp", "/shop"]}


def test_other_servers_and_settings_stay_as_they_are(tmp_path: Path) -> None:
    there: dict[str, Any] = {
        "theme": "ü",
        "mcpServers": {"other": {"command": "x"}, "openbook": {"env": {"A": "1"}}},
        "last": [1],
    }
    (tmp_path / ".mcp.json").write_text(json.dumps(there), encoding="utf-8")

    write_change(plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND))

    now = json.loads((tmp_path / ".mcp.json").read_text(encoding="utf-8"))
    assert now["mcpServers"].pop("openbook")["env"] == there["mcpServers"].pop("openbook")["env"]
    assert now == there
    assert list(now) == list(there)


def test_comments_and_tables_of_toml_stay_as_they_are(tmp_path: Path) -> None:
    client = CLIENTS["codex"]
    file = file_of(client, tmp_path)
    file.parent.mkdir(parents=True)
    entry = '[mcp_servers.openbook]\ncommand = "old"\nargs = ["[x]"]\n\n[mcp_servers.openbook.env]\nA = "1"\n\n'
    file.write_text(f'model = "m"  # mine\n\n{entry}[tui]\n# keep\na = 1\n', encoding="utf-8")

    write_change(plan_install(client, tmp_path, "openbook", COMMAND))

    text = file.read_text(encoding="utf-8")
    now = tomllib.loads(text)
    assert now["mcp_servers"] == {"openbook": {"command": "/bin/openbook", "args": ["mcp", "/shop"], "env": {"A": "1"}}}
    assert now["tui"] == {"a": 1}
    assert "# mine" in text
    assert "# keep" in text


def test_putting_twice_changes_nothing_and_each_copy_is_kept(tmp_path: Path) -> None:
    client = CLIENTS["claude"]
    write_change(plan_install(client, tmp_path, "openbook", COMMAND))

    again = plan_install(client, tmp_path, "openbook", COMMAND)
    copies = {write_change(plan_install(client, tmp_path, "openbook", [*COMMAND, f"/{number}"])) for number in range(3)}

    assert not again.is_needed
    assert {copy.name for copy in copies if copy} == {".mcp.json.bak", ".mcp.json.bak1", ".mcp.json.bak2"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("vscode", "// mine\n{}", id="comments"),
        pytest.param("vscode", "[]", id="a-list"),
        pytest.param("vscode", '{"servers": []}', id="servers-in-a-list"),
        pytest.param("vscode", '{"a": ' + "[" * 50_000, id="deep"),
        pytest.param("codex", "a = ", id="broken-toml"),
        pytest.param("codex", "mcp_servers = 3", id="no-table"),
        pytest.param("codex", 'mcp_servers = {openbook = {command = "x"}}', id="an-inline-table"),
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


def test_a_path_that_is_no_text_cannot_be_written(tmp_path: Path) -> None:
    change = plan_install(CLIENTS["claude"], tmp_path, "openbook", [*COMMAND, "/caf\udce9"])

    with pytest.raises(SettingsError, match="is no text"):
        write_change(change)

    assert list(tmp_path.iterdir()) == []


@contextmanager
def full_disk() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("before", [{}, {".mcp.json": "{}"}], ids=["new", "there"])
def test_what_cannot_be_written_as_a_whole_leaves_everything_as_it_was(tmp_path: Path, before: dict[str, str]) -> None:
    for name, text in before.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with full_disk(), pytest.raises(SettingsError, match="cannot write"):
        write_change(plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND))

    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == before


def test_a_link_is_followed_and_rights_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text("{}", encoding="utf-8")
    real.chmod(0o640)
    (tmp_path / ".mcp.json").symlink_to(real)

    write_change(plan_install(CLIENTS["claude"], tmp_path, "openbook", COMMAND))

    assert (tmp_path / ".mcp.json").is_symlink()
    assert "openbook" in real.read_text(encoding="utf-8")
    assert real.stat().st_mode & 0o777 == 0o640
