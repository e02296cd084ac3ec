"""The code on the plugin page is that of the example package, and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.plugins import PLUGIN_KINDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "plugin"
MODULES = sorted(path for path in EXAMPLE.rglob("*.py") if path.name != "__init__.py" and "build" not in path.parts)


@pytest.mark.parametrize("path", [EXAMPLE / "pyproject.toml", *MODULES], ids=lambda path: path.name)
def test_files_of_the_example_are_shown_as_they_are(path: Path) -> None:
    assert f"\n{path.read_text(encoding='utf-8')}```\n" in PAGE


@pytest.mark.parametrize("kind", PLUGIN_KINDS)
def test_every_kind_is_in_the_table_and_in_the_example(kind: str) -> None:
    assert f"| `openbook.{kind}` |" in PAGE
    assert f'[project.entry-points."openbook.{kind}"]' in PAGE
