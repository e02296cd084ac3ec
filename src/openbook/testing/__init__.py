"""Doubles that are real implementations: small, offline, and under the same contract suites."""

from __future__ import annotations

from openbook.testing.embedding_server import EmbeddingServer
from openbook.testing.fake_server import FakeServer
from openbook.testing.git_server import GitServer
from openbook.testing.github_server import GitHubFault, GitHubServer
from openbook.testing.hash_embedder import HashEmbedder
from openbook.testing.rerank_server import RerankServer
from openbook.testing.script import Fault, ReceivedRequest, Refusal, ScriptedReply
from openbook.testing.scripted_model import ScriptedModel

__all__ = [
    "EmbeddingServer",
    "FakeServer",
    "Fault",
    "GitHubFault",
    "GitHubServer",
    "GitServer",
    "HashEmbedder",
    "ReceivedRequest",
    "Refusal",
    "RerankServer",
    "ScriptedModel",
    "ScriptedReply",
]
