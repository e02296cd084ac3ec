"""The page for owners, and the door of a class."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.axe import AXE, violations
from tests.web.npm import unpacked
from tests.web.serving import Served, course_in
from tests.web.test_page import ask

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]

# Sideways, inside of a page that fits.
_TABLES_THAT_SCROLL = """() => [...document.querySelectorAll(".table")]
  .filter((table) => table.scrollWidth > table.clientWidth).map((table) => table.getAttribute("aria-label"))"""


@pytest.fixture
def served(serve: Serve, tmp_path: Path) -> Served:
    return serve(course_in(tmp_path), needs_key=True, role="owner")


@pytest.fixture
def owner(served: Served, browse: Browse, troubles: list[str]) -> Page:
    page = browse(served)
    page.goto(f"{served.url}admin")
    page.get_by_role("button", name="Log in with a key").click()
    page.get_by_label("Key", exact=True).fill(served.key)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    troubles.clear()  # the browser reports that it was not let in before
    return page


def make_class(owner: Page) -> str:
    """Make a class, and return its link."""
    owner.get_by_role("button", name="New class").click()
    owner.get_by_label("Name of the class").fill("class of 26")
    owner.get_by_label("Questions a day, at most").fill("20")
    owner.get_by_role("button", name="Create").click()
    link = owner.locator(".secret").inner_text()
    owner.get_by_role("button", name="Done").click()
    return link


def join(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("Name").fill(name)
    page.get_by_label("PIN").fill("704312")
    page.get_by_role("button", name="Join").click()
    page.wait_for_selector("#welcome h2")


def test_an_owner_makes_a_class_whose_students_ask_and_change_nothing(
    served: Served, owner: Page, browse: Browse, shoot: Shoot, troubles: list[str]
) -> None:
    link = make_class(owner)
    student = browse(served)
    join(student, link, "Ada")
    shoot(student, "student")

    ask(student, "Why are there two high tides?")
    expect(student.get_by_role("button", name="Add", exact=True)).to_be_hidden()
    expect(student.get_by_role("button", name=re.compile("^Remove"))).to_have_count(0)
    expect(student.get_by_role("link", name="People")).to_be_hidden()
    troubles.clear()

    owner.reload()
    row = owner.locator("#keys").get_by_role("row", name="class of 26/Ada")
    expect(row).to_contain_text("student")
    expect(row).to_contain_text("1 of 20")
    expect(owner.locator("#log")).to_contain_text("joined class")
    shoot(owner, "people")
    row.get_by_role("button", name="Revoke").click()
    owner.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    student.reload()
    expect(student.get_by_role("heading", name="This server wants a key")).to_be_visible()
    troubles.clear()


def test_a_key_is_made_shown_once_and_changed(owner: Page) -> None:
    owner.get_by_role("button", name="New key").click()
    owner.get_by_label("Whose it is").fill("guest")
    owner.get_by_label("Role").select_option("editor")
    owner.get_by_role("button", name="Create").click()
    expect(owner.locator(".secret")).to_have_text(re.compile("^obk_"))
    owner.get_by_role("button", name="Done").click()
    row = owner.locator("#keys").get_by_role("row", name="guest")
    expect(row).to_contain_text("editor")

    owner.get_by_role("button", name="Change guest").click()
    owner.get_by_label("Role").select_option("reader")
    owner.get_by_label("US dollars a day, at most").fill("0.5")
    owner.get_by_role("button", name="Change", exact=True).click()

    expect(row).to_contain_text("reader")
    expect(row).to_contain_text("$0.00 of $0.50")


def test_on_a_phone_each_value_of_a_row_says_what_it_is(owner: Page) -> None:
    make_class(owner)
    owner.set_viewport_size({"width": 360, "height": 800})
    row = owner.locator("#classes").get_by_role("row", name="class of 26")

    expect(row.get_by_role("cell")).to_have_count(5)
    heads = row.locator("td").evaluate_all("cells => cells.map((each) => getComputedStyle(each, '::before').content)")
    assert heads == ["none", '"Students"', '"Limits"', '"Until"', "none"]
    row.get_by_role("button", name="Change class of 26").click()
    expect(owner.get_by_role("dialog")).to_be_visible()


def test_a_wrong_pin_is_told_and_the_right_one_opens(
    served: Served, owner: Page, browse: Browse, troubles: list[str]
) -> None:
    link = make_class(owner)
    page = browse(served)
    join(page, link, "Ada")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_selector("dialog[open]")
    page.goto(link)

    page.get_by_label("Name").fill("ada")
    page.get_by_label("PIN").fill("not this one")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("The name or the PIN is wrong")
    page.get_by_label("PIN").fill("704312")
    page.get_by_label("PIN").press("Enter")

    page.wait_for_selector("#welcome h2")
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    troubles.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 360])
def test_the_pages_fit_and_can_be_used_by_everyone(
    owner: Page, served: Served, shoot: Shoot, scheme: str, width: int, pytestconfig: pytest.Config
) -> None:
    axe = (unpacked(AXE, pytestconfig) / "axe.min.js").read_text(encoding="utf-8")
    make_class(owner)
    owner.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    owner.set_viewport_size({"width": width, "height": 800})

    for name in ("admin", "join#obc_made_up"):
        owner.goto("about:blank")
        owner.goto(served.url + name)
        owner.wait_for_selector("#log table, #entrance")
        shoot(owner, f"{name.partition('#')[0]}-{scheme}-{width}")
        assert owner.evaluate("document.documentElement.scrollWidth") == width, name
        assert owner.evaluate(_TABLES_THAT_SCROLL) == [], name
        assert violations(owner, axe, expected=frozenset({"color-contrast", "region"})) == [], name


def test_the_door_of_the_page_for_owners_fits_a_narrow_window(
    served: Served, browse: Browse, troubles: list[str]
) -> None:
    page = browse(served, viewport={"width": 360, "height": 740})
    page.goto(f"{served.url}admin")
    title, back = page.get_by_role("heading", name="People and server"), page.get_by_role("link", name="Back to")
    log_in = page.get_by_role("button", name="Log in with a key")

    words = "const words = document.createRange(); words.selectNodeContents(each);"
    left = f"each => {{ {words} return words.getBoundingClientRect().left; }}"
    assert log_in.evaluate(f"each => {{ {words} return words.getClientRects().length; }}") == 1
    assert back.evaluate(left) == title.evaluate(left)
    troubles.clear()  # the browser reports that it was not let in
