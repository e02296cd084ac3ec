"""The version of the package has one source."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import openbook
from openbook.cli import main


def test_the_version_is_that_of_the_installed_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0

    assert openbook.__version__ == version("openbook")
    assert capsys.readouterr().out == f"openbook {openbook.__version__}\n"
