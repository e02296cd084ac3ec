"""The programs in `examples/programs` run unchanged, with a local server in place of the model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from runpy import run_path

import pytest

from openbook.llm.messages import ToolCall
from openbook.testing import FakeServer, ScriptedReply
from tests.docs.snippets import PROJECT, ROOT
from tests.support import write_tree

PROGRAMS = ROOT / "examples" / "programs"
LETTER = "Two pens, please. Ada, 3 May 2026"
ORDER = {"customer": "Ada", "ordered_on": "2026-05-03", "items": [{"name": "pen", "pieces": 2}]}
SAYS = "Sessions end after one hour [1]."
WRITES = ScriptedReply(ToolCall("1", "append", '{"note": "open"}'))
LOOKS = ScriptedReply(ToolCall("1", "stock", '{"item": "pen"}'), ToolCall("2", "price", '{"item": "pen"}'))

# Program, its arguments, what the model replies, and what the program prints.
RUNS: dict[str, tuple[Sequence[str], Sequence[str | ScriptedReply], Sequence[str]]] = {
    "ask_a_folder": (["When do sessions end?", "docs"], [], ["sessions.md:3", "exact: Sessions end after one hour."]),
    "search_notes": (["refunds", "tuesday"], [], ["tuesday.md:", "(Vienna)", "two signatures"]),
    "check_a_text": (["When do sessions end?", SAYS, "docs"], [], ["exact: Sessions end after one hour"]),
    "stream_an_answer": (
        ["When do sessions end?", "docs", "anthropic"],
        ["Sessions end after one hour [1:2]."],
        ["Sessions end after one hour", "tokens, cites sessions.md"],
    ),
    "many_questions": (
        ["docs", "questions.txt", "openai"],
        ["Sessions end after one hour [1:2].", "At its headings [1:2]."],
        ['"refused": false'],
    ),
    "agent_with_tools": (
        ["anthropic", "How many pens are there?"],
        [LOOKS, "Twelve."],
        ["Twelve.", "stock: 1 calls, 0 errors, $0", "price: 1 calls, 0 errors, $0.001", "stopped by: nothing"],
    ),
    "extract_values": (
        ["openai", LETTER],
        [ScriptedReply(ToolCall("1", "final_result", json.dumps({"result": ORDER})))],
        ["Ada 2026-05-03 2"],
    ),
    "continue_a_conversation": (["anthropic", "said.json", "Hello."], ["Hello to you."], ["Hello to you. (2 messages"]),
    "fall_back": (["anthropic", "openai", "Hello?"], ["Hello to you."], ["Hello to you. end"]),
    "ask_at_once": (
        ["docs", "When do sessions end?", "Who won the cup?"],
        [],
        ["When do sessions end? sessions.md:3", "Who won the cup? refused"],
    ),
    "compare_models": (
        ["When do sessions end?", "docs", "anthropic", "openai"],
        [SAYS, "Sessions end after two hours [1]."],
        ["anthropic: {'exact': 1}, ", "openai: {'unverified': 1}, "],
    ),
    "fail_in_ci": (["files.jsonl", "0.9", "docs"], [], ["file_recall            1.000"]),
    "remember_each_user": (
        ["docs", "anthropic"],
        [SAYS, "A token is valid for five minutes [1].", "When do sessions end?", SAYS],
        ["ada (1): Sessions end", "bob (1): A token", "ada (2): Sessions end"],
    ),
    "search_as_a_tool": (
        ["openai", "docs", "When do sessions end?"],
        [ScriptedReply(ToolCall("1", "search", '{"question": "session end"}')), "After one hour."],
        ["After one hour. (1 searches)"],
    ),
    "approve_calls": (["anthropic", "Write it down."], [WRITES, "Done."], ["tokens written, $", "Done."]),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write_tree(tmp_path / "project", PROJECT))
    Path("questions.txt").write_text("When do sessions end?\nHow is a document split?\n", encoding="utf-8")
    Path("files.jsonl").write_text(
        '{"question": "When do sessions end?", "files": ["sessions.md"]}\n', encoding="utf-8"
    )
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("program", RUNS)
def test_a_program_runs(
    program: str,
    folder: Path,
    fake_server: Callable[..., FakeServer],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments, replies, printed = RUNS[program]
    server = fake_server(*replies)
    for provider, url in (("ANTHROPIC", server.anthropic_url), ("OPENAI", server.openai_url)):
        monkeypatch.setenv(f"{provider}_BASE_URL", url)
        monkeypatch.setenv(f"{provider}_API_KEY", server.key)
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    monkeypatch.setattr("builtins.input", lambda _: "y")
    monkeypatch.setattr(
        "sys.stdin", StringIO("ada: When do sessions end?\nbob: How long is a token valid?\nada: Why?\n")
    )

    monkeypatch.setattr(sys, "exit", lambda code: None if code == 0 else pytest.fail(str(code)))

    run_path(str(PROGRAMS / f"{program}.py"), run_name="__main__")

    said = capsys.readouterr().out
    assert [text for text in printed if text not in said] == [], said


@pytest.mark.parametrize("program", RUNS)
def test_a_program_without_arguments_says_which_it_takes(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [program])

    with pytest.raises(SystemExit, match=rf"usage: python {program}\.py [A-Z]"):
        run_path(str(PROGRAMS / f"{program}.py"), run_name="__main__")


def test_all_programs_are_run() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.py")} == set(RUNS)
