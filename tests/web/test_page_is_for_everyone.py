"""The page by keyboard, in the dark, on a small screen, and for who does not see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from openbook.llm.choose import connect
from openbook.llm.providers import OPENAI
from openbook.settings import Secret
from openbook.testing import FakeServer, Fault, ScriptedReply
from tests.web.axe import AXE, violations
from tests.web.npm import unpacked
from tests.web.serving import Served, course_in
from tests.web.test_page import QUESTION, TUTORED, WHY, ask

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]

NARROW = {"width": 360, "height": 740}


@pytest.fixture(scope="session")
def axe(request: pytest.FixtureRequest) -> str:
    return (unpacked(AXE, request.config) / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def slow_model() -> Iterator[FakeServer]:
    words = ScriptedReply("The sea rises twice a day because of two bulges. " * 5)
    with FakeServer(Fault("hold", words, after=20)) as server:
        yield server


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing_to_complain_of(
    serve: Serve, browse: Browse, tmp_path: Path, axe: str, scheme: str, viewport: dict[str, int], shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED), color_scheme=scheme, viewport=viewport)
    found = {"welcome": violations(page, axe)}

    ask(page, WHY)
    found["answer"] = violations(page, axe)
    shoot(page, f"answer-{scheme}-{viewport['width']}")
    page.locator(".answer a.cite").first.click()
    page.locator("#viewer mark").first.wait_for()
    found["source"] = violations(page, axe)
    shoot(page, f"source-{scheme}-{viewport['width']}")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    found["dialog"] = violations(page, axe)

    assert found == {"welcome": [], "answer": [], "source": [], "dialog": []}


def test_the_page_needs_no_sideways_scrolling_on_a_small_screen(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED), viewport=NARROW)

    ask(page, f"{WHY[:-1]}, and how do fishermen on most coasts of the Atlantic reckon with them?")
    page.get_by_role("button", name="Library").click()
    expect(page.get_by_role("navigation", name="Library")).to_be_visible()
    shoot(page, "rail-narrow")
    page.keyboard.press("Escape")

    expect(page.get_by_role("navigation", name="Library")).to_be_hidden()
    assert page.evaluate("document.scrollingElement.scrollWidth") == NARROW["width"]
    assert page.evaluate("(s => s.scrollWidth - s.clientWidth)(document.getElementById('scroll'))") == 0


def test_a_source_stands_beside_its_answer_where_there_is_room(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED), viewport={"width": 1100, "height": 760})
    ask(page, WHY)

    page.locator(".answer a.cite").first.click()
    page.locator("#viewer mark").first.wait_for()

    shoot(page, "source-1100")
    answer, source = page.locator("#talk").bounding_box(), page.locator("#viewer").bounding_box()
    assert answer is not None
    assert source is not None
    assert answer["x"] + answer["width"] <= source["x"]


def test_on_a_phone_on_its_side_the_answer_has_more_room_than_the_question(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)), viewport={"width": 740, "height": 360})
    ask(page, WHY)

    page.get_by_label("Your question").fill("Why?\n" * 30)

    shoot(page, "answer-740")
    answer, question = page.locator("#scroll").bounding_box(), page.locator("#composer").bounding_box()
    assert answer is not None
    assert question is not None
    assert answer["height"] > question["height"]


def test_everything_is_reached_by_keyboard(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED))

    page.keyboard.press("/")
    page.keyboard.type(WHY)
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#viewer mark").first).to_contain_text("two bulges")
    page.keyboard.press("]")

    expect(page.locator("#viewer mark").first).to_contain_text("24 hours and 50 minutes")
    page.keyboard.press("Escape")
    expect(page.locator("#viewer")).to_be_hidden()
    expect(page.locator(".answer a.cite").nth(1)).to_be_focused()
    page.keyboard.press("n")
    expect(page.get_by_label("Your question")).to_be_focused()
    expect(page.locator(".question")).to_have_count(0)


def test_single_keys_can_be_turned_off(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    page.keyboard.press("?")
    page.get_by_label("Use shortcuts of a single key").uncheck()
    page.keyboard.press("Escape")

    page.keyboard.press("t")

    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")


def test_dark_is_what_the_system_says_until_a_person_decides(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served, color_scheme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(background)

    page.get_by_role("button", name="Use light colours").click()

    light = page.evaluate(background)
    assert light != dark
    page.reload()
    assert page.evaluate(background) == light


def test_stopping_an_answer_ends_the_call_of_the_model_and_says_that_nothing_was_checked(
    serve: Serve, browse: Browse, tmp_path: Path, slow_model: FakeServer
) -> None:
    model = connect(replace(OPENAI, url=slow_model.openai_url), "tutor", key=Secret(slow_model.key))
    page = browse(serve(course_in(tmp_path), model=model))
    page.get_by_label("Your question").fill(WHY)
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_contain_text("The sea rises twice")

    page.get_by_role("button", name="Stop").click()

    expect(page.locator(".facts")).to_contain_text("has not been checked")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    expect(page.get_by_label("Your question")).to_be_focused()
    assert slow_model.wait_for_disconnect()


def test_what_happens_is_said_to_who_does_not_see_it(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED))

    ask(page, WHY)

    expect(page.get_by_role("status").first).to_have_text(
        "Answered. 4 citations: 1 exact, 1 confirmed, 1 conflict, 1 not verified."
    )


def test_arrow_keys_move_between_earlier_questions_and_tab_reaches_one(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, "What is a neap tide?")
    page.get_by_role("button", name="New question").click()
    ask(page, "What is a spring tide?")
    expect(page.locator(".session-open")).to_have_count(2)
    first, second = page.locator(".session-open").nth(0), page.locator(".session-open").nth(1)

    first.focus()
    page.keyboard.press("ArrowDown")

    expect(second).to_be_focused()
    expect(first).to_have_attribute("tabindex", "-1")
    page.keyboard.press("Enter")
    expect(page.locator(".question")).to_have_text(["What is a neap tide?"])
    more = page.locator(".session-more").first
    more.press("Enter")
    expect(page.locator(".menu").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator(".menu").first).to_be_hidden()
    expect(more).to_be_focused()


def test_what_is_open_and_has_the_focus_stays_so_when_lists_are_loaded_again(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    load_again = "document.dispatchEvent(new Event('visibilitychange'))"

    page.get_by_role("button", name="Remove tides").focus()
    with page.expect_response("**/api/sessions"):
        page.evaluate(load_again)
    expect(page.get_by_role("button", name="Remove tides")).to_be_focused()
    page.locator(".suggestion").focus()
    with page.expect_response("**/api/sessions"):
        page.evaluate(load_again)
    expect(page.locator(".suggestion")).to_be_focused()
    ask(page, WHY)
    page.locator(".session-more").click()
    page.keyboard.press("Tab")
    with page.expect_response("**/api/sessions"):
        page.evaluate(load_again)

    rename = page.get_by_role("button", name="Rename")
    expect(rename).to_be_focused()
    rename.click()
    page.get_by_label("Title").fill("Tides")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.locator(".session-title")).to_have_text("Tides")
    expect(page.locator(".menu")).to_be_hidden()


def test_of_thousands_of_earlier_questions_some_are_shown_and_more_when_asked_for(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    sessions = [
        {"id": f"{at:032x}", "title": f"Question {at}", "created_at": 0, "updated_at": 0, "exchanges": 1}
        for at in range(150)
    ]
    page.route("**/api/start", lambda route: route.fulfill(json={}))  # so that each part is asked for by itself
    page.route("**/api/sessions", lambda route: route.fulfill(json={"sessions": sessions}))

    page.reload()
    expect(page.locator(".session")).to_have_count(100)
    page.get_by_role("button", name="Show older ones").click()

    expect(page.locator(".session")).to_have_count(150)
    expect(page.get_by_role("button", name="Show older ones")).to_have_count(0)


def test_the_palette_does_what_is_typed_and_opens_earlier_questions(
    serve: Serve, browse: Browse, tmp_path: Path, axe: str, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)
    page.get_by_label("Your question").blur()  # where a letter is only typed
    page.keyboard.press("n")
    expect(page.locator(".question")).to_have_count(0)  # else nothing tells when the conversation is open again
    expect(page.locator("#history .session-title")).to_have_text([QUESTION])  # the palette lists what is known by then

    page.get_by_label("Your question").press("Control+k")
    field = page.get_by_role("combobox", name="Command")
    expect(field).to_be_focused()
    shoot(page, "palette")
    assert violations(page, axe) == []
    field.fill("lunar day")
    expect(page.locator(".command")).to_have_text([f"Open “{QUESTION}”"])
    field.press("Enter")
    expect(page.locator("[data-phase=answered] .question")).to_have_text([QUESTION])
    page.keyboard.press("Control+k")
    field.press("ArrowDown")
    expect(page.locator(".command[aria-selected=true]")).to_contain_text("Search the sources")
    field.press("Enter")
    expect(page.get_by_label("Words to search for")).to_be_focused()
    page.keyboard.press("Control+k")
    field.fill("nothing like this")
    field.press("Enter")
    expect(page.locator(".command")).to_have_count(0)
    expect(page.locator("dialog").get_by_role("status")).to_have_text(
        "No command and no earlier question has these words."
    )
    assert violations(page, axe) == []
    page.keyboard.press("Escape")
    expect(page.get_by_label("Words to search for")).to_be_focused()


def test_bullets_of_writing_from_right_to_left_stand_at_the_right(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    hebrew = "- הגאות עולה פעמיים ביום.\n- הירח מושך את הים.\n\n> ציטוט\n\n- The tide rises twice."
    page = browse(serve(course_in(tmp_path), steps=(hebrew,), verifier="off"))
    ask(page, WHY)

    lists = page.locator(".answer ul")
    assert [lists.nth(at).evaluate("each => getComputedStyle(each).direction") for at in range(2)] == ["rtl", "ltr"]
    assert page.locator(".answer blockquote").first.evaluate("each => getComputedStyle(each).borderRightWidth") == "3px"
    shoot(page, "right-to-left")
