"""Following a pool of the local chain: each log once, bars as the node's words make them, and what a rollback takes."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from golem_project import wiring
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.history.followed import Followed, told_by_start
from tools_app.chain.networks import get_network
from tools_app.core import clock
from tools_app.history import chain_following
from tools_app.history.index_reads import find_kept
from tools_app.models import ChainLog, FollowedChain, LogGap, SeenBlock
from tools_app.models.history import BarSpan

pytestmark = pytest.mark.django_db


def test_what_a_followed_pool_logs_is_kept_once_and_its_bars_are_those_of_the_node(followed: Followed) -> None:
    followed.watch(followed.pool.address)
    begun = FollowedChain.objects.get().next_block
    for amount in (10**9, 3 * 10**9, 2 * 10**9):
        followed.swap(amount)
    followed.mine(2)
    assert followed.follow() > 0
    assert followed.follow() == 0
    assert followed.kept_places() == followed.node_places(since=begun) != []
    assert told_by_start(followed.bars()) == followed.node_bars(since=begun)
    assert sum(bar.trades for bar in followed.bars(BarSpan.DAY)) == 3
    assert followed.source().logs == 3


def test_a_block_that_is_not_final_is_not_read_yet(followed: Followed) -> None:
    followed.watch(followed.pool.address)
    followed.mine(2)
    followed.follow()
    followed.swap(10**9)
    followed.follow()
    assert followed.kept_places() == []
    followed.mine()
    followed.follow()
    assert len(followed.kept_places()) == 1


def test_a_rollback_of_64_blocks_is_mended_and_no_orphan_is_left(followed: Followed) -> None:
    followed.watch(followed.pool.address)
    begun = FollowedChain.objects.get().next_block
    followed.swap(10**9)
    followed.mine()
    followed.follow()
    snapshot = followed.world.rpc.call("evm_snapshot")
    for amount in range(1, 33):
        followed.swap(amount * 10**7)
        followed.mine()
    followed.follow()
    orphaned = followed.kept_places()
    assert len(orphaned) == 33
    assert followed.world.rpc.call("evm_revert", snapshot)
    followed.mine(3)
    followed.swap(7 * 10**9)
    followed.mine(70)
    followed.follow()
    followed.follow()
    assert followed.kept_places() == followed.node_places(since=begun)
    assert len(followed.kept_places()) == 2
    assert told_by_start(followed.bars()) == followed.node_bars(since=begun)
    place = FollowedChain.objects.get()
    assert (place.rollbacks, place.next_block, followed.source().logs) == (1, followed.head(), 2)


def test_a_rollback_to_a_shorter_chain_is_mended_before_it_is_longer_again(followed: Followed) -> None:
    followed.watch(followed.pool.address)
    followed.mine(2)
    followed.follow()
    snapshot = followed.world.rpc.call("evm_snapshot")
    followed.swap(10**9)
    followed.mine(10)
    followed.follow()
    assert len(followed.kept_places()) == 1
    assert followed.world.rpc.call("evm_revert", snapshot)
    followed.follow()
    assert followed.kept_places() == []
    assert followed.bars() == []


def test_a_gap_that_a_rollback_reaches_into_is_filled_once(followed: Followed) -> None:
    """What begins after the fork is read forward; the gap before it is not to be read a second time."""
    followed.watch(followed.world.pool("v3", "USDC", "WETH", 3_000).address)
    snapshot = followed.world.rpc.call("evm_snapshot")
    followed.swap(10**9)
    followed.mine(5)
    followed.follow()
    followed.watch(followed.pool.address)
    assert followed.world.rpc.call("evm_revert", snapshot)
    followed.swap(2 * 10**9)
    followed.mine(9)
    followed.follow()
    followed.follow()
    while followed.fill():
        pass
    assert followed.kept_places() == followed.node_places()


def test_a_chain_that_was_made_anew_is_begun_again(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_ROLLBACK_BLOCKS = 4
    snapshot = followed.world.rpc.call("evm_snapshot")
    followed.mine(2)
    followed.watch(followed.pool.address)
    followed.swap(10**9)
    followed.mine(10)
    followed.follow()
    assert SeenBlock.objects.count() == 4
    assert followed.world.rpc.call("evm_revert", snapshot)
    followed.mine(3)
    followed.follow()
    assert not FollowedChain.objects.exists()
    assert not ChainLog.objects.exists()
    followed.watch(followed.pool.address)
    assert FollowedChain.objects.get().failures == 0


def test_after_a_long_outage_what_lies_between_is_a_gap_that_is_told_and_filled(
    followed: Followed, settings: Any
) -> None:
    settings.GOLEM_HISTORY_MOST_BLOCKS_BEHIND = 20
    followed.watch(followed.pool.address)
    followed.mine(2)
    followed.follow()
    followed.swap(10**9)
    followed.mine(40)
    followed.follow()
    assert followed.kept_places() == []
    gap = LogGap.objects.order_by("-to_block")[0]
    assert gap.because == "the chain was not followed for too long"
    kept = find_kept(CHAIN_ID, [followed.pool.address])[followed.pool.address]
    assert kept.known_since == gap.until_time
    while followed.fill():
        pass
    assert followed.kept_places() == followed.node_places()
    assert told_by_start(followed.bars()) == followed.node_bars()


@pytest.mark.django_db(transaction=True)
def test_four_followers_and_four_fillers_at_once_keep_every_log_once(
    transactional_db: None, local_chain: World, settings: Any
) -> None:
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 1_000_000
    settings.GOLEM_HISTORY_BLOCKS_PER_READ = 7
    followed = Followed(local_chain)
    followed.watch(followed.pool.address)
    for amount in range(1, 13):
        followed.swap(amount * 10**7)
        followed.mine()
    failed: list[BaseException] = []

    def run(work: Any) -> None:
        try:
            for _ in range(4):
                work()
        except BaseException as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in (followed.follow, followed.fill) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failed == []
    while followed.follow() or followed.fill():
        pass
    assert followed.kept_places() == followed.node_places()
    assert told_by_start(followed.bars()) == followed.node_bars()
    assert followed.source().logs == len(followed.kept_places())


def test_a_node_that_is_away_is_noted_until_it_is_back_and_what_is_kept_stays(
    followed: Followed, settings: Any
) -> None:
    followed.watch(followed.pool.address)
    followed.swap(10**9)
    followed.mine()
    followed.follow()
    before = followed.kept_places()
    wiring.configure_networks({CHAIN_ID: ("http://127.0.0.1:9",)})
    chain_following.follow(get_network(CHAIN_ID), now=clock.now())
    place = FollowedChain.objects.get()
    assert place.failures == 1
    assert place.last_error.startswith("RPC_UNAVAILABLE")
    assert followed.kept_places() == before
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
    followed.follow()
    place = FollowedChain.objects.get()
    assert (place.failures, place.last_error) == (0, "")
