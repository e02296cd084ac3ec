from __future__ import annotations

from pathlib import Path

import pytest

from openbook.errors import KeyMissingError, MissingExtraError, SettingsError
from openbook.llm.anthropic import AnthropicWire
from openbook.llm.choose import connect, open_model, parse_name
from openbook.llm.providers import OLLAMA, PROVIDERS
from openbook.llm.transport import WireModel

KEYS = {f"{name}_API_KEY": f"sk-{name}" for name in ("ANTHROPIC", "GROQ", "OPENAI")}


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("anthropic:claude-haiku-5-5", "anthropic:claude-haiku-5-5"),
        ("anthropic", "anthropic:claude-sonnet-5-5"),
        ("groq:openai/gpt-oss-20b", "groq:openai/gpt-oss-20b"),
        ("openai", "openai:gpt-6.1-terra"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b"),
        ("vllm:some/model", "vllm:some/model"),
        ("llamacpp:any", "llamacpp:any"),
        ("http://127.0.0.1:9000/v1#tiny", "http://127.0.0.1:9000/v1#tiny"),
        ("https://models.example.org/v1#a#b", "https://models.example.org/v1#a#b"),
    ],
)
def test_a_name_leads_to_a_model_of_that_name(tmp_path: Path, name: str, full: str) -> None:
    model = open_model(name, environ=KEYS, folder=tmp_path)

    assert isinstance(model, WireModel)
    assert model.name == full


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("claude-sonnet-5-5", "unknown provider"),
        ("mistral:large", "unknown provider"),
        ("ollama", "needs the name of a model"),
        ("vllm:", "needs the name of a model"),
        ("http://127.0.0.1:9000/v1", "ends in `#model`"),
        ("http://#tiny", "ends in `#model`"),
        ("http://me:secret@host/v1#tiny", "has no password"),
        ("http://host/v1?key=secret#tiny", "no `\\?`"),
        ("http://[::1/v1#tiny", "names a host"),
        ("http://host:99999/v1#tiny", "names a host"),
        ("http://..:1/v1#tiny", "names a host"),
        ("http://my host/v1#tiny", "names a host"),
    ],
)
def test_a_name_that_means_nothing_is_an_error_that_shows_how_to_write_one(name: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason) as caught:
        parse_name(name)

    assert "provider:model" in caught.value.hint
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("OPENAI", "GROQ", "ANTHROPIC"), "anthropic:claude-sonnet-5-5"),
        (("OPENAI", "GROQ"), "groq:openai/gpt-oss-120b"),
        (("OPENAI",), "openai:gpt-6.1-terra"),
    ],
)
def test_without_a_name_the_first_key_chooses(tmp_path: Path, names: tuple[str, ...], chosen: str) -> None:
    environ = {f"{name}_API_KEY": "sk-1" for name in names}

    model = open_model(environ=environ, folder=tmp_path)

    assert isinstance(model, WireModel)
    assert model.name == chosen


def test_without_a_name_and_a_key_answers_are_quotes(tmp_path: Path) -> None:
    assert open_model(environ={}, folder=tmp_path) is None
    assert open_model(environ={"OPENAI_API_KEY": "", "OLLAMA_API_KEY": "x"}, folder=tmp_path) is None
    assert open_model("extractive", environ=KEYS, folder=tmp_path) is None


def test_a_key_in_dotenv_is_of_a_named_model_and_the_environment_comes_first(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GROQ_API_KEY=sk-file\n", encoding="utf-8")

    from_file = open_model("groq", environ={}, folder=tmp_path)
    from_both = open_model("groq", environ={"GROQ_API_KEY": "sk-environment"}, folder=tmp_path)

    assert isinstance(from_file, WireModel)
    assert isinstance(from_both, WireModel)
    assert (from_file.name, from_file.key.reveal()) == ("groq:openai/gpt-oss-120b", "sk-file")
    assert from_both.key.reveal() == "sk-environment"


def test_a_key_in_dotenv_chooses_no_model(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=sk-theirs\n", encoding="utf-8")

    chosen = open_model(environ={"OPENAI_API_KEY": "sk-own"}, folder=tmp_path)

    assert open_model(environ={}, folder=tmp_path) is None
    assert isinstance(chosen, WireModel)
    assert chosen.name.startswith("openai:")


def test_a_provider_without_its_key_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(KeyMissingError, match="OPENAI_API_KEY") as caught:
        open_model("openai:gpt-6.1-terra", environ={"GROQ_API_KEY": "sk-1"}, folder=tmp_path)

    assert "OPENAI_API_KEY" in caught.value.hint


def test_no_key_of_a_provider_is_sent_to_an_address(tmp_path: Path) -> None:
    plain = open_model("http://127.0.0.1:9000/v1#tiny", environ=KEYS, folder=tmp_path)
    own = open_model("http://127.0.0.1:9000/v1#tiny", environ=KEYS | {"LLM_API_KEY": "its-own"}, folder=tmp_path)

    assert isinstance(plain, WireModel)
    assert isinstance(own, WireModel)
    assert plain.key.reveal() == "none"
    assert own.key.reveal() == "its-own"


def test_an_address_in_the_environment_replaces_the_providers_and_one_in_dotenv_does_not(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://evil.example\n", encoding="utf-8")
    proxied = KEYS | {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9000"}

    anthropic = open_model("anthropic", environ=proxied, folder=tmp_path)
    openai = open_model("openai", environ=proxied, folder=tmp_path)

    assert isinstance(anthropic, WireModel)
    assert isinstance(openai, WireModel)
    assert anthropic.provider.url == "http://127.0.0.1:9000"
    assert openai.provider.url == "https://api.openai.com/v1"


def test_nothing_that_prints_a_model_shows_its_key(tmp_path: Path) -> None:
    model = open_model("anthropic", environ=KEYS, folder=tmp_path)
    assert isinstance(model, WireModel)
    model.load()

    shown = f"{model!r} {model} {vars(model)}"

    assert "sk-ANTHROPIC" not in shown
    assert repr(model) == "WireModel('anthropic:claude-sonnet-5-5')"


def test_a_package_that_is_not_installed_is_one_clear_line() -> None:
    class Elsewhere(AnthropicWire):
        sdk = "no_such_package"

    with pytest.raises(MissingExtraError, match="'no_such_package' is not installed") as caught:
        WireModel(OLLAMA, "any", wire=Elsewhere())

    assert caught.value.hint == "pip install 'openbook[no_such_package]'"


def test_servers_on_this_machine_need_no_key() -> None:
    local = [provider for provider in PROVIDERS.values() if "127.0.0.1" in provider.url]

    models = [connect(provider, "any") for provider in local]

    assert [model.provider.name for model in models] == ["ollama", "vllm", "llamacpp"]
