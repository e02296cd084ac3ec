from __future__ import annotations

import re

import pytest

from openbook.answers import Citation, Claim, ClaimVerdict, GenerationResult, Verdict
from openbook.server.rendering import BlockReader, render_answer, render_block, render_document, visible
from openbook.types import Span

MODEL = "scripted:model"


def cited(mark: str, verdict: Verdict = "exact", *, claim: int | None = None, path: str = "a.py") -> Citation:
    return Citation(mark, "s", Span(path, 0, 3, 1, 1), "abc", verdict, claim=claim)


def answered(text: str, *citations: Citation, claims: tuple[Claim, ...] = (), model: str = MODEL) -> str:
    return render_answer(GenerationResult("?", text, citations, model=model, claims=claims))


def chips(html: str) -> list[tuple[str, str]]:
    return re.findall(r'class="cite cite-(\w+)" href="#cite-(\d+)"', html)


HOSTILE = [
    pytest.param("<script>alert(1)</script>", id="script"),
    pytest.param("<ScRiPt\n>alert(1)</sCrIpT >", id="script-of-many-cases"),
    pytest.param('<img src=x onerror="alert(1)">', id="handler"),
    pytest.param("<svg/onload=alert(1)>", id="svg"),
    pytest.param("<svg><style><img src=x onerror=alert(1)></style></svg>", id="svg-style"),
    pytest.param("<math><mtext><table><mglyph><style><img src onerror=alert(1)>", id="math"),
    pytest.param("<iframe srcdoc='<script>alert(1)</script>'></iframe>", id="iframe"),
    pytest.param("<a href='javascript:alert(1)'>x</a>", id="html-link"),
    pytest.param("[x](javascript:alert(1))", id="javascript"),
    pytest.param("[x](JaVaScRiPt:alert(1))", id="javascript-of-many-cases"),
    pytest.param("[x](&#106;avascript:alert(1))", id="javascript-in-entities"),
    pytest.param("[x](&#1;javascript:alert(1))", id="javascript-behind-a-control"),
    pytest.param("[x](java\tscript:alert(1))", id="javascript-with-a-tab"),
    pytest.param("[x](vbscript:alert(1))", id="vbscript"),
    pytest.param("[x](data:text/html,<script>alert(1)</script>)", id="data"),
    pytest.param("[x](//evil.example)", id="no-scheme"),
    pytest.param("[x](/api/logout)", id="own-server"),
    pytest.param("[x](#cite-1)", id="forged-chip"),
    pytest.param("<javascript:alert(1)>", id="autolink"),
    pytest.param("[x][1]\n\n[1]: javascript:alert(1)", id="reference"),
    pytest.param("![x](https://tracker.example/a.png)", id="image"),
    pytest.param('![x" onerror="alert(1)](x)', id="image-words"),
    pytest.param("```html\n<script>alert(1)</script>\n```", id="fence"),
    pytest.param('```"><script>alert(1)</script>\nx\n```', id="fence-name"),
    pytest.param("`<script>alert(1)</script>`", id="code"),
    pytest.param("| <script>alert(1)</script> |\n|:-:|\n| <b onclick=alert(1)> |", id="table"),
    pytest.param("<style>*{display:none}</style><link rel=stylesheet href=//evil.example>", id="style"),
    pytest.param('<form action="https://evil.example"><input name=key></form>', id="form"),
    pytest.param("<base href='https://evil.example/'><meta http-equiv=refresh content=0>", id="base-and-meta"),
    pytest.param("<!--<img src='--><img src=x onerror=alert(1)>'>", id="comment"),
    pytest.param("<a class='cite cite-exact' data-cite='1' href='#cite-1'>1</a>", id="chip-as-html"),
    pytest.param("\U0001da8b0\U0001da8b and \U0001da8b99\U0001da8b", id="our-own-sign"),
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("model", [MODEL, "extractive"])
def test_nothing_that_an_answer_holds_becomes_markup_that_does_something(text: str, model: str) -> None:
    claims = (Claim(0, 9, "", ("[1:2]",)),)
    answer = answered(f"{text} [1:2]\n", cited("[1:2]", claim=0), claims=claims, model=model)

    for html in (answer, render_block(text)):
        tags = re.findall(r"<[^>]*>", re.sub(r'(?:title|aria-label)="[^"]*"', "", html))

        assert not [
            tag for tag in tags if re.match(r"</?(?:script|img|svg|math|iframe|style|link|form|input|b)\b", tag)
        ]
        assert not [tag for tag in tags if re.search(r"\s(?:on\w+|style|src|srcdoc|action)\s*=", tag)]
        assert all(re.match(r"https?:|mailto:|#cite-1$", link) for link in re.findall(r'href="([^"]*)"', html))
        assert len(re.findall(r"data-cite", "".join(tags))) <= 1


def test_links_to_elsewhere_open_apart_and_tell_nothing() -> None:
    html = render_block("[x](https://a.example/b) <mailto:c@d.example>")

    links = re.findall(r"<a [^>]*>", html)

    assert len(links) == 2
    assert all('target="_blank"' in link and 'rel="noopener noreferrer nofollow"' in link for link in links)


def test_an_image_is_shown_by_its_words_and_not_loaded() -> None:
    html = render_block("![A *tide* gauge](https://a.example/b.png)")

    assert html == '<p><span class="image-words">image: A tide gauge</span></p>\n'


@pytest.mark.parametrize(
    ("verdict", "shown", "spoken"),
    [
        ("exact", "=1", "the source says it in these words"),
        ("confirmed", "✓1", "confirmed: the source says this"),
        ("conflict", "×1 conflict", "conflict with the source"),
        ("unverified", "1", "not verified"),
        ("unknown", "?1 no such source", "no such source was shown"),
        ("stale", "!1 changed since", "changed since it was indexed"),
    ],
)
def test_a_mark_becomes_a_chip_that_says_its_verdict_in_words(verdict: Verdict, shown: str, spoken: str) -> None:
    html = answered("It waits [1:2].", cited("[1:2]", verdict))

    (inside,) = re.findall(r"<a [^>]*>(.*)</a>", html)
    assert chips(html) == [(verdict, "1")]
    assert re.sub("<[^>]*>", "", inside) == shown
    assert f'aria-label="Source 1: {spoken}, a.py:1"' in html


def test_a_mark_of_two_ranges_becomes_two_chips() -> None:
    html = answered("It waits [1:2, 4].", cited("[1:2, 4]"), cited("[1:2, 4]", "stale", path="b.py"))

    assert chips(html) == [("exact", "1"), ("stale", "2")]


def test_a_mark_that_two_claims_cite_has_the_verdict_of_its_own_claim() -> None:
    text = "It waits [1:2]. It sings [1:2]."
    claims = (Claim(0, 15, "It waits.", ("[1:2]",), "exact"), Claim(16, 31, "It sings.", ("[1:2]",), "exact"))

    html = answered(text, cited("[1:2]", claim=0), cited("[1:2]", "conflict", claim=1), claims=claims)

    assert chips(html) == [("exact", "1"), ("conflict", "2")]


def test_a_mark_below_its_claim_is_a_chip_too() -> None:
    claims = (Claim(0, 9, "It waits.", ("[1:2]",), "exact"),)

    html = answered("It waits.\n\n[1:2]", cited("[1:2]", claim=0), claims=claims)

    assert chips(html) == [("exact", "1")]


def test_a_mark_without_a_citation_stays_as_it_is_written() -> None:
    assert answered("It waits [7].") == '<p>It waits <span class="hold"><span class="mark">[7]</span>.</span></p>\n'


def test_a_mark_in_code_stays_code() -> None:
    html = answered("See `argv[1]` and\n\n```\nargv[1]\n```\n", cited("[1]"))

    assert chips(html) == []
    assert html.count("argv[1]") == 2


def test_emphasis_is_read_as_if_the_marks_were_words() -> None:
    html = answered("**It waits.**[1:2] *So* it does **always [1:2]**.", cited("[1:2]"))

    assert "<strong>It waits.</strong>" in html
    assert "<em>So</em>" in html
    assert len(chips(html)) == 2


def test_brackets_within_a_quote_are_no_chips() -> None:
    quote = "> The list [1] is long. [2:3]"

    html = answered(quote, cited("[2:3]", claim=0), claims=(Claim(0, len(quote), "", ("[2:3]",)),), model="extractive")

    assert chips(html) == [("exact", "1")]
    assert "The list [1] is long." in html


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("conflict", "in conflict with the source"), ("unknown", "no such source"), ("stale", "source changed")],
)
def test_a_claim_to_look_at_is_marked_with_its_reason(verdict: Verdict, words: str) -> None:
    html = answered("It waits. It sings.", claims=(Claim(10, 19, "It sings.", ("[9]",), verdict, 'says "sings"'),))

    assert f'<span class="claim claim-{verdict}" title="says &quot;sings&quot;">It sings.' in html
    assert f'({words}: says "sings")' in html


def test_a_claim_across_elements_is_not_wrapped_but_says_what_is_wrong() -> None:
    text = "It *waits. It sings* loudly."

    html = answered(text, claims=(Claim(11, len(text), "It sings loudly.", ("[9]",), "conflict", "no"),))

    assert 'class="claim' not in html
    assert "(in conflict with the source: no)" in html


@pytest.mark.parametrize("verdict", ["exact", "confirmed", "unverified", "uncited", ""])
def test_no_other_claim_is_marked(verdict: ClaimVerdict) -> None:
    text = "It waits. It sings."

    html = answered(text, claims=(Claim(0, 9, "It waits.", (), verdict, "why"),))

    assert html == f"<p>{text}</p>\n"


def test_a_claim_in_a_table_is_marked_in_its_row() -> None:
    text = "| a | b |\n|---|--:|\n| c | d [1:2] |"

    html = answered(
        text, cited("[1:2]", "conflict", claim=0), claims=(Claim(22, 33, "c | d", ("[1:2]",), "conflict", "no"),)
    )

    assert '<td class="align-right">' in html
    assert html.count("<td") == 2
    assert "(in conflict with the source: no)" in html


def test_code_has_classes_and_no_styles() -> None:
    html = render_block("```python\ndef f(): ...\n```\n")

    assert '<span class="hl-k">def</span>' in html
    assert "style" not in html


@pytest.mark.parametrize("language", ["", "no-such-language", "text x"])
def test_code_of_an_unknown_language_is_shown_plain(language: str) -> None:
    assert '<code class="code">a &lt; b\n</code>' in render_block(f"```{language}\na < b\n```\n").replace("&#x27;", "'")


def test_long_code_is_shown_without_colours() -> None:
    assert "hl-" not in render_block("```python\n" + "x = 1\n" * 4000 + "```\n")


def test_headings_stand_below_the_question() -> None:
    assert render_block("# A\n\n###### B\n") == "<h3>A</h3>\n<h6>B</h6>\n"


def test_invisible_and_bidirectional_characters_are_shown_as_code_points() -> None:
    assert visible("a\u202eb\x07\ud800 \u200d") == "a‹U+202E›b‹U+0007›\N{REPLACEMENT CHARACTER} \u200d"
    assert "‹U+2067›" in render_block("x\u2067y")


def test_indented_code_of_a_document_is_shown_as_code_and_the_body_of_a_box_as_prose() -> None:
    code = render_document("Run this:\n\n    moor --ship Ada\n    sail\n", 3, 3)

    assert '<pre class="cited" tabindex="0"><code class="code">moor --ship Ada\nsail\n</code></pre>' in code
    assert "<pre" not in render_document('!!! note "Tides"\n\n    The boats wait.\n', 1, 1)


def test_definitions_and_indented_text_of_a_quote_do_not_vanish() -> None:
    html = render_block("[tide]: https://a.example\n\n    indented [1:2]\n")

    assert "[tide]:" in html
    assert '<span class="mark">[1:2]</span>' in html


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 50_000, id="brackets"),
        pytest.param("> " * 20_000 + "x", id="quotes"),
        pytest.param("*a_ " * 20_000, id="emphasis"),
        pytest.param("- " * 20_000 + "x", id="items"),
        pytest.param("`" * 30_001 + "x", id="backticks"),
    ],
)
def test_strange_text_is_rendered_all_the_same(text: str) -> None:
    assert render_block(text)


def test_blocks_are_given_when_they_end_wherever_the_text_is_cut() -> None:
    text = "One.\n\n```\na\n\nb\n```\n\n- c\n- d\n\nLast"
    blocks = ["One.\n\n", "```\na\n\nb\n```\n\n", "- c\n- d\n\n", "Last"]

    for size in range(1, len(text) + 1):
        reader = BlockReader()
        pieces = [text[start : start + size] for start in range(0, len(text), size)]

        found = [block for piece in pieces for block in reader.feed(piece)] + reader.close()

        assert found == blocks


def test_blank_lines_alone_are_no_block() -> None:
    reader = BlockReader()

    assert reader.feed("\n\n") == []
    assert reader.feed("One.\n\n") == ["\n\nOne.\n\n"]
    assert reader.close() == []


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[LanceDB](scale.md#libs)", ">LanceDB</a>"),
        ("[above](#deploy)", ">above</a>"),
        ("[a chip](#cite-1)", "[a chip](#cite-1)"),
        ("[a host](//evil.example)", "[a host](//evil.example)"),
        ("[a script](javascript:alert)", "[a script](javascript:alert)"),
    ],
)
def test_a_link_to_a_place_in_its_source_is_its_words_and_others_stay_as_written(written: str, shown: str) -> None:
    html = render_block(written)

    assert shown in html
    assert "href" not in html


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| x | y | [1]", ["x", "y [1]"]),
        ("| x | y |[1] [2:3]", ["x", "y [1] [2:3]"]),
        ("> | x | y | [1] (goes on to line 9)", ["x", "y [1] (goes on to line 9)"]),
        ("x | y | [1]", ["x", "y [1]"]),
        (r"| x \| z | [1]", ["x | z", "[1]"]),
        ("| x | [1]", ["x", "[1]"]),
        ("| x | y [1] |", ["x", "y [1]"]),
        ("| x | y | [1] and more", ["x", "y"]),  # not a mark alone, so it is a cell of another table
    ],
)
def test_marks_behind_the_last_cell_of_a_row_are_shown_in_it(row: str, cells: list[str]) -> None:
    quote = "> " if row.startswith(">") else ""

    html = render_block(f"{quote}| a | b |\n{quote}|---|:-:|\n{row}")

    shown = re.findall(r"<td[^>]*>(.*?)</td>", html)
    assert [re.sub("<[^>]+>", "", cell) for cell in shown] == cells


@pytest.mark.parametrize("above", ["| a |\n|---|\n| x |\n", "Tides\n---"])
def test_a_row_without_a_table_is_shown_as_it_is_written(above: str) -> None:
    html = render_block(f"{above}\n| y | [1]")

    assert re.sub("<[^>]+>", "", html).strip().endswith("| y | [1]")
