from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook import chunk

CODE = "import os\n\n\ndef first() -> int:\n    return 1\n\n\ndef second() -> int:\n    return 2\n"


def test_code_is_split_by_definitions_and_prose_by_sections() -> None:
    assert {each.kind for each in chunk(CODE, "a.py")} == {"code"}
    assert "second" in {name for each in chunk(CODE, "a.py") for name in each.defines}
    assert [each.text for each in chunk("# A\n\nOne.\n", "a.md", source="docs")] == ["# A\n\nOne."]


def test_a_strategy_can_be_named() -> None:
    text = "word " * 30

    assert len(chunk(text, "a.txt", strategy="fixed-size", max_words=10, overlap_words=0)) == 3
    with pytest.raises(ValueError, match="overlap_words"):
        chunk(text, "a.txt", strategy="fixed-size", max_words=10, overlap_words=10)


@given(st.text(), st.sampled_from(["a.py", "a.md", "a.txt", "a.ipynb", "a.yaml", "a", "a.pdf"]))
def test_every_chunk_is_a_slice_of_what_the_text_says(text: str, path: str) -> None:
    for each in chunk(text, path):
        assert each.text.strip()
        if not path.endswith(".ipynb"):
            assert text[each.span.start_char : each.span.end_char] == each.text
