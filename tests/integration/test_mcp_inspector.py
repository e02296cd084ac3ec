"""The MCP server, asked by the Inspector: a client that others wrote, in another language."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"

pytestmark = pytest.mark.npm


@pytest.fixture(scope="module")
def inspector(request: pytest.FixtureRequest) -> Path:
    """Install the Inspector into pytest's cache. Without npm the tests are skipped; never so in CI."""
    npm = shutil.which("npm")
    if npm is None:
        assert not os.environ.get("CI"), "CI needs npm"
        pytest.skip("the Inspector comes from npm, which is not installed; on Debian: apt-get install npm")
    folder = Path(request.config.cache.mkdir("inspector"))
    program = folder / "node_modules" / ".bin" / "mcp-inspector"
    if not program.exists():
        (folder / "package.json").write_text("{}", encoding="utf-8")  # else npm looks for one above
        # Not with --prefix, which also moves the configuration of the machine that npm reads.
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", INSPECTOR]
        subprocess.run(command, cwd=folder, check=True, timeout=300)
    return program


def inspected(inspector: Path, folder: Path, *arguments: str) -> Any:
    command = [str(inspector), "--cli", sys.executable, "-m", "openbook", "mcp", str(folder), *arguments]
    return json.loads(subprocess.run(command, check=True, timeout=120, capture_output=True, encoding="utf-8").stdout)


def test_the_inspector_lists_the_tools_and_uses_one(inspector: Path, tmp_path: Path) -> None:
    (tmp_path / "waiting.md").write_text("# Waiting\n\nA retry waits 5 seconds.\n", encoding="utf-8")

    listed = inspected(inspector, tmp_path, "--method", "tools/list")
    called = ["--method", "tools/call", "--tool-name", "ask", "--tool-arg", "question=How long does a retry wait?"]
    answer = inspected(inspector, tmp_path, *called)

    assert {"search", "ask", "verify_citations"} <= {tool["name"] for tool in listed["tools"]}
    text = answer["content"][0]["text"]
    assert "A retry waits 5 seconds." in text
    assert text.endswith("waiting.md:3-3: exact")
