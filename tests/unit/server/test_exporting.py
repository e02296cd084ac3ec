"""An exported conversation loads nothing and runs nothing, whatever a program takes for code in it."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from openbook.server.routes.conversations import as_markdown
from openbook.sessions.protocol import Session


def exported(*answers: str) -> str:
    records = [{"query": "?", "answer": answer, "citations": []} for answer in answers]
    return as_markdown(Session("0" * 32, "t", 0, 0, len(records)), records)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param((r"\![x](http://a.example/y)",), id="escaped-image"),
        pytest.param((r"\\![x](http://a.example/y)",), id="escaped-twice"),
        pytest.param((r"\<img src=http://a.example/y>",), id="escaped-tag"),
        pytest.param(("`` ![x](http://a.example/y) `",), id="backticks-that-are-no-pair"),
        pytest.param((r"\` ![x](http://a.example/y) `",), id="escaped-backtick"),
        pytest.param(("`code\n` ![x](http://a.example/y) `",), id="code-over-two-lines"),
        pytest.param(("- ```\n![x](http://a.example/y)",), id="fence-that-its-list-ends"),
        pytest.param(("    > ```\n<img src=http://a.example/y>",), id="fence-in-indented-text"),
        pytest.param(("```", "```\n![x](http://a.example/y)\n```"), id="fence-that-the-next-answer-ends"),
        pytest.param((">" * 50 + " `` ![x](http://a.example/y) `",), id="deeper-than-some-programs-read"),
    ],
)
def test_markup_that_only_looks_like_code_is_escaped(answers: tuple[str, ...]) -> None:
    markdown = exported(*answers)

    shown = MarkdownIt("commonmark", {"maxNesting": 200}).render(markdown)

    assert "<img" not in shown
    assert not re.search(r"!\[|<img", markdown)


def test_code_is_exported_as_it_is() -> None:
    answer = "Call `vec![1]` or `List<int>`.\n\n```html\n<img src=x>\n```"

    assert answer in exported(answer)
