"""Code that takes its lexer long loses its colours, and costs nobody else theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from openbook.server.colouring import Colourer, highlight_code

# Its time grows with the square of the blanks: a minute, if nobody stops it.
ODD = "a" + " " * 16_000 + "b"


@pytest.fixture
def colourer() -> Iterator[Colourer]:
    with closing(Colourer(timeout_s=1.0)) as opened:
        yield opened


@pytest.mark.slow
def test_code_that_takes_too_long_is_not_coloured_and_the_next_one_is(colourer: Colourer) -> None:
    assert colourer.colour(ODD, "c") == ""
    assert colourer.colour("int x;\n", "c") == (
        '<span class="hl-kt">int</span><span class="hl-w"> </span><span class="hl-n">x</span>'
        '<span class="hl-p">;</span>\n'
    )


def test_a_language_without_a_lexer_has_no_colours(colourer: Colourer) -> None:
    assert colourer.colour("x", "klingon") == ""
    assert colourer.colour("x = 1\n", "python").startswith('<span class="hl-n">x</span>')


def test_tokens_have_classes_and_a_language_without_a_lexer_has_none() -> None:
    assert highlight_code(("x = 1\n", "python")) == (
        '<span class="hl-n">x</span> <span class="hl-o">=</span> <span class="hl-mi">1</span>\n'
    )
    assert highlight_code(("x = 1", "no-such-language")) == ""
