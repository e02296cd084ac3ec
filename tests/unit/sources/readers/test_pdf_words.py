"""Which words keep the hyphen at which a PDF breaks them."""

from __future__ import annotations

import pytest

from openbook.sources.readers.pdf_glyphs import HYPHEN
from openbook.sources.readers.pdf_words import whole_words, words_of


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        pytest.param("state-of|the-art", "state-of-the-art", id="between common words"),
        pytest.param("self-con|fidence", "self-confidence", id="a word behind a hyphen"),
        pytest.param("some|times", "sometimes", id="a common word"),
        pytest.param("bio|synthesis", "biosynthesis", id="a beginning that takes no hyphen"),
        pytest.param("retrie|val", "retrieval", id="parts that are no words"),
        pytest.param("percent|ed", "percented", id="an ending"),
        pytest.param("alloxan|induced", "alloxan-induced", id="behind as in another compound"),
        pytest.param("zwei|jährig", "zwei-jährig", id="in front as in another compound"),
        pytest.param("WITH|OUT", "WITHOUT", id="a common word in capitals"),
        pytest.param("Anglo|Saxon", "Anglo-Saxon", id="in front of a capital"),
    ],
)
def test_a_broken_word_keeps_the_hyphen_of_a_compound(broken: str, whole: str) -> None:
    known = words_of(["drug-induced knots hold", "zwei Knoten, zwei-mal"])

    assert whole_words(broken.replace("|", HYPHEN), known) == whole


def test_the_text_itself_decides_before_any_other_sign() -> None:
    known = words_of(["the dataset of a some-times list"])

    assert whole_words(f"data{HYPHEN}set some{HYPHEN}times", known) == "dataset some-times"
