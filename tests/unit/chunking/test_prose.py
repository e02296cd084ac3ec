from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from openbook.chunking.fixed import ChunkOptions
from openbook.chunking.prose import chunk_prose
from openbook.sources.documents import read_document
from openbook.types import Anchor, Block, Chunk, Document


def blocks_of(text: str) -> Iterator[Block]:
    """Recognise `# headings` and fences; the rest is left to be gaps."""
    for match in re.finditer(r"^```(?s:.*?)^```$|^(#+) (.*)$", text, re.MULTILINE):
        if match[1]:
            yield Block(match.start(), match.end(), "heading", len(match[1]), match[2])
        else:
            yield Block(match.start(), match.end(), "code")


def chunks_of(text: str, *anchors: Anchor, blocks: tuple[Block, ...] | None = None, **options: Any) -> list[Chunk]:
    blocks = tuple(blocks_of(text)) if blocks is None else blocks
    document = Document("s", "a.md", "docs", "markdown", text, "", blocks, anchors)
    return chunk_prose(document, ChunkOptions(**options))


def long(word: str, chars: int) -> str:
    """One paragraph of about so many characters, in one line."""
    return f"{word} is a word. " * (chars // (len(word) + 12))


HEADED = "\n\n".join(
    ["before", "# A", long("ape", 600), "## B", long("bee", 800), "### C", long("cat", 800), "## D", long("dog", 800)]
)


def test_a_chunk_knows_the_headings_it_stands_under() -> None:
    found = chunks_of(HEADED)

    assert [(chunk.text.split()[0:2], chunk.context) for chunk in found] == [
        (["before"], ()),
        (["#", "A"], ("A",)),
        (["##", "B"], ("A", "B")),
        (["###", "C"], ("A", "B", "C")),
        (["##", "D"], ("A", "D")),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# A\n\na\n\n## B\n\nb\n\n## C\n\nc", [("A",)], id="under-one-top"),
        pytest.param("# A\n\na\n\n# B\n\nb", [("A",), ("B",)], id="not-across-tops"),
        pytest.param("# A\n\na\n\n# A\n\nb", [("A",), ("A",)], id="not-across-tops-of-one-name"),
        pytest.param("x\n\n# A\n\na", [(), ("A",)], id="text-before-the-first-heading"),
        pytest.param("### A\n\na\n\n# B\n\nb", [("A",), ("B",)], id="a-deep-heading-first"),
        pytest.param(
            f"# A\n\n## B\n\n{'b ' * 300}\n\n## C\n\n{'c ' * 300}", [("A", "B"), ("A", "C")], id="not-above-700"
        ),
    ],
)
def test_small_sections_are_joined_under_the_same_top_heading(text: str, expected: list[tuple[str, ...]]) -> None:
    found = chunks_of(text)

    assert [chunk.context for chunk in found] == expected


def test_joined_sections_stand_under_what_they_share() -> None:
    found = chunks_of("# A\n\n## B\n\n### C\n\nc\n\n### D\n\nd")

    assert [chunk.context for chunk in found] == [("A", "B")]


def test_a_heading_without_text_goes_with_the_next_one() -> None:
    text = f"# A\n\n{long('ape', 1200)}\n\n## B\n\n### C\n\n{long('cat', 1200)}"

    found = chunks_of(text)

    assert [chunk.text.split("\n")[0] for chunk in found] == ["# A", "## B"]
    assert found[1].context == ("A", "B", "C")


def test_a_heading_at_the_end_of_the_document_is_kept() -> None:
    found = chunks_of(f"# A\n\n{long('ape', 1200)}\n\n# B\n")

    assert found[-1].text == "# B"
    assert found[-1].context == ("B",)


def test_a_heading_stays_with_a_listing_that_fills_a_chunk() -> None:
    fence = "```\n" + "x = 1\n" * 248 + "```"
    text = f"# A\n\n{long('ape', 1490)}\n\n## B\n\n{fence}\n\nafter"

    found = chunks_of(text)

    assert [chunk.text[:4] for chunk in found] == ["# A\n", "## B", "afte"]
    assert found[1].text.endswith(fence)


def test_a_long_section_is_cut_between_paragraphs() -> None:
    paragraphs = [long(word, 600).strip() for word in ("ape", "bee", "cat", "dog")]
    text = "# A\n\n" + "\n\n".join(paragraphs)

    found = chunks_of(text)

    assert [chunk.text for chunk in found] == ["# A\n\n" + "\n\n".join(paragraphs[:2]), "\n\n".join(paragraphs[2:])]


def test_the_rest_of_a_long_section_is_not_left_alone() -> None:
    paragraphs = [long(word, 450).strip() for word in ("ape", "bee", "cat")]
    text = "\n\n".join([*paragraphs, "The last word."])

    found = chunks_of(text, max_chars=1360)

    assert [chunk.text for chunk in found] == ["\n\n".join(paragraphs[:2]), paragraphs[2] + "\n\nThe last word."]


def test_a_long_table_is_cut_between_rows() -> None:
    rows = [f"| {number} | value |" for number in range(300)]

    found = chunks_of("\n".join(rows))

    assert [row for chunk in found for row in chunk.text.split("\n")] == rows
    assert len(found) > 2


def test_a_line_that_is_too_long_is_cut_between_sentences() -> None:
    found = chunks_of(long("ape", 4000))

    assert len(found) > 2
    assert all(chunk.text.endswith("word.") for chunk in found)


def test_a_listing_that_fits_is_not_cut_at_its_blank_lines() -> None:
    fence = "```\n" + "x = 1\n\n" * 200 + "```"
    text = f"{long('ape', 1000)}\n\n{fence}\n\n{long('bee', 1000)}"

    found = chunks_of(text)

    assert [chunk.text.strip() for chunk in found] == [long("ape", 1000).strip(), fence, long("bee", 1000).strip()]


def test_a_longer_listing_is_cut_at_blank_lines_and_keeps_its_indentation() -> None:
    function = "    def f(self):\n        return 1" + "\n        # more" * 30
    fence = "```\n" + "\n\n".join([function] * 6) + "\n```"

    found = chunks_of(fence)

    assert len(found) == 2
    assert all(chunk.text.startswith("    def f") for chunk in found[1:])
    assert "\n\n".join(chunk.text for chunk in found) == fence


def test_a_heading_inside_a_fence_is_no_heading() -> None:
    found = chunks_of("# A\n\n```\n# B\n```\n\ntext")

    assert [chunk.context for chunk in found] == [("A",)]


def test_text_between_blocks_is_text() -> None:
    text = "title\nclaimed\nnot claimed"

    found = chunks_of(text, blocks=(Block(0, 5, "heading", 1, "title"), Block(6, 13)))

    assert [chunk.text for chunk in found] == [text]


def test_a_chunk_stays_between_two_anchors() -> None:
    text = "# A\n\none\n\ntwo\n\nthree"

    found = chunks_of(text, Anchor(5, "cell 2"), Anchor(10, "cell 2"), Anchor(15, "cell 4"))

    assert [(chunk.text, chunk.anchor, chunk.context) for chunk in found] == [
        ("# A", "", ("A",)),
        ("one\n\ntwo", "cell 2", ("A",)),
        ("three", "cell 4", ("A",)),
    ]


@pytest.mark.parametrize(
    ("labels", "body", "expected"),
    [
        pytest.param(("#a", "#b"), "b", [("#a", ("A",))], id="small-places-of-one-page-share-a-chunk"),
        pytest.param(("#a", "#b"), "b " * 200, [("#a", ("A",)), ("#b", ("A", "B"))], id="a-longer-one-has-its-own"),
        pytest.param(("#a", "#b"), "b" + " " * 900, [("#a", ("A",))], id="markup-does-not-count"),
        pytest.param(("p. 1", "p. 2"), "b", [("p. 1", ("A",)), ("p. 2", ("A", "B"))], id="pages-do-not"),
    ],
)
def test_only_small_sections_share_the_anchor_of_the_first(
    labels: tuple[str, str], body: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    found = chunks_of(f"# A\n\na\n\n## B\n\n{body}.", Anchor(0, labels[0]), Anchor(8, labels[1]))

    assert [(chunk.anchor, chunk.context) for chunk in found] == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("0:00:01", "0:00:09"), ["0:00:01"]),
        (("0:00:01", "0:09:09"), ["0:00:01", "0:09:09"]),
        (("verse 1", "verse 2"), ["verse 1", "verse 2"]),
    ],
    ids=["near", "far", "no-time"],
)
def test_short_times_of_a_recording_share_a_chunk(labels: tuple[str, str], expected: list[str]) -> None:
    document = Document("s", "a.vtt", "docs", "vtt", "one\n\ntwo", "", (), (Anchor(0, labels[0]), Anchor(5, labels[1])))

    assert [chunk.anchor for chunk in chunk_prose(document, ChunkOptions())] == expected


def test_a_bare_heading_goes_with_what_stands_under_it_whatever_its_anchor() -> None:
    found = chunks_of(f"# A\n\n## B\n\n{'b ' * 200}", Anchor(0, "#a"), Anchor(5, "#b"))

    assert [(chunk.anchor, chunk.context) for chunk in found] == [("#a", ("A", "B"))]


def test_the_id_of_a_paragraph_is_no_reason_to_cut() -> None:
    page = "<h1 id=a>A</h1>" + "".join(f"<p id=p{number}>{'word ' * 60}" for number in range(3))
    read = read_document(page.encode(), source="docs", path="a.html")

    found = chunk_prose(read, ChunkOptions())

    assert ([chunk.anchor for chunk in found], len(read.anchors)) == (["#a"], 4)


@pytest.mark.parametrize("strategy", ["semantic", "fixed-size", "hybrid"])
def test_every_strategy_respects_anchors_inside_a_block(strategy: str) -> None:
    found = chunks_of("one two three", Anchor(4, "page 2"), blocks=(Block(0, 13),), strategy=strategy)

    assert [(chunk.text, chunk.anchor) for chunk in found] == [("one", ""), ("two three", "page 2")]


def test_spans_count_lines_from_one_and_characters_from_zero() -> None:
    found = chunks_of("\n\n  indented\r\n\r\nmore\r\n")

    assert [(str(chunk.span), chunk.span.start_char, chunk.text) for chunk in found] == [
        ("a.md:3-5", 2, "  indented\r\n\r\nmore")
    ]


def test_fixed_windows_ignore_headings_but_know_them() -> None:
    found = chunks_of(
        "# A\n\none two\n\n## B\n\nthree four\n\nfive six", strategy="fixed-size", max_words=6, overlap_words=1
    )

    assert [(chunk.text, chunk.context) for chunk in found] == [
        ("# A\n\none two\n\n## B", ("A",)),
        ("B\n\nthree four\n\nfive six", ("A", "B")),
    ]


def test_hybrid_windows_end_with_their_section() -> None:
    text = "# A\n\none two three four five\n\n# B\n\nsix"

    found = chunks_of(text, strategy="hybrid", max_words=5, overlap_words=1)

    assert [(chunk.text, chunk.context) for chunk in found] == [
        ("# A\n\none two three", ("A",)),
        ("three four five", ("A",)),
        ("# B\n\nsix", ("B",)),
    ]


def test_hybrid_leaves_a_section_whole_that_has_few_enough_words() -> None:
    text = f"# A\n\n{long('ape', 1800)}".strip()

    found = chunks_of(text, strategy="hybrid")

    assert [chunk.text for chunk in found] == [text]


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        pytest.param("a.1", ".It Fl {letter} Ar ship\n{said}", id="mdoc"),
        pytest.param("a.1", ".TP\n.B \\-{letter}\n{said}", id="man"),
        pytest.param("a.pod", "=item -{letter}\n\n{said}\n", id="pod"),
        pytest.param("a.adoc", "-{letter}::\n\n\t{said}\n", id="asciidoc"),
        pytest.param("a.rst", "-{letter}\n  {said}", id="rst"),
    ],
)
def test_an_entry_of_a_list_stays_whole_and_is_named(path: str, entry: str) -> None:
    said = "Moors the ship at the pier. " * 14
    page = ".TH A 1\n.SH OPTIONS\n" if path == "a.1" else "Opens the list.\n\n"
    text = page + "\n".join(entry.format(letter=letter, said=said) for letter in "abcdefghij") + "\n"

    found = chunk_prose(read_document(text.encode(), source="s", path=path), ChunkOptions())

    assert len(found) > 2
    assert [name for chunk in found for name in chunk.defines] == [f"-{letter}" for letter in "abcdefghij"]
    assert all(
        len(re.findall("^-[a-j]", chunk.text, re.MULTILINE)) * 14 == chunk.text.count("Moors") for chunk in found
    )


def test_the_head_of_an_entry_that_is_too_long_stays_with_what_follows() -> None:
    paragraphs = "\n".join(f".Pp\n{'Moors the ship. ' * 60}" for _ in range(4))
    page = f".TH A 1\n.SH OPTIONS\n{'Opens. ' * 180}\n.It Fl a{paragraphs.removeprefix('.Pp')}\n"

    found = chunk_prose(read_document(page.encode(), source="s", path="a.1"), ChunkOptions())

    (headed,) = [chunk for chunk in found if "-a" in chunk.defines]
    assert headed.text.count("Moors") >= 60


def test_what_leads_to_a_list_of_entries_stands_with_the_first() -> None:
    said = "Moors the ship at the pier. " * 14
    entries = "".join(f".It Fl {letter}\n{said}\n" for letter in "abcdefgh")
    page = f".TH A 1\n.SH OPTIONS\n{'Opens. ' * 190}\n.Pp\nThe options are as follows:\n.Bl -tag\n{entries}.El\n"

    found = chunk_prose(read_document(page.encode(), source="s", path="a.1"), ChunkOptions())

    (led,) = [chunk for chunk in found if "as follows:" in chunk.text]
    assert "-a" in led.defines


@pytest.mark.parametrize(
    ("path", "first", "body"),
    [
        pytest.param("a.md", "- item", "    what is said of it", id="item"),
        pytest.param("a.md", "!!! note", "    what it shows", id="box"),
        pytest.param("a.md", "Term", ":   what it is", id="definition"),
        pytest.param("a.rst", ".. note::", "    what it shows", id="directive"),
        pytest.param("a.rst", "#. item", "   what is said of it", id="numbered"),
        pytest.param("a.rst", "Shown so::", "    code", id="literal"),
        pytest.param("a.md", "All of them:", "what they are", id="announced"),
        pytest.param("a.md", "Use one of these:", "```\ncode\n```", id="example"),
    ],
)
def test_no_border_stands_between_a_line_and_the_body_that_it_opens(path: str, first: str, body: str) -> None:
    for before in range(600, 1500, 60):
        text = f"{long('ape', before)}\n\n{first}\n\n{body}\n\n{long('bee', 900)}\n"

        found = chunk_prose(read_document(text.encode(), source="s", path=path), ChunkOptions())

        assert len(found) > 1
        assert [chunk for chunk in found if first in chunk.text] == [chunk for chunk in found if body in chunk.text]


def test_a_body_that_is_too_long_begins_with_what_opens_it_and_is_cut_between_its_own_items() -> None:
    items = "".join(f"    - item {n}\n      {long('ape', 90)}\n\n" for n in range(40))
    text = f"!!! note\n\n    Read these.\n\n{items}"

    found = chunk_prose(read_document(text.encode(), source="s", path="a.md"), ChunkOptions())

    assert found[0].text.startswith("!!! note\n\n    Read these.\n\n    - item 0\n")
    assert all(chunk.text.startswith("    - item") for chunk in found[1:])


def test_a_tab_is_in_the_path_and_what_is_below_it_is_not() -> None:
    text = (
        f'# Top\n\n=== "A"\n\n    ## A\n\n    ### In\n\n    {long("one", 900)}\n\n'
        f'=== "B"\n\n    {long("two", 900)}\n\n{long("three", 900)}\n'
    )
    document = read_document(text.encode(), source="s", path="a.md")

    assert [chunk.context for chunk in chunk_prose(document, ChunkOptions())] == [
        ("Top", "A", "In"),
        ("Top", "B"),
        ("Top",),
    ]


def test_what_follows_a_tab_is_not_joined_with_it_without_the_heading_above() -> None:
    def starts(above: str) -> list[str]:
        text = f'# Top\n\n## One\n\n{above}\n\n=== "A"\n\n    a\n\n=== "B"\n\n    b\n\n## Two\n\nc\n'
        document = read_document(text.encode(), source="s", path="a.md")
        return [chunk.text.split("\n")[0] for chunk in chunk_prose(document, ChunkOptions())]

    assert starts("Few.") == ["# Top"]
    assert starts(long("many", 900)) == ["# Top", '=== "A"', "## Two"]


def test_a_deeper_heading_behind_a_tab_is_not_below_it() -> None:
    text = f'# Top\n\n=== "A"\n\n    {long("one", 900)}\n\n#### Deep\n\n{long("two", 900)}\n'
    document = read_document(text.encode(), source="s", path="a.md")

    assert [chunk.context for chunk in chunk_prose(document, ChunkOptions())] == [("Top", "A"), ("Top", "Deep")]


def test_small_sections_of_two_headings_are_joined_where_no_tab_ends() -> None:
    text = f"# Top\n\n## One\n\n{long('one', 900)}\n\n### A\n\na\n\n## Two\n\nb\n"
    document = read_document(text.encode(), source="s", path="a.md")

    assert [chunk.text.split("\n")[0] for chunk in chunk_prose(document, ChunkOptions())] == ["# Top", "### A"]


FENCED = "# A\n\nSo:\n\n```yaml\n{}\n```\n\nEnd."
LISTED = "A\n=\n\nSo:\n\n.. code-block:: yaml\n   :linenos:\n\n{}\n\nEnd."


@pytest.mark.parametrize(
    ("path", "text", "opening"),
    [
        pytest.param("a.md", FENCED, "```yaml", id="markdown"),
        pytest.param("a.md", FENCED.replace("```", "   ```").replace("So", "1. So"), "   ```yaml", id="in-an-item"),
        pytest.param("README.txt", FENCED, "```yaml", id="plain-text"),
        pytest.param("a.rst", LISTED, ".. code-block:: yaml", id="rst"),
        pytest.param("a.adoc", "= A\n\nSo:\n\n[source,yaml]\n----\n{}\n----\n\nEnd.", "----", id="asciidoc"),
        pytest.param("a.html", "<h1>A</h1><p>So:<pre>{}</pre><p>End.", "\x02", id="html"),
    ],
)
def test_a_chunk_that_begins_in_code_knows_what_opens_it(path: str, text: str, opening: str) -> None:
    keys = ["    # What it weighs.\n    weight: heavy"] * 200
    text = text.replace("{}", "\n\n".join(keys)).replace("End.", "It ends so. " * 200)
    document = read_document(text.encode(), source="s", path=path)
    found = chunk_prose(document, ChunkOptions())

    inside = [chunk for chunk in found if chunk.text.lstrip().startswith(("# What", "weight"))]
    assert len(inside) > 2
    assert {chunk.code_opening for chunk in inside} == {opening}
    assert {chunk.code_opening for chunk in found if chunk not in inside} == {""}


def test_examples_of_a_session_need_no_line_that_opens_them() -> None:
    text = "Sessions\n========\n\nSo:\n\n" + ">>> weigh('a heavy load')\n" * 200

    found = chunk_prose(read_document(text.encode(), source="s", path="a.rst"), ChunkOptions())

    assert len(found) > 2
    assert {chunk.code_opening for chunk in found} == {""}


def test_fences_that_are_not_closed_open_no_code_in_plain_text() -> None:
    document = read_document(b"So:\n\n```yaml\na: 1\n\nEnd.", source="s", path="a.txt")

    assert {block.kind for block in document.blocks} == {"text"}
