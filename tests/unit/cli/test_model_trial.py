"""What `openbook doctor --model` makes of a context that is too small, and of a model that is too slow."""

from __future__ import annotations

import pytest

from openbook.cli.model_trial import context_findings, trial_findings
from openbook.settings import Settings
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.unit.llm.test_context_size import serving


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("tokens", "healthy", "said"),
    [
        (32768, True, "context of the server: 32768 tokens; answers need up to "),
        (4096, False, "set OPENBOOK_CONTEXT_TOKENS="),
        (1100, False, "; start the server with more"),
    ],
)
def test_the_context_of_a_server_is_compared_with_what_answers_send(tokens: int, healthy: bool, said: str) -> None:
    with serving({"GET /props": {"default_generation_settings": {"n_ctx": tokens}}}) as (url, _):
        (finding,) = context_findings(f"{url}/v1#tiny", Settings())

    assert finding.healthy is healthy
    assert said in finding.text


@pytest.mark.parametrize("name", ["cli:claude", "anthropic,groq", "parrot:grey"])
def test_programs_rows_of_models_and_plugins_tell_no_context(name: str) -> None:
    assert not list(context_findings(name, Settings()))


def test_a_deadline_that_a_full_context_would_miss_is_told() -> None:
    slow = ScriptedReply("They are lost when they are lost.", usage=Usage(1000, 5))
    with ScriptedModel(slow, "No.") as model:
        found = list(trial_findings(model, Settings(model_timeout_s=0.001)))

    assert any("set OPENBOOK_MODEL_TIMEOUT_S higher" in finding.text for finding in found)
