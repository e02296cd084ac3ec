from __future__ import annotations

import pytest

from openbook.questions.comparisons import asking_what_is, compared
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between a chain and a chord?", ("chain", "chord")),
        (
            "What are the differences between the application context and the request context?",
            ("application context", "request context"),
        ),
        ("How does g differ from session?", ("g", "session")),
        ("How do h11 and httptools differ?", ("h11", "httptools")),
        ("fork vs. spawn?", ("fork", "spawn")),
        ("How does --filter compare to --query?", ("--filter", "--query")),
        ("Compare forget and prune", ("forget", "prune")),
        ("When should I use move instead of moveto?", ("move", "moveto")),
        ("Why would I use Quay rather than Wharf?", ("Quay", "Wharf")),
        ("Choosing between Quay and Wharf", ("Quay", "Wharf")),
        ("How do I choose between `quay` or `wharf`?", ("`quay`", "`wharf`")),
        ("What is the difference between -x and -X?", ("-x", "-X")),
        ("difference between &mo and &to", ("&mo", "&to")),
        ("`to` vs `from`", ("`to`", "`from`")),
        ("Should I use a fork or a spawn?", ("fork", "spawn")),
        ("Which is better, fork or spawn?", ("fork", "spawn")),
        ("Was ist der Unterschied zwischen einer Kette und einem Akkord?", ("Kette", "Akkord")),
        ("Quelle est la différence entre l'index et le catalogue ?", ("index", "catalogue")),
        ("¿Cuál es la diferencia entre una cola y un tema?", ("cola", "tema")),
        ("What is the difference between x, y and z?", ("x", "y", "z")),
        ("What's the difference between the axis x y and z?", ("axis x y", "z")),
        ("Compare fork, spawn, and forkserver", ("fork", "spawn", "forkserver")),
        ("In tests, fork vs spawn?", ("fork", "spawn")),
        ("fork vs spawn, which one", ("fork", "spawn")),
        ("fork vs spawn which", ("fork", "spawn")),
        ("fork vs spawn: when should I use which?", ("fork", "spawn")),
        ("Difference between fork and spawn? Which one is faster?", ("fork", "spawn")),
        ("fork vs spawn what's the difference", ("fork", "spawn")),
        ("fork vs spawn - what is the difference?", ("fork", "spawn")),
    ],
)
def test_the_things_that_are_compared_are_found(question: str, sides: tuple[str, ...]) -> None:
    assert compared(question) == sides


@pytest.mark.parametrize(
    "question",
    [
        "What is a difference engine?",
        "Where is the difference computed?",
        "What is the difference?",
        "What is the difference between retries and retries?",
        "Why is there a difference between what the page shows after a reload and what the log says about it?",
        "How do I merge and compare?",
        "What is the difference between it and this one?",
        "What is the difference between `is` and `==`?",
        "one of these vs what they are",
        "Which versions are supported?",
        "Should we use it in production or not?",
        "What should I use to read or write files?",
        "Which Python should I use on Windows or macOS?",
        "I have a queue and two workers; how do I get better throughput?",
    ],
)
def test_other_questions_compare_nothing(question: str) -> None:
    assert compared(question) == ()


def test_who_compares_the_project_with_another_one_neither_asks_what_it_is_nor_for_yes_or_no() -> None:
    question = read_question("Should I use Quay or Wharf?")

    assert question.compared == ("Quay", "Wharf")
    assert not question.asks_for_whole(["quay"])
    assert not question.asks_whether


def test_a_name_of_code_is_asked_for_as_one() -> None:
    assert [asking_what_is(side) for side in ("Bind", "`delay`", "gin.New", "request context", "--query", "find")] == [
        "What does `Bind` do?",
        "What does `delay` do?",
        "What does `gin.New` do?",
        "What is request context?",
        "What is --query?",
        "find",
    ]


def test_a_thing_may_be_called_by_a_stop_word() -> None:
    assert compared("find vs grep") == ("find", "grep")


@pytest.mark.parametrize("question", ["difference between &mo and &to", "`to` vs `from`", "-i vs -a", "find vs on"])
def test_each_thing_that_is_compared_has_a_word_to_search_for(question: str) -> None:
    assert all(read_question(asking_what_is(side)).tokens for side in compared(question))
