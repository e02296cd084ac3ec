"""Questions for what raises an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder, Relevance
from openbook.answering.followups import standalone
from openbook.extractive.answerer import pick
from openbook.extractive.causes import with_causes
from openbook.extractive.context import build_context
from openbook.extractive.passages import passages_of
from openbook.extractive.scoring import ASKED_BONUS, bonuses_of
from openbook.questions.question import read_question
from openbook.testing import HashEmbedder
from openbook.types import Chunk, Filter, RetrievalResult
from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import Library, chunk_of, result_of

QUESTION = "why do I get QuayFullError?"
RAISED = "    if not self.free:\n        raise QuayFullError(self.name)"
TIES = "\n".join(f"    tie({number})" for number in range(12))
LONG = "\n".join(f"        self.tie(rope{number}, post{number})" for number in range(12))


def offered(*chunks: Chunk) -> list[str]:
    context = build_context([result_of(chunk) for chunk in chunks], 10_000).shown
    passages = [passage for shown in context for passage in passages_of(shown)]
    return [passage.text for passage in with_causes(read_question(QUESTION), passages, context)]


def of_code(text: str, path: str = "dock.py") -> Chunk:
    return chunk_of(text, path, kind="code", language="python")


def told(*texts: str, question: str = QUESTION, language: str = "python") -> list[str]:
    chunks = [chunk_of(text, f"dock{n}.py", kind="code", language=language) for n, text in enumerate(texts)]
    return [item.passage.text for item in picked(question, *chunks) if not item.is_pointer]


def test_what_raises_is_quoted_with_its_condition_before_the_definition() -> None:
    defined = 'class QuayFullError(Exception):\n    """No berth is free."""\n\n\nclass RopeError(Exception):\n    pass'
    raised = f"def moor(self):\n{LONG}\n\n{RAISED}\n\n{LONG}"

    found = told(defined, raised)

    assert found[0] == RAISED
    assert found[1:] == ['class QuayFullError(Exception):\n    """No berth is free."""']


def test_a_definition_that_says_when_comes_before_what_raises_up_to_the_end_of_its_docstring() -> None:
    head = 'class QuayFullError(Exception):\n    """Raised if no berth is free.\n\n    The ship waits.\n    """'
    defined = f"{head}\n\n    def told(self):\n{LONG}"

    found = told(f"def moor(self):\n{LONG}\n\n{RAISED}\n\n{LONG}", defined)

    assert found == [head, RAISED]


def test_an_empty_definition_and_its_neighbours_are_not_quoted() -> None:
    defined = "class QuayFullError(Exception):\n    pass\n\n\nclass RopeError(Exception):\n    pass"

    found = told(defined, f"def moor(self):\n{RAISED}")

    assert found == [RAISED]
    assert told(defined)  # there is nothing better


def test_what_is_tested_is_quoted_with_what_sets_it() -> None:
    raised = (
        f"def moor(self):\n{LONG}\n\n    free = self.berths()\n    if not free:\n        raise QuayFullError\n\n{LONG}"
    )

    assert told(raised)[0] == "    free = self.berths()\n    if not free:\n        raise QuayFullError"


def test_an_except_is_quoted_with_its_try() -> None:
    raised = "    try:\n        tie(ship)\n    except KeyError:\n        raise QuayFullError"

    assert told(f"def moor(self):\n{LONG}\n{raised}\n{LONG}")[0] == raised


def test_of_a_long_statement_the_condition_or_the_statement_before_is_quoted() -> None:
    body = LONG.replace("        self", "            self")
    inside = f"def moor(self):\n    if late:\n        if full:\n            raise QuayFullError\n{body}\n"
    ties = LONG.replace("        ", "    ")
    behind = f"def moor(self):\n{ties}\n    raise QuayFullError\n{ties}"

    assert "if full:\n            raise QuayFullError" in told(inside)[0]
    assert told(behind)[0].endswith("post11)\n    raise QuayFullError")


def test_the_closing_brace_of_a_condition_is_quoted() -> None:
    ties = "\n".join(f"\ttie({number})" for number in range(12))
    raised = f"func Moor() error {{\n{ties}\n\n\tif full {{\n\t\treturn ErrFull\n\t}}\n{ties}\n}}"

    found = told(raised, question="when is ErrFull returned", language="go")

    assert found[0] == "\tif full {\n\t\treturn ErrFull\n\t}"


def test_the_message_of_a_variant_is_its_definition() -> None:
    defined = (
        'enum DockError {\n    #[error("the quay {0} is full")]\n    QuayFull(String),\n'
        '    #[error("the rope is short")]\n    RopeShort,\n' + "    Late,\n" * 9 + "}"
    )
    raised = "fn moor() -> Result<()> {\n    match free {\n        false => Err(DockError::QuayFull(name)),\n    }\n}"

    found = told(raised, defined, question="when is QuayFull returned?", language="rust")

    assert "Err(DockError::QuayFull(name))" in found[0]
    assert len(found) == 2
    assert found[1].endswith('    #[error("the quay {0} is full")]\n    QuayFull(String),')


def test_a_docstring_that_says_when_is_quoted_as_well_and_code_that_handles_is_not() -> None:
    raised = f"def moor(self):\n{LONG}\n\n{RAISED}\n\n{LONG}"
    handled = "def wait(self):\n    try:\n        moor()\n    except QuayFullError:\n        return 1"
    said = (
        'def tie(self):\n    """Tie.\n\n    Raises:\n        QuayFullError: If no berth is free.\n    """\n    moor()'
    )

    found = told(raised, handled, said)

    assert found[0].endswith("raise QuayFullError(self.name)")
    assert any("If no berth is free" in text for text in found[1:])
    assert not any("except QuayFullError" in text for text in found)


def test_tests_raise_nothing_unless_they_are_asked_for() -> None:
    code = "def test_moor():\n    if full:\n        raise QuayFullError"
    other = chunk_of("Why QuayFullError is no quay that is full.", "notes.md")
    test = chunk_of(code, "tests/test_dock.py", kind="code", language="python")

    assert not any(item.passage.is_cause for item in picked(QUESTION, test, other))
    assert any(item.passage.is_cause for item in picked("which tests raise QuayFullError?", test, other))


def test_an_error_that_is_raised_is_no_doubtful_answer(tmp_path: Path) -> None:
    library = Library(tmp_path / "doubt.db")
    for number in range(60):
        library.put(f"notes/{number}.md", f"Ropes of harbour {number} are old.")
    library.put("dock.py", "if full:\n    raise QuayFullError", kind="code")
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    def relevance(question: str) -> Relevance:
        alone = standalone(question, ())
        results = finder.find(alone.question, 5, Filter())
        return finder.judge(alone, results, finder.weigh(alone.question), Filter())

    assert not relevance("why do I get QuayFullError while zanzibar camels").is_doubtful
    assert relevance("how old is QuayFullError zanzibar camels").is_doubtful
    library.close()


def test_what_raises_an_error_is_an_answer_to_where(tmp_path: Path) -> None:
    library = Library(tmp_path / "causes.db")
    library.put("wait.py", "QuayFullError(1, QuayFullError, raised)", kind="code")
    library.put("dock.py", "if full:\n    raise QuayFullError", kind="code", symbol="QuayFullError")
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    found = finder.find(read_question("where is QuayFullError raised?"), 2, Filter())

    assert [result.chunk.span.path for result in found] == ["dock.py", "wait.py"]
    library.close()


def test_prose_and_comments_that_say_when_are_offered_and_other_code_is_not() -> None:
    raised = of_code("if not self.free:\n    raise QuayFullError(self.name)")
    commented = "# A QuayFullError is raised at night.\nnight = 3\n\nwait_for_it(night, 1)"

    found = offered(raised, chunk_of("Quays lie in the north.", "quays.md"), of_code(commented, "quay.py"))

    assert "Quays lie in the north." in found
    assert any("raised at night" in text for text in found)
    assert not any("wait_for_it" in text for text in found)
    assert offered(raised) == [raised.text]


def test_what_is_raised_twice_in_a_short_statement_is_offered_once() -> None:
    raised = of_code("if late:\n    raise QuayFullError(1)\nelse:\n    raise QuayFullError(2)")

    assert offered(raised) == [raised.text]


def test_the_condition_of_a_long_block_is_the_line_above_with_less_indentation() -> None:
    ties = "\n".join(f"    tie({number})" for number in range(12))
    condition = "if (\n    late\n):\n    raise QuayFullError\n"
    otherwise = f"if late:\n{ties}\nelse:\n    raise QuayFullError\n{ties}"

    assert offered(of_code(f"{condition}{ties}"))[-1].endswith("    raise QuayFullError")
    assert offered(of_code(otherwise))[-1].endswith("    raise QuayFullError")


def test_a_comment_or_a_block_above_a_condition_sets_nothing_that_it_tests() -> None:
    ties = "\n".join(f"    tie({number})" for number in range(12))
    block = "        for rope in ropes:\n            tie(rope)\n"
    for above in ("    # late\n", f"{block}".replace("        ", "    ", 1)):
        found = offered(of_code(f"def moor():\n{ties}\n{above}    if full:\n        raise QuayFullError\n{ties}"))
        assert "    if full:\n        raise QuayFullError" in found[-1]


@pytest.mark.parametrize(
    "defined",
    [
        'class QuayFullError(Exception):\n    """No berth is free.\n    """',
        "class QuayFullError(Exception):\n    '''No berth is free.'''",
        "export default class QuayFullError extends Error {} // no berth is free",
        "pub(crate) struct QuayFullError; // no berth is free",
        "pub enum QuayFullError {\n    /* no berth is free */\n}",
        "object QuayFullError : Failure() // no berth is free",
        "exception QuayFullError of string (* no berth is free *)",
        "type QuayFullError struct { // no berth is free\n}",
        'const QuayFullError = "no berth is free"',
        'var QuayFullError = errors.New("no berth is free")',
        "#define QuayFullError 12 /* no berth is free */",
        'defmodule QuayFullError do\n  message "no berth is free"\nend',
        "    QuayFullError(String), // no berth is free",
        "    QuayFullError { name: String }, // no berth is free",
        "    QuayFullError = errors.New(`no berth is free`)",
        "    QuayFullError: 'no berth is free',",
        "    QuayFullError, # no berth is free",
    ],
)
def test_a_definition_that_says_something_is_offered_before_what_raises(defined: str) -> None:
    raised = "if full:\n    raise QuayFullError"

    assert offered(of_code(raised), of_code(defined, "errors.py"))[-2:] == [defined, raised]


@pytest.mark.parametrize(
    "other",
    [
        'class QuayFullError(Exception):\n    name = "full"',
        'tell(QuayFullError, "no berth is free")',
        "class QuayFullErrors:  # all of them",
        'QuayFullError.tell("no berth is free")',
    ],
)
def test_other_lines_and_empty_definitions_are_not_offered(other: str) -> None:
    raised = "if full:\n    raise QuayFullError"

    assert offered(of_code(raised), of_code(other, "errors.py")) == [raised]


def test_questions_for_other_things_keep_their_passages() -> None:
    context = build_context([result_of(of_code("if full:\n    raise QuayFullError"))], 10_000).shown
    passages = [passage for shown in context for passage in passages_of(shown)]

    assert with_causes(read_question("what is a quay"), passages, context) == passages


def test_what_overlaps_a_cause_or_a_definition_is_offered_once() -> None:
    raised = of_code("if full:\n    # QuayFullError is raised at night.\n    raise QuayFullError")
    defined = of_code('class QuayFullError(Exception):\n    """Raises QuayFullError at night."""', "errors.py")

    assert offered(raised, defined) == [defined.text, raised.text]


@pytest.mark.parametrize(
    "quoted",
    [
        "    free = berths()\n    if not free:\n        raise QuayFullError",
        "    if not free:\n        # no berth\n        raise QuayFullError",
        "    try:\n        tie()\n    except KeyError:\n        raise QuayFullError",
        "    if late:\n        raise QuayFullError(\n            late,\n        )",
        "    if late:\n        go()\n    elif free:\n        raise QuayFullError",
    ],
)
def test_a_short_statement_is_offered_from_what_sets_its_condition(quoted: str) -> None:
    found = offered(of_code(f"def moor():\n{TIES}\n\n{quoted}\n\n{TIES}"))

    assert found[-1] == quoted


@pytest.mark.parametrize(
    ("above", "quoted"),
    [
        ("\n", "    if free:\n        raise QuayFullError"),
        (
            "",
            "    try:\n        tie()\n    except A:\n        go()\n    except KeyError:\n        raise QuayFullError",
        ),
        ("\n", "    if free:\n#ifdef LATE\n        raise QuayFullError"),
        ("", "    free = berths()\n    if free:\n        raise QuayFullError"),
        ("", "    try:\n        tie()\n    except KeyError:\n        raise QuayFullError"),
        ("    go()\n\n", "    if free:\n        raise QuayFullError"),
        ("    # late\n", "    if free:\n        raise QuayFullError"),
        ('    """\n    late\n    """\n', "    if free:\n        raise QuayFullError"),
        ("    if late:\n        go()\n", "    if free:\n        raise QuayFullError"),
        ("    go(\n        1,\n    )\n", "    if free:\n        raise QuayFullError"),
        ("\n", "    if free:\n        # no berth\n        raise QuayFullError"),
        ("", "    if (\n        free\n    ):\n        raise QuayFullError"),
        (f"    if late:\n{LONG}\n", "    else:\n        raise QuayFullError"),
        (f"    try:\n{LONG}\n", "    except KeyError:\n        raise QuayFullError"),
    ],
)
def test_of_a_long_statement_what_raises_is_offered_from_what_sets_its_condition(above: str, quoted: str) -> None:
    found = offered(of_code(f"def moor():\n{TIES}\n{above}{quoted}\n{LONG}\n{TIES}"))

    assert found[-1] == quoted


def test_a_condition_may_be_the_first_line() -> None:
    assert offered(of_code("if full:\n    raise QuayFullError\nmoor()"))[-1] == "if full:\n    raise QuayFullError"


def test_a_result_that_is_cut_off_offers_what_it_has() -> None:
    lines = [f"tie({number})" for number in range(400)]
    text = "\n".join([*lines[:4], "raise QuayFullError(1)", *lines[4:], "raise QuayFullError(2)"])
    context = build_context([result_of(of_code(text))], 300).shown
    passages = [passage for shown in context for passage in passages_of(shown)]

    found = with_causes(read_question(QUESTION), passages, context)

    assert [passage.text for passage in found if passage.is_cause] == ["tie(3)\nraise QuayFullError(1)"]


def test_code_in_prose_raises_nothing() -> None:
    prose = chunk_of("Quays:\n\n```\nif full:\n    raise QuayFullError\n```", "quays.md")

    assert not any(item.passage.is_cause for item in picked(QUESTION, prose))


@pytest.mark.parametrize(
    ("defined", "is_offered"),
    [
        ("class QuayFullError(HarbourError): pass", False),
        ("class QuayFullError(HarbourError):  # no berth is free\n    pass", True),
        ("def moor(ship): tie(ship, 'QuayFullError here')", True),
    ],
    ids=["empty", "says something", "another definition"],
)
def test_an_empty_definition_is_no_answer_where_nothing_raises_the_error(defined: str, *, is_offered: bool) -> None:
    page = chunk_of("Whoever moors late meets a QuayFullError, and waits.", "docks.md", language="markdown")

    assert any(text in defined for text in offered(of_code(defined), page)) is is_offered


def test_prose_that_begins_like_a_definition_is_offered() -> None:
    page = chunk_of("class QuayFullError is for ships that come late.", "docks.md", language="markdown")

    other = chunk_of("Ships moor at the docks until the tide turns.", "ships.md", language="markdown")

    assert offered(page, other) == [page.text, other.text]


def test_an_empty_definition_is_offered_if_there_is_nothing_else() -> None:
    text = "class QuayFullError(HarbourError): pass"

    assert offered(of_code(text)) == [text]


def test_adjacent_causes_are_quotes_of_their_own() -> None:
    text = f"def moor(self):\n{RAISED}\ndef tie(self):\n    raise QuayFullError()\n"

    assert told(text)[:2] == [RAISED, "def tie(self):\n    raise QuayFullError()"]


def printing(text: str, question: str, language: str = "python") -> list[str]:
    chunk = chunk_of(text, "dock.py", kind="code", language=language)
    results = [RetrievalResult(chunk, 1.0, {"message": 30.0}), result_of(of_code('fail("berth %s is not free")'))]
    context = build_context(results, 10_000).shown
    passages = [passage for shown in context for passage in passages_of(shown)]
    found = with_causes(read_question(question), passages, context)
    assert [each.is_cause for each in found] == sorted(each.is_cause for each in found)
    return [each.text for each in found if each.is_cause]


@pytest.mark.parametrize(
    "statement",
    [
        "    if not free:\n        raise QuayFullError(\n            'berth %s '\n            'is not free'\n        )",
        '    assert free, (\n        f"berth {berth} is not free"\n    )',
        "class Full(DockError):\n    status = 409\n    detail = _('Berth {berth} is not free.')\n    code = 'full'",
    ],
)
def test_what_prints_a_message_is_quoted_as_a_whole_statement(statement: str) -> None:
    code = f"def moor(self):\n{TIES}\n\n{statement}\n\n\ndef tie(self):\n{LONG}"

    assert printing(code, "QuayFullError: berth B7 is not free") == [statement]


@pytest.mark.parametrize("text", ['"berth {0} is not free"', '\n        "berth {0} is not free",\n        name\n    '])
def test_a_message_is_quoted_with_its_variant_alone(text: str) -> None:
    variant = f"    #[error({text})]\n    Full(String),"
    code = f'enum DockError {{\n{variant}\n    #[error("late")]\n    Late,\n' + "    Old,\n" * 12 + "}"

    assert printing(code, "berth B7 is not free", "rust") == [variant]


def test_a_message_that_a_short_statement_prints_twice_is_quoted_once() -> None:
    code = 'if late:\n    fail("berth %s is not free")\nelse:\n    fail("berth %s is not free")'

    assert printing(code, "berth B7 is not free") == [code]


@pytest.mark.parametrize(
    "code",
    [
        'fail("berth %s is not free")',
        "if full:\n# No ship leaves now.\n    fail('berth %s is not free')",
        "if full:\n# No ship leaves now.\n    fail(\n        'berth %s is not free'\n    )",
    ],
)
def test_a_short_chunk_that_prints_a_message_is_quoted(code: str) -> None:
    assert printing(code, "berth B7 is not free") == [code]


def test_of_a_long_statement_the_line_of_the_message_is_quoted() -> None:
    code = f"fail(\n{TIES},\n    'berth %s is not free',\n)".replace(")\n    tie", "),\n    tie")

    assert [text.splitlines()[-1] for text in printing(code, "berth B7 is not free")] == ["    'berth %s is not free',"]


def test_an_argument_within_a_long_call_is_quoted_with_its_own_call_and_the_condition() -> None:
    said = "  if (full) {\n    throw StateError(\n      'berth $name '\n      'is not free. '\n      'Wait.',\n    );"
    code = f"check(() {{\n{LONG}\n{said}\n  }}\n{LONG}\n}}());"

    assert printing(code, "berth B7 is not free", "dart") == [said]


def test_a_message_in_what_is_cut_off_is_not_quoted() -> None:
    chunk = of_code(f"def moor(self):\n{TIES}\n    fail('berth %s is not free')")
    context = build_context([RetrievalResult(chunk, 1.0, {"message": 30.0})], 100).shown
    passages = [passage for shown in context for passage in passages_of(shown)]

    assert passages
    assert with_causes(read_question("berth B7 is not free"), passages, context) == passages


def test_what_prints_a_message_is_offered_once() -> None:
    code = 'def moor(self):\n    tie()\n\n\ndef sail(self):\n    if full:\n        fail("berth %s is not free")'
    context = build_context([RetrievalResult(of_code(code), 1.0, {"message": 30.0})], 10_000).shown
    passages = [passage for shown in context for passage in passages_of(shown)]

    found = [each.text for each in with_causes(read_question("berth B7 is not free"), passages, context)]

    assert sum("not free" in text for text in found) == 1
    assert any("tie()" in text for text in found)


def test_without_a_message_and_an_error_passages_are_as_they_were() -> None:
    context = build_context([result_of(of_code("class QuayFull:\n    pass\n\n\ndef moor():\n    tie()"))], 999).shown
    passages = [passage for shown in context for passage in passages_of(shown)]

    assert with_causes(read_question("mooring of ships"), passages, context) == passages


@pytest.mark.parametrize(
    ("question", "said", "is_asked_for"),
    [
        (QUESTION, "A ship raises QuayFullError if no berth is free.", True),
        (QUESTION, "A QuayFullError has a name.", False),
        ("berth B7 is not free", "A ship raises QuayFullError, if no berth is full.", False),
    ],
)
def test_beside_a_cause_only_prose_on_the_error_is_asked_for(question: str, said: str, is_asked_for: bool) -> None:
    code = of_code('def moor():\n    if full:\n        raise QuayFullError("berth %s is not free")')
    results = [RetrievalResult(code, 1.0, {"message": 30.0}), result_of(chunk_of(said, "dock.md"))]
    context = build_context(results, 10_000).shown
    query = read_question(question)
    passages = with_causes(query, [each for shown in context for each in passages_of(shown)], context)

    bonuses = dict(zip([each.text for each in passages], bonuses_of(query, passages)[0], strict=True))

    assert (bonuses[said] >= ASKED_BONUS) == is_asked_for


def test_a_message_is_no_doubtful_answer_whatever_values_it_has(tmp_path: Path) -> None:
    library = Library(tmp_path / "message.db")
    for number in range(60):
        library.put(f"notes/{number}.md", f"Ropes of harbour {number} are old.")
    library.put("dock.py", 'if full:\n    raise QuayFullError(f"berth {name} is not free")', kind="code")
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    def relevance(question: str) -> Relevance:
        alone = standalone(question, ())
        results = finder.find(alone.question, 5, Filter())
        return finder.judge(alone, results, finder.weigh(alone.question), Filter())

    assert relevance("berth ZanzibarCamel is not free") == Relevance()
    assert relevance("berth ZanzibarCamel was never built").fault
    library.close()


@pytest.mark.parametrize("said", ["In summer, a ship waits for a berth. The master may know of others.", "Text."])
def test_what_explains_a_message_is_quoted_behind_what_prints_it(said: str) -> None:
    code = of_code('def moor():\n    if full:\n        fail("berth %s is not free")')
    results = [RetrievalResult(code, 1.0, {"message": 30.0}), result_of(chunk_of(f"# Piers\n\n{said}", "piers.md"))]
    query = read_question("Error: berth B7 is not free")

    found = pick(query, build_context(results, 10_000), HashEmbedder(), dict.fromkeys(query.tokens, 1.0))

    quoted = [item.passage.first.span.path for item in found if not item.is_pointer]
    assert quoted == ["dock.py", "piers.md"][: 1 + (said != "Text.")]
