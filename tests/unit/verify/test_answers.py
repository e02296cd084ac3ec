"""Saved answers are judged by the text they kept, to the character."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import SourceError
from openbook.verify.answers import CitationFields, check_saved_answer, read_answers, with_moves
from openbook.verify.cited_folder import CitedFolder
from openbook.verify.finding import Finding
from openbook.verify.history import History
from tests.repositories import Repository, write

PAGE = "# Ferry\n\nThe ferry leaves at nine from the northern pier.\nIt takes an hour.\n"
QUOTE = "The ferry leaves at nine from the northern pier."


def saved(quote: str = QUOTE, text: str = PAGE, **fields: Any) -> str:
    start = text.index(quote)
    first = text.count("\n", 0, start) + 1
    citation: dict[str, Any] = {
        "mark": "[1:1]",
        "source": "harbour",
        "path": "ferry.md",
        "quote": quote,
        "verdict": "exact",
    }
    citation |= {"start_line": first, "end_line": first + quote.count("\n")}
    citation |= {"start_char": start, "end_char": start + len(quote)}
    chunk = {"source": "harbour", "path": "ferry.md", "start_char": 0, "text": text}
    return json.dumps({"answer": "x [1:1]", "citations": [citation | fields], "sources": [chunk]})


def check(folder: Path, text: str) -> list[tuple[Finding, CitationFields | None]]:
    root = CitedFolder(folder)
    return [found for answer in read_answers(text) for found in check_saved_answer(answer, root, History(root.folder))]


def verdict(folder: Path, text: str) -> tuple[str, str]:
    ((finding, _),) = check(folder, text)
    return finding.verdict, str(finding.now or "")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"ferry.md": PAGE}, ("ok", ""), id="as-it-was"),
        pytest.param({"ferry.md": "New.\n" + PAGE}, ("moved", "ferry.md:4"), id="pushed-down"),
        pytest.param({"ferry.md": PAGE.replace("nine", "ten")}, ("changed", ""), id="other-words"),
        pytest.param({"boats.md": PAGE}, ("moved", "boats.md:3"), id="renamed"),
        pytest.param({"harbour/ferry.md": PAGE}, ("ok", ""), id="source-is-a-folder"),
        pytest.param({"other.md": "x\n"}, ("missing file", ""), id="gone"),
        pytest.param({"ferry.md": f"{QUOTE}\n\n{QUOTE}\n"}, ("changed", ""), id="twice-and-nothing-tells-which"),
        pytest.param({"ferry.md": PAGE.replace("leaves at", "leaves\nat")}, ("moved", "ferry.md:3-4"), id="wrapped"),
    ],
)
def test_the_quote_decides(tmp_path: Path, files: dict[str, str], expected: tuple[str, str]) -> None:
    write(tmp_path, files)

    assert verdict(tmp_path, saved()) == expected


@pytest.mark.parametrize("mark", [" ", "\f"])
def test_the_mark_behind_the_head_of_an_entry_is_a_blank_or_as_older_answers_kept_it(tmp_path: Path, mark: str) -> None:
    write(tmp_path, {"ferry.adoc": "= Ferry\n\nnine::\n  Leaves from the pier.\n"})
    quote = f"nine{mark}\n  Leaves from the pier."

    answer = saved(quote, f"Ferry{mark * 2}\n\n{quote}\n", path="ferry.adoc")

    assert verdict(tmp_path, answer) == ("ok", "")


def test_a_sentence_within_a_long_line_is_found_to_the_character(tmp_path: Path) -> None:
    line = "We begin. " + QUOTE + " We end.\n"
    write(tmp_path, {"ferry.md": "And now: " + line})

    ((finding, moved),) = check(tmp_path, saved(text=line))

    assert finding.verdict == "moved"
    assert moved == CitationFields("ferry.md", 1, 1, 19, 19 + len(QUOTE))


TALK = "We begin. The ferry is late. We go on. The ferry is late. We end.\n"


def test_of_equal_sentences_in_one_line_the_surroundings_decide(tmp_path: Path) -> None:
    write(tmp_path, {"ferry.md": "First of all, hello. " + TALK})
    first = saved(quote="The ferry is late.", text=TALK)
    offset = len("First of all, hello. ")

    ((finding, moved),) = check(tmp_path, first)

    assert finding.verdict == "moved"
    assert moved is not None
    assert moved.start_char == offset + TALK.index("The ferry")


def test_equal_sentences_whose_surroundings_are_not_known_are_not_told_apart(tmp_path: Path) -> None:
    write(tmp_path, {"ferry.md": "First of all, hello. " + TALK})
    alone = json.loads(saved(quote="The ferry is late.", text="The ferry is late. x\n"))
    alone["sources"] = []

    assert verdict(tmp_path, json.dumps(alone)) == ("changed", "")


def test_of_equal_sentences_whose_surroundings_are_alike_none_is_chosen(tmp_path: Path) -> None:
    around = "We begin slowly. The ferry is late. We go on slowly. "
    write(tmp_path, {"ferry.md": f"Hello. {around}Again. {around}\n"})

    assert verdict(tmp_path, saved(quote="The ferry is late.", text=around + "\n")) == ("changed", "")


def test_a_sentence_in_a_line_that_was_wrapped_is_found(tmp_path: Path) -> None:
    write(tmp_path, {"ferry.md": "We begin.\nThe ferry leaves at nine from\nthe northern pier. We end.\n"})

    assert verdict(tmp_path, saved(text=f"We begin. {QUOTE} We end.\n")) == ("moved", "ferry.md:2-3")


def test_lines_that_went_to_another_file_with_their_neighbours_are_found(tmp_path: Path) -> None:
    write(tmp_path, {"ferry.md": "# Ferry\n", "all.md": "# All\n\n" + "Else.\n\n" * 9 + PAGE})

    assert verdict(tmp_path, saved()) == ("moved", "all.md:23")


def test_the_same_words_among_others_in_another_file_are_not_the_quote(tmp_path: Path) -> None:
    page = "".join(f"A sentence of number {n} that nothing else says.\n" for n in range(9))
    write(tmp_path, {"ferry.md": "# Ferry\n", "other.md": f"Other words.\n{QUOTE}\nWords of another page.\n"})

    assert verdict(tmp_path, saved(text=page + QUOTE + "\n" + page)) == ("changed", "")


def test_a_quote_that_git_knows_and_that_is_gone_is_not_looked_for_by_its_words(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    twins = "def a():\n    return None\n\n\ndef b():\n    return None\n"
    repository.commit({"ferry.md": twins})
    write(tmp_path, {"ferry.md": "def a():\n    return None\n"})

    assert verdict(tmp_path, saved(quote="def b():\n    return None", text=twins)) == ("changed", "")


def test_a_file_that_is_no_longer_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_bytes(b"\0")

    assert verdict(tmp_path, saved()) == ("refused", "")


def test_a_citation_that_quotes_nothing_has_nothing_to_be_checked_by(tmp_path: Path) -> None:
    write(tmp_path, {"ferry.md": PAGE})

    assert verdict(tmp_path, saved(quote="\n\n")) == ("changed", "")


def test_git_tells_twins_apart(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    twins = "def a():\n    return None\n\n\ndef b():\n    return None\n"
    repository.commit({"ferry.md": twins})
    write(tmp_path, {"ferry.md": "import os\n\n\n" + twins})
    text = saved(quote="    return None", text=twins)

    assert verdict(tmp_path, text) == ("moved", "ferry.md:5")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"path": "../ferry.md"}, "refused", id="out-of-the-root"),
        pytest.param({"path": ""}, "missing file", id="mark-was-never-shown"),
        pytest.param({"start_char": -5}, "moved", id="impossible-offset"),
        pytest.param(
            {"start_char": PAGE.index(QUOTE) - len(PAGE), "end_char": PAGE.index(QUOTE) + len(QUOTE) - len(PAGE)},
            "moved",
            id="offsets-from-the-end",
        ),
    ],
)
def test_a_citation_that_cannot_be_right_is_not(tmp_path: Path, fields: dict[str, Any], expected: str) -> None:
    write(tmp_path, {"ferry.md": PAGE})

    assert verdict(tmp_path, saved(**fields))[0] == expected


@pytest.mark.parametrize("fields", [{"path": 3}, {"start_line": "1"}, {"mark": None}, {"end_char": True}])
def test_a_broken_field_is_an_error(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match="wrong kind"):
        check(tmp_path, saved(**fields))


def test_a_missing_field_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="lacks a field"):
        check(tmp_path, '{"answer": "x", "citations": [{}]}')


@pytest.mark.parametrize("text", ["", "text", "{}", "[1]", '{"answer": 1, "citations": []}', "{" * 9999, '{"a": 1}\nx'])
def test_what_is_no_answer_is_none(text: str) -> None:
    assert read_answers(text) == []


def test_answers_may_stand_one_a_line() -> None:
    answers = read_answers(f"{saved()}\n\n{saved()}\n")

    assert [answer.line for answer in answers] == [1, 3]


@pytest.mark.parametrize("style", [{}, {"indent": 2}, {"indent": 4, "ensure_ascii": False}, {"separators": (",", ":")}])
def test_moves_change_their_fields_and_nothing_else(style: dict[str, Any]) -> None:
    text = json.dumps(json.loads(saved()), **style) + "\n"
    (answer,) = read_answers(text)

    new = with_moves(text, answer, [CitationFields("boats.md", 4, 4, 14, 20)])

    assert new is not None
    changed = json.loads(new)["citations"][0]
    assert (changed["path"], changed["start_line"], changed["end_char"]) == ("boats.md", 4, 20)
    assert new.replace("boats.md", "ferry.md", 1).count("\n") == text.count("\n") - 1


def test_citations_that_stay_are_written_as_they_were() -> None:
    content = json.loads(saved())
    text = json.dumps(content | {"citations": content["citations"] * 2})
    (answer,) = read_answers(text)

    new = with_moves(text, answer, [None, CitationFields("boats.md", 4, 4, 14, 20)])

    assert new is not None
    assert [citation["path"] for citation in json.loads(new)["citations"]] == ["ferry.md", "boats.md"]
    assert json.loads(new)["citations"][0] == content["citations"][0]


def test_json_of_an_unknown_style_is_left_alone() -> None:
    text = saved().replace('"answer"', ' "answer"')
    (answer,) = read_answers(text)

    assert with_moves(text, answer, [None]) is None
