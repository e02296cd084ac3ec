"""The wheel, as people get it: no dev dependencies, no checkout, no network, an empty home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# 8 MB of it are the embedding model. What makes a wheel grow past this is a mistake in packing.
MAX_WHEEL_BYTES = 15_000_000

# Runs at the start of every Python of the environment. A refused connection could be caught and
# hidden by whoever tried, so the process ends at once, with a code that nothing else uses.
NO_NETWORK = """
import os, sys

def refuse(event, arguments):
    if event == "socket.getaddrinfo" or (event == "socket.connect" and isinstance(arguments[1], tuple)):
        os.write(2, f"network used: {event} {arguments[:2]}\\n".encode())
        os._exit(97)

sys.addaudithook(refuse)
"""

SAMPLE = {
    "bakery.py": (
        "def knead(dough, minutes):\n"
        '    """Knead the dough until it is smooth and elastic."""\n'
        "    return dough.rest(minutes)\n"
    ),
    "README.md": "# Bakery\n\nThe oven is preheated to 230 degrees before the bread goes in.\n",
}

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a virtual environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "-qq", "--no-input"]
    pinned = ["--require-hashes", "--requirement", str(ROOT / "requirements" / "runtime.txt")]
    subprocess.run([*pip, "install", *pinned], check=True)
    subprocess.run([*pip, "install", "--no-deps", str(wheel)], check=True)
    subprocess.run([*pip, "check"], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "no_network.py").write_text(NO_NETWORK, encoding="utf-8")
    (packages / "no_network.pth").write_text("import no_network\n", encoding="utf-8")
    return folder


@pytest.fixture
def openbook(environment: Path, tmp_path: Path) -> Run:
    """Return a function that runs the installed command in a small folder, with an empty home."""
    home, folder = tmp_path / "home", tmp_path / "bakery"
    home.mkdir()
    folder.mkdir()
    for name, text in SAMPLE.items():
        (folder / name).write_text(text, encoding="utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(environment / "bin" / "openbook"), *arguments],
            cwd=folder,
            env={"HOME": str(home), "PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
        )

    return run


def test_the_wheel_is_small_and_holds_the_package_and_its_model(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert wheel.stat().st_size < MAX_WHEEL_BYTES
    fonts = {f"openbook/server/web/fonts/{name}" for name in ("literata-ascii.woff2", "LICENSE-literata.txt")}
    assert {"openbook/py.typed", "openbook/embedding/model/tokenizer.json", *fonts} <= set(names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"openbook"}


def test_the_guard_of_this_file_ends_a_process_that_uses_the_network(environment: Path) -> None:
    script = "import socket; socket.create_connection(('localhost', 9))"

    tried = subprocess.run([environment / "bin" / "python", "-c", script], capture_output=True, check=False)

    assert tried.returncode == 97


def test_help_is_printed(openbook: Run) -> None:
    shown = openbook("--help")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "ask" in shown.stdout


def test_a_question_is_answered_offline_with_a_citation(openbook: Run) -> None:
    answered = openbook("ask", "How hot is the oven?")

    assert answered.returncode == 0, answered.stderr
    assert "230 degrees" in answered.stdout
    assert "README.md:3" in answered.stdout


def test_an_answer_in_json_cites_the_exact_characters(openbook: Run) -> None:
    answered = openbook("ask", "How is dough kneaded?", "--json")

    assert answered.returncode == 0, answered.stderr
    citations = json.loads(answered.stdout)["citations"]
    assert citations
    for citation in citations:
        cited = SAMPLE[citation["path"]][citation["start_char"] : citation["end_char"]]
        assert cited == citation["quote"]


def test_a_question_about_something_else_is_refused_with_exit_code_1(openbook: Run) -> None:
    refused = openbook("ask", "Which planets have rings?")

    assert refused.returncode == 1
