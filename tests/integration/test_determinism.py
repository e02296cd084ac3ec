"""The same library gives the same results, whatever the hash seed, the process and the order of work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from openbook.library import Library
from openbook.settings import Settings

QUESTIONS = [
    "retry",
    "where is retry_3 defined",
    "How does the retry policy wait?",
    "which files mention the retry policy",
    "the same words",
    "Who painted the Mona Lisa?",
    "向量索引",
]

# Ties on purpose: the same words in many places, in other spellings, so that no text comes twice.
FILES = {
    **{f"one/same_{n}.md": f"{'the same words'.title() if n % 2 else 'the same words'}{'!' * n}\n" for n in range(6)},
    **{f"two/retry_{n}.py": f'def retry_{n}():\n    """The retry policy."""\n    return {n}\n' for n in range(6)},
    "one/policy.md": "# Policy\n\nThe retry policy waits.\n\n# 索引\n\n我们把向量索引存在文件里。\n",
    "two/policy.md": "# Policy\n\nThe retry policy waits.\n\nAnd then it ends.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        file = tmp_path / "sources" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def open_library(folder: Path, name: str) -> Library:
    return Library(folder / f"{name}.db", Settings(home=folder, workers=1))


def everything(assistant: Library) -> list[Any]:
    """Return all results and answers as JSON values, without the time that they took."""
    found: list[Any] = []
    for question in QUESTIONS:
        results = assistant.search(question, limit=50)
        found.append([result.to_dict(explain=True) for result in results])
        found.append(assistant.query(question).to_dict() | {"took_ms": 0})
    return found


def built(folder: Path, name: str, sources: Sequence[str] = ("one", "two")) -> list[Any]:
    with open_library(folder, name) as assistant:
        for source in sources:
            assistant.add(folder / "sources" / source)
        return everything(assistant)


@pytest.mark.slow
def test_another_process_with_another_hash_seed_gives_the_same_results_and_answers(folder: Path) -> None:
    code = (
        "import json, pathlib, sys; from tests.integration.test_determinism import built; "
        "print(json.dumps(built(pathlib.Path(sys.argv[1]), sys.argv[2])))"
    )

    there = subprocess.run(
        [sys.executable, "-c", code, str(folder), "there"],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONHASHSEED": "2", "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert json.loads(there.stdout) == built(folder, "here")


@pytest.mark.slow
def test_the_order_in_which_sources_are_added_changes_nothing(folder: Path) -> None:
    assert built(folder, "forward") == built(folder, "backward", ("two", "one"))


def reopened(folder: Path, assistant: Library) -> list[Any]:
    assistant.close()
    with open_library(folder, "same") as again:
        return everything(again)


def synced(folder: Path, assistant: Library) -> list[Any]:
    assistant.sync()
    return everything(assistant)


def changed_and_changed_back(folder: Path, assistant: Library) -> list[Any]:
    for path, text in FILES.items():
        (folder / "sources" / path).write_text("Something else about the retry policy.", encoding="utf-8")
        assistant.sync()
        (folder / "sources" / path).write_text(text, encoding="utf-8")
        assistant.sync()
    return everything(assistant)


def removed_and_added(folder: Path, assistant: Library) -> list[Any]:
    assistant.remove("one")
    assistant.add(folder / "sources" / "one")
    return everything(assistant)


@pytest.mark.slow
@pytest.mark.parametrize("step", [reopened, synced, changed_and_changed_back, removed_and_added])
def test_a_library_that_holds_the_same_again_gives_the_same(
    folder: Path, step: Callable[[Path, Library], list[Any]]
) -> None:
    fresh = built(folder, "fresh")

    with open_library(folder, "same") as assistant:
        assistant.add(folder / "sources" / "one")
        assistant.add(folder / "sources" / "two")
        again = step(folder, assistant)

    assert again == fresh


@pytest.mark.slow
def test_asking_again_gives_the_same(folder: Path) -> None:
    with open_library(folder, "same") as assistant:
        assistant.add(folder / "sources" / "one")

        assert everything(assistant) == everything(assistant)
