"""Opens models by name, such as `groq:llama-3.3-70b-versatile`, or by the configured keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from openbook.errors import SettingsError, did_you_mean
from openbook.llm.protocol import Model
from openbook.llm.providers import PROVIDERS, Provider
from openbook.plugins import having, open_plugin, plugins
from openbook.settings import Secret, read_addresses, read_secrets

if TYPE_CHECKING:
    from openbook.llm.retry import RetryPolicy
    from openbook.llm.transport import Wire, WireModel

EXTRACTIVE = "extractive"
"""The name for no model: answers are quotes."""

_NAME_HINT = (
    f"`provider:model` with one of {', '.join(PROVIDERS)}, `http://host:port/v1#model`, `cli:claude`, or `{EXTRACTIVE}`"
)


def open_model(
    name: str = "",
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    retries: RetryPolicy | None = None,
    what: str = "model",
) -> Model | None:
    """Open a model by its name. Sends nothing.

    Args:
        name: `provider:model`, a provider alone, an address and `#model`, `cli:` and a program, a plugin, or
            `extractive`. Several, separated by commas, are fallbacks for each other, as in `fallback`. Empty: that of
            `provider_of_key`.
        environ: Variables with keys and addresses. Default: the environment of this process.
        folder: Folder whose `.env` is also read, for keys of named models only. Default: the current folder.
        retries: The retry policy.
        what: The named thing, for error messages.

    Returns:
        The model; None for `extractive`, and for an empty name without any key in the environment.

    Raises:
        SettingsError: The name is unknown.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The SDK for its API is not installed.
        PluginError: The plugin of that name cannot be loaded, or failed.
    """
    if not name:
        name = provider_of_key(environ)
    if name == EXTRACTIVE:
        return None
    if len(names := split_names(name)) > 1:
        from openbook.llm.fallback import fallback

        return fallback(
            *(open_model(one, environ=environ, folder=folder, retries=retries, what=what) or one for one in names)
        )
    if name.startswith("cli:"):
        from openbook.llm.cli_model import open_cli_model

        return open_cli_model(name.removeprefix("cli:"))
    if name.partition(":")[0] not in PROVIDERS:
        plugin = open_plugin("models", name, having("name", "stream", "astream"))
        if plugin is not None:
            return cast("Model", plugin)
    provider, model, key = find_provider(name, environ=environ, folder=folder, what=what)
    return connect(provider, model, key=key, retries=retries)


def provider_of_key(environ: Mapping[str, str] | None = None) -> str:
    """Return the first of Anthropic, Groq and OpenAI whose key is in the environment; else `extractive`.

    A key in `.env` chooses none: a folder from somebody else may bring one, and all would be sent to their account.
    """
    keys = read_secrets({provider.key for provider in PROVIDERS.values()}, environ, dotenv=False)
    return next((p.name for p in PROVIDERS.values() if p.needs_key and p.key in keys), EXTRACTIVE)


def require_model(
    name: str = "",
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    retries: RetryPolicy | None = None,
) -> Model:
    """Open a model by its name, like `open_model`; `extractive` is an error.

    Raises:
        SettingsError: The name is unknown or `extractive`, or it is empty and no key is in the environment.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The SDK for its API is not installed.
        PluginError: The plugin of that name cannot be loaded, or failed.
    """
    model = open_model(name, environ=environ, folder=folder, retries=retries)
    if model is None:
        raise SettingsError(f"model is {name!r}, and this needs one that writes", hint="name one, or set its key")
    return model


def split_names(name: str) -> list[str]:
    """Split the names of fallback models. A command may contain commas.

    Example:
        >>> split_names("anthropic, groq:openai/gpt-oss-120b"), split_names("cli:ask --like a,b")
        (['anthropic', 'groq:openai/gpt-oss-120b'], ['cli:ask --like a,b'])
    """
    heads = "|".join(map(re.escape, (*PROVIDERS, *plugins("models"), "cli", "http", "https", EXTRACTIVE)))
    return [part.strip() for part in re.split(rf",\s*(?=(?:{heads})(?:[:,\s]|$))", name)]


def find_provider(
    name: str,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    known: Mapping[str, Provider] = PROVIDERS,
    what: str = "model",
) -> tuple[Provider, str, Secret | None]:
    """Parse a name into a provider with its configured address, the model, and the key.

    `known` are the providers by name. `what` is the named thing, for error messages.

    Raises:
        SettingsError: The name is unknown, or the address is invalid.
    """
    provider, model = parse_name(name, known, what)
    address = read_addresses({provider.url_variable}, environ).get(provider.url_variable, "").strip()
    if address and not _is_address(address):
        raise SettingsError(f"{provider.url_variable} is not an address", hint="write it as http://host:port")
    key = read_secrets({provider.key}, environ, folder).get(provider.key)
    return replace(provider, url=address) if address else provider, model, key


def connect(
    provider: Provider, model: str, *, key: Secret | None = None, retries: RetryPolicy | None = None
) -> WireModel:
    """Connect to a model of a provider."""
    # Lazy: not needed to parse names or to quote.
    from openbook.llm.anthropic import AnthropicWire
    from openbook.llm.openai_compatible import OpenAIWire
    from openbook.llm.transport import WireModel

    wire: Wire = AnthropicWire() if provider.wire == "anthropic" else OpenAIWire(provider)
    return WireModel(provider, model, wire=wire, key=key, retries=retries)


def parse_name(name: str, known: Mapping[str, Provider] = PROVIDERS, what: str = "model") -> tuple[Provider, str]:
    """Parse a name into a provider and the provider's name of the model.

    Raises:
        SettingsError: It is neither that of a known provider nor an address with a model.

    Example:
        >>> provider, model = parse_name("ollama:qwen3:8b")
        >>> provider.name, model
        ('ollama', 'qwen3:8b')
        >>> parse_name("http://127.0.0.1:9000/v1#tiny")[0].url
        'http://127.0.0.1:9000/v1'
    """
    if name.startswith(("http://", "https://")):
        url, _, model = name.partition("#")
        if not model or not _is_address(url) or "@" in urlsplit(url).netloc or "?" in url:
            raise SettingsError(
                "an address of a model has no password and no `?`, names a host, and ends in `#model`",
                hint=f"use {_NAME_HINT}",
            )
        return replace(_BY_ADDRESS, name=url, url=url), model
    word, _, model = name.partition(":")
    provider = known.get(word)
    model = model or (provider.model if provider else "")
    if provider is None or not model:
        reason = f"unknown provider {word!r}" if provider is None else f"{word} needs the name of a model"
        hint = did_you_mean(word, list(known), f"use {_NAME_HINT}") if provider is None else f"use {_NAME_HINT}"
        raise SettingsError(f"{what} is {name!r}: {reason}", hint=hint)
    return provider, model


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:
        return False
    usable = url.isprintable() and " " not in url and parts.scheme in ("http", "https")
    return usable and bool(host) and port != 0


# A server named by its address. It has a key of its own, so that no provider's key is sent to an arbitrary address.
_BY_ADDRESS = Provider(name="", url="", key="LLM_API_KEY")
