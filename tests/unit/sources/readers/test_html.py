"""HTML becomes text with the same lines; what a browser shows stays, nothing else."""

from __future__ import annotations

import pytest

from openbook.sources.readers.html import read_html


def shown(text: str) -> str:
    return " ".join(read_html(text).text.split())


def blocks(text: str) -> list[tuple[str, str]]:
    reading = read_html(text)
    return [(block.kind, " ".join(reading.text[block.start_char : block.end_char].split())) for block in reading.blocks]


def test_a_line_of_the_text_is_one_of_the_file() -> None:
    page = "<html>\n<body\n class='a'>\r\n<!--\n--><p>Hello <b>big</b>\nworld</p>"

    assert read_html(page).text == "\f\n\n\f\r\n\n\fHello big\nworld\f"


def test_a_block_tag_leaves_a_form_feed_and_an_inline_tag_nothing() -> None:
    page = "<div><p>a<b>b</b>, <kbd>c</kbd><wbr>d<button>e</button></p></div>"

    assert read_html(page).text == "\fab, cde\f"


def test_form_feeds_and_marks_of_code_in_a_page_are_blanks() -> None:
    assert read_html("<p>a\fb\x02c\x03d").text == "\fa b c d"


def test_cells_of_a_row_are_apart() -> None:
    assert read_html("<table><tr><th>a<th>b<tr><td>1</td><td>2</td></tr></table>").text == "\f  a  b\f  1  2\f"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param("<pre><b>a</b>=1\n  b</pre>", "\f\x02\fa=1\n  b\f\x03\f", id="text"),
        pytest.param("<pre>&lt;</pre>x", "\f\x02\f<\f\x03\fx", id="character"),
        pytest.param("<pre><div>a</div></pre>", "\f\x02\fa\f\x03\f", id="lines-in-elements"),
        pytest.param("<pre> </pre>x", "\f \f \fx", id="blank"),
        pytest.param("<pre>a<pre>b</pre>c</pre>", "\f\x02\fa\fb\f\x03\fc\f", id="nested"),
        pytest.param("</pre>b", "\fb", id="only-closed"),
    ],
)
def test_code_is_between_marks(page: str, text: str) -> None:
    assert read_html(page).text == text


@pytest.mark.parametrize(
    ("page", "headings", "text"),
    [
        pytest.param("<title>Eels</title><h2>Food</h2>Worms.", [(1, "Eels"), (2, "Food")], "Eels Food Worms.", id="h2"),
        pytest.param("<title>Eels · Site</title><h1>Eels</h1>Long.", [(1, "Eels")], "Eels Long.", id="h1"),
        pytest.param("<title>A</title><h1><img></h1>x<h1>B</h1>", [(1, "B")], "x B", id="h1-of-a-picture"),
        pytest.param("<title>A</title><h1><img></h1>x", [(1, "A")], "A x", id="only-a-picture"),
        pytest.param("<title>A</title><nav><h1>B</h1></nav><main>x</main>", [(1, "A")], "A x", id="h1-in-a-menu"),
        pytest.param("<title>A</title><h1>&sum;</h1>x", [(1, "∑")], "∑ x", id="h1-of-a-reference"),
    ],
)
def test_the_title_is_the_first_heading_if_the_page_has_none(
    page: str, headings: list[tuple[int, str]], text: str
) -> None:
    assert [(block.level, block.title) for block in read_html(page).blocks if block.level] == headings
    assert shown(page) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- no -->",
        "<!-- > no",
        "<!DOCTYPE no>",
        "<script>if (a < b) { no() }</script>",
        "<SCRIPT type='x'>'<p>no</p>'</SCRIPT >",
        "<script>no",
        "<style>p { no: 1 }</style>",
        "<template><p>no</p></template>",
        "<svg><text>no</text></svg>",
        "<img alt='a > no'>",
        "<?xml no?>",
        "<meta content='no'>",
    ],
)
def test_hidden_elements_become_blank(hidden: str) -> None:
    assert shown(f"<p>yes</p>{hidden}") == "yes"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param("a &amp; b &lt;c&gt;", "a & b <c>", id="named"),
        pytest.param("a&nbsp;b &#8212; &#x41;", "a b — A", id="numeric"),
        pytest.param("a&copy 2020 &unknown; & &", "a© 2020 &unknown; & &", id="unclosed-and-unknown"),
        pytest.param("a&#10;b&#12;c&#0;d", "a b c\ufffdd", id="control-characters"),
        pytest.param("file&shy;name, file&#8203;name", "filename, filename", id="no-width"),
        pytest.param("1 < 2, a<2 and 3 > 2", "1 < 2, a<2 and 3 > 2", id="bare-signs"),
        pytest.param("<p>open <b>never closed", "open never closed", id="unclosed-tags"),
        pytest.param("<p>a <a href='x>b <p>c", "a b c", id="unclosed-quote"),
        pytest.param("a <svg> b", "a b", id="unclosed-svg"),
        pytest.param("no markup at all", "no markup at all", id="plain"),
        pytest.param("a </ b> c </> d", "a c d", id="broken-closing-tags"),
    ],
)
def test_references_and_broken_markup_are_read_as_browsers_do(page: str, text: str) -> None:
    assert shown(page) == text


@pytest.mark.parametrize("run", ["a<", "</a", "<a='", "&", "<!"])
def test_a_run_of_tags_that_never_end_costs_no_more_time_than_its_length(run: str) -> None:
    page = f"<p>one</p>{run * 100_000}"

    assert read_html(page).text.startswith("\fone")


def test_signs_that_begin_no_tag_cost_no_more_time_than_their_number() -> None:
    signs = "<" * 300_000 + ">" * 300_000

    assert read_html(f"<p>one</p>{signs}").text.startswith("\fone")


def test_headings_code_and_paragraphs_are_blocks() -> None:
    page = (
        "<title>Page</title><h1 id=a>The <code>f</code> &amp; g<a href='#a'>¶</a></h1>text<p>one<br>two<ul><li>a<li>b"
        "</ul><pre>x\n  <div>y</div>\n</pre><table><tr><td>1</td><td>2</td></tr></table>"
    )

    assert blocks(page) == [
        ("heading", "The f & g"),
        ("text", "text"),
        ("text", "one two"),
        ("text", "a"),
        ("text", "b"),
        ("code", "\x02 x y \x03"),
        ("text", "1 2"),
    ]
    assert [(block.level, block.title) for block in read_html(page).blocks if block.level] == [(1, "The f & g")]


@pytest.mark.parametrize("blank", ["", " ", "\n  ", "&nbsp;"])
def test_a_heading_is_marked_by_one_form_feed_more_than_its_level(blank: str) -> None:
    reading = read_html(f"<h2>Ropes{blank}</h2><p>Hemp.</p><h3>&nbsp;</h3><h3><b>Kn</b>ots</h3>Bowline.")

    assert reading.text.startswith("\fRopes\f\f\f")
    assert "\fKnots\f\f\f\fBowline." in reading.text
    assert reading.text.count("\f\f") == 3
    shown = [(block.level, block.title, reading.text[block.start_char : block.end_char]) for block in reading.blocks]
    assert shown == [(2, "Ropes", "Ropes"), (0, "", "Hemp."), (3, "Knots", "Knots"), (0, "", "Bowline.")]


def test_the_end_of_a_heading_that_never_began_marks_nothing() -> None:
    assert read_html("&nbsp;</h1>Hemp ropes.").text.split() == ["Hemp", "ropes."]


def test_a_title_has_no_spaces_where_markup_was() -> None:
    page = "<h2>fn <a href='x'>into</a>(self) -&gt; <b>U</b></h2>"

    assert [block.title for block in read_html(page).blocks] == ["fn into(self) -> U"]


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        pytest.param("Learn C#", "Learn C#", id="language"),
        pytest.param("<a href='#f'>F#</a>", "F#", id="language-that-is-a-link"),
        pytest.param("Learn C#<a href='#c'>¶</a>", "Learn C#", id="language-and-sign"),
        pytest.param("Learn C#<a class='headerlink' href='#c'>#</a>", "Learn C#", id="language-and-link"),
        pytest.param("Paths<span><a class='mark' href='#p'>#</a></span>", "Paths", id="link"),
        pytest.param("Paths <a href='#p'> # </a>", "Paths", id="link-behind-a-blank"),
        pytest.param("Paths #", "Paths", id="sign-behind-a-blank"),
        pytest.param("PATHS<a href='#PATHS'>#PATHS</a>", "PATHS", id="link-of-its-own-id"),
        pytest.param("<a class='anchor' href='#p'>#</a> Paths", "Paths", id="link-in-front"),
        pytest.param("Paths<a href='guide.html#paths'>#</a>", "Paths", id="link-with-a-path"),
        pytest.param("Paths<a name='paths'>#</a>", "Paths", id="link-without-a-target"),
        pytest.param("Paths<a href='#p'><span aria-hidden=true>#</span></a>", "Paths", id="link-around-a-span"),
        pytest.param("\u00dcber<a href='#%C3%BCber'>#\u00fcber</a>", "\u00dcber", id="escaped-id"),
    ],
)
def test_a_title_ends_before_its_permalink_and_not_before_the_sign_of_a_name(heading: str, title: str) -> None:
    assert [block.title for block in read_html(f"<h2>{heading}</h2><p>Text.").blocks if block.level] == [title]


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        pytest.param("OPTIONS <a id=o href='#OPTIONS'>#OPTIONS</a>", "OPTIONS", id="own-id"),
        pytest.param("<a href='#o'>§</a> Options", "Options", id="sign-in-front"),
        pytest.param("Der <a href='/p242'>§</a> 242 BGB", "Der § 242 BGB", id="sign-that-leads-elsewhere"),
        pytest.param("<a href='#channel'>#channel</a>", "#channel", id="only-text"),
        pytest.param("Join <a href='#other'>#channel</a>", "Join #channel", id="another-link"),
        pytest.param("Options <a href='https://a.example/#o'>#o</a>", "Options #o", id="another-page"),
        pytest.param("Join <a href='#general'>#general</a>", "Join #general", id="id-of-something-else"),
        pytest.param("A</h2><p>see <a href='#a'>#a</a></p>", "A see #a", id="text-before-a-stray-end"),
        pytest.param(
            "Channels<p>See <a href='#channels'>#channels</a> now", "Channels See #channels now", id="unclosed"
        ),
        pytest.param("Join <a href='#o'>&para;</a>", "Join", id="character-reference"),
        pytest.param("<span id=o>All options</span> <a href='#o'>#o</a>", "All options", id="id-of-a-span"),
    ],
)
def test_a_heading_is_shown_without_links_to_itself(heading: str, shown: str) -> None:
    assert " ".join(read_html(f"<h2>{heading}</h2><p>Text.").text.split()) == f"{shown} Text."


def test_indentation_in_pre_stays() -> None:
    assert "if a:\n    b" in read_html("<pre>if a:\n    b</pre>").text


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<p>{{ name }}</p>", id="double-braces"),
        pytest.param("{% extends 'a' %}<p>x</p>", id="statement"),
        pytest.param("<?php echo 1 ?><p>x</p>", id="php"),
        pytest.param("<p><%= a %></p>", id="erb"),
        pytest.param("{% extends 'a' %}<main>x</main>", id="statement-above-the-content"),
        pytest.param("<?php echo 1 ?><main>x</main>", id="php-above-the-content"),
        pytest.param("<div id='root'></div><script>x()</script>", id="no-visible-text"),
        pytest.param("", id="empty"),
    ],
)
def test_a_template_is_code_and_unchanged(page: str) -> None:
    reading = read_html(page)

    assert (reading.kind, reading.text, reading.blocks) == ("code", page, ())


PAGE = "<!DOCTYPE html><html><head><title>{title}</title></head><body>{tag}<h1>{head}</h1><p>{words}</p></body></html>"
FORMULA = r"Half of it is $\frac{{1}}{{2}}$, and {% is no mark."


def page_of(title: str = "Halves", tag: str = "", head: str = "Halves", words: str = FORMULA) -> str:
    return PAGE.format(title=title, tag=tag, head=head, words=words)


def test_documentation_of_a_template_language_is_no_template() -> None:
    assert read_html("<p>Write <code>{{ name }}</code> or <tt>{{</tt></p><pre>{% if %}</pre>").kind == "docs"


def test_a_whole_page_may_speak_of_the_marks_of_templates() -> None:
    reading = read_html(page_of(tag="<img alt='{{ x }}'>", words=f"{FORMULA} As in <em>{{{{ x }}}}</em>."))

    assert reading.kind == "docs"
    assert [block.title for block in reading.blocks if block.level] == ["Halves"]
    assert FORMULA in reading.text


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page_of(title="{{ title }} of it"), id="in-its-head"),
        pytest.param(page_of(head="All of {{ title }}"), id="in-its-heading"),
        pytest.param(page_of(tag="<a href='{{ url }}/x'>x</a>"), id="in-a-link"),
        pytest.param(page_of(words=" {% for one in all %} "), id="between-tags"),
        pytest.param(page_of(tag="<?php x ?>"), id="php"),
        pytest.param("<!DOCTYPE html><title>x</title><p>" + FORMULA, id="without-a-heading"),
        pytest.param("<h1>x</h1><p>" + FORMULA, id="a-part-of-a-page"),
    ],
)
def test_a_whole_page_with_marks_elsewhere_is_a_template(page: str) -> None:
    assert read_html(page).kind == "code"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param("10<sup>6</sup> cells", "10^6 cells", id="power"),
        pytest.param("<i>x</i><sup class=a><b>&minus;2</b></sup>", "x^\N{MINUS SIGN}2", id="tags-and-a-sign"),
        pytest.param("5<sup>th</sup> of H<sub>2</sub>O", "5th of H2O", id="letters"),
        pytest.param("<sup>1</sup> A note", "1 A note", id="first"),
        pytest.param("so<sup><a href='#n1'>1</a></sup> it", "so it", id="note"),
        pytest.param("so<a id=r href='b.html#n1'><sup>1</sup></a> it", "so it", id="raised-in-a-link"),
        pytest.param("so<sup><a href='#n1'>[1]</a></sup> it", "so[1] it", id="note-in-brackets"),
        pytest.param("<sup><a href='#r1'>1</a></sup> It is.", "1 It is.", id="the-note-itself"),
        pytest.param("so<a role='doc-noteref' href='#n'>1</a> it", "so it", id="note-by-its-role"),
        pytest.param(
            "see <a href='#n1'>1</a> and <sup><a href='#x'>this</a></sup>", "see 1 and this", id="other-links"
        ),
        pytest.param("so<sup><a href='/1'>1</a></sup>", "so^1", id="no-note"),
    ],
)
def test_a_raised_number_is_told_from_the_word_before(words: str, text: str) -> None:
    assert shown(f"<p>{words}</p>") == text


def test_a_raised_number_is_told_from_the_word_before_in_a_heading() -> None:
    assert [block.title for block in read_html("<h2>Of m<sup>2</sup></h2>").blocks] == ["Of m^2"]


def test_each_text_is_at_the_nearest_id_around_it_or_at_its_heading() -> None:
    page = (
        "<div id=all><p>Before.<section id=life><h2>Life</h2><p>Spawn.</section><p id=weight>Nine kilograms.<p>More."
        "<h3>Bare</h3><p>Under it.<dl id=terms><dt id=elver>Elver<dd><p>A young eel.<p>It grows.<dt>Yellow"
        "<dd>An old one.</dl><ul><li id=one>One<li>Two</ul><p id='no name'>Not this.</div>"
    )
    reading = read_html(page)
    anchors = reading.anchors

    labels = {
        " ".join(reading.text[block.start_char : block.end_char].split()): next(
            (anchor.label for anchor in reversed(anchors) if anchor.start_char <= block.start_char), ""
        )
        for block in reading.blocks
    }

    assert labels == {
        "Before.": "#all",
        "Life": "#life",
        "Spawn.": "#life",
        "Nine kilograms.": "#weight",
        "More.": "#life",
        "Bare": "#life",
        "Under it.": "#life",
        "Elver": "#elver",
        "A young eel.": "#elver",
        "It grows.": "#elver",
        "Yellow": "#terms",
        "An old one.": "#terms",
        "One": "#one",
        "Two": "#life",
        "Not this.": "#life",
    }


@pytest.mark.parametrize(
    ("path", "opening"),
    [("a.xhtml", "<html><head>"), ("a.html", '<?xml version="1.0" encoding="utf-8"?>\n<html><head>')],
)
@pytest.mark.parametrize("empty", ["<script src='x.js'/>", "<iframe src='y'/>", "<title/>", "<pre/>", "<h1 id='x'/>"])
def test_an_element_that_xhtml_closes_at_once_hides_nothing_behind_it(path: str, opening: str, empty: str) -> None:
    text = f"{opening}<link/></head><body>{empty}<p>High water</p><h2>Low</h2><p>water</p></body></html>"
    reading = read_html(text, path)

    found = [(block.kind, reading.text[block.start_char : block.end_char]) for block in reading.blocks]
    assert found == [("text", "High water"), ("heading", "Low"), ("text", "water")]


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        pytest.param("<h2>Life<a id=life></a></h2>", "#life", id="behind-its-words"),
        pytest.param("<a id=old></a><h2 id=life>Life</h2>", "#life", id="own-before-one-above"),
        pytest.param("<a id=old></a><h2>Life</h2>", "#old", id="one-above"),
        pytest.param("<h2>Life</h2><a id=next></a>", "", id="one-below"),
    ],
)
def test_a_heading_has_its_own_id_before_one_above(heading: str, label: str) -> None:
    reading = read_html(f"<p>Eels.</p>{heading}")

    assert [anchor.label for anchor in reading.anchors] == [label] * bool(label)
