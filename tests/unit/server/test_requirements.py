"""What the server needs is asked for before it starts."""

from __future__ import annotations

import pytest

from openbook.cli.serving import check_installed
from openbook.errors import MissingExtraError


def test_what_is_missing_is_named_with_the_way_to_install_it() -> None:
    check_installed()

    with pytest.raises(MissingExtraError, match="needs no_such_package") as caught:
        check_installed(("fastapi", "no_such_package"))

    assert "openbook[server]" in caught.value.hint
