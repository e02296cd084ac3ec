"""The page is as wide and as high as its window, whatever stands in it: only its parts scroll."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from openbook.llm.messages import Request
from tests.web.serving import Served, course_in, mark_of
from tests.web.test_page import WHY, ask

pytestmark = pytest.mark.browser

SIZES = [{"width": 1440, "height": 900}, {"width": 768, "height": 1024}, {"width": 360, "height": 740}]

# Of the document, of the window, and of the answers against the part that they scroll in.
_MEASURE = """() => {
    const page = document.documentElement, scroll = document.getElementById("scroll");
    return [page.scrollWidth - innerWidth, page.scrollHeight - innerHeight, scroll.scrollWidth - scroll.clientWidth];
}"""


def careless(request: Request) -> str:
    """Answer with much that is wrong, with a table that is wider than any page, and with a long line of code."""
    apart = mark_of(request, "A lunar day")
    wrong = "\n".join(f"- Two high tides are about {hours} hours and 25 minutes apart {apart}." for hours in range(40))
    head = "| " + " | ".join(f"a rather long heading {column}" for column in range(12)) + " |"
    row = "| " + " | ".join(f"A lunar day lasts {column} hours {apart}." for column in range(40, 52)) + " |"
    table = "\n".join((head, "|---" * 12 + "|", *[row] * 8))
    code = f"```python\nheights = [{', '.join(map(str, range(200)))}]\n```"
    return f"{wrong}\n\n{table}\n\n{code}\n\n{'W' * 300}"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))
def test_no_answer_makes_the_page_larger_than_its_window(
    serve: Callable[..., Served],
    browse: Callable[..., Page],
    shoot: Callable[[Page, str], None],
    tmp_path: Path,
    size: dict[str, int],
) -> None:
    page = browse(serve(course_in(tmp_path), steps=(careless,), verifier="off"), viewport=size)
    found = {"welcome": page.evaluate(_MEASURE)}

    ask(page, WHY)
    assert page.locator(".claim-conflict").count() > 20
    found["answer"] = page.evaluate(_MEASURE)
    shoot(page, f"much-{size['width']}")
    page.locator(".table").evaluate("table => { table.scrollIntoView(); table.scrollLeft = 5000; }")
    found["table"] = page.evaluate(_MEASURE)
    shoot(page, f"table-{size['width']}")
    page.locator(".answer a.cite").last.focus()
    found["card"] = page.evaluate(_MEASURE)
    page.locator(".answer a.cite").last.click()
    page.locator("#viewer mark").first.wait_for()
    found["source"] = page.evaluate(_MEASURE)
    page.keyboard.press("Escape")
    expect(page.locator("#viewer")).to_be_hidden()
    page.keyboard.press("?")
    found["dialog"] = page.evaluate(_MEASURE)

    assert found == {state: [0, 0, 0] for state in found}
    assert page.locator(".bar").evaluate("bar => bar.getBoundingClientRect().top") == 0
