"""Which models may be chosen through the server. Nobody can name an address of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from openbook.llm.choose import EXTRACTIVE, open_model
from openbook.llm.protocol import Model
from openbook.llm.providers import PROVIDERS
from openbook.server.failures import RequestRefusedError
from openbook.server.shapes import ModelReply, ModelsReply
from openbook.settings import Settings, read_secrets


class Models:
    """The models that are offered, each opened when it is first asked. Threads may share it."""

    def __init__(
        self, names: Sequence[str], default: str, *, open_one: Callable[[str], Model | None] = open_model
    ) -> None:
        """Offer models.

        Args:
            names: As `open_model` takes them. `extractive` is always offered.
            default: The one that is asked where none is named.
            open_one: Makes a model of a name.
        """
        self.default = default
        self.names = tuple(dict.fromkeys((default, *names, EXTRACTIVE)))
        self._open = open_one
        self._opened: dict[str, Model | None] = {}
        self._lock = threading.Lock()

    def get(self, name: str | None) -> Model | None:
        """Give an offered model; None for `extractive`.

        Raises:
            RequestRefusedError: It is not offered.
            OpenbookError: It cannot be opened; the hint says why.
        """
        name = name or self.default
        if name not in self.names:
            raise RequestRefusedError(
                400, f"{name!r} is no model that is offered here", hint=f"choose one of {', '.join(self.names)}"
            )
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._open(name)
            return self._opened[name]

    def listed(self) -> ModelsReply:
        """List them for people."""
        return ModelsReply(default=self.default, models=[ModelReply(name=n, label=_label(n)) for n in self.names])


def offered(settings: Settings) -> Models:
    """Offer the model of the settings, those that they list, and the first of each provider whose key is set.

    Raises:
        SettingsError: A key has characters that no key has.
    """
    keys = read_secrets(provider.key for provider in PROVIDERS.values())
    with_key = [f"{p.name}:{p.model}" for p in PROVIDERS.values() if p.needs_key and p.key in keys]
    default = settings.model or next(iter(with_key), EXTRACTIVE)
    return Models((*settings.server_models, *with_key), default)


def _label(name: str) -> str:
    if name == EXTRACTIVE:
        return "quotes, without a model"
    provider, _, model = name.partition(":")
    return name.partition("#")[2] if "://" in name else f"{model or provider} ({provider})"
