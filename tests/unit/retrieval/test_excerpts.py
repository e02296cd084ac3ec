from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.questions.question import read_question
from openbook.retrieval.excerpts import excerpts, symbol_at, telling_lines
from openbook.types import Excerpt
from tests.unit.retrieval.material import chunk_of

POOL = "def pool():\n    a = 1\n\n    b = 2\n    c = 3\n    wait_for_idle_clients()\n    d = 4\n    e = 5"


def marked(excerpt: Excerpt) -> list[str]:
    return [excerpt.text[start:end] for start, end in excerpt.matches]


def test_the_lines_that_match_are_chosen_and_their_words_marked() -> None:
    [excerpt] = excerpts("Where does it wait for clients?", [chunk_of(POOL)])

    assert (excerpt.start_line, excerpt.end_line) == (5, 7)
    assert excerpt.text == "    c = 3\n    wait_for_idle_clients()\n    d = 4"
    assert marked(excerpt) == ["wait_for_idle_clients"]


def test_a_line_with_nothing_but_a_mark_of_code_is_blank() -> None:
    page = chunk_of("Moor so:\n\x02\f\nmoor(rope)\n\f\x03\f\nThen wait.", "a.html", language="html")

    [excerpt] = excerpts("moor rope", [page])

    assert (excerpt.start_line, excerpt.end_line) == (1, 5)
    assert excerpt.to_dict()["text"] == "Moor so:\n  \nmoor(rope)\n   \nThen wait."


def test_forms_of_a_word_match_and_words_of_asking_do_not() -> None:
    [excerpt] = excerpts("Which retries are there?", [chunk_of("There are two: retry and retried.")])

    assert marked(excerpt) == ["retry", "retried"]


def test_a_name_with_hyphens_is_marked_as_one() -> None:
    [excerpt] = excerpts("message-delay-limit", [chunk_of("Set `message-delay-limit` first, limit: 3.")])

    assert marked(excerpt) == ["message-delay-limit", "limit"]


def test_a_word_that_stands_everywhere_weighs_less_than_a_rare_one() -> None:
    lines = [f"job {number}" for number in range(9)]
    lines[7] = "the retry of it"

    [excerpt] = excerpts("job retry", [chunk_of("\n".join(lines))], lines=1)

    assert excerpt.text == "the retry of it"


@pytest.mark.parametrize("question", ["nothing of that", "Wo steht das?"])
def test_without_a_match_the_first_lines_are_shown(question: str) -> None:
    [excerpt] = excerpts(question, [chunk_of("\none\n\ntwo\nthree\nfour")])

    assert (excerpt.text, excerpt.start_line, excerpt.end_line, excerpt.matches) == ("one\n\ntwo\nthree", 2, 5, ())


def test_what_lies_further_down_in_a_document_has_its_lines() -> None:
    chunk = chunk_of("one\ntwo needles\nthree", before="first\nsecond\n")

    assert excerpts("needle", [chunk], lines=1)[0].start_line == 4


def test_of_equal_lines_of_code_those_of_one_definition_are_shown() -> None:
    text = "def wait():\n    a = 1\n    idle = 2\n\ndef sail():\n    idle()\n    c = 3"

    [code] = excerpts("idle", [chunk_of(text, "a.py", kind="code")])
    [prose] = excerpts("idle", [chunk_of("idle\n\nidle ships\n\nships sail")])

    assert (code.start_line, code.end_line) == (5, 7)
    assert prose.end_line == 5


@pytest.mark.parametrize(
    ("question", "symbol"),
    [("moor", "Ship.moor"), ("sea", "sail"), ("limit", "sail"), ("Ship", "Ship.moor"), ("nothing", "Ship.moor")],
)
def test_the_symbol_of_an_excerpt_is_the_definition_above_its_match(question: str, symbol: str) -> None:
    text = "def moor(ship):\n    wait()\n\n\nasync def sail(sea):\n    pass\n    return limit"
    chunk = chunk_of(text, "a.py", kind="code", symbol="Ship.moor", defines=("moor", "sail"))

    [excerpt] = excerpts(question, [chunk])

    assert symbol_at(chunk, excerpt) == symbol


@pytest.mark.parametrize(
    ("questions", "share", "lines"),
    [
        (["Where does it wait for clients?"], 0.9, [6]),
        (["What is nowhere in it?"], 0.9, []),
        (["Where does it wait for clients?", "pool"], 0.1, [1, 6]),
    ],
)
def test_lines_tell_that_hold_most_of_all_questions(questions: list[str], share: float, lines: list[int]) -> None:
    found = telling_lines([read_question(question) for question in questions], chunk_of(POOL), [], share)

    assert found == lines


def test_the_lines_that_tell_are_the_same_in_every_order_of_the_questions() -> None:
    chunk = chunk_of("a = 1\nmoor_boat(x)\nboat moor here\nmoor the boat\n")
    name, sentence = read_question("moor_boat"), read_question("where do we moor the boat")

    found = [telling_lines(questions, chunk, [], 0.5) for questions in ([name, sentence], [sentence, name])]

    assert found[0] == found[1] == [2]


def test_a_result_within_the_whole_one_counts_its_lines_once() -> None:
    # The ferry stands in one line and is the rarer word; were that line counted twice, both would be as rare.
    whole = chunk_of("the ferry\nmoors\nmoors")
    within = replace(whole, span=replace(whole.span, end_char=9, end_line=1), text="the ferry")

    assert telling_lines([read_question("Where does the ferry moor?")], whole, [within], 0.9) == [1]


def test_the_definitions_of_solidity_name_excerpts() -> None:
    text = "contract Quay {\n    modifier guarded() {\n        _;\n        check(ship);\n    }\n}"
    chunk = chunk_of(text, "a.sol", kind="code", symbol="Quay", defines=("Quay", "guarded"))

    [excerpt] = excerpts("ship", [chunk], lines=1)

    assert symbol_at(chunk, excerpt) == "guarded"
