"""Conversations that are worked on: questions edited and asked again, answers copied, earlier ones found and pinned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from openbook.errors import OverloadedError
from openbook.llm.messages import Request
from openbook.testing import FakeServer, Fault
from tests.web.serving import Served, course_in, mark_of
from tests.web.test_page import ask, choose
from tests.web.test_page_in_trouble import WORDS, model_behind

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]

DAY = "How long does a lunar day last?"
NEAP = "What is a neap tide?"


def button(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()


def test_an_edited_question_takes_the_place_of_its_answer_and_of_those_below(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, DAY)
    ask(page, "What is a spring tide?")

    button(page, "Edit")
    field = page.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value(DAY)
    expect(page.locator(".edit")).to_contain_text("1 question below it is deleted")
    field.fill(NEAP)
    shoot(page, "edit")
    field.press("Enter")

    expect(page.locator("[data-phase=answered] .question")).to_have_text([NEAP])
    expect(page.locator("[data-phase=answered] .question")).to_be_focused()
    expect(page.locator(".versions")).to_have_text("‹2 of 2›")
    thumbs = page.locator(".exchange .rate")
    assert len(set(thumbs.evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)"))) == 1
    shoot(page, "versions")
    page.reload()
    expect(page.locator("[data-phase=answered] .question")).to_have_text([NEAP])
    page.get_by_role("button", name="Earlier version").click()
    expect(page.locator(".question")).to_have_text([DAY])
    expect(page.locator(".answer")).to_contain_text("24 hours and 50 minutes")
    expect(page.locator(".facts")).to_contain_text("an earlier version")
    expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Later version")).to_be_focused()
    page.locator(".answer a.cite").first.click()
    expect(page.locator("#viewer mark").first).to_contain_text("lunar day")


def test_an_edit_is_given_up_by_escape_and_leaves_all_as_it_was(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, DAY)

    button(page, "Edit")
    page.get_by_label("Question", exact=True).fill("   ")
    page.keyboard.press("Enter")  # no question
    page.get_by_label("Question", exact=True).fill("something else")
    page.keyboard.press("Escape")

    expect(page.locator(".question")).to_have_text([DAY])
    expect(page.locator(".question")).to_be_focused()
    expect(page.locator(".edit")).to_have_count(0)


def test_an_answer_that_fails_again_brings_the_old_one_back(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    def tutor(request: Request) -> str:
        return f"A lunar day has 24 hours and 50 minutes {mark_of(request, 'A lunar day')}."

    def busy(_: Request) -> OverloadedError:
        return OverloadedError("the tutor is overloaded", hint="ask again in a minute")

    page = browse(serve(course_in(tmp_path), steps=(tutor, busy), verifier="off"))
    ask(page, DAY)

    button(page, "Regenerate")

    expect(page.get_by_role("alert")).to_contain_text("The answer that was there stays")
    expect(page.locator(".exchange")).to_have_count(1)
    expect(page.locator("[data-phase=answered] .answer")).to_contain_text("24 hours and 50 minutes")
    shoot(page, "regenerate-failed")


def test_a_second_answer_is_asked_for_only_if_the_questions_below_may_go(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, DAY)
    ask(page, NEAP)

    button(page, "Regenerate")
    page.locator("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-phase=answered]")).to_have_count(2)
    button(page, "Regenerate")
    page.locator("dialog").get_by_role("button", name="Answer again").click()

    expect(page.locator("[data-phase=answered] .question")).to_have_text([DAY])
    expect(page.locator(".session")).to_have_count(1)


def test_an_answer_that_is_replaced_in_one_tab_is_replaced_in_another(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, DAY)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("[data-phase=answered]")).to_have_count(1)

    button(page, "Edit")
    page.get_by_label("Question", exact=True).fill(NEAP)
    page.keyboard.press("Enter")

    for tab in (page, other):
        expect(tab.locator("[data-phase=answered] .question")).to_have_text([NEAP])


@pytest.fixture
def held() -> Iterator[FakeServer]:
    """A model that stops in the middle of its answer, and waits."""
    with FakeServer(Fault("hold", WORDS, after=20)) as server:
        yield server


def test_an_answer_that_is_asked_for_again_is_resumed_in_its_place_and_stopping_brings_the_old_one_back(
    serve: Serve, browse: Browse, tmp_path: Path, held: FakeServer
) -> None:
    page = browse(serve(course_in(tmp_path), model=model_behind(held)))
    choose(page, "#model", "extractive")
    ask(page, DAY)
    choose(page, "#model", 0)
    button(page, "Regenerate")
    expect(page.locator("[data-phase=asking] .answer")).to_contain_text("The sea rises twice")

    page.reload()

    expect(page.locator("[data-phase=asking] .answer")).to_contain_text("The sea rises twice")
    expect(page.locator("[data-phase=answered]")).to_be_hidden()
    button(page, "Stop")
    expect(page.locator("[data-phase=answered] .answer")).to_contain_text("24 hours and 50 minutes")
    expect(page.locator(".exchange")).to_have_count(1)


def test_an_answer_is_copied_with_its_sources(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)), permissions=["clipboard-read", "clipboard-write"])
    ask(page, DAY)

    button(page, "Copy with sources")

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"## {DAY}")
    assert "24 hours and 50 minutes" in copied
    assert ": exact" in copied


def test_earlier_questions_are_pinned_and_found_by_words_of_their_answers(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))
    for question in (DAY, NEAP):
        ask(page, question)
        page.get_by_role("button", name="New question").click()
    expect(page.locator("#history .session-title")).to_have_text([NEAP, DAY])

    page.get_by_label(f"More for {DAY}").click()
    page.locator(".menu").get_by_role("button", name="Pin", exact=True).click()

    expect(page.locator("#history .session-title")).to_have_text([DAY, NEAP])
    expect(page.locator("#history .day")).to_have_text(["Pinned", "Today"])
    search = page.get_by_label("Search earlier questions")
    search.fill("50 minutes LUNAR")
    expect(page.locator("#history-found .session-title")).to_have_text([DAY])
    expect(page.locator("#history-found mark").first).to_be_visible()
    shoot(page, "history-search")
    search.fill("no such words")
    expect(page.locator("#history-found")).to_have_text("None has these words.")
    search.fill("neap")
    page.locator("#history-found .session-open").filter(has_text=NEAP).click()
    expect(page.locator("[data-phase=answered] .question")).to_have_text([NEAP])
    search.press("Escape")
    expect(search).to_have_value("")
    expect(page.locator("#history .session")).to_have_count(2)


def test_what_is_pressed_in_a_list_is_clicked_though_the_list_is_loaded_again_meanwhile(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    ask(page, DAY)
    expect(page.locator("#title")).to_have_text(DAY)
    session = page.locator(".session-open").get_attribute("data-focus")

    page.locator(".session-more").hover()
    page.mouse.down()
    page.request.patch(f"{served.url}api/sessions/{session}", data={"title": "Moon"}, headers={"X-Openbook": "1"})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#title")).to_have_text("Moon")
    page.mouse.up()

    expect(page.locator("#menu")).to_be_visible()
    expect(page.locator(".session-title")).to_have_text(["Moon"])


def test_what_a_finger_has_pressed_stays_until_its_click_which_comes_later(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    ask(page, DAY)
    expect(page.locator("#title")).to_have_text(DAY)
    session = page.locator(".session-open").get_attribute("data-focus")
    touch = "(kind) => new PointerEvent(kind, { pointerType: 'touch', bubbles: true })"
    # It comes with the list that is loaded after the answer: while one is written, a conversation has no menu.
    expect(page.locator(".session-more")).to_have_count(1)
    # In one step: the list may be put anew once more.
    page.evaluate(f"""() => {{
        window.pressed = document.querySelector(".session-more");
        window.pressed.dispatchEvent(({touch})("pointerdown"));
    }}""")
    page.request.patch(f"{served.url}api/sessions/{session}", data={"title": "Moon"}, headers={"X-Openbook": "1"})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#title")).to_have_text("Moon")
    is_there = page.evaluate(f"""async () => {{
        window.pressed.dispatchEvent(({touch})("pointerup"));
        await new Promise((behind) => setTimeout(behind, 20));
        return window.pressed.isConnected;
    }}""")

    assert is_there
    expect(page.locator(".session-title")).to_have_text(["Moon"])


def test_questions_to_go_on_with_stand_below_the_last_answer_alone(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, DAY)

    suggestion = page.locator(".follow-ups .suggestion").last
    words = suggestion.inner_text()
    suggestion.scroll_into_view_if_needed()
    shoot(page, "follow-ups")
    suggestion.click()

    expect(page.locator("[data-phase=answered] .question")).to_have_text([DAY, words])
    expect(page.locator("[data-refused=true]")).to_have_count(0)
    expect(page.locator(".exchange").first.locator(".follow-ups")).to_have_count(0)
    page.reload()
    expect(page.locator("[data-phase=answered]")).to_have_count(2)


def test_a_reader_says_whether_an_answer_helps_and_why_not(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, DAY)
    good, bad = (page.get_by_role("button", name=name, exact=True) for name in ("Helpful", "Not helpful"))

    good.click()
    expect(good).to_have_attribute("aria-pressed", "true")
    bad.click()
    page.get_by_label("Something is missing").check()
    page.get_by_label("In your own words").fill("And at the poles?")
    shoot(page, "rating")
    page.get_by_role("button", name="Send").click()
    expect(bad).to_have_attribute("aria-pressed", "true")
    expect(good).to_have_attribute("aria-pressed", "false")
    page.reload()
    expect(bad).to_have_attribute("aria-pressed", "true")
    bad.click()
    expect(bad).to_have_attribute("aria-pressed", "false")
    bad.click()
    page.get_by_role("button", name="Cancel").click()
    expect(bad).to_have_attribute("aria-pressed", "false")
