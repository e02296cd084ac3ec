"""GitHub over real HTTP: limits are kept, failures asked for again or told in words that help, hosts checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from openbook.errors import FetchError
from openbook.settings import Secret
from openbook.sources.network_policy import NetworkPolicy
from openbook.testing.github_server import GitHubFault, GitHubServer
from tests.unit.sources.fetching import FILES, MANY, Fetching, held, refusal


def test_a_rate_limit_is_waited_for_within_the_deadline(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", FILES)
    fetch.server.remaining, fetch.server.resets_in_s = 1, 30
    fetch.while_asleep = lambda: setattr(fetch.server, "remaining", None)

    assert held(fetch()) == FILES
    assert [29 <= slept <= 32 for slept in fetch.slept] == [True]


def test_a_rate_limit_beyond_the_deadline_is_an_error_that_names_the_time(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", FILES)
    fetch.server.remaining, fetch.server.resets_in_s = 1, 1800

    error = refusal(fetch)

    assert fetch.slept == []
    assert error.retry_at is not None
    assert 1790 < error.retry_at - time.time() < 1810
    assert time.strftime("%Y-%m-%d %H:", time.gmtime(error.retry_at)) in error.reason
    assert "GITHUB_TOKEN" in error.hint


@pytest.mark.parametrize(
    ("fault", "wait_s"),
    [
        pytest.param(GitHubFault("refuse", 429, {"Retry-After": "7"}), 8.0, id="time-is-named"),
        pytest.param(GitHubFault("refuse", 429), 60.0, id="no-time-is-named"),
        pytest.param(GitHubFault("refuse", 403, {}, "You have exceeded a secondary rate limit."), 60.0, id="in-words"),
    ],
)
def test_too_many_requests_at_once_are_sent_again_after_a_while(
    fetch: Fetching, fault: GitHubFault, wait_s: float
) -> None:
    fetch.server.add("octo/shop", FILES)
    fetch.server.fail("trees", fault, times=2)
    fetch.timeout_s = 100.0

    assert held(fetch()) == FILES
    assert fetch.slept == [wait_s, wait_s]


SSO = {"X-GitHub-SSO": "required; url=https://github.com/orgs/octo/sso"}


@pytest.mark.parametrize(
    ("token", "fault", "reason", "hint"),
    [
        pytest.param("", None, "does not exist, or is private", "GITHUB_TOKEN", id="missing-or-private"),
        pytest.param("right", None, "the token in GITHUB_TOKEN may not see it", "rights", id="missing-with-token"),
        pytest.param("wrong", None, "does not accept the token", "unset GITHUB_TOKEN", id="wrong-token"),
        pytest.param("right", (403, SSO), "single sign-on", "organisation", id="single-sign-on"),
        pytest.param("right", (403, {}), "forbids it", "right to read contents", id="forbidden"),
        pytest.param("", (451, {}), "legal reasons", "", id="blocked"),
        pytest.param("", (418, {}), "GitHub answers 418", "", id="anything"),
    ],
)
def test_a_refusal_says_what_the_answer_can_tell(
    fetch: Fetching, token: str, fault: tuple[int, dict[str, str]] | None, reason: str, hint: str
) -> None:
    fetch.server.add("octo/other", FILES)
    fetch.token = {"right": Secret(fetch.server.token), "wrong": Secret("ghp_wrong")}.get(token)
    if fault:
        fetch.server.fail("shop", GitHubFault("refuse", *fault))

    error = refusal(fetch)

    assert reason in error.reason
    assert hint in error.hint
    assert "ghp_wrong" not in f"{error}{error.hint}"


def test_a_private_repository_is_there_for_its_token(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", FILES, private=True)
    fetch.token = Secret(fetch.server.token)

    mirror = fetch()

    assert mirror.state is not None
    assert mirror.state.head is not None
    assert mirror.state.head.private


@pytest.mark.parametrize("address", ["octo/shop@nope", "https://github.com/octo/shop/tree/no/such/branch"])
def test_a_branch_that_is_not_there_is_told_from_a_repository_that_is_not(fetch: Fetching, address: str) -> None:
    fetch.server.add("octo/shop", FILES)

    assert "no branch, tag or commit" in refusal(fetch, address).reason
    assert "does not exist" in refusal(fetch, address.replace("shop", "none")).reason


def test_an_empty_repository_and_an_empty_folder_say_so(fetch: Fetching) -> None:
    fetch.server.add("octo/shop")
    fetch.server.add("octo/other", FILES)

    assert "is empty" in refusal(fetch).reason
    assert "nothing to read at 'nowhere'" in refusal(fetch, "https://github.com/octo/other/tree/main/nowhere").reason


@pytest.mark.parametrize(
    ("path", "then"),
    [
        *(("commits", "cut"), ("trees", "cut"), ("blobs", "cut"), ("legacy", "cut")),
        *(("commits", "refuse"), ("legacy", "refuse"), ("blobs", "damage"), ("legacy", "damage")),
    ],
)
def test_what_breaks_once_is_asked_for_again(fetch: Fetching, path: str, then: Any) -> None:
    files = MANY if path == "legacy" else FILES
    fetch.server.add("octo/shop", files)
    fetch.server.fail(path, GitHubFault(then))

    assert held(fetch()) == files


@pytest.mark.parametrize(
    ("path", "then", "reason"),
    [
        ("commits", "cut", "broke off"),
        ("commits", "refuse", "GitHub answers 500"),
        ("commits", "damage", "not what GitHub promises"),
        ("trees", "damage", "not what GitHub promises"),
        ("blobs", "damage", "came damaged"),
        ("legacy", "cut", "cut short|broke off"),
        ("legacy", "damage", "damaged"),
    ],
)
def test_what_breaks_again_and_again_leaves_what_was_there(fetch: Fetching, path: str, then: Any, reason: str) -> None:
    repository = fetch.server.add("octo/shop", FILES)
    mirror = fetch()
    before = mirror.state
    repository.commit(MANY if path == "legacy" else {**FILES, "README.md": "changed\n"})
    fetch.server.fail(path, GitHubFault(then), times=3)

    with pytest.raises(FetchError, match=reason):
        fetch()

    assert held(mirror) == FILES
    assert mirror.state == before


@pytest.mark.parametrize("then", ["drip", "hold"])
def test_what_comes_too_slowly_is_given_up_at_the_deadline(fetch: Fetching, then: Any) -> None:
    fetch.server.add("octo/shop", FILES)
    fetch.server.fail("trees", GitHubFault(then), times=9)
    fetch.timeout_s = 0.3

    assert "not there within 0.3 s" in refusal(fetch).reason


def lookups(*answers: Sequence[str]) -> Callable[[str, int], Sequence[str]]:
    """Answer each lookup with the next of some lists, as a host does that is up to no good."""
    left: Iterator[Sequence[str]] = iter(answers)
    return lambda host, port: next(left)


def test_a_confined_fetch_connects_to_the_address_that_was_checked(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", FILES)
    port = fetch.server.api_url.rpartition(":")[2]
    own = f"api.corp:{port}"
    fetch.server = _Elsewhere(fetch.server, f"http://{own}")
    fetch.reach = NetworkPolicy(confined=True, hosts=("github.com", own), resolve_host=lambda host, port: ["127.0.0.1"])

    assert held(fetch()) == FILES


def test_a_confined_fetch_refuses_a_public_host_that_leads_into_this_machine(fetch: Fetching) -> None:
    fetch.server = _Elsewhere(fetch.server, "https://api.github.com")
    fetch.reach = NetworkPolicy(confined=True, resolve_host=lookups(["127.0.0.1"]))

    assert "not public" in refusal(fetch).reason


def test_a_confined_fetch_follows_no_redirect_to_a_host_that_is_not_allowed(fetch: Fetching) -> None:
    fetch.server.add("octo/shop", MANY)
    own = fetch.server.api_url.removeprefix("http://")
    fetch.reach = NetworkPolicy(confined=True, hosts=("github.com", own))

    assert "not allowed here" in refusal(fetch).reason
    assert not any(request.codeload for request in fetch.server.requests)


class _Elsewhere(GitHubServer):
    """A server under another name."""

    def __init__(self, server: GitHubServer, api_url: str) -> None:
        self.requests = server.requests
        self._url = api_url

    @property
    def api_url(self) -> str:
        return self._url


def test_pages_of_another_host_are_not_asked_for(fetch: Fetching) -> None:
    repository = fetch.server.add("octo/shop", FILES)
    for number in range(40):
        repository.commit(FILES, f"feature/{number:02}")
    fetch.server = _Elsewhere(fetch.server, fetch.server.api_url.replace("127.0.0.1", "localhost"))
    fetch.reach = NetworkPolicy(
        confined=True, hosts=("github.com", fetch.server.api_url[7:]), resolve_host=lambda *_: ["127.0.0.1"]
    )

    assert "leads elsewhere" in refusal(fetch, "octo/shop@feature/00/docs").reason
