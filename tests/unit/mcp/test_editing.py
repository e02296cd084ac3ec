"""Nothing of the person's is lost or rewritten when an entry is put into their files."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import Any

import pytest

from openbook.errors import MissingExtraError
from openbook.mcp.editing import FORMATS

edit_json, read_json = FORMATS[".json"].edit, FORMATS[".json"].read
edit_toml = FORMATS[".toml"].edit

ENTRY: dict[str, Any] = {"command": "/bin/openbook", "args": ["mcp", "/shop"]}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param('{"a": 1.10, "b": 1E5, "c": "\\u00e9"}', ["1.10", "1E5", "\\u00e9"], id="numbers-and-escapes"),
        pytest.param('{"servers": {"a": {"args": ["x", "y"]}}}', ['["x", "y"]'], id="lists-on-a-line"),
        pytest.param('{"servers": {"a": {}}, "servers": {"b": {}}}', ['"a"', '"b"'], id="a-name-twice"),
        pytest.param('\ufeff{\r\n\t"a": 1\r\n}', ["\ufeff{", '\r\n\t"servers"', "\r\n\t\t"], id="mark-and-tabs"),
        pytest.param('{\n    "servers": {}\n}\n', ['\n        "new"'], id="four-blanks"),
        pytest.param('{"a": "}{,:", "b": {"servers": 3}}', ['"}{,:"', '"servers": 3'], id="braces-in-text"),
        pytest.param('{"servers": {"new": {"env": {"A":"1"}}}, "z":2}', ['"z":2'], id="there-already"),
        pytest.param('{"servers": {\n"a": 1 // b, c\n}}', ['"a": 1, // b, c\n'], id="comment-of-the-last"),
        pytest.param('/* a */ {"b": "/*", "c": [1,],} // d', ["/* a */", "[1,],", "// d"], id="comments-and-commas"),
        pytest.param('{"servers": {"a": 1 /* b */} /* c */\n}', ["/* b */", "/* c */\n}"], id="two-comments-on-a-line"),
        pytest.param("", [], id="empty"),
    ],
)
def test_json_keeps_all_else_to_the_letter(text: str, kept: list[str]) -> None:
    put = edit_json(text, "servers", "new", ENTRY)
    taken = edit_json(put, "servers", "new", None)

    assert all(part in put for part in kept)
    assert read_json(put)["servers"]["new"].items() >= ENTRY.items()
    assert edit_json(put, "servers", "new", ENTRY) == put
    assert "new" not in read_json(taken).get("servers", {})
    assert "\n" not in put.replace("\r\n", "") or "\r" not in put


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"servers": {"x": 1, "a": 2}}', '{"servers": {"a": 2}}'),
        ('{"servers": {"a": 2, "x": 1 }}', '{"servers": {"a": 2 }}'),
        ('{"servers": {"x": 1}, "z": 3}', '{"z": 3}'),
        ('{"servers": {"a": 1, /* b */ "x": 2, } // c\n}', '{"servers": {"a": 1, /* b */ } // c\n}'),
        ('{"a": "//", // b\n "servers": {"x": 2}}', '{"a": "//" // b\n}'),
        ('{"servers": {\n // b\n "x": 2\n}}', '{"servers": {\n // b\n}}'),
        ('{"servers": {"x": 1, "a": 2, "x": 3, "x": 4}}', '{"servers": {"a": 2}}'),
        ('{"servers": {"a": 1}}', '{"servers": {"a": 1}}'),
        ("{}", "{}"),
    ],
)
def test_what_is_taken_out_of_json_leaves_no_trace(text: str, left: str) -> None:
    assert edit_json(text, "servers", "x", None) == left


@pytest.mark.parametrize("old", [{"url": "http://x", "headers": {"A": "b"}}, {"type": "http", "serverUrl": "http://x"}])
def test_an_entry_that_was_called_over_the_network_leaves_nothing_of_itself(old: dict[str, Any]) -> None:
    put = edit_json(json.dumps({"servers": {"new": old}}), "servers", "new", ENTRY)

    assert json.loads(put)["servers"]["new"] == ENTRY


OURS = '[servers.new] # ours\ncommand = "old"\nargs = [\n  "mcp",\n]\n'


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param('p = """\n[servers.new]\ncommand = 1\n"""\n', "\n[servers.new]\ncommand = 1\n", id="in-a-text"),
        pytest.param("a = [\n  [1],\n  ['servers.new'],\n]\n", "['servers.new'],\n]", id="in-a-list"),
        pytest.param(f"{OURS}\n# of the next\n[tui]\na = 1\n", "\n# of the next\n[tui]", id="comment-of-the-next"),
        pytest.param(f"[a]\nb = 1\n{OURS}", "[a]\nb = 1\n", id="last"),
        pytest.param("\ufeff[a]\r\nb = 1", "\ufeff[a]\r\nb = 1\r\n", id="mark-and-line-ends"),
        pytest.param("# mine\u2028still mine\n", "# mine\u2028still mine", id="a-line-that-is-none"),
        pytest.param("", "", id="empty"),
    ],
)
def test_toml_keeps_all_else_to_the_letter(text: str, kept: str) -> None:
    put = edit_toml(text, "servers", "new", ENTRY)
    taken = edit_toml(put, "servers", "new", None)

    assert kept in put
    assert tomllib.loads(put.removeprefix("\ufeff"))["servers"]["new"].items() >= ENTRY.items()
    assert edit_toml(put, "servers", "new", ENTRY) == put
    assert "new" not in tomllib.loads(taken.removeprefix("\ufeff")).get("servers", {})
    assert kept.strip() in taken


def test_what_an_entry_of_toml_has_beside_stays() -> None:
    text = f'{OURS}startup_timeout_sec = 60 # slow\nenv = {{ A = "1" }}\n'

    put = edit_toml(text, "servers", "new", ENTRY)

    assert tomllib.loads(put)["servers"]["new"] == {**ENTRY, "startup_timeout_sec": 60, "env": {"A": "1"}}
    assert "# slow" in put
    assert "# ours" in put


def test_a_table_below_stays_with_its_entry_and_goes_with_it() -> None:
    put = edit_toml('[servers.new.env]\nA = "1"', "servers", "new", ENTRY)

    taken = edit_toml(put, "servers", "new", None)

    assert tomllib.loads(put)["servers"]["new"] == {**ENTRY, "env": {"A": "1"}}
    assert tomllib.loads(taken) == {}


def test_an_entry_of_toml_that_was_called_over_the_network_leaves_nothing_of_itself() -> None:
    text = '[servers.new]\nurl = "http://x"\n[servers.new.http_headers]\nA = "b"\n[z]\na = 1\n'

    put = edit_toml(text, "servers", "new", ENTRY)

    assert tomllib.loads(put) == {"z": {"a": 1}, "servers": {"new": ENTRY}}


@pytest.mark.parametrize(
    "text", ['servers.new.command = "x"\n', 'servers = { new = { command = "x" } }\n', '[servers]\nnew.command = "x"\n']
)
def test_an_entry_of_toml_without_a_header_is_replaced_too(text: str) -> None:
    put = edit_toml(f"a = 1 # mine\n{text}", "servers", "new", ENTRY)

    assert tomllib.loads(put) == {"a": 1, "servers": {"new": ENTRY}}
    assert put.startswith("a = 1 # mine\n")


@pytest.mark.parametrize(
    ("suffix", "text"),
    [(".toml", "servers = { a = 1 }\n"), (".yaml", "servers: {a: {x: 1}}\n"), (".yaml", "{a: 1}\n")],
)
def test_a_table_that_cannot_have_an_entry_is_an_error(suffix: str, text: str) -> None:
    with pytest.raises(ValueError, match="cannot be replaced"):
        FORMATS[suffix].edit(text, "servers", "new", ENTRY)


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("servers:  # mine\n    a: [1]\nz: 2", 'servers:  # mine\n    a: [1]\n    new:\n        cmd: "x"\nz: 2'),
        ("servers:\n  new:\n    b: 1\n\n# z\nz: 2\n", 'servers:\n  new:\n    b: 1\n    cmd: "x"\n\n# z\nz: 2\n'),
        ("servers:\n  a: |\n    b\n\nz: 2\n", 'servers:\n  a: |\n    b\n  new:\n    cmd: "x"\n\nz: 2\n'),
        ("servers: {} # mine\nz: 2\n", 'servers:  # mine\n  new:\n    cmd: "x"\nz: 2\n'),
        ("a: 1", 'a: 1\nservers:\n  new:\n    cmd: "x"\n'),
    ],
)
def test_yaml_keeps_all_else_to_the_letter(text: str, put: str) -> None:
    assert FORMATS[".yaml"].edit(text, "servers", "new", {"cmd": "x"}) == put


def test_the_package_that_edits_toml_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomlkit", None)

    with pytest.raises(MissingExtraError, match="tomlkit is not installed"):
        edit_toml("[servers.new]\n", "servers", "new", ENTRY)


@pytest.mark.parametrize("text", ["[servers]\nnew = 3\n", '[servers]\nnew = "x"\n', '[[servers.new]]\ncommand = "x"\n'])
def test_an_entry_of_toml_that_is_no_table_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be replaced"):
        edit_toml(text, "servers", "new", ENTRY)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('a = 1\n\n[servers.new]\ncommand = "x"\n\n# mine\n', "a = 1\n\n\n# mine\n"),
        ('# a\n[servers.new]\ncommand = "x"\n# mine', "# a\n# mine"),
        ('[servers.new]\nx = 1\n[b]\n[servers.new.env]\nA = "1"\n# c\n[c]\n', "[b]\n# c\n[c]\n"),
    ],
)
def test_comments_behind_an_entry_of_toml_stay_without_it(text: str, left: str) -> None:
    assert edit_toml(text, "servers", "new", None) == left


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_new_keys_of_an_entry_of_toml_stand_above_the_comment_on_the_next_table(line_end: str) -> None:
    text = '[servers.new]\nurl = "x"\n\n# c\n[c]\n'.replace("\n", line_end)
    put = '[servers.new]\ncommand = "/bin/openbook"\nargs = ["mcp", "/shop"]\n\n# c\n[c]\n'.replace("\n", line_end)

    assert edit_toml(text, "servers", "new", ENTRY) == put


@pytest.mark.parametrize("entry", [ENTRY, None])
def test_tables_of_toml_that_stand_apart_are_never_put_into_another_order(entry: dict[str, Any] | None) -> None:
    text = '[[a]]\nx = 1\n\n[servers.new]\ncommand = "x"\n\n[[a]]\nx = 2\n'

    with pytest.raises(ValueError, match="order"):
        edit_toml(text, "servers", "new", entry)


def test_an_entry_of_toml_whose_last_line_has_no_end_gets_new_keys() -> None:
    assert tomllib.loads(edit_toml("[servers.new]\nx.y = 1", "servers", "new", ENTRY)) == {
        "servers": {"new": {"x": {"y": 1}, **ENTRY}}
    }


def test_an_entry_of_toml_that_tomlkit_cannot_remove_is_an_error() -> None:
    text = '[servers]\n[z]\n[servers.new]\n[b]\nx = 1\n[servers.new.env]\nA = "1"\n'

    with pytest.raises(ValueError, match="cannot be replaced"):
        edit_toml(text, "servers", "new", None)


def test_an_alias_at_the_end_of_a_block_of_yaml_is_no_place_of_its_anchor() -> None:
    text = "base: &b\n  x: 1\nservers:\n  a:\n    env: *b\n# z\nz: 2\n"
    edit = FORMATS[".yaml"].edit
    put = edit(text, "servers", "new", {"cmd": "x"})

    assert put == text.replace("# z", '  new:\n    cmd: "x"\n# z')
    assert edit(put, "servers", "a", None) == 'base: &b\n  x: 1\nservers:\n  new:\n    cmd: "x"\n# z\nz: 2\n'


@pytest.mark.parametrize(
    ("text", "entry"),
    [("base: &b\n  servers:\n    new: {x: 1}\n<<: *b\n", None), ("a: &a [*a]\n", ENTRY)],
)
def test_yaml_that_refers_to_itself_or_elsewhere_is_an_error(text: str, entry: dict[str, Any] | None) -> None:
    with pytest.raises(ValueError, match="cannot be replaced"):
        FORMATS[".yaml"].edit(text, "servers", "new", entry)


@pytest.mark.parametrize(("suffix", "text"), [(".json", '{"servers": {"new": null}}'), (".yaml", "servers:\n  new:\n")])
def test_an_entry_that_is_null_is_removed_too(suffix: str, text: str) -> None:
    assert not FORMATS[suffix].read(FORMATS[suffix].edit(text, "servers", "new", None)).get("servers")
