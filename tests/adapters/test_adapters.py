"""Runs each example for another framework unchanged, with the real framework in its own environment."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support import child_environment, write_tree

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-adapters" / "bin" / "python"

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.skipif(not PYTHON.exists(), reason="`make test-adapters` installs the frameworks"),
]

PAGE = "# Sessions\n\nSessions are renewed every hour.\n\n# Parcels\n\nParcels are lost after fourteen days.\n"


def run(example: str, folder: Path) -> str:
    """Ask an example a question about a page, and return its output."""
    pages = write_tree(folder / "pages", {"harbour.md": PAGE})
    environment = child_environment() | {"OPENBOOK_HOME": str(folder / "home")}
    script = ROOT / "examples" / "adapters" / f"{example}.py"
    words = [str(PYTHON), str(script), "How often are sessions renewed?", str(pages)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", ["langchain_retriever", "llamaindex_retriever"])
def test_a_retriever_gives_passages_with_their_places(example: str, tmp_path: Path) -> None:
    first, *_ = run(example, tmp_path).splitlines()

    assert first == "harbour.md:1 # Sessions"


def test_an_agent_of_pydantic_ai_calls_the_tools(tmp_path: Path) -> None:
    printed = run("pydantic_ai_toolset", tmp_path)

    assert re.match(r'\{"search":"harbour\.md:(1-3\\n# Sessions|5-7\\n# Parcels)', printed)
    assert '"answer":' in printed
