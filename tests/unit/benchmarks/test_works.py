"""Which collections a work is made of, from packages that the cache already holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import works
from benchmarks.archives import Archive, ChangedArchiveError, unpacked
from benchmarks.works import BrokenCaseError, Question
from openbook.evals.metrics import ExpectedSpan


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache that holds one source distribution with its code below `src`."""
    folder = tmp_path / "packages" / "pypi-source" / "click-1.0"
    for name in ("src/click/core.py", "tests/test_core.py", "docs/api.md"):
        file = folder / "click-1.0" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text\n", encoding="utf-8")
    folder.with_name("click-1.0.sha256").write_text("ab", encoding="ascii")
    return tmp_path


def _case(folder: Path, **changes: object) -> Path:
    case = {
        "language": "python", "name": "click", "registry": "pypi", "package": "click", "version": "1.0",
        "sha256": "ab", "root": "src/click", "mixed": ".",
        "questions": [
            {"query": "in the code", "relevant": ["src/click/core.py"], "category": "semantic"},
            {"query": "in the tests", "relevant": ["tests/test_core.py"], "category": "semantic"},
        ],
    }  # fmt: skip
    folder.mkdir()
    (folder / "python-click.json").write_text(json.dumps(case | changes), encoding="utf-8")
    return folder


def test_a_mixed_case_is_indexed_from_the_folder_that_its_paths_count_from(cache: Path, tmp_path: Path) -> None:
    (collection,) = works.own_cases(cache, mixed=True, cases=_case(tmp_path / "cases")).collections

    assert collection.folder.name == "click-1.0"
    assert [question.wanted for question in collection.questions] == [
        (ExpectedSpan("src/click/core.py"),),
        (ExpectedSpan("tests/test_core.py"),),
    ]


def test_a_case_on_code_alone_leaves_out_what_is_not_in_its_folder(cache: Path, tmp_path: Path) -> None:
    (collection,) = works.own_cases(cache, mixed=False, cases=_case(tmp_path / "cases")).collections

    assert collection.questions == (Question("in the code", (ExpectedSpan("core.py"),)),)


def test_a_case_that_wants_a_file_that_is_not_there_is_an_error(cache: Path, tmp_path: Path) -> None:
    broken = [{"query": "gone", "relevant": ["src/click/gone.py"], "category": "semantic"}]

    with pytest.raises(BrokenCaseError, match="is not in"):
        works.own_cases(cache, mixed=True, cases=_case(tmp_path / "cases", questions=broken))


def test_another_archive_than_the_pinned_one_is_refused(cache: Path) -> None:
    with pytest.raises(ChangedArchiveError, match="another file"):
        unpacked(Archive("pypi-source", "click", "1.0", sha256="cd"), cache)


def test_halves_part_the_questions_of_each_collection_by_their_position() -> None:
    questions = [(Question(text, ()), ()) for text in "abcde"]

    parts = {name: [question.text for question, _ in part[0]] for name, part in works.halves([questions])}

    assert parts == {"all": list("abcde"), "tuning": ["a", "c", "e"], "held": ["b", "d"]}


@pytest.mark.parametrize("mixed", [True, False], ids=["whole", "code"])
@pytest.mark.parametrize("named", ["Main.hs", "src/Main.hs"], ids=["below-the-code", "below-the-checkout"])
def test_the_paths_of_a_topic_are_read_from_the_folder_that_has_most_of_them(
    tmp_path: Path, named: str, *, mixed: bool
) -> None:
    data, checkout = tmp_path / "code-search-wide", tmp_path / "checkouts" / "xmonad"
    for file in (checkout / "Main.hs", checkout / "src" / "Main.hs", checkout / "src" / "Core.hs"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("main = launch\n", encoding="utf-8")
    (data / "annotations").mkdir(parents=True)
    repository = {"name": "xmonad", "repository": "xmonad/xmonad", "root": "src", "language": "haskell"}
    other = named.replace("Main", "Core")
    topics = [{"query": "startup", "relevant": [named], "secondary": [{"path": other}]}]
    (data / "repositories.json").write_text(json.dumps([repository]), encoding="utf-8")
    (data / "annotations" / "xmonad.json").write_text(json.dumps(topics), encoding="utf-8")

    (collection,) = works.code_search_wide(tmp_path, tmp_path / "checkouts", mixed=mixed).collections

    below = "src/" if mixed else ""
    wanted = (ExpectedSpan(f"{below}Main.hs"), ExpectedSpan(f"{below}Core.hs"))
    assert collection.questions == (Question("startup", wanted),)
