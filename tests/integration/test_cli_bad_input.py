"""Bad questions, bad paths and bad files: each gets a clear answer, and none stops the rest."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.support_cli import assert_fails_clearly, run, run_alone

Captured = pytest.CaptureFixture[str]

WHALES = "# Whales\n\nWhales sing below the ferry at night.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one good file, which every test must still find."""
    root = tmp_path / "island"
    root.mkdir()
    (root / "whales.md").write_text(WHALES, encoding="utf-8")
    return root


def skipped(err: str) -> str:
    return err.partition(" skipped (")[2].partition(")")[0]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        pytest.param("", "the question is empty", id="empty"),
        pytest.param(" \t\n\u3000", "the question is empty", id="blank"),
        pytest.param("?! ... --- ;)", "contains no word to search for", id="punctuation"),
        pytest.param("🚢🐋", "contains no word to search for", id="pictures"),
        pytest.param("whales" * 16_667, "100,002 characters long; at most 20,000", id="too-long"),
    ],
)
@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_that_cannot_be_asked_is_wrong_usage(
    folder: Path, capsys: Captured, command: str, question: str, words: str
) -> None:
    outcome = run(capsys, command, "--", question, folder)

    assert_fails_clearly(outcome, 2, words)
    assert len(outcome.err) < 500


@pytest.mark.parametrize("command", ["ask", "search"])
def test_an_unquoted_word_that_is_taken_as_a_path_is_named(folder: Path, capsys: Captured, command: str) -> None:
    (folder / "docs").mkdir()

    outcome = run(capsys, command, "where", "are", "docs", cwd=folder)
    quoted = run(capsys, command, "where are the", "docs", cwd=folder)

    assert_fails_clearly(outcome, 2, "'docs' was taken as a path", 'quote the question: "where are docs"')
    assert_fails_clearly(quoted, 2, "the question 'where are the' contains no word to search for\n")


@pytest.mark.parametrize(
    ("words", "is_told"),
    [
        pytest.param(["why", "watch", "whales"], True, id="plain"),
        pytest.param(["why", "watch", "./whales"], False, id="written-as-a-path"),
        pytest.param(["why watch", "whales"], False, id="behind-a-quoted-question"),
        pytest.param(["watch", "whales"], False, id="behind-one-word"),
        pytest.param(["who", "sees", "the", "whales"], False, id="behind-an-article-it-is-a-word"),
    ],
)
def test_a_plain_word_that_narrows_an_unquoted_question_is_told(
    folder: Path, capsys: Captured, words: list[str], *, is_told: bool
) -> None:
    (folder / "whales").mkdir()
    (folder / "whales" / "a.md").write_text("Watch the whales from the pier.\n", encoding="utf-8")
    (folder / "b.md").write_text("The pier sees the whales.\n", encoding="utf-8")

    outcome = run(capsys, "search", *words, "--json", cwd=folder)

    assert ("searching in 'whales'" in outcome.err) == is_told
    assert ("quote the question" in outcome.err) == is_told
    assert (len(outcome.json["results"]) > 1) == ("the" in words)


@pytest.mark.parametrize(
    ("arguments", "proposed"),
    [
        pytest.param(["ask", "--modle"], " (Possible options: --model)", id="exchanged"),
        pytest.param(["ask", "--nope"], "", id="none-is-like-it"),
        pytest.param(["keys", "add", "--nope"], "", id="of-a-group"),
    ],
)
def test_an_unknown_option_is_answered_with_those_that_are_like_it(
    capsys: Captured, arguments: list[str], proposed: str
) -> None:
    outcome = run(capsys, *arguments, "whales")

    assert outcome.code == 2
    assert outcome.err.endswith(f"No such option: {arguments[-1]}{proposed}\n")


@pytest.mark.slow
def test_a_search_for_what_occurs_nowhere_says_so(folder: Path, capsys: Captured) -> None:
    assert "No source mentions 'zanfeldt'." in run(capsys, "search", "zanfeldt", folder).err
    assert "No source" not in run(capsys, "search", "whales of zanfeldt", folder).err
    issue = "The crane fails\n\n" + "It lifted before. " * 20 + "\n\nzanfeldt_error is all it says."
    assert "No source" not in run(capsys, "search", issue, folder).err
    assert 'No result has "whales of zan" as written.' in run(capsys, "search", 'why "whales of zan"', folder).err


def test_a_quoted_text_that_stands_nowhere_finds_nothing(folder: Path, capsys: Captured) -> None:
    outcome = run(capsys, "search", '"whales of zan"', folder, "--json")

    assert outcome.code == 1
    note = 'No document has "whales of zan" as written.'
    assert outcome.json == {"query": '"whales of zan"', "results": [], "note": note}
    assert note in outcome.err
    assert "search without the quotation marks" in outcome.err


def test_a_search_for_a_file_does_not_say_that_its_name_occurs_nowhere(folder: Path, capsys: Captured) -> None:
    (folder / "zanfeldt.conf").write_text("retry = 3\n", encoding="utf-8")

    outcome = run(capsys, "search", "zanfeldt.conf", folder)

    assert "zanfeldt.conf" in outcome.out
    assert "No source" not in outcome.err


def test_a_name_that_is_empty_has_no_references(folder: Path, capsys: Captured) -> None:
    outcome = run(capsys, "references", "", folder)

    assert_fails_clearly(outcome, 2, "the name is empty; is a shell variable unset?")


def test_a_pattern_has_no_references(folder: Path, capsys: Captured) -> None:
    outcome = run(capsys, "references", ".*depth", folder)

    assert_fails_clearly(outcome, 2, "that is a pattern, and names are found whole; use grep")


def test_nothing_is_indexed_for_a_question_that_cannot_be_asked(folder: Path, capsys: Captured) -> None:
    run(capsys, "ask", "", folder)

    assert run(capsys, "sources").out == ""


@pytest.mark.slow
def test_a_very_long_question_is_asked_by_its_rarest_words(folder: Path, capsys: Captured) -> None:
    question = " ".join(f"word{number}" for number in range(1500)) + " whales sing"

    outcome = run(capsys, "search", question, folder, "--json")

    assert outcome.json["results"][0]["path"] == "whales.md"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("whales", 'line 3: not of the form {"query": "..."}', id="no-json"),
        pytest.param('{"question": "whales"}', 'line 3: not of the form {"query": "..."}', id="no-query"),
        pytest.param('["whales"]', 'line 3: not of the form {"query": "..."}', id="a-list"),
        pytest.param('{"query": null}', "line 3: the query must be a string", id="null"),
        pytest.param('{"query": 42}', "line 3: the query must be a string", id="a-number"),
        pytest.param('{"query": "?"}', "line 3: the question '?' contains no word to search for", id="no-word"),
        pytest.param("[" * 100_000, 'line 3: not of the form {"query": "..."}', id="deep"),
    ],
)
def test_a_bad_line_of_queries_is_named_by_its_number(folder: Path, capsys: Captured, line: str, words: str) -> None:
    file = folder / "queries.jsonl"
    file.write_text(f'{{"query": "whales"}}\n\n{line}\n', encoding="utf-8")

    outcome = run(capsys, "search", "--queries", file, folder)

    assert_fails_clearly(outcome, 2, words, str(file))


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_file_without_queries_finds_nothing(folder: Path, capsys: Captured, content: bytes) -> None:
    file = folder / "queries.jsonl"
    file.write_bytes(content)

    outcome = run(capsys, "search", "--queries", file, folder)

    assert (outcome.code, outcome.out) == (1, "")
    assert "nothing found\nhint: " in outcome.err


@pytest.mark.parametrize("name", ["missing.jsonl", "island", "latin.jsonl"])
def test_queries_that_cannot_be_read_are_wrong_usage(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(folder.parent)
    (folder.parent / "latin.jsonl").write_bytes(b'{"query": "Gr\xf6\xdfe"}\n')

    outcome = run(capsys, "search", "--queries", name)

    assert_fails_clearly(outcome, 2, "--queries", f"cannot read '{name}'")


@pytest.mark.parametrize("arguments", [[], ["ask"], ["search"], ["remove"], ["fly"], ["ask", "x", "--fly"]])
def test_a_command_that_is_not_complete_is_wrong_usage(capsys: Captured, arguments: list[str]) -> None:
    outcome = run(capsys, *arguments)

    assert outcome.code == 2
    assert "Usage: openbook" in outcome.out + outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("path", ["missing", "~nobody-of-that-name/x", "loop", "x" * 300, "whales.md/x"])
def test_a_path_that_does_not_exist_is_wrong_usage(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "loop").symlink_to("loop")

    for command in (["ask", "Do whales sing?"], ["search", "whale song"], ["add"], ["status"]):
        assert_fails_clearly(run(capsys, *command, path), 3 if len(path) > 255 else 2, "cannot read")
    assert run(capsys, "sources").out == ""


def test_one_missing_path_of_several_is_told_before_anything_is_indexed(folder: Path, capsys: Captured) -> None:
    outcome = run(capsys, "add", folder, folder / "missing", "--library", "island")

    assert_fails_clearly(outcome, 2, "missing': does not exist")
    assert run(capsys, "sources").out == ""


@pytest.mark.parametrize("name", ["../escape", "a/b", ".hidden/..", "x" * 101, "a\0b"])
def test_a_name_that_no_file_can_have_is_no_library(folder: Path, capsys: Captured, name: str) -> None:
    outcome = run(capsys, "add", folder, "--library", name)

    assert_fails_clearly(outcome, 2, "is not a valid library name")


def test_an_empty_folder_holds_nothing_to_read(tmp_path: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "Do whales sing?", tmp_path)

    assert (outcome.code, outcome.out) == (1, "")
    assert f"there is nothing to read in {tmp_path}\nhint: " in outcome.err
    assert run(capsys, "sources").out == ""


@pytest.mark.parametrize("command", ["ask", "search"])
def test_an_empty_folder_has_a_result_in_json_too(tmp_path: Path, capsys: Captured, command: str) -> None:
    outcome = run(capsys, command, "whales", tmp_path, "--json")

    assert outcome.code == 1
    assert outcome.json["reason" if command == "ask" else "results"] == ("empty library" if command == "ask" else [])
    assert "there is nothing to read" in outcome.err


@pytest.mark.slow
def test_a_folder_with_only_binaries_says_what_was_skipped(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "engine").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "big.txt").write_bytes(b"a" * 1_100_000)

    outcome = run(capsys, "ask", "Do whales sing?", tmp_path)

    assert (outcome.code, outcome.out) == (1, "")
    assert "there is nothing to read" in outcome.err
    assert "3 skipped (1 binary, 1 binary by name, 1 too large)" in outcome.err


@pytest.mark.slow
def test_a_folder_that_cannot_be_read_is_a_failure(folder: Path) -> None:
    folder.chmod(0o000)

    outcome = run_alone("ask", "Do whales sing?", folder, unprivileged=True)
    folder.chmod(0o755)

    assert_fails_clearly(outcome, 3, str(folder), "ermission")


@pytest.mark.slow
def test_a_library_answers_while_its_folder_cannot_be_read(folder: Path) -> None:
    (folder / "sea").mkdir()
    (folder / "sea" / "sharks.md").write_text("# Sharks\n\nSharks hunt at night.\n", encoding="utf-8")
    run_alone("add", folder, "--library", "sea")
    folder.chmod(0o000)

    outcome = run_alone("ask", "When do sharks hunt?", "--library", "sea", unprivileged=True)
    folder.chmod(0o755)

    assert outcome.code == 1
    assert "stale: the document is gone, or cannot be read" in outcome.out
    assert "the library was not updated" in outcome.err


@pytest.mark.slow
def test_a_file_and_a_folder_that_cannot_be_read_are_skipped(folder: Path) -> None:
    (folder / "locked.md").write_text(WHALES, encoding="utf-8")
    (folder / "locked.md").chmod(0o000)
    (folder / "cellar").mkdir(mode=0o000)

    outcome = run_alone("ask", "Do whales sing?", folder, unprivileged=True)
    (folder / "cellar").chmod(0o755)

    assert outcome.code == 0
    assert skipped(outcome.err) == "1 unreadable, 1 unreadable folder"


def _pipe(file: Path) -> None:
    os.mkfifo(file)


def _link_out(file: Path) -> None:
    outside = file.parent.parent / "outside.md"
    outside.write_text("# Sharks\n\nSharks hunt outside of the island.\n", encoding="utf-8")
    file.symlink_to(outside)


def _loop(file: Path) -> None:
    file.symlink_to(file.name)


def _folder_loop(file: Path) -> None:
    file.symlink_to(file.parent, target_is_directory=True)


def _broken_link(file: Path) -> None:
    file.symlink_to("nowhere.md")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(_pipe, "1 not a regular file", id="pipe"),
        pytest.param(_link_out, "1 link out of root", id="link-out"),
        pytest.param(_loop, "1 link in the source", id="loop"),
        pytest.param(_folder_loop, "1 link in the source", id="folder-loop"),
        pytest.param(_broken_link, "1 link in the source", id="broken-link"),
    ],
)
def test_what_is_no_file_of_the_folder_is_skipped(
    folder: Path, capsys: Captured, make: Callable[[Path], None], reason: str
) -> None:
    make(folder / "odd.md")

    outcome = run(capsys, "search", "whales sharks", folder, "--json")

    assert [result["path"] for result in outcome.json["results"]] == ["whales.md"]
    assert skipped(outcome.err) == reason


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param("Größe der Wale".encode("latin-1") * 5, "der Wale", id="latin-1"),
        pytest.param(b"whales \xff\xfe\xfa and dolphins\n", "and dolphins", id="invalid-utf-8"),
        pytest.param("Wale und Delfine\n".encode("utf-16"), "Wale und Delfine", id="utf-16"),
        pytest.param("Wale und Delfine\n".encode("utf-8-sig"), "Wale und Delfine", id="utf-8-mark"),
        pytest.param(b"whales\r\nand\r\ndolphins\r\n", "whales\r\nand\r\ndolphins", id="crlf"),
    ],
)
def test_text_in_any_encoding_is_read(folder: Path, capsys: Captured, content: bytes, found: str) -> None:
    (folder / "odd.txt").write_bytes(content)

    outcome = run(capsys, "search", "Wale whales dolphins Delfine", folder, "--json")

    assert outcome.code == 0
    assert found in "".join(result["text"] for result in outcome.json["results"] if result["path"] == "odd.txt")


@pytest.mark.slow
def test_a_file_with_null_bytes_is_binary(folder: Path, capsys: Captured) -> None:
    (folder / "odd.txt").write_bytes(b"whales\0dolphins\0" * 100)

    outcome = run(capsys, "search", "whales dolphins", folder)

    assert outcome.code == 0
    assert skipped(outcome.err) == "1 binary"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("line.txt", "whales sing " * 83_000, id="one-line-of-a-megabyte"),
        pytest.param("line.min", "whales" * 170_000, id="one-word-of-a-megabyte"),
        pytest.param("deep.py", "x = " + "(" * 50_000 + "whales" + ")" * 50_000, id="deep-python"),
        pytest.param("deep.js", "{" * 100_000 + "whales()" + "}" * 100_000, id="deep-javascript"),
        pytest.param("deep.json", "[" * 100_000 + '"whales"' + "]" * 100_000, id="deep-json"),
        pytest.param("deep.html", "<div>" * 50_000 + "whales", id="deep-html"),
        pytest.param("deep.md", "> " * 50_000 + "whales", id="deep-markdown"),
        pytest.param("deep.ipynb", "[" * 100_000, id="deep-notebook"),
        pytest.param("blank.md", "\n \t\n" * 1000, id="blank"),
        pytest.param("empty.py", "", id="empty"),
    ],
)
def test_a_file_of_strange_shape_stops_nothing(folder: Path, capsys: Captured, name: str, content: str) -> None:
    (folder / name).write_text(content, encoding="utf-8")

    outcome = run(capsys, "search", "Whales sing below the ferry", folder, "--json", "--limit", "100")

    assert outcome.code == 0
    assert "whales.md" in {result["path"] for result in outcome.json["results"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a whale.md", "a\nwhale.md", "🐋.md", "-x.md", "a'b\"c.md", "A\u0308.md", "[b].md"])
def test_a_file_may_have_any_name_that_is_text(folder: Path, capsys: Captured, name: str) -> None:
    (folder / name).write_text("# Narwhals\n\nNarwhals carry a tusk of two metres.\n", encoding="utf-8")

    answer = run(capsys, "ask", "How long is the tusk of narwhals?", folder, "--json")
    people = run(capsys, "ask", "How long is the tusk of narwhals?", folder)

    assert [citation["path"] for citation in answer.json["citations"]] == [name]
    assert answer.json["citations"][0]["verdict"] == "exact"
    assert name.replace("\n", "\N{REPLACEMENT CHARACTER}") in people.out


@pytest.mark.slow
def test_a_name_that_is_no_text_is_skipped(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff\x1b]0;x.md")).write_text(WHALES, encoding="utf-8")
    Path(os.fsdecode(os.fsencode(folder) + b"/cave\xff")).mkdir()

    outcome = run_alone("search", "whales", folder)

    assert outcome.code == 0
    assert skipped(outcome.err) == "2 name is not UTF-8"
    assert "\udcff" not in outcome.out + outcome.err


@pytest.mark.slow
def test_a_folder_whose_path_is_no_text_is_a_failure(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/cave\xff"))
    folder.mkdir()

    outcome = run_alone("ask", "Do whales sing?", folder)

    assert_fails_clearly(outcome, 3, "its path is not UTF-8")


@contextmanager
def _restless(change: Callable[[int], None]) -> Iterator[None]:
    """Change something again and again while the body runs."""
    ended = threading.Event()

    def work() -> None:
        number = 0
        while not ended.is_set():
            change(number)
            number += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.slow
def test_a_file_that_changes_while_it_is_read_is_taken_whole_or_not_at_all(folder: Path, capsys: Captured) -> None:
    texts = [f"# Seal {letter}\n\n" + f"The seal sleeps on rock {letter}.\n" * 3000 for letter in "ab"]

    def change(number: int) -> None:
        (folder.parent / "new").write_text(texts[number % 2], encoding="utf-8")
        (folder.parent / "new").replace(folder / "seal.md")

    with _restless(change):
        outcomes = [run(capsys, "search", "seal sleeps", folder, "--json", "--limit", "100") for _ in range(5)]

    for outcome in outcomes:
        assert outcome.code in (0, 1)
        found = [result["text"] for result in outcome.json["results"] if result["path"] == "seal.md"]
        assert all(text in texts[0] for text in found) or all(text in texts[1] for text in found)


@pytest.mark.slow
def test_files_that_grow_and_vanish_while_they_are_read_stop_nothing(folder: Path, capsys: Captured) -> None:
    def change(number: int) -> None:
        file = folder / f"log{number % 5}.txt"
        with file.open("a", encoding="utf-8") as log:
            log.write("The log of the whale watchers goes on.\n")
        if number % 3 == 0:
            file.unlink()

    with _restless(change):
        outcomes = [run(capsys, "ask", "Do whales sing below the ferry?", folder) for _ in range(5)]
    last = run(capsys, "status", folder)

    assert [outcome.code for outcome in outcomes] == [0] * 5
    assert all("whales.md:3 " in outcome.out for outcome in outcomes)
    assert last.code == 0
