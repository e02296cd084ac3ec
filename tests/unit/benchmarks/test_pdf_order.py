"""How the order of a text is compared with that of its source."""

from __future__ import annotations

from benchmarks.pdf_order import score, without_markup, words

_SOURCE = "one two three four five six seven eight nine ten eleven twelve"


def test_two_columns_that_are_read_in_the_wrong_order_lose_the_smaller_one() -> None:
    source = words(_SOURCE)
    swapped = "nine ten eleven twelve one two three four five six seven eight"

    assert score(source, _SOURCE) == (1.0, 1.0)
    found, order = score(source, swapped)
    assert found == 6 / 9  # three places are broken where the text is
    assert order == 5 / 6
    assert score(source, "nothing of it") == (0.0, 0.0)


def test_what_a_page_shows_elsewhere_is_not_part_of_the_source() -> None:
    source = (
        r"\documentclass{a}\begin{document}Knots \emph{hold}\footnote{Mostly.} for $x+1$ years."
        "% never\n\\begin{figure}\\caption{A bend}\\end{figure} They slip. \\end{document}"
    )

    assert words(without_markup(source))[:6] == ["knots", "hold", "for", "years", "they", "slip"]
