"""The modules of the page under Node: those that know no page by their own tests, and all of them by their types."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.web.npm import Tool, unpacked
from tests.web.serving import ROOT

pytestmark = pytest.mark.browser

TYPESCRIPT = Tool("typescript", "5.9.3", "10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3")


def _run(*arguments: str | Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.fail("there is no Node; on Debian: apt-get install nodejs", pytrace=False)
    ran = subprocess.run([node, *arguments], capture_output=True, check=False, encoding="utf-8", timeout=600)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.test.mjs")), ids=lambda path: path.name)
def test_the_modules_without_a_page_pass_their_own_tests(path: Path) -> None:
    _run("--test", path)


def test_the_types_that_the_modules_declare_fit_together(pytestconfig: pytest.Config) -> None:
    compiler = unpacked(TYPESCRIPT, pytestconfig) / "lib" / "tsc.js"
    strict = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--skipLibCheck", "--lib", "es2023,dom,dom.iterable")
    modules = ("--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler")

    _run(compiler, *strict, *modules, *sorted((ROOT / "src/openbook/server/web").glob("*.js")))
