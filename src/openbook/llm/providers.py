"""The table of providers: API, address, key, and differences of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from openbook.llm.messages import AttachmentKind
from openbook.llm.sampling import SAMPLING_SETTINGS, SamplingSetting


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider. The fields after `model` are quirks of its variant of the OpenAI API."""

    name: str
    url: str
    """Where its API begins."""
    wire: Literal["anthropic", "openai"] = "openai"
    key: str
    """Variable that holds its key."""
    url_variable: str = ""
    """Variable that holds another address, for a proxy; empty if there is none."""
    needs_key: bool = False
    model: str = ""
    """Used when only the provider is named. Empty: one has to be named."""
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Its parameter for the most output tokens."""
    usage_on_request: bool = True
    """Whether it reports usage at the end of a stream only if `stream_options` asks for it."""
    forces_by_name: bool = False
    """Whether `tool_choice` may name a tool. Else the others are left out, and any tool is forced."""
    takes: frozenset[SamplingSetting] = SAMPLING_SETTINGS
    """Sampling settings that its models take."""
    reasoning: str = ""
    """Pattern of the names of models that reason before they write, and take no sampling but a seed."""
    documents: bool = False
    """Whether sources can be sent as `documents`, which it cites in `annotations`."""

    reads: frozenset[AttachmentKind] = frozenset({"image"})
    """What its models may read besides text. Servers of one's own read images if the model does."""
    sighted: str = ""
    """Pattern of the names of models that read images, where others do not. Empty: all of them may."""

    def reads_of(self, model: str) -> frozenset[AttachmentKind]:
        """Return what a model reads besides text, as far as it is known.

        Example:
            >>> sorted(ANTHROPIC.reads_of("claude-sonnet-5-5")), sorted(GROQ.reads_of("openai/gpt-oss-120b"))
            (['image', 'pdf'], [])
        """
        return self.reads if re.match(self.sighted, model) else frozenset()

    def sampling_of(self, model: str) -> frozenset[SamplingSetting]:
        """Return the sampling settings that a model takes.

        Example:
            >>> sorted(OPENAI.sampling_of("gpt-4.1")), sorted(OPENAI.sampling_of("o4-mini"))
            (['seed', 'stop', 'temperature', 'top_p'], ['seed'])
        """
        reasons = self.reasoning and re.match(self.reasoning, model)
        return self.takes & {"seed"} if reasons else self.takes


# Names, prices and limits of models change; these are from the packages anthropic 2.12, openai 3.54,
# groq 1.7 and genai-prices. The local servers are at the ports that they take by themselves.
ANTHROPIC = Provider(
    name="anthropic",
    wire="anthropic",
    url="https://api.anthropic.com",
    key="ANTHROPIC_API_KEY",
    url_variable="ANTHROPIC_BASE_URL",
    needs_key=True,
    model="claude-sonnet-5-5",
    reads=frozenset({"image", "pdf"}),
    takes=frozenset({"stop"}),  # its package has no other any more: current models refuse them
)
GROQ = Provider(
    name="groq",
    url="https://api.groq.com/openai/v1",
    key="GROQ_API_KEY",
    needs_key=True,
    model="openai/gpt-oss-120b",
    limit="max_completion_tokens",
    usage_on_request=False,  # it always reports usage, in a field of its own: `x_groq`
    forces_by_name=True,
    documents=True,
    sighted=r".*(?:llama-4|vision|-vl)",
)
OPENAI = Provider(
    name="openai",
    url="https://api.openai.com/v1",
    key="OPENAI_API_KEY",
    url_variable="OPENAI_BASE_URL",
    needs_key=True,
    model="gpt-6.1-terra",
    limit="max_completion_tokens",  # its reasoning models refuse `max_tokens`
    reads=frozenset({"image", "pdf"}),
    reasoning=r"o\d|codex|gpt-(?:[5-9]|\d\d)(?!.*chat)",
    forces_by_name=True,
)
OLLAMA = Provider(name="ollama", url="http://127.0.0.1:11434/v1", key="OLLAMA_API_KEY")
VLLM = Provider(name="vllm", url="http://127.0.0.1:8000/v1", key="VLLM_API_KEY", forces_by_name=True)
LLAMACPP = Provider(name="llamacpp", url="http://127.0.0.1:8080/v1", key="LLAMA_API_KEY")

# Those with keys come first, in the order in which a key that is set chooses one.
PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {provider.name: provider for provider in (ANTHROPIC, GROQ, OPENAI, OLLAMA, VLLM, LLAMACPP)}
)
