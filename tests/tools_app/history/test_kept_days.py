"""Tools that show 24 hours of a pool read them from what is kept, and say the same as without it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import World
from tests.proof.lying_node import serve_lying_node
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.history.followed import Followed

pytestmark = pytest.mark.django_db

FIGURES = ("volume_24h_usd", "fees_24h_usd", "swaps_24h", "history_reason")


def read(followed: Followed, name: str, *, url: str = "", **params: Any) -> Any:
    world = World(url) if url else followed.world
    return answer_of(make_context(world), name, **params)


def test_24_hours_of_a_followed_pool_are_told_from_what_is_kept_and_are_those_of_the_node(followed: Followed) -> None:
    for amount in (10**9, 2 * 10**9):
        followed.swap(amount)
    followed.mine(2)
    followed.watch(followed.pool.address)
    while followed.fill():
        pass
    followed.swap(5 * 10**9)
    followed.mine(2)
    followed.follow()
    followed.swap(7 * 10**9)
    asked: list[dict[str, Any]] = []

    def note(requests: list[dict[str, Any]], ask: Any) -> Any:
        asked.extend(each["params"][0] for each in requests if each["method"] == "eth_getLogs")
        return ask(requests)

    with serve_lying_node(followed.world.rpc_url) as node:
        with node.lying(note):
            kept = read(followed, "data_get_pool_info", url=node.url, pool_address=followed.pool.address)
            price = read(followed, "data_get_token_price", url=node.url, token="WETH")
    begun = followed.head() - 3
    assert asked
    assert all(int(each["fromBlock"], 16) >= begun for each in asked if followed.pool.address in str(each["address"]))
    followed.source().delete()
    told = read(followed, "data_get_pool_info", pool_address=followed.pool.address)
    assert {name: kept[name] for name in FIGURES} == {name: told[name] for name in FIGURES}
    assert kept["swaps_24h"] >= 4
    again = read(followed, "data_get_token_price", token="WETH")
    assert (price["price_change_24h"], price["volume_24h_usd"]) == (again["price_change_24h"], again["volume_24h_usd"])


def test_a_pool_with_a_gap_in_its_day_is_asked_of_the_node_as_ever(followed: Followed) -> None:
    followed.swap(10**9)
    followed.mine(2)
    before = read(followed, "data_get_pool_info", pool_address=followed.pool.address)
    followed.watch(followed.pool.address)
    followed.mine(2)
    followed.follow()
    after = read(followed, "data_get_pool_info", pool_address=followed.pool.address)
    assert {name: before[name] for name in FIGURES} == {name: after[name] for name in FIGURES}
    assert after["swaps_24h"] >= 1
