"""The table of providers: API, address, key, and differences."""

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
    """A provider. The fields after `model` describe how its API differs from OpenAI's."""

    name: str
    url: str
    """Base URL of its API."""
    wire: Literal["anthropic", "openai"] = "openai"
    key: str
    """Environment variable with its key."""
    url_variable: str = ""
    """Environment variable with another base URL, for a proxy; empty if there is none."""
    needs_key: bool = False
    model: str = ""
    """Default model if only the provider is named. Empty: a model is required."""
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Its parameter for the maximum output tokens."""
    usage_on_request: bool = True
    """Whether it reports usage in a stream only if `stream_options` requests it."""
    forces_by_name: bool = False
    """Whether `tool_choice` may name a tool. Otherwise only that tool is sent, and a tool call is required."""
    takes: frozenset[SamplingSetting] = SAMPLING_SETTINGS
    """Sampling settings that its models support."""
    reasoning: str = ""
    """Pattern for names of reasoning models, whose only sampling setting is the seed."""
    documents: bool = False
    """Whether it accepts sources as `documents`, and cites them in `annotations`."""

    reads: frozenset[AttachmentKind] = frozenset({"image"})
    """Attachments that its models may read. On self-hosted servers, images depend on the model."""
    sighted: str = ""
    """Pattern for names of models that read images, if only some do. Empty: all may."""

    def reads_of(self, model: str) -> frozenset[AttachmentKind]:
        """Return the attachments that a model reads, as far as known.

        Example:
            >>> sorted(ANTHROPIC.reads_of("claude-sonnet-5-5")), sorted(GROQ.reads_of("openai/gpt-oss-120b"))
            (['image', 'pdf'], [])
        """
        return self.reads if re.match(self.sighted, model) else frozenset()

    def sampling_of(self, model: str) -> frozenset[SamplingSetting]:
        """Return the sampling settings that a model supports.

        Example:
            >>> sorted(OPENAI.sampling_of("gpt-4.1")), sorted(OPENAI.sampling_of("o4-mini"))
            (['seed', 'stop', 'temperature', 'top_p'], ['seed'])
        """
        reasons = self.reasoning and re.match(self.reasoning, model)
        return self.takes & {"seed"} if reasons else self.takes


# Names, prices and limits of models change; these are from the packages anthropic 2.12, openai 3.54, groq 1.7 and
# genai-prices. Local servers have their default ports.
ANTHROPIC = Provider(
    name="anthropic",
    wire="anthropic",
    url="https://api.anthropic.com",
    key="ANTHROPIC_API_KEY",
    url_variable="ANTHROPIC_BASE_URL",
    needs_key=True,
    model="claude-sonnet-5-5",
    reads=frozenset({"image", "pdf"}),
    takes=frozenset({"stop"}),  # its SDK has no other: current models reject them
)
GROQ = Provider(
    name="groq",
    url="https://api.groq.com/openai/v1",
    key="GROQ_API_KEY",
    needs_key=True,
    model="openai/gpt-oss-120b",
    limit="max_completion_tokens",
    usage_on_request=False,  # always reports usage, in its own field `x_groq`
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
    limit="max_completion_tokens",  # its reasoning models reject `max_tokens`
    reads=frozenset({"image", "pdf"}),
    reasoning=r"o\d|codex|gpt-(?:[5-9]|\d\d)(?!.*chat)",
    forces_by_name=True,
)
OLLAMA = Provider(name="ollama", url="http://127.0.0.1:11434/v1", key="OLLAMA_API_KEY")
VLLM = Provider(name="vllm", url="http://127.0.0.1:8000/v1", key="VLLM_API_KEY", forces_by_name=True)
LLAMACPP = Provider(name="llamacpp", url="http://127.0.0.1:8080/v1", key="LLAMA_API_KEY")

# Those with keys first, in the order of preference for the default model.
PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {provider.name: provider for provider in (ANTHROPIC, GROQ, OPENAI, OLLAMA, VLLM, LLAMACPP)}
)
