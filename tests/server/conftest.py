"""The server in this process: a small library, a model that says what a test wants, and a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from openbook.library import Library
from openbook.server.app import create_app
from openbook.server.models import ModelRegistry
from openbook.settings import Settings
from openbook.testing import ScriptedModel
from tests.support import write_tree

FILES = {
    "guide.md": "# Sessions\n\nSessions end after one hour.\n\n# Retries\n\nThe retry policy waits 30 seconds.\n",
    "ferry.py": (
        'class Ferry:\n    """Carries parcels over the strait."""\n\n'
        '    def depart(self) -> str:\n        return "at six"\n'
    ),
    "quay.txt": (
        "Course Title: Working at the Quay\nCourse Link: https://harbour.example/quay\nCourse Instructor: Runa Holm\n\n"
        "Lesson 0: Welcome\nThe quay opens when the bell rings.\n\n"
        "Lesson 1: Lifting\nThe crane lifts barrels with a leather strap.\n"
    ),
}

Serve = Callable[..., TestClient]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "harbour", FILES)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def serve(folder: Path, home: Path) -> Iterator[Serve]:
    """Start servers of the library; `model` is the one that is called `scripted:model`, other options are settings."""
    with ExitStack() as stack:

        def start(model: ScriptedModel | None = None, *, needs_key: bool = False, **settings: Any) -> TestClient:
            given = Settings(home=home, workers=1, **settings)
            assistant = Library.open("team", settings=given) if given.storage else Library.of(folder, settings=given)
            if not assistant.sources():  # of several machines, the first adds the folder
                assistant.register(folder)
                assistant.sync()
            models = ModelRegistry(
                [model.name] if model else [],
                "extractive",
                open_one=lambda name: model if model and name == model.name else None,
            )
            app = create_app(assistant, models=models, needs_key=needs_key, roots=[folder])
            client = TestClient(app, base_url="http://localhost", headers={"X-Openbook": "1"})
            return stack.enter_context(client)

        yield start


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve()
