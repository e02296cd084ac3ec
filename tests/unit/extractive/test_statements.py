from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.extractive.statements import enclosing, lines_of, pieces, statements
from openbook.text import units
from tests.unit.retrieval.material import chunk_of


def cut(text: str, *, most: int = 1, whole: int = 3, language: str = "") -> list[str]:
    """Return the texts of the pieces of code."""
    every = units(chunk_of(text, "a.py", kind="code"))
    lines = lines_of(every, language)
    return [
        "\n".join(unit.text for unit in every[first : last + 1])
        for first, last in pieces(lines, 0, len(every) - 1, most, whole)
    ]


def test_a_call_over_several_lines_is_one_piece() -> None:
    assert cut("moor(\n    ship,\n)\nsail()") == ["moor(\n    ship,\n)", "sail()"]


@pytest.mark.parametrize(
    "text",
    [
        "if late:\n    moor()\nelse:\n    sail()",
        "try {\n  moor();\n} catch (late) {\n  sail();\n}",
        "ships\n  .filter(late)\n  .map(moor)",
        "if late\n  moor\nend",
        "int wait(void)\n{\n  return 1;\n}",
        'text = """Ships\nmoor\n"""',
        "# Why it waits.\n@cached\ndef wait(): ...",
        "/* Why\nit waits. */\nint wait();",
        "moor(\nship,\nsea)",
    ],
    ids=["else", "catch", "chain", "end", "brace", "string", "comment", "block comment", "unindented"],
)
def test_what_goes_on_with_a_statement_is_not_cut_from_it(text: str) -> None:
    assert cut(f"{text}\nlast()", whole=6) == [text, "last()"]


@pytest.mark.parametrize(
    "introduction",
    ["The old ropes are:", "# Ropes:", "// Ropes:"],
    ids=["docstring-that-is-cut-off", "hash", "slashes"],
)
def test_what_a_comment_introduces_is_not_cut_from_it(introduction: str) -> None:
    assert cut(f"{introduction}\n\n- hemp\n- wire\n\nlast()", most=4) == [f"{introduction}\n- hemp\n- wire", "last()"]


def test_a_line_of_a_docstring_introduces_what_follows() -> None:
    every = units(chunk_of('"""Ropes.\n\none of:\n\n- hemp\n"""', "a.py", kind="code"))

    assert [line.leads_in for line in lines_of(every, "python")] == [False, True, False, False]


def test_code_after_a_colon_and_a_blank_line_is_another_piece() -> None:
    assert cut("names:\n\n- hemp\n\nlast()", most=4) == ["names:", "- hemp", "last()"]


def test_a_long_comment_is_not_cut_after_what_introduces_a_list() -> None:
    assert cut("# Ropes rot.\n# They do.\n# Ropes are:\n# - hemp\n# - wire\nwait()")[0] == (
        "# Ropes rot.\n# They do.\n# Ropes are:\n# - hemp\n# - wire"
    )


@pytest.mark.parametrize(
    "attribute",
    [
        '#[cfg_attr(\n    feature = "old",\n    late\n)]',
        '@dock.route(\n    "/wait",\n    name=("wait",\n    "late"),\n)',
        "@field:Late(\n    1,\n)",
    ],
)
@pytest.mark.parametrize("indent", ["", "    "])
def test_an_attribute_of_several_lines_is_not_cut_from_what_it_is_on(attribute: str, indent: str) -> None:
    text = f"{attribute}\nwait(1)".replace("\n", f"\n{indent}")

    assert cut(f"{indent}{text}\n{indent}last(2)", whole=7) == [f"{indent}{text}", f"{indent}last(2)"]


@pytest.mark.parametrize(
    "text",
    [
        "template <typename T>\nint wait(T a) {\n  return a;\n}",
        "template <typename T,\n          typename = void>\nint wait(T a) {\n  return a;\n}",
        "// Why.\ntemplate <auto f = [](int a) -> int { return a; }>\nstruct Ship {};",
        "template <typename T> int wait(T a) {\n  return a;\n}",
    ],
    ids=["template", "lines", "arrow", "one line"],
)
def test_the_parameters_of_a_template_are_not_cut_from_it(text: str) -> None:
    assert cut(f"first();\n{text}\nlast();", whole=6, language="cpp") == ["first();", text, "last();"]


def test_comparisons_and_open_ends_in_the_parameters_of_a_template_end_nothing() -> None:
    text = "template <int n, bool b = (n < 3)>\nint wait();\ntemplate <int n"

    assert cut(text, language="cpp") == text.split("\n")


def test_a_string_in_backticks_runs_over_lines_in_languages_that_have_them() -> None:
    text = "moor(`ship\nsea`)\nsail()"

    assert cut(text, language="go") == ["moor(`ship\nsea`)", "sail()"]
    assert cut("say `ship\nsea\nsail()") == ["say `ship", "sea", "sail()"]


def test_a_pattern_of_a_shell_opens_no_comment() -> None:
    text = "case $1 in\n  /*) cast ;;\nesac\n\nsail"

    assert cut(text, most=3, language="shell")[-1] == "sail"


def test_a_comment_without_an_end_goes_on_to_the_end() -> None:
    assert cut("sail();\n/* Ropes\nrot\n\nin (rain.", most=2, whole=5, language="c")[-1] == "/* Ropes\nrot\nin (rain."


def test_brackets_in_strings_and_comments_open_nothing() -> None:
    assert cut('moor("(")  # (\nsail("""(""")\nwait()') == ['moor("(")  # (', 'sail("""(""")', "wait()"]


def test_short_statements_stand_together_unless_a_blank_line_is_between() -> None:
    assert cut("a = 1\nb = 2\n\nc = 3\nd = 4\ne = 5", most=2) == ["a = 1\nb = 2", "c = 3\nd = 4", "e = 5"]


def test_a_long_statement_is_cut_into_its_head_with_what_fits_and_the_statements_under_it() -> None:
    text = "def wait(\n    ship,\n):\n    moor(\n        ship,\n    )\n    sail()\n    rest()"

    assert cut(text) == ["def wait(\n    ship,\n):", "    moor(\n        ship,\n    )", "    sail()", "    rest()"]
    assert cut(text, most=6, whole=6) == [
        "def wait(\n    ship,\n):\n    moor(\n        ship,\n    )",
        "    sail()\n    rest()",
    ]


def test_what_only_closes_a_long_statement_is_no_piece() -> None:
    assert cut("for (ship) {\n  moor();\n  sail();\n  rest();\n}") == [
        "for (ship) {",
        "  moor();",
        "  sail();",
        "  rest();",
    ]


@pytest.mark.parametrize("line", ["#endif  // SHIP_H_", "# endif", "#else"])
def test_the_end_of_a_condition_of_the_preprocessor_is_no_piece(line: str) -> None:
    assert cut(f"moor();\n\n{line}", language="cpp") == ["moor();"]


def test_a_comment_that_begins_like_a_condition_is_a_piece() -> None:
    assert cut("moor()\n\n# else it sails") == ["moor()", "# else it sails"]


def test_what_closes_the_object_before_does_not_open_a_piece() -> None:
    assert cut("},\n{\n  ship: 1,\n  rope: 2,\n},", most=10, whole=10)[0].startswith("{\n  ship")


@pytest.mark.parametrize(
    "clause", ["else:", "} else {", "}\nelse\n{", "finally:  # at last", "} finally {", "finally\n{", "else", "ensure"]
)
def test_a_clause_without_a_condition_opens_no_piece(clause: str) -> None:
    assert cut(f"{clause}\n  moor()\nlast()", whole=6) == ["  moor()", "last()"]


def test_a_clause_without_a_condition_stays_with_what_it_goes_on_with_and_opens_no_part_of_a_long_statement() -> None:
    long = "if late:\n  a()\n  b()\n  c()\nelse:\n  moor()"

    assert cut(long, whole=6) == [long]
    assert cut(long, most=3) == ["if late:\n  a()\n  b()", "  c()", "  moor()"]


@pytest.mark.parametrize("clause", ["except Late:", "} catch (Late late) {", "elif late:", "else if (late) {"])
def test_a_clause_with_a_condition_opens_a_piece(clause: str) -> None:
    assert cut(f"{clause}\n  moor()", whole=6) == [f"{clause}\n  moor()"]


def test_a_long_comment_is_cut_behind_a_sentence() -> None:
    text = "# Ships\n# wait. They\n# moor.\n# Before\n# they sail.\n# They rest now\n# and then."

    assert cut(text) == ["# Ships\n# wait. They\n# moor.", "# Before\n# they sail.", "# They rest now\n# and then."]


def test_a_comment_belongs_to_the_block_that_it_is_indented_in() -> None:
    text = "if late:\n    moor()\n    # Not now.\nsail()"

    assert cut(text) == ["if late:\n    moor()\n    # Not now.", "sail()"]


def test_a_condition_of_the_preprocessor_cuts_no_block() -> None:
    text = "if (late) {\n  moor();\n#ifdef SEA\n  sail();\n#endif\n}"

    assert cut(f"{text}\nrest();", whole=6) == [text, "rest();"]


def test_a_comment_over_a_blank_line_stands_alone() -> None:
    assert cut("# Ships.\n\nmoor()") == ["# Ships.", "moor()"]


def test_statements_around_lines_are_found_from_within() -> None:
    text = "class Ship:\n    def wait(self):\n        moor()\n        sail()\n    size = 1"
    lines = lines_of(units(chunk_of(text, "a.py", kind="code")))

    assert [(each.first, each.last) for each in enclosing(lines, 2, 2)] == [(1, 3), (0, 4)]
    assert [(each.first, each.last) for each in enclosing(lines, 0, 0)] == [(0, 4)]
    assert enclosing(lines, 0, 4) == []


@pytest.mark.slow
@given(st.lists(st.sampled_from(["a", "  b(", "    c)", "}", "# d", '"""', "", "else:", "  /*", "*/"]), min_size=1))
def test_statements_cover_all_lines_and_pieces_never_overlap(texts: list[str]) -> None:
    every = units(chunk_of("\n".join(["x", *texts]), "a.py", kind="code"))
    lines = lines_of(every)

    found = list(statements(lines, 0, len(lines) - 1))
    cuts = list(pieces(lines, 0, len(lines) - 1, 2, 3))

    assert [0, *(each.last + 1 for each in found)] == [*(each.first for each in found), len(lines)]
    assert all(before[1] < after[0] for before, after in pairwise(cuts))


@pytest.mark.parametrize(
    ("text", "language", "inside"),
    [
        (" * Ropes rot.\n * They do.\n */\nint wait;", "c", [True, True, True, False]),
        ("Ropes rot.\nThey do.\n*/\nint wait;", "c", [True, True, True, False]),
        (" * Ropes rot.\n * They do.", "c", [True, True]),
        ("/** Ropes rot.\n * They do.", "c", [False, True]),
        ('Ropes rot.\n"""\nwait()', "python", [True, True, False]),
        ('Ropes rot."""\nwait()', "python", [True, False]),
        ('Ropes rot.\n"""\ndef wait, do: 1\n@doc """\nThey do.', "elixir", [True, True, False, False, True]),
        ('def wait():\n    """Ropes\n    rot.', "python", [False, False, True]),
    ],
    ids=["stars", "no-stars", "amid", "open", "docstring", "end-behind-text", "two-docstrings", "open-docstring"],
)
def test_a_comment_that_is_cut_by_the_border_of_a_chunk_is_a_comment(
    text: str, language: str, inside: list[bool]
) -> None:
    every = units(chunk_of(text, "a", kind="code"))

    assert [line.inside for line in lines_of(every, language)] == inside


@pytest.mark.parametrize(
    "text",
    [
        "*pier = 1;\n*rope = 2;",
        'found = glob("**/*.md")\nwait()',
        'def wait():\n    """\n    Ropes.',
        'sql = f"""\nselect\n"""',
        'end\n"""\nRopes.\n"""\nwait()',
    ],
    ids=["pointers", "pattern", "opening", "string", "julia"],
)
def test_what_only_looks_like_the_end_of_a_comment_does_not_make_the_lines_above_one(text: str) -> None:
    every = units(chunk_of(text, "a", kind="code"))

    assert not lines_of(every, "julia")[0].inside


def test_lines_without_words_at_the_ends_of_a_comment_are_no_part_of_a_piece() -> None:
    every = " *\n * Ropes rot.\n *\n */"

    assert cut(every, whole=6) == [" * Ropes rot."]


def test_code_below_a_long_comment_is_a_piece_of_its_own() -> None:
    comment = "# Ropes\n# rot\n# fast."

    assert cut(f"{comment}\nwait(\n    1,\n)") == [comment, "wait(\n    1,\n)"]
