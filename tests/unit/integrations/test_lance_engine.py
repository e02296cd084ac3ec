"""What a process loads that keeps libraries in LanceDB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# In a process of its own: what another test has imported stays.
_OPENED = """
import sys
from openbook.index.protocol import IndexIdentity
from openbook.integrations.lance_engine import LanceEngine

engine = LanceEngine(sys.argv[1])
engine.open("mine", IndexIdentity("embedder", "tokens"), lock_timeout_s=5).close()
print(sorted({"lancedb", "lance_namespace_urllib3_client", "urllib3"} & sys.modules.keys()))
print(engine.names())

import lance_namespace
from lance_namespace_urllib3_client.models import ListTablesResponse
response = lance_namespace.ListTablesResponse(tables=["one"])
print(response.tables, isinstance(response, lance_namespace.ListTablesResponse), type(response) is ListTablesResponse)
print(lance_namespace.ListTablesResponse.from_dict({"tables": ["two"]}).tables)
"""


@pytest.mark.slow
def test_a_library_opens_without_the_http_client_of_lancedb_which_is_there_when_it_is_used(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _OPENED, str(tmp_path / "shared")]

    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=120).stdout

    assert said.splitlines() == ["['lancedb']", "['mine']", "['one'] True True", "['two']"]
