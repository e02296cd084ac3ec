"""Front matter is quoted for what a question asks of it, and for nothing else."""

from __future__ import annotations

from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

_TEXT = "Knots are tagged as sweet by nobody, and nobody has created one for cooking at sea."


def page(path: str, front: str) -> Chunk:
    return chunk_of(f"---\n{front}\n---\n{_TEXT}\n", path, language="markdown")


def test_the_tags_that_are_asked_for_are_quoted_from_each_page() -> None:
    pages = [
        page("cake.md", "Tags: cooking/sweet"),
        page("pie.md", "Tags: cooking/sweet"),
        page("soup.md", "Tags: soup"),
    ]
    listed = page("jam.md", "title: Jam\ntags:\n  - fruit\n  - cooking/sweet\ncreated: 2024-01-02")

    found = picked("Which recipes are tagged cooking/sweet?", *pages, listed)

    assert quotes(found)[:3] == ["Tags: cooking/sweet", "Tags: cooking/sweet", "tags:\n  - fruit\n  - cooking/sweet"]
    assert [item.passage.first.span.path for item in found[:3]] == ["cake.md", "pie.md", "jam.md"]


def test_what_the_front_matter_of_a_named_page_states_is_quoted() -> None:
    pages = [page("cake.md", "Created: 2024-01-29"), page("pie.md", "Created: 2023-05-06")]

    found = quotes(picked("When was the pie note created?", *pages))

    assert found[0] == "Created: 2023-05-06"
    assert "Created: 2024-01-29" not in found


def test_other_questions_do_not_quote_front_matter() -> None:
    found = picked("How is a knot tied for cooking?", page("cake.md", "tags: cooking\nstatus: cooking"))

    assert quotes(found) == [_TEXT]


def test_a_value_that_every_question_has_is_not_asked_for() -> None:
    assert quotes(picked("What tags does it have for cooking?", page("a.md", "tags: [it, does]"))) == [_TEXT]


def test_front_matter_in_toml_is_quoted() -> None:
    cake = chunk_of(f"+++\ntags = ['sweet']\n+++\n{_TEXT}\n", "cake.md", language="markdown")

    assert quotes(picked("Which pages have the tag sweet?", cake))[0] == "tags = ['sweet']"
