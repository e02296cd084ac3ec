from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.extractive.context import ContextItem
from openbook.extractive.passages import Passage, passages_of
from openbook.text import units
from openbook.types import Kind
from tests.unit.retrieval.material import chunk_of, result_of


def shown(text: str, *, kind: Kind = "docs", before: str = "Words in front.\n\n", **fields: Any) -> ContextItem:
    result = result_of(chunk_of(text, before=before, kind=kind, **fields))
    return ContextItem(1, result, units(result.chunk))


def texts(entry: ContextItem) -> list[str]:
    return [passage.text for passage in passages_of(entry)]


def test_a_sentence_over_several_lines_is_one_passage() -> None:
    entry = shown("Sessions end after\none hour, or when\nthe server stops.\nThey can be renewed.")

    assert texts(entry) == ["Sessions end after\none hour, or when\nthe server stops.", "They can be renewed."]


def test_of_a_line_that_two_sentences_share_each_takes_its_own_words() -> None:
    entry = shown("Sessions end after\none hour. They can\nalso be renewed.")

    assert texts(entry) == ["Sessions end after\none hour.", "They can\nalso be renewed."]
    assert [(passage.first.number, passage.last.number) for passage in passages_of(entry)] == [(1, 2), (2, 3)]


def test_what_a_line_holds_whole_beside_a_sentence_stays_with_it() -> None:
    entry = shown("Sessions end. They can\nalso be renewed. Never twice.")

    assert texts(entry) == ["Sessions end. They can\nalso be renewed. Never twice."]


def test_sentences_in_one_line_are_one_passage() -> None:
    assert texts(shown("Sessions end. They can be renewed.")) == ["Sessions end. They can be renewed."]


def test_no_passage_crosses_a_blank_line() -> None:
    entry = shown("Sessions end after\n\nsome time has passed.")

    assert texts(entry) == ["Sessions end after", "some time has passed."]


def test_a_long_line_of_a_transcript_is_quoted_by_the_sentence() -> None:
    spoken = [f"And here is what sentence number {number} tells us." for number in range(300)]

    found = passages_of(shown(" ".join(spoken), kind="course"))

    assert [passage.text for passage in found] == spoken
    assert all(passage.first is passage.last for passage in found)


@pytest.mark.parametrize("mark", ["- ", "* ", "1. ", "2) ", "| "], ids=["dash", "star", "number", "bracket", "row"])
def test_an_item_of_a_list_and_a_row_of_a_table_are_offered_alone(mark: str) -> None:
    items = [f"{mark}item number {number}\n  and what follows" for number in range(3)]

    assert texts(shown("\n".join(items))) == items


def test_the_head_of_a_table_is_not_offered() -> None:
    entry = shown("| Plan | Price |\n|:---|---:|\n| Basic | 9 euros |\n| Team | 29 euros |")

    assert texts(entry) == ["| Basic | 9 euros |", "| Team | 29 euros |"]


def test_a_rule_below_no_table_takes_nothing_away() -> None:
    assert texts(shown("Sessions end after an hour.\n\n|---|---|")) == ["Sessions end after an hour."]
    assert texts(shown("|---|---|\n| Basic | 9 euros |")) == ["| Basic | 9 euros |"]
    assert texts(shown("|---|---|\nSessions end after an hour.")) == ["|---|---|\nSessions end after an hour."]


@pytest.mark.parametrize("kind", ["code", "config", "data", "docs"])
def test_no_passage_has_more_than_six_lines(kind: Kind) -> None:
    found = texts(shown("\n".join(f"alpha beta gamma {number}" for number in range(40)), kind=kind))

    assert max(text.count("\n") + 1 for text in found) == 6
    assert "\n".join(found).split("\n") == [f"alpha beta gamma {number}" for number in range(40)]


@pytest.mark.parametrize(
    "title",
    [
        "# Retry policy of clients",
        "  ## Retry policy of clients",
        "Lesson 3: Retry policy of clients",
        "**Lesson 3: Retry policy of clients**",
        "Lesson Link: https://example.com/retry-policy-of-clients",
    ],
)
def test_a_title_is_neither_quoted_alone_nor_with_what_follows(title: str) -> None:
    assert texts(shown(f"{title}\nSessions end after one hour.")) == ["Sessions end after one hour."]


def test_a_sentence_does_not_run_into_the_title_behind_it() -> None:
    entry = shown("Sessions end after one hour\n# Retry policy of clients\nThey can be renewed.")

    assert texts(entry) == ["Sessions end after one hour", "They can be renewed."]


def test_a_sentence_about_a_lesson_is_no_title() -> None:
    text = "Lesson three is over. What comes next: sessions."

    assert texts(shown(text)) == [text]


def test_a_comment_in_code_is_no_title() -> None:
    entry = shown("# Sessions end after one hour\nlimit_s = 3600", kind="code")

    assert texts(entry) == ["# Sessions end after one hour\nlimit_s = 3600"]
    assert texts(shown("# Sessions end after one hour", kind="code")) == ["# Sessions end after one hour"]


def test_fewer_than_three_words_of_code_are_no_passage() -> None:
    assert texts(shown("})\n\nmoor it\n\nthree words here", kind="code")) == ["three words here"]


def test_an_answer_of_one_word_is_quoted_with_the_heading_that_asks_for_it() -> None:
    entry = shown("# What is the default port?\n\n8080\n\nIt can be changed.")

    assert texts(entry) == ["# What is the default port?\n\n8080", "It can be changed."]


def test_a_short_heading_is_not_quoted_with_what_stands_above_it() -> None:
    entry = shown(
        "Ships moor at the pier.\n\n### pier_mode\n\nShips wait at the pier.\n\nQuay\n----\n\nThe quay is long."
    )

    assert texts(entry) == ["Ships moor at the pier.", "Ships wait at the pier.", "The quay is long."]
    marked = shown("Ships moor at the pier.\n\nQuay rules\f\f\n\nThe quay is long.", language="asciidoc")
    assert texts(marked) == ["Ships moor at the pier.", "The quay is long."]


def test_a_label_in_bold_belongs_to_what_is_below() -> None:
    entry = shown("Ships moor at the pier.\n\n**Network ships**\n\nThey carry nets of rope.")

    assert texts(entry) == ["Ships moor at the pier.", "They carry nets of rope."]


def test_what_is_short_and_alone_is_quoted_as_it_is() -> None:
    assert texts(shown("Pigeons fly.")) == ["Pigeons fly."]


def test_a_fact_in_the_header_of_a_course_is_quoted_alone() -> None:
    facts = ["Course Title: Gardening for Robots", "Course Instructor: Ada Pike"]

    assert texts(shown("\n".join((*facts, "We talk about tulips.")))) == [*facts, "We talk about tulips."]


@pytest.mark.parametrize(
    "text",
    ["Lesson learned: always back up.", "Course fees: 300 euros a year.", "#1 priority is the safety of divers."],
)
def test_a_sentence_that_begins_like_a_title_is_none(text: str) -> None:
    assert texts(shown(text)) == [text]


def test_each_definition_of_a_chunk_has_a_head() -> None:
    function = 'def open_all(paths):\n    """Open them."""\n    return paths'
    source = f"import os\n\n{function}\n\nclass Box(\n    Base,\n):\n    size = 1\n"
    entry = shown(source, kind="code", defines=("open_all", "Box"))

    assert {passage.defines: passage.text for passage in passages_of(entry) if passage.is_head} == {
        "open_all": 'def open_all(paths):\n    """Open them."""',
        "Box": "class Box(\n    Base,\n):",
    }


@pytest.mark.parametrize("text", ["索引存在文件里。", "索引はファイルにある。", "ดัชนีอยู่ในไฟล์"])
def test_a_sentence_without_spaces_has_enough_words(text: str) -> None:
    assert texts(shown(text)) == [text]


def test_two_words_beyond_ascii_are_two_words() -> None:
    assert texts(shown("# 标题\n\nGröße Übersicht")) == ["# 标题\n\nGröße Übersicht"]


SOURCE = '''@cached
def close(path: str,
          force: bool = False) -> None:
    """Close the file at a path.

    Open readers are waited for.
    """
    handle = table.pop(path)
    handle.flush() or fail
'''.rstrip()
SIGNATURE = "def close(path: str,\n          force: bool = False) -> None:"


def test_the_head_of_a_definition_ends_with_its_summary() -> None:
    entry = shown(SOURCE, kind="code", signature=SIGNATURE, docstring="Close the file at a path.\n\nOpen readers ...")

    head, *others = passages_of(entry)

    assert head.is_head
    assert head.text == SOURCE.partition("\n\n")[0]
    assert [other.is_head for other in others] == [False] * len(others)


def test_what_lies_inside_the_head_is_not_offered_again() -> None:
    entry = shown(SOURCE, kind="code", signature=SIGNATURE, docstring="Close the file at a path.")

    head, *others = passages_of(entry)

    assert len(others) == 1
    assert others[0].first.number > head.last.number
    assert others[0].text == SOURCE.partition("\n\n")[2]


def test_no_part_of_a_long_head_is_offered_by_itself() -> None:
    signature = "def close(\n" + "".join(f"    argument_{n}: int = 1,\n" for n in range(7)) + ") -> None:"

    (head,) = passages_of(shown(f"{signature}\n\n    pass", kind="code", signature=signature))

    assert head.is_head
    assert head.text == signature


def test_a_summary_above_the_signature_belongs_to_the_head() -> None:
    text = "// Close the file.\nfunc Close() error {\n\treturn table.Pop().Flush()\n}"

    head, *_ = passages_of(shown(text, kind="code", signature="func Close() error", docstring="Close the file."))

    assert head.text == "// Close the file.\nfunc Close() error {"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param("value = compute it now", {}, id="no-definition"),
        pytest.param("value = compute it now", {"signature": "def f()", "docstring": "Twice."}, id="not-in-this-text"),
    ],
)
def test_without_a_short_signature_in_the_text_there_is_no_head(text: str, fields: dict[str, str]) -> None:
    found = passages_of(shown(text, kind="code", **fields))

    assert [passage.is_head for passage in found] == [False] * len(found)


def test_a_head_that_did_not_fit_is_offered_as_far_as_it_was_shown() -> None:
    whole = shown(SOURCE, kind="code", signature=SIGNATURE, docstring="Close the file at a path.")

    (head,) = passages_of(ContextItem(1, whole.result, whole.units[:2]))

    assert head.text == "@cached\ndef close(path: str,"


def test_nothing_shown_gives_no_passage() -> None:
    code = shown(SOURCE, kind="code", signature=SIGNATURE)
    prose = shown("Sessions end after one hour.")

    assert passages_of(ContextItem(1, code.result, ())) == []
    assert passages_of(ContextItem(1, prose.result, ())) == []


PROSE = st.text(alphabet="abc .!?\n-#\r\u3002\u4e2d\f", min_size=1, max_size=700).filter(str.strip)


@given(PROSE, st.sampled_from(["", "before\n", "über 🎉\n\n"]), st.sampled_from(["docs", "course", "code"]))
def test_the_text_of_a_passage_is_an_exact_slice_of_its_document(text: str, before: str, kind: Kind) -> None:
    entry = shown(text, before=before, kind=kind)

    for passage in passages_of(entry):
        assert passage.text == (before + text)[passage.start_char : passage.end_char]
        assert passage.first.span.start_char <= passage.start_char < passage.end_char <= passage.last.span.end_char


@given(PROSE)
def test_passages_are_distinct_and_in_order(text: str) -> None:
    places = [(passage.start_char, passage.end_char) for passage in passages_of(shown(text))]

    assert places == sorted(set(places))


def test_a_passage_counts_from_the_start_of_its_chunk() -> None:
    entry = shown("One two three.\nFour five six.", before="much\nbefore\n\n")

    passage = Passage(entry, entry.units[1], entry.units[1])

    assert passage.text == "Four five six."
    assert str(passage.first.span) == "a.md:5-5"


def test_a_later_definition_is_offered_with_the_comment_above_it_and_nothing_before() -> None:
    text = "x = 1\ndef first():\n    return 1\n# Says more.\n@cached\ndef second(): ..."

    heads = [
        passage for passage in passages_of(shown(text, kind="code", defines=("first", "second"))) if passage.is_head
    ]

    assert [(head.defines, head.text) for head in heads] == [
        ("first", "def first():"),
        ("second", "# Says more.\n@cached\ndef second(): ..."),
    ]


def test_of_a_manual_page_each_entry_is_offered_with_its_head() -> None:
    page = "OPTIONS\f\f\n\n--moor\f\nMoor the ship\n\nand tie it up.\n-x\f\nCast the ship off.\nLater it sails."

    assert [one.text for one in passages_of(shown(page, language="man"))] == [
        "--moor\f\nMoor the ship",
        "and tie it up.",
        "-x\f\nCast the ship off.",
        "Later it sails.",
    ]


def test_a_row_of_several_lines_is_a_passage_unless_it_is_long() -> None:
    rows = "| Name | What\n|---|---|\n| moor\f\n | Ties it. Holds it.\n\f\n| cast\f\n | Frees it.\nThen they sail off."

    assert texts(shown(rows, language="asciidoc")) == [
        "| moor\f\n | Ties it. Holds it.",
        "| cast\f\n | Frees it.",
        "Then they sail off.",
    ]
    assert [each.entry.name for each in passages_of(shown(rows, language="asciidoc")) if each.entry] == ["moor", "cast"]
    long = "| moor\f" + "\n | It ties the ship." * 6
    assert texts(shown(long, language="asciidoc"))[0] == "| moor\f\n | It ties the ship."


def test_a_title_of_several_words_that_is_underlined_is_no_passage() -> None:
    page = "Ships wait a minute.\n\nThe [longer title](a.md) of it\n-----------------------------\n\nThey sail at noon."

    assert texts(shown(page)) == ["Ships wait a minute.", "They sail at noon."]


@pytest.mark.parametrize("language", ["rst", "text"])
def test_tildes_below_a_title_open_no_example(language: str) -> None:
    page = "All wait.\n\nThe light\n~~~~~~~~~\n\nShips show a\nlight. Tugs show\ntwo of them."
    entry = shown(f"Boats wait here.\n\n{page}", language=language)

    assert texts(entry)[-2:] == ["Ships show a\nlight.", "Tugs show\ntwo of them."]
    assert not any(passage.is_code for passage in passages_of(entry))


def test_a_listing_of_asciidoc_is_an_example() -> None:
    page = "Ships wait for it.\n\nExample:\n---------\nmoor --fast --twice\n---------\n\nThen they sail."
    examples = [passage for passage in passages_of(shown(page, language="asciidoc")) if passage.has_example]

    assert [each.text for each in examples] == ["---------\nmoor --fast --twice\n---------"]


def test_front_matter_is_no_passage() -> None:
    text = "---\nname: Report\nabout: Say what is wrong\n---\n\nShips wait a minute."

    assert texts(shown(text, before="")) == ["Ships wait a minute."]
    assert "about: Say what is wrong" in "".join(texts(shown(text)))
    assert texts(shown("---\n\nShips wait a minute.", before="")) == ["Ships wait a minute."]


def test_the_border_of_a_table_belongs_to_no_row() -> None:
    rows = "| 11 | The library is locked |\n+----+-----------------------+\n| 12 | The password is wrong |"

    assert texts(shown(rows)) == ["| 11 | The library is locked |", "| 12 | The password is wrong |"]


def test_a_call_of_up_to_ten_lines_is_one_passage() -> None:
    call = "moor(\n" + "".join(f"    place_{number},\n" for number in range(8)) + ")"

    assert texts(shown(f"{call}\nsail(the, ship, now)", kind="code")) == [call, "sail(the, ship, now)"]


def test_a_signature_that_a_chunk_knows_in_part_is_quoted_whole() -> None:
    signature = "def wait(\n    ship,\n    sea,\n):"

    head, *_ = passages_of(shown(f"{signature}\n    moor(ship)", kind="code", signature="def wait("))

    assert head.text == signature


_LONG_EXAMPLE = (
    "Serve files like this:\n\n```go\nfunc main() {\n  router := gin.Default()\n\n"
    '  router.GET("/local/file", func(c *gin.Context) {\n    c.File("local/file.go")\n  })\n\n'
    '  // Files of the system.\n  router.GET("/fs/file", func(c *gin.Context) {\n    c.FileFromFS("fs/file.go", fs)\n'
    '  })\n\n  // Files of others.\n  router.Static("/assets", "./assets")\n}\n```\n\nThen visit the page.'
)


def test_a_long_example_is_quoted_by_its_statements() -> None:
    found = passages_of(shown(_LONG_EXAMPLE, language="markdown"))

    assert [passage.text for passage in found if passage.is_code] == [
        "func main() {\n  router := gin.Default()",
        '  router.GET("/local/file", func(c *gin.Context) {\n    c.File("local/file.go")\n  })',
        '  // Files of the system.\n  router.GET("/fs/file", func(c *gin.Context) {\n'
        '    c.FileFromFS("fs/file.go", fs)\n  })',
        '  // Files of others.\n  router.Static("/assets", "./assets")',
    ]
    assert {passage.example.language for passage in found if passage.example} == {"go"}


def test_a_chunk_that_begins_inside_of_an_example_offers_the_rest_as_code() -> None:
    rest = _LONG_EXAMPLE[_LONG_EXAMPLE.index('  router.GET("/fs') :]

    found = passages_of(shown(rest, language="markdown", code_opening="```go"))

    assert [passage.is_code for passage in found] == [True, True, False]
    assert {passage.example.language for passage in found if passage.example} == {"go"}
    assert not any("```" in passage.text for passage in found)


def test_a_short_example_is_one_passage_with_its_fences() -> None:
    example = "```sh\nretry --now\n\nretry --later\n```"

    assert texts(shown(f"Call it so.\n\n{example}", language="markdown")) == ["Call it so.", example]


def test_what_shows_an_example_whole_or_in_part_is_known() -> None:
    entry = shown(_LONG_EXAMPLE, language="markdown")

    assert [passage.has_example for passage in passages_of(entry)] == [False, True, True, True, True, False]
    assert Passage(entry, entry.units[0], entry.units[-1]).has_example


def test_the_question_of_a_faq_is_no_passage_and_no_part_of_its_answer() -> None:
    entry = shown("Q: Do ropes freeze in the harbour?\nA: They do so in winter.\n", language="markdown")

    assert texts(entry) == ["A: They do so in winter."]


def test_a_short_answer_stays_with_its_question() -> None:
    entry = shown("Ropes are of hemp here.\n\n**Do ropes freeze?**\n\nNever.", language="markdown")

    assert texts(entry) == ["Ropes are of hemp here.", "**Do ropes freeze?**\n\nNever."]


@pytest.mark.parametrize("label", ["✅ **GOOD**", "🪢 **Answer**:"])
def test_a_bold_label_behind_an_emoji_is_no_passage(label: str) -> None:
    entry = shown(f"Ropes are of hemp here.\n\n{label}\n\nThey freeze in winter.", language="markdown")

    assert texts(entry) == ["Ropes are of hemp here.", "They freeze in winter."]


def test_bold_words_behind_others_are_no_label() -> None:
    entry = shown("Ropes are of hemp here.\n\nport **8080**\n\nThey freeze in winter.", language="markdown")

    assert texts(entry)[1] == "Ropes are of hemp here.\n\nport **8080**"


def test_options_in_indented_code_are_statements_rather_than_sentences() -> None:
    moor = "    --moor NAME   Moor a ship at\n                  the quay. Wait for it."
    tide = "    --tide        Wait for the tide."

    assert texts(shown(f"Options:\n\n{moor}\n{tide}\n", language="markdown")) == [moor, tide]


def test_a_rule_between_paragraphs_is_left_out_and_the_fence_of_a_short_example_is_not() -> None:
    entry = shown("Ships wait here.\n\n---\n\n***\n\nMoor all of them:\n\n```\nmoor\n```", language="markdown")

    assert texts(entry)[:2] == ["Ships wait here.", "Moor all of them:"]
    assert texts(entry)[-1].endswith("```\nmoor\n```")
