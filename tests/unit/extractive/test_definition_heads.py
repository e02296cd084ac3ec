"""Heads of definitions: signatures with their summaries."""

from __future__ import annotations

from typing import Any

import pytest

from openbook.extractive.context import ContextItem
from openbook.extractive.passages import Passage, passages_of
from openbook.questions.names import stands_in
from openbook.text import units
from openbook.types import Kind
from tests.unit.retrieval.material import chunk_of, result_of


def shown(text: str, *, kind: Kind = "docs", before: str = "Words in front.\n\n", **fields: Any) -> ContextItem:
    result = result_of(chunk_of(text, before=before, kind=kind, **fields))
    return ContextItem(1, result, units(result.chunk))


def heads(text: str, *defines: str) -> list[Passage]:
    return [one for one in passages_of(shown(text, kind="code", defines=defines)) if one.is_head]


def test_of_a_definition_with_a_long_comment_and_many_arguments_the_beginnings_of_both_are_heads() -> None:
    comment = [f"# Comment {number}." for number in range(30)]
    arguments = [f"    argument_{number}," for number in range(50)]
    text = "\n".join([*comment, "def second(", *arguments, "): ..."])

    above, below = heads(text, "second")

    assert above.text == "\n".join(comment[:6])
    assert below.text == "\n".join(["def second(", *arguments[:19]])
    assert above.defines == below.defines == "second"


def test_of_a_long_comment_the_first_sentence_is_a_head() -> None:
    tags = [f" * @param argument{number} is read." for number in range(12)]
    text = "\n".join(["/**", " * Weighs a parcel.", " *", *tags, " */", "public int weigh("])

    above, below = heads(text, "weigh")

    assert (above.text, below.text) == ("/**\n * Weighs a parcel.", "public int weigh(")


LONG = "Weighs a parcel as often as its sender has paid for in advance, and never once more."


@pytest.mark.parametrize(
    ("first", "second", "is_of_head"),
    [
        ("Weighs a parcel.", ["Heavy ones come first."], True),
        ("Weighs a parcel.", ["Heavy ones", "come first."], True),
        ("Weighs a parcel.", ["Heavy ones come first.", "@return its weight"], True),
        (LONG, ["Heavy ones come first."], False),
        ("Weighs a parcel.", ["# Examples"], False),
        ("Weighs a parcel.", ["* Heavy ones come first."], False),
        ("Weighs a parcel.", ["weigh(parcel);"], False),
        ("Weighs a parcel.", ["Heavy ones come first, as in"], False),
        ("Weighs a parcel.", ["Heavy ones", "come", "first,", "all", "others then."], False),
    ],
)
def test_the_next_paragraph_belongs_to_a_summary_of_few_words(
    first: str, second: list[str], *, is_of_head: bool
) -> None:
    told = [line for line in second if not line.startswith("@")] if is_of_head else []
    tags = [f" * @param argument{number} is read." for number in range(12)]
    comment = ["/**", f" * {first}", " *", *(f" * {line}" for line in second)]
    text = "\n".join([*comment, " *", *tags, " */", "public int weigh("])

    assert heads(text, "weigh")[0].text == "\n".join(comment[: 3 + len(told) if told else 2])


def test_a_signature_with_a_parameter_per_line_is_whole() -> None:
    text = "\n".join(["def second(", *(f"    argument_{number}," for number in range(30)), "): ..."])

    assert heads(text, "second")[0].text == text


@pytest.mark.parametrize(
    ("docstring", "said"),
    [
        ("Open them,\n    one by one,\n    in order. Each\n    is closed.\n\n    Never twice.", 4),
        ("Open them,\n    one by one,\n    in order, each", 3),  # the rest is in the next chunk
        ("Open them.\n" + "    Each is closed\n" * 3 + "    again.\n" + "    Never\n" * 4, 5),
    ],
    ids=["paragraph", "broken off", "long paragraph"],
)
def test_the_first_paragraph_of_a_docstring_belongs_to_the_head_if_it_is_short(docstring: str, said: int) -> None:
    text = f'def open_all(paths):\n    """{docstring}'

    (head,) = heads(text, "open_all")

    assert head.text.splitlines() == text.splitlines()[: 1 + said]


def test_a_docstring_ends_with_its_sign() -> None:
    text = 'def open_all(paths):\n    """Open them,\n    one by one."""\n    return\n'

    assert heads(text, "open_all")[0].text == text.partition("\n    return")[0]


def test_of_a_long_definition_of_clojure_the_head_ends_with_the_first_paragraph_of_its_docstring() -> None:
    opening = '(defn- moor!\n  "Moors a ship.\n\n  Quickly."\n  [ship]\n'
    short, long = opening + "  (tie ship))", opening + "  (tie ship)\n" * 20 + "  nil)"

    def found(text: str) -> list[str]:
        item = shown(
            text, kind="code", language="clojure", signature="(defn- moor!", defines=("moor!",), symbol="moor!"
        )
        return [one.text for one in passages_of(item) if one.is_head]

    assert (found(short), found(long)) == ([short], [opening[: opening.index("\n\n")]])


@pytest.mark.parametrize("language", ["elisp", "lisp", "racket", "scheme"])
def test_of_a_long_definition_of_other_lisps_the_head_ends_with_its_docstring(language: str) -> None:
    opening = '(define (moor ship)\n  "Moors a ship."\n'
    item = shown(opening + "  (tie ship)\n" * 20 + "  nil)", kind="code", language=language, defines=("moor",))

    assert [one.text for one in passages_of(item) if one.is_head] == [opening.rstrip()]


@pytest.mark.parametrize(
    "text",
    [
        "(defn- moor [a] a)\n(defmulti tie :size)\n(moor 1)",
        "(defun moor (a) a)\n(cl-defstruct tie size)\n(moor 1)",
        "(defcustom moor t)\n(define (tie size))\n(moor 1)",
        "(defmacro moor ())\n(defclass tie ())\n(moor 1)",
        "(defconst moor 1)\n(defvar tie 2)\n(moor 1)",
        "(defface moor 1)\n(defalias 'tie 2)\n(moor 1)",
        "(cl-defgeneric moor ())\n(define-minor-mode tie)\n(moor 1)",
    ],
)
def test_each_definition_of_lisp_in_a_chunk_has_a_head(text: str) -> None:
    assert [head.text for head in heads(text, "moor", "tie")] == text.split("\n")[:2]


def test_a_name_with_signs_is_found_in_its_definition() -> None:
    assert [head.defines for head in heads("def moor!(ship)\n  tie\nend", "moor!")] == ["moor!"]


def test_a_call_whose_result_is_kept_defines_no_function() -> None:
    text = "pub fn weigh() {\n    let kept = scales::weigh();\n}"

    assert [head.text for head in heads(text, "weigh")] == ["pub fn weigh() {"]


@pytest.mark.parametrize(
    "line",
    [
        "public Crane hoist(int load) {",
        "public static Crane<Load> hoist(int load) {",
        "static Crane* hoist(int load) {",
        "public hoist(load: number): Crane {",
        "def hoist(load) -> Crane:",
        "func hoist(load int) *Crane {",
        "func (b *Box) hoist(load int) Crane {",
    ],
)
def test_a_function_that_returns_a_type_does_not_define_it(line: str) -> None:
    assert [(head.defines, head.text) for head in heads(line, "Crane", "hoist")] == [("hoist", line)]


@pytest.mark.parametrize(
    "line",
    [
        "public Crane(int load) {",
        "void (*Crane)(int load);",
        "@Lifts(loads) public class Crane {",
        "func (b *Box) Crane(load int) Load {",
        "type Crane func(load int) Load",
    ],
)
def test_what_looks_like_a_returned_type_is_defined(line: str) -> None:
    assert [head.defines for head in heads(line, "Crane")] == ["Crane"]


def test_a_name_that_several_classes_define_has_a_head_in_each() -> None:
    owners = ["Parcel", "Crate"]
    text = "\n\n".join(f"class {owner}:\n    def weigh(self):\n        return {owner}_weight" for owner in owners)

    found = [head for head in heads(text, "Parcel", "weigh", "Crate") if head.defines == "weigh"]

    assert [stands_in(["Parcel"], head.within) for head in found] == [True, False]
    assert [stands_in(["Crate"], head.within) for head in found] == [False, True]


@pytest.mark.parametrize("line", ["func (b *Box) Weigh(scale Scale) int {", "void Box::Weigh(Scale scale) {"])
def test_what_stands_before_a_name_in_its_line_is_what_it_stands_in(line: str) -> None:
    (head,) = heads(line, "Weigh")

    assert stands_in(["Box"], head.within)
    assert not stands_in(["Scale"], head.within)


def test_a_signature_of_many_lines_is_a_head_as_a_whole() -> None:
    arguments = [f"    argument_{number}: int," for number in range(14)]
    signature = "\n".join(["def moor(", *arguments, ") -> None:"])

    (head,) = heads(f'{signature}\n    """Moor it."""\n    tie()', "moor")

    assert head.text == f'{signature}\n    """Moor it."""'


def test_a_block_comment_belongs_to_its_definition_however_its_lines_begin() -> None:
    text = "int ships;\n\n/* Moors a ship.\n\n   Two ropes do. */\nint moor(int ship) {"

    (head,) = heads(text, "moor")

    assert head.text == "/* Moors a ship.\n\n   Two ropes do. */\nint moor(int ship) {"


STEPS = [f"    /// Step {number}." for number in range(12)]


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        (["    /// Moors a ship", "    /// to a quay.", "    ///", *STEPS], 2),
        (["    /*", "    Moors a ship", "    to a quay", "", *STEPS, "    */"], 3),
        (["    /// Moors a ship.", "    /// Ropes", *["    /// do it"] * 12], 1),
    ],
    ids=["marked", "blank line", "long paragraph"],
)
def test_the_first_paragraph_of_a_long_comment_is_a_head_if_it_is_short(comment: list[str], said: int) -> None:
    above, below = heads("\n".join([*comment, "    pub fn moor(ship: Ship) {"]), "moor")

    assert above.text.splitlines() == [line.rstrip() for line in comment[:said]]
    assert below.text == "    pub fn moor(ship: Ship) {"


DOC = '  @doc """\n  Moors a ship.\n\n      Quay.moor(ship: 1)\n  """'


@pytest.mark.parametrize("spec", ["", "  @spec moor(ship) ::\n          :ok | :error\n"])
def test_the_documentation_of_elixir_belongs_to_its_definition_and_defines_nothing(spec: str) -> None:
    text = f"{DOC}\n{spec}  def moor(ship) do"

    (head,) = heads(text, "moor")

    assert head.text == text


def test_code_that_is_deeper_than_a_definition_does_not_join_it_to_a_comment_further_above() -> None:
    text = "class Quay:\n    # Ropes.\n    ropes = 4\ndef moor(ship):"

    assert heads(text, "moor")[0].text == "def moor(ship):"


JULIA = '''\
"""
    moor!(quay, ship)

Ties a ship.

# Examples
{examples}
"""
@inline function moor!(quay, ship)
    quay.ship = ship
end
'''


@pytest.mark.parametrize(
    ("examples", "said"),
    [(["It lies."], [(1, 7)]), ([f"julia> moor!(quay, {n})" for n in range(20)], [(1, 3), (26, 26)])],
    ids=["short", "long"],
)
def test_the_docstring_above_a_definition_of_julia_belongs_to_its_head(
    examples: list[str], said: list[tuple[int, int]]
) -> None:
    text = JULIA.format(examples="\n".join(examples))
    item = shown(text, kind="code", language="julia", defines=("moor!",))

    found = [one for one in passages_of(item) if one.is_head]

    assert [(one.first.number, one.last.number) for one in found] == said


@pytest.mark.parametrize("keyword", ["contract", "library", "modifier"])
def test_what_solidity_defines_has_a_head(keyword: str) -> None:
    text = f"import Quay;\n/// Of ships.\n{keyword} Quay {{\n    uint ships;\n}}"
    item = shown(text, kind="code", language="solidity", defines=("Quay",))

    assert [one.text for one in passages_of(item) if one.is_head] == [f"/// Of ships.\n{keyword} Quay {{"]
