"""Options, settings and terms are quoted from the entries that are about them, with their heads."""

from __future__ import annotations

import pytest

from openbook.chunking.fixed import ChunkOptions
from openbook.chunking.prose import chunk_prose
from openbook.extractive.composing import compose
from openbook.sources.documents import read_document
from openbook.types import Chunk
from tests.unit.extractive.picking import picked

PAGE = """.Dd June 1
.Dt MOOR 1
.Sh NAME
.Nm moor
.Nd ties ships up
.Sh OPTIONS
.Bl -tag -width Ds
.It Fl J Ar pier
Ties to another pier first.
This option goes to the harbour as it is.
.It Fl l Ar limit
Limits the rope that
.Nm
uses, in
.Ql m .
.It Fl L , Fl Fl long
Takes the long rope.
Valid ropes are:
.Bl -bullet
.It
hemp,
.It
steel.
.El
.It Fl O
Uses the old rope for the -l option of moor.
.El
"""


def chunks_of(page: str, path: str) -> list[Chunk]:
    return chunk_prose(read_document(page.encode(), source="s", path=path), ChunkOptions())


def answer(question: str, *chunks: Chunk) -> str:
    """Return what is quoted, without the note and the place in front, and without marks."""
    return compose(picked(question, *chunks)).split("\n\n", 2)[2].partition(" [")[0]


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What does the -l option of moor do?", "> -l limit\n> Limits the rope that moor uses, in m."),
        (
            "What does -L do?",
            "> -L, --long\n> Takes the long rope. Valid ropes are:\n> \n> • hemp,\n> • steel.",
        ),
        (
            "What does the -J flag do?",
            "> -J pier\n> Ties to another pier first. This option goes to the harbour as it is.",
        ),
    ],
)
def test_an_option_is_quoted_with_its_head_and_without_its_neighbours(question: str, quoted: str) -> None:
    assert answer(question, *chunks_of(PAGE, "moor.1")) == quoted


def test_of_two_pages_the_one_that_is_named_describes_the_option() -> None:
    other = chunks_of(PAGE.replace("moor", "sail").replace("MOOR", "SAIL"), "sail.1")

    assert "that moor uses" in answer("What does the -l option of moor do?", *other, *chunks_of(PAGE, "moor.1"))
    assert "that sail uses" in answer("What does the -l option of sail do?", *other, *chunks_of(PAGE, "moor.1"))


@pytest.mark.parametrize(
    ("path", "page"),
    [
        pytest.param(
            "a.pod",
            "=over\n\n=item mouse\n\nMoves.\n\n=item tide\n\nWhether the mouse sees tides.\n\n=back\n",
            id="pod",
        ),
        pytest.param(
            "a.adoc", "'mouse' (bool)::\n\n\tMoves.\n\n'tide'::\n\n\tWhether the mouse sees tides.\n", id="asciidoc"
        ),
        pytest.param("a.rst", "mouse\n    Moves.\ntide\n    Whether the mouse sees tides.\n", id="rst"),
    ],
)
def test_a_setting_is_quoted_by_its_plain_word_and_not_as_code(path: str, page: str) -> None:
    said = answer("What does the mouse option do?", *chunks_of(page, path))

    assert said.startswith("> mouse")
    assert said.endswith("> Moves.")


def test_a_row_of_several_lines_is_quoted_whole_with_its_columns() -> None:
    rows = [f"| `--{name}`\n| Ties the ship to {where}.\n" for name, where in (("pier", "a pier"), ("buoy", "one"))]
    page = "= Moor\n\n|===\n| Option | What it does\n\n" + "\n".join(rows) + "|===\n\nShips need a pier.\n"
    chunks = chunks_of(page, "moor.adoc")

    assert [name for chunk in chunks for name in chunk.defines] == ["--pier", "--buoy"]
    assert answer("What does --buoy do?", *chunks) == "> | --buoy\n> | Ties the ship to one."


def test_what_stands_far_below_a_head_names_it_above() -> None:
    far = "Ropes are checked by the harbour before each tide, whatever the weather is at that time of the day. " * 6
    page = PAGE.replace("Takes the long rope.", f"Takes the long rope.\n{far}\nThe default length is 30 m.\n{far}")

    said = compose(picked("What is the default length of -L?", *chunks_of(page, "moor.1")))

    assert said.partition("\n\n")[2].startswith("`-L, --long`\n\n>")
    assert "The default length is 30 m." in said


def test_a_list_that_answers_is_quoted_with_its_lead_in_to_its_end() -> None:
    ropes = ["hemp", "steel", "nylon", "jute", "cotton", "silk", "sisal", "flax"]
    page = "# Ropes\n\nSupported ropes are:\n\n" + "\n".join(f"- {rope}" for rope in ropes) + "\n\nRopes wear out.\n"

    said = answer("Which ropes are supported?", *chunks_of(page, "a.md"))

    assert said.endswith("> - flax")
    assert "Supported ropes are:" in said
