"""No command opens a connection, looks up a name or loads what could: not on an empty home either."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.support_cli import copy_sample, environment

# A refused connection could be caught and hidden by whoever tried, so the process ends at once,
# with a code that nothing else uses. Every socket is refused, whatever it is for.
GUARDED = """
import os, sys

def refuse(event, arguments):
    if event.startswith("socket."):
        os.write(2, f"network used: {event}\\n".encode())
        os._exit(99)

sys.addaudithook(refuse)
from openbook.cli import main
code = main(sys.argv[1:])
sys.stderr.write("\\nloaded: " + " ".join(sorted(sys.modules)) + "\\n")
sys.exit(code)
"""

NETWORK_USED = 99

# What fetches models and pages, and what these load.
CLIENTS = {"aiohttp", "hf_xet", "http.client", "httpx", "httpx2", "huggingface_hub", "requests", "ssl", "urllib3"}
CLIENTS |= {"fsspec", "torch", "transformers", "urllib.request"}


def run_guarded(root: Path, home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command that ends at the first socket, for a user whose home is empty."""
    ours = ("OPENBOOK_", "XDG_", "HF_", "TRANSFORMERS_")
    variables = {name: value for name, value in environment(HOME=str(home), **env).items() if not name.startswith(ours)}
    return subprocess.run(
        [sys.executable, "-c", GUARDED, *arguments],
        cwd=root,
        env=variables | env,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home that is empty for the first test, and holds unpacked grammars for the next."""
    return tmp_path_factory.mktemp("home")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ask", "When does a parcel count as lost?", "--json"], 0),
        (["ask", "What is the recipe for sourdough bread?"], 1),
        (["add", "docs", "--library", "island"], 0),
        (["doctor"], 0),
    ],
    ids=["ask", "refuse", "add", "doctor"],
)
def test_no_socket_is_opened_and_no_client_is_loaded(
    tmp_path: Path, home: Path, arguments: list[str], code: int
) -> None:
    root = copy_sample(tmp_path)

    done = run_guarded(root, home, *arguments)

    assert done.returncode == code, done.stderr
    assert CLIENTS.isdisjoint(loaded_by(done))


def loaded_by(done: subprocess.CompletedProcess[str]) -> list[str]:
    return done.stderr.rpartition("loaded: ")[2].split()


def test_the_guard_ends_a_process_that_opens_a_socket(tmp_path: Path, home: Path) -> None:
    script = GUARDED.replace("from openbook.cli import main", "import socket; socket.socket(); main = len")

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(HOME=str(home)), capture_output=True, check=False
    )

    assert done.returncode == NETWORK_USED


@pytest.mark.slow
def test_a_large_folder_is_indexed_without_a_socket(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "large"
    root.mkdir()
    for number in range(30):
        # Blank lines make a folder large enough for child processes, and cost no time.
        text = f"def gull_{number}() -> int:\n    return {number}\n" + "\n" * 100_000
        (root / f"gull{number}.py").write_text(text, encoding="utf-8")

    done = run_guarded(root, home, "search", "gull_7", "--json", "--limit", "1", OPENBOOK_WORKERS="2")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["path"] == "gull7.py"


@pytest.mark.slow
def test_a_search_loads_no_client_and_writes_only_its_library_and_grammars(tmp_path: Path, home: Path) -> None:
    root = copy_sample(tmp_path)
    before = sorted(root.rglob("*"))

    done = run_guarded(root, home, "search", "ParseLabel", "--show")

    # The package that carries the grammars unpacks them before it can load them.
    written = [file for file in home.rglob("*") if file.is_file() and home / ".cache" / "semble" not in file.parents]
    assert done.returncode == 0, done.stderr
    assert CLIENTS.isdisjoint(loaded_by(done))
    assert {file.parent.name for file in written} == {"libraries"}
    assert sorted(root.rglob("*")) == before
