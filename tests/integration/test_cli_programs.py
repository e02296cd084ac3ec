"""Programs as models, each as it is installed from npm or PyPI, with a stand-in for the model behind it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.agent_clients import AGENTS, StandIn, install
from openbook import AnswerOptions, GenerationResult, Library, Settings
from openbook.llm.cli_model import CliModel, open_cli_model
from openbook.llm.cli_programs import CODEX
from tests.support import write_tree

ROOT = Path(__file__).parents[2]
LLM = ROOT / ".venv-programs" / "bin" / "llm"
SAYS = "Sessions end after one hour [1]."
SECRET = "Answer in rhymes."

PAGES = {"docs/sessions.md": "# Sessions\n\nSessions end after one hour.\n"}
# What programs read of a folder that they are started in, and of a home.
# Not in the folders of codex and gemini in the home: what is there they always send, as docs/models.md tells.
OWN_FILES = dict.fromkeys(("CLAUDE.md", "AGENTS.md", "GEMINI.md", "docs/AGENTS.md", "home/.claude/CLAUDE.md"), SECRET)
# Beside those of `src/openbook/llm/cli_programs.py`: codex reads no settings, and cannot be led to another server by
# the environment.
CODEX_ADDRESS = ("-c", 'model_providers.fake={{name="Fake",base_url="{url}/v1",wire_api="responses"}}')
CODEX_NAME = ("-c", 'model_provider="fake"', "-m", "fake")

pytestmark = [pytest.mark.npm, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture(scope="module")
def programs(request: pytest.FixtureRequest) -> Path:
    """Install the programs into pytest's cache. Without npm the tests are skipped; never so in CI."""
    npm = shutil.which("npm")
    if npm is None:
        assert not os.environ.get("CI"), "CI needs npm"
        pytest.skip("the programs come from npm, which is not installed; on Debian: apt-get install npm")
    folder = Path(request.config.cache.mkdir("agents"))
    install(npm, folder, [agent.package for agent in AGENTS])
    return folder / "node_modules" / ".bin"


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn(SAYS)
    yield server
    server.close()


@pytest.fixture
def project(tmp_path: Path, stand_in: StandIn, programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with pages, and with files of its own for each program; all of them ask the stand-in."""
    write_tree(tmp_path, PAGES | OWN_FILES)
    known = {"model_name": "fake", "model_id": "fake", "api_base": f"{stand_in.url}/v1", "api_key_name": "openai"}
    signed_in = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    write_tree(tmp_path / "home", {".gemini/settings.json": json.dumps(signed_in)})
    write_tree(tmp_path / "llm", {"extra-openai-models.yaml": f"- {json.dumps(known)}\n"})
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "HOME": str(tmp_path / "home"),
        "PATH": os.pathsep.join((str(programs), str(LLM.parent), os.environ["PATH"])),
        "ANTHROPIC_BASE_URL": stand_in.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "GOOGLE_GEMINI_BASE_URL": stand_in.url,
        "GEMINI_API_KEY": "none",
        "OPENAI_API_KEY": "none",
        "LLM_USER_PATH": str(tmp_path / "llm"),
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def opened(name: str, url: str) -> CliModel:
    """Open a program as `--model` does, with the two options more that lead codex to the stand-in."""
    if name != "codex":
        return open_cli_model(name)
    found = shutil.which("codex")
    assert found is not None
    address = tuple(word.format(url=url) for word in CODEX_ADDRESS)
    return CliModel(replace(CODEX, command=(found, *CODEX.command[1:], *address, *CODEX_NAME)))


def tools_of(body: dict[str, Any]) -> list[str]:
    """Return the names of the tools that a request offers."""
    tools = [inner for tool in body.get("tools") or () for inner in tool.get("functionDeclarations", [tool])]
    return [str(tool.get("name", tool.get("type"))) for tool in tools]


def ask(name: str, project: Path, stand_in: StandIn) -> GenerationResult:
    if name.startswith("llm") and not LLM.exists():
        pytest.skip("`make test-programs` installs llm")
    options = AnswerOptions(model=opened(name, stand_in.url), verifier="off", expands_query=False)
    settings = Settings(home=project / "openbook", workers=1)
    with Library.of(project / "docs" / "sessions.md", settings=settings) as library:
        return library.query("When do sessions end?", options=options)


NAMES = ["claude", "codex", "gemini:gemini-2.5-pro", "llm:fake"]


@pytest.mark.parametrize("name", NAMES)
def test_a_program_answers_from_the_sources_and_its_tokens_are_counted(
    name: str, project: Path, stand_in: StandIn
) -> None:
    answer = ask(name, project, stand_in)

    assert answer.answer == SAYS
    assert [citation.verdict for citation in answer.citations] == ["exact"]
    assert (answer.usage.known, answer.usage.output_tokens) == (True, 1)
    (body,) = stand_in.bodies
    assert "Sessions end after one hour." in json.dumps(body)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_offers_its_model_no_tools_and_reads_no_files_of_its_own(
    name: str, project: Path, stand_in: StandIn
) -> None:
    ask(name, project, stand_in)

    (body,) = stand_in.bodies
    assert SECRET not in json.dumps(body)
    # What codex offers on every account; without anybody to ask, it answers itself.
    assert tools_of(body) == (["request_user_input"] if name == "codex" else [])
