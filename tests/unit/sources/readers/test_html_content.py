"""Of a page, the content is read, and its headings are the places that citations link to."""

from __future__ import annotations

from itertools import pairwise

import pytest

from openbook.chunking.dispatch import chunk_document
from openbook.embedding.static import load_embedder
from openbook.retrieval.fields import embedding_text
from openbook.sources.readers.html import read_html
from openbook.types import Document

SITE = (
    "<html><head><title>Bread</title></head><body><a href='#m'>Skip</a><header><h1>Site</h1>Search</header>"
    "<nav><ul><li>Home</ul></nav><main id=m><nav>Breadcrumbs</nav><header>By Ada</header><h1>Loaf</h1><p>Text."
    "<aside>A note.</aside><footer>Sources.</footer></main><aside>Adverts</aside><footer>Imprint</footer></body></html>"
)


def shown(page: str) -> str:
    return " ".join(read_html(page).text.split())


def anchors(page: str) -> list[tuple[str, str]]:
    """Return the labels, each with the text up to the next one."""
    reading = read_html(page)
    starts = [*(anchor.start_char for anchor in reading.anchors), len(reading.text)]
    texts = [" ".join(reading.text[start:end].split()) for start, end in pairwise(starts)]
    return [(anchor.label, text) for anchor, text in zip(reading.anchors, texts, strict=True)]


def test_of_a_page_with_a_main_part_that_and_the_title_are_read() -> None:
    assert shown(SITE) == "By Ada Loaf Text. A note. Sources."
    assert shown(SITE.replace("h1>", "h2>")) == "Bread By Ada Loaf Text. A note. Sources."


def test_boilerplate_separates_text() -> None:
    assert read_html("a<nav>b</nav>c").text == "a\fc"


def test_a_main_heading_above_the_main_part_stays() -> None:
    assert shown("<header><h1>Loaf</h1>Menu</header><nav><h1>x</h1></nav><main>Text.</main>") == "Loaf Text."


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param("<nav>a<nav>b</nav>c</nav><p>d", "d", id="menu-in-menu"),
        pytest.param("<div role='navigation'>a<div>b</div></div><p>c", "c", id="by-role"),
        pytest.param("<div role=main>a</div>b", "a", id="main-by-role"),
        pytest.param("<main>a</main>b<main>c</main>d", "a c", id="two-mains"),
        pytest.param("<main>a<main>b</main>c</main>d", "a b c", id="main-in-main"),
        pytest.param("<header>a</header><p>b</p><footer>c</footer><aside>d</aside>", "b", id="edges"),
        pytest.param(
            "<article><header>a</header>b<aside>c</aside><footer>d</footer></article>", "a b c d", id="article"
        ),
        pytest.param("<div class='x cookie-banner'>a</div><p>b", "b", id="cookie-banner"),
        pytest.param("<div id=onetrust-consent-sdk>a<div>b</div></div><p>c", "c", id="cookie-widget"),
        pytest.param("<section id=cookies class=consent>a</section>", "a", id="section-about-cookies"),
        pytest.param("<nav>a<p>b", "a b", id="menu-that-is-never-closed"),
        pytest.param("</nav><p>b", "b", id="menu-that-is-never-opened"),
        pytest.param("<div role=navigation><div>a<p></div><h1>b</h1>c</div>", "a b c", id="menu-around-the-heading"),
        pytest.param("<nav>a</nav><footer>b</footer>", "a b", id="nothing-but-menus"),
        pytest.param("<title>t</title><nav>a</nav><main><script>x</script></main>", "t a", id="empty-main"),
        pytest.param("x<main>a</main>y", "a", id="bare-text-around"),
    ],
)
def test_boilerplate_is_dropped_and_content_stays(page: str, text: str) -> None:
    assert shown(page) == text


@pytest.mark.parametrize(
    ("page", "found"),
    [
        pytest.param("<h1 id=a>A</h1>x<h2 id='b'>B</h2>y", [("#a", "A x"), ("#b", "B y")], id="of-the-heading"),
        pytest.param("<section id=s><h2>A</h2>x</section>", [("#s", "A x")], id="of-its-section"),
        pytest.param("<div class=section id=s><span id=t></span><h2>A</h2>", [("#t", "A")], id="of-an-element-before"),
        pytest.param("<h2><a name=n></a>A<a href='#n'>¶</a></h2>", [("#n", "A")], id="in-the-heading"),
        pytest.param("<section id=s><h2 id=h><a id=i></a>A</h2>", [("#h", "A")], id="its-own-first"),
        pytest.param("<section id=s><p>x</p><h2>A</h2>", [("#s", "x"), ("", "A")], id="text-between"),
        pytest.param("<div id=page><h2>A</h2>", [], id="of-a-container"),
        pytest.param("<h2 id='a b'>A</h2><h2 data-id=x>B</h2><h2 id=''>C</h2>", [], id="not-an-id"),
        pytest.param("<h2 id=a&amp;b>A</h2>", [("#a&b", "A")], id="reference"),
        pytest.param("<h2 id=a>A</h2>x<h3>B</h3>y<h2>C</h2>z", [("#a", "A x B y"), ("", "C z")], id="until-the-next"),
    ],
)
def test_headings_are_anchors_by_the_id_that_leads_to_them(page: str, found: list[tuple[str, str]]) -> None:
    assert anchors(page) == found


def test_a_citation_of_a_page_names_its_section() -> None:
    page = f"<h1 id=top>Bread</h1><p>{'Needs time. ' * 30}</p><h2 id=oven>Oven</h2><p>{'Hot. ' * 30}</p>"
    reading = read_html(page)

    document = Document(
        "s", "a.html", reading.kind, reading.language, reading.text, "0" * 64, reading.blocks, reading.anchors
    )

    assert [(chunk.anchor, chunk.context) for chunk in chunk_document(document)] == [
        ("#top", ("Bread",)),
        ("#oven", ("Bread", "Oven")),
    ]


def test_words_on_both_sides_of_a_border_are_embedded_apart() -> None:
    reading = read_html("<p>bread</p><p>oven</p>")
    document = Document("s", "a.html", reading.kind, reading.language, f"{reading.text}\fsalt\fflour", "0" * 64)
    (chunk,) = chunk_document(document)

    joined, apart = load_embedder().embed([embedding_text(chunk), "a\nbread oven salt flour"])

    assert joined @ apart > 0.999


@pytest.mark.slow
def test_many_elements_take_no_longer_than_their_number() -> None:
    page = "<article>" * 3_000 + "<footer><div id=x role=navigation>a</div></footer><h2 id=y>b</h2>" * 3_000

    assert read_html(page).text.count("b") == 3_000
