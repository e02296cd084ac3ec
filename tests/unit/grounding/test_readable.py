"""Texts are read without what is markup around their words."""

from __future__ import annotations

import pytest

from openbook.grounding.readable import readable


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param("// a\n// b", "a\nb", id="comment"),
        pytest.param("see [a](b.md), ![c](d.png) and [e][f]", "see a, c and e", id="links"),
        pytest.param("a <!-- b --> <b>c</b> &lt;d&gt;", "a  c <d>", id="html"),
        pytest.param("List<T> and <Button>", "List<T> and <Button>", id="code"),
        pytest.param('f"a\\n" b"c"', '"a " "c"', id="strings"),
    ],
)
def test_markup_around_words_is_left_out(text: str, read: str) -> None:
    assert readable(text) == read


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<!--", "<a ", "![a](", "[", "[a][", "&", "\\n", "&#", 'f"'])
def test_many_beginnings_of_markup_take_no_square_of_their_length(piece: str) -> None:
    many = readable(piece * 200_000)  # for minutes, if each were read to the end of the line

    assert len(many) <= len(piece) * 200_000
