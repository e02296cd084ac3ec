"""What the page on deployment tells to run, as far as it needs no system of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from openbook.library import Library
from openbook.server.keys import KeyStore
from openbook.settings import Settings
from tests.support import write_tree

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_what_is_backed_up_while_it_is_used_is_restored_whole(tmp_path: Path) -> None:
    backup, home = tmp_path / "backup", tmp_path / "home"
    section = PAGE.read_text(encoding="utf-8").partition("## Backup\n")[2].partition("\n## ")[0]
    recipe, restore = ("\n".join(re.findall(r"^ {4}(.*)$", part, re.MULTILINE)) for part in section.split("To restore"))
    settings = Settings(home=home, workers=1)
    folder = write_tree(tmp_path / "harbour", {"guide.md": "# Sessions\n\nSessions end after one hour.\n"})
    here = {"id": "0badcafe", "uploads/team/uploads/a.md": "# Tea\n", "cache/of/lance.bin": "", "x.sqlite-wal": ""}
    write_tree(home, here)

    with Library.open("team books", settings=settings) as library, closing(KeyStore(home)) as keys:
        library.add(folder)
        library.add_text("The gull flies.", "gull.md")
        key = keys.add("me")
        _shell(recipe, home, backup)
    home.rename(tmp_path / "lost")
    open_to_others = [path for path in (backup, *backup.rglob("*")) if path.stat().st_mode & 0o077]
    home.mkdir()
    _shell(restore, home, backup)

    with Library.open("team books", settings=settings) as library, closing(KeyStore(home)) as keys:
        assert library.stats().documents == 2
        assert keys.find(key) is not None
    kept = {path.relative_to(home).parts[0] for path in home.rglob("*")}
    assert kept >= {"id", "texts", "uploads", "libraries", "keys.sqlite"}
    assert not kept & {"cache", "x.sqlite-wal"}
    assert [path.name for path in open_to_others if path.suffix == ".sqlite" or path == backup] == []


def _shell(script: str, home: Path, backup: Path) -> None:
    environ = {"PATH": "/usr/bin:/bin", "OPENBOOK_HOME": str(home), "BACKUP": str(backup)}
    subprocess.run(["sh", "-euc", script], env=environ, check=True, timeout=60)
