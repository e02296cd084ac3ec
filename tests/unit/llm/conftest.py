from __future__ import annotations

import socket

import pytest


@pytest.fixture
def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
    return port
