"""Which executor prepares files: by the settings, and by how much there is to read."""

from __future__ import annotations

import pytest

from openbook.errors import SettingsError
from openbook.ingest.executor import InlineExecutor, ProcessExecutor, executor_for
from openbook.integrations.ray_executor import RayExecutor
from openbook.settings import Settings

MB = 1024 * 1024


@pytest.mark.parametrize(
    ("name", "workers", "size_bytes", "kind"),
    [
        ("", 2, 100 * MB, ProcessExecutor),
        ("", 1, 100 * MB, InlineExecutor),
        ("", 2, MB, InlineExecutor),
        ("ray:auto", 1, 16 * MB, RayExecutor),
        ("ray:auto", 2, 15 * MB, ProcessExecutor),
        ("ray:auto", 1, 15 * MB, InlineExecutor),
    ],
)
def test_the_amount_to_read_pays_for_the_executor(name: str, workers: int, size_bytes: int, kind: type) -> None:
    assert isinstance(executor_for(Settings(executor=name, workers=workers), size_bytes), kind)


@pytest.mark.parametrize("size_bytes", [1, 100 * MB])
def test_an_executor_that_is_not_there_is_refused_whatever_there_is_to_read(size_bytes: int) -> None:
    with pytest.raises(SettingsError, match="there is no executor 'nope'"):
        executor_for(Settings(executor="nope:x"), size_bytes)
