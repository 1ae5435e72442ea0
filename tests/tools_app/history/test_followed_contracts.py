"""What is followed is what golems watch and hold: their subscriptions, their own positions, and nobody else's wish."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.evm.world import CHAIN_ID
from tests.tools_app.factories import call_tool, make_context
from tests.tools_app.history.followed import Followed
from tools_app.history import followed_contracts, log_expiry
from tools_app.models import FollowedChain, KnownPosition, LogGap, LogSource, LogWish, PriceBar, StreamSubscription
from tools_app.models.history import SourceKind
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.v3.positions import list_position_ids

pytestmark = pytest.mark.django_db


def know(followed: Followed, account: str, ref: str, *, is_own: bool = True) -> None:
    KnownPosition.objects.create(
        chain_id=CHAIN_ID,
        account=account,
        ref=ref,
        first_seen=followed.now,
        last_seen=followed.now,
        is_own=is_own,
    )


def test_a_pool_that_a_golem_subscribes_to_is_followed_from_then_on(followed: Followed) -> None:
    ctx = make_context(followed.world, golem_id=followed.golem_id)
    call_tool(ctx, "stream_pool_state", pool_address=followed.pool.address, chain_id=CHAIN_ID)
    assert followed_contracts.renew_all(now=followed.now) == 1
    source = LogSource.objects.get()
    assert (source.address, source.kind) == (followed.pool.address, SourceKind.POOL)
    assert LogWish.objects.get().wanted_by == str(followed.golem_id)
    gap = LogGap.objects.get()
    assert (gap.from_block, gap.to_block) == (0, FollowedChain.objects.get().next_block - 1)
    followed.swap(10**9)
    followed.mine(2)
    followed.follow()
    assert len(followed.kept_places()) == 1


def test_a_wish_is_written_again_after_an_hour_and_not_before(followed: Followed) -> None:
    ctx = make_context(followed.world, golem_id=followed.golem_id)
    call_tool(ctx, "stream_pool_state", pool_address=followed.pool.address, chain_id=CHAIN_ID)
    assert followed_contracts.renew_all(now=followed.now) == 1
    hour = followed_contracts.RENEWED_EVERY
    for passed, renewed in ((hour - timedelta(seconds=1), followed.now), (hour, followed.now + hour)):
        assert followed_contracts.renew_all(now=followed.now + passed) == 1
        assert LogWish.objects.get().renewed_at == renewed


def test_pools_and_vaults_of_a_golems_own_positions_are_followed_and_those_of_gifts_are_not(followed: Followed) -> None:
    world = followed.world
    maker = world.actors.makers[0].address
    ctx = make_context(world, address=maker)
    [first, *_], _ = list_position_ids(ctx.chain(), deployment_on(CHAIN_ID), maker, limit=1)
    pair, gift = world.pool("v2", "USDC", "WETH").address, world.pool("v2", "USDT", "WETH").address
    vault = "0x" + "11" * 20
    know(followed, maker, f"uniswap/nft/{CHAIN_ID}/{first}")
    know(followed, maker, f"uniswap/share/{CHAIN_ID}/{pair}")
    know(followed, maker, f"erc4626/vault/{CHAIN_ID}/{vault}")
    know(followed, maker, f"uniswap/share/{CHAIN_ID}/{gift}", is_own=False)
    assert followed_contracts.renew_all(now=followed.now) == 3
    kinds = dict(LogSource.objects.values_list("address", "kind"))
    pools = {pool.address for pool in world.pools if pool.version == "v3"}
    assert kinds[pair] == SourceKind.POOL
    assert kinds[vault] == SourceKind.VAULT
    assert gift not in kinds
    assert len(set(kinds) & pools) == 1
    assert followed_contracts.renew_all(now=followed.now + timedelta(minutes=1)) == 3
    assert LogWish.objects.count() == 3


def test_one_golem_has_no_more_contracts_followed_than_it_may_and_leaves_room_for_others(
    followed: Followed, settings: Any
) -> None:
    settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM = 2
    settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_CHAIN = 3
    addresses = [pool.address for pool in followed.world.pools[:5]]
    assert followed.watch(*addresses) == 2
    assert followed.watch(*addresses[:2], addresses[3], by="another") == 2
    assert followed.watch(addresses[2], addresses[3], by="a third") == 1
    assert followed.watch(addresses[4], by="a fourth") == 0
    assert LogSource.objects.count() == 3


def test_what_two_want_is_followed_once_and_until_the_second_lets_go(followed: Followed, settings: Any) -> None:
    followed.watch(followed.pool.address)
    followed.watch(followed.pool.address, by="another")
    assert LogSource.objects.count() == 1
    later = followed.now + timedelta(days=settings.GOLEM_HISTORY_WISH_DAYS, minutes=1)
    LogWish.objects.filter(wanted_by="another").update(renewed_at=later)
    log_expiry.clean(now=later)
    assert LogSource.objects.count() == 1
    log_expiry.clean(now=later + timedelta(days=settings.GOLEM_HISTORY_WISH_DAYS, minutes=1))
    assert not LogSource.objects.exists()
    assert not PriceBar.objects.exists()


def test_nothing_is_followed_where_the_operator_says_so(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_IS_ON = False
    ctx = make_context(followed.world, golem_id=followed.golem_id)
    call_tool(ctx, "stream_pool_state", pool_address=followed.pool.address, chain_id=CHAIN_ID)
    assert StreamSubscription.objects.count() == 1
    assert followed_contracts.renew_all(now=followed.now) == 0
    assert not FollowedChain.objects.exists()
