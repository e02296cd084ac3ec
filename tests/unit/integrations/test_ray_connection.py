from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from openbook.errors import ClusterError, MissingExtraError
from openbook.integrations.ray_connection import connected
from tests.children import run_child

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the package ray is not installed")


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(MissingExtraError, match="'ray' is not installed") as caught, connected("auto", 2):
        pass

    assert "openbook[ray]" in caught.value.hint


# In a process of its own: filters of warnings are the process's.
_FORKED = """
import subprocess
import lancedb
from lancedb.background_loop import LOOP
from openbook.integrations.ray_connection import _quieten

_quieten()
subprocess.run(["true"], preexec_fn=lambda: None)  # as Ray starts its programs
"""


@pytest.mark.slow
def test_a_cluster_that_is_started_beside_lancedb_warns_of_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, encoding="utf-8", timeout=120)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@needs_ray
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://somebody:secret@127.0.0.1:{}", "127.0.0.1:{}0000000"])
def test_an_address_that_answers_nobody_is_an_error_without_what_is_secret(form: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = form.format(closed.getsockname()[1])

    with (
        pytest.raises(ClusterError, match=r"cannot reach the Ray cluster at 127\.0\.0\.1:") as caught,
        connected(address, 2),
    ):
        pass

    assert "ray start --head" in caught.value.hint
    assert "secret" not in str(caught.value)


def what_is_imported(folder: str, home: str) -> list[str]:
    """Index a folder that is large enough for processes, with no cluster set, and tell what of Ray was imported."""
    from openbook.library import Library
    from openbook.settings import Settings

    with Library.of(folder, settings=Settings(home=Path(home), workers=2)):
        return [name for name in sys.modules if name.partition(".")[0] in {"ray", "grpc"}]


@pytest.mark.slow
def test_nothing_of_ray_is_imported_where_no_cluster_is_set(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for number in range(3):
        (tmp_path / f"folder/{number}.txt").write_text("word " * 2000 + "\n" * 900_000, encoding="utf-8")

    assert run_child(what_is_imported, tmp_path / "folder", tmp_path / "home") == "[]"
