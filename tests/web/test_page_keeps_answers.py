"""Answers outlive their page: they are finished by the server, resumed by whoever comes back, ended by Stop alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from openbook.llm.protocol import Model
from openbook.testing import FakeServer, Fault, ScriptedReply
from tests.web.serving import Served, course_in
from tests.web.test_page_in_trouble import WHY, WORDS, model_behind

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]


@pytest.fixture
def held() -> Iterator[FakeServer]:
    """A model that stops in the middle of its answer, and waits."""
    with FakeServer(Fault("hold", WORDS, after=20)) as server:
        yield server


@dataclass(frozen=True)
class Waiting:
    """A model that answers when it is let."""

    model: Model
    gate: threading.Event


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    gate = threading.Event()

    def answer(_: object) -> ScriptedReply:
        assert gate.wait(60)
        return ScriptedReply("The sea rises twice a day because of two bulges [1:1].")

    with FakeServer(answer) as server:
        yield Waiting(model_behind(server), gate)
        gate.set()


def begin(page: Page, query: str = WHY) -> None:
    page.get_by_label("Your question").fill(query)
    page.keyboard.press("Enter")
    expect(page.locator(".stage").last).to_contain_text("Writing")


def test_a_page_that_is_loaded_again_goes_on_where_the_answer_is(
    serve: Serve, browse: Browse, tmp_path: Path, waiting: Waiting
) -> None:
    page = browse(serve(course_in(tmp_path), model=waiting.model, verifier="off"))
    begin(page)

    page.reload()

    expect(page.locator(".question")).to_have_text([WHY])
    expect(page.locator("[data-phase=asking] .stage")).to_contain_text("Writing")
    waiting.gate.set()
    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    expect(page.get_by_label("Your question")).to_have_value("")
    expect(page.locator(".exchange")).to_have_count(1)


def test_an_answer_is_finished_while_another_conversation_is_open(
    serve: Serve, browse: Browse, tmp_path: Path, waiting: Waiting
) -> None:
    page = browse(serve(course_in(tmp_path), model=waiting.model, verifier="off"))
    begin(page)

    page.get_by_role("button", name="New question").click()

    expect(page.locator(".session-when")).to_have_text(["answering …"])
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    waiting.gate.set()
    expect(page.locator(".session-when")).to_have_text(["just now"])
    page.locator(".session-open").click()
    expect(page.locator("[data-phase=answered] .question")).to_have_text([WHY])


def test_a_conversation_stays_in_the_list_while_the_end_of_its_first_answer_is_read(
    serve: Serve, browse: Browse, tmp_path: Path, waiting: Waiting
) -> None:
    page = browse(serve(course_in(tmp_path), model=waiting.model, verifier="off"))
    begin(page)
    expect(page.locator(".session-when")).to_have_text(["answering …"])
    late: list[Route] = []
    page.route("**/api/sessions", lambda route: late.append(route))

    with page.expect_request("**/api/sessions"):
        waiting.gate.set()

    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    expect(page.locator(".session-when")).to_have_text(["answering …"])
    while late:
        late.pop().continue_()
    page.unroute("**/api/sessions")
    expect(page.locator(".session-when")).to_have_text(["just now"])


def test_two_tabs_show_the_same_answer_and_either_stops_it(
    serve: Serve, browse: Browse, tmp_path: Path, held: FakeServer
) -> None:
    page = browse(serve(course_in(tmp_path), model=model_behind(held)))
    begin(page)
    expect(page.locator(".answer")).to_contain_text("The sea rises twice")
    other = page.context.new_page()

    other.goto(page.url)
    expect(other.locator(".answer")).to_contain_text("The sea rises twice")
    other.get_by_role("button", name="Stop").click()

    for tab in (page, other):
        expect(tab.locator(".facts")).to_contain_text("has not been checked")
        expect(tab.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    assert held.wait_for_disconnect()


def test_what_one_tab_asks_is_shown_in_another_one_that_has_the_conversation_open(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    page.get_by_label("Your question").fill("What is a neap tide?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("[data-phase=answered]")).to_have_count(1)

    page.get_by_label("Your question").fill("What is a spring tide?")
    page.keyboard.press("Enter")

    for tab in (page, other):
        expect(tab.locator("[data-phase=answered] .question")).to_have_text(
            ["What is a neap tide?", "What is a spring tide?"]
        )


def test_an_answer_goes_on_when_the_connection_breaks_off(
    serve: Serve, browse: Browse, tmp_path: Path, troubles: list[str]
) -> None:
    page = browse(serve(course_in(tmp_path)))
    begun = 'event: status\ndata: {"stage": "searching", "session_id": ""}\nid: 1\n\n'
    broken: list[str] = []

    def breaks_off(route: Route) -> None:
        broken.append(route.request.url.partition("?")[2])
        if len(broken) == 1:
            route.fulfill(body=begun, content_type="text/event-stream")
        elif len(broken) == 2:
            route.abort()
        else:
            route.continue_()

    page.route("**/api/answers/*/events*", breaks_off)
    page.get_by_label("Your question").fill(WHY)
    page.keyboard.press("Enter")

    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    assert broken == ["after=0", "after=1", "after=1"]
    troubles.clear()  # the browser says so too


def test_a_question_that_the_server_has_forgotten_can_be_asked_again(
    serve: Serve, browse: Browse, tmp_path: Path, held: FakeServer, troubles: list[str]
) -> None:
    page = browse(serve(course_in(tmp_path), model=model_behind(held)))
    begin(page)
    page.route("**/api/start", lambda route: route.fulfill(json={}))  # so that each part is asked for by itself
    page.route("**/api/answers", lambda route: route.fulfill(json={"answers": []}))  # as after a new start

    page.reload()

    expect(page.get_by_label("Your question")).to_have_value(WHY)
    expect(page.get_by_role("alert")).to_contain_text("You can ask it again")
    troubles.clear()  # the browser says that there is no such conversation
