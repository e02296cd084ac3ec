"""Questions for parameters are answered by the signature, with what is said of each parameter."""

from __future__ import annotations

from typing import Any

import pytest

from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

DOCSTRING = '''\
    def __init__(self, load, height=4):
        """Builds a crane.

        It stands on the quay.

        Args:
            load (int): Tonnes to lift.

            height (int): Metres above the quay.

        Returns:
            Nothing that matters.
        """
        self.load = load
'''


def code(text: str, path: str = "crane.py", **fields: Any) -> Chunk:
    return chunk_of(text, path, kind="code", **fields)


def first(question: str, *chunks: Chunk) -> str:
    return quotes(picked(question, *chunks))[0]


def test_the_head_has_the_docstring_up_to_the_last_parameter() -> None:
    chunk = code(DOCSTRING, symbol="Crane.__init__", defines=("__init__",), context=("Crane",))

    assert first("Which arguments does the Crane constructor take?", chunk) == DOCSTRING.partition("\n\n        Ret")[0]


def test_another_question_has_the_head_alone() -> None:
    told = "".join(
        f"            load_{number} (int): Tonnes of the ship with number {number}.\n" for number in range(20)
    )
    text = DOCSTRING.replace("            load (int): Tonnes to lift.\n", told)
    chunk = code(text, symbol="Crane.__init__", defines=("__init__",), context=("Crane",))

    assert "load_19" not in first("Where is `Crane.__init__` defined?", chunk)


def test_a_docstring_without_parameters_adds_its_first_paragraph_only() -> None:
    text = DOCSTRING.replace("Args:", "Notes:")
    chunk = code(text, symbol="Crane.__init__", defines=("__init__",), context=("Crane",))

    assert first("parameters of the Crane constructor", chunk) == text.partition("\n\n")[0]


@pytest.mark.parametrize("said", ["Lifts it.", "Lifts it\n" + "    as high as it goes\n" * 8 + "    "])
def test_a_section_below_the_end_of_the_docstring_is_none_of_it(said: str) -> None:
    body = "".join(f"    self.hoist(load, {number})\n" for number in range(40))
    text = f'def lift(load):\n    """{said}"""\n{body}    # Args:\n    #     none of it\n'

    assert "none of it" not in first("parameters of crane.lift", code(text, symbol="lift", defines=("lift",)))


def test_the_comment_above_belongs_to_the_head_from_its_first_parameter_on() -> None:
    examples = "".join(f" * crane.liftAll({number})\n" for number in range(12))
    told = " * @param load - tonnes\n * @param to - where\n */"
    text = f"/**\n * Lifts all.\n *\n{examples}{told}\nfunction liftAll(load, to) {{"

    found = first("signature of liftAll", code(text, "crane.js", symbol="liftAll", defines=("liftAll",)))

    assert found == text[text.index(" * @param load") :]


def test_a_comment_apart_from_the_head_is_none_of_it() -> None:
    text = "// @param tide - none of it\nconst tide = 4\n\nfunction liftAll(load, to) {\n  return to\n}"

    found = first("signature of liftAll", code(text, "crane.js", symbol="liftAll", defines=("liftAll",)))

    assert found == text[text.index("function") :]


CLASSES = (("Quay", "name"), ("Crane", "load"))


def test_a_class_is_answered_by_its_constructor_in_a_chunk_of_several_classes() -> None:
    above = "".join(f"  attr_reader :hoist_{number}, :load_{number}, :height_{number}\n\n" for number in range(30))
    classes = (f"class {name}\n{above}  def initialize({argument})\n  end\nend\n" for name, argument in CLASSES)
    text = "\n".join(classes)

    found = first("Which arguments does Crane take?", code(text, "c.rb", defines=("Quay", "Crane", "initialize")))

    assert "def initialize(load)" in found
    assert "class" not in found


def test_a_constructor_with_the_name_of_its_class_comes_before_the_class() -> None:
    whole = code("public class Crane {\n  private int load;", "Crane.java", symbol="Crane", defines=("Crane", "load"))
    own = code("  public Crane(int load) {\n    this.load = load;", "M.java", symbol="Crane.Crane", defines=("Crane",))
    kept = code("const kept: Crane<T>[] = new List()", "c.ts", symbol="kept", defines=("kept", "Crane"))

    found = picked("parameters of the Crane constructor", whole, kept, own, scores=[3.0, 2.0, 1.0])

    assert quotes(found)[0].startswith("  public Crane(int load) {")


def test_a_class_without_a_constructor_is_answered_by_the_function_that_makes_one() -> None:
    whole = code("type Crane struct {\n\tload int\n}", "crane.go", symbol="Crane", defines=("Crane",))
    made = code("func NewCrane(load int) *Crane {", "new.go", symbol="NewCrane", defines=("NewCrane",))

    assert first("Which arguments does the Crane constructor take?", whole, made).startswith("func NewCrane")


def test_a_class_without_either_is_answered_by_its_head() -> None:
    whole = code("data class Crane(\n    val load: Int,\n)", "crane.kt", symbol="Crane", defines=("Crane",))

    assert first("Which arguments does the Crane constructor take?", whole).startswith("data class Crane(")


SECTION = "## Schema\n\n### Required\n\n- `load` (Number) Tonnes.\n\n### Optional\n\n- `reach` (Number) Metres."
PAGE = f"A crane lifts.\n\n{SECTION}\n\n### Read-Only\n\n- `id` (Number) Which arguments harbour_crane has."
ASKED = "Which arguments does harbour_crane take?"


@pytest.mark.parametrize(
    ("title", "path", "is_section"),
    [
        ("harbour_crane (Resource)", "a.md", True),
        ("Cranes", "docs/harbour_crane.md", True),
        ("harbour_cranes (Resource)", "a.md", False),
        ("How to lift ships with harbour_crane", "a.md", False),
    ],
    ids=["by its title", "by its file", "another thing", "on a use of it"],
)
def test_the_page_on_a_thing_has_a_section_on_its_parameters(title: str, path: str, is_section: bool) -> None:
    page = chunk_of(PAGE, path, language="markdown", context=(title,))

    assert (first(ASKED, page) == SECTION) is is_section


def test_another_section_of_a_page_has_no_parameters() -> None:
    text = PAGE.replace("Schema", "Uses").replace("Required", "Yesterday").replace("Optional", "Today")
    page = chunk_of(text, "a.md", language="markdown", context=("harbour_crane (Resource)",))

    assert first(ASKED, page) not in (SECTION, text[text.index("##") : text.index("### Read")].rstrip())
