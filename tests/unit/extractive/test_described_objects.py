"""What a directive of Sphinx says of a setting or a function is quoted with its name, and the name never alone."""

from __future__ import annotations

from openbook.chunking.fixed import ChunkOptions
from openbook.chunking.prose import chunk_prose
from openbook.extractive.composing import compose
from openbook.sources.documents import read_document
from tests.unit.extractive.picking import picked

ROPES = """Ropes
=====

.. data:: MAX_ROPES

   The most ropes that a ship is moored with. The default is ``3``.

.. confval:: rope_length

   The length of a rope in metres, from one end to the other. Knots are counted as well, and so are the loops around the
   bollards of a quay, of which there may be several. Some ships have ropes that are longer than those of all others
   together, and nobody knows where they came from. A rope in the water gets no longer than it is on land.

.. py:function:: moor(ship)
   :noindex:

   Moors a ship by the ropes that lie nearest to it.
"""


def _answer(question: str) -> str:
    chunks = chunk_prose(read_document(ROPES.encode(), source="s", path="a.rst"), ChunkOptions())
    return compose(picked(question, *chunks)).partition("\n\n")[2]


def test_a_short_description_is_quoted_below_the_name_of_its_object() -> None:
    said = "Ropes\n\n> MAX_ROPES\n> \n> The most ropes that a ship is moored with. The default is ``3``. [1:3-4]"

    assert _answer("How many ropes is a ship moored with at most?").startswith(said)


def test_a_sentence_of_a_long_description_stands_below_the_name_of_its_object() -> None:
    answer = _answer("Do ropes in the water get longer than on land?")

    assert "`rope_length`\n\n> A rope in the water gets no longer than it is on land." in answer


def test_a_function_is_quoted_with_what_it_does() -> None:
    answer = _answer("Which ropes is a ship moored by, that lie nearest?")

    assert "> moor(ship)\n" in answer
    assert ".. " not in answer
