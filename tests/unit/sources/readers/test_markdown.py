"""Markdown: headings where CommonMark sees them, code as code, offsets into the file."""

from __future__ import annotations

import pytest

from openbook.sources.readers.markdown import read_markdown


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start_char : block.end_char]) for block in read_markdown(text).blocks]


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in read_markdown(text).blocks if block.kind == "heading"]


def test_a_page_is_headings_text_and_code() -> None:
    text = "# Top\n\nOne\ntwo.\n\n```sh\nls\n```\n\n    indented\n\nSub\n---\nlast"

    found = blocks(text)

    assert found == [
        ("heading", "# Top"),
        ("text", "One\ntwo."),
        ("code", "```sh\nls\n```"),
        ("code", "    indented"),
        ("heading", "Sub\n---"),
        ("text", "last"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```\n# no\n```\n", id="in-a-fence"),
        pytest.param("~~~~\n```\n# no\n~~~~\n", id="in-a-fence-around-a-fence"),
        pytest.param("    # no\n", id="in-indented-code"),
        pytest.param("```\n# no", id="in-a-fence-that-stays-open"),
        pytest.param("#no\n", id="without-a-space"),
        pytest.param("<!--\n# no\n-->\n", id="in-a-comment"),
        pytest.param("- # no\n", id="in-a-list"),
        pytest.param("> # no\n", id="in-a-quotation"),
        pytest.param("####### no\n", id="seven-deep"),
    ],
)
def test_a_heading_inside_something_else_is_no_heading(text: str) -> None:
    assert headings(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<h1 align=center>Ring <b>it</b></h1>\n", [(1, "Ring it")], id="in-one-line"),
        pytest.param('<h3 name="a">\nWhen is\nthe tide?\n</h3>\n', [(3, "When is the tide?")], id="in-several-lines"),
        pytest.param("<div>\n  <H1>Ring</H1>\n  <h2>Bell</h2>\n</div>", [(1, "Ring"), (2, "Bell")], id="in-a-box"),
        pytest.param("# A\n\n<h2>B</h2>\n\n## C\n", [(1, "A"), (2, "B"), (2, "C")], id="among-others"),
        pytest.param('<h1>\n<img src="a.png" alt="A">\n</h1>\n', [], id="a-picture"),
        pytest.param("<table>\n<tr><td>\n<h2>no</h2>\n</td></tr></table>\n", [], id="in-a-table"),
        pytest.param("<pre>\n<h2>no</h2>\n</pre>\n", [], id="as-it-stands"),
        pytest.param("<!--\n<h2>no</h2>\n-->\n", [], id="in-a-comment"),
        pytest.param("- a\n\n  <h2>no</h2>\n", [], id="in-a-list"),
        pytest.param("<h2>no\n\n</h2>\n", [], id="over-an-empty-line"),
        pytest.param("Say <h2>no</h2>\n", [], id="in-a-sentence"),
    ],
)
def test_a_heading_in_html_is_a_heading(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


def test_text_beside_a_heading_in_html_stays_text() -> None:
    assert blocks("<div>\n<h1>Ring</h1>\n<p>Rings.</p>\n</div>\n\nIt rings.\n") == [
        ("text", "<div>"),
        ("heading", "<h1>Ring</h1>"),
        ("text", "<p>Rings.</p>\n</div>"),
        ("text", "It rings."),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("## Plain ##", "Plain"),
        ("## `code_of` and **bold** _it_", "code_of and bold it"),
        ("## A [link](https://example.org) here", "A link here"),
        ("## A [reference][x]", "A reference"),
        ("## ![logo](a.png) Name", "Name"),
        ("## ![Ropes](a.png)", "Ropes"),
        ("## Ropes&nbsp;[![Build](a.svg)](b)&nbsp;[![Chat][c]][d]", "Ropes"),
        (f"## Ropes [![Build]({'a' * 490}.svg)](b)", "Ropes"),
        ("## a &amp; b \\* c", "a & b * c"),
        ("## Install {#install}", "Install"),
        ("## [Install `it`](@id install-it)", "Install it"),
        ("## <a id='x'></a>Name", "Name"),
        ("## __init__", "init"),
        ("## `__init__`", "__init__"),
        ("##", ""),
    ],
)
def test_a_title_is_what_a_reader_would_see(line: str, title: str) -> None:
    assert headings(f"{line}\n\n[x]: https://example.org\n") == [(2, title)]


def test_a_heading_of_blanks_costs_no_more_time_than_its_length() -> None:
    blanks = " " * 500_000

    assert headings(f"## a{blanks}b {{#c{blanks}\n") == [(2, "a b {#c")]


def test_a_long_list_is_one_block_for_each_item() -> None:
    text = "".join(f"- item {number}\n  more\n" for number in range(500))

    found = blocks(text)

    assert len(found) == 500
    assert found[7] == ("text", "- item 7\n  more")


def test_an_item_keeps_its_nested_list_and_gives_up_its_code() -> None:
    text = "1. one\n   - a\n   - b\n\n   ```\n   code\n   ```\n\n   after\n2. two\n"

    found = blocks(text)

    assert found == [
        ("text", "1. one\n   - a\n   - b"),
        ("code", "   ```\n   code\n   ```"),
        ("text", "   after"),
        ("text", "2. two"),
    ]


def test_front_matter_is_text_and_shifts_no_line() -> None:
    text = "---\nweight: 3\n# comment\n---\n# Top\n"

    assert blocks(text) == [("text", "---\nweight: 3\n# comment\n---"), ("heading", "# Top")]


@pytest.mark.parametrize(
    ("stated", "title"),
    [
        ("title: Add a best bet", "Add a best bet"),
        ('title:   "It\'s here: now"  ', "It's here: now"),
        ("title: 'The Shell'", "The Shell"),
        ('title = "In TOML"', "In TOML"),
    ],
)
def test_a_title_in_front_matter_is_the_heading_of_its_page(stated: str, title: str) -> None:
    fence = "+++" if " = " in stated else "---"
    front = f"{fence}\r\nweight: 3\r\n{stated}\r\n{fence}"
    text = f"{front}\r\n\r\nText.\r\n\r\n## How\r\n"

    assert blocks(text) == [("heading", front), ("text", "Text."), ("heading", "## How")]
    assert headings(text) == [(1, title), (2, "How")]


@pytest.mark.parametrize("stated", ["title:", "title: >", "  title: of an author", "subtitle: x", "title: {{ name }}"])
def test_front_matter_whose_title_is_not_on_its_line_is_no_heading(stated: str) -> None:
    assert headings(f"---\nweight: 3\n{stated}\n  more\n---\n## How\n") == [(2, "How")]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert headings("---\n\n# Top\n\n---\n") == [(1, "Top")]


@pytest.mark.parametrize("separator", ["\r", "\r\r", "\x0b", "\x0c", "\x85", "\u2028"])
def test_only_line_feeds_are_lines(separator: str) -> None:
    text = f"one{separator}two\r\n\r\n# Top\r\n"

    assert blocks(text) == [("text", f"one{separator}two"), ("heading", "# Top")]


def test_link_definitions_and_tables_are_text() -> None:
    text = "[a]: https://example.org\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

    assert blocks(text) == [("text", "[a]: https://example.org"), ("text", "| a | b |\n|---|---|\n| 1 | 2 |")]


def test_an_empty_page_has_no_blocks() -> None:
    assert read_markdown(" \n\n").blocks == ()


@pytest.mark.parametrize(
    "opened",
    ["!!! note", '!!! tip "Title"', "???+ warning", "=== Tab", "[^1]: Seen once.", ":   A definition."],
    ids=str,
)
def test_what_is_indented_in_a_box_is_prose_but_for_its_code(opened: str) -> None:
    body = "one\n\ntwo\n\n```sh\n# no\n\nls\n```\n\n!!! tip\n    deep\n\n    deeper\n\n        shown"
    inside = "\n".join(f"    {line}" if line else "" for line in body.split("\n"))

    found = blocks(f"{opened}\n{inside}\n\nbehind\n")

    assert [kind for kind, _ in found] == ["text", "code", "text", "code", "text"]
    assert found[0] == ("text", f"{opened}\n    one\n\n    two")
    assert found[1] == ("code", "    ```sh\n    # no\n\n    ls\n    ```")
    assert found[3] == ("code", "            shown")


def test_a_fence_right_below_a_tab_is_code_to_its_end() -> None:
    text = '# T\n\n=== "A"\n    ```yaml\n    a: 1\n\n    b: 2\n    ```\n'

    assert blocks(text)[1:] == [("heading", '=== "A"'), ("code", "    ```yaml\n    a: 1\n\n    b: 2\n    ```")]


@pytest.mark.parametrize(
    "opened", ['=== "`Linux`"', '=== ":material-linux: Linux"', '===+ "Linux"', '??? tip "Linux"', '???+ "Linux"']
)
def test_a_tab_and_a_collapsible_block_are_sections_below_the_heading_above(opened: str) -> None:
    text = f"## Install\n\n{opened}\n    Run it.\n\n    ```sh\n    # no\n    ```\n\nbehind\n"

    assert headings(text) == [(2, "Install"), (3, "Linux")]
    assert blocks(text)[1:3] == [("heading", opened), ("text", "    Run it.")]
    assert [block.closes for block in read_markdown(text).blocks] == [0, 0, 0, 0, 3]


def test_a_blank_line_below_a_tab_is_in_no_block() -> None:
    assert blocks('# T\n\n=== "A"\n\n    a\n')[1:] == [("heading", '=== "A"'), ("text", "    a")]


def test_a_tab_without_a_heading_above_is_no_section_but_headings_in_it_are() -> None:
    text = 'Run one of these:\n\n=== "A"\n\n    a\n\n=== "B"\n\n    # Three\n\n    b\n'

    assert headings(text) == [(1, "Three")]


def test_headings_in_tabs_are_below_their_tabs() -> None:
    text = (
        "# Top\n\n"
        '=== "A"\n\n    ## One\n\n    ### Two\n\n    === "Inner"\n\n        a\n\n    b\n\n'
        '=== "B"\n\n    # Three\n\n    c\n\n'
        "d\n\n### Four\n"
    )

    assert headings(text) == [
        (1, "Top"),
        (2, "A"),
        (4, "One"),
        (5, "Two"),
        (6, "Inner"),
        (2, "B"),
        (3, "Three"),
        (3, "Four"),
    ]
    assert [
        (text[block.start_char : block.end_char].strip(), block.closes)
        for block in read_markdown(text).blocks
        if block.closes
    ] == [("b", 6), ('=== "B"', 2), ("d", 2)]


def test_headings_in_an_admonition_end_with_it() -> None:
    text = "# Top\n\n!!! note\n\n    ## One\n\n    a\n\nb\n\n!!! tip\n    c\n\nd\n"

    assert headings(text) == [(1, "Top"), (3, "One")]
    assert [block.closes for block in read_markdown(text).blocks] == [0, 0, 0, 0, 2, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('- item\n\n    === "Tab"\n\n        # no\n', id="in-a-list"),
        pytest.param('> === "Tab"\n>\n>     # no\n', id="in-a-quotation"),
        pytest.param('```\n=== "Tab"\n\n    # no\n```\n', id="in-a-fence"),
        pytest.param('=== "Tab"\n\n    - item\n\n        # no\n', id="in-a-list-in-a-tab"),
        pytest.param("[^1]: Seen.\n\n    # no\n", id="in-a-footnote"),
        pytest.param("!!! note\n    a\n    ---\n", id="underlined-with-the-line-of-a-box"),
    ],
)
def test_what_is_in_a_list_or_quotation_opens_no_section(text: str) -> None:
    assert [title for _, title in headings(text) if title != "Tab" or not text.startswith("===")] == []


@pytest.mark.parametrize("name", ["{note}", "eval_rst"])
def test_a_directive_in_a_fence_holds_prose_and_its_code(name: str) -> None:
    box = f"````{name}\nRead it.\n\n# no\n\n```{{tip}}\nThis too.\n```\n\n```py\nx = 1\n```\n````\n"
    text = f"{box}\n```{{r}}\nplot(x)\n```\n"

    found = blocks(text)

    assert [shown for kind, shown in found if kind == "code"] == ["```py\nx = 1\n```", "```{r}\nplot(x)\n```"]
    assert headings(text) == []


def test_directives_in_fences_are_read_however_deep_they_are_nested() -> None:
    depth = 60
    opened = "\n".join("`" * (depth - n + 3) + "{note}" for n in range(depth))
    closed = "\n".join("`" * (n + 4) for n in range(depth))

    assert blocks(f"{opened}\nprose\n{closed}\n")
