"""Words of a question that a library lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.answering.missing import language_note, missing_words
from openbook.library import Library
from openbook.questions.question import read_question
from openbook.settings import Settings
from openbook.testing import HashEmbedder
from tests.support import write_tree


@pytest.mark.parametrize(
    ("question", "known", "missing"),
    [
        pytest.param("How do retries end?", {"retri": 3}, ("end",), id="one"),
        pytest.param("How do Retries End?", {}, ("Retries", "End"), id="as-written-and-in-order"),
        pytest.param("retry Retry retry", {}, ("retry", "Retry"), id="each-spelling-once"),
        pytest.param("upstream_fails fails", {"upstream": 1, "fail": 1}, ("upstream_fails",), id="a-name-is-a-whole"),
        pytest.param("getUser fails", {"getus": 1, "fail": 1}, (), id="however-it-is-spelled"),
        pytest.param("where is the retry", {"retri": 1}, (), id="words-of-asking-do-not-count"),
        pytest.param("where do I put a retry", {"retri": 1}, (), id="nor-do-everyday-words"),
        pytest.param("where do I PUT a retry", {"retri": 1}, ("PUT",), id="but-their-namesakes"),
        pytest.param("which lessons mention retry", {"retri": 1}, (), id="nor-does-the-phrase-for-places"),
    ],
)
def test_missing_words_stand_nowhere_in_the_library(
    question: str, known: dict[str, int], missing: tuple[str, ...]
) -> None:
    assert missing_words(read_question(question), known) == missing


@pytest.mark.parametrize(
    ("question", "note"),
    [
        pytest.param("What is the gizmo limit?", "No source mentions 'gizmo'.\n\n", id="its-subject"),
        pytest.param("What is the doodad quota?", "", id="another-word"),
        pytest.param("Is there a cap on gadgets?", "", id="other-words"),
    ],
)
def test_an_answer_from_a_small_folder_says_that_it_lacks_the_subject(tmp_path: Path, question: str, note: str) -> None:
    files = {"gadget.md": "The gadget limit is 7 per day.", "doodad.md": "The doodad limit is 12 per day."}

    with Library.of(write_tree(tmp_path / "limits", files), settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query(question)

    assert not answer.refused
    assert answer.answer.startswith(f"{note}Quoted from the sources;")


@pytest.mark.parametrize(
    ("question", "is_noted"),
    [
        pytest.param("Wo wird geprüft, ob die Tiefe beim Lesen überschritten ist?", True, id="german"),
        pytest.param("Où vérifie-t-on que la profondeur est dépassée ?", True, id="french"),
        pytest.param("Hat der reader das gadget limit per day?", False, id="mostly-words-that-are-there"),
        pytest.param("Where is the depth checked?", False, id="english"),
        pytest.param("gadget", False, id="a-word"),
        pytest.param('"wird nicht mehr"', False, id="a-quotation"),
    ],
)
def test_results_of_a_question_in_another_language_come_with_a_note(
    tmp_path: Path, question: str, is_noted: bool
) -> None:
    files = {"gadget.md": "The reader has a gadget limit of 7 per day. " * 3}

    with Library.of(write_tree(tmp_path / "limits", files), settings=Settings(home=tmp_path / "home")) as library:
        results = library.search("gadget")
        note = language_note(question, results, library.index, library.retriever.embedder)

        assert note.startswith("The question and the sources are in different languages" if is_noted else "")
        assert bool(note) is is_noted
        assert language_note(question, [], library.index, library.retriever.embedder) == ""
        assert language_note(question, results, library.index, HashEmbedder()) == ""
