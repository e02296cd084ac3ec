"""How LaTeX, AsciiDoc, Org, man pages and POD are read: headings without markup; the text stays as it is."""

from __future__ import annotations

import pytest

from openbook.sources.documents import read_document


@pytest.mark.parametrize(
    ("path", "text", "headings"),
    [
        pytest.param(
            "a.tex",
            "\\section*{The \\emph{best} \\& \\textbf{only} knot\\label{x}}\n"
            "\\subsection[s]{Use of \\texttt{tie}} % x\n"
            "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\part{Two}\n",
            [(2, "The best & only knot"), (3, "Use of tie"), (1, "Two")],
            id="latex",
        ),
        pytest.param(
            "a.adoc",
            "= The *best* `knot`\n\n== See link:x.html[this] ==\n\n----\n== no\n----\n=== <<id,There>>\n=not\n",
            [(1, "The best knot"), (2, "See this"), (3, "There")],
            id="asciidoc",
        ),
        pytest.param(
            "a.org",
            "* DONE [#A] The *best* =knot= :tag:\n#+begin_src c\n* no\n#+end_src\n** See [[https://x][this]]\n*bold*\n",
            [(1, "The best knot"), (2, "See this")],
            id="org",
        ),
        pytest.param(
            "tie.1",
            '.TH TIE 1\n.SH NAME\ntie\n.SS "The \\fBbest\\fR \\-k"\n.nf\n.SH no\n.fi\n',
            [(1, "TIE 1"), (2, "NAME"), (3, "The best -k")],
            id="man",
        ),
        pytest.param(
            "a.pod",
            "=head1 The B<best> C<< knot >>\n\nText.\n\n=head2 See L<this|that> E<lt>x>\n",
            [(1, "The best knot"), (2, "See this <x>")],
            id="pod",
        ),
    ],
)
def test_headings_have_levels_and_no_markup(path: str, text: str, headings: list[tuple[int, str]]) -> None:
    document = read_document(text.encode(), source="s", path=path)

    assert document.text == text
    assert [(block.level, block.title) for block in document.blocks if block.level] == headings


def test_a_listing_that_is_never_closed_hides_no_text() -> None:
    document = read_document(b"= A\n\n----\nlost\n\n== B\n", source="s", path="a.adoc")

    assert {document.text[block.start_char : block.end_char] for block in document.blocks} >= {"----\nlost", "== B"}


def test_a_release_note_with_a_number_for_a_suffix_is_no_man_page() -> None:
    assert read_document(b"Fixes.\n", source="s", path="notes.1").language == "text"
