"""Each state of the pages, wide and narrow, light and dark: nothing sticks out, and axe has nothing to say."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from openbook.errors import OverloadedError
from openbook.testing import FakeServer, Fault, ScriptedReply
from tests.unit.sources.readers.test_spreadsheet import row, xlsx
from tests.web.axe import AXE, violations
from tests.web.npm import unpacked
from tests.web.serving import ROOT, Served, course_in
from tests.web.test_page import TUTORED, WHY, ask, choose
from tests.web.test_page_in_trouble import model_behind
from tests.web.test_page_of_people import make_class

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]
Look = Callable[..., None]

WIDTHS = {1440: 900, 360: 740}
_BEYOND = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="session")
def axe(request: pytest.FixtureRequest) -> str:
    return (unpacked(AXE, request.config) / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(
    params=[(width, scheme) for width in WIDTHS for scheme in ("light", "dark")],
    ids=lambda each: f"{each[0]}-{each[1]}",
)
def screen(request: pytest.FixtureRequest) -> dict[str, Any]:
    width, scheme = request.param
    return {"viewport": {"width": width, "height": WIDTHS[width]}, "color_scheme": scheme}


@pytest.fixture
def look(screen: dict[str, Any], shoot: Shoot, axe: str) -> Look:
    """Keep a picture of a state, and check that it fits its window and can be used by everyone."""
    width, scheme = screen["viewport"]["width"], screen["color_scheme"]

    def at(page: Page, state: str, *, expected: frozenset[str] = frozenset({"color-contrast"})) -> None:
        shoot(page, f"{state}-{width}-{scheme}")
        assert page.evaluate(_BEYOND) == 0, f"{state} is wider than its window"
        assert violations(page, axe, expected=expected) == [], state

    return at


def press(page: Page, key: str) -> None:
    """Press a single key where nobody types."""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(key)


def new_question(page: Page) -> None:
    press(page, "n")
    expect(page.locator("#welcome h2")).to_be_visible()


def of_all_formats(folder: Path) -> Path:
    """Write a folder whose documents the viewer shows in all of its ways."""
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "formats" / "tides.pdf", folder)
    long = " + ".join(f"pier_{number}" for number in range(40))
    files = {
        "bell.py": f'def brass_bell(pier: int) -> int:\n    """Ring the brass bell of a pier."""\n    return {long}\n',
        "gulls.md": "# Gulls\n\n| Gull | Wing |\n|---|---|\n| herring | long |\n\nThe *herring* gull nests on roofs.\n",
        "seals.rst": "Seals\n=====\n\n.. note:: Keep away.\n\n- Seals sleep on ``sand``.\n\n::\n\n    seal = sleep()\n",
        "ports.csv": "port,berths,depth of water in metres,name of the harbour master\nZander,12,3,Runa Holm\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "cranes.xlsx").write_bytes(xlsx(Cranes=row(1, "Crane", "Tons") + row(2, "Goliath", 90)))
    return folder


def test_what_is_asked_and_answered(
    serve: Serve, browse: Browse, tmp_path: Path, screen: dict[str, Any], look: Look, troubles: list[str]
) -> None:
    steps = (*TUTORED, OverloadedError("the model is busy", hint="try again in a minute"))
    page = browse(serve(course_in(tmp_path), steps=steps), **screen)
    page.locator(".suggestion").first.wait_for()
    look(page, "welcome")
    page.locator("#scope-open").click()
    look(page, "scope")
    page.keyboard.press("Escape")

    ask(page, WHY)
    look(page, "answer")
    page.get_by_text("1 claim to look at").click()
    page.locator(".answer-foot").scroll_into_view_if_needed()
    look(page, "answer-foot")
    page.locator(".answer a.cite").nth(3).focus()
    look(page, "card")
    page.locator(".answer a.cite").nth(3).click()
    page.locator("#viewer mark").first.wait_for()
    look(page, "source")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(page.locator("#card")).to_be_hidden()
    look(page, "edit")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("dialog .share-links")).to_contain_text("None.")
    look(page, "share")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Not helpful").click()
    look(page, "not-helpful")
    page.keyboard.press("Escape")

    new_question(page)
    page.get_by_label("Your question").fill("What is a spring tide?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=failed]")).to_have_count(1)
    look(page, "failure")
    new_question(page)
    choose(page, "#model", "extractive")
    ask(page, "Who invented the printing press in Mainz?")
    look(page, "refusal")
    troubles.clear()


def test_what_stands_around_the_answers(
    serve: Serve, browse: Browse, tmp_path: Path, screen: dict[str, Any], look: Look
) -> None:
    page = browse(serve(course_in(tmp_path)), **screen)
    ask(page, "What is a neap tide?")
    page.locator("#question").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#tip")).to_be_visible()
    look(page, "tip")
    press(page, "s")
    page.get_by_label("Words to search for").fill("high tide")
    expect(page.locator(".hit").first).to_be_visible()
    look(page, "search")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator(".command").first).to_be_visible()
    look(page, "palette")
    page.keyboard.press("Escape")
    press(page, "?")
    look(page, "keys")
    page.keyboard.press("Escape")
    if screen["viewport"]["width"] < 960:
        page.get_by_role("button", name="Library").click()
    page.locator(".session-more").first.click()
    look(page, "rail")
    page.keyboard.press("Escape")
    page.locator("#history-search").fill("quarter")
    expect(page.locator("#history-found mark").first).to_be_visible()
    look(page, "history-found")
    page.locator("#history-search").fill("")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("dialog[open]")).to_be_visible()
    look(page, "add", expected=frozenset({"label"}))


@pytest.mark.parametrize(
    ("state", "question", "shown"),
    [
        ("pdf", "How long does a lunar day last?", "img.page"),
        ("code", "What does brass_bell do?", ".hl-k"),
        ("markdown", "Where does the herring gull nest?", ".rendered .cited"),
        ("rst", "Where do seals sleep?", ".rendered .cited"),
        ("csv", "Which port has Runa Holm as harbour master?", ".rendered tr.cited"),
        ("sheet", "How many tons does the crane Goliath lift?", ".rendered tr.cited"),
    ],
    ids=["pdf", "code", "markdown", "rst", "csv", "sheet"],
)
def test_what_the_viewer_shows(
    serve: Serve,
    browse: Browse,
    tmp_path: Path,
    screen: dict[str, Any],
    look: Look,
    state: str,
    question: str,
    shown: str,
) -> None:
    page = browse(serve(of_all_formats(tmp_path / "formats")), **screen)
    ask(page, question)

    page.locator(".answer a.cite").first.click()
    page.locator(f"#viewer-body {shown}").first.wait_for()
    page.wait_for_load_state("networkidle")
    expect(page.locator(".page-frame[aria-busy]")).to_have_count(0)
    look(page, f"viewer-{state}")


def test_what_is_being_written(
    serve: Serve, browse: Browse, tmp_path: Path, screen: dict[str, Any], look: Look
) -> None:
    table = "| Tide | Height |\n|---|---|\n| neap | **low** |\n\n- It rises **twice** a day.\n- And so\n\n"
    with FakeServer(Fault("hold", ScriptedReply(table * 4), after=20)) as server:
        page = browse(serve(course_in(tmp_path), model=model_behind(server)), **screen)
        page.get_by_label("Your question").fill(WHY)
        page.keyboard.press("Enter")
        expect(page.locator(".answer table td strong").first).to_have_text("low")
        look(page, "writing")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("[data-phase=stopped]")).to_have_count(1)
        look(page, "stopped")


def test_where_there_is_nothing_or_no_key(
    serve: Serve, browse: Browse, tmp_path: Path, screen: dict[str, Any], look: Look, troubles: list[str]
) -> None:
    page = browse(serve(), **screen)
    look(page, "empty")
    bad = FilePayload(name="noise.md", mimeType="text/markdown", buffer=b"\x00\x01\x02" * 99)
    page.locator("#files").set_input_files([bad])
    if screen["viewport"]["width"] < 960:
        page.get_by_role("button", name="Library").click()
    expect(page.locator("#uploads")).to_contain_text("noise.md: binary")
    look(page, "upload-failed")

    locked = browse(serve(course_in(tmp_path), needs_key=True), **screen)
    look(locked, "log-in")
    locked.keyboard.press("Escape")
    look(locked, "locked")
    troubles.clear()  # the browser reports that it was not let in


def test_the_pages_beside_the_questions(
    serve: Serve,
    browse: Browse,
    tmp_path: Path,
    screen: dict[str, Any],
    look: Look,
    troubles: list[str],
    chromium: Browser,
) -> None:
    served = serve(course_in(tmp_path), needs_key=True, role="owner")
    page = browse(served, **screen)
    page.goto(f"{served.url}admin")
    look(page, "admin-door")
    page.get_by_role("button", name="Log in with a key").click()
    page.get_by_label("Key", exact=True).fill(served.key)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    link = make_class(page)
    look(page, "admin")
    page.goto(served.url)
    ask(page, WHY)
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Make a link").click()
    shared = page.get_by_label("Link", exact=True).input_value()
    stranger = chromium.new_context(**screen)
    for name, url in (("join", link), ("shared", shared)):
        other = stranger.new_page()
        other.goto(url)
        expect(other.locator("h1, h2").first).to_be_visible()
        if name == "shared":
            expect(other.locator(".shared-place").first).to_be_visible()
        look(other, name)
    stranger.close()
    troubles.clear()  # the browser reports that it was not let in before
