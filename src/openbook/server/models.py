"""The models that callers of the server may choose. Callers cannot name an address of their own."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, count

from openbook.llm.choose import EXTRACTIVE, open_model, provider_of_key, split_names
from openbook.llm.cli_programs import read_cli_name
from openbook.llm.protocol import Model
from openbook.llm.providers import PROVIDERS
from openbook.llm.rate_limit import rate_limited
from openbook.server.failures import RequestRefusedError
from openbook.server.schemas import ModelResponse, ModelsResponse
from openbook.settings import Settings, read_secrets

_ADDRESS = re.compile("https?://")


class ModelRegistry:
    """The models that callers may choose, opened on first use. Thread-safe."""

    def __init__(
        self, names: Sequence[str], default: str, *, open_one: Callable[[str], Model | None] = open_model
    ) -> None:
        """Offer models by names for `open_model`; `extractive` is always included."""
        self._offered = _published(dict.fromkeys((default, *names, EXTRACTIVE)))
        self.default: str = next(iter(self._offered))
        self._open = open_one
        self._opened: dict[str, Model | None] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """Public names of the models, the default first. None reveals an address."""
        return tuple(self._offered)

    def get(self, name: str | None) -> Model | None:
        """Return an offered model by its public name or its name in the settings; None for `extractive`."""
        name = name or self.default
        known = self._offered.get(name, name)
        if known not in self._offered.values():
            raise RequestRefusedError(
                400, f"{name!r} is not offered here", hint=f"choose one of {', '.join(self.names)}"
            )
        with self._lock:
            if known not in self._opened:
                self._opened[known] = self._open(known)
            return self._opened[known]

    def listed(self) -> ModelsResponse:
        models = [ModelResponse(name=public, label=_label(public, name)) for public, name in self._offered.items()]
        return ModelsResponse(default=self.default, models=models)


def offered_models(settings: Settings) -> ModelRegistry:
    """Offer the model of the settings, those that they list, and the first of each provider whose key is set."""
    keys = read_secrets(provider.key for provider in PROVIDERS.values())
    with_key = [f"{p.name}:{p.model}" for p in PROVIDERS.values() if p.needs_key and p.key in keys]
    provider = PROVIDERS.get(provider_of_key())
    default = settings.model or (f"{provider.name}:{provider.model}" if provider else EXTRACTIVE)

    def open_limited(name: str) -> Model | None:
        model = open_model(name)
        return None if model is None else rate_limited(model, settings)

    return ModelRegistry((*settings.server_models, *with_key), default, open_one=open_limited)


def public_name(name: str) -> str:
    """Return the public name of a model, which does not reveal where it runs.

    Example:
        >>> public_name("http://127.0.0.1:9000/v1#tiny"), public_name("ollama:qwen3:8b")
        ('tiny', 'ollama:qwen3:8b')
        >>> public_name("cli:/opt/models/ask --token x")
        'cli:ask'
    """
    if len(names := split_names(name)) > 1:
        return ",".join(map(public_name, names))
    if name.startswith("cli:"):
        with suppress(ValueError):
            program, model = read_cli_name(name.removeprefix("cli:"))
            return ":".join(filter(None, ("cli", program.name, model)))
    return name.partition("#")[2] if _ADDRESS.match(name) else name


def _published(names: Iterable[str]) -> dict[str, str]:
    """Map public names to names. Of equal public names, the second and later get a number."""
    found: dict[str, str] = {}
    for name in names:
        public = public_name(name)
        numbered = (f"{public} ({number})" for number in count(2))
        found[next(each for each in chain((public,), numbered) if each not in found)] = name
    return found


def _label(public: str, name: str) -> str:
    if name == EXTRACTIVE:
        return "quotes, without a model"
    if len(names := split_names(name)) > 1:
        return ", else ".join(_label(public_name(each), each) for each in names)
    provider, _, model = public_name(name).partition(":")
    return public if _ADDRESS.match(name) else f"{model or provider} ({provider})"
