from __future__ import annotations

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.displaying import displayed, examples_of
from openbook.extractive.passages import Passage
from openbook.extractive.quoting import quoted
from openbook.sources.readers.html import read_html
from openbook.text import units
from openbook.types import Chunk
from tests.unit.retrieval.material import chunk_of, result_of


def shown(chunk: Chunk) -> tuple[str, ...]:
    return displayed(chunk, units(chunk))


def page_of(html: str) -> Chunk:
    return chunk_of(read_html(html).text, "a.html", language="html")


def test_a_page_is_shown_without_its_indentation() -> None:
    page = page_of('<p>Set <code class="x">PORT</code>\u00a0to\n  <b>change</b>\tit   there.</p>')

    assert shown(page) == ("Set PORT to", "change it there.")


def test_code_of_a_page_is_shown_in_fences_as_it_stands() -> None:
    page = page_of("<p>Call  it:<pre> def <b>f</b>():\n    return   1</pre><p>So  be it.")

    assert shown(page) == ("Call it:", "```", " def f():", "    return   1", "```", "So be it.")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param('<span id="passes"/>How many checks must pass.', "How many checks must pass.", id="anchor"),
        pytest.param("Press <kbd>F1</kbd> for <b>help</b> about this.", "Press F1 for help about this.", id="inline"),
        pytest.param("It waits.<!-- todo --> Then it ends here.", "It waits. Then it ends here.", id="comment"),
        pytest.param("All the cells: <td>one</td><td>two</td>", "All the cells:  one  two ", id="cells"),
        pytest.param("Set the option <code>PORT</code> to a number.", "Set the option PORT to a number.", id="paired"),
        pytest.param(
            "<a-note>It waits for hours.\nThen <Box>it</Box> ends and closes.</a-note>",
            "It waits for hours.\nThen it ends and closes.",
            id="components",
        ),
        pytest.param("<a-name> is one, and <old-name>.", "<a-name> is one, and <old-name>.", id="names"),
        pytest.param("Exit with <code> at <time>.", "Exit with <code> at <time>.", id="values"),
        pytest.param("| Up&#124;down | `a&#124;b` |", "| Up\\|down | `a&#124;b` |", id="a-bar-in-a-row"),
        pytest.param("Up&#124;down |", "Up|down |", id="a-bar-in-a-sentence"),
        pytest.param("Up&nbsp;to &lt;5&gt; fa&shy;thoms, a&copy=2.", "Up to <5> fathoms, a&copy=2.", id="signs"),
        pytest.param("Write `&lt;` for it.", "Write `&lt;` for it.", id="sign-in-code"),
        pytest.param("Use `<b>` for bold and ``<i>`` too.", "Use `<b>` for bold and ``<i>`` too.", id="code"),
        pytest.param("A `List<T>` or List<T> of x < y.", "A `List<T>` or List<T> of x < y.", id="types"),
        pytest.param("    <p>indented example</p>", "    <p>indented example</p>", id="indented"),
        pytest.param("<div align='center'>", "<div align='center'>", id="nothing-else"),
    ],
)
def test_tags_in_markdown_are_left_out_where_they_are_no_code(text: str, told: str) -> None:
    assert shown(chunk_of(text, language="markdown")) == tuple(told.split("\n"))


def test_a_line_of_backticks_is_read_once() -> None:
    text = f"A rule <b>of</b> {'`' * 700}"

    assert shown(chunk_of(text, language="markdown")) == (text.replace("<b>of</b>", "of"),)


def test_examples_in_fences_are_shown_as_they_stand() -> None:
    text = "See <b>this</b> and all that follows it:\n```html\n<b>bold</b>\n```\nDone with <i>that</i>."
    cut = chunk_of("<b>bold</b>\n```\nDone with <i>that</i>.", language="markdown", code_opening="```html")

    assert shown(chunk_of(text, language="markdown")) == (
        "See this and all that follows it:",
        "```html",
        "<b>bold</b>",
        "```",
        "Done with that.",
    )
    assert shown(cut) == ("<b>bold</b>", "```", "Done with that.")


def test_other_documents_are_shown_as_they_stand() -> None:
    for kind, language in (("code", "html"), ("docs", "text"), ("code", "python")):
        chunk = chunk_of("a   <b>b</b>", kind=kind, language=language)  # type: ignore[arg-type]

        assert shown(chunk) == ("a   <b>b</b>",)


def test_units_keep_their_numbers_and_places() -> None:
    chunk = chunk_of("<b>One</b> and more words.\n<hr>\nThree and <i>more</i> words.", language="markdown")

    (source,) = build_context([result_of(chunk)], 1_000).shown

    assert str(source).split("\n")[1:-1] == ["1| One and more words.", "2| <hr>", "3| Three and more words."]
    assert [unit.text for unit in source.units] == chunk.text.split("\n")


def test_quotes_are_measured_by_what_stands_in_the_document() -> None:
    chunk = chunk_of("word    word    word    word\n" * 40, "a.html", language="html")
    results = [result_of(chunk)]

    for_model, for_quotes = (build_context(results, 250, for_model=each).shown[0].units for each in (True, False))

    assert len(for_quotes) < len(for_model) < 40


def test_nothing_stands_between_a_word_in_a_tag_and_the_mark_behind_it() -> None:
    text = "<p>The <b>ferry</b>, which (<i>so they say</i>) waits for <em>Ada</em>'s <a href=x>boat</a>!"
    other = "<p>See <code>a</code> .gitignore and <b>Note</b>\u00a0: fin."

    assert shown(page_of(text)) == ("The ferry, which (so they say) waits for Ada's boat!",)
    assert shown(page_of(other)) == ("See a .gitignore and Note : fin.",)


def test_an_example_is_shown_with_every_line() -> None:
    page = chunk_of(
        "They moor:\n\n    moor(\n    {{ ship }}\n    <rope>\n    {:ok, rope}\n    )\n\n{: .late }\nThey sail."
    )
    item = build_context([result_of(page)], 10_000).shown[0]

    written = quoted(Passage(item, item.units[0], item.units[-1]))

    assert "```\nmoor(\n{{ ship }}\n<rope>\n{:ok, rope}\n)\n```" in written
    assert ".late" not in written


def test_the_blanks_and_lines_that_tags_of_a_page_left_are_no_code_and_no_empty_lines() -> None:
    form = (
        "<form>\n      <label>Upload   <b>retry</b></label>\n      <br>\n\n      <i></i>\n\n"
        "          <div><label>of the policy</label></div></form>"
    )
    item = build_context([result_of(page_of(form))], 10_000).shown[0]

    written = quoted(Passage(item, item.units[0], item.units[-1]))

    assert written == "> Upload retry\n> \n> of the policy [1:1-2]"


PAGE = (
    "<p>It isn&#x27;t hard:</p><pre><code><b>moor</b>(\n  rope<i>=</i>3\n)\n</code></pre><p>So</p><p>it is.</p>"
    "<pre>    sail()\n      # fast</pre>"
)


def test_code_of_a_page_is_quoted_in_fences_and_its_paragraphs_are_lines() -> None:
    item = build_context([result_of(page_of(PAGE))], 10_000).shown[0]

    assert quoted(Passage(item, item.units[0], item.units[-1])) == (
        "> It isn't hard:\n\n```\nmoor(\n  rope=3\n)\n```\n\n> So\n> it is.\n\n```\nsail()\n  # fast\n```\n[1:1-12]"
    )


def test_a_quote_that_begins_in_code_of_a_page_is_code() -> None:
    item = build_context([result_of(page_of(PAGE))], 10_000).shown[0]
    code = next(unit for unit in item.units if "rope" in unit.text)

    assert quoted(Passage(item, code, item.units[code.number])) == "```\n  rope=3\n)\n```\n[1:4-5]"


@pytest.mark.parametrize(
    ("html", "inside"),
    [
        pytest.param("<pre>one\ntwo</pre>three", [False, True, True, False, False], id="whole"),
        pytest.param("one\ntwo\f\x03\fthree", [True, True, False, False], id="begins-in-code"),
        pytest.param("one\ntwo", [True, True], id="all-code"),
        pytest.param("one\f\x02\ftwo\nthree", [False, False, True, True], id="ends-in-code"),
        pytest.param("\x03\fone", [False, False], id="begins-with-the-end-of-code"),
    ],
)
def test_the_code_of_a_page_is_told_by_its_marks(html: str, inside: list[bool]) -> None:
    text = read_html(html).text if "<" in html else html
    opening = "" if "\x02" in text else "\x02"
    chunk = chunk_of(text, "a.html", language="html", code_opening=opening)
    item = build_context([result_of(chunk)], 10_000).shown[0]

    assert [Passage(item, unit, unit).is_code for unit in item.units] == inside


@pytest.mark.parametrize(
    ("language", "opening", "text"),
    [
        pytest.param("markdown", "```yaml", "# Waits.\nretry: 1\n```\n\nIt ends.", id="fence"),
        pytest.param("markdown", "~~~ yaml", "# Waits.\nretry: 1\n```\n~~~\n\nIt ends.", id="other-fence-inside"),
        pytest.param("asciidoc", "----", "# Waits.\nretry: 1\n----\n\nIt ends.", id="delimiter"),
        pytest.param("org", "#+BEGIN_SRC yaml :tangle no", "# Waits.\nretry: 1\n#+END_SRC\n\nIt ends.", id="block"),
        pytest.param("org", "#+begin_example", "# Waits.\nretry: 1\n#+end_example\n\nIt ends.", id="other-block"),
        pytest.param("rst", ".. code-block:: yaml", "  # Waits.\n  retry: 1\n\nIt ends.", id="directive"),
    ],
)
def test_code_that_is_opened_above_a_chunk_is_quoted_as_code(language: str, opening: str, text: str) -> None:
    chunk = chunk_of(text, language=language, code_opening=opening)
    shown = build_context([result_of(chunk)], 10_000).shown[0]
    fence = "```" + "yaml" * ("yaml" in opening)

    written = quoted(Passage(shown, shown.units[0], shown.units[-1]))

    assert written.startswith((f"{fence}\n# Waits.\nretry: 1\n```\n\n> It ends.", f"`{fence}\n# Waits.\nretry: 1\n```"))
    assert [written.count(each) for each in ("> # Waits", "> It ends.")] == [0, 1]


@pytest.mark.parametrize("opening", ["```java", "``` java", "```\tjava "])
def test_the_language_of_an_example_of_asciidoc_may_stand_behind_blanks(opening: str) -> None:
    chunk = chunk_of(f"So:\n{opening}\nmoor();\n```\nIt moors.", language="asciidoc")

    (example,) = examples_of(chunk, units(chunk))

    assert (example.opening, example.closing, example.language) == (1, 3, "java")
