"""Files shipped for agents name existing tools and the right version."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from openbook.library import Library
from openbook.mcp.tools import McpTools
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "claude-code"
SKILL = PLUGIN / "skills" / "openbook" / "SKILL.md"

# Values of arguments, which are spelled as tools are.
_ARGUMENTS = {"path", "use", "regex", "full"}


def test_the_plugin_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))

    assert plugin["version"] == project["version"]
    assert plugin["license"] == project["license"].partition(" AND ")[0]  # without that of the fonts of the page


def test_the_skill_and_the_snippet_name_tools_that_there_are() -> None:
    with Library.open("plugin", settings=Settings.from_env()) as assistant:
        tools = {tool.__name__ for tool in McpTools(WatchedLibrary(assistant, [], watch=False)).functions}
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    snippet = page[page.index("## Tell an agent when to use it") : page.index("## Tools")]

    for text in (SKILL.read_text(encoding="utf-8"), snippet):
        named = set(re.findall(r"`([a-z]+_[a-z]+)`", text))
        assert named
        assert named <= tools | _ARGUMENTS
