"""The model that is taken, and `openbook doctor --model`: a greeting, a question, two claims, and what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openbook.llm.messages import ProviderCitation
from openbook.testing import FakeServer, Fault, Refusal, ScriptedReply
from openbook.usage import Usage
from tests.integration.support_cli import SAMPLE, copy_sample, run

Captured = pytest.CaptureFixture[str]
Start = Callable[..., FakeServer]

QUESTION = "When does a parcel count as lost?"


VERDICTS = json.dumps(
    [
        {"claim": 1, "verdict": "entailed", "quote": "fourteen days"},
        {"claim": 2, "verdict": "not said", "quote": ""},
    ]
)


SAYS = "Parcels wait in the shed for fourteen days"


def answer_by_mark(received: Any) -> ScriptedReply:
    """Cite the line that says how long it takes, as the wire does that."""
    if number := re.search(rf"(\d+)\| {SAYS}", json.dumps(received.body)):
        return ScriptedReply(f"{SAYS} [1:{number[1]}].")
    blocks = [block for message in received.body["messages"] for block in message["content"]]
    units = [unit["text"] for block in blocks if block["type"] == "search_result" for unit in block["content"]]
    place = next(place for place, unit in enumerate(units, start=1) if SAYS in unit)
    return ScriptedReply(f"{SAYS}.", ProviderCitation(1, place, place, units[place - 1]))


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENAI_API_KEY", "LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.slow
def test_the_first_key_that_is_exported_chooses_and_extractive_asks_nobody(
    capsys: Captured, fake_server: Start, tmp_path: Path
) -> None:
    server, harbour = fake_server("Nobody knows."), copy_sample(tmp_path)
    env = {"ANTHROPIC_BASE_URL": server.anthropic_url, "OPENBOOK_QUERY_EXPANSION": "off"}
    env |= {"ANTHROPIC_API_KEY": server.key}

    by_key = run(capsys, "ask", QUESTION, cwd=harbour, env=env)
    by_quotes = run(capsys, "ask", QUESTION, "--model", "extractive", cwd=harbour, env=env)

    assert "anthropic:" in by_key.err
    assert by_quotes.out.startswith("Quoted from the sources; no model wrote this.")
    assert "tokens" not in by_quotes.err


@pytest.mark.slow
def test_a_key_that_a_folder_brings_is_used_only_for_a_model_that_is_named(
    capsys: Captured, fake_server: Start, tmp_path: Path
) -> None:
    server, harbour = fake_server("Nobody knows."), copy_sample(tmp_path)
    (harbour / ".env").write_text(f"ANTHROPIC_API_KEY={server.key}\n", encoding="utf-8")
    url = {"ANTHROPIC_BASE_URL": server.anthropic_url, "OPENBOOK_QUERY_EXPANSION": "off"}

    unnamed = run(capsys, "ask", QUESTION, cwd=harbour, env=url)
    asked = len(server.requests)
    named = run(capsys, "ask", QUESTION, "--model", "anthropic", cwd=harbour, env=url)

    assert unnamed.out.startswith("Quoted from the sources; no model wrote this.")
    assert asked == 0
    assert "anthropic:" in named.err


@pytest.mark.slow
def test_doctor_calls_a_model_and_says_how_fast_it_was_and_what_it_cost(
    fake_server: Start, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = (answer_by_mark, VERDICTS)
    server = fake_server("Hello.", *trial, ScriptedReply("Hello.", usage=None), *trial, key="sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)

    outcome = run(capsys, "doctor", "--model", "anthropic:claude-sonnet-5-5")
    unknown = run(capsys, "doctor", "--model", "anthropic:nobody-knows-it")

    assert outcome.code == 0
    assert "ok    model anthropic:claude-sonnet-5-5 replies as claude-sonnet-5-5: first words after" in outcome.out
    assert "ok    model tokens: 10 in, 5 out; price of this call: $0.0001" in outcome.out
    assert "ok    model tokens: not reported; price of this call: unknown" in unknown.out
    assert server.key not in outcome.out + outcome.err


@pytest.mark.slow
def test_a_question_of_a_small_page_shows_whether_citations_hold_and_the_verifier_is_usable(
    fake_server: Start, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = ScriptedReply("They are lost when they are lost.", usage=Usage(1000, 5))
    server = fake_server("Hello.", answer_by_mark, VERDICTS, "Hello.", slow, "I think so.")
    monkeypatch.setenv("LLM_API_KEY", server.key)

    good = run(capsys, "doctor", "--model", f"{server.openai_url}#tiny")
    monkeypatch.setenv("OPENBOOK_MODEL_TIMEOUT_S", "0.5")
    poor = run(capsys, "doctor", "--model", f"{server.openai_url}#tiny")

    assert good.code == 0, good
    assert "ok    trial question answered in " in good.out
    assert "ok    trial citations: 1 of 1 claims cite lines that hold\n" in good.out
    assert "ok    trial verifier: usable" in good.out
    assert poor.code == 3, poor
    assert "FAIL  trial citations: 0 of 1 claims cite lines that hold; " in poor.out
    assert "FAIL  trial verifier: not usable" in poor.out


@pytest.mark.slow
def test_a_model_that_does_not_answer_in_time_is_told_with_the_setting(
    fake_server: Start, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = fake_server(Fault("hold"), Fault("hold"))
    monkeypatch.setenv("LLM_API_KEY", server.key)
    monkeypatch.setenv("OPENBOOK_MODEL_TIMEOUT_S", "0.3")

    called = run(capsys, "doctor", "--model", f"{server.openai_url}#tiny")
    asked = run(capsys, "ask", "When do sessions end?", str(SAMPLE), "--model", f"{server.openai_url}#tiny")

    assert "set OPENBOOK_MODEL_TIMEOUT_S to more seconds" in called.out
    assert "set OPENBOOK_MODEL_TIMEOUT_S to more seconds" in asked.err


@pytest.mark.slow
def test_doctor_says_which_key_to_set_or_what_was_refused(
    fake_server: Start, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = fake_server(Refusal(404, "no such model"))
    monkeypatch.setenv("LLM_API_KEY", "sk-wrong")

    missing = run(capsys, "doctor", "--model", "groq")
    wrong = run(capsys, "doctor", "--model", f"{server.openai_url}#tiny")
    monkeypatch.setenv("LLM_API_KEY", server.key)
    unknown = run(capsys, "doctor", "--model", f"{server.openai_url}#tiny")

    assert (missing.code, wrong.code, unknown.code) == (3, 3, 3)
    assert "FAIL  model: groq needs a key, and GROQ_API_KEY is not set; set GROQ_API_KEY" in missing.out
    assert "refused the key (401); LLM_API_KEY is set, but not valid here" in wrong.out
    assert "(404): no such model; check the name of the model" in unknown.out
    assert "sk-wrong" not in wrong.out + wrong.err


@pytest.mark.slow
def test_doctor_without_a_model_says_what_would_answer_and_calls_nobody(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quotes = run(capsys, "doctor")
    (tmp_path / ".env").write_text("GROQ_API_KEY=gsk-secret\n", encoding="utf-8")
    by_file = run(capsys, "doctor", cwd=tmp_path)
    named = run(capsys, "doctor", "--model", "extractive")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    chosen = run(capsys, "doctor")

    assert "ok    answers are quotes: no key is in the environment, and no model named" in quotes.out
    assert (
        "ok    answers are quotes: GROQ_API_KEY in .env chooses no model; to use it: OPENBOOK_MODEL=groq" in by_file.out
    )
    assert "ok    answers are quotes\n" in named.out
    assert "ok    answers by openai:gpt-6.1-terra; to try it: openbook doctor --model" in chosen.out
    assert "sk-secret" not in chosen.out + by_file.out
