"""Every Python block in the README and in `docs/` runs unchanged, page by page, in a small project.

Only models are replaced: those that a page names by provider are a local server that plays a script.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from PIL import Image

from openbook.agent import pdf_pages
from openbook.cli import main
from openbook.llm.messages import ToolCall
from openbook.settings import Settings
from openbook.testing import FakeServer, ScriptedReply
from tests.docs.snippets import PAGES, PROJECT, snippets, unfenced
from tests.repositories import Repository
from tests.support import write_tree
from tools.tiny_nli import write

COURSE = (
    "Course Title: Advanced Retrieval with Chroma\nCourse Instructor: Ada Miller\n\n"
    "Lesson 3: Embeddings\nEmbeddings place texts of like meaning close to each other.\n"
)
MAX_LEFT_OUT = 2
NOT_SAID = '{"claim": 1, "verdict": "not said", "quote": ""}'


@dataclass(frozen=True)
class Scene:
    """What a page needs beside the project, and what its code prints."""

    replies: Sequence[str | ScriptedReply] = ()
    """Replies of the models, in order."""
    before: Callable[[Path], object] = lambda folder: None
    printed: Sequence[str] = field(default=())


def read_a_page() -> list[str | ScriptedReply]:
    return [
        ScriptedReply(ToolCall("call-1", "read_page", '{"title": "refunds"}')),
        "It needs the receipt.",
        "By `openbook serve`.",
        "Nothing has shipped.",
        '{"needs": ["a receipt"]}',
        "Two pens.",
        "Both sides may end it.",
        "A bridge.",
        ScriptedReply(ToolCall("call-2", "lookup_online", '{"order": "7"}')),
        "It has shipped.",
        "It costs nothing.",
        "For a month.",
    ]


def answers() -> list[str | ScriptedReply]:
    searched = ScriptedReply(ToolCall("call-1", "search", '{"query": "retry policy"}'))
    pictured = ["What does the error of the retry policy mean?", "It waits longer [1:1].", "In `fetch` [1:1]."]
    seen = [pictured[0], pictured[1], NOT_SAID, "Where is the retry policy?", pictured[2], NOT_SAID]
    texts = ["`fetch` calls it.", "It is tested in `test_retry.py`.", "Sessions end after one hour [1:2]."]
    return [*seen, searched, *texts]


def draw_a_plan(folder: Path) -> None:
    plan = FPDF()
    plan.add_page()
    plan.set_font("Helvetica")
    plan.cell(text="The pier has nine berths.")
    plan.output("plan.pdf")
    (page,) = pdf_pages("plan.pdf", [1])
    Path("plan.png").write_bytes(base64.b64decode(page.base64))


def write_questions(folder: Path) -> None:
    question = '{"question": "When do sessions end?", "files": ["sessions.md"]}'
    (folder / "questions.jsonl").write_text(f"{question}\n", encoding="utf-8")


def draw_an_error(folder: Path) -> None:
    Image.new("RGB", (40, 20)).save(folder / "error.png")


def lay_out_papers(folder: Path) -> None:
    contract = FPDF()
    for _ in range(2):
        contract.add_page()
    contract.output("contract.pdf")
    (page,) = pdf_pages("contract.pdf", [1])
    Path("receipt.png").write_bytes(base64.b64decode(page.base64))


def add_a_course(folder: Path) -> None:
    write_tree(folder, {"talks/chroma.txt": COURSE})
    assert main(["add", "--course", "talks", "--library", "school"]) == 0


def add_documents(folder: Path) -> None:
    assert main(["add", "docs"]) == 0


def install_a_model(folder: Path) -> None:
    write(Settings.from_env().models_folder / "nli-deberta-v3-xsmall")


def serve_two_repositories(folder: Path) -> None:
    Repository(folder / "octo" / "shop").commit({"README.md": "# Shop\n\nRefunds are booked by the till.\n"})
    Repository(folder / "octo" / "door").commit(
        {"docs/a.md": "# Door\n\nRefunds are announced at the door.\n", "b.md": "no\n"}
    )


SCENES = {
    "README.md": Scene(printed=["chunking.md:3"]),
    "docs/agent.md": Scene(
        read_a_page(),
        before=lay_out_papers,
        printed=["It needs the receipt.", "{'needs': ['a receipt']}", "cost_usd=Decimal('0.005')"],
    ),
    "docs/answering.md": Scene(
        answers(), before=draw_an_error, printed=["is tested in", "searching ...\n", "sessions.md:3"]
    ),
    "docs/api.md": Scene(
        before=draw_a_plan,
        printed=[
            "When do sessions end?",
            "conflict the number 30 seconds is not in the cited lines",
            "SourceNotFoundError cannot read 'nowhere'",
            "not allowed: pens only",
            "Twelve pens. (1 rounds, 1 calls)",
            "A plan of the pier.",
            "max_usd $0.0050 of $0.015 are left",
            "KeyRefusedError",
            "CutOffError",
            "True p. 1",
        ],
    ),
    "docs/courses.md": Scene(before=add_a_course, printed=["chroma.txt:4"]),
    "docs/entailment.md": Scene(before=install_a_model, printed=["not said"]),  # the model that installs is a tiny one
    "docs/evaluate.md": Scene(before=write_questions, printed=["1.0 0.0", "[]"]),
    "docs/extending.md": Scene(printed=["birds/heron.md:1 {'author': 'Ada'}"]),
    "docs/models.md": Scene(["Hello to you."], printed=["Hello to you.", "\nHello.\n"]),
    "docs/repositories.md": Scene(printed=["Refunds are booked by the till.", "[('README.md', 'readme')]"]),
    "docs/reranking.md": Scene(before=add_documents, printed=["sessions.md"]),
    "docs/tutorials/an-agent.md": Scene(["Ada does not."], printed=["Ada does not.", "orders.py:3"]),
}
WITH_PYTHON = [page for page in PAGES if any(snippets(page))]


@pytest.fixture
def scene(
    request: pytest.FixtureRequest,
    fake_server: Callable[..., FakeServer],
    github: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Scene:
    """Change to a folder with the project, where model providers and GitHub are local servers."""
    scene = SCENES.get(request.param, Scene())
    server = fake_server(*scene.replies)
    for provider, url in (("ANTHROPIC", server.anthropic_url), ("OPENAI", server.openai_url)):
        monkeypatch.setenv(f"{provider}_BASE_URL", url)
        if scene.replies:
            monkeypatch.setenv(f"{provider}_API_KEY", server.key)
    serve_two_repositories(github)
    monkeypatch.chdir(write_tree(tmp_path_factory.mktemp("project"), PROJECT))
    scene.before(Path.cwd())
    return scene


@pytest.mark.slow
@pytest.mark.parametrize(("page", "scene"), [(page, page) for page in WITH_PYTHON], ids=WITH_PYTHON, indirect=["scene"])
def test_the_python_of_a_page_runs_in_order(page: str, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for snippet in snippets(page):
        if not snippet.not_run:
            snippet.run(names)

    printed = capsys.readouterr().out
    assert [text for text in scene.printed if text not in printed] == [], printed


@pytest.mark.slow
def test_few_blocks_are_left_out() -> None:
    left_out = [f"{each.page}:{each.line}: {each.not_run}" for page in PAGES for each in snippets(page) if each.not_run]

    assert len(left_out) <= MAX_LEFT_OUT, left_out


@pytest.mark.slow
def test_no_python_is_hidden_in_a_block_without_a_fence() -> None:
    assert [place for page in PAGES for place in unfenced(page)] == []


def test_every_scene_has_a_page_with_python() -> None:
    assert set(SCENES) <= set(WITH_PYTHON)
