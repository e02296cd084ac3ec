from __future__ import annotations

import pytest

from openbook.grounding.blocks import Fence, may_open_fence, read_line


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("", "blank"), ("  \r", "blank"), (" > ", "blank"),
        ("# Title", "heading"), ("###### Deep", "heading"), ("#", "heading"), ("> ## In a quote", "heading"),
        ("**Title**", "heading"), ("**Title:**", "heading"), ("**标题**：", "heading"),
        ("- one", "item"), ("* one", "item"), ("+ one", "item"), ("• one", "item"), ("12. one", "item"),
        ("3) one", "item"), ("  - nested", "item"), ("> - quoted", "item"), ("2、两", "item"), ("-", "rule"),
        ("| a | b |", "row"), ("|---|", "row"),
        ("---", "rule"), ("* * *", "rule"), ("___", "rule"), ("====", "rule"),
        ("text", "text"), ("#tag", "text"), ("####### seven", "text"), ("-5 degrees", "text"), ("1.5 s", "text"),
        ("**It waits.**", "text"), ("**Bold** text", "text"), ("a | b", "text"), ("> quoted", "text"),
        ("```", "code"), ("```python", "code"), ("~~~ a`b", "code"), ("    ```", "code"), ("- ```", "code"),
        ("``` a ``` b", "text"), ("``", "text"), ("~~", "text"),
    ],
)  # fmt: skip
def test_a_line_is_what_it_begins_with(line: str, kind: str) -> None:
    assert read_line(line, None)[0] == kind


@pytest.mark.parametrize(
    ("fence", "line", "is_open"),
    [
        pytest.param(Fence("```", 0, False), "```", False, id="the-same"),
        pytest.param(Fence("```", 0, False), "   `````  ", False, id="longer"),
        pytest.param(Fence("````", 0, False), "```", True, id="shorter"),
        pytest.param(Fence("```", 0, False), "~~~", True, id="of-another-kind"),
        pytest.param(Fence("```", 0, False), "```python", True, id="with-a-language"),
        pytest.param(Fence("```", 0, False), "    ```", True, id="deeper"),
        pytest.param(Fence("```", 4, False), "    ```", False, id="as-deep-as-it-opened"),
        pytest.param(Fence("```", 0, False), "# no heading", True, id="heading"),
        pytest.param(Fence("```", 0, False), "", True, id="blank"),
        pytest.param(Fence("```", 2, True), "> ```", False, id="in-a-quote"),
    ],
)
def test_a_fence_is_closed_by_nothing_but_its_like(fence: Fence, line: str, is_open: bool) -> None:
    kind, after = read_line(line, fence)

    assert kind == "code"
    assert after == (fence if is_open else None)


def test_a_fence_in_a_quote_ends_with_the_quote() -> None:
    assert read_line("text", Fence("```", 2, True)) == ("text", None)


@pytest.mark.parametrize(("line", "may"), [("```", True), ("> 1. ~~~~ x", True), ("a ```", False), ("``", False)])
def test_the_beginning_of_a_line_tells_whether_it_can_be_a_fence(line: str, may: bool) -> None:
    assert may_open_fence(line) is may
