from __future__ import annotations

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

QUESTION = "What is the difference between a chain and a chord?"
CHAIN = chunk_of("A chain is a list of tasks that run one after the other.", "chain.md", context=("Chains",))
CHORD = chunk_of("A chord is a group of tasks with a callback behind all of them.", "chord.md", context=("Chords",))
CODE = chunk_of("chain, chord = split(chain | chord)", "split.py", kind="code", language="python")
BOTH = chunk_of("Unlike a chain, a chord runs its tasks at the same time.", "both.md")
OTHER = chunk_of("The difference between two chains is computed in the scheduler.", "other.md")


def test_what_speaks_of_both_sides_is_quoted_first_and_then_what_each_is() -> None:
    assert quotes(picked(QUESTION, OTHER, CODE, CHAIN, CHORD, BOTH))[:3] == [BOTH.text, CHAIN.text, CHORD.text]


def test_code_that_names_both_sides_tells_no_difference() -> None:
    assert quotes(picked(QUESTION, CODE, CHAIN, CHORD))[:2] == [CHAIN.text, CHORD.text]


def test_names_of_code_are_compared_by_their_definitions() -> None:
    bind = chunk_of("def Bind(self):\n    self.fail(400)\n", "a.py", kind="code", language="python", defines=("Bind",))
    should = chunk_of(
        "def ShouldBind(self):\n    return self.error\n",
        "b.py",
        kind="code",
        language="python",
        defines=("ShouldBind",),
    )
    use = chunk_of("ShouldBind() or Bind()", "c.py", kind="code", language="python")

    found = quotes(picked("What is the difference between Bind and ShouldBind?", use, bind, should))

    assert [text.split("(")[0] for text in found[:2]] == ["def Bind", "def ShouldBind"]
