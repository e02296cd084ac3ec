"""What explains a pasted message is quoted behind what prints it."""

from __future__ import annotations

import pytest

from openbook.extractive.answerer import pick
from openbook.extractive.causes import explanation, with_causes
from openbook.extractive.context import build_context
from openbook.extractive.passages import passages_of
from openbook.questions.question import read_question
from openbook.testing import HashEmbedder
from openbook.types import Chunk, Kind, RetrievalResult
from tests.unit.extractive.test_causes import QUESTION, TIES, of_code, printing
from tests.unit.retrieval.material import chunk_of, result_of


def quoted(question: str, *chunks: Chunk) -> list[str]:
    results = [RetrievalResult(chunks[0], 1.0, {"message": 30.0}), *map(result_of, chunks[1:])]
    query = read_question(question)
    found = pick(query, build_context(results, 10_000), HashEmbedder(), dict.fromkeys(query.tokens, 1.0))
    return [item.passage.text for item in found if not item.is_pointer]


PRINTS = of_code('def moor():\n    if full:\n        fail("berth %s is not free")')
UNLIKE = "Berth seven is not free of ropes."
PROSE = "The error that a berth is not free means rain. Then look for ropes."


def test_what_names_a_message_an_error_explains_it_with_the_sentence_behind() -> None:
    pages = [chunk_of(text, f"{n}.md") for n, text in enumerate((UNLIKE, PROSE))]

    assert quoted("berth B7 is not free", PRINTS, *pages)[:2] == [PRINTS.text, PROSE]
    passages = passages_of(build_context([result_of(pages[1])], 999).shown[0])
    told = explanation(passages, passages, dict.fromkeys(read_question("berth B7 is not free").tokens, 1.0))
    assert told is not None
    assert told.text == PROSE


def test_a_question_explains_no_message() -> None:
    asked = chunk_of("Why do I see the error that the berth is not free?", "asked.md")

    assert quoted("berth B7 is not free", PRINTS, asked, chunk_of(PROSE, "page.md"))[:2] == [PRINTS.text, PROSE]


def test_a_long_call_at_the_top_is_quoted_from_its_name() -> None:
    code = f"fail(\n    'berth %s '\n    'is not free',\n{TIES},\n)".replace(")\n    tie", "),\n    tie")

    for each in (code, code.removesuffix("\n)")):
        assert printing(each, "berth B7 is not free")[0].startswith("fail(\n    'berth %s '\n    'is not free',")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/page.md", "The error that a berth is not free means rain. Then wait for the berth."),
        ("page.md", "The error means rain, and a berth has no roof. Then wait for the berth."),
        ("page.md", "The log:\n\n```\nerror: the berth is not free. Then wait.\n```\n"),
        ("dock.py", "# The error that a berth is not free means rain."),
        ("page.md", UNLIKE),
    ],
    ids=["of-tests", "few-words", "example", "code", "no-error"],
)
def test_other_text_is_no_explanation(path: str, text: str) -> None:
    kind: Kind = "code" if path == "dock.py" else "docs"
    context = build_context([result_of(chunk_of(text, path, kind=kind, language="markdown"))], 10_000).shown
    passages = [passage for shown in context for passage in passages_of(shown)]
    rarity = dict.fromkeys(read_question("berth B7 is not free").tokens, 1.0)

    assert explanation(passages, passages, rarity) is None


def test_a_long_explanation_of_a_message_is_quoted_beside_what_prints_it() -> None:
    code = of_code("def moor():\n    if full:\n        fail('berth %s is not free', " + "rope + " * 45 + "rope)")
    told = f"{PROSE[:-1]}{' until a ship has left it' * 10}."

    assert quoted("berth B7 is not free", code, chunk_of(told, "page.md")) == [code.text, told]
    raises = of_code(code.text.replace("fail(", "raise QuayFullError("))
    assert len(quoted(QUESTION, raises, chunk_of(told.replace("error", "error QuayFullError"), "page.md"))) == 1


def test_tests_only_repeat_a_message_that_something_prints() -> None:
    test = of_code('def test_moor():\n    assert moor() == "berth B7 is not free"', "tests/test_dock.py")
    results = [RetrievalResult(PRINTS, 1.0, {"message": 30.0}), result_of(test)]
    context = build_context(results, 10_000).shown
    passages = [passage for shown in context for passage in passages_of(shown)]

    def kept(question: str) -> list[str]:
        return [each.first.span.path for each in with_causes(read_question(question), passages, context)]

    assert "tests/test_dock.py" not in kept("berth B7 is not free")
    assert "tests/test_dock.py" in kept("the tests say: berth B7 is not free")
