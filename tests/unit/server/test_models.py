"""Which models may be chosen through the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.llm.rate_limit import RateLimitedModel
from openbook.server.failures import RequestRefusedError
from openbook.server.models import ModelRegistry, offered_models
from openbook.settings import Settings
from openbook.testing import ScriptedModel


def test_a_model_that_is_not_offered_is_refused() -> None:
    opened: list[str] = []
    model = ScriptedModel()

    def open_one(name: str) -> ScriptedModel:
        opened.append(name)
        return model

    address = "http://10.0.0.7:9000/v1"
    models = ModelRegistry(["groq:a", f"{address}#tiny", f"{address}0#tiny"], "anthropic:b", open_one=open_one)

    with pytest.raises(RequestRefusedError) as caught:
        models.get("http://10.0.0.1/v1#x")

    assert (models.get(None), models.get("groq:a"), models.get("groq:a")) == (model, model, model)
    assert caught.value.hint == "choose one of anthropic:b, groq:a, tiny, tiny (2), extractive"  # and no address
    models.get("tiny (2)")
    assert opened == ["anthropic:b", "groq:a", f"{address}0#tiny"]


def test_public_names_do_not_reveal_where_a_model_runs() -> None:
    models = ModelRegistry([], "http://10.0.0.7:9000/v1#qwen3:8b", open_one=lambda _: None)

    listed = models.listed()

    assert (listed.default, listed.models[0].name, listed.models[0].label) == ("qwen3:8b",) * 3
    assert "10.0.0.7" not in listed.model_dump_json()


def test_models_that_stand_in_for_each_other_do_not_reveal_where_they_run() -> None:
    models = ModelRegistry([], "groq:a,http://10.0.0.7:9000/v1#tiny", open_one=lambda _: None)

    listed = models.listed()

    assert listed.models[0].label == "a (groq), else tiny"
    assert "10.0.0.7" not in listed.model_dump_json()


def test_the_setting_comes_first_then_each_provider_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")

    chosen = offered_models(Settings(model="ollama:qwen3:8b", server_models=("http://127.0.0.1:9/v1#tiny",)))
    by_key = offered_models(Settings())

    assert [model.label for model in chosen.listed().models] == [
        "qwen3:8b (ollama)",
        "tiny",
        "openai/gpt-oss-120b (groq)",
        "quotes, without a model",
    ]
    assert (by_key.default, by_key.names[-1]) == ("groq:openai/gpt-oss-120b", "extractive")


def test_a_key_in_dotenv_offers_a_model_and_is_not_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("GROQ_API_KEY=gsk-1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    models = offered_models(Settings())

    assert (models.default, models.names) == ("extractive", ("extractive", "groq:openai/gpt-oss-120b"))


def test_models_of_the_server_keep_the_rate_limit_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")

    limited = offered_models(Settings(model_requests_per_minute=5)).get("groq:openai/gpt-oss-120b")

    assert isinstance(limited, RateLimitedModel)


def test_without_a_key_answers_are_quotes() -> None:
    models = offered_models(Settings())

    assert (models.default, models.names, models.get(None)) == ("extractive", ("extractive",), None)


def test_a_program_is_offered_only_where_the_owner_names_it_and_without_its_arguments() -> None:
    opened: list[str] = []
    command = "cli:/opt/models/ask --token secret"
    registry = ModelRegistry([command, "cli:claude:opus"], "extractive", open_one=lambda name: opened.append(name))

    registry.get("cli:ask")

    assert opened == [command]
    assert registry.names == ("extractive", "cli:ask", "cli:claude:opus")
    assert [each.label for each in registry.listed().models[1:]] == ["ask (cli)", "claude:opus (cli)"]
    with pytest.raises(RequestRefusedError):
        registry.get("cli:codex")
