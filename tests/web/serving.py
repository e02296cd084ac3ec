"""A real server on this machine for browser tests, with a model that says what a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openbook.library import Library
from openbook.llm.choose import EXTRACTIVE
from openbook.llm.messages import Request, ShownSource
from openbook.llm.protocol import Model
from openbook.server.app import create_app
from openbook.server.keys import Grant, Role
from openbook.server.models import ModelRegistry
from openbook.server.running import Server, browser_url, listen
from openbook.settings import Settings
from openbook.testing import ScriptedModel
from openbook.testing.script import ModelStep

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
Step = ModelStep | Callable[[Request], ModelStep]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs."""

    url: str
    key: str
    """Lets in who needs one; empty if nobody does."""


def mark_of(request: Request, words: str) -> str:
    """Write the mark of the unit that holds some words, as a model that was shown it would."""
    for message in request.messages:
        for source in (part for part in message.parts if isinstance(part, ShownSource)):
            for number, unit in enumerate(source.units, start=1):
                if words in unit:
                    return f"[{source.number}:{number}]"
    raise AssertionError(f"no source says {words!r}")


def next_frame(page: Page) -> None:
    """Wait until the page has been painted as it is now: what is placed, and told of scrolling, comes with a frame."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def course_in(folder: Path) -> Path:
    """Copy the course of the examples, so that a test can change it."""
    target = folder / "tides"
    shutil.copytree(ROOT / "examples" / "course", target)
    return target


@contextlib.contextmanager
def serving(
    *paths: Path,
    home: Path,
    steps: tuple[Step, ...] = (),
    model: Model | None = None,
    needs_key: bool = False,
    role: Role = "reader",
    courses: bool = False,
    **settings: Any,
) -> Iterator[Served]:
    """Serve folders, or courses, until the block ends: by a model, or one that takes the steps, else by quotes."""
    model = model or (ScriptedModel(*steps, name="scripted:tutor") if steps else None)
    names = {EXTRACTIVE: None} | ({model.name: model} if model else {})
    chosen = Settings(home=home, **settings)
    assistant = Library.of(*paths, settings=chosen) if paths and not courses else Library.open("own", settings=chosen)
    for path in paths if courses else ():
        assistant.add(path, course=True)
    models = ModelRegistry(list(names), model.name if model else EXTRACTIVE, open_one=names.__getitem__)
    app = create_app(assistant, models=models, needs_key=needs_key)
    key = app.state.keys.add("class", Grant(role)) if needs_key else ""
    listener, started = listen("127.0.0.1", 0), threading.Event()
    server = Server(app, grace_s=0, started=started.set, stopping=app.stop)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    assert started.wait(30)  # until then it refuses connections
    try:
        yield Served(browser_url(listener), key)
    finally:
        server.should_exit = True
        thread.join()
