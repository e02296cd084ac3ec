"""Test doubles: small offline implementations that pass the same contract suites as the real ones."""

from __future__ import annotations

from openbook.testing.fake_server import FakeServer
from openbook.testing.hash_embedder import HashEmbedder
from openbook.testing.script import Fault, ReceivedRequest, Refusal, ScriptedReply
from openbook.testing.scripted_model import ScriptedModel

__all__ = [
    "FakeServer",
    "Fault",
    "HashEmbedder",
    "ReceivedRequest",
    "Refusal",
    "ScriptedModel",
    "ScriptedReply",
]
