"""What the page says when something behind it breaks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from openbook.llm.choose import connect
from openbook.llm.protocol import Model
from openbook.llm.providers import OPENAI
from openbook.settings import Secret
from openbook.testing import FakeServer, Fault, Reply
from tests.web.serving import Served, course_in, serving

pytestmark = pytest.mark.browser

WORDS = Reply("The sea rises twice a day because of two bulges. " * 5)
WHY = "Why are there two high tides in a day?"


def model_behind(server: FakeServer) -> Model:
    return connect(replace(OPENAI, url=server.openai_url), "tutor", key=Secret(server.key))


def ask(page: Page) -> None:
    page.get_by_label("Your question").fill(WHY)
    page.keyboard.press("Enter")


def test_a_model_that_dies_while_it_writes_is_told_and_what_it_wrote_is_not_taken_for_an_answer(
    fake_server: Callable[..., FakeServer],
    serve: Callable[..., Served],
    browse: Callable[..., Page],
    tmp_path: Path,
) -> None:
    page = browse(serve(course_in(tmp_path), model=model_behind(fake_server(Fault("cut", WORDS, after=20)))))

    ask(page)

    expect(page.locator(".failure-what")).to_contain_text("broke off")
    expect(page.locator(".answer a.cite")).to_have_count(0)
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()


def test_a_server_that_stops_while_it_answers_is_told_with_what_to_do(
    fake_server: Callable[..., FakeServer], browse: Callable[..., Page], tmp_path: Path, troubles: list[str]
) -> None:
    model = model_behind(fake_server(Fault("hold", WORDS, after=20)))
    with ExitStack() as running:
        served = running.enter_context(serving(course_in(tmp_path), home=tmp_path / "home", model=model))
        page = browse(served)
        ask(page)
        expect(page.locator(".unfinished")).to_contain_text("The sea rises twice")

        running.close()

    expect(page.locator(".failure")).to_contain_text("Ask again when it runs")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".failure").last).to_contain_text("The server cannot be reached")
    troubles.clear()  # the browser says so too
