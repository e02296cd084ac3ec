"""Links that are shared: made and revoked on the page, and opened by a stranger in another browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.axe import AXE, violations
from tests.web.npm import unpacked
from tests.web.serving import Served, course_in
from tests.web.test_page import QUESTION, TUTORED, WHY, ask

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]


def test_a_link_is_made_opened_by_a_stranger_and_revoked(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot, chromium: Browser
) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED))
    ask(page, WHY)

    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("dialog .share-links")).to_contain_text("None.")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link", exact=True).input_value()
    expect(page.locator("dialog .share-links li")).to_have_count(1)
    shoot(page, "share-dialog")

    stranger = chromium.new_context()
    other = stranger.new_page()
    other.goto(link)
    expect(other.locator("h1")).to_have_text(WHY)
    expect(other.locator(".shared-place .kept-quote").first).to_be_visible()
    other.locator(".answer a.cite").nth(1).click()
    expect(other.locator(".shared-place").nth(1)).to_be_focused()
    assert other.url == link  # which can be loaded again
    page.get_by_role("button", name="Revoke the link to").click()
    expect(page.locator("dialog .share-links")).to_contain_text("None.")
    expect(page.get_by_label("Link", exact=True)).to_have_count(0)  # nobody should copy it now
    expect(page.locator("dialog").get_by_role("button", name="Close")).to_be_focused()
    other.reload()
    expect(other.get_by_role("status")).to_contain_text("does not exist or has expired")
    expect(other.locator(".exchange")).to_have_count(0)
    shoot(other, "shared-revoked")
    stranger.close()


def test_a_whole_conversation_is_shared_and_its_link_is_revoked_from_the_list_at_the_side(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)
    ask(page, "What is a neap tide?")
    page.get_by_role("button", name="Share", exact=True).last.click()
    page.get_by_label("All answers that this conversation has now").check()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link", exact=True).input_value()
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Links", exact=True).click()
    expect(page.locator("dialog .share-links li")).to_contain_text("2 answers")
    other = page.context.new_page()
    other.goto(link)
    expect(other.locator(".question")).to_have_text([QUESTION, "What is a neap tide?"])
    page.get_by_role("button", name="Revoke the link to").click()
    expect(page.locator("dialog .share-links")).to_contain_text("None.")


def test_who_may_not_share_sees_no_button_for_it(
    serve: Serve, browse: Browse, tmp_path: Path, troubles: list[str]
) -> None:
    served = serve(course_in(tmp_path), needs_key=True)
    page = browse(served)
    page.get_by_label("Key", exact=True).fill(served.key)
    page.get_by_label("Key", exact=True).press("Enter")
    expect(page.locator(".suggestion").first).to_be_visible()
    ask(page, QUESTION)

    expect(page.get_by_role("button", name="Copy with sources")).to_be_visible()
    expect(page.get_by_role("button", name="Share", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Links", exact=True)).to_be_hidden()
    troubles.clear()  # the browser says that a key was needed


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 360])
def test_what_is_shared_is_for_everyone(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot, pytestconfig: pytest.Config, scheme: str, width: int
) -> None:
    page = browse(
        serve(course_in(tmp_path), steps=TUTORED), color_scheme=scheme, viewport={"width": width, "height": 800}
    )
    axe = (unpacked(AXE, pytestconfig) / "axe.min.js").read_text(encoding="utf-8")
    ask(page, WHY)
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link", exact=True).input_value()
    shoot(page, f"share-{width}-{scheme}")
    found = violations(page, axe)

    page.goto(link)
    expect(page.locator(".shared-place").first).to_be_visible()
    shoot(page, f"shared-{width}-{scheme}")

    assert found == []
    assert violations(page, axe, expected=frozenset({"color-contrast", "region"})) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
