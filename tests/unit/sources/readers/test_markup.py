"""How LaTeX, AsciiDoc, Org, man pages and POD are read: headings and words without markup, on the same lines."""

from __future__ import annotations

import pytest

from openbook.entries import entry_heads
from openbook.sources.documents import read_document


@pytest.mark.parametrize(
    ("path", "text", "headings"),
    [
        pytest.param(
            "a.tex",
            "\\section*{The \\emph{best} \\& \\textbf{only} knot\\label{x}}\n"
            "\\subsection[s]{Use of \\texttt{tie}} % x\n"
            "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\part{Two}\n"
            "\\section{Knots in \\LaTeX{} --- a \\mathbb{C} list\\label{sec:knots}}\n",
            [(2, "The best & only knot"), (3, "Use of tie"), (1, "Two"), (2, "Knots in LaTeX — a C list")],
            id="latex",
        ),
        pytest.param(
            "a.adoc",
            "= The *best* `knot`\n\n== See link:x.html[this] ==\n\n----\n== no\n----\n=== <<id,There>>\n=not\n\n"
            "A longer *title*\n----------------\n\nWords\n----\n\nNow\n----\n----\n",
            [(1, "The best knot"), (2, "See this"), (3, "There"), (2, "A longer title"), (2, "Words"), (2, "Now")],
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
            '.TH TIE 1\n.SH NAME\ntie\n.SS "The \\fBbest\\fR \\-k"\n.nf\n\\&.SH no\n.fi\n',
            [(1, "TIE(1)"), (2, "NAME"), (3, "The best -k")],
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

    assert document.text.count("\n") == text.count("\n")
    assert [(block.level, block.title) for block in document.blocks if block.level] == headings


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        pytest.param(
            "a.tex",
            "\\begin{itemize}\n"
            "\\item The \\textbf{spring \\emph{tide}}~\\cite{a,\nb} is 50\\%, $x_1$ m. % why\n"
            "\\end{itemize}\nIt \\emph{rises\nhigh}---``twice''\\footnote{At noon.}.\n"
            "\\begin{verbatim}\n\\emph{x} % y\n\\end{verbatim}\n",
            ["", "- The spring tide", " is 50%, $x_1$ m.", "", "It rises", "high—“twice” (At noon.).",
             "\\begin{verbatim}", "\\emph{x} % y", "\\end{verbatim}", ""],
            id="latex",
        ),
        pytest.param(
            "a.adoc",
            ":toc:\n// why\n[source]\n----\n*x*\n----\nThe *kiln* of `1200` degrees, see https://x.y/z[the\u00a0plan] "
            "and <<id,this>>; a*b*c, 2 * 3 * 4.\n* _One_\n",
            ["", "", "", "----", "*x*", "----",
             "The kiln of 1200 degrees, see the\u00a0plan and this; a*b*c, 2 * 3 * 4.", "- One", ""],
            id="asciidoc",
        ),
        pytest.param(
            "a.org",
            "#+TITLE: Looms\n:ID: 7\n* DONE The /loom/ :a:\n"
            "#+begin_src c\n/x/\n#+end_src\nA ~treadle~ in a/b/c, [[https://x][see]].\n",
            ["Looms", "", "The loom", "#+begin_src c", "/x/", "#+end_src", "A treadle in a/b/c, see.", ""],
            id="org",
        ),
        pytest.param(
            "tie.1",
            '.\\" why\n.TH TIE 1\n.SH OPTIONS\n.TP\n'
            '.BI \\-\\-k " N"\nUse \\fIN\\fR, \\(lqthree\\(rq.\n.IP \\(bu 2\nOne.\n',
            ["", "TIE(1)", "OPTIONS", "", "--k N", "Use N, “three”.", "•", "One.", ""],
            id="man",
        ),
        pytest.param(
            "a.pod",
            "=over 4\n\n=item B<-k> I<N>\n\nHolds C<< a > b >>, F<x>, E<lt>.\n\n=back\n",
            ["", "", "-k N", "", "Holds a > b, x, <.", "", "", ""],
            id="pod",
        ),
    ],
)  # fmt: skip
def test_what_is_quoted_has_no_markup_and_stands_on_its_own_line(path: str, text: str, shown: list[str]) -> None:
    document = read_document(text.encode(), source="s", path=path)

    assert [line.rstrip() for line in document.text.split("\n")] == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("ifdef::env-github[Only *here* told]", "Only here told"),
        ("ifndef::env-github,env-x[See link:x[that].]", "See that."),
        ("ifdef::env-github[:caution: x]", ""),
        ("ifdef::env-github[]", ""),
        ('ifeval::["{x}" == "y"]', ""),
    ],
)
def test_what_a_condition_of_asciidoc_holds_on_its_line_is_shown(line: str, shown: str) -> None:
    assert read_document(f"{line}\n".encode(), source="s", path="a.adoc").text == f"{shown}\n"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("See _<<Tying a knot>>_.", "See Tying a knot."),
        ("Use `-k`/`--knot`, or _ROPE_=_KNOT_.", "Use -k/--knot, or ROPE=KNOT."),
        ("At `+http://HOST[:PORT][/PATH]+`.", "At http://HOST[:PORT][/PATH]."),
        ("With `+__KNOT__+` in it.", "With __KNOT__ in it."),
        ("Tie 2 << 3 ropes.", "Tie 2 << 3 ropes."),
        ("See <<knots,*all the\nknots*>> or\nhttps://x.y/z[the\nplan].", "See all the\nknots or\nthe\nplan."),
        ("See <<knots,\nknots>> there.", "See knots\n there."),
        ("A << b, c.\n\nD >> e.", "A << b, c.\n\nD >> e."),
    ],
)
def test_references_and_names_in_asciidoc_are_shown_by_their_texts(line: str, shown: str) -> None:
    assert read_document(f"{line}\n".encode(), source="s", path="a.adoc").text == f"{shown}\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(
            "Tie it:\n\n  ship.__send__(*ropes*)\n  [x]\n\nA *rope*.\n", "  ship.__send__(*ropes*)\n  [x]", id="code"
        ),
        pytest.param("\tship.__send__\n", "\tship.__send__", id="at-the-top"),
        pytest.param("  * a *rope*\n", "- a rope\n", id="item"),
        pytest.param("rope::\n\n  What *ties*.\n", "  What ties.", id="below-a-head"),
        pytest.param("A rope\n  that *ties*.\n", "A rope\n  that ties.", id="in-a-paragraph"),
        pytest.param("|===\n\n  | *Rope*\n", "  | Rope", id="cell"),
    ],
)
def test_an_indented_paragraph_of_asciidoc_is_as_it_stands(text: str, shown: str) -> None:
    assert shown in read_document(text.encode(), source="s", path="a.adoc").text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "line", "shown"),
    [
        ("a.adoc", "= A" + " " * 100_000 + "b", "A" + " " * 100_000 + "b"),
        ("a.adoc", "link:x" * 60_000, "link:x" * 60_000),
        ("a.pod", "=item " + "-" * 100_000 + "k", "-" * 100_000 + "k"),
        ("tie.1", ".IP " + "-" * 100_000 + "k", "-" * 100_000 + "k"),
    ],
)
def test_a_long_run_of_signs_takes_no_square_of_its_length(path: str, line: str, shown: str) -> None:
    document = read_document(f".TH A 1\n{line}\n".encode(), source="s", path=path)

    assert document.text.split("\n")[1].rstrip() == shown


@pytest.mark.parametrize("path", ["a.adoc", "a.pod", "tie.1"])
def test_a_form_feed_of_the_author_marks_no_head(path: str) -> None:
    document = read_document(b".TH A 1\nOne\fpage\f\nTwo\n", source="s", path=path)

    assert "One page" in document.text
    assert entry_heads(document.text, document.language) == []


def test_a_package_of_latex_keeps_its_comments() -> None:
    text = "% Why: \\emph{x}\n\\section{A}\n"

    assert read_document(text.encode(), source="s", path="a.sty").text == text


def test_a_listing_that_is_never_closed_hides_no_text() -> None:
    document = read_document(b"= A\n\n----\nlost\n\n== B\n", source="s", path="a.adoc")

    assert {document.text[block.start_char : block.end_char] for block in document.blocks} >= {"----\nlost", "B"}


@pytest.mark.parametrize(
    ("path", "begun"),
    [
        ("tie.1", ".TH TIE 1\n.nf\ntie\n.SH KNOTS\n.nf\ntie\n.fi\n"),
        ("a.adoc", "== TIES\n\n....and so on.\n\n== KNOTS\n"),
        ("a.adoc", "== TIES\n\n++++x++++ and so on.\n\n== KNOTS\n\n++++\nx\n++++\n"),
        ("a.adoc", "== TIES\n\n----\ntie\n\n== KNOTS\n"),
        ("a.tex", "\\begin{verbatim}tie\\end{verbatim}\n\\section{KNOTS}\n\\begin{verbatim}\ntie\n\\end{verbatim}\n"),
        ("a.org", "* TIES\n#+begin_src c\ntie\n* KNOTS\n"),
    ],
)
def test_what_begins_like_a_listing_without_an_end_hides_no_heading(path: str, begun: str) -> None:
    document = read_document(begun.encode() + b"\n", source="s", path=path)

    assert [block.title for block in document.blocks if block.level][-1:] == ["KNOTS"]
    assert document.text.count("KNOTS") == begun.count("KNOTS")


@pytest.mark.slow
def test_beginnings_of_listings_without_an_end_take_no_square_of_their_number() -> None:
    text = "".join("-" * length + "\n" for length in range(4, 400)) + "x\n" * 10_000 + "== Knots\n"
    document = read_document(text.encode(), source="s", path="a.adoc")

    assert [block.title for block in document.blocks if block.level] == ["Knots"]


def test_a_release_note_with_a_number_for_a_suffix_is_no_man_page() -> None:
    assert read_document(b"Fixes.\n", source="s", path="notes.1").language == "text"


@pytest.mark.parametrize(
    ("text", "headings", "listings"),
    [
        pytest.param("Run it\n----\nmake\n----\n\n== B\n", ["B"], ["----\nmake\n----"], id="a-longer-line"),
        pytest.param("Now\nrun:\n----\nmake\n----\n", [], ["----\nmake\n----"], id="in-a-paragraph"),
        pytest.param("[NOTE]\n======\nx\n======\n\n== B\n", ["B"], [], id="attributes"),
        pytest.param(".Run\n----\nmake\n----\n", [], ["----\nmake\n----"], id="the-title-of-a-listing"),
        pytest.param("----\nmake\n----\nMoor\n----\n", ["Moor"], ["----\nmake\n----"], id="behind-a-listing"),
        pytest.param("E.g.\n----\nPier\n----\n", ["E.g.", "Pier"], [], id="two-titles"),
        pytest.param("[[x]]\n// why\nPiers\n----\n", ["Piers"], [], id="below-an-anchor"),
    ],
)
def test_a_line_is_underlined_where_a_block_begins_and_by_a_line_of_its_length(
    text: str, headings: list[str], listings: list[str]
) -> None:
    document = read_document(text.encode(), source="s", path="a.adoc")

    assert [block.title for block in document.blocks if block.level] == headings
    assert [document.text[b.start_char : b.end_char] for b in document.blocks if b.kind == "code"] == listings


@pytest.mark.parametrize(
    ("path", "text", "heads"),
    [
        pytest.param(
            "a.adoc",
            "'mouse' (bool)::\n\n\tMoves.\nwait;; Waits.\nSee x::y.\n",
            ["mouse (bool)", "wait: Waits."],
            id="asciidoc",
        ),
        pytest.param(
            "a.pod",
            "=over\n\n=item B<-k>\n\nKeeps.\n\n=item *\n\nOne.\n\n=item 2.\n\n=back\n",
            ["-k"],
            id="pod",
        ),
        pytest.param(
            "tie.1",
            ".TH TIE 1\n.TP\n.B -k\nKeeps.\n.IP \\(bu 2\nOne.\n.IP --tie 2\nTies.\n",
            ["-k", "--tie"],
            id="man",
        ),
    ],
)
def test_heads_of_entries_are_marked_and_items_without_a_name_are_not(path: str, text: str, heads: list[str]) -> None:
    document = read_document(text.encode(), source="s", path=path)

    assert [document.text[start:end] for start, end in entry_heads(document.text, document.language)] == heads
