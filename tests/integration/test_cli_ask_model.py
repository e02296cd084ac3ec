"""`openbook ask` with a model, as people run it: a child process, and a server that speaks the real wires."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openbook.llm.messages import Cited, Text, ToolCall
from openbook.testing import FakeServer, Refusal, Reply
from openbook.usage import Usage
from tests.integration.support_cli import Outcome, assert_fails_clearly, copy_sample, finish, run_alone, start

Start = Callable[..., FakeServer]

QUESTION = "When does a parcel count as lost?"
SEARCH = ToolCall("call_1", "search", json.dumps({"query": QUESTION}))
SYMBOL = ToolCall("call_2", "find_symbol", json.dumps({"name": "is_lost"}))


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    return copy_sample(tmp_path)


def keys(server: FakeServer) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": server.key, "ANTHROPIC_BASE_URL": server.anthropic_url, "LLM_API_KEY": server.key}


def ask(server: FakeServer, harbour: Path, *arguments: str, model: str = "") -> Outcome:
    name = model or f"{server.openai_url}#tiny"
    return run_alone("ask", QUESTION, "--model", name, *arguments, cwd=harbour, env=keys(server))


def text_sent(body: Any) -> str:
    """Give all that a request says, as one text."""
    return json.dumps(body, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')


def answer_by_mark(received: Any) -> Reply:
    """Cite the unit that says how long it takes, wherever it is shown."""
    text, number = text_sent(received.body), ""
    for line in text.split("\n"):
        if line.startswith('<source number="') or '<source number="' in line:
            number = line.split('<source number="')[1].split('"')[0]
        if line.endswith("| LOST_AFTER_DAYS = 14"):
            return Reply(f"A parcel is lost after 14 days: `LOST_AFTER_DAYS` [{number}:{line.partition('|')[0]}].")
    raise AssertionError("the line was not shown")


def test_a_model_answers_from_fenced_sources_and_is_checked(fake_server: Start, harbour: Path) -> None:
    server = fake_server(answer_by_mark)

    outcome = ask(server, harbour)

    assert outcome.code == 0, outcome
    assert outcome.out.startswith("A parcel is lost after 14 days: `LOST_AFTER_DAYS` [")
    assert "harbour/parcels.py:11-11  supported" in outcome.out
    assert "#tiny: 10 tokens read, 5 written, price unknown" in outcome.err
    assert server.key not in outcome.out + outcome.err


def test_anthropics_own_citations_pass_the_same_check(fake_server: Start, harbour: Path) -> None:
    def cite(received: Any) -> Reply:
        sources = [block for block in received.body["messages"][-1]["content"] if block["type"] == "search_result"]
        place = next(
            (number, unit)
            for number, source in enumerate(sources, start=1)
            for unit, block in enumerate(source["content"], start=1)
            if block["text"] == "LOST_AFTER_DAYS = 14"
        )
        cited = Cited(place[0], place[1], place[1])
        return Reply(Text("`LOST_AFTER_DAYS` is 14."), cited, usage=Usage(2_000, 40))

    server = fake_server(cite)

    outcome = ask(server, harbour, "--json", model="anthropic:claude-sonnet-5-5")

    answer = json.loads(outcome.out)
    assert [(citation["path"], citation["verdict"]) for citation in answer["citations"]] == [
        ("harbour/parcels.py", "supported")
    ]
    assert answer["answer"].startswith("`LOST_AFTER_DAYS` is 14. [")
    assert answer["model"] == "anthropic:claude-sonnet-5-5"
    assert 0 < answer["cost_usd"] < 0.1
    assert len(answer["prompts"]) == 12
    assert server.requests[0].body["stream"] is True


def test_an_agent_searches_reads_and_answers_within_its_budget(fake_server: Start, harbour: Path) -> None:
    server = fake_server(Reply(Text("I will look."), SEARCH, SYMBOL), answer_by_mark)

    outcome = ask(server, harbour, "--agent", "--max-rounds", "1", "--max-usd", "0.50", model="anthropic")

    assert outcome.code == 0, outcome
    assert 'search {"query": "When does a parcel count as lost?"}: [1] to [' in outcome.err
    assert "stopped early: max_rounds" in outcome.err
    assert "supported" in outcome.out
    assert "I will look" not in outcome.out
    assert server.requests[1].body["tool_choice"] == {"type": "none"}
    assert {tool["name"] for tool in server.requests[0].body["tools"]} >= {"search", "read_lines", "list_courses"}


def test_a_limit_that_cannot_be_kept_is_told_and_nothing_is_sent(fake_server: Start, harbour: Path) -> None:
    server = fake_server()

    for options in (["--agent"], []):
        outcome = ask(server, harbour, *options, "--max-usd", "0.01")

        assert outcome.code == 1
        assert "price of" in outcome.out
        assert "stopped early: max_usd" in outcome.err
    assert server.requests == []


def test_what_the_sources_do_not_speak_of_is_not_sent_anywhere(fake_server: Start, harbour: Path) -> None:
    server = fake_server()

    outcome = run_alone(
        "ask", "What is the recipe for sourdough bread?", "--model", f"{server.openai_url}#tiny",
        cwd=harbour, env=keys(server),
    )  # fmt: skip

    assert outcome.code == 1
    assert "What comes nearest speaks of" in outcome.out
    assert "#tiny: not asked" in outcome.err
    assert server.requests == []


@pytest.mark.parametrize(("policy", "calls"), [("flag", 1), ("drop", 1), ("retry", 2)])
def test_the_policy_reaches_the_check(fake_server: Start, harbour: Path, policy: str, calls: int) -> None:
    def half_wrong(received: Any) -> Reply:
        return Reply(f"{answer_by_mark(received).message.text} Bananas are sweet, yellow and 90 years old [1:1].")

    server = fake_server(half_wrong, *[answer_by_mark] * (calls - 1))

    outcome = ask(server, harbour, "--policy", policy)

    assert outcome.code == 0
    answer, _, details = outcome.out.partition("\nSources:\n")
    assert ("Bananas" in answer) == (policy == "flag")
    assert ("Not supported (1 of 2 claims)" in details) == (policy == "flag")
    assert len(server.requests) == calls


def test_the_first_key_that_is_set_chooses_and_extractive_asks_nobody(fake_server: Start, harbour: Path) -> None:
    server = fake_server("Nobody knows.")
    (harbour / ".env").write_text(f"ANTHROPIC_API_KEY={server.key}\n", encoding="utf-8")
    url = {"ANTHROPIC_BASE_URL": server.anthropic_url}

    by_key = run_alone("ask", QUESTION, cwd=harbour, env=url)
    by_quotes = run_alone("ask", QUESTION, "--model", "extractive", cwd=harbour, env=url)

    assert "anthropic:" in by_key.err
    assert by_quotes.out.startswith("Quoted from the sources; no model wrote this.")
    assert "tokens" not in by_quotes.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["--model", "groq"], 3, ["groq needs a key", "GROQ_API_KEY"], id="no-key"),
        pytest.param(["--model", "gpt"], 2, ["'gpt' is no provider"], id="no-model"),
        pytest.param(["--agent"], 2, ["--agent", "quotes need no tools"], id="agent-without-model"),
        pytest.param(["--policy", "hope"], 2, ["--policy", "'hope' is none of flag, drop, retry"], id="policy"),
        pytest.param(["--max-usd", "-1"], 2, ["--max-usd"], id="negative-budget"),
        pytest.param(["--max-usd", "nan"], 2, ["--max-usd", "no number"], id="no-budget"),
    ],
)
def test_what_cannot_be_asked_is_told_before_anything_is_indexed(
    harbour: Path, arguments: list[str], code: int, words: list[str]
) -> None:
    outcome = run_alone("ask", QUESTION, *arguments, cwd=harbour)

    assert_fails_clearly(outcome, code, *words)
    assert "indexed" not in outcome.err


def test_a_model_that_refuses_is_one_line_with_a_hint(fake_server: Start, harbour: Path) -> None:
    server = fake_server(Refusal(404, "no such model"))

    outcome = ask(server, harbour)

    assert_fails_clearly(outcome, 3, "(404): no such model")


def test_a_terminal_shows_the_words_while_they_are_written_and_then_the_checked_answer(
    fake_server: Start, harbour: Path
) -> None:
    server = fake_server(
        Reply("I look [red]here[/red].", SEARCH), "Parcels are [bold]burnt[/bold] after 14 days.\x1b]0;owned\x07 [1:1]"
    )
    screen, slave = pty.openpty()
    options: dict[str, Any] = {"stdout": slave, "stderr": slave}
    env = {**keys(server), "TERM": "xterm-256color", "COLUMNS": "100"}

    named = ("--model", f"{server.openai_url}#tiny", "--agent")
    process = start("ask", QUESTION, *named, cwd=harbour, env=env, **options)
    os.close(slave)
    shown = b""
    try:
        while read := os.read(screen, 65_536):
            shown += read
    except OSError:
        pass  # how Linux says that the other side is closed
    os.close(screen)
    finish(process)

    text = shown.decode()
    assert text.index("I look [red]here[/red].") < text.index("search {")
    written = text.index("Parcels are [bold]burnt")
    assert text.index("do not answer this", written) > written
    assert "\x1b]0;owned" not in text


def test_questions_of_a_set_can_be_put_to_a_model(fake_server: Start, harbour: Path) -> None:
    server = fake_server(answer_by_mark)
    questions = harbour / "questions.jsonl"
    questions.write_text(json.dumps({"question": QUESTION, "facts": ["14 days"]}) + "\n", encoding="utf-8")

    outcome = run_alone(
        "eval", str(questions), "harbour", "--model", f"{server.openai_url}#tiny", "--json",
        cwd=harbour, env=keys(server),
    )  # fmt: skip

    figures = json.loads(outcome.out)
    assert figures["model"].endswith("#tiny")
    assert outcome.code == 0
