"""Sampling settings such as the temperature, for providers that support them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from openbook.errors import BadRequestError, InvalidArgumentError

SamplingSetting = Literal["temperature", "top_p", "seed", "stop"]

SAMPLING_SETTINGS: frozenset[SamplingSetting] = frozenset(get_args(SamplingSetting))
"""All settings, for providers that support each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings. Unset ones are left to the provider.

    Raises:
        ValueError: A number is out of range, or a stop sequence is blank.
    """

    temperature: float | None = None
    """From 0 (always the most likely token) to 2."""
    top_p: float | None = None
    """Probability mass of the tokens to sample from: above 0, up to 1."""
    seed: int | None = None
    """Equal requests with the same seed get the same reply, as far as the provider guarantees it."""
    stop: tuple[str, ...] = ()
    """Sequences that end the reply. They are not part of it."""

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InvalidArgumentError(f"temperature is {self.temperature!r}", hint="give a number from 0 to 2")
        if self.top_p is not None and not (math.isfinite(self.top_p) and 0 < self.top_p <= 1):
            raise InvalidArgumentError(f"top_p is {self.top_p!r}", hint="give a number above 0, up to 1")
        if type(self.stop) is not tuple or not all(text.strip() for text in self.stop):
            raise InvalidArgumentError(f"stop is {self.stop!r}", hint="give a tuple of texts, none of them blank")

    @property
    def fields(self) -> dict[str, object]:
        """Return the settings that are set, as JSON fields.

        Example:
            >>> Sampling(temperature=0, stop=("END",)).fields
            {'temperature': 0, 'stop': ['END']}
        """
        given: dict[str, object] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "stop": list(self.stop) or None,
        }
        return {name: value for name, value in given.items() if value is not None}


DEFAULT_SAMPLING = Sampling()
"""Everything is left to the provider."""


def check_sampling(sampling: Sampling, takes: frozenset[SamplingSetting], model: str) -> None:
    """Raise an error for settings that the provider would reject, before anything is sent."""
    refused = [name for name in sampling.fields if name not in takes]
    if refused:
        taken = ", ".join(name for name in get_args(SamplingSetting) if name in takes)
        raise BadRequestError(
            f"{model} does not take {' and '.join(refused)}",
            hint=f"leave it out; of the sampling settings it takes {taken or 'none'}",
        )
