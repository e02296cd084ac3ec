"""The page of courses: a person puts lessons in order, and the change lies beside the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support import write_tree
from tests.web.axe import AXE, violations
from tests.web.npm import unpacked
from tests.web.serving import Served, course_in

pytestmark = pytest.mark.browser


@pytest.fixture
def knots(tmp_path: Path) -> Path:
    care = "# Ropes\n\nHemp is a rope of fibres.\n\n## Care\n\nDry ropes last for years.\n"
    return write_tree(tmp_path / "knots", {"1-ropes.md": care, "2-bends.md": "# Bends\n\nA bend joins two ropes.\n"})


def titles(page: Page) -> list[str]:
    return page.locator("tbody tr td:nth-child(2)").all_inner_texts()


def test_lessons_are_renamed_moved_split_and_hidden_beside_their_files(
    serve: Callable[..., Served],
    browse: Callable[..., Page],
    knots: Path,
    shoot: Callable[[Page, str], None],
    pytestconfig: pytest.Config,
) -> None:
    served = serve(knots, courses=True, server_roots=(str(knots.parent),))
    page = browse(served)
    page.goto(f"{served.url}courses")
    expect(page.get_by_role("button", name="Study guide: lesson 2")).to_be_visible()

    page.get_by_role("button", name="Rename: lesson 1").click()
    page.get_by_label("Title").fill("Rope")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("cell", name="Rope", exact=True)).to_be_visible()
    page.get_by_role("button", name="Down: lesson 1").click()
    expect(page.locator("tbody tr").first).to_contain_text("Bends")
    page.get_by_role("button", name="Split: lesson 2").click()
    page.get_by_label("Heading that begins the next lesson").fill("Care")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("cell", name="Care", exact=True)).to_be_visible()
    page.get_by_role("button", name="Hide: lesson 1").click()
    page.locator("dialog").get_by_role("button", name="Hide").click()
    expect(page.locator("tbody tr")).to_have_count(2)

    assert titles(page) == ["Rope", "Care"]
    assert 'title = "Rope"' in (knots / "course.toml").read_text(encoding="utf-8")
    axe = (unpacked(AXE, pytestconfig) / "axe.min.js").read_text(encoding="utf-8")
    assert violations(page, axe, expected=frozenset({"color-contrast", "region"})) == []
    shoot(page, "courses")


def test_a_study_guide_is_read_on_the_page_and_downloaded_with_a_name(
    serve: Callable[..., Served], browse: Callable[..., Page], knots: Path, shoot: Callable[[Page, str], None]
) -> None:
    page = browse(serve(knots, courses=True))
    page.goto(f"{page.url.rpartition('/')[0]}/courses")
    page.set_viewport_size({"width": 800, "height": 360})
    page.get_by_role("button", name="Study guide: lesson 1").click()
    guide = page.get_by_role("dialog")

    expect(guide.get_by_role("heading", name="Study guide: lesson 1")).to_be_in_viewport()
    expect(guide.get_by_role("heading", name="Summary")).to_be_visible()
    expect(guide.get_by_role("listitem").filter(has_text="Hemp is a rope of fibres.").first).to_be_visible()
    expect(guide).not_to_contain_text("## ")
    shoot(page, "study-guide")
    with page.expect_download() as download:
        guide.get_by_role("link", name="Download as Markdown").click()
    assert download.value.suggested_filename == "Knots 1.md"
    guide.get_by_role("button", name="Close").click()
    expect(guide).to_have_count(0)


def test_who_has_no_key_is_told_so_and_not_asked_for_ever(
    serve: Callable[..., Served], browse: Callable[..., Page], tmp_path: Path, troubles: list[str]
) -> None:
    served = serve(course_in(tmp_path), needs_key=True)
    page = browse(served)
    page.goto(f"{served.url}courses")

    page.get_by_role("button", name="Not now").click()

    expect(page.get_by_role("alert")).to_contain_text("A key is needed to see the courses.")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Key", exact=True).fill(served.key)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Reading the Tides")).to_be_visible()
    troubles.clear()  # the browser reports that it was not let in
