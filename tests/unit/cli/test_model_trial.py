"""What `openbook doctor --model` makes of a context that is too small, and of a model that is too slow."""

from __future__ import annotations

import pytest

from openbook.cli.asking import build_answer_options
from openbook.cli.model_trial import context_findings, fitting_context, trial_findings
from openbook.settings import Settings
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.unit.llm.test_context_size import serving


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("tokens", "healthy", "said"),
    [
        (32768, True, "context of the server: 32768 tokens; answers need up to "),
        (4096, False, "; commands use 1700 tokens of sources; for more, start the server with more"),
        (1100, False, "; start the server with more"),
    ],
)
def test_the_context_of_a_server_is_compared_with_what_answers_send(tokens: int, healthy: bool, said: str) -> None:
    with serving({"GET /props": {"default_generation_settings": {"n_ctx": tokens}}}) as (url, _):
        (finding,) = context_findings(f"{url}/v1#tiny", Settings())

    assert finding.healthy is healthy
    assert said in finding.text


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("tokens", "settings", "fitting"),
    [
        (4096, Settings(), 1700),
        (32768, Settings(), None),
        (1100, Settings(), None),
        (4096, Settings(context_tokens=3000), None),
    ],
    ids=["short", "long", "too short", "set"],
)
def test_answers_use_what_fits_into_the_context_of_a_server(
    tokens: int, settings: Settings, fitting: int | None
) -> None:
    with serving({"GET /props": {"default_generation_settings": {"n_ctx": tokens}}}) as (url, _):
        assert fitting_context(f"{url}/v1#tiny", settings) == fitting


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_command_says_that_an_answer_uses_less_of_the_sources(capsys: pytest.CaptureFixture[str]) -> None:
    with serving({"GET /props": {"default_generation_settings": {"n_ctx": 4096}}}) as (url, _):
        options = build_answer_options(f"{url}/v1#tiny", agent=False, limits=(8, None), policy="flag")

    assert options.context_tokens == 1700
    assert "answers are written from 1700 tokens" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_setting_that_is_too_large_for_a_server_is_named() -> None:
    with serving({"GET /props": {"default_generation_settings": {"n_ctx": 4096}}}) as (url, _):
        (finding,) = context_findings(f"{url}/v1#tiny", Settings(context_tokens=9000))

    assert "set OPENBOOK_CONTEXT_TOKENS=1700, or start the server with more" in finding.text


@pytest.mark.parametrize("name", ["cli:claude", "anthropic,groq", "parrot:grey"])
def test_programs_rows_of_models_and_plugins_tell_no_context(name: str) -> None:
    assert not list(context_findings(name, Settings()))


def test_a_deadline_that_a_full_context_would_miss_is_told() -> None:
    slow = ScriptedReply("They are lost when they are lost.", usage=Usage(1000, 5))
    with ScriptedModel(slow, "No.") as model:
        found = list(trial_findings(model, Settings(model_timeout_s=0.001)))

    assert any("set OPENBOOK_MODEL_TIMEOUT_S higher" in finding.text for finding in found)
