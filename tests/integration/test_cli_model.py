"""`openbook doctor --model`: one tiny call, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from openbook.testing import FakeServer, Fault, Refusal, ScriptedReply
from tests.integration.support_cli import SAMPLE, run

Captured = pytest.CaptureFixture[str]
Start = Callable[..., FakeServer]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENAI_API_KEY", "LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_doctor_calls_a_model_once_and_says_how_fast_it_was_and_what_it_cost(
    fake_server: Start, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = fake_server("Hello.", ScriptedReply("Hello.", usage=None), key="sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)

    outcome = run(capsys, "doctor", "--model", "anthropic:claude-sonnet-5-5")
    unknown = run(capsys, "doctor", "--model", "anthropic:nobody-knows-it")

    assert outcome.code == 0
    assert "ok    model anthropic:claude-sonnet-5-5 replies as claude-sonnet-5-5: first words after" in outcome.out
    assert "ok    model tokens: 10 in, 5 out; price of this call: $0.0001" in outcome.out
    assert "ok    model tokens: not reported; price of this call: unknown" in unknown.out
    assert server.key not in outcome.out + outcome.err


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
    assert "refused the key (401); set LLM_API_KEY in the environment" in wrong.out
    assert "(404): no such model; check the name of the model" in unknown.out
    assert "sk-wrong" not in wrong.out + wrong.err


def test_doctor_without_a_model_says_what_would_answer_and_calls_nobody(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    quotes = run(capsys, "doctor")
    named = run(capsys, "doctor", "--model", "extractive")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    chosen = run(capsys, "doctor")

    assert "ok    answers are quotes: no key is set, and no model named" in quotes.out
    assert "ok    answers are quotes\n" in named.out
    assert "ok    answers by openai:gpt-6.1-terra; to call it once: openbook doctor --model" in chosen.out
    assert "sk-secret" not in chosen.out
