"""What floats above the page: tooltips, the menu of an earlier question, and what the chip below the question opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.web.serving import Served, course_in, next_frame
from tests.web.test_page import QUESTION, TUTORED, WHY, ask, choose

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]

SAMPLE = Path(__file__).parents[1] / "sample"


def wait_until_in_the_window(each: Locator) -> None:
    """Wait until all of something is in the window: it is placed again when what it shows comes late."""
    each.page.wait_for_function(
        """(each) => {
            const { left, top, right, bottom } = each.getBoundingClientRect();
            return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right > left;
        }""",
        arg=each.element_handle(),
    )


def test_a_tooltip_is_there_for_the_pointer_and_for_the_keyboard_and_goes_with_escape(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    search, tip = page.locator("#search-open"), page.locator("#tip")

    search.hover()
    expect(tip).to_have_text("Search the sources (s)")
    wait_until_in_the_window(tip)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()

    page.locator("#new-question").focus()
    expect(tip).to_be_hidden()  # not by Tab, so nobody has asked
    page.keyboard.press("Tab")
    expect(search).to_be_focused()
    expect(tip).to_be_visible()
    expect(search).to_have_accessible_description("Search the sources (s)")
    page.keyboard.press("Tab")
    expect(tip).not_to_have_text("Search the sources (s)")
    expect(search).to_have_accessible_description("")


@pytest.mark.parametrize("width", [1440, 360])
def test_one_chip_says_what_answers_and_opens_where_all_of_it_is_chosen(
    serve: Serve, browse: Browse, tmp_path: Path, width: int
) -> None:
    page = browse(serve(course_in(tmp_path), SAMPLE), viewport={"width": width, "height": 740})
    chip, panel = page.locator("#scope-open"), page.locator("#scope")
    expect(chip).to_have_text("quotes, without a model · all sources")

    chip.click()
    expect(panel).to_be_visible()
    wait_until_in_the_window(panel)
    panel.get_by_label("sample", exact=True).uncheck()
    expect(panel.get_by_label("sample", exact=True)).to_be_focused()
    expect(page.locator("#sources input").nth(0)).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(chip).to_be_focused()
    expect(page.locator("#tip")).to_be_hidden()
    choose(page, "#course", "Reading the Tides")
    choose(page, "#lesson", "1")

    expect(chip).to_have_text("quotes, without a model · only tides · Reading the Tides · 1: Springs, Neaps and Places")
    ask(page, "What is a neap tide?")
    expect(page.locator(".place-label").first).to_contain_text("Lesson 1")


def test_what_the_chip_opens_stays_in_the_window_when_courses_come_late(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path), SAMPLE), viewport={"width": 360, "height": 740})
    late: list[Route] = []
    page.route("**/api/start", lambda route: route.fulfill(json={}))  # so that each part is asked for by itself
    page.route("**/api/courses", lambda route: late.append(route))
    with page.expect_request("**/api/courses"):
        page.reload()
    page.locator("#scope-open").click()
    expect(page.locator("#scope")).to_be_visible()
    expect(page.locator("#course-field")).to_be_hidden()

    late.pop().continue_()

    expect(page.locator("#course-field")).to_be_visible()
    wait_until_in_the_window(page.locator("#scope"))


def test_escape_closes_a_tooltip_and_nothing_beneath_it(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)
    page.locator(".answer a.cite").first.click()
    expect(page.locator("#viewer mark").first).to_be_visible()

    page.locator("#viewer-copy").hover()
    expect(page.locator("#tip")).to_have_text("Copy the place and the quote")
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()
    expect(page.locator("#viewer")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#viewer")).to_be_hidden()


def test_escape_closes_a_panel_and_nothing_beneath_it(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)
    page.locator(".answer a.cite").first.click()
    expect(page.locator("#viewer mark").first).to_be_visible()

    page.locator("#scope-open").click()
    page.keyboard.press("Escape")
    expect(page.locator("#scope")).to_be_hidden()
    expect(page.locator("#viewer")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#viewer")).to_be_hidden()


def test_the_menu_of_the_last_earlier_question_moves_none_and_stays_in_the_window(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)), viewport={"width": 1440, "height": 480})
    for question in (QUESTION, "What is a neap tide?"):
        ask(page, question)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="New question").click()
    expect(page.locator(".session-more")).to_have_count(2)
    places = "all => all.map((each) => each.getBoundingClientRect().top)"

    last = page.locator(".session-more").last
    # The list may be loaded again meanwhile: Playwright would wait for a button that is gone to stand still.
    last.evaluate("each => each.scrollIntoView({ block: 'nearest' })")
    before = page.locator(".session").evaluate_all(places)
    last.click()

    expect(page.locator("#menu")).to_be_visible()
    assert page.locator(".session").evaluate_all(places) == before
    wait_until_in_the_window(page.locator("#menu"))
    page.locator(".session-more").first.click()
    page.locator("#menu").get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator("#menu")).to_be_hidden()
    expect(page.locator("#history .day")).to_have_text(["Pinned", "Today"])


def test_the_menu_is_reached_by_tab_though_its_list_was_loaded_again_since_it_was_opened(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    ask(page, QUESTION)
    session = page.locator(".session-open").get_attribute("data-focus")
    page.locator(".session-more").click()
    expect(page.locator("#menu")).to_be_visible()
    page.request.patch(f"{served.url}api/sessions/{session}", data={"title": "Moon"}, headers={"X-Openbook": "1"})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator(".session-title")).to_have_text(["Moon"])

    page.keyboard.press("Tab")

    expect(page.locator("#menu").get_by_role("button", name="Rename")).to_be_focused()


def test_the_menu_of_an_earlier_question_gives_the_focus_back(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)
    more = page.locator(".session-more")

    for item in ("Pin", "Rename"):
        more.focus()
        page.keyboard.press("Enter")
        page.locator("#menu").get_by_role("button", name=item, exact=True).press("Enter")
        if item == "Rename":
            page.locator("dialog input").fill("Of the Moon")
            page.keyboard.press("Enter")
        done = page.locator("#history .day", has_text="Pinned") if item == "Pin" else page.get_by_text("Of the Moon")
        expect(done.first).to_be_visible()
        expect(more).to_be_focused()


def test_the_quote_of_a_citation_is_shown_when_a_key_scrolls_to_it_and_goes_with_it(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED), viewport={"width": 360, "height": 480})
    ask(page, WHY)
    page.locator(".answer-foot").evaluate("each => each.scrollIntoView({ block: 'end' })")
    page.evaluate("document.activeElement.blur()")

    page.keyboard.press("j")

    expect(page.locator("a.cite").first).to_be_in_viewport()
    next_frame(page)  # with which the event comes that it has scrolled
    page.locator(".answer-foot").dispatch_event("pointerout")  # as where the pointer rests on what was scrolled away
    page.wait_for_timeout(300)  # longer than a quote lingers
    expect(page.locator("#card")).to_be_visible()
    page.locator(".answer-foot").evaluate("each => each.scrollIntoView({ block: 'end' })")
    expect(page.locator("#card")).to_be_hidden()
