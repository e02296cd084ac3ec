from __future__ import annotations

import pytest

from openbook.answering.verification import check_quotes
from openbook.extractive.composing import compose, quotes_of
from openbook.extractive.context import build_context
from openbook.types import Chunk
from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import chunk_of, result_of

QUESTION = "how long does the retry policy wait"

# What makes an answer so long that no further quote fits.
LONG = chunk_of(" ".join(["The retry policy waits a minute, and"] + ["so on and on"] * 30) + ".", "long.md")


def pointers(*chunks: Chunk, scores: tuple[float, ...] = (), question: str = QUESTION) -> list[str]:
    return pointers_of(question, LONG, *chunks, scores=scores)


def pointers_of(question: str, *chunks: Chunk, scores: tuple[float, ...] = ()) -> list[str]:
    written = compose(picked(question, *chunks, scores=scores))
    return written.partition("\n\nSee also:\n\n")[2].split("\n") if "See also:" in written else []


def test_a_result_that_is_not_quoted_is_pointed_to_by_its_best_sentence() -> None:
    other = chunk_of("Roses need sun.\n\nThe policy is set by the client.", "b.md")

    assert pointers(other) == ["- b.md: The policy is set by the client. [2:2]"]


def test_a_pointer_has_no_markup_that_only_a_site_reads() -> None:
    other = chunk_of("Roses need sun.\n\n~> The policy is\nset by {ref}`the client <c>`.", "b.md", language="markdown")

    assert pointers(other) == ["- b.md: The policy is set by the client. [2:2-3]"]


def test_code_is_pointed_to_by_its_best_line_without_its_indentation() -> None:
    code = chunk_of("def send():\n    limit = policy(1)\n    return 3\n", "b.py", kind="code", language="python")

    assert pointers(code) == ["- b.py: `limit = policy(1)` [2:2]"]


def test_the_line_of_a_pointer_is_not_chosen_for_a_keyword_of_the_language() -> None:
    code = chunk_of("def send():\n    try:\n        limit = policy(1)\n", "b.py", kind="code", language="python")

    long = chunk_of(f"The retry policy waits until it is tried{' and so on' * 40}.", "long.md")

    assert pointers_of(f"{QUESTION} when tried", long, code) == ["- b.py: `limit = policy(1)` [2:3]"]


def test_a_result_of_which_one_definition_is_quoted_is_pointed_to_for_another() -> None:
    told = f"def moor():\n    # How long the retry policy waits{' and so on' * 40}.\n    tie()\n"
    several = ("moor", "send")
    text = f"{told}\n\ndef send():\n    limit = policy(1)\n    return limit\n"
    code = chunk_of(text, "b.py", kind="code", language="python", symbol="moor", defines=several)
    alone = chunk_of(told, "b.py", kind="code", language="python", symbol="moor", defines=several[:1])

    assert pointers_of(QUESTION, code) == ["- send(): `limit = policy(1)` [1:5]"]
    assert pointers_of(QUESTION, alone) == []


REST = "".join(f"    x{number} = {number}\n" for number in range(60))


@pytest.mark.parametrize(
    ("comment", "language", "written"),
    [
        (
            "/**\n * Ships rot. The {@link Policy#of policy} is\n * set by <b>no</b> client &amp; crew. Or not.\n */",
            "java",
            "The policy is set by no client & crew. [2:2-3]",
        ),
        (
            "/// Ships rot.\n///\n/// The policy is\n/// set by the client.",
            "rust",
            "The policy is set by the client. [2:3-4]",
        ),
        ("// Ships rot.\n// - The policy is\n//   set.\n// - No.", "go", "The policy is set. [2:2-3]"),
        ("// Ships rot:\n//\n//\tsend(policy)\n//\trot()", "go", "`send(policy)` [2:3]"),
        ("# Ships rot.\n# The policy is\n# set.", "python", "The policy is set. [2:2-3]"),
        ('"""Ships rot.\n\nThe policy is\nset.\n"""', "python", "The policy is set. [2:2-3]"),
    ],
    ids=["javadoc", "rust", "item", "example", "hash", "docstring"],
)
def test_a_comment_is_pointed_to_by_a_sentence_without_signs_and_markup(
    comment: str, language: str, written: str
) -> None:
    assert pointers(chunk_of(f"{comment}\nx = 1\n{REST}", "b.c", kind="code", language=language)) == [
        f"- b.c: {written}"
    ]


def test_a_comment_is_pointed_to_below_the_name_of_what_it_is_on_unless_it_begins_with_that() -> None:
    def code(name: str) -> Chunk:
        text = f"// The policy is set.\nfunc {name}() {{\n{REST}}}"
        return chunk_of(text, f"{name}.go", kind="code", language="go", symbol=name, signature=f"func {name}()")

    assert pointers(code("policy")) == ["- policy(): The policy is set. [2:1]"]
    assert pointers(code("The")) == ["- The policy is set. [2:1]"]


def test_a_very_long_sentence_of_a_comment_points_nowhere() -> None:
    assert pointers(chunk_of(f"// The policy {'and so on ' * 10} is set.\n{REST}", "b.go", kind="code")) == []


def test_what_a_pointer_stands_in_is_named_in_front_of_it() -> None:
    code = chunk_of(
        "    limit = policy(1)\n    return 3\n", "b.py", kind="code", language="python", symbol="Client.send"
    )
    page = chunk_of("The policy is set by the client.", "c.md", context=("Clients", "Retries"))
    itself = chunk_of("policy is set by Clients alone.", "d.md", context=("Clients",))

    assert pointers(code, page, itself) == [
        "- Client.send: `limit = policy(1)` [2:1]",
        "- Retries: The policy is set by the client. [3:1]",
        "- policy is set by Clients alone. [4:1]",
    ]


def test_a_line_of_an_example_in_prose_is_written_as_code() -> None:
    page = chunk_of(
        "Send it:\n\n```python\nclient = Client(retry=policy)\nclient.send()\n```", "b.md", language="markdown"
    )

    assert pointers(page) == ["- b.md: `client = Client(retry=policy)` [2:3]"]


@pytest.mark.parametrize(
    ("text", "language", "written"),
    [
        ("To set the policy::\n\n    send policy\n    wait\n", "rst", "b.a: To set the policy: `send policy` [2:1-2]"),
        (
            "Set the policy:\n\n```sh\nsend policy\nwait\n```\n",
            "markdown",
            "b.a: Set the policy: `send policy` [2:1-3]",
        ),
        ("The policies are:\n\n- a rope of hemp,\n- a rope of steel.\n", "markdown", "b.a: The policies are: [2:1]"),
        (f"Set the policy::\n\n    send {'policy ' * 15}\n", "rst", "b.a: Set the policy: [2:1]"),
        ("Retry\n-----\n\nTo set::\n\n    send policy\n", "rst", "Retry: To set: `send policy` [2:3-4]"),
    ],
)
def test_a_sentence_that_leads_to_code_points_to_its_first_line(text: str, language: str, written: str) -> None:
    assert f"- {written}" in pointers(chunk_of(text, "b.a", language=language))


def test_backticks_in_a_line_of_code_stay_as_they_are() -> None:
    code = chunk_of("echo `retry policy`", "b.sh", kind="code", language="bash")

    assert pointers(code) == ["- b.sh: `` echo `retry policy` `` [2:1]"]


def test_what_opens_an_item_in_markup_is_left_out() -> None:
    assert pointers(chunk_of("- The policy is set by the client.", "b.md")) == [
        "- b.md: The policy is set by the client. [2:1]"
    ]


def test_nothing_is_pointed_to_twice_or_where_it_is_quoted() -> None:
    again = [chunk_of("The policy is set by the client.", path) for path in ("b.md", "c.md")]

    assert pointers(*again) == ["- b.md: The policy is set by the client. [2:1]"]


def test_a_result_far_below_the_best_is_not_pointed_to() -> None:
    other = chunk_of("The policy is set by the client.", "b.md")

    assert pointers(other, scores=(10.0, 7.0)) == ["- b.md: The policy is set by the client. [2:1]"]
    assert pointers(other, scores=(10.0, 6.9)) == []


def test_transcripts_are_not_pointed_to() -> None:
    assert pointers(chunk_of("The policy is set by the client.", "b.txt", kind="course")) == []


def test_a_line_with_little_of_the_question_is_not_pointed_to() -> None:
    other = chunk_of("A policy of three.", "b.md")
    longer = "how long does the retry policy of a client wait between attempts against unreachable hosts"

    assert pointers(other) == ["- b.md: A policy of three. [2:1]"]
    assert pointers(other, question=longer) == []


def test_no_more_than_eight_results_are_pointed_to_in_their_order() -> None:
    others = [chunk_of(f"The policy of client {n} is set.", f"{n}.md") for n in range(12)]

    assert pointers(*others) == [f"- {n}.md: The policy of client {n} is set. [{n + 2}:1]" for n in range(8)]


def test_a_long_sentence_points_nowhere() -> None:
    long = chunk_of("The policy " + "and so on " * 10 + "is set by the client.", "b.md")

    assert pointers(long) == []


def test_a_pointer_is_an_exact_quote() -> None:
    code = chunk_of("def send():\n    limit = policy(1)\n", "b.py", kind="code", language="python")
    found = picked(QUESTION, LONG, code)

    checked = check_quotes(
        quotes_of(found), build_context([result_of(LONG), result_of(code)], 10_000), lambda at: _text(at, LONG, code)
    )

    assert [(each.quote, each.verdict, each.span.start_line) for each in checked.citations][1:] == [
        ("    limit = policy(1)", "exact", 2)
    ]
    assert checked.claims[1].text == "limit = policy(1)"


def _text(at: object, *chunks: Chunk) -> str:
    return next(chunk.text for chunk in chunks if chunk.span.path in str(at))


# An entry that takes all words of an answer.
ENTRY = chunk_of(
    f"| name | told |\n|---|---|\n| `max_ropes` | The max ropes{' and ropes' * 60}. |\n", "a.md", language="markdown"
)


def _table(told: str) -> Chunk:
    rows = f"| name | told |\n|---|---|\n| `max_knots` | Most knots of max_ropes. |\n| `max_ropes` | {told} |\n"
    return chunk_of(rows, "b.md", language="markdown")


def test_another_entry_for_the_setting_is_pointed_to_and_not_the_rows_around_it() -> None:
    told = "Most ropes of a ship. Mooring stops when that many are in use, and goes on as soon as one is free."

    assert pointers_of("What does max_ropes do?", ENTRY, _table(told), scores=(2.0, 1.9)) == [
        f"- b.md: | `max_ropes` | {told} | [2:4]"
    ]
