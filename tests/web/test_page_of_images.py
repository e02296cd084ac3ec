"""Images that are pasted or dropped go with the next question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from openbook.llm.messages import Attachment, Request
from openbook.testing import ScriptedModel
from tests.web.serving import Served, course_in
from tests.web.test_page import ask

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]

WITH_IMAGES = """async ([width, count]) => {
    const carried = new DataTransfer();
    for (let at = 0; at < count; at += 1) {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [width, 40];
        canvas.getContext("2d").fillRect(0, 0, width / 2, 40);
        const blob = await new Promise((done) => canvas.toBlob(done));
        carried.items.add(new File([blob], `screen-${at}.png`, { type: "image/png" }));
    }
    return carried;
}"""
PASTE = """(carried) => document.querySelector("#question").dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: carried, bubbles: true, cancelable: true }))"""
WORDS = "When does the ferry leave?"


def images_of(request: Request) -> list[Attachment]:
    return [part for message in request.messages for part in message.parts if isinstance(part, Attachment)]


def test_a_pasted_image_goes_with_the_next_question_alone(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    model = ScriptedModel(WORDS, "Nobody says [1:1].", WORDS, "Nobody says [1:1].", name="scripted:tutor")
    page = browse(serve(course_in(tmp_path), model=model, verifier="off", query_expansion=False))

    page.evaluate(PASTE, page.evaluate_handle(WITH_IMAGES, [100, 2]))
    expect(page.locator(".pictures canvas")).to_have_count(2)
    shoot(page, "images")
    page.get_by_role("button", name="Remove screen-0.png").click()
    ask(page, "What is this?")
    expect(page.locator(".pictures canvas")).to_have_count(0)
    expect(page.locator(".answer")).to_contain_text("Nobody says")

    assert [len(images_of(request)) for request in model.requests[:2]] == [1, 1]


def test_a_dropped_image_is_for_the_question_and_a_large_one_is_scaled_down(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    model = ScriptedModel(WORDS, "Nobody says [1:1].", name="scripted:tutor")
    page = browse(serve(course_in(tmp_path), model=model, verifier="off", query_expansion=False))

    carried = page.evaluate_handle(WITH_IMAGES, [3000, 1])
    page.dispatch_event("body", "dragenter", {"dataTransfer": carried})
    page.dispatch_event("#drop", "drop", {"dataTransfer": carried})
    expect(page.locator(".pictures canvas")).to_have_count(1)
    expect(page.locator(".upload")).to_have_count(0)
    ask(page, "What is this?")
    expect(page.locator(".answer")).to_contain_text("Nobody says")

    (image,) = images_of(model.requests[0])
    assert image.media_type == "image/jpeg"


def test_what_is_no_image_is_said(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    broken = page.evaluate_handle("""() => {
        const carried = new DataTransfer();
        carried.items.add(new File(["no image"], "broken.png", { type: "image/png" }));
        return carried;
    }""")

    page.evaluate(PASTE, broken)

    expect(page.locator("#notice")).to_contain_text("broken.png” cannot be shown to a model")
