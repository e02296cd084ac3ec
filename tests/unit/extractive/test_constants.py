"""Values that a question asks for and that a constant holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answering.generator import Generator
from openbook.extractive.answerer import pick
from openbook.extractive.constants import with_constants
from openbook.extractive.context import build_context
from openbook.questions.question import read_question
from openbook.types import Chunk, Filter
from tests.unit.retrieval.material import Library, result_of

USE = "def moor(ship, rope_length=DEFAULT_ROPE_LENGTH):\n    ship.tie(rope_length)"
ASKED = "What is the default rope length?"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "constants.db")
    yield library
    library.close()


def put(library: Library, path: str, *texts: str, defines: tuple[str, ...] = ()) -> list[Chunk]:
    return library.put(path, *texts, kind="code", language="python", defines=defines)


def quoted(library: Library, question: str, *chunks: Chunk) -> list[str]:
    query, embedder = read_question(question), library.embedder
    context = build_context([result_of(chunk) for chunk in chunks], 10_000)
    picked = pick(query, context, embedder, dict.fromkeys(query.tokens, 1.0))
    found, shown = with_constants(query, picked, context, library.index, Filter())
    assert {item.passage.shown.number for item in found} <= {item.number for item in shown.shown}
    return [item.passage.text for item in found]


@pytest.mark.parametrize(
    "definition",
    [
        "DEFAULT_ROPE_LENGTH = 42",
        "DEFAULT_ROPE_LENGTH: Final[int] = 42",
        "const DEFAULT_ROPE_LENGTH: Option<u64> = Some(42);",
        "public static final int DEFAULT_ROPE_LENGTH = 42;",
        "DEFAULT_ROPE_LENGTH = 'long'",
        "DEFAULT_ROPE_LENGTH = None",
        "DEFAULT_ROPE_LENGTH := 6 * time.Second",
        "#define DEFAULT_ROPE_LENGTH 42",
        "# define DEFAULT_ROPE_LENGTH 42",
    ],
)
def test_the_definition_of_a_constant_comes_before_the_quote_that_names_it(library: Library, definition: str) -> None:
    use = put(library, "moor.py", USE)
    put(library, "limits.py", definition, defines=("DEFAULT_ROPE_LENGTH",))

    assert quoted(library, ASKED, *use)[:2] == [definition, USE]


@pytest.mark.parametrize(
    ("use", "definition"),
    [
        ("fn moor(rope_length: Rope = limits::default_rope_length()) {}", "fn default_rope_length() -> u64 { 42 }"),
        ("func moor(ropeLength int) { tie(limits.defaultRopeLength, 2) }", "defaultRopeLength uint64 = 42 // m"),
        ('#[serde(default = "default_rope_length")] length: u64,', "fn default_rope_length() -> u64 {\n    42\n}"),
    ],
)
def test_a_constant_is_also_one_that_says_so_in_its_name(library: Library, use: str, definition: str) -> None:
    chunks = put(library, "moor.rs", use)
    put(library, "limits.rs", definition)

    assert quoted(library, ASKED, *chunks)[0] == definition


def test_a_constant_that_is_set_to_another_is_followed_to_the_value(library: Library) -> None:
    use = put(library, "moor.py", USE)
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = knots.LONG_ROPE", "LONG_ROPE = 42")

    assert quoted(library, ASKED, *use)[:3] == ["LONG_ROPE = 42", "DEFAULT_ROPE_LENGTH = knots.LONG_ROPE", USE]


def test_a_name_on_the_way_to_the_value_is_quoted_once(library: Library) -> None:
    use = put(library, "moor.py", USE)
    link = put(library, "limits.py", "DEFAULT_ROPE_LENGTH = knots.LONG_ROPE")
    put(library, "knots.py", "LONG_ROPE = 42")

    found = quoted(library, ASKED, *use, *link)

    assert found[0] == "LONG_ROPE = 42"
    assert sum("DEFAULT_ROPE_LENGTH = knots" in text for text in found) == 1


def test_a_function_that_returns_a_constant_is_followed(library: Library) -> None:
    use = put(library, "moor.py", "def moor(ship, rope_length=default_rope_length()):\n    ship.tie(rope_length)")
    put(library, "limits.py", "def default_rope_length():\n    return LONG_ROPE", "LONG_ROPE = 42")

    assert quoted(library, ASKED, *use)[:2] == [
        "LONG_ROPE = 42",
        "def default_rope_length():\n    return LONG_ROPE",
    ]


def test_a_long_body_of_a_function_is_not_quoted(library: Library) -> None:
    use = put(library, "moor.rs", "fn moor(rope_length: Rope = default_rope_length()) {}")
    put(library, "limits.rs", "fn default_rope_length() -> u64 {\n    42 + if late() { 1 } else { 0 }\n        + 3\n}")

    assert quoted(library, ASKED, *use)[0] == "fn default_rope_length() -> u64 {"


@pytest.mark.parametrize(
    "text",
    [
        "DEFAULT_ROPE_LENGTH = os.environ['ROPE']",  # the user sets it
        "DEFAULT_ROPE_LENGTH = measured(ship)",  # no value
        "if DEFAULT_ROPE_LENGTH == 42:",
        "if DEFAULT_ROPE_LENGTH != 42:",
        "moored.DEFAULT_ROPE_LENGTH = 42",
        "length = DEFAULT_ROPE_LENGTH or 42",
        "DEFAULT_ROPE_LENGTHS = 42",
        "print DEFAULT_ROPE_LENGTH 42",
        "call DEFAULT_ROPE_LENGTH(): 42",
        "x = DEFAULT_ROPE_LENGTH() + tie(42)",
    ],
)
def test_what_gives_a_constant_no_value_is_not_quoted(library: Library, text: str) -> None:
    use = put(library, "moor.py", USE)
    put(library, "limits.py", text, defines=("DEFAULT_ROPE_LENGTH",))

    assert quoted(library, ASKED, *use)[0] == USE


def test_of_several_definitions_the_one_in_the_same_file_counts_and_none_elsewhere(library: Library) -> None:
    use = put(library, "moor.py", USE, "DEFAULT_ROPE_LENGTH = 42")
    other = put(library, "tow.py", USE)
    put(library, "long.py", "DEFAULT_ROPE_LENGTH = 80")

    assert quoted(library, ASKED, use[0])[0] == "DEFAULT_ROPE_LENGTH = 42"
    assert quoted(library, ASKED, *other)[0] == USE


def test_a_definition_is_told_from_a_keyword_argument_if_names_of_definitions_are_known(library: Library) -> None:
    use = put(library, "moor.py", USE)
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = 42", defines=("DEFAULT_ROPE_LENGTH",))
    put(library, "other.py", "tow(\n    DEFAULT_ROPE_LENGTH=80,\n)")

    assert quoted(library, ASKED, *use)[0] == "DEFAULT_ROPE_LENGTH = 42"


def test_definitions_in_tests_and_in_documentation_do_not_count(library: Library) -> None:
    use = put(library, "moor.py", USE)
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = 42")
    put(library, "tests/test_moor.py", "DEFAULT_ROPE_LENGTH = 7")
    library.put("ropes.md", "DEFAULT_ROPE_LENGTH = 9")

    assert quoted(library, ASKED, *use)[0] == "DEFAULT_ROPE_LENGTH = 42"


@pytest.mark.parametrize(
    "said",
    ["The rope length defaults to 50 by law.", "The default rope length is `short`.", "Rope length, default: true."],
)
def test_nothing_is_added_where_a_quote_says_the_default(library: Library, said: str) -> None:
    chunks = [*library.put("ropes.md", said), *put(library, "moor.py", USE)]
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = 42")

    assert "DEFAULT_ROPE_LENGTH = 42" not in quoted(library, ASKED, *chunks)


def test_documentation_that_names_the_constant_says_no_value(library: Library) -> None:
    chunks = library.put("ropes.md", "The rope length defaults to `DEFAULT_ROPE_LENGTH`, as the length of most ropes.")
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = 42")

    assert quoted(library, ASKED, *chunks)[0] == "DEFAULT_ROPE_LENGTH = 42"


def test_a_default_in_another_line_of_code_may_be_of_something_else(library: Library) -> None:
    use = put(library, "moor.py", f"# Number of knots; default: 3.\n{USE}")
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = 42")

    assert quoted(library, ASKED, *use)[0] == "DEFAULT_ROPE_LENGTH = 42"


def test_a_line_that_says_the_value_is_not_followed(library: Library) -> None:
    use = put(library, "moor.py", "def moor(rope_length=DEFAULT_ROPE_LENGTH):  # default: 42")
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = 42")

    assert "DEFAULT_ROPE_LENGTH = 42" not in quoted(library, ASKED, *use)


@pytest.mark.parametrize(
    ("question", "is_added"),
    [
        ("how many ropes does it use", True),
        ("which rope does it use if I set no length", True),
        ("what rope is used when the length isn't given", True),
        ("what happens to the rope if the length is not given", False),
        ("how does the rope get its length", False),
    ],
)
def test_only_a_question_for_a_value_is_answered_so(library: Library, question: str, is_added: bool) -> None:
    use = put(library, "moor.py", USE)
    put(library, "limits.py", "DEFAULT_ROPE_LENGTH = 42")

    assert ("DEFAULT_ROPE_LENGTH = 42" in quoted(library, question, *use)) == is_added


def test_a_constant_whose_name_has_few_words_of_the_question_is_not_followed(library: Library) -> None:
    use = put(library, "moor.py", "rope = tie(DEFAULT_ROPE_OF_HARBOUR_TUG, 'knot')")
    put(library, "limits.py", "DEFAULT_ROPE_OF_HARBOUR_TUG = 42")

    assert quoted(library, "What is the default knot of the rope?", *use)[0] != "DEFAULT_ROPE_OF_HARBOUR_TUG = 42"


def test_of_several_constants_the_closest_is_followed_and_then_one_that_is_a_default(library: Library) -> None:
    text = "rope = MAX_ROPE_LENGTH, DEFAULT_ROPE_LENGTH, DEFAULT_ROPE"
    use = put(library, "moor.py", text)
    put(library, "limits.py", "MAX_ROPE_LENGTH = 1", "DEFAULT_ROPE_LENGTH = 42", "DEFAULT_ROPE = 3")

    assert quoted(library, ASKED, *use)[:2] == ["DEFAULT_ROPE_LENGTH = 42", text]


def test_of_constants_with_as_many_words_of_the_question_the_one_with_fewest_others_is_followed(
    library: Library,
) -> None:
    chunks = put(library, "moor.py", "rope = DEFAULT_KNOTS_ROPE_LENGTH, DEFAULT_ROPE_LENGTH")
    put(library, "limits.py", "DEFAULT_KNOTS_ROPE_LENGTH = 1", "DEFAULT_ROPE_LENGTH = 42")

    assert quoted(library, ASKED, *chunks)[0] == "DEFAULT_ROPE_LENGTH = 42"


@pytest.mark.parametrize("question", ["default of rope_length", "what is the default of --rope-length"])
def test_a_constant_that_a_result_gives_to_the_setting_asked_for_is_followed(library: Library, question: str) -> None:
    told = library.put("ropes.md", "The rope_length (--rope-length) is how long a rope is from the ship to the quay.")
    code = put(library, "moor.py", "opt.rope_length = rope_length or 3\n\n\nself.rope_length: int = LONG_ENOUGH")
    test = put(library, "tests/test_moor.py", "rope_length = VERY_LONG")
    put(library, "limits.py", "LONG_ENOUGH = 42", "VERY_LONG = 80")

    assert quoted(library, question, *told, *test, *code)[0] == "LONG_ENOUGH = 42"


def test_a_quote_with_the_value_moves_up_as_it_is(library: Library) -> None:
    use = put(library, "moor.py", USE)
    limits = put(library, "limits.py", "# In metres.\nDEFAULT_ROPE_LENGTH = 42\nother = 1, 2, 3")

    found = quoted(library, ASKED, *use, *limits)

    assert found[:2] == ["# In metres.\nDEFAULT_ROPE_LENGTH = 42\nother = 1, 2, 3", USE]


def test_the_comment_above_is_quoted_with_the_definition(library: Library) -> None:
    use = put(library, "moor.py", USE)
    put(library, "limits.py", "# In metres.\nDEFAULT_ROPE_LENGTH = 42", defines=("DEFAULT_ROPE_LENGTH",))

    assert quoted(library, ASKED, *use)[0] == "# In metres.\nDEFAULT_ROPE_LENGTH = 42"


def test_an_answer_cites_the_line_of_the_value(library: Library) -> None:
    put(library, "moor.py", USE)
    put(library, "limits.py", "# In metres.", "DEFAULT_ROPE_LENGTH = 42", defines=("DEFAULT_ROPE_LENGTH",))
    generator = Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=4_000)

    answer = generator.generate_with_retrieval(ASKED, top_k=1)

    first = answer.citations[0]
    assert (first.span.path, first.span.start_line, first.verdict) == ("limits.py", 3, "exact")
    assert answer.claims[0].text == "DEFAULT_ROPE_LENGTH = 42"
