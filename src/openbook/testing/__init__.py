"""Doubles that are real implementations: small, offline, and under the same contract suites."""

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
