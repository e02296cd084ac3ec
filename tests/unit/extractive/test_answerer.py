from __future__ import annotations

from textwrap import dedent

import pytest

from openbook.answering.verification import check_quotes
from openbook.extractive.answerer import ScoredPassage
from openbook.extractive.composing import compose, quotes_of
from openbook.extractive.context import Context, build_context
from openbook.extractive.passages import Passage, passages_of
from openbook.extractive.quoting import quoted
from openbook.types import Chunk, Lesson
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of


def context_of(*chunks: Chunk) -> Context:
    return build_context([result_of(chunk) for chunk in chunks], 10_000)


def test_the_passage_that_speaks_most_of_the_question_is_quoted_first() -> None:
    found = picked(
        "how long does the retry policy wait", chunk_of("Roses need sun.\n\nThe retry policy waits a minute.")
    )

    assert quotes(found)[0] == "The retry policy waits a minute."
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


def test_behind_the_best_quote_those_of_one_page_are_in_the_order_of_the_page() -> None:
    steps = [
        "Two tugs help the ships to the quay.",
        "At noon ships moor at the quay by ropes.",
        "Tugs moor beside the quay too.",
    ]
    page, other = chunk_of("\n\n".join(steps)), chunk_of("Boats moor at the other quay by a chain.", "b.md")

    found = quotes(picked("how ships moor at the quay", page, other, scores=(1.0, 0.9)))

    assert found == [steps[1], steps[0], steps[2], other.text]


def test_what_is_much_weaker_than_the_best_is_left_out() -> None:
    found = picked("retry policy", chunk_of("Buy some clay today.\n\nThe retry policy waits."))

    assert quotes(found) == ["The retry policy waits."]


def test_at_most_five_passages_are_quoted() -> None:
    text = "\n\n".join(f"The retry policy number {number}." for number in range(9))

    assert len(picked("retry policy", chunk_of(text))) == 5


def test_quotes_with_nothing_between_them_are_one() -> None:
    prose = chunk_of("The retry policy of Kiel.\nThe retry policy of Genoa.")
    code = chunk_of("def retry(policy):\n    " + "\n    ".join(["wait(retry, policy, 1)"] * 12), "a.py", kind="code")

    spoken = chunk_of(f"The retry policy of Kiel. The retry policy of Genoa. {'Fish swim. ' * 50}", kind="course")

    assert quotes(picked("retry policy Kiel Genoa", prose)) == [prose.text]
    assert len(quotes(picked("retry policy Kiel Genoa", spoken))) == 2
    assert "\n".join(["    wait(retry, policy, 1)"] * 12) in quotes(picked("wait retry policy", code))[0]


def test_further_quotes_that_would_make_the_answer_long_are_left_out() -> None:
    texts = [f"The retry policy of {harbour} {'waits ' * 40}." for harbour in ("Kiel", "Genoa", "Lagos")]
    texts.append("The retry policy of Sydney.")

    found = quotes(picked("retry policy", *(chunk_of(text, f"{n}.md") for n, text in enumerate(texts))))

    assert sorted(quote.split()[4].strip(".") for quote in found) == ["Genoa", "Kiel", "Sydney"]


def test_a_line_without_spaces_is_quoted_only_if_nothing_else_is() -> None:
    line = "|".join(f"retry-policy-{number}" for number in range(50))
    code = chunk_of(f"case one in {line}", "a.sh", kind="code")
    prose = chunk_of("A retry policy can be set for each shop, and is read before a call.", "b.md")

    assert quotes(picked("what is the retry policy", code, prose, scores=[2, 1])) == [prose.text]
    assert quotes(picked("what is the retry policy", code))[0] in code.text


def test_a_first_quote_in_other_words_than_the_question_is_quoted_with_what_is_around_it() -> None:
    text = "The clock ticks.\n\nThe retry policy waits.\n\nThen it gives up."

    (plain,) = quotes(picked("retry policy waits", chunk_of(text)))
    other, *_ = quotes(picked("retry intervals between failed attempts", chunk_of(text)))

    assert plain == "The retry policy waits."
    assert other == text


def test_equal_passages_are_in_the_order_in_which_they_were_shown() -> None:
    first, second = chunk_of("The retry policy.\n\nthe RETRY policy."), chunk_of("THE retry policy.", "b.md")

    assert quotes(picked("retry policy", first, second)) == [
        "The retry policy.",
        "the RETRY policy.",
        "THE retry policy.",
    ]


def test_what_another_document_repeats_in_other_lines_is_quoted_once() -> None:
    found = picked("retry policy", chunk_of("The retry\npolicy waits."), chunk_of("The  retry policy\nwaits.", "b.md"))

    assert quotes(found) == ["The retry\npolicy waits."]


def test_what_holds_no_word_that_a_better_quote_has_not_is_left_out() -> None:
    said = chunk_of("The retry policy waits for one minute, then gives up.")
    again = chunk_of("- **The retry policy waits for one minute.**", "b.md")
    other = chunk_of("The retry policy waits for two minutes, then gives up.", "c.md")

    assert quotes(picked("retry policy waits", said, again, other))[:2] == [said.text, other.text]


def test_a_sentence_that_two_chunks_share_is_quoted_once() -> None:
    text = "One two three. The retry policy waits. Four five six."
    first = chunk_of(text[:38], kind="course")
    second = chunk_of(text[15:], before=text[:15], kind="course")

    (quote,) = quotes(picked("retry policy waits", first, second))

    assert "The retry policy waits." in quote


def test_of_a_line_that_two_passages_share_no_word_is_quoted_twice() -> None:
    found = picked("retry policy", chunk_of("The retry policy waits\na while. The retry policy\nthen gives up."))

    assert quotes(found) == ["The retry policy waits\na while. The retry policy\nthen gives up."]


def test_neighbours_and_the_same_characters_of_other_documents_do_not_overlap() -> None:
    found = picked(
        "retry policy",
        chunk_of("The retry policy waits.\n\nThe retry policy ends."),
        chunk_of("Some retry policy goes.", "b.md"),
    )

    assert len(found) == 3


def test_sentences_without_a_space_between_them_do_not_overlap() -> None:
    line = "索引存在文件里。文件里存在索引。" + "天气很好。" * 100

    assert quotes(picked("索引 文件", chunk_of(line, kind="course")))[:2] == ["索引存在文件里。", "文件里存在索引。"]


@pytest.mark.parametrize("unit", [0.1, 1.0, 10.0])
def test_the_better_result_gives_the_better_passage_whatever_scores_count_in(unit: float) -> None:
    first, second = chunk_of("The retry policy."), chunk_of("the retry POLICY.", "b.md")

    found = picked("retry policy", first, second, scores=[unit, 4 * unit])

    assert quotes(found) == ["the retry POLICY.", "The retry policy."]
    reference = picked("retry policy", first, second, scores=[1.0, 4.0])
    assert [item.score for item in found] == pytest.approx([item.score for item in reference])


@pytest.mark.parametrize("score", [0.0, -1.0])
def test_results_without_a_positive_score_can_be_quoted(score: float) -> None:
    assert quotes(picked("retry policy", chunk_of("The retry policy."), scores=[score])) == ["The retry policy."]


def test_a_passage_also_speaks_of_what_it_stands_under() -> None:
    plain, headed = chunk_of("It waits a minute."), chunk_of("It waits a while.", "b.md", context=("Retry policy",))

    assert quotes(picked("retry policy waits", plain, headed))[0] == "It waits a while."


def test_code_also_speaks_of_the_symbol_that_it_belongs_to() -> None:
    plain = chunk_of("wait = 60 + jitter", "a.py", kind="code")
    named = chunk_of("wait = 60 - jitter", "b.py", kind="code", symbol="RetryPolicy")

    assert quotes(picked("retry policy wait", plain, named))[0] == "wait = 60 - jitter"


def test_a_line_of_code_without_a_word_of_the_question_is_not_quoted_for_its_symbol() -> None:
    code = chunk_of(
        "listen(port, timeout, backlog)\n\nreturn size, None, None", "a.go", kind="code", symbol="start_listener"
    )

    assert quotes(picked("where does the listener listen", code)) == ["listen(port, timeout, backlog)"]


def test_code_is_quoted_by_the_head_of_its_definition() -> None:
    body = "def wait(self):\n    # a minute or two\n\n    clock.wait(minutes=self.minutes)"
    chunk = chunk_of(body, "a.py", kind="code", signature="def wait(self):", symbol="Retry.wait", defines=("wait",))

    first, *_ = picked("what does wait", chunk)

    assert first.passage.is_head


def test_a_name_with_signs_is_quoted_from_its_definition() -> None:
    other = chunk_of(
        "fn moor(ship) {\n  moor(ship)\n}",
        "a.rs",
        kind="code",
        signature="fn moor(ship)",
        symbol="moor",
        defines=("moor",),
    )
    text = "(defn moor! [ship]\n  (tie ship))"
    chunk = chunk_of(text, "a.clj", kind="code", signature="(defn moor! [ship]", symbol="moor!", defines=("moor!",))

    assert quotes(picked("what does moor! do", other, chunk))[0] == text


def test_meaning_decides_where_words_do_not() -> None:
    # The stemmer makes one token of both, the embedder sees two words.
    found = picked("policies retried", chunk_of("The policy retries.\n\nThe policies retried."))

    assert quotes(found)[0] == "The policies retried."


def test_a_question_for_places_gets_one_quote_from_each() -> None:
    lessons = [
        chunk_of(
            f"The retry policy in part {n}.\n\nAnd the retry policy again {n}.",
            "course.txt",
            before="x " * 100 * n,
            kind="course",
            lesson=Lesson("Networks", n),
        )
        for n in range(5)
    ]

    found = picked("which lessons talk about the retry policy", *lessons)

    numbers = [item.passage.shown.number for item in found]
    assert sorted(numbers) == [1, 2, 3, 4, 5]


def test_a_question_for_files_gets_one_quote_from_each() -> None:
    files = [chunk_of(f"The retry policy {n}.\n\nThe retry policy again {n}.", f"{n}.md") for n in range(20)]

    found = picked("list all files about the retry policy", *files)

    paths = [item.passage.shown.result.chunk.span.path for item in found]
    assert 3 < len(paths) == len(set(paths)) < 20


def test_lessons_of_the_same_name_in_two_files_are_two_places() -> None:
    lesson = Lesson("", 1, "Introduction")
    first = chunk_of("The retry policy waits.", "a.txt", kind="course", lesson=lesson)
    second = chunk_of("A retry policy ends.", "b.txt", kind="course", lesson=lesson)

    assert len(picked("which lessons mention the retry policy", first, second)) == 2


def test_nothing_shown_gives_nothing_to_quote() -> None:
    assert picked("retry policy") == []
    assert picked("retry policy", chunk_of("})")) == []


def answer(question: str, *chunks: Chunk) -> str:
    return compose(picked(question, *chunks))


INTRODUCTION = "Quoted from the sources; no model wrote this."


def test_prose_is_quoted_line_by_line_with_its_mark_behind() -> None:
    assert answer("retry policy", chunk_of("  The retry\r\n  policy waits.")) == (
        f"{INTRODUCTION}\n\na.md\n\n> The retry\n> policy waits. [1:1-2]"
    )


def test_runs_of_blanks_are_read_as_one() -> None:
    text = answer("retry policy", chunk_of("The   retry \t policy   waits."))

    assert text.endswith("> The retry policy waits. [1:1]")


def test_code_is_quoted_in_a_fence_with_its_mark_below() -> None:
    chunk = chunk_of("    retry = policy(1)\n    wait = 3", "a.py", kind="code", language="python")

    assert answer("retry policy", chunk) == (
        f"{INTRODUCTION}\n\na.py\n\n```python\n    retry = policy(1)\n    wait = 3\n```\n[1:1-2]"
    )


def test_code_that_prose_sets_off_by_its_indentation_keeps_its_own() -> None:
    code = "    with retry_policy() as policy:\n        policy.wait()"

    found = picked("retry policy", chunk_of(f"Like this::\n\n{code}\n\nThat is all of it."))

    assert f"```\n{dedent(code)}\n```\n[1:2-3]" in compose(found)


def test_an_item_of_a_list_that_is_indented_is_no_code() -> None:
    found = picked("retry policy", chunk_of("Steps:\n\n    - the retry policy\n      waits a while"))

    assert "> - the retry policy\n> waits a while [1:2-3]" in compose(found)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("- a\n  - b\n    c\n    - d\n- e", "> - a\n>   - b\n>     c\n>     - d\n> - e", id="three-levels"),
        pytest.param("  1. a\n\t * b\n  2. c", "> 1. a\n>    * b\n> 2. c", id="numbers-and-tabs"),
        pytest.param("- a\n\n  - b\n\nc\n\n  - d", "> - a\n> \n>   - b\n> \n> c\n> \n> - d", id="blank-lines"),
        pytest.param("    - b\n- a\n    - c", "> - b\n> - a\n>     - c", id="begins-inside"),
        pytest.param("> - a\n>   - b", "> - a\n>   - b", id="in-a-block-quote"),
    ],
)
def test_nested_items_of_a_list_stay_below_their_parent(text: str, written: str) -> None:
    shown = context_of(chunk_of(text, language="markdown")).shown[0]

    assert quoted(Passage(shown, shown.units[0], shown.units[-1])).rpartition(" [")[0] == written


def test_the_fence_around_code_is_longer_than_any_inside() -> None:
    chunk = chunk_of("retry = policy(1)\nx = '````'", "a.py", kind="code", language="python")

    assert answer("retry policy", chunk).endswith("\n\n`````python\nretry = policy(1)\nx = '````'\n`````\n[1:1-2]")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param(
            "```sh\nretry --policy now\n  twice\n```", "```sh\nretry --policy now\n  twice\n```\n[1:1-4]", id="alone"
        ),
        pytest.param(
            "Set the retry policy:\n\n  ```sh\n  retry --now\n  ```\n\nThen   wait.",
            "> Set the retry policy:\n\n```sh\nretry --now\n```\n\n> Then wait. [1:1-5]",
            id="between-sentences",
        ),
        pytest.param("~~~\nretry policy ``` 1\n~~~", "````\nretry policy ``` 1\n````\n[1:1-3]", id="tildes"),
        pytest.param(
            "The retry policy:\n\n    if late:\n        wait()\n\n    stop()",
            "> The retry policy:\n\n```\nif late:\n    wait()\n\nstop()\n```\n[1:1-4]",
            id="indented",
        ),
        pytest.param(
            "- The retry policy.\n\n    It waits.",
            "> - The retry policy.\n> \n> It waits. [1:1-2]",
            id="an-item-goes-on",
        ),
        pytest.param(
            "> The retry policy.\n>\n> It waits.", "> The retry policy.\n> \n> It waits. [1:1-3]", id="a-quote-goes-on"
        ),
        pytest.param("```sh\nretry --policy now", "```sh\nretry --policy now\n```\n[1:1-2]", id="not-closed"),
    ],
)
def test_code_in_prose_has_a_fence_of_its_own_and_the_mark_stays_outside(text: str, written: str) -> None:
    shown = context_of(chunk_of(text, language="markdown")).shown[0]

    assert quoted(Passage(shown, shown.units[0], shown.units[-1])) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param(
            ".. code-block:: python\n\n    retry = policy(1)\n    retry()\n",
            "```python\nretry = policy(1)\nretry()\n```\n[1:2-3]",
            id="directive",
        ),
        pytest.param("The retry policy::\n\n    retry()\n", "```\nretry()\n```\n[1:2]", id="two-colons"),
        pytest.param(
            ".. note::\n\n    The retry policy waits.\n", "> The retry policy waits. [1:2]", id="a-note-is-prose"
        ),
        pytest.param(
            "A policy.\n\nRetry by policy:\n\n.. code-block:: python\n\n    retry()\n\nIt waits.\n",
            "> Retry by policy:\n\n```python\nretry()\n```\n\n> It waits. [1:2-5]",
            id="inside-of-a-quote",
        ),
        pytest.param(
            "policy\n    The retry policy waits.\n", "> The retry policy waits. [1:2]", id="a-definition-is-prose"
        ),
    ],
)
def test_a_literal_block_of_restructuredtext_is_written_as_code(text: str, written: str) -> None:
    shown = context_of(chunk_of(text, "a.rst", language="rst")).shown[0]

    assert quoted(Passage(shown, shown.units[1], shown.units[-1])) == written


def test_a_listing_of_asciidoc_is_written_as_code_without_what_sets_it_off() -> None:
    page = chunk_of("----\nmoor --fast\nsail --twice\n----", "a.adoc", language="asciidoc")

    assert compose(picked("moor --fast", page)).endswith("```\nmoor --fast\nsail --twice\n```\n[1:1-4]")


@pytest.mark.parametrize(
    ("listing", "written"),
    [
        pytest.param("```ruby\nmoor(ship)\n```", "```ruby\nmoor(ship)\n```", id="language"),
        pytest.param("----\nShip\n------\nAnna\n----", "```\nShip\n------\nAnna\n```", id="longer-line-within"),
    ],
)
def test_prose_below_a_listing_of_asciidoc_is_no_code(listing: str, written: str) -> None:
    page = chunk_of(f"Ships moor.\n\n{listing}\n\nThe fee is due.", "a.adoc", language="asciidoc")
    shown = context_of(page).shown[0]

    assert f"\n\n{written}\n\n> The fee is due." in quoted(Passage(shown, shown.units[0], shown.units[-1]))
    assert [each.is_code for each in passages_of(shown) if each.text == "The fee is due."] == [False]


def test_sentences_of_a_manual_page_flow_and_its_options_stay_apart() -> None:
    text = "This table is used for\n-keys behind the\nprefix.\n-n\f\nis an\nalias."
    shown = context_of(chunk_of(text, "a.1", language="man")).shown[0]

    written = "> This table is used for -keys behind the prefix.\n> -n\n> is an alias. [1:1-6]"
    assert quoted(Passage(shown, shown.units[0], shown.units[-1])) == written


def test_quotes_from_lessons_stand_under_their_lesson_named_once() -> None:
    text = "The retry policy.\n\nthe Retry policy."
    first = chunk_of(text, "c.txt", kind="course", lesson=Lesson("Networks", 0, "Start"))
    second = chunk_of("the retry Policy.", "d.txt", kind="course", lesson=Lesson("Networks", 1))

    written = compose(picked("retry policy", first, second, scores=[1.0, 0.9]))

    assert written == (
        f"{INTRODUCTION}\n\nNetworks · Lesson 0: Start\n\n> The retry policy. [1:1]\n\n> the Retry policy. [1:2]"
        "\n\nNetworks · Lesson 1\n\n> the retry Policy. [2:1]"
    )


def test_what_follows_a_lesson_without_being_one_stands_under_its_own_place() -> None:
    talk = chunk_of("The retry policy.", "c.txt", kind="course", lesson=Lesson("Networks", 1))
    page = chunk_of("the retry Policy.")

    written = compose(picked("retry policy", talk, page, scores=[1.0, 0.9]))

    assert written.endswith("Networks · Lesson 1\n\n> The retry policy. [1:1]\n\na.md\n\n> the retry Policy. [2:1]")


def test_imports_are_quoted_only_if_imports_are_asked_for() -> None:
    code = chunk_of("from retry import policy\n", "a.py", kind="code", language="python")

    assert quotes(picked("how long does the retry policy wait", code)) == []
    assert quotes(picked("which module has the import of the retry policy", code)) == ["from retry import policy"]


def test_imports_of_an_example_in_a_page_are_no_answer() -> None:
    page = chunk_of("```python\nfrom retry import policy\n```\n\nThe retry policy waits for a second.")

    assert quotes(picked("how long does the retry policy wait", page)) == ["The retry policy waits for a second."]


def test_brackets_inside_a_quote_are_no_marks_of_the_answer() -> None:
    chunk = chunk_of("The retry policy [1] of argv[1:1] waits.")
    found = picked("retry policy", chunk)

    checked = check_quotes(quotes_of(found), context_of(chunk), lambda _: chunk.text)

    assert [citation.mark for citation in checked.citations] == ["[1:1]"]
    assert [citation.quote for citation in checked.citations] == [chunk.text]


def test_each_quote_is_a_claim_at_its_place_in_the_answer() -> None:
    code = chunk_of("retry = policy(1)\nwait = 3", "a.py", kind="code", language="python")
    talk = chunk_of("The   retry\npolicy.", "c.txt", kind="course", lesson=Lesson("Networks", 1))
    passages = [passage for shown in context_of(code, talk).shown for passage in passages_of(shown)]
    found = [ScoredPassage(passage, 1.0) for passage in passages]

    quotes = quotes_of(found)

    written = compose(found)
    assert [written[quote.start_char : quote.end_char] for quote in quotes] == [
        "```python\nretry = policy(1)\nwait = 3\n```\n[1:1-2]",
        "> The retry\n> policy. [2:1-2]",
    ]
    assert [(quote.text, quote.marks) for quote in quotes] == [(code.text, ("[1:1-2]",)), (talk.text, ("[2:1-2]",))]


TALK = f"We meet again. Boats are moored early. The tides are weak then. Nobody sails out. {'We eat fish. ' * 48}"


def test_where_the_question_speaks_other_words_the_sentences_around_are_quoted_too() -> None:
    # Of these words the text has one.
    (quote,) = quotes(picked("Which vessels rest during tides?", chunk_of(TALK, kind="course")))

    assert "Boats are moored early. The tides are weak then. Nobody sails out." in quote
    assert quotes(picked("Why are tides weak then?", chunk_of(TALK, kind="course"))) == ["The tides are weak then."]


def test_of_each_place_one_sentence_is_quoted_alone() -> None:
    asked = "Which files talk about vessels that rest during tides?"

    assert quotes(picked(asked, chunk_of(TALK, kind="course"))) == ["The tides are weak then."]
