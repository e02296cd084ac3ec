"""Commands, settings and the library are documented completely and correctly."""

from __future__ import annotations

import contextlib
import re
import shlex
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest
from typer import Exit
from typer.main import get_command

from openbook.cli.app import app
from openbook.settings import STRATEGIES, Settings
from tests.docs.snippets import PAGES, command_lines
from tools import write_http_reference
from tools.write_cli_reference import REFERENCE, reference

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, Any] = getattr(get_command(app), "commands", {})

_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)\s]*)?\)")
_MAKE = re.compile(r"\bmake ([a-z]+)\b(?=[^`\n]*`|$)|^    make ([a-z]+)", re.MULTILINE)


WITH_DEFAULT = [each for each in fields(Settings) if each.default and each.default is not MISSING]


EXAMPLES = [
    pytest.param(line, id=f"{page.name}-{line}")
    for page in PAGES.values()
    if page != REFERENCE
    for line in command_lines(page.read_text(encoding="utf-8"))
]


@pytest.fixture(scope="module")
def everything() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES.values())


def test_the_reference_of_commands_is_what_the_commands_say() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == reference(), "run: python tools/write_cli_reference.py"


def test_the_reference_says_once_whether_an_option_can_be_repeated_and_what_its_default_is() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `-")]

    assert [row for row in rows if row.count("repeated") > 1 or row.count("Default:") > 1 or ".. |" in row] == []


@pytest.mark.slow
def test_the_reference_of_routes_is_what_the_server_describes() -> None:
    page = write_http_reference.REFERENCE.read_text(encoding="utf-8")

    assert page == write_http_reference.reference(), "run: python tools/write_http_reference.py"


@pytest.mark.slow
def test_the_reference_is_the_same_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = reference()
    monkeypatch.setenv("COLUMNS", "40")

    assert reference() == wide


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_and_every_option_is_in_the_reference(name: str) -> None:
    section = REFERENCE.read_text(encoding="utf-8").partition(f"\n## openbook {name}\n")[2].partition("\n## ")[0]

    options = [option for parameter in COMMANDS[name].params for option in parameter.opts if option.startswith("--")]
    assert section
    assert [option for option in [*options, "--help"] if f"`{option}" not in section] == []


def test_the_readme_shows_how_to_ask_and_search() -> None:
    typed = [shlex.split(line)[0] for line in command_lines(PAGES["README.md"].read_text(encoding="utf-8"))]

    assert {"ask", "search", "add", "sources"} <= set(typed)


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_command_in_the_documentation_is_one(line: str) -> None:
    words = shlex.split(re.split(r" (?:\||>|2>|&&) ", line)[0], comments=True)

    assert words[0] in COMMANDS or words == ["--help"] or words == ["--version"]
    if len(words) > 1:  # a bare `openbook ask` speaks of the command and is no example
        with contextlib.suppress(Exit):
            COMMANDS[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("name", [setting.name for setting in fields(Settings)])
def test_every_setting_is_documented(everything: str, name: str) -> None:
    assert f"OPENBOOK_{name.upper()}" in everything


def test_every_setting_in_the_documentation_is_one(everything: str) -> None:
    known = {f"OPENBOOK_{setting.name.upper()}" for setting in fields(Settings)}

    assert set(re.findall(r"\bOPENBOOK_[A-Z_]+[A-Z]\b", everything)) <= known


@pytest.mark.parametrize("setting", WITH_DEFAULT, ids=lambda setting: setting.name)
def test_the_default_of_a_setting_is_the_documented_one(setting: Field[object]) -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `OPENBOOK_{setting.name.upper()}` \| ([^|]+) \|", page, re.MULTILINE)

    assert row is not None
    assert row[1].strip("`") == shown(setting.default)


def shown(default: object) -> str:
    """Return a default as the page writes it."""
    match default:
        case True:
            return "on"
        case tuple():
            return ",".join(default)
        case float():
            return f"{default:g}"
    return str(default)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_way_to_cut_is_documented(everything: str, strategy: str) -> None:
    assert f"`{strategy}`" in everything


@pytest.mark.parametrize("page", [*PAGES.values(), ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_target_of_make_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {first or second for first, second in _MAKE.findall(PAGES["README.md"].read_text(encoding="utf-8"))}

    assert {"ask", "test"} <= named
    assert [name for name in sorted(named) if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_the_readme_stays_short() -> None:
    assert len(PAGES["README.md"].read_text(encoding="utf-8").splitlines()) <= 130


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_every_page_is_in_the_navigation_of_the_site(page: Path) -> None:
    assert f": {page.relative_to(ROOT / 'docs').as_posix()}\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
