"""What was traded in a pool, by hour and day, out of the index."""

from __future__ import annotations

import pytest

from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.history.conftest import followed as followed
from tests.tools_app.history.followed import Followed

pytestmark = pytest.mark.django_db


def test_hours_and_days_of_a_followed_pool_are_those_of_the_node_and_a_gap_is_told(followed: Followed) -> None:
    followed.swap(10**9)
    followed.mine(2)
    followed.watch(followed.pool.address)
    begun = followed.head()
    for amount in (10**9, 2 * 10**9):
        followed.swap(amount)
    followed.mine(2)
    followed.follow()
    told = answer_of(
        make_context(followed.world), "data_get_pool_volume_history", pool_address=followed.pool.address, span="hour"
    )
    own = followed.node_bars(since=begun)
    assert {row["starts_at"] for row in told["bars"]} <= {start.isoformat() for start in own}
    assert [int(row["paid_in0"]) + int(row["paid_in1"]) for row in told["bars"]] == [
        bar[4] + bar[5] for start, bar in sorted(own.items()) if start.isoformat() in str(told["bars"])
    ]
    assert told["gaps"] and told["bars"][-1]["is_whole"] is False
    assert told["reason"] is None and told["known_since"] and told["source"] == "this server's index"
    while followed.fill():
        pass
    days = answer_of(
        make_context(followed.world), "data_get_pool_volume_history", pool_address=followed.pool.address, span="day"
    )
    assert days["gaps"] == []
    assert sum(row["trades"] for row in days["bars"]) == sum(bar[6] for bar in followed.node_bars().values())


def test_a_pool_that_nobody_follows_says_so_and_how_it_is_followed(chain: World) -> None:
    pool = chain.pool("v3", "USDC", "WETH", 500).address
    told = answer_of(make_context(chain), "data_get_pool_volume_history", pool_address=pool)
    assert told["bars"] == [] and told["known_since"] is None
    assert "stream_pool_events" in told["reason"]
