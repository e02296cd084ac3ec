"""Files of the past are kept as long as there is room for them, and not read again for each citation."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import FrameType

import pytest

from openbook.sources.decode import decode
from openbook.verify.relocation import ComparedText
from openbook.verify.verify import FileVerifier
from tests.repositories import Repository
from tests.unit.verify.checks import CODE, told

VERSIONS = 12
MOST_CHARS = 10_000_000


@pytest.mark.slow
def test_of_a_long_page_with_many_versions_few_are_kept_and_each_is_read_once(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "shop")
    filling = f"{'word ' * 30}\n" * 8_000
    cites = "See `send` (src/app.py:8).\nSee `retry` (src/app.py:14-16).\nSee src/app.py:5.\n"
    for version in range(VERSIONS):
        repository.commit({"docs/a.md": f"# Version {version}\n\n{cites}\n{filling}", "src/app.py": CODE})
    before, reads = {id(each) for each in _pages()}, 0

    def counted(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal reads
        reads += event == "call" and frame.f_code is decode.__code__

    verifier = FileVerifier(repository.folder)
    sys.setprofile(counted)
    try:
        report = verifier.verify(str(repository.folder / "docs/a.md"))
    finally:
        sys.setprofile(None)

    assert [told(each) for each in report.findings] == [("ok", "history", "")] * 3
    assert sum(len(each.text) for each in _pages() if id(each) not in before) < MOST_CHARS
    assert reads < 2 * VERSIONS


def _pages() -> list[ComparedText]:
    return [each for each in gc.get_objects() if isinstance(each, ComparedText)]
