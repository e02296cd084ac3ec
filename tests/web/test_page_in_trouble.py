"""What the page says when something behind it breaks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from openbook.llm.choose import connect
from openbook.llm.messages import Request
from openbook.llm.protocol import Model
from openbook.llm.providers import OPENAI
from openbook.settings import Secret
from openbook.testing import FakeServer, Fault, ScriptedReply
from tests.web.serving import Served, course_in, mark_of, serving

pytestmark = pytest.mark.browser

WORDS = ScriptedReply("The sea rises twice a day because of two bulges. " * 5)
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
        expect(page.locator(".answer")).to_contain_text("The sea rises twice")

        running.close()

    expect(page.locator(".failure")).to_contain_text("Ask again when it runs")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".failure").last).to_contain_text("The server cannot be reached")
    troubles.clear()  # the browser says so too


def test_a_conversation_that_is_gone_is_told_and_a_new_one_begins(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path, troubles: list[str]
) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    page.goto(f"{served.url}#session={'0' * 32}")
    expect(page.get_by_role("alert")).to_contain_text("deleted, has expired, or belongs to another browser")
    expect(page).not_to_have_url(re.compile("session"))
    ask(page)
    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    page.wait_for_url("**/#session=*")
    session = page.url.partition("=")[2]

    page.request.delete(f"{served.url}api/sessions/{session}", headers={"X-Openbook": "1"})
    ask(page)

    expect(page.locator(".failure")).to_contain_text("deleted, has expired, or belongs to another browser")
    expect(page.locator(".failure")).not_to_contain_text("session_id")
    # The new conversation is read when its answer has ended: what was answered before it stays.
    with page.expect_response(re.compile(r"/api/sessions/\w+$")):
        page.get_by_role("button", name="Ask again").last.click()
    page.evaluate("() => new Promise((shown) => setTimeout(shown, 100))")
    expect(page.locator("[data-phase=answered]")).to_have_count(2)
    expect(page.locator(".failure")).to_have_count(0)
    troubles.clear()  # the browser says so too


def test_a_source_that_somebody_else_removes_is_asked_no_more(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path, troubles: list[str]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Locks\n\nOne lock.\n", encoding="utf-8")
    served = serve(course_in(tmp_path), notes)
    page = browse(served)
    page.locator("#sources").get_by_label("tides", exact=True).uncheck()

    page.request.delete(f"{served.url}api/sources/notes", headers={"X-Openbook": "1"})
    ask(page)
    expect(page.locator(".failure")).to_contain_text("no source 'notes'")
    expect(page.get_by_label("notes", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Ask again").click()

    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    troubles.clear()  # the browser says so too


def test_an_answer_that_could_not_be_kept_begins_no_conversation(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    reply = page.request.post(f"{served.url}api/query", data={"query": WHY}).json()
    reply |= {"warning": "the disk is full", "stored": False}
    sent = f"event: done\ndata: {json.dumps(reply)}\n\n"
    page.route("**/api/answers/*/events*", lambda route: route.fulfill(body=sent, content_type="text/event-stream"))

    ask(page)

    expect(page.locator(".remark")).to_have_text("the disk is full")
    expect(page).not_to_have_url(re.compile("session"))


def test_an_answer_that_was_cut_off_before_it_stated_anything_says_so(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    served = serve(course_in(tmp_path), steps=(ScriptedReply("Let me look at", stop="length"),))
    page = browse(served)

    ask(page)

    expect(page.locator(".remark")).to_contain_text("the end is missing")


def test_who_has_no_key_is_told_whom_to_ask_and_can_log_in_later(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path, troubles: list[str]
) -> None:
    served = serve(course_in(tmp_path), needs_key=True)
    page = browse(served)
    key = page.get_by_label("Key", exact=True)

    key.fill("of another server")
    key.press("Enter")
    expect(page.locator("dialog")).to_contain_text("Ask whoever runs the server")
    page.get_by_role("button", name="Not now").click()

    expect(page.locator("#welcome")).to_contain_text("A key is needed")
    expect(page.locator("#composer")).to_be_hidden()
    assert "openbook keys" not in page.locator("body").inner_text()
    page.get_by_role("button", name="Log in").click()
    key.fill(served.key)
    key.press("Enter")
    expect(page.locator(".suggestion").first).to_be_visible()
    expect(page.get_by_label("Your question")).to_be_visible()
    troubles.clear()  # the browser says so too


def test_a_citation_whose_source_is_gone_or_never_was_is_not_said_to_hold(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path, troubles: list[str]
) -> None:
    def careless(request: Request) -> str:
        mark = mark_of(request, "two high tides in a day")
        return f"That is why most coasts have two high tides in a day {mark}. See [99:1]."

    served = serve(course_in(tmp_path), steps=(careless,))
    page = browse(served)
    ask(page)
    chips = page.locator(".answer a.cite")
    expect(chips).to_have_count(2)
    expect(page.locator(".places .document")).to_have_count(1)
    page.request.delete(f"{served.url}api/sources/tides", headers={"X-Openbook": "1"})

    chips.first.click()

    expect(page.locator("#viewer-verdict")).to_contain_text("no longer in the library")
    expect(page.locator("#viewer-verdict")).not_to_contain_text("exact")
    expect(page.locator(".kept-quote")).to_contain_text("two high tides in a day")
    page.locator("#viewer-next").click()
    expect(page.locator("#viewer-title")).to_have_text("No such source")
    expect(page.locator("#viewer-copy")).to_be_hidden()
    troubles.clear()  # the browser says so too


def test_the_words_can_be_read_while_they_are_verified(
    fake_server: Callable[..., FakeServer], serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    written = ScriptedReply("The sea rises twice a day because of two bulges [1:1].")
    page = browse(serve(course_in(tmp_path), model=model_behind(fake_server(written, Fault("hold", after=0)))))

    ask(page)

    expect(page.locator(".stage")).to_contain_text("Verifying")
    expect(page.locator(".answer")).to_contain_text("The sea rises twice a day")


def test_a_list_and_a_table_have_their_shape_while_they_are_written(
    fake_server: Callable[..., FakeServer],
    serve: Callable[..., Served],
    browse: Callable[..., Page],
    shoot: Callable[[Page, str], None],
    tmp_path: Path,
) -> None:
    table = (
        "| Tide | Height |\n|---|---|\n| neap | **low**, when the Sun and the Moon pull apart |\n| spring | high |\n"
    )
    words = ScriptedReply(
        f"{table}\n- The sea rises **twice** a day.\n- It falls as often, which is the ebb.\n- And so" * 2
    )
    held = Fault("hold", words, after=27)
    page = browse(serve(course_in(tmp_path), model=model_behind(fake_server(held))))

    ask(page)

    expect(page.locator(".answer table td strong")).to_have_text("low")
    expect(page.locator(".answer li strong")).to_have_text("twice")
    expect(page.locator(".draft li").last).to_contain_text("It falls as often")
    expect(page.locator(".answer")).not_to_contain_text("**")
    shoot(page, "written")


def test_a_question_that_is_too_long_is_cut_with_a_word_and_shown_in_part(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)), permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('Which tide is high? '.repeat(600))")
    page.get_by_label("Your question").focus()

    page.keyboard.press("Control+V")

    expect(page.get_by_role("alert")).to_contain_text("at most 10,000 characters")
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    heading = page.locator(".question")
    expect(heading).to_contain_text("Which tide is high?")
    clipped = heading.bounding_box()
    page.get_by_role("button", name="Show the whole question").click()
    whole = heading.bounding_box()
    assert clipped is not None
    assert whole is not None
    assert clipped["height"] < 150 < whole["height"]


def test_a_question_that_waits_for_its_turn_shows_its_place_and_one_too_many_is_held_back(
    fake_server: Callable[..., FakeServer],
    serve: Callable[..., Served],
    browse: Callable[..., Page],
    tmp_path: Path,
    troubles: list[str],
) -> None:
    model = model_behind(fake_server(Fault("hold", WORDS, after=20)))
    served = serve(course_in(tmp_path), model=model, server_answers=1, server_queue=1, server_wait_s=600)
    first, second, third = (browse(served) for _ in range(3))

    ask(first)
    expect(first.locator(".answer")).to_contain_text("The sea rises twice")
    ask(second)
    expect(second.locator(".stage")).to_have_text("Waiting for a turn: place 1 in the queue")
    ask(third)

    expect(third.locator("#notice")).to_contain_text("Too many questions for now")
    expect(third.get_by_label("Your question")).to_have_value(WHY)
    second.get_by_role("button", name="Stop").click()
    expect(second.locator(".stage")).to_be_hidden()
    troubles.clear()  # the browser notes each refusal
