"""The past is read backward within a minute's questions, as far as is kept, and let go by the month."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from golem_project import wiring
from tests.evm.world import CHAIN_ID
from tests.proof.lying_node import change_answers, serve_lying_node
from tests.tools_app.history.followed import Followed, told_by_start
from tools_app.history import gap_filling, log_expiry, log_table_months
from tools_app.history.index_reads import find_kept
from tools_app.models import ChainLog, FollowedChain, LogGap, LogSource, PriceBar
from tools_app.models.history import BarSpan

pytestmark = pytest.mark.django_db


def test_the_whole_past_of_a_pool_is_filled_and_its_bars_are_those_of_the_node(followed: Followed) -> None:
    followed.swap(10**9)
    followed.mine(2)
    followed.watch(followed.pool.address)
    while followed.fill():
        pass
    assert not LogGap.objects.exists()
    assert followed.kept_places() == followed.node_places() != []
    assert told_by_start(followed.bars()) == followed.node_bars()
    assert followed.source().logs == len(followed.kept_places())


def test_the_newest_blocks_are_filled_first_and_what_is_not_known_yet_is_told(
    followed: Followed, settings: Any
) -> None:
    settings.GOLEM_HISTORY_BLOCKS_PER_READ = 10
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 40
    for amount in range(1, 9):
        followed.swap(amount * 10**8)
        followed.mine(4)
    followed.watch(followed.pool.address)
    before = LogGap.objects.get()
    assert followed.fill() > 0
    after = LogGap.objects.get()
    assert after.to_block < before.to_block
    assert after.until_time <= before.until_time
    places = followed.kept_places()
    assert places == followed.node_places(since=after.to_block + 1)
    kept = find_kept(CHAIN_ID, [followed.pool.address])[followed.pool.address]
    assert kept.known_since == after.until_time


def test_a_minute_has_so_many_questions_and_the_next_has_them_again(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_BLOCKS_PER_READ = 10
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 40
    followed.mine(200)
    followed.watch(followed.pool.address)
    asked: list[str] = []

    def count(request: dict[str, Any], answer: Any) -> Any:
        asked.append(request["method"])
        return answer

    with serve_lying_node(followed.world.rpc_url) as node:
        wiring.configure_networks({CHAIN_ID: (node.url,)})
        with node.lying(change_answers("eth_getBlockByNumber", count)):
            first = gap_filling.fill(followed.network, now=followed.now)
            assert 0 < first <= len(asked) <= 40
            spent = len(asked)
            assert gap_filling.fill(followed.network, now=followed.now + timedelta(seconds=59)) == 0
            assert len(asked) == spent
            assert gap_filling.fill(followed.network, now=followed.now + timedelta(seconds=61)) > 0


def test_a_clock_that_goes_back_does_not_stop_the_filling(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 40
    followed.mine(100)
    followed.watch(followed.pool.address)
    assert gap_filling.fill(followed.network, now=followed.now + timedelta(days=300)) > 0
    assert gap_filling.fill(followed.network, now=followed.now) > 0


def test_nothing_older_than_is_kept_is_looked_for(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_BLOCKS_PER_READ = 10
    settings.GOLEM_HISTORY_BACK_DAYS = 0
    followed.mine(100)
    followed.watch(followed.pool.address)
    while followed.fill():
        pass
    gap = LogGap.objects.get()
    assert gap.closed_because == gap_filling.TOO_OLD
    assert followed.head() - gap.to_block < 130


def test_no_more_logs_of_a_contract_are_filled_than_may_be_kept(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_BLOCKS_PER_READ = 5
    settings.GOLEM_HISTORY_MOST_LOGS_PER_CONTRACT = 3
    for amount in range(1, 12):
        followed.swap(amount * 10**8)
    followed.mine(2)
    followed.watch(followed.pool.address)
    while followed.fill():
        pass
    assert LogGap.objects.get().closed_because == gap_filling.TOO_MANY
    assert 3 <= followed.source().logs <= 8


def test_logs_go_by_the_month_and_their_bars_stay(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_HOUR_DAYS = 400
    followed.watch(followed.pool.address)
    followed.swap(10**9)
    followed.mine(2)
    followed.follow()
    bars = told_by_start(followed.bars())
    month = log_table_months.month_of(FollowedChain.objects.get().head_time)
    end = log_table_months.next_month(month)
    early = end + timedelta(days=settings.GOLEM_HISTORY_LOG_DAYS) - timedelta(seconds=1)
    log_expiry.clean(now=followed.now)
    assert ChainLog.objects.exists()
    LogSource.objects.get().wishes.update(renewed_at=early + timedelta(days=1))
    log_expiry.clean(now=early)
    assert ChainLog.objects.exists()
    log_expiry.clean(now=early + timedelta(seconds=1))
    assert not ChainLog.objects.exists()
    assert log_table_months.list_months() == {}
    assert told_by_start(followed.bars()) == bars != {}
    assert LogGap.objects.get().closed_because == log_expiry.LET_GO
    assert LogSource.objects.get().logs == 0


def test_bars_of_hours_go_after_their_time_and_those_of_days_stay(followed: Followed, settings: Any) -> None:
    followed.watch(followed.pool.address)
    followed.swap(10**9)
    followed.mine(2)
    followed.follow()
    later = followed.now + timedelta(days=settings.GOLEM_HISTORY_HOUR_DAYS + 2)
    LogSource.objects.get().wishes.update(renewed_at=later)
    log_expiry.clean(now=later)
    assert not PriceBar.objects.filter(span=BarSpan.HOUR).exists()
    assert PriceBar.objects.filter(span=BarSpan.DAY).count() == 1
