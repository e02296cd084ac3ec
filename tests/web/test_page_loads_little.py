"""The page is there after few requests and few bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response

from tests.web.serving import Served, course_in

pytestmark = pytest.mark.browser

MOST_REQUESTS, MOST_BYTES = 8, 60_000


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

    assert len(sent) <= MOST_REQUESTS, sent
    assert {"main.bundle.js", "style.css", "start", "literata-ascii.woff2"} <= sent.keys()
    assert sum(sent.values()) < MOST_BYTES, sent
    assert all("immutable" in each.headers["cache-control"] for each in loads[0] if "/static/" in each.url)
    assert page.locator("#question").is_visible()


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
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.reload()
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

    assert {name for name in fetched if name.endswith("woff2")} == {
        *("literata-latin.woff2", "literata-italic-latin.woff2"),
        *("literata-bold-latin.woff2", "literata-bold-extended.woff2"),
    }
    assert fonts_of(page, ".answer em") == {"Literata"}
    assert fonts_of(page, ".answer strong") == {"Literata"}
