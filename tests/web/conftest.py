"""A real Chromium, with pages that report whatever goes wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.web.serving import Served, serving

_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage")

# What a page may wait for. On a machine under heavy load the first answer of a model took more than 15 s.
_WAIT_MS = 60_000

WIDE = {"width": 1440, "height": 900}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests in a browser reach this machine, and no other."""
    for item in items:
        if "browser" in item.keywords:
            item.add_marker(pytest.mark.allow_hosts(["127.0.0.1"]))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("there is no Chromium; on Debian: apt-get install chromium", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start servers. All are stopped when the test ends."""
    with ExitStack() as stack:
        yield lambda *paths, **options: stack.enter_context(serving(*paths, home=tmp_path / "home", **options))


@pytest.fixture
def troubles() -> Iterator[list[str]]:
    """List what went wrong in the pages of a test: there must be nothing, unless the test takes it out."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def browse(chromium: Browser, troubles: list[str]) -> Iterator[Callable[..., Page]]:
    """Open the page of a server in a browser of its own."""
    contexts: list[BrowserContext] = []

    def open_page(served: Served, **options: Any) -> Page:
        context = chromium.new_context(**{"viewport": WIDE, "locale": "en", **options})
        contexts.append(context)
        context.set_default_timeout(_WAIT_MS)
        page = context.new_page()
        expect.set_options(timeout=_WAIT_MS)
        page.on("console", lambda said: troubles.extend([said.text] if said.type in ("error", "warning") else []))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: troubles.extend(_foreign(request.url, served.url)))
        page.goto(served.url)
        page.wait_for_selector("#welcome h2, dialog[open]")
        return page

    yield open_page
    for context in contexts:
        context.close()


def _foreign(url: str, own: str) -> list[str]:
    return [] if url.startswith((own, "blob:")) else [f"asked {url}"]


@pytest.fixture
def shoot(tmp_path: Path) -> Callable[[Page, str], None]:
    """Keep a picture of a page, below the folder in SCREENSHOTS if it is set."""
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)

    def keep(page: Page, name: str) -> None:
        page.screenshot(path=folder / f"{name}.png", animations="disabled")

    return keep
