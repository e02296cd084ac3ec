"""The page is there after few requests and few bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, Route, expect

from tests.web.serving import Served, course_in

pytestmark = pytest.mark.browser

MAX_REQUESTS, MAX_BYTES = 8, 60_000


def test_the_first_load_takes_few_requests_and_bytes(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    loads: list[list[Response]] = []

    def load() -> None:
        seen: list[Response] = []

        def note(response: Response) -> None:
            seen.append(response)

        page.on("response", note)
        page.reload()
        page.locator(".suggestion").first.wait_for()  # a slow page is idle before it asks for anything
        page.evaluate("document.fonts.ready")
        page.wait_for_load_state("networkidle")
        page.remove_listener("response", note)
        loads.append(seen)

    # As a browser that was never here.
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    load()
    sizes = [each.request.sizes() for each in loads[0]]
    # Chromium shows what is in its memory as a response whose body has no bytes.
    sent = {
        each.url.rpartition("/")[2]: max(0, size["responseBodySize"]) + size["responseHeadersSize"]
        for each, size in zip(loads[0], sizes, strict=True)
        if size["responseBodySize"] >= 0
    }

    assert len(sent) <= MAX_REQUESTS, sent
    assert {"main.bundle.js", "style.css", "start", "literata-ascii.woff2"} <= sent.keys()
    assert sum(sent.values()) < MAX_BYTES, sent
    assert all("immutable" in each.headers["cache-control"] for each in loads[0] if "/static/" in each.url)
    assert page.locator("#question").is_visible()


# What has moved since the page began, as Chromium counts it: 0 is nothing, and less than 0.1 is called good.
_SHIFT = """new Promise((resolve) => new PerformanceObserver((list) =>
  resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))
).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(resolve, 1000, 0))"""


def fonts_of(page: Page, selector: str) -> set[str]:
    """Return the families that draw an element, as the browser says."""
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
    return {each["familyName"] for each in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]}


def test_what_is_read_is_set_in_the_font_that_is_shipped(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    page.reload()  # where the first load was slow, it has done without the font
    page.locator(".suggestion").first.wait_for()

    assert fonts_of(page, "#welcome h2") == {"Literata"}


def test_letters_that_the_first_font_does_not_have_bring_the_others(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    says = "Über **gęś** und *Füße* schreibt [1]"
    page = browse(serve(course_in(tmp_path), steps=(says, "")))
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))

    page.get_by_label("Your question").fill("What is a neap tide?")
    page.keyboard.press("Enter")
    page.locator("[data-phase=answered] .answer strong").wait_for()
    page.evaluate("document.fonts.ready")

    wanted = {f"literata-{each}.woff2" for each in ("latin", "italic-latin", "bold-latin", "bold-extended")}
    assert wanted <= set(fetched)
    assert "literata-italic-extended.woff2" not in fetched
    assert fonts_of(page, ".answer em") == {"Literata"}
    assert fonts_of(page, ".answer strong") == {"Literata"}


@pytest.mark.parametrize("width", [1440, 360])
def test_nothing_moves_while_the_page_loads(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path, width: int
) -> None:
    page = browse(serve(course_in(tmp_path)), viewport={"width": width, "height": 800})
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.reload()
    page.locator(".suggestion").first.wait_for()

    assert page.evaluate(_SHIFT) < 0.002  # the earlier questions, when it is known how many sources stand above them


def test_what_is_still_to_come_has_bars_in_its_place(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    waiting = "place => getComputedStyle(document.querySelector(place), '::before').content"
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/start", hold)
    page.route("**/api/suggestions", hold)

    with page.expect_request("**/api/start"):
        page.reload(wait_until="commit")
    assert [page.evaluate(waiting, place) for place in ("#sources", "#history")] == ['""', '""']
    held[0].continue_()

    expect(page.locator("#history")).to_have_text("None yet.")
    expect(page.locator("#sources")).to_contain_text("tides")
    assert page.evaluate(waiting, ".suggestions") == '""'
    expect(page.locator("#sources[aria-busy], #history[aria-busy]")).to_have_count(0)
    held[1].continue_()
    expect(page.locator(".suggestion").first).to_be_visible()
    expect(page.locator("[aria-busy]")).to_have_count(0)
