"""Text is never HTML: what documents, names, titles and models hold is shown, and nothing of it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from openbook.llm.messages import Request
from tests.web.serving import Served, mark_of
from tests.web.test_page import choose

pytestmark = pytest.mark.browser

ATTACK = (
    "<script>document.title='ran'</script> <img src=x onerror=\"document.title='ran'\"> "
    "<svg onload=\"document.title='ran'\"><a href=\"javascript:document.title='ran'\">x</a></svg> "
    "[go](javascript:document.title='ran') [on](data:text/html,<script>1</script>) ![see](https://tracker.example/a) "
    "<iframe srcdoc=\"<script>parent.document.title='ran'</script>\"></iframe> \u202egnp.exe\u202c"
)
TITLED = "<img src=x onerror=document.title='ran'> \u202elohcs"
# No slash: it has to be the name of a file.
NAMED = "<img src=x onerror=document.title='ran'>"

# An icon of the page itself: one path, no attribute that could do anything, and not where others' text is shown.
FOUND = """() => {
  const isOwnIcon = (each) => each.matches(".with-icon > svg.icon") && !each.closest(".answer, .question, #viewer-body")
    && /^<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="[\\w .-]+"><\\/path><\\/svg>$/
      .test(each.outerHTML);
  return [...document.querySelectorAll("*")].flatMap((each) => [
    ...(/^(script|svg|iframe|object|embed|style|base|form)$/i.test(each.localName)
        && !each.matches("head > script[src], #composer, #search-form, dialog form") && !isOwnIcon(each)
        ? [each.outerHTML] : []),
    ...(each.localName === "img" && !each.matches(".wordmark img") ? [each.outerHTML] : []),
    ...each.getAttributeNames().filter((name) => /^(on|style$|srcdoc)/.test(name))
        .filter(() => !each.matches("#question, #card, .floating"))
        .map((name) => each.localName + " has " + name),
    ...["href", "src", "action"].map((name) => each.getAttribute(name) ?? "")
        .filter((url) => /^\\s*(javascript|data|vbscript):/i.test(url)),
])}"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / f"{NAMED} library"
    folder.mkdir()
    (folder / f"{NAMED}.md").write_text(
        f"# Harbour {ATTACK}\n\nThe lantern is lit at dusk. {ATTACK}\n", encoding="utf-8"
    )
    lesson = f"Lesson 1: {TITLED}\nThe anchor weighs nine tons. {ATTACK}\n"
    (folder / "course.txt").write_text(f"Course Title: {TITLED}\n\n{lesson}", encoding="utf-8")
    return folder


def parrot(request: Request) -> str:
    mark = mark_of(request, "The lantern is lit at dusk")
    return (
        f"The lantern is lit at dusk {mark}. {ATTACK} {mark}\n\n```html\n{ATTACK}\n```\n\nThe anchor is red. {ATTACK}\n"
    )


@pytest.mark.parametrize("bypass_csp", [False, True], ids=["with-policy", "without-policy"])
def test_nothing_runs_that_comes_from_documents_names_titles_or_models(
    hostile: Path,
    serve: Callable[..., Served],
    browse: Callable[..., Page],
    bypass_csp: bool,
) -> None:
    page = browse(serve(hostile, steps=(parrot,), verifier="off"), bypass_csp=bypass_csp)

    page.get_by_label("Your question").fill(f"When is the lantern lit? {ATTACK[:200]}")
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    page.locator(".answer a.cite").first.click()
    expect(page.locator("#viewer :is(mark, .cited)").first).to_contain_text("The lantern is lit at dusk")
    choose(page, "#model", "extractive")
    page.get_by_label("Your question").fill("How much does the anchor weigh?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=answered]")).to_have_count(2)

    assert page.evaluate(FOUND) == []
    assert "ran" not in page.title().split()
    expect(page.locator(".answer").first).to_contain_text("<script>document.title='ran'</script>")
    expect(page.locator("#sources")).to_contain_text(NAMED)


def test_marks_of_writing_direction_are_shown_as_numbers(
    hostile: Path, serve: Callable[..., Served], browse: Callable[..., Page]
) -> None:
    page = browse(serve(hostile, steps=(parrot,), verifier="off"))

    page.get_by_label("Your question").fill("When is the lantern lit? \u202edusk")
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=answered]")).to_have_count(1)
    page.locator(".answer a.cite").first.click()
    expect(page.locator("#viewer :is(mark, .cited)").first).to_be_visible()

    for place in (".question", "#exchanges .answer", "#viewer-body", "#course"):
        expect(page.locator(place)).to_contain_text("‹U+202E›")
    assert "\u202e" not in page.locator("body").inner_text()
