"""Programs that use the package pass the type checkers: those in `examples/programs`, and the Python of each page."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.snippets import PAGES, ROOT, snippets
from tests.web.npm import Tool, unpacked

PYRIGHT = Tool("pyright", "1.1.414", "bf5f473f6167c0d14175492c3263d783b4489a6956e1c06c18e15228e3a3fa42")


@pytest.fixture
def programs(tmp_path: Path) -> list[Path]:
    """Write each page as one program, with the line numbers of the page."""
    return [*sorted((ROOT / "examples" / "programs").glob("*.py")), *_written(tmp_path / "pages")]


def _written(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    for page in PAGES:
        lines: list[str] = []
        for snippet in snippets(page):
            lines += [""] * (snippet.line - len(lines)) + snippet.code.splitlines()
        if lines:
            program = folder / f"{page.removesuffix('.md').replace('/', '_').replace('-', '_')}.py"
            program.write_text("\n".join(lines), encoding="utf-8")
            yield program


@pytest.mark.slow
def test_mypy_finds_nothing_in_strict_mode(programs: list[Path]) -> None:
    # With the settings and the cache of the project, which `make check` has filled: half a second.
    checked = subprocess.run([sys.executable, "-m", "mypy", *programs], cwd=ROOT, capture_output=True, encoding="utf-8")

    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.npm
def test_pyright_finds_nothing_in_strict_mode(
    programs: list[Path], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    settings = {
        "include": [str(program) for program in programs],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    pyright = unpacked(PYRIGHT, pytestconfig) / "index.js"

    command = ["node", str(pyright), "--project", str(tmp_path), "--pythonpath", sys.executable]
    checked = subprocess.run(command, capture_output=True, encoding="utf-8")

    assert checked.returncode == 0, checked.stdout + checked.stderr
