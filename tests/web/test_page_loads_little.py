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
    assert {"main.bundle.js", "style.css", "start"} <= sent.keys()
    assert sum(sent.values()) < MOST_BYTES, sent
    assert all("immutable" in each.headers["cache-control"] for each in loads[0] if "/static/" in each.url)
    assert page.locator("#question").is_visible()
