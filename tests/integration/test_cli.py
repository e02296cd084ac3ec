"""Asking and searching, as people do it on a terminal and programs do it through JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from openbook.answers import GenerationResult
from openbook.usage import Usage
from tests.integration.support_cli import SECRET, copy_sample, run, run_alone

RESULT_KEYS = ["source", "path", "start_line", "end_line", "start_char", "end_char"]
RESULT_KEYS += ["kind", "language", "symbol", "anchor", "score", "text"]
CITATION_KEYS = [
    *("mark", "source", "path", "start_line", "end_line", "start_char", "end_char", "label", "anchor"),
    *("quote", "verdict", "reason", "claim", "url"),
]

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a copy of the sample and a home whose library holds it."""
    root, home = copy_sample(tmp_path_factory.mktemp("sample")), tmp_path_factory.mktemp("home")
    assert run_alone("search", "parcel", root, env={"OPENBOOK_HOME": str(home)}).code == 0
    return root, home


@pytest.fixture
def sample(indexed: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder that is indexed already and that no test changes."""
    root, home = indexed
    monkeypatch.setenv("OPENBOOK_HOME", str(home))
    monkeypatch.chdir(root)
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "path", "words"),
    [
        ("When does a parcel count as lost?", "harbour/parcels.py", "nobody has seen it for LOST_AFTER_DAYS"),
        ("How long are copies of the register kept?", "docs/operations.md", "Copies are kept for ninety days"),
        ("After how many wrong codes does a door stay shut?", "locker/src/lib.rs", "MAX_FAILURES: u32 = 5"),
        ("What does the captain sign before the ferry leaves?", "docs/glossary.rst", "signed by the captain"),
        ("How is the crane driver called?", "courses/quay.txt", "ringing the brass bell twice"),
        ("How many digits has the number on the receipt?", "web/index.html", "eleven digits"),
        ("What did the median parcel weigh last winter?", "notebooks/weights.ipynb", "1.8 kilograms"),
        ("What is the port of the server?", "config/limits.toml", "port = 8420"),
    ],
)
def test_a_question_is_answered_from_the_file_that_knows(
    sample: Path, capsys: Captured, question: str, path: str, words: str
) -> None:
    answer = run(capsys, "ask", question, "--json").json

    assert not answer["refused"]
    assert words in " ".join(citation["quote"] for citation in answer["citations"] if citation["path"] == path)


@pytest.mark.slow
def test_every_citation_is_the_exact_place_in_the_file(sample: Path, capsys: Captured) -> None:
    answer = run(capsys, "ask", "When does a parcel count as lost, and who lifts heavy parcels?", "--json").json

    assert answer["citations"]
    for citation in answer["citations"]:
        text = (sample / citation["path"]).read_bytes().decode("utf-8")
        start, end = citation["start_char"], citation["end_char"]
        assert text[start:end] == citation["quote"]
        assert 1 + text.count("\n", 0, start) == citation["start_line"]
        assert 1 + text.count("\n", 0, end - 1) == citation["end_line"]
        assert citation["verdict"] == "exact"
        assert citation["mark"] in answer["answer"]


def test_an_answer_in_json_has_the_promised_shape(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "When does a parcel count as lost?", "--json")

    answer = outcome.json
    assert outcome.out.count("\n") == 1
    assert list(answer) == list(GenerationResult("", "").to_dict())
    # A line of code that is pointed to has no indentation.
    quotes = [citation["quote"] for citation in answer["citations"]]
    assert [claim["text"].strip() for claim in answer["claims"]] == [quote.strip() for quote in quotes]
    assert [list(citation) for citation in answer["citations"]] == [CITATION_KEYS] * len(answer["citations"])
    assert all(list(source) == ["number", *RESULT_KEYS] for source in answer["sources"])
    assert answer["model"] == "extractive"
    assert answer["usage"] == asdict(Usage())
    assert answer["cost_usd"] == 0
    assert answer["took_ms"] > 0


def test_results_in_json_have_the_promised_shape(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "search", "ParseLabel", "--json")

    found = outcome.json
    assert list(found) == ["query", "results"]
    assert all([key for key in result if key != "excerpt"] == RESULT_KEYS for result in found["results"])
    best = found["results"][0]
    excerpt = best["excerpt"]
    assert list(excerpt) == ["text", "start_line", "end_line", "matches"]
    assert excerpt["text"] in best["text"]
    assert "ParseLabel" in [excerpt["text"][start:end] for start, end in excerpt["matches"]]
    assert (best["path"], best["kind"], best["language"]) == ("scanner/scanner.go", "code", "go")
    assert "func ParseLabel" in best["text"]
    assert best["source"] == "harbour"


def test_results_come_best_first(sample: Path, capsys: Captured) -> None:
    results = run(capsys, "search", "parcel", "--json").json["results"]

    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
def test_a_view_lists_each_file_once_or_its_passages(sample: Path, capsys: Captured) -> None:
    def paths(question: str, *options: str) -> list[str]:
        found = run(capsys, "search", question, "--json", "--limit", "100", *options).json["results"]
        return [result["path"] for result in found]

    files, passages = paths("parcel", "--view", "files"), paths("parcel", "--view", "passages")

    assert len(set(files)) == len(files)
    assert set(files) == set(passages)
    assert len(passages) > len(files)
    assert paths("parcel") == paths("parcel", "--view", "auto") == files
    assert paths("How is a parcel lost?") == paths("How is a parcel lost?", "--view", "passages")


@pytest.mark.slow
@pytest.mark.parametrize("view", ["", "file", "FILES"])
def test_an_unknown_view_is_wrong_usage_and_the_known_ones_are_named(sample: Path, capsys: Captured, view: str) -> None:
    outcome = run(capsys, "search", "parcel", "--view", view)

    assert outcome.code == 2
    assert "--view" in outcome.err
    assert f"{view!r} is not valid; choose from auto, files, passages" in outcome.err
    assert outcome.out == ""


@pytest.mark.slow
@pytest.mark.parametrize("view", ["files", "passages"])
def test_signals_in_json_are_there_on_request_and_sum_to_the_score(sample: Path, capsys: Captured, view: str) -> None:
    plain = run(capsys, "search", "lost parcel", "--json", "--view", view).json["results"]
    explained = run(capsys, "search", "lost parcel", "--json", "--view", view, "--explain").json["results"]

    assert [set(result) - {"signals"} for result in explained] == [set(result) for result in plain]
    assert [{**result, "signals": None} for result in plain] == [{**result, "signals": None} for result in explained]
    assert any("role" in result["signals"] for result in explained)
    for result in explained:
        assert sum(result["signals"].values()) == pytest.approx(result["score"], abs=1e-5)


@pytest.mark.slow
def test_queries_of_a_file_can_be_explained_and_viewed(sample: Path, capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"query": "parcel"}\n', encoding="utf-8")

    (plain,) = run(capsys, "search", "--queries", file, "--view", "passages").lines
    (explained,) = run(capsys, "search", "--queries", file, "--view", "passages", "--explain").lines

    assert all(list(result) == [*RESULT_KEYS[:-1], "excerpt", "text"] for result in plain["results"])
    assert all(result["signals"] for result in explained["results"])
    paths = [result["path"] for result in plain["results"]]
    assert len(set(paths)) < len(paths)


@pytest.mark.slow
def test_signals_for_people_stand_below_their_result_strongest_first(sample: Path, capsys: Captured) -> None:
    plain = run(capsys, "search", "lost parcel").out.splitlines()
    explained = run(capsys, "search", "lost parcel", "--explain").out.splitlines()

    heads = [number for number, line in enumerate(explained) if re.match(r" ?\d+\. ", line)]
    assert heads
    for number in heads:
        score = float(explained[number].rpartition("  ")[2])
        values = [float(value) for value in re.findall(r"[a-z]+ ([+-]\d+\.\d{3})", explained[number + 1])]
        assert sum(values) == pytest.approx(score, abs=0.005)
        assert [abs(value) for value in values] == sorted((abs(value) for value in values), reverse=True)
    assert [line for number, line in enumerate(explained) if number - 1 not in heads] == plain


def test_a_question_beside_the_topic_is_refused_with_the_nearest_places(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "What is the recipe for sourdough bread?")

    assert outcome.code == 1
    assert outcome.out.startswith("The sources do not answer this")
    assert "'sourdough'" in outcome.out
    assert "Nearest:\n  " in outcome.out
    assert outcome.err.endswith("no answer: nothing relevant\n")


def test_a_question_that_no_model_is_asked_names_what_lets_it_search(sample: Path, capsys: Captured) -> None:
    key = {"ANTHROPIC_API_KEY": "sk-any"}

    asked = run(capsys, "ask", "Who painted the Mona Lisa?", "--model", "anthropic", cwd=sample, env=key)

    assert asked.code == 1
    assert asked.err.endswith("hint: the model was not asked to answer; with --agent, it searches in its own words\n")


def test_a_refusal_in_json_says_so(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "What is the recipe for sourdough bread?", "--json")

    answer = outcome.json
    assert outcome.code == 1
    assert answer["refused"]
    assert answer["citations"] == []
    assert answer["sources"]
    assert answer["reason"] == "nothing relevant"


def test_an_answer_for_people_names_its_places_from_here(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "How long are copies of the register kept?")

    answer, _, places = outcome.out.partition("\nSources:\n")
    assert "Copies are kept for ninety days" in answer
    assert "docs/operations.md:5" in places
    assert "exact" in places


def test_places_below_the_working_folder_are_relative_and_others_absolute(
    sample: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = run(capsys, "search", "ParseLabel", sample, "--limit", "1").out
    monkeypatch.chdir(sample / "docs")
    beside = run(capsys, "search", "ParseLabel", sample, "--limit", "1").out

    assert " scanner/scanner.go:1-" in above
    assert f" {sample.as_posix()}/scanner/scanner.go:1-" in beside


def test_an_excerpt_on_request_has_the_lines_of_the_file(sample: Path, capsys: Captured) -> None:
    plain = run(capsys, "search", "restore_register", "--limit", "1").out
    shown = run(capsys, "search", "restore_register", "--limit", "1", "--show").out

    assert len(plain.splitlines()) == 4
    assert len(shown.splitlines()) > 4
    assert '     7      pg_restore --clean --dbname register "/lighthouse/register-$day.dump"\n' in shown


def test_an_answer_shows_its_sources_in_full_on_request(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "After how many wrong codes does a door stay shut?", "--show")

    assert "\nlocker/src/lib.rs:1-" in outcome.out
    assert "     1  //! Firmware of the parcel lockers.\n" in outcome.out


@pytest.mark.slow
def test_a_refusal_shows_the_nearest_sources_in_full_on_request(sample: Path, capsys: Captured) -> None:
    short = run(capsys, "ask", "What is the recipe for sourdough bread?").out
    full = run(capsys, "ask", "What is the recipe for sourdough bread?", "--show").out

    assert len(full) > 2 * len(short)


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_results_than_asked_for(sample: Path, capsys: Captured, limit: int) -> None:
    results = run(capsys, "search", "parcel", "--json", "--limit", str(limit)).json["results"]

    assert len(results) == limit


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "many"])
def test_an_impossible_limit_is_wrong_usage(sample: Path, capsys: Captured, limit: str) -> None:
    outcome = run(capsys, "search", "parcel", "--limit", limit)

    assert outcome.code == 2
    assert "--limit" in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize("kind", ["code", "docs", "course", "config"])
def test_only_results_of_a_kind(sample: Path, capsys: Captured, kind: str) -> None:
    results = run(capsys, "search", "parcel server", "--json", "--kind", kind).json["results"]

    assert {result["kind"] for result in results} == {kind}


def test_results_of_two_kinds(sample: Path, capsys: Captured) -> None:
    results = run(capsys, "search", "parcel", "--json", "--kind", "course", "--kind", "config").json["results"]

    assert {result["kind"] for result in results} == {"course", "config"}


def test_an_unknown_kind_is_wrong_usage_and_the_known_ones_are_named(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "parcel?", "--kind", "picture")

    assert outcome.code == 2
    assert "'picture' is not valid; choose from code, docs, course, config, data" in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("globs", "paths"),
    [
        pytest.param(["*.go"], {"scanner/scanner.go"}, id="any-folder"),
        pytest.param(["/docs/*.md"], {"docs/operations.md", "docs/faq.md"}, id="one-folder"),
        pytest.param(["*.go", "*.sh"], {"scanner/scanner.go", "scripts/restore.sh"}, id="either"),
    ],
)
def test_only_results_of_a_path_pattern(sample: Path, capsys: Captured, globs: list[str], paths: set[str]) -> None:
    options = [word for glob in globs for word in ("--glob", glob)]

    results = run(capsys, "search", "parcel register label", "--json", *options).json["results"]

    assert {result["path"] for result in results} == paths


def test_a_pattern_that_fits_nothing_finds_nothing(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "search", "parcel", "--glob", "*.cobol")

    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err == "nothing found\nhint: try other words, fewer filters, or other folders\n"


def test_what_is_ignored_is_never_found(sample: Path, capsys: Captured) -> None:
    words = "submarine leftPad GENERATED_LABELS log PARCEL_PASSWORD"

    results = run(capsys, "search", words, "--json", "--limit", "100").json["results"]

    paths = {result["path"] for result in results}
    ignored = ("drafts/", "node_modules/", "generated/", "server.log", ".env", "id_rsa")
    assert not [path for path in paths if path.startswith(ignored)]
    assert "README.md" in paths


def test_a_secret_stays_out_of_the_answer_and_out_of_the_index(sample: Path, capsys: Captured) -> None:
    for question in (SECRET, "What is the PARCEL_PASSWORD?"):
        outcome = run(capsys, "ask", question, "--json", "--show")
        assert SECRET not in outcome.err
        assert SECRET not in json.dumps([outcome.json["answer"], outcome.json["sources"]]).replace(question, "")

    for file in (Path(os.environ["OPENBOOK_HOME"]) / "libraries").iterdir():
        assert SECRET.encode("utf-8") not in file.read_bytes()


def test_a_path_that_is_one_file_is_all_that_is_asked(sample: Path, capsys: Captured) -> None:
    results = run(capsys, "search", "parcel", "docs/faq.md", "--json").json["results"]

    assert {result["path"].rpartition("/")[2] for result in results} == {"faq.md"}


@pytest.mark.slow
def test_several_paths_are_asked_together_in_any_order(sample: Path, capsys: Captured) -> None:
    one = run(capsys, "search", "parcel", "docs", "scanner", "--json").json
    other = run(capsys, "search", "parcel", "scanner", "docs", "--json").json

    assert {result["source"] for result in one["results"]} == {"docs", "scanner"}
    assert one == other


def test_one_source_of_several_can_be_asked(sample: Path, capsys: Captured) -> None:
    results = run(capsys, "search", "parcel", "docs", "scanner", "--source", "scanner", "--json").json["results"]

    assert {result["source"] for result in results} == {"scanner"}


def test_what_follows_two_dashes_is_no_option(sample: Path, capsys: Captured) -> None:
    outcome = run(capsys, "ask", "--json", "--", "--lost parcel", ".")

    assert outcome.json["query"] == "--lost parcel"


def test_queries_of_a_file_are_answered_in_their_order(sample: Path, capsys: Captured, tmp_path: Path) -> None:
    asked = ["ParseLabel", "backup", "Größe 包裹", "storm", "a\u2028parcel"]
    lines = [json.dumps({"query": query, "id": number}, ensure_ascii=False) for number, query in enumerate(asked)]
    file = tmp_path / "queries.jsonl"
    file.write_text("\ufeff" + "\n\n".join(lines), encoding="utf-8")

    outcome = run(capsys, "search", "--queries", file, "--limit", "2")

    assert outcome.code == 0
    assert [list(line) for line in outcome.lines] == [
        ["query", "results", *(["note"] if number == 2 else [])] for number in range(len(asked))
    ]
    assert outcome.lines[2]["note"].startswith(
        "No source mentions 'Größe', '包裹'. The question and the sources are in diff"
    )
    assert [line["query"] for line in outcome.lines] == asked
    assert outcome.lines[0]["results"][0]["path"] == "scanner/scanner.go"


def test_queries_of_a_file_can_be_for_other_folders(sample: Path, capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"query": "parcel"}\n', encoding="utf-8")

    (line,) = run(capsys, "search", "docs", "scanner", "--queries", file).lines

    assert {result["source"] for result in line["results"]} == {"docs", "scanner"}


@pytest.mark.slow
def test_json_is_the_same_under_another_hash_seed(sample: Path, capsys: Captured, tmp_path: Path) -> None:
    ask = ("ask", "Which lessons talk about storms?", "--json")
    file = tmp_path / "queries.jsonl"
    file.write_text('{"query": "parcel ferry storm"}\n{"query": "open the door"}\n', encoding="utf-8")
    env = {"PYTHONHASHSEED": "2", "OPENBOOK_HOME": str(tmp_path / "home")}

    here = run(capsys, *ask).json, run(capsys, "search", "--queries", file).lines
    there = run_alone(*ask, cwd=sample, env=env).json, run_alone("search", "--queries", file, cwd=sample, env=env).lines

    assert here[0] | {"took_ms": 0} == there[0] | {"took_ms": 0}
    assert here[1] == there[1]


def test_a_copy_of_a_folder_gives_the_same_results(sample: Path, capsys: Captured, tmp_path: Path) -> None:
    shutil.copytree(sample, tmp_path / sample.name)

    here = run(capsys, "search", "parcel ferry", "--json").json
    there = run(capsys, "search", "parcel ferry", tmp_path / sample.name, "--json").json

    assert here == there


@pytest.mark.slow
def test_references_are_listed_with_what_they_do_and_where(sample: Path, capsys: Captured) -> None:
    every = run(capsys, "references", "is_lost")
    calls = run(capsys, "references", "Parcel.is_lost", "--use", "call", "--json")
    nothing = run(capsys, "references", "is_gone")

    assert every.code == 0
    assert every.out.splitlines()[0].startswith(
        "harbour/parcels.py:40: definition in Parcel.is_lost: def is_lost(self)"
    )
    assert calls.json["name"] == "is_lost"
    assert {place["use"] for place in calls.json["references"]} <= {"call"}
    assert (nothing.code, nothing.out) == (1, "")
    assert "no reference to 'is_gone' was found" in nothing.err
    assert "check its spelling" in nothing.err


@pytest.mark.slow
def test_references_that_a_filter_leaves_out_are_counted(sample: Path, capsys: Captured) -> None:
    imports = run(capsys, "references", "is_lost", "--use", "import")
    toml = run(capsys, "references", "is_lost", "--glob", "*.toml")

    assert (imports.code, toml.code) == (1, 1)
    assert "no import of 'is_lost' was found" in imports.err
    assert "leave out --use for 1 definition" in imports.err
    assert "no reference to 'is_lost' was found" in toml.err
    assert "elsewhere: 1 definition; name other folders, or leave out --glob" in toml.err
