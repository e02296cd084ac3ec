"""The page in a real browser: what a person does with it, from the first question to the last."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from openbook.errors import OverloadedError
from openbook.llm.messages import Request, ToolCall
from openbook.testing import ScriptedReply
from tests.web.serving import Served, course_in, mark_of

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]

QUESTION = "How long does a lunar day last?"
WHY = "Why are there two high tides in a day?"


def ask(page: Page, question: str) -> None:
    before = page.locator("[data-phase=answered]").count()
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("[data-phase=answered]")).to_have_count(before + 1)


def choose(page: Page, field: str, option: str | int) -> None:
    """Choose a model, a course or a lesson in what the chip below the question opens, by its words or its place."""
    page.locator("#scope-open").click()
    found = page.locator(field)
    found.select_option(index=option) if isinstance(option, int) else found.select_option(option)
    page.keyboard.press("Escape")
    expect(page.locator("#scope")).to_be_hidden()


def tutor(request: Request) -> str:
    """Answer as a good model with a fault would."""
    because = mark_of(request, "two high tides in a day")
    apart = mark_of(request, "A lunar day")
    bulges = mark_of(request, "The result is two bulges")
    return (
        f"That is why most coasts have two high tides in a day {because}.\n\n"
        f"- The water stands high below the Moon, and on the other side of the Earth {bulges}.\n"
        f"- Between two passages of the Moon lie 24 hours and 50 minutes {apart}.\n"
        f"- Two high tides are about 14 hours and 25 minutes apart {apart}.\n\n"
        "Fishermen have known this since the year 1200."
    )


def examiner(request: Request) -> str:
    """Check the claims of the tutor as a careful model would."""
    found = {
        "below the Moon": ("entailed", "two bulges of water, one under the Moon and one opposite to it"),
        "two passages": ("not said", ""),
        "14 hours": ("contradicted", "two high tides are about 12 hours and 25 minutes apart"),
    }
    asked = re.findall(r"^(\d+)\. \(source \d+, lines [^)]+\) (.*)$", request.messages[-1].text, re.MULTILINE)
    replies = [
        {"claim": int(number), "verdict": verdict, "quote": quote}
        for number, claim in asked
        for words, (verdict, quote) in found.items()
        if words in claim
    ]
    return "\n".join(map(json.dumps, replies))


TUTORED = (tutor, examiner)
"""Steps of one answer, and of its check."""


def test_a_question_is_answered_offline_by_quotes_with_citations(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))
    shoot(page, "welcome")

    ask(page, QUESTION)

    expect(page.locator(".answer")).to_contain_text("A lunar day therefore lasts 24 hours and 50 minutes")
    expect(page.locator(".answer a.cite").first).to_have_accessible_name(
        re.compile("the source says it in these words")
    )
    expect(page.locator("#scope-open")).to_have_text("quotes, without a model · all sources")
    shoot(page, "quotes")


def test_a_citation_opens_its_source_with_the_cited_sentence_highlighted(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)

    page.locator(".answer a.cite").first.click()

    expect(page.locator("#viewer mark").first).to_contain_text("A lunar day therefore lasts 24 hours and 50 minutes")
    expect(page.locator("#viewer-place")).to_contain_text("Lesson 0: Why the Sea Rises")
    expect(page.locator("#viewer .line").first).to_be_attached()
    expect(page.locator("#viewer-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#viewer")).to_be_hidden()
    expect(page.locator(".answer a.cite").first).to_be_focused()


def test_more_of_a_source_is_shown_when_asked_for(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(Path(__file__).parents[1] / "sample"))
    ask(page, "choose_ferry")
    page.locator(".answer a.cite").first.click()
    page.locator("#viewer mark").first.wait_for()

    shown = page.locator("#viewer .line").count()

    assert shown >= 20
    expect(page.locator("#viewer-body")).to_have_attribute("data-kind", "code")


def test_each_citation_of_a_model_has_its_verdict_and_only_conflicts_are_marked(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path), steps=TUTORED))

    ask(page, WHY)

    chips = page.locator(".answer a.cite")
    expect(chips).to_have_count(4)
    for at, verdict in enumerate(("exact", "confirmed", "unverified", "conflict")):
        expect(chips.nth(at)).to_have_class(f"cite cite-{verdict}")
    expect(page.locator(".claim")).to_have_count(1)
    expect(page.locator(".claim-conflict")).to_contain_text("14 hours")
    expect(page.locator(".doubt")).to_be_hidden()
    page.get_by_text("1 claim to look at").click()
    expect(page.locator(".doubt")).to_be_visible()
    expect(page.locator(".doubt-why")).to_contain_text("conflict: ")
    expect(page.locator(".open-claims")).to_have_text(
        "1 claim was not verified; 1 other was, by scripted:tutor. 1 claim names no source."
    )
    chips.nth(1).click()
    expect(page.locator("#viewer mark").first).to_contain_text("The result is two bulges of water")
    expect(page.locator("#viewer-verdict")).to_contain_text("confirmed")
    shoot(page, "page")


def test_a_chip_shows_its_quote_when_it_has_the_focus_and_escape_hides_it(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)

    page.locator(".answer a.cite").first.focus()

    expect(page.locator("#card")).to_contain_text("A lunar day therefore lasts")
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()


def test_a_follow_up_goes_on_in_the_same_conversation(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    ask(page, "What is a neap tide?")

    ask(page, "What is a spring tide?")

    expect(page.locator(".session")).to_have_count(1)
    page.reload()
    expect(page.locator(".question")).to_have_text(["What is a neap tide?", "What is a spring tide?"])


def test_the_address_and_other_tabs_are_followed(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    ask(page, "What is a neap tide?")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".question")).to_have_text(["What is a neap tide?"])

    page.get_by_role("button", name="New question").click()
    ask(page, "What is a spring tide?")
    other.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    expect(other.locator(".session")).to_have_count(2)
    page.go_back()
    expect(page.locator(".exchange")).to_have_count(0)
    page.go_back()
    expect(page.locator(".question")).to_have_text(["What is a neap tide?"])


def test_of_what_is_opened_and_asked_in_a_hurry_the_last_is_shown(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, "What is a neap tide?")
    page.get_by_role("button", name="New question").click()
    ask(page, "What is a spring tide?")
    expect(page.locator(".session-open")).to_have_count(2)  # the list is read again after the answer
    spring, neap = page.locator(".session-open").nth(0), page.locator(".session-open").nth(1)
    late: list[Route] = []
    page.route(f"**/api/sessions/{spring.get_attribute('data-focus')}", lambda route: late.append(route))

    with page.expect_request("**/api/sessions/*"):
        spring.click()
    neap.click()
    expect(page.locator(".question")).to_have_text(["What is a neap tide?"])
    with page.expect_response("**/api/sessions/*"):
        late.pop().continue_()
    expect(page.locator("#title")).to_have_text("What is a neap tide?")
    page.get_by_role("button", name="New question").click()
    with page.expect_request("**/api/sessions/*"):
        spring.click()
    ask(page, QUESTION)
    with page.expect_response("**/api/sessions/*"):
        late.pop().continue_()

    expect(page.locator(".question")).to_have_text([QUESTION])


def test_behind_the_prefix_of_a_proxy_the_page_finds_its_parts(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    served = serve(course_in(tmp_path))
    page = browse(served)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(served.url)))
    page.route("**/books/**", lambda route: route.continue_(url=route.request.url.replace("/books/", "/")))

    page.goto(f"{served.url}books/")
    ask(page, QUESTION)
    page.locator(".answer a.cite").first.click()

    expect(page.locator("#viewer-body mark").first).to_be_visible()
    assert [path for path in asked if not path.startswith("books/")] == []


def test_the_page_learns_who_it_is_before_it_asks_anything_else(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    expect(page.locator(".suggestion").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    happened: list[str] = []
    page.on("request", lambda request: happened.append(request.url.partition("/api/")[2]))
    page.on("response", lambda response: happened.append(response.url.partition("/api/")[2]))

    page.reload()
    expect(page.locator(".suggestion").first).to_be_visible()

    assert list(filter(None, happened))[:2] == ["start", "start"]


def test_a_suggested_question_is_asked_with_a_click(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    suggestion = page.locator(".suggestion").first
    words = suggestion.inner_text()

    suggestion.click()

    expect(page.locator(".question")).to_have_text([words])
    expect(page.locator("[data-phase=answered]")).to_have_count(1)


def test_a_model_searches_by_itself_where_it_is_let_and_quotes_cannot(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    looks = ScriptedReply(ToolCall("1", "search", '{"query": "neap tide"}'))
    page = browse(serve(course_in(tmp_path), steps=(looks, "The sources say nothing of that.")))
    may_search = page.get_by_label("Let the model search")

    page.locator("#scope-open").click()
    page.locator("#model").select_option("extractive")
    expect(may_search).to_be_hidden()
    expect(page.locator("#scope")).to_contain_text("Choose a model to have them written.")
    page.locator("#model").select_option("scripted:tutor")
    may_search.check()
    expect(page.locator("#scope-open")).to_have_text("tutor (scripted) · searches by itself · all sources")
    shoot(page, "may-search")
    page.keyboard.press("Escape")
    ask(page, "What is a neap tide?")

    expect(page.locator(".answer")).to_contain_text("nothing of that")


def test_a_conversation_is_renamed_exported_and_deleted(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)
    more = page.locator(".session-more")

    more.click()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Title").fill("The Moon")
    page.get_by_label("Title").press("Enter")
    expect(page.locator(".session-title")).to_have_text("The Moon")
    more.click()
    with page.expect_download() as exported:
        page.get_by_role("link", name="Export Markdown").click()
    more.click()
    page.locator(".menu .danger").click()
    page.locator("dialog .button.danger").click()

    expect(page.locator(".session")).to_have_count(0)
    expect(page.locator(".question")).to_have_count(0)
    assert "24 hours and 50 minutes" in exported.value.path().read_text(encoding="utf-8")


def test_a_refusal_says_so_and_lists_what_came_nearest(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))

    ask(page, "Which parliament elects the chancellor of the tide?")

    expect(page.locator("[data-refused=true] .facts")).to_contain_text("No answer: the sources do not speak of it")
    expect(page.locator(".place-quote mark").first).to_have_text(re.compile("tide", re.IGNORECASE))
    page.locator(".places .place").first.click()
    expect(page.locator("#viewer .line").first).to_be_visible()
    shoot(page, "refusal")


def test_without_sources_the_page_says_what_to_do(serve: Serve, browse: Browse, shoot: Shoot) -> None:
    page = browse(serve())

    shoot(page, "empty")

    expect(page.locator("#welcome")).to_contain_text("nothing to read yet")


def test_a_model_that_fails_is_told_with_what_to_do_and_can_be_asked_again(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    def busy(_: Request) -> OverloadedError:
        return OverloadedError("the tutor is overloaded", hint="ask again in a minute")

    page = browse(serve(course_in(tmp_path), steps=(busy, *TUTORED)))
    page.get_by_label("Your question").fill(WHY)
    page.keyboard.press("Enter")

    expect(page.locator(".failure")).to_contain_text("overloaded")
    bars = page.locator(".answer").evaluate("it => getComputedStyle(it, '::before').content")
    assert bars == "none", "it looks as if something was still to come"
    shoot(page, "failure")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator("[data-phase=answered]")).to_have_count(1)


def test_too_many_questions_are_held_back_with_a_countdown(
    serve: Serve, browse: Browse, tmp_path: Path, troubles: list[str], shoot: Shoot
) -> None:
    served = serve(course_in(tmp_path), needs_key=True, key_questions_per_minute=1)
    page = browse(served)
    page.get_by_label("Key", exact=True).fill(served.key)
    page.get_by_label("Key", exact=True).press("Enter")
    expect(page.locator(".suggestion").first).to_be_visible()
    ask(page, QUESTION)

    page.get_by_label("Your question").fill("What is a neap tide?")
    page.keyboard.press("Enter")

    expect(page.locator("#notice")).to_contain_text("You can ask again in")
    expect(page.locator("#send")).to_be_disabled()
    expect(page.get_by_label("Your question")).to_have_value("What is a neap tide?")
    expect(page.locator(".exchange")).to_have_count(1)
    shoot(page, "held-back")
    assert {re.sub(r".*status of (\d+).*", r"\1", trouble) for trouble in troubles} == {"401", "429"}
    troubles.clear()


def test_a_citation_of_a_pdf_opens_its_page_as_a_picture(serve: Serve, browse: Browse, shoot: Shoot) -> None:
    page = browse(serve(Path(__file__).parents[2] / "examples" / "formats" / "tides.pdf"))
    ask(page, QUESTION)

    page.locator(".answer a.cite").first.click()

    picture = page.get_by_role("img", name=re.compile("Page 2 as it is printed, with the cited words marked"))
    expect(picture).to_be_visible()
    assert picture.evaluate("each => each.decode().then(() => each.naturalWidth)") == 1200
    shoot(page, "pdf")
    page.get_by_role("button", name="Next page").click()
    expect(page.locator(".page-number")).to_have_text("Page 3 of 4")
    page.get_by_role("button", name="Previous page").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download the original").click()
    assert saved.value.suggested_filename == "tides.pdf"


def test_a_pdf_whose_file_is_gone_is_shown_as_text(
    serve: Serve, browse: Browse, tmp_path: Path, troubles: list[str]
) -> None:
    file = tmp_path / "pages" / "tides.pdf"
    file.parent.mkdir()
    file.write_bytes((Path(__file__).parents[2] / "examples" / "formats" / "tides.pdf").read_bytes())
    page = browse(serve(file.parent))
    ask(page, QUESTION)
    file.unlink()

    page.locator(".answer a.cite").first.click()

    expect(page.locator("#viewer mark").first).to_contain_text("lunar day")
    troubles.clear()  # the browser says that there is no picture


def test_a_citation_of_a_pdf_names_its_page(serve: Serve, browse: Browse) -> None:
    page = browse(serve(Path(__file__).parents[2] / "examples" / "formats" / "tides.pdf"))
    ask(page, QUESTION)

    page.locator(".answer a.cite").first.click()
    page.get_by_role("button", name="Text", exact=True).click()

    expect(page.locator("#viewer mark").first).to_contain_text("lunar day")
    expect(page.locator("#viewer .line-label").first).to_contain_text("p. 1")
    expect(page.locator("#viewer-place")).to_contain_text("tides.pdf, p. 2")
    expect(page.locator(".document-name").first).to_have_text("tides.pdf")
    expect(page.locator(".document .place-at").first).to_have_text("p. 2")
    expect(page.locator(".line-number")).to_have_count(0)


def test_a_citation_is_copied_with_its_place_and_its_quote(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)), permissions=["clipboard-read", "clipboard-write"])
    ask(page, QUESTION)
    page.locator(".answer a.cite").first.click()

    page.get_by_role("button", name="Copy citation").click()

    expect(page.locator("#viewer-copy")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.match(
        r"tides\.txt:22(-\d+)? \(Reading the Tides · Lesson 0: Why the Sea Rises\) \(tides\)\n> A lunar day", copied
    )


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [("https://github.com/a/b/blob/0f/tides.txt#L22", True), ("javascript:document.title='ran'", False)],
    ids=["permanent", "script"],
)
def test_the_link_to_the_lines_is_shown_where_there_is_one(
    serve: Serve, browse: Browse, tmp_path: Path, url: str, is_shown: bool
) -> None:
    page = browse(serve(course_in(tmp_path)))
    ask(page, QUESTION)

    def linked(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json=reply.json() | {"url": url})

    page.route("**/api/documents/*", linked)
    page.locator(".answer a.cite").first.click()
    page.locator("#viewer mark").first.wait_for()

    link = page.locator("#viewer-link")
    expect(link).to_be_visible(visible=is_shown)
    if is_shown:
        expect(link).to_have_attribute("href", url)
    else:
        expect(link).not_to_have_attribute("href", re.compile(""))
