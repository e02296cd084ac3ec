"""Which Redis a setting names, by what follows `redis:` or `rediss:`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from openbook.errors import SharedError
from openbook.integrations.redis_store import RedisStore, TlsRedisStore
from openbook.server.shared_store import open_shared_store
from openbook.settings import Secret
from tests.redis_server import RedisServer


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("kind", "address", "shown"),
    [
        (RedisStore, "//:sesame@127.0.0.1:1/0", "redis://127.0.0.1:1/0"),
        (TlsRedisStore, "//:sesame@127.0.0.1:1/0", "rediss://127.0.0.1:1/0"),
        (RedisStore, "rediss://:sesame@127.0.0.1:1/0", "rediss://127.0.0.1:1/0"),
    ],
)
def test_the_scheme_is_the_name_or_one_that_follows_it(kind: type[RedisStore], address: str, shown: str) -> None:
    with pytest.raises(SharedError, match=f"Redis at {shown} cannot be used: Connection refused") as caught:
        kind(address)

    assert "OPENBOOK_SHARED_STORE" in caught.value.hint


def test_a_socket_of_this_machine_is_an_address(tmp_path: Path) -> None:
    with pytest.raises(SharedError, match=rf"Redis at unix://{tmp_path}/redis\.sock cannot be used: No such file"):
        RedisStore(f"unix://{tmp_path}/redis.sock")


def test_a_setting_opens_it_by_its_entry_point(redis_server: RedisServer) -> None:
    with closing(open_shared_store(Secret(redis_server.url))) as store:
        assert isinstance(store, RedisStore)
        store.check()
