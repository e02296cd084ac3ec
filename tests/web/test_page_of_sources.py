"""What the page does with sources: which are asked, files that are dropped, courses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from openbook.llm.messages import Request
from tests.unit.sources.readers.test_spreadsheet import row, xlsx
from tests.web.serving import ROOT, Served, course_in, mark_of
from tests.web.test_page import ask, choose

pytestmark = pytest.mark.browser

Serve = Callable[..., Served]
Browse = Callable[..., Page]
Shoot = Callable[[Page, str], None]

EXAMPLES = ROOT / "examples"

DROPPED = """() => {
    const dropped = new DataTransfer();
    const text = "# Locks\\n\\nThe brass key opens locker nine.\\n";
    dropped.items.add(new File([text], "harbour.md", { type: "text/markdown" }));
    return dropped;
}"""


def test_a_dropped_file_can_be_asked_about(serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot) -> None:
    page = browse(serve(course_in(tmp_path)))
    dropped = page.evaluate_handle(DROPPED)

    page.dispatch_event("body", "dragenter", {"dataTransfer": dropped})
    expect(page.locator("#drop")).to_be_visible()
    page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})

    expect(page.locator(".upload")).to_contain_text("can be asked about now")
    shoot(page, "uploaded")
    ask(page, "What does the brass key open?")
    expect(page.locator(".answer")).to_contain_text("The brass key opens locker nine.")


def test_a_file_that_is_refused_is_named_with_the_reason(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))
    note: FilePayload = {"name": "a.md", "mimeType": "text/markdown", "buffer": b"# Locks\n\nOne lock.\n"}
    program: FilePayload = {"name": "run.exe", "mimeType": "application/octet-stream", "buffer": b"MZ\0\0"}
    broken: FilePayload = {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"no such thing"}

    page.locator("#files").set_input_files([note, program, broken])

    reasons = ["run.exe: binary by name", "broken.pdf: not a PDF file"]
    expect(page.locator(".upload li")).to_have_text(reasons)
    expect(page.locator(".upload > span")).to_have_text("a.md can be asked about now")
    expect(page.locator(".file-outcome")).to_have_text("not a PDF file")
    page.get_by_role("button", name="OK").click()
    expect(page.locator(".upload")).to_have_count(0)


def test_a_file_is_not_said_to_be_read_when_the_connection_breaks_off_before(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path)))
    begun = 'event: progress\ndata: {"done": 0, "total": 1}\n\n'
    page.route("**/api/jobs/*/events", lambda route: route.fulfill(body=begun, content_type="text/event-stream"))

    page.locator("#files").set_input_files({"name": "a.md", "mimeType": "text/markdown", "buffer": b"# Locks"})

    expect(page.locator(".upload-failed")).to_contain_text("broke off before the end")


def test_a_folder_that_is_dropped_is_named_and_the_files_beside_it_are_read(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    (tmp_path / "harbour").mkdir()
    (tmp_path / "locks.md").write_text("# Locks\n\nOne lock.\n", encoding="utf-8")
    page = browse(serve(course_in(tmp_path)))
    dragged = {"items": [], "files": [str(tmp_path / "harbour"), str(tmp_path / "locks.md")], "dragOperationsMask": 1}
    devtools = page.context.new_cdp_session(page)

    for event in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": event, "x": 700, "y": 300, "data": dragged})

    expect(page.locator(".upload-failed")).to_contain_text("Drop the files that are in it")
    expect(page.locator(".upload").last).to_contain_text("locks.md can be asked about now")


def test_files_are_chosen_as_a_course_and_removed_one_by_one(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    page = browse(serve(course_in(tmp_path)))
    knots: FilePayload = {
        "name": "knots.txt",
        "mimeType": "text/plain",
        "buffer": b"Course Title: Knots\n\nLesson 1: Bowline\nThe rabbit leaves the hole.\n",
    }

    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("Treat as course").check()
    shoot(page, "add")
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Choose files").click()
    chosen.value.set_files([knots])
    expect(page.locator("#course")).to_contain_text("Knots")
    page.locator(".source-more summary", has_text="1 file").click()
    shoot(page, "uploaded-course")
    page.get_by_role("button", name=re.compile("^Remove .*knots.txt$")).click()
    page.locator("dialog .button.danger").click()

    expect(page.locator(".upload").last).to_contain_text("knots.txt is gone")
    expect(page.locator("#course")).not_to_contain_text("Knots")


def test_an_answer_can_be_limited_to_a_lesson_of_a_course(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path)))

    choose(page, "#course", "Reading the Tides")
    choose(page, "#lesson", "1")
    ask(page, "What is a neap tide?")

    expect(page.locator(".place-label").first).to_contain_text("Lesson 1")


def test_the_mouse_chooses_sources_which_stay_in_their_places_and_one_of_them_chosen(
    serve: Serve, browse: Browse, tmp_path: Path
) -> None:
    page = browse(serve(course_in(tmp_path), Path(__file__).parents[1] / "sample", EXAMPLES / "formats"))
    boxes = page.locator("#sources input")
    expect(boxes).to_have_count(3)
    # Found and measured in one step: the list may be drawn anew at any time, and what is not shown any more is nowhere.
    places_of = "[...document.querySelectorAll('#sources input')].map((box) => box.getBoundingClientRect().top)"
    places = page.evaluate(places_of)
    assert places[0] > 0

    boxes.nth(0).click()
    boxes.nth(1).click()

    expect(page.locator("#scope-open")).to_contain_text("only tides")
    assert page.evaluate(places_of) == places
    boxes.nth(2).click()
    expect(page.get_by_role("alert")).to_contain_text("At least one source")
    expect(boxes.nth(2)).to_be_checked()


def test_courses_of_one_title_are_told_apart(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    for name, metres in (("cold", "thirty"), ("warm", "nine")):
        (tmp_path / "kelp" / name).mkdir(parents=True)
        lesson = f"Lesson 1: Stipes\nThe stipe of {name} kelp is {metres} metres long.\n"
        (tmp_path / "kelp" / name / "kelp.txt").write_text(f"Course Title: Kelp\n\n{lesson}", encoding="utf-8")
    page = browse(serve(tmp_path / "kelp"))

    choose(page, "#course", "Kelp (kelp/warm/kelp.txt)")
    choose(page, "#lesson", "1")
    ask(page, "How long is the stipe of kelp?")

    expect(page.locator(".answer")).to_contain_text("nine metres")
    expect(page.locator(".answer")).not_to_contain_text("thirty")


def test_only_the_chosen_sources_are_asked(serve: Serve, browse: Browse, tmp_path: Path) -> None:
    page = browse(serve(course_in(tmp_path), Path(__file__).parents[1] / "sample"))

    page.locator("#sources").get_by_label("sample", exact=True).uncheck()

    expect(page.locator("#scope-open")).to_contain_text("only tides")
    ask(page, "Who decides when the ferries leave again?")
    expect(page.locator(".answer")).not_to_contain_text("harbour master")


def test_markdown_is_shown_as_it_is_meant_and_as_it_is_written_on_demand(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    rows = "\n".join(f"| pier {number} | {number} metres |" for number in range(1, 60))
    text = (
        f"# Piers\n\nSee [the map](map.md).\n\n| Pier | Depth |\n|---|---|\n{rows}\n\nThe *brass* bell rings at six.\n"
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "piers.md").write_text(text, encoding="utf-8")
    page = browse(serve(tmp_path / "notes"))
    ask(page, "When does the brass bell ring?")

    page.locator(".answer a.cite").first.click()

    expect(page.locator("#viewer-body .cited")).to_have_text("The brass bell rings at six.")
    expect(page.locator("#viewer-body tr")).to_have_count(60)
    expect(page.locator("#viewer-body .cited")).to_be_in_viewport()
    expect(page.locator("#viewer-body")).to_contain_text("See the map.")
    expect(page.locator("#viewer-body a[href]")).to_have_count(0)
    shoot(page, "markdown")
    page.get_by_role("button", name="Raw").click()
    expect(page.locator("#viewer-body mark")).to_have_text("The *brass* bell rings at six.")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download the text").click()
    assert saved.value.suggested_filename == "piers.md"
    assert saved.value.path().read_text(encoding="utf-8") == text


def test_restructured_text_is_shown_as_it_is_meant(serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot) -> None:
    text = (
        ".. _bells:\n\nBells\n=====\n\n.. note:: Bring ear plugs.\n\n===== =====\nBell  Hour\n===== =====\n"
        "brass six\niron  nine\n===== =====\n\nSee `the map <javascript:alert(1)>`_. The *brass* bell rings at six.\n"
        "\n.. raw:: html\n\n   <script>alert(2)</script>\n"
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bells.rst").write_text(text, encoding="utf-8")
    page = browse(serve(tmp_path / "notes"))
    ask(page, "When does the brass bell ring?")

    page.locator(".answer a.cite").first.click()

    body = page.locator("#viewer-body")
    expect(body.get_by_role("heading", name="Bells")).to_be_visible()
    expect(body.locator("blockquote")).to_have_text("Note Bring ear plugs.")
    expect(body.locator("td")).to_have_text(["brass", "six", "iron", "nine"])
    expect(body.locator(".cited").last).to_be_in_viewport()
    expect(body.locator("script, a[href]")).to_have_count(0)
    shoot(page, "rst")
    page.get_by_role("button", name="Raw").click()
    expect(body).to_contain_text(".. note:: Bring ear plugs.")


@pytest.mark.parametrize("width", [1440, 360])
def test_tables_of_data_are_tables_that_scroll_inside_the_source(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot, width: int
) -> None:
    (tmp_path / "data").mkdir()
    names = [f"column {number}" for number in range(20)]
    (tmp_path / "data" / "piers.csv").write_text(
        ",".join(names) + "\n" + "".join(f"pier {row},{',depth' * 18}\n" for row in range(80)), encoding="utf-8"
    )
    (tmp_path / "data" / "ports.xlsx").write_bytes(xlsx(Ports=row(1, "Port", "Berths") + row(2, "Zebrafinch", 12)))
    page = browse(serve(tmp_path / "data"), viewport={"width": width, "height": 740})
    ask(page, "How many berths does the port Zebrafinch have?")

    page.locator(".answer a.cite").first.click()

    body = page.locator("#viewer-body")
    expect(body.locator("th")).to_have_text(["Port", "Berths"])
    expect(body.locator("tr.cited td")).to_have_text(["Zebrafinch", "12"])
    shoot(page, f"sheet-{width}")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download the original").click()
    assert saved.value.path().read_bytes() == (tmp_path / "data" / "ports.xlsx").read_bytes()
    page.keyboard.press("Escape")
    ask(page, "pier 77")
    page.locator("[data-phase=answered]").last.locator("a.cite").first.click()
    expect(body.locator("th")).to_have_count(20)
    expect(body.locator("tr.cited").first).to_be_in_viewport()
    assert body.locator(".table").evaluate("table => table.scrollWidth > table.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    shoot(page, f"csv-{width}")


def test_places_of_one_document_stand_together_with_what_they_are_in(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    code = (
        'def ring_bell():\n    """Ring the bell of the pier."""\n\n\n'
        'def open_gate():\n    """Ring the bell of the pier, and open."""\n    ring_bell()\n'
    )
    (tmp_path / "pier").mkdir()
    (tmp_path / "pier" / "bell.py").write_text(code, encoding="utf-8")
    (tmp_path / "pier" / "bell.md").write_text("# Bells\n\nThe bell of the pier is made of brass.\n", encoding="utf-8")

    def tutor(request: Request) -> str:
        marks = [mark_of(request, words) for words in ("Ring the bell of the pier.", "made of brass", "ring_bell()")]
        return "\n".join(f"- A bell {mark}." for mark in marks)

    page = browse(serve(tmp_path / "pier", steps=(tutor,), verifier="off"), viewport={"width": 360, "height": 740})
    ask(page, "What does the bell of the pier do?")

    documents = page.locator(".document")
    expect(documents.locator(".document-name")).to_have_text(["bell.py", "bell.md"])
    expect(documents.first.locator(".place")).to_have_count(2)
    expect(documents.first).to_contain_text("ring_bell")
    expect(documents.last).to_contain_text("Bells")
    documents.last.scroll_into_view_if_needed()
    shoot(page, "sources-360")
    documents.last.locator(".place").click()
    expect(page.locator("#viewer-title")).to_be_visible()


def test_code_has_colours_and_its_long_lines_scroll_inside_the_source(
    serve: Serve, browse: Browse, tmp_path: Path, shoot: Shoot
) -> None:
    (tmp_path / "lib").mkdir()
    long = " + ".join(f"pier_{number}" for number in range(60))
    code = f'def brass_bell():\n    """Ring the brass bell,\n    and <b>listen</b>."""\n    return {long}\n'
    (tmp_path / "lib" / "bell.py").write_text(code, encoding="utf-8")
    page = browse(serve(tmp_path / "lib"), viewport={"width": 360, "height": 740})
    ask(page, "brass_bell")

    page.locator(".answer a.cite").first.click()

    expect(page.locator("#viewer-body .hl-k").first).to_have_text("def")
    expect(page.locator("#viewer-body")).to_contain_text("and <b>listen</b>.")
    assert page.locator("#viewer-body").evaluate("body => body.scrollWidth > body.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    shoot(page, "code-360")
