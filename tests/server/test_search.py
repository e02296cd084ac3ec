"""Searches while somebody types: what they find, where, and how many of one caller there may be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from openbook.library import Library
from openbook.server.failures import RequestRefusedError
from openbook.server.schemas import SearchRequest
from openbook.server.search_service import SearchService
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from tests.fakes.clock import Clock
from tests.server.conftest import Serve


def search(client: TestClient, query: str, **more: object) -> Any:
    response = client.post("/api/search", json={"query": query, **more})
    assert response.status_code == 200, response.text
    return response.json()


def test_a_search_finds_places_with_the_lines_that_match_and_their_words(client: TestClient) -> None:
    found = search(client, "retry seconds")

    hit = found["hits"][0]
    words = [hit["quote"][start:end] for start, end in hit["matches"]]
    assert (hit["path"], hit["kind"], hit["first_line"]) == ("guide.md", "docs", 5)
    assert {"retry", "seconds"} <= set(words)
    assert client.get(f"/api/documents/{hit['document_id']}").status_code == 200


def test_a_search_looks_only_where_its_filters_say(client: TestClient) -> None:
    code = search(client, "ferry parcels", filters={"kinds": ["code"]})
    pages = search(client, "ferry parcels", filters={"globs": ["*.md"]}, limit=1)
    missing = client.post("/api/search", json={"query": "ferry", "filters": {"sources": ["nowhere"]}})

    assert {hit["path"] for hit in code["hits"]} == {"ferry.py"}
    assert [hit["path"] for hit in pages["hits"]] == ["guide.md"]
    assert missing.status_code == 404


def test_a_query_without_a_word_finds_nothing_without_an_error(client: TestClient) -> None:
    found = search(client, "?")

    assert found["hits"] == []
    assert found["reason"]


def test_a_search_needs_a_key_where_the_server_does(serve: Serve) -> None:
    assert serve(needs_key=True).post("/api/search", json={"query": "ferry"}).status_code == 401


@pytest.fixture
def searching(folder: Path, home: Path) -> Callable[[Clock], SearchService]:
    library = ServedLibrary(Library.of(folder, settings=Settings(home=home)))
    return lambda clock: SearchService(library, clock=clock)


def test_one_caller_cannot_search_without_end_and_others_still_can(searching: Callable[[Clock], SearchService]) -> None:
    clock = Clock(0.0)
    service = searching(clock)
    asked = SearchRequest(query="?")

    async def many(count: int, party: str) -> int:
        done = 0
        for _ in range(count):
            try:
                await service.search(asked, party)
            except RequestRefusedError:
                return done
            done += 1
        return done

    assert asyncio.run(many(400, "ada")) == 300
    assert asyncio.run(many(1, "eve")) == 1
    clock.now_s += 1.0
    assert asyncio.run(many(400, "ada")) == 5
    service.close()


def test_four_searches_of_a_caller_run_at_a_time_and_one_that_is_left_gives_its_place_free(
    searching: Callable[[Clock], SearchService],
) -> None:
    service = searching(Clock(0.0))

    async def crowd() -> list[str]:
        asked = SearchRequest(query="ferry")
        first = [asyncio.create_task(service.search(asked, "ada")) for _ in range(4)]
        await asyncio.sleep(0)  # all have begun
        with pytest.raises(RequestRefusedError, match="at once"):
            await service.search(asked, "ada")
        first[3].cancel()  # it waits for its turn
        other = await service.search(asked, "eve")
        outcomes = await asyncio.gather(*first, return_exceptions=True)
        again = [await service.search(asked, "ada") for _ in range(2)]
        return [type(each).__name__ for each in (*outcomes, other, *again)]

    names = asyncio.run(crowd())

    assert sorted(names) == ["CancelledError", *["SearchResponse"] * 6]
    service.close()
