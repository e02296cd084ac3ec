"""What `install` does to a file of the person, `uninstall` undoes to the byte."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbook.mcp.clients import CLIENTS, Client, plan_install, plan_uninstall, write_change
from openbook.mcp.editing import FORMATS

TABLE = "servers"
SUFFIXES = ("json", "jsonc", "toml", "yaml")

words = st.sampled_from(["a", "b", "z-1", "openbook2", "\u00e9"])
gaps = st.sampled_from(["", " ", "\n", "\n\n", "\n  ", " \n\t"])
comments = st.sampled_from(["", "", " // mine", " /* , } */", "\n// {"])


@st.composite
def objects(draw: st.DrawFn, depth: int, has_comments: bool) -> str:
    """Write an object of JSON as people lay it out, with a comma behind its last member where comments may stand."""
    comment = comments if has_comments else st.just("")

    def gap() -> str:
        told = draw(comment)
        return told + ("\n" if "//" in told else "") + draw(gaps)

    names = draw(st.lists(words, unique=True, max_size=3))
    if depth == 0:
        names = draw(st.permutations([*names, *draw(st.sampled_from([[], [TABLE]]))]))
    values = [
        draw(objects(depth + 1, has_comments))
        if name == TABLE or depth == 1
        else draw(st.sampled_from(["1", '"x"', "[]"]))
        for name in names
    ]
    members = [
        f'{gap()}"{name}":{draw(st.sampled_from(["", " "]))}{value}{gap()}'
        for name, value in zip(names, values, strict=True)
    ]
    last = "," if members and has_comments and draw(st.booleans()) else ""
    return f"{{{','.join(members)}{last}{gap()}}}"


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Write TOML."""
    rows = st.sampled_from(["x = 1", 'y = "a"  # b', "# mine", "", "z = [\n  1,\n]"])
    top = draw(st.lists(rows, unique=True, max_size=3))
    names = draw(st.lists(words.filter(str.isascii), unique=True, max_size=2))
    headers = draw(st.permutations([*(f"[{TABLE}.{name}]" for name in names), *draw(st.sampled_from([[], ["[tui]"]]))]))
    blocks = ["\n".join([header, *draw(st.lists(rows, unique=True, max_size=3))]) for header in headers]
    return draw(st.sampled_from(["\n", "\n\n"])).join([*top, *blocks])


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """Write YAML."""
    tops = [
        "a: 1",
        "# mine",
        "b:\n  - 1",
        *draw(st.sampled_from([[], [f"{TABLE}:"], [f"{TABLE}: {{}}"], [f"{TABLE}:\n  a:\n    x: 1 # b"]])),
    ]
    return draw(st.sampled_from(["\n", "\n\n"])).join(draw(st.permutations(tops)))


@st.composite
def files(draw: st.DrawFn, suffix: str) -> bytes:
    written = {
        "json": objects(0, False),
        "jsonc": objects(0, True),
        "toml": tables(),
        "yaml": blocks(),
    }
    text = draw(written[suffix]) + draw(st.sampled_from(["", "\n", "\n\n"]))
    if suffix != "yaml" and draw(st.booleans()):
        text = text.replace("  ", "\t")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


def client(suffix: str) -> Client:
    return Client("An agent", f"config.{suffix}", TABLE)


def install(of: Client, project: Path, name: str) -> None:
    write_change(plan_install(of, project, name, ["/bin/openbook", "mcp"], ["/shop"]), project / "kept")


def uninstall(of: Client, project: Path, name: str) -> None:
    write_change(plan_uninstall(of, project, name, project / "kept"), project / "kept")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_several_servers_that_come_and_go_in_any_order_leave_every_byte(suffix: str, data: st.DataObject) -> None:
    before = data.draw(files(suffix))
    names = data.draw(st.permutations(["ours", "docs", "new"]))
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        file = project / f"config.{suffix}"
        file.write_bytes(before)
        for name in ("ours", "docs", "new", "docs"):
            install(client(suffix), project, name)

        for name in names:
            uninstall(client(suffix), project, name)

        assert file.read_bytes() == before
        assert sorted(path.name for path in project.iterdir()) == [file.name, "kept"]
        assert list((project / "kept").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["json", "jsonc", "toml"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_the_person_adds_meanwhile_is_all_that_differs(suffix: str, data: st.DataObject) -> None:
    before = data.draw(files(suffix))
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        file = project / f"config.{suffix}"
        file.write_bytes(before)
        install(client(suffix), project, "ours")
        mine = b"# later\n" if suffix == "toml" else b" \n"
        file.write_bytes(file.read_bytes() + mine)

        uninstall(client(suffix), project, "ours")

        assert file.read_bytes() == before + mine


def test_one_of_two_servers_goes_and_the_other_stays(tmp_path: Path) -> None:
    for name in ("docs", "api"):
        install(CLIENTS["vscode"], tmp_path, name)

    uninstall(CLIENTS["vscode"], tmp_path, "api")

    assert list(FORMATS[".json"].read((tmp_path / ".vscode" / "mcp.json").read_text(encoding="utf-8"))["servers"]) == [
        "docs"
    ]


def test_an_entry_that_install_did_not_write_is_removed_too(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("a: 1\nservers:\n  ours:\n    cmd: x\n", encoding="utf-8")

    uninstall(client("yaml"), tmp_path, "ours")

    assert file.read_text(encoding="utf-8") == "a: 1\n"


def test_a_setting_that_the_person_put_below_ours_never_goes_to_another_server(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[servers.mine]\ncommand = "x"\n', encoding="utf-8")
    install(client("toml"), tmp_path, "ours")
    file.write_text(file.read_text(encoding="utf-8") + "timeout = 60\n", encoding="utf-8")

    uninstall(client("toml"), tmp_path, "ours")

    assert tomllib.loads(file.read_text(encoding="utf-8")) == {"servers": {"mine": {"command": "x"}}}


def test_an_entry_that_the_person_has_written_anew_does_not_hinder_another_server(tmp_path: Path) -> None:
    for name in ("docs", "api"):
        install(client("toml"), tmp_path, name)
    file = tmp_path / "config.toml"
    file.write_text('servers.docs.command = "mine"\n[servers.api]\ncommand = "/bin/openbook"\n', encoding="utf-8")

    uninstall(client("toml"), tmp_path, "api")

    assert file.read_text(encoding="utf-8") == 'servers.docs.command = "mine"\n'
