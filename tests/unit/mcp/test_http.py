from __future__ import annotations

import pytest

from openbook.mcp.http import of_this_machine


@pytest.mark.parametrize(("host", "name"), [("127.0.0.2", "127.0.0.2"), ("::1", "[::1]"), ("localhost", "localhost")])
def test_on_this_machine_it_answers_under_names_that_no_other_site_has(host: str, name: str) -> None:
    allowed = of_this_machine(host)

    assert allowed.enable_dns_rebinding_protection
    assert {name, f"{name}:*", "localhost:*"} <= set(allowed.allowed_hosts)
    assert f"http://{name}:*" in allowed.allowed_origins
