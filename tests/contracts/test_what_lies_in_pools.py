"""What lies in a pool is lost between batches, where no window of losses looks: ranges have a least width, and what
goes into pools a limit of a day. On the real Uniswap V3, with a pool that the thief made and trades in alone.
"""

from __future__ import annotations

import pytest

from permits_app.policy_cage.contract import Limit, limit_rule
from tests.contracts.attackers import class_of, ran, refused
from tests.contracts.pool_thief import SPACING, PoolThief, touch
from tests.proof.caged.safe import APPROVE, DEFAULT_LIMITS, USD, CagedSafe, build_caged_safe
from tests.proof.caged.uniswap import MINT_V3
from tools_app.chain.abi import encode_call

SAFE_DOLLARS = 100_000
LEAVING = 0
# Of everything, in thousandths of a per cent: half the width of a least range less the fee, of a quarter of everything.
MOST_STOLEN = {3: 240, 5: 640, 10: 1_930}


def least_range() -> int:
    return DEFAULT_LIMITS[Limit.MIN_RANGE_TICKS]


@pytest.mark.parametrize("per_cent", MOST_STOLEN)
def test_a_stolen_key_loses_to_a_pool_of_the_thief_no_more_than_is_stated(caged: CagedSafe, per_cent: int) -> None:
    thief = PoolThief(caged)
    put = max(thief.put_all_it_may(SPACING), thief.put_all_it_may(least_range()))
    assert put <= SAFE_DOLLARS // 4
    thief.fall(per_cent)
    assert 0 < thief.take(per_cent) <= SAFE_DOLLARS * USD * MOST_STOLEN[per_cent] // 100_000


def test_the_next_day_no_more_than_as_much_again_goes_into_pools(caged: CagedSafe) -> None:
    thief = PoolThief(caged)
    first = thief.put_all_it_may(least_range())
    assert refused(caged, caged.execute(*thief.minting(least_range(), 1_000))) == "PooledInWindowTooLarge"
    caged.engine.advance(86_400 + 900)
    caged.set_price("WETH", caged.coins["WETH"].price)
    assert 0 < thief.put_all_it_may(least_range()) <= first


@pytest.mark.parametrize("in_bundle", [False, True])
def test_no_liquidity_goes_into_a_range_under_the_owners_least(caged: CagedSafe, in_bundle: bool) -> None:
    thief = PoolThief(caged)
    narrow = least_range() - SPACING
    for ticks in (SPACING, narrow):
        sent = caged.execute(*thief.minting(ticks, 1_000, in_bundle=in_bundle))
        name, values = caged.error(sent)
        assert (name, values["target"], values["allowed"]) == ("MayNotGrow", thief.v3.npm, 0)
    ran(caged, caged.execute(*thief.minting(least_range(), 1_000, in_bundle=in_bundle)))


@pytest.mark.parametrize("in_bundle", [False, True])
@pytest.mark.parametrize("given", [1, 0])
def test_a_narrow_position_that_a_stranger_gave_takes_nothing_in(caged: CagedSafe, in_bundle: bool, given: int) -> None:
    thief = PoolThief(caged)
    thief.give(SPACING, 1)
    if not given:
        # Emptied, so that nothing of it counts any more.
        ran(caged, caged.execute(*thief.v3.leave(1, thief.v3.liquidity(1))))
    touch(caged)
    sent = caged.execute(*thief.increasing(1, 1_000, in_bundle=in_bundle))
    assert refused(caged, sent) == "MayNotGrow"


def test_what_lies_in_one_narrow_range_does_not_go_into_another(caged: CagedSafe) -> None:
    thief = PoolThief(caged)
    thief.give(SPACING, 1_000)
    thief.give(2 * SPACING, 1)
    moved = [*thief.v3.leave(1, thief.v3.liquidity(1)), *thief.increasing(2, 900)]
    assert refused(caged, caged.execute(*moved)) == "MayNotGrow"


def test_the_owners_narrow_position_is_left_and_never_added_to(caged: CagedSafe) -> None:
    thief = PoolThief(caged)
    assert caged.owner_call(thief.usdc, encode_call(APPROVE, thief.v3.npm, 5_000 * USD)).succeeded
    assert caged.owner_call(thief.v3.npm, encode_call(MINT_V3, thief.asked(SPACING, 5_000))).succeeded
    touch(caged)
    assert refused(caged, caged.execute(*thief.increasing(1, 100))) == "MayNotGrow"
    half = thief.v3.leave(1, thief.v3.liquidity(1) // 2)
    assert class_of(ran(caged, caged.execute(*half))) == LEAVING
    ran(caged, caged.execute(*thief.v3.leave(1, thief.v3.liquidity(1))))


def test_what_leaves_a_pool_is_stopped_by_no_limit_of_what_goes_in(caged: CagedSafe) -> None:
    thief = PoolThief(caged)
    ran(caged, caged.execute(*thief.minting(least_range(), 10_000)))
    assert caged.propose(limit_rule(Limit.MAX_POOLED_PER_DAY_BPS, 0)).succeeded
    assert caged.propose(limit_rule(Limit.MIN_RANGE_TICKS, 10 * least_range())).succeeded
    touch(caged)
    assert refused(caged, caged.execute(*thief.increasing(1, 100))) == "MayNotGrow"
    assert class_of(ran(caged, caged.execute(*thief.v3.leave(1, thief.v3.liquidity(1))))) == LEAVING


def test_a_wider_least_range_holds_at_once_and_a_narrower_one_waits(caged: CagedSafe) -> None:
    least = least_range()
    [wider, narrower] = [limit_rule(Limit.MIN_RANGE_TICKS, ticks) for ticks in (2 * least, least // 2)]
    assert caged.propose(wider).succeeded
    assert caged.rule(wider) == 2 * least
    assert caged.propose(narrower).succeeded
    assert caged.rule(wider) == 2 * least


def test_a_safe_of_one_pool_alone_may_be_let_put_everything_in(caged: CagedSafe) -> None:
    everything = {Limit.MAX_POOLED_PER_DAY_BPS: 10_000, Limit.MAX_POSITION_BPS: 10_000}
    other = build_caged_safe(caged.engine, limits=everything, salt=355)
    thief = PoolThief(other)
    ran(other, other.execute(*thief.minting(least_range(), 40_000)))
