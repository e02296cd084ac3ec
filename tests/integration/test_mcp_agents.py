"""The MCP server, used by real coding agents with a stand-in for their models."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from benchmarks.agent_clients import AGENTS, Agent, expected, install, run_agent

pytestmark = pytest.mark.npm


@pytest.fixture(scope="module")
def programs(request: pytest.FixtureRequest) -> Path:
    """Install the agents into pytest's cache. Without npm the tests are skipped; never so in CI."""
    npm = shutil.which("npm")
    if npm is None:
        assert not os.environ.get("CI"), "CI needs npm"
        pytest.skip("the agents come from npm, which is not installed; on Debian: apt-get install npm")
    folder = Path(request.config.cache.mkdir("agents"))
    install(npm, folder, [agent.package for agent in AGENTS])
    return folder


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent.waits], ids=lambda agent: agent.program)
def test_an_agent_offers_the_tools_and_its_model_sees_the_text_of_a_result(
    agent: Agent, programs: Path, tmp_path: Path
) -> None:
    seen = run_agent(agent, programs, tmp_path)

    assert seen.first_with_tools, seen.said
    assert seen.shows(expected(tmp_path / "shop", tmp_path / "other")), seen.result or seen.said
