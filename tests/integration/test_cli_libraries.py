"""Libraries: what goes in, what is in, what comes out, and that nothing in them is old."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest

from openbook.index.protocol import Source
from openbook.library import Library
from openbook.settings import Settings
from tests.integration.support_cli import assert_fails_clearly, copy_sample, finish, only_library, run, settled, start
from tests.unit.sources.readers import pdf_files

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = copy_sample(tmp_path)
    monkeypatch.chdir(root)
    return root


def paths_found(capsys: Captured, *arguments: str | Path) -> set[str]:
    results = run(capsys, "search", *arguments, "--json", "--limit", "100").json["results"]
    return {result["path"] for result in results}


@pytest.mark.slow
def test_the_first_question_indexes_and_the_second_has_nothing_to_do(sample: Path, capsys: Captured) -> None:
    first = run(capsys, "ask", "Who lifts heavy parcels?")
    second = run(capsys, "ask", "Who lifts heavy parcels?")

    assert first.err.startswith("indexed harbour: 20 added in ")
    assert "2 secret" in first.err
    assert second.err == ""
    assert first.out == second.out


@pytest.mark.slow
def test_edited_new_moved_and_deleted_files_are_noticed_at_the_next_use(sample: Path, capsys: Captured) -> None:
    run(capsys, "search", "parcel")
    (sample / "docs" / "faq.md").write_text("# Questions\n\nGoats travel on deck.\n", encoding="utf-8")
    (sample / "docs" / "new.md").write_text("# Whales\n\nWhales travel beside the ship.\n", encoding="utf-8")
    (sample / "scanner" / "scanner.go").rename(sample / "scanner" / "reader.go")
    (sample / "locker" / "src" / "lib.rs").unlink()

    update = run(capsys, "search", "goats", "--json")
    found = paths_found(capsys, "parcel goats whales door")

    assert update.err.startswith("indexed harbour: 1 added, 1 changed, 1 renamed, 1 removed in ")
    assert update.json["results"][0]["text"].endswith("Goats travel on deck.")
    assert {"docs/faq.md", "docs/new.md", "scanner/reader.go"} <= found
    assert not {"scanner/scanner.go", "locker/src/lib.rs"} & found


def test_a_result_goes_by_the_name_that_was_asked_for(sample: Path, capsys: Captured) -> None:
    (sample / "ring.go").write_text("package ring\n\ntype Hasher int\n\nfunc (r *Ring) Locate() {}\n", encoding="utf-8")

    outcome = run(capsys, "search", "Ring.Locate", "--limit", "1")

    assert outcome.out.startswith(" 1. ring.go:1-5  Locate  ")
    assert "     5  func (r *Ring) Locate() {}\n" in outcome.out


@pytest.mark.slow
def test_a_file_that_is_ignored_from_now_on_is_forgotten(sample: Path, capsys: Captured) -> None:
    before = paths_found(capsys, "scanner label")
    with (sample / ".openbookignore").open("a", encoding="utf-8") as rules:
        rules.write("scanner/\n")

    after = paths_found(capsys, "scanner label")

    assert "scanner/scanner.go" in before
    assert "scanner/scanner.go" not in after


@pytest.mark.slow
def test_a_file_that_is_ignored_no_more_is_found(sample: Path, capsys: Captured) -> None:
    before = paths_found(capsys, "submarine")
    (sample / ".openbookignore").unlink()

    after = paths_found(capsys, "submarine")

    assert "drafts/submarine.md" not in before
    assert "drafts/submarine.md" in after


@pytest.mark.slow
def test_an_edited_file_is_never_cited_as_it_was(sample: Path, capsys: Captured) -> None:
    run(capsys, "ask", "How long are copies of the register kept?")
    file = sample / "docs" / "operations.md"
    file.write_text(file.read_text(encoding="utf-8").replace("ninety days", "one year"), encoding="utf-8")

    answer = run(capsys, "ask", "How long are copies of the register kept?", "--json").json

    quotes = " ".join(citation["quote"] for citation in answer["citations"])
    assert "kept for one year" in quotes
    assert "ninety" not in quotes
    assert {citation["verdict"] for citation in answer["citations"]} == {"exact"}


@pytest.mark.slow
def test_several_sources_in_one_library_are_asked_together(sample: Path, capsys: Captured) -> None:
    added = run(capsys, "add", "docs", "scanner", "--library", "island")

    results = run(capsys, "search", "label smudged", "--library", "island", "--json").json["results"]
    only = run(capsys, "search", "label", "--library", "island", "--source", "docs", "--json").json["results"]

    assert (added.code, added.out) == (0, "")
    assert {(result["source"], result["path"]) for result in results[:2]} == {
        ("docs", "operations.md"),
        ("scanner", "scanner.go"),
    }
    assert {result["source"] for result in only} == {"docs"}


@pytest.mark.slow
def test_sources_of_one_name_get_different_ones(tmp_path: Path, capsys: Captured) -> None:
    for parent, text in (("a", "Gulls sleep at sea."), ("b", "Gulls steal fish.")):
        (tmp_path / parent / "birds").mkdir(parents=True)
        (tmp_path / parent / "birds" / "gulls.md").write_text(text, encoding="utf-8")

    run(capsys, "add", tmp_path / "a" / "birds", tmp_path / "b" / "birds", "--library", "island")

    results = run(capsys, "search", "gulls", "--library", "island", "--json").json["results"]
    assert {result["source"] for result in results} == {"birds", "birds-2"}


def test_adding_again_changes_nothing_and_says_so(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs")

    outcome = run(capsys, "add", "docs")

    assert outcome.err == "docs: 3 documents, nothing changed\n"


@pytest.mark.slow
def test_a_library_that_a_question_makes_is_named_beside_those_there_are(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", sample, "--library", "notes")

    mistyped = run(capsys, "ask", "When does a parcel count as lost?", sample, "--library", "note")
    again = run(capsys, "ask", "When does a parcel count as lost?", sample, "--library", "note")

    assert "'note' is a new library; there are also: notes\n" in mistyped.err
    assert "new library" not in again.err


@pytest.mark.slow
def test_adding_without_a_path_adds_the_folder_here(sample: Path, capsys: Captured) -> None:
    run(capsys, "add")

    outcome = run(capsys, "sources")

    assert outcome.out.splitlines()[0].startswith("default: 20 documents, ")
    assert outcome.out.splitlines()[1] == f"  harbour  {sample}"


@pytest.mark.slow
def test_sources_lists_every_library(sample: Path, capsys: Captured) -> None:
    nothing = run(capsys, "sources")
    run(capsys, "add", "docs", "web", "--library", "island")
    run(capsys, "add", "scanner")

    outcome = run(capsys, "sources")

    assert (nothing.code, nothing.out) == (0, "")
    assert "no libraries in " in nothing.err
    assert [line.split()[0] for line in outcome.out.splitlines()] == ["default:", "scanner", "island:", "docs", "web"]


@pytest.mark.slow
def test_a_removed_source_is_found_no_more_and_its_files_stay(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "scanner", "--library", "island")

    outcome = run(capsys, "remove", "docs", "--library", "island")

    results = run(capsys, "search", "label backup", "--library", "island", "--json").json["results"]
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "removed docs\n")
    assert {result["source"] for result in results} == {"scanner"}
    assert (sample / "docs" / "operations.md").exists()


@pytest.mark.slow
def test_removing_what_is_not_there_is_wrong_usage_and_names_what_is(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "--library", "island")

    source = run(capsys, "remove", "dock", "--library", "island")
    library = run(capsys, "remove", "docs", "--library", "isle")

    assert_fails_clearly(source, 2, "'dock'", "hint: did you mean 'docs'? it has: docs")
    assert_fails_clearly(library, 2, "'isle'", "hint: did you mean 'island'? openbook sources")


@pytest.mark.slow
def test_status_tells_what_the_next_use_has_to_do(sample: Path, capsys: Captured) -> None:
    settled(sample)
    run(capsys, "ask", "Who lifts heavy parcels?")
    fresh = run(capsys, "status")
    (sample / "docs" / "faq.md").unlink()
    (sample / "docs" / "new.md").write_text("# New\n", encoding="utf-8")

    outcome = run(capsys, "status")

    assert outcome.code == 0
    assert "documents  20\n" in fresh.out
    assert "up to date\n" in fresh.out
    assert "2 skipped: secret\n" in fresh.out
    assert "2 files to look at\n" in outcome.out
    assert f"library    {only_library()}\n" in outcome.out


@pytest.mark.slow
def test_status_names_files_that_could_not_be_read_and_pages_without_text(sample: Path, capsys: Captured) -> None:
    (sample / "docs" / "half.pdf").write_bytes(pdf_files.pdf(pdf_files.text(pdf_files.FACT), pdf_files.picture))
    for number in range(4):
        (sample / "docs" / f"{number}.pdf").write_bytes(b"words")
    run(capsys, "add", "docs", "--library", "island")

    shown = run(capsys, "status", "--library", "island").out

    assert "4 skipped: not a PDF file (0.pdf, 1.pdf, 2.pdf, ...)\n" in shown
    assert "  half.pdf: no text on page 2\n" in shown


def test_status_names_every_file_that_is_not_indexed_with_the_reason_and_what_to_do(
    sample: Path, capsys: Captured
) -> None:
    for number in range(5):
        (sample / "docs" / f"{number}.bin").write_bytes(b"\0" * 9)
    (sample / "docs" / "strange\nname.pdf").write_bytes(b"words")
    run(capsys, "add", "--library", "island")

    shown = run(capsys, "status", "--library", "island", "--skipped").out

    assert "source     harbour: 8 files not indexed\n" in shown
    assert "  binary by name: nothing reads this format; save it as text, PDF or DOCX\n    docs/0.bin\n" in shown
    assert "    docs/4.bin\n" in shown
    assert "  not a PDF file\n    docs/strange\ufffdname.pdf\n" in shown
    assert "  secret: keys and passwords are never indexed; rename the file if it contains none\n" in shown


def test_what_is_too_large_is_named_with_the_setting_that_lets_it_in(
    sample: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBOOK_MAX_FILE_BYTES", "20000")
    (sample / "docs" / "manual.md").write_text("Words.\n" * 3_000, encoding="utf-8")

    added = run(capsys, "add", "docs", "--library", "island")
    status = run(capsys, "status", "--library", "island")
    every = run(capsys, "status", "--library", "island", "--skipped")

    named = "manual.md; OPENBOOK_MAX_FILE_BYTES can be raised"
    assert f"too large: {named}\n" in added.err
    assert f"1 skipped: too large ({named})\n" in status.out
    assert "  too large\n    manual.md: raise OPENBOOK_MAX_FILE_BYTES from 20000: it has 0.0 MB\n" in every.out


def test_status_of_a_folder_that_was_never_asked_makes_no_library(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "status")

    assert_fails_clearly(
        outcome, 2, "'.' is not indexed yet", "hint: run `openbook ask` or `openbook search` on it to index it"
    )
    assert run(capsys, "sources").out == ""


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "What is kept?", "--library", "hrabour"],
        ["search", "register", "--library", "hrabour"],
        ["courses", "--library", "hrabour"],
        ["mcp", "--library", "hrabour"],
        ["add", "--rebuild", "--library", "hrabour"],
    ],
    ids=lambda command: command[0],
)
def test_a_name_that_no_library_has_makes_none(sample: Path, capsys: Captured, command: list[str]) -> None:
    run(capsys, "add", "docs", "--library", "work")

    outcome = run(capsys, *command)

    assert_fails_clearly(outcome, 2, "there is no library 'hrabour'", "hint: openbook sources lists the libraries")
    assert "hrabour" not in run(capsys, "sources").out


@pytest.mark.slow
def test_a_source_that_is_gone_is_told_and_keeps_its_index(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "scanner", "--library", "island")
    shutil.move(sample / "docs", sample / "papers")

    asked = run(capsys, "ask", "How long are copies of the register kept?", "--library", "island", "--json")
    status = run(capsys, "status", "--library", "island")
    shutil.move(sample / "papers", sample / "docs")
    again = run(capsys, "search", "backup", "--library", "island")

    assert asked.code == 1
    assert asked.err.startswith(
        f"warning: the library was not updated: cannot read '{sample / 'docs'}': does not exist\n"
    )
    assert {citation["verdict"] for citation in asked.json["citations"] if citation["source"] == "docs"} == {"stale"}
    assert f"cannot read '{sample / 'docs'}': does not exist" in status.out
    assert again.code == 0
    assert again.err == ""


@pytest.mark.parametrize("place", ["papers/docs", "papers"], ids=["moved", "renamed"])
def test_a_folder_that_was_moved_is_added_with_how_to_forget_its_old_place(
    sample: Path, capsys: Captured, place: str
) -> None:
    run(capsys, "add", "docs", "scanner", "--library", "island")
    shutil.move(sample / "docs", sample / place)

    added = run(capsys, "add", sample / place, "--library", "island")
    run(capsys, "remove", "docs", "--library", "island")
    again = run(capsys, "add", sample / place, "--library", "island")

    command = "if it was moved, run: openbook remove docs --library island"
    assert f"{sample / 'docs'} is gone, and is still in the library; {command}\n" in added.err
    assert "is gone" not in again.err


def test_a_folder_that_cannot_be_reached_is_not_called_gone_and_hinders_no_other(
    sample: Path, capsys: Captured
) -> None:
    with Library.open("island", settings=Settings.from_env()) as library:
        library.index.put_root(Source("far", "folder", f"/{'x' * 300}"))  # fails even for root, as one of other users

    added = run(capsys, "add", "docs", "--library", "island")
    listed = run(capsys, "sources")

    assert (added.code, listed.code) == (0, 0)
    assert "gone" not in added.err + listed.out


def test_an_answer_of_which_nothing_is_there_any_more_is_a_failed_check(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", "docs", "--library", "island")
    shutil.move(sample / "docs", sample / "papers")

    asked = run(capsys, "ask", "How long are copies of the register kept?", "--library", "island")

    assert asked.code == 1
    assert "stale: the document is gone, or cannot be read" in asked.out
    assert "all of its citations are in conflict, missing or changed\nhint: update the library, and remove" in asked.err
    assert "hint: if it was moved, add it at its new path, and run: openbook remove docs --library island" in asked.err


def test_doctor_finds_everything_in_order(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "doctor")

    assert outcome.code == 0
    assert {line[:4] for line in outcome.out.splitlines()} == {"ok  "}
    for word in ("Python", "SQLite", "embedder static-", "grammars", "home "):
        assert word in outcome.out
    assert "(default)" not in outcome.out
    assert "max_file_bytes = 1048576  (default)" in run(capsys, "doctor", "--all").out


def test_doctor_tells_where_a_setting_comes_from(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBOOK_CONTEXT_TOKENS", "800")
    monkeypatch.setenv("OPENBOOK_SERVER_WORKER", "3")

    outcome = run(capsys, "doctor")

    assert "context_tokens = 800  (OPENBOOK_CONTEXT_TOKENS)" in outcome.out
    assert "FAIL  OPENBOOK_SERVER_WORKER is no setting; did you mean OPENBOOK_SERVER_WORKERS?" in outcome.out


def test_doctor_checks_the_store_of_several_servers_and_shows_no_password(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBOOK_SHARED_STORE", f"redis:unix://{tmp_path}/redis.sock")
    monkeypatch.setenv("OPENBOOK_MODEL", "http://ada:lovelace@127.0.0.1:1/v1#tiny")

    outcome = run(capsys, "doctor")

    assert outcome.code == 3
    assert f"FAIL  shared store: Redis at unix://{tmp_path}/redis.sock cannot be used: No such file" in outcome.out
    assert "model = http://***@127.0.0.1:1/v1#tiny  (OPENBOOK_MODEL)" in outcome.out
    assert "lovelace" not in outcome.out


def test_doctor_reports_a_home_that_cannot_be_used(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBOOK_HOME", "/dev/null/home")

    outcome = run(capsys, "doctor")

    assert outcome.code == 3
    assert "FAIL  home /dev/null/home cannot be written" in outcome.out


def test_doctor_reports_a_disk_that_is_full(capsys: Captured) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))

    try:
        outcome = run(capsys, "doctor")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert outcome.code == 3
    assert "cannot be written: File too large; free some space" in outcome.out


@pytest.mark.slow
def test_two_processes_may_ask_a_new_folder_at_once(sample: Path, capsys: Captured) -> None:
    processes = [start("search", "ParseLabel", "--json", cwd=sample) for _ in range(2)]

    one, other = (finish(process) for process in processes)

    assert (one.code, other.code) == (0, 0), (one.err, other.err)
    assert one.json["results"][0] == other.json["results"][0]
    assert run(capsys, "status").out.count("up to date") == 1


@pytest.mark.slow
def test_a_library_whose_header_is_damaged_is_not_said_to_be_deleted(sample: Path, capsys: Captured) -> None:
    run(capsys, "add", sample / "docs", "--library", "docs")
    [library] = Settings.from_env().home.glob("libraries/docs.sqlite")
    content = b"\0" * 4096 + library.read_bytes()[4096:]
    library.write_bytes(content)

    outcome = run(capsys, "remove", "--library", "docs")

    aside = library.with_name("docs.sqlite.aside-1")
    assert outcome.code == 0
    assert outcome.err == (
        f"the file there does not look like a library of Openbook; it is now {aside}: delete it if it was one\n"
    )
    assert aside.read_bytes() == content
    assert not library.exists()


def test_a_deleted_library_takes_the_texts_that_were_added_to_it_along(capsys: Captured) -> None:
    with Library.open("birds", settings=Settings.from_env()) as library:
        library.add_text("The owl hunts.", name="owl.md", metadata={"author": "Ada"})

    outcome = run(capsys, "remove", "--library", "birds")

    assert outcome.err == "deleted the library birds\n"
    assert not (Settings.from_env().home / "texts" / "birds").exists()


@pytest.mark.slow
def test_a_source_is_removed_from_the_only_library_that_has_it(sample: Path, capsys: Captured) -> None:
    run(capsys, "search", "parcel", "docs")

    outcome = run(capsys, "remove", "docs")

    assert outcome.code == 0
    assert "docs" not in run(capsys, "sources").out.replace(only_library().stem, "")


def test_a_source_that_several_libraries_have_is_not_removed_by_guess(sample: Path, capsys: Captured) -> None:
    for name in ("one", "two"):
        run(capsys, "add", "docs", "--library", name)

    assert_fails_clearly(run(capsys, "remove", "docs"), 2, "2 libraries have a source 'docs'", "one, two")


def test_an_unknown_source_is_wrong_usage(sample: Path, capsys: Captured) -> None:
    assert_fails_clearly(run(capsys, "search", "parcel", "docs", "--source", "nope"), 2, "no source 'nope'", "docs")


@pytest.mark.parametrize(
    "arguments", [("ask", "parcel", ""), ("search", "parcel", ""), ("add", ""), ("add", "docs", "--library", "")]
)
def test_an_unset_variable_of_the_shell_is_not_the_working_folder(
    sample: Path, capsys: Captured, arguments: tuple[str, ...]
) -> None:
    outcome = run(capsys, *arguments)

    assert (outcome.code, outcome.out) == (2, "")
    assert "is empty" in outcome.err


@pytest.mark.slow
def test_doctor_tells_of_a_library_that_cannot_be_used(sample: Path, capsys: Captured) -> None:
    run(capsys, "search", "parcel")
    only_library().write_bytes(b"no database at all, but long enough to be looked at" * 100)

    outcome = run(capsys, "doctor")

    assert outcome.code == 3
    assert "FAIL" in outcome.out
    assert "openbook add --rebuild" in outcome.out
