"""What is known of a pool from the index alone, beside the reads that ask the node; and what speaks against it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.evm.world import CHAIN_ID
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.history.conftest import followed as followed
from tests.tools_app.history.followed import Followed
from tools_app.models import FollowedChain, LogSource
from tools_app.portfolio.markets import markets_on
from tools_app.subsystems.intel.entry_doubts import DoubtCode, doubt_market
from tools_app.subsystems.intel.indexed_market import DayFlow, KnownMarket, read_known_market

HOURS = 36


def read(followed: Followed) -> KnownMarket:
    reader = make_context(followed.world).chain()
    return read_known_market(reader, markets_on(CHAIN_ID).read(reader, followed.pool.address))


@pytest.mark.django_db
def test_what_the_index_knows_of_a_pool_is_what_the_reads_compute_from_the_nodes_logs(followed: Followed) -> None:
    nothing = read(followed)
    assert not nothing.is_followed and nothing.regime is None and nothing.flow is None
    assert "not followed" in nothing.missing[0] and len(nothing.missing) == 1
    worth = nothing.worth_micro_usd
    assert worth is not None and worth > 10**12
    for hour in range(HOURS):
        followed.world.rpc.call("evm_increaseTime", 3_600)
        for _ in range(1 if hour < HOURS - 25 else 5):
            followed.swap(20_000 * 10**6)
    followed.world.refresh_feeds()
    told = answer_of(make_context(followed.world), "intel_classify_regime", asset="WETH")
    flow = answer_of(make_context(followed.world), "intel_compute_vpin", pool=followed.pool.address, lookback="24h")
    followed.watch(followed.pool.address)
    followed.now += timedelta(hours=HOURS)
    followed.fill()
    followed.mine(3)
    followed.follow()
    known = read(followed)
    assert known.missing == () and known.flow is not None
    mirror = {"strong_bull": "strong_bear", "weak_bull": "weak_bear"}
    is_first = followed.pool.token0 == followed.world.tokens["WETH"].address
    regime = told["current_regime"]
    assert known.regime == (regime if is_first else mirror.get(regime, regime)) and regime == "strong_bull"
    assert known.flow.vpin == float(flow["vpin"]) == 1.0
    assert known.flow.by_chance == pytest.approx(float(flow["vpin_by_chance"]), rel=0.02)
    assert [each.code for each in doubt_market(known, size_micro_usd=10**6)] == [DoubtCode.TREND, DoubtCode.TOXIC]
    # An index that stands still knows nothing of now.
    FollowedChain.objects.update(head_time=FollowedChain.objects.get().head_time - timedelta(hours=2))
    stale = read(followed)
    assert stale.regime is None and stale.flow is None and "was read up to" in stale.missing[0]
    LogSource.objects.all().delete()
    assert read(followed).missing == nothing.missing


KNOWN = KnownMarket("0x11", True, "sideways", DayFlow(0.2, 0.1, 500), 10**12)


def codes(known: KnownMarket, size: int | None = 10**9) -> list[DoubtCode]:
    return [each.code for each in doubt_market(known, size_micro_usd=size)]


@pytest.mark.parametrize(
    ("known", "size", "wanted"),
    [
        (KNOWN, 10**9, []),
        (KnownMarket("0x11", True, "weak_bear", DayFlow(0.2, 0.1, 500), 10**12), 10**9, []),
        (KnownMarket("0x11", True, "strong_bear", DayFlow(0.2, 0.1, 500), 10**12), 10**9, [DoubtCode.TREND]),
        (KnownMarket("0x11", True, "strong_bull", None, None), 10**9, [DoubtCode.TREND]),
        # Toxic from six tenths on, and from one and a half times of what chance shows.
        (KnownMarket("0x11", True, None, DayFlow(0.6, 0.1, 500), None), 10**9, [DoubtCode.TOXIC]),
        (KnownMarket("0x11", True, None, DayFlow(0.75, 0.5, 500), None), 10**9, [DoubtCode.TOXIC]),
        (KnownMarket("0x11", True, None, DayFlow(0.599999, 0.1, 500), None), 10**9, []),
        (KnownMarket("0x11", True, None, DayFlow(0.75, 0.500001, 500), None), 10**9, []),
        # Twenty times what goes in is enough, a millionth of a dollar less is not.
        (KnownMarket("0x11", True, None, None, 20 * 10**9), 10**9, []),
        (KnownMarket("0x11", True, None, None, 20 * 10**9 - 1), 10**9, [DoubtCode.THIN]),
        (KnownMarket("0x11", True, None, None, 1), None, []),
        (KnownMarket("0x11", missing=("regime", "flow", "depth")), 10**9, []),
    ],
)
def test_a_trend_a_one_sided_flow_and_a_thin_pool_speak_against_an_entry_at_their_edges(
    known: KnownMarket, size: int | None, wanted: list[DoubtCode]
) -> None:
    assert codes(known, size) == wanted


def test_one_huge_swap_among_many_is_no_toxic_flow() -> None:
    """Its volume fills most buckets alone, and chance would show as much."""
    from tools_app.subsystems.intel.flow_maths import compute_vpin

    volumes = [10**18 * (1 if each % 2 else -1) for each in range(200)] + [10**21]
    found = compute_vpin(volumes, 50)
    assert found.value > 0.6
    assert codes(KnownMarket("0x11", True, None, DayFlow(found.value, found.by_chance, 201), None)) == []
