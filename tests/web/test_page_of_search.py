"""The search of the page: places while one types, with filters, opened beside them, by keys alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support import write_tree
from tests.web.axe import AXE, violations
from tests.web.npm import unpacked
from tests.web.serving import Served, course_in

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]

PIER = {
    "pier.py": "def open_pier(hour):\n    return hour > 6  # the tide decides\n",
    "pier.md": "# Pier\n\nThe tide decides.\n",
}


def test_places_are_found_while_one_types_and_opened_by_keys_alone(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path), write_tree(tmp_path / "pier", PIER)))

    page.keyboard.press("s")
    expect(page.get_by_label("Words to search for")).to_be_focused()
    page.keyboard.type("tide decides")

    expect(page.locator(".hit", has_text="pier.md")).to_contain_text("The tide decides")
    expect(page.locator(".hit mark").first).to_be_visible()
    expect(page.locator("#search-state")).to_contain_text("place")
    shoot(page, "search")
    page.get_by_label("Kind").select_option("code")
    expect(page.locator(".hit .place-name")).to_have_text(["pier.py, lines 1–2"])
    page.get_by_label("Kind").select_option("")
    page.get_by_label("Path").fill("*.md")
    expect(page.locator(".hit .place-name")).to_have_text(["pier.md, lines 1–3"])
    page.get_by_label("Path").fill("")
    page.locator("#search-source").select_option("pier")
    expect(page.locator(".hit")).to_have_count(2)
    page.get_by_label("Words to search for").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#viewer-title")).to_be_focused()
    expect(page.locator("#viewer :is(mark, .cited)").first).to_be_visible()
    shoot(page, "search-viewer")
    page.keyboard.press("Escape")
    expect(page.locator(".hit-open").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_be_hidden()
    expect(page.locator("#welcome h2")).to_be_visible()


def test_only_the_last_words_are_searched_for_and_what_comes_late_is_not_shown(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    held: list[Route] = []
    asked: list[str] = []

    def slow_first(route: Route) -> None:
        asked.append(json.loads(route.request.post_data or "{}")["query"])
        if len(asked) == 1:
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/search", slow_first)
    words = page.get_by_label("Words to search for")
    page.keyboard.press("s")
    expect(words).to_be_focused()
    words.fill("moon")  # at once: of letters that come slowly the first would be searched for by themselves
    expect(page.locator("#search-hits[aria-busy]")).to_be_attached()
    with page.expect_event("requestfailed"):  # cancelled, as its words are no longer wanted
        while not asked:
            page.wait_for_timeout(10)
        words.fill("neap tide")

    expect(page.locator(".hit mark").first).to_be_visible()
    assert asked == ["moon", "neap tide"]


def test_words_that_find_nothing_say_so_and_can_be_asked(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    page.get_by_role("button", name="Search the sources").click()
    expect(page.get_by_role("button", name="Ask this")).to_be_disabled()

    page.get_by_label("Words to search for").fill("?")
    expect(page.locator("#search-state")).not_to_be_empty()
    page.get_by_label("Words to search for").fill("What is a neap tide?")
    page.get_by_role("button", name="Ask this").click()

    expect(page.locator("#search")).to_be_hidden()
    expect(page.locator("[data-phase=answered] .question")).to_have_text(["What is a neap tide?"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 360])
def test_the_search_is_for_everyone(
    serve: Serve,
    browse: Browse,
    tmp_path: Path,
    shoot: Shoot,
    pytestconfig: pytest.Config,
    scheme: str,
    width: int,
) -> None:
    served = serve(course_in(tmp_path), write_tree(tmp_path / "pier", PIER))
    page = browse(served, color_scheme=scheme, viewport={"width": width, "height": 800})

    page.keyboard.press("s")
    page.get_by_label("Words to search for").fill("tide decides")
    expect(page.locator(".hit").first).to_be_visible()

    shoot(page, f"search-{width}-{scheme}")
    axe = (unpacked(AXE, pytestconfig) / "axe.min.js").read_text(encoding="utf-8")
    assert violations(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
