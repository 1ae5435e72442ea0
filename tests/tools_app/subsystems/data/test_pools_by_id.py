"""Pools without an address of their own: data tools, streams and the index of logs know them by 32 bytes."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.heartbeat import observe_reads
from tests.evm.world import CHAIN_ID
from tests.made_up_pools.on_the_shelf import NAME, Pools
from tests.tools_app.history.followed import Followed
from tests.tools_app.subsystems.data.test_data_tools import read
from tests.tools_app.subsystems.stream.test_streams import Follower
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.history import chain_following, followed_contracts
from tools_app.models import ChainLog, LogSource
from tools_app.models.history import SourceKind
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.pool_ids import PoolId

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def follower(hook_pools: Pools) -> Follower:
    """A golem that subscribes."""
    return Follower(hook_pools.world)


@pytest.fixture
def followed(hook_pools: Pools, settings: Any) -> Followed:
    """An index that follows nothing yet."""
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 1_000_000
    return Followed(hook_pools.world)


def test_a_pool_is_read_by_its_32_bytes_with_its_manager_and_its_hook(hook_pools: Pools) -> None:
    told = read(hook_pools.world, "data_get_pool_info", pool_address=hook_pools.hooked)
    assert (told["pool_address"], told["manager"]) == (hook_pools.hooked, hook_pools.manager)
    assert told["hook"] == {"address": hook_pools.hook, "powers": ["AMOUNTS", "TRADES"], "is_risky": True}
    plain = read(hook_pools.world, "data_get_pool_info", pool_address=hook_pools.plain)
    assert plain["hook"] is None
    # Two pools of one manager hold what is theirs, not what the manager holds.
    assert plain["balance0"] == told["balance0"] != "0"


def test_one_spelling_of_an_id_names_the_pool_and_no_other_length_does(hook_pools: Pools) -> None:
    loud = "0x" + hook_pools.hooked[2:].upper()
    assert read(hook_pools.world, "data_get_pool_info", pool_address=loud)["pool_address"] == hook_pools.hooked
    for wrong, code in ((hook_pools.hooked[:-2], "INVALID_PARAMS"), ("0x" + "ab" * 32, "POOL_NOT_FOUND")):
        with pytest.raises(GolemError) as refused:
            read(hook_pools.world, "data_get_pool_info", pool_address=wrong)
        assert refused.value.code == code


def test_pools_of_a_pair_are_found_beside_those_with_addresses(hook_pools: Pools) -> None:
    rows = read(hook_pools.world, "data_get_pools_by_token_pair", token0="USDC", token1="WETH")["pools"]
    names = {row["pool_address"] for row in rows}
    assert {hook_pools.hooked, hook_pools.plain} < names


def test_a_stream_of_one_pool_tells_its_trades_and_none_of_its_managers_others(
    hook_pools: Pools, follower: Follower
) -> None:
    follower.call("stream_pool_events", pool_address=hook_pools.hooked, chain_id=CHAIN_ID, events=["swap"])
    follower.poll()
    hook_pools.trade(hook_pools.plain)
    hook_pools.trade(hook_pools.hooked, 2 * 10**9)
    follower.poll()
    [event] = follower.events("pool:event")
    assert event["pool_address"] == hook_pools.hooked
    assert 2 * 10**9 in (int(event["amount0"]), int(event["amount1"]))


def test_the_index_of_logs_keeps_one_pool_of_a_manager(hook_pools: Pools, followed: Followed) -> None:
    assert chain_following.begin_chain(followed.network, now=followed.now) is not None
    wish = followed_contracts.FollowWish(
        CHAIN_ID, hook_pools.hooked, SourceKind.POOL, str(followed.golem_id), "a test", hook_pools.manager
    )
    assert followed_contracts.take_up(CHAIN_ID, [wish], now=followed.now) == 1
    hook_pools.trade(hook_pools.plain)
    hook_pools.trade(hook_pools.hooked, 3 * 10**9)
    followed.mine(2)
    followed.follow()
    source = LogSource.objects.get()
    assert source.told_by == PoolId(hook_pools.hooked, hook_pools.manager)
    [kept] = ChainLog.objects.filter(source_id=source.pk)
    assert 3 * 10**9 in (kept.in0, kept.in1)
    assert kept.price_x192 is not None


def test_the_index_follows_what_a_golem_subscribed_to_within_its_manager(
    hook_pools: Pools, follower: Follower, followed: Followed
) -> None:
    follower.call("stream_pool_state", pool_address=hook_pools.plain, chain_id=CHAIN_ID, interval_ms=5_000)
    assert followed_contracts.renew_all(now=followed.now) == 1
    assert LogSource.objects.get().told_by == PoolId(hook_pools.plain, hook_pools.manager)


def test_what_the_heartbeat_remembers_of_a_pool_names_its_manager() -> None:
    pool = Pool(
        "v3", PoolId("0x" + "ab" * 32, "0x" + "11" * 20), "0x" + "01" * 20, "0x" + "02" * 20, 500, protocol=NAME
    )
    known = read_stored(observe_reads.KnownPlaces, observe_reads._remember_pool(pool))
    again = observe_reads._remembered_pool({NAME: object()}, known)  # type: ignore[dict-item]
    assert again == pool
