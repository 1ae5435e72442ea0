"""Regimes of a price: the five words at their edges, hours without trades, and shares that add up. At a real pool each
edge is met from both sides, by a price that was worked out another way than the tool does.
"""

from __future__ import annotations

from itertools import accumulate
from math import exp, isqrt, log2

import pytest

from tests.catalogue.looking import read_logs
from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context
from tests.tools_app.history.followed import SINGLE
from tools_app.portfolio.pool_history import InsufficientHistory
from tools_app.subsystems.intel.regime_check import SWAP, ByHand, judge
from tools_app.subsystems.intel.regime_maths import (
    REGIMES,
    close_hours,
    count_transitions,
    list_drifts,
    list_moves,
    name_regime,
)

HOURS = 60
_SLOT0 = "(uint160,int24,uint16,uint16,uint16,uint8,bool)"


@pytest.mark.parametrize(
    ("drift", "regime"),
    [
        (0.0, "sideways"),
        (0.499, "sideways"),
        (-0.499, "sideways"),
        (0.5, "weak_bull"),
        (-0.5, "weak_bear"),
        (1.499, "weak_bull"),
        (1.5, "strong_bull"),
        (-1.5, "strong_bear"),
    ],
)
def test_a_drift_has_its_word_from_half_a_deviation_and_from_one_and_a_half(drift: float, regime: str) -> None:
    assert name_regime(drift) == regime


def test_an_hour_without_a_trade_keeps_the_price_before_and_hours_before_the_first_are_left_out() -> None:
    trades = [(3_700, 10.0), (3_800, 11.0), (14_500, 12.0)]
    assert close_hours(trades, since=0, hours=5) == [11.0, 11.0, 11.0, 12.0]
    assert close_hours([], since=0, hours=5) == []


def test_a_price_that_stands_still_goes_sideways() -> None:
    drifts = list_drifts(list_moves([5.0] * 60))
    assert len(drifts) == 36 and {name_regime(each) for each in drifts} == {"sideways"}


def test_a_price_that_rises_with_noise_is_a_strong_bull_and_its_mirror_a_strong_bear() -> None:
    closes = [100.0 * 1.01**hour * (1.002 if hour % 2 else 1.0) for hour in range(60)]
    mirrored = [1 / each for each in closes]
    drifts, other = list_drifts(list_moves(closes)), list_drifts(list_moves(mirrored))
    assert name_regime(drifts[-1]) == "strong_bull" and name_regime(other[-1]) == "strong_bear"
    assert drifts == pytest.approx([-each for each in other])


def test_shares_of_what_followed_add_up_and_call_nothing_impossible() -> None:
    shares = count_transitions(["sideways", "weak_bull", "sideways", "sideways"])
    assert sum(shares.values()) == pytest.approx(1) and set(shares) == set(REGIMES)
    # Two hours went sideways before another: one rose, one did not.
    assert shares["weak_bull"] == pytest.approx(2 / 7) == shares["sideways"]
    assert min(shares.values()) == pytest.approx(1 / 7)


@pytest.mark.django_db
def test_a_regime_takes_thirty_hours_of_prices_and_says_how_many_there_are(chain: World) -> None:
    with pytest.raises(InsufficientHistory) as refused:
        call_tool(make_context(chain), "intel_classify_regime", asset="WETH")
    assert refused.value.data["needed"] == 31 and refused.value.data["known"] < 31


def draw_path(drift: float) -> list[float]:
    """The logarithm of each hour's price: to and fro, and in the last day as much to one side as makes the drift."""
    low, high = -1.0, 1.0
    for _ in range(80):
        lean = (low + high) / 2
        moves = [(0.004 if hour % 2 else -0.004) + (lean if hour >= HOURS - 24 else 0.0) for hour in range(HOURS)]
        logs = list(accumulate(moves, initial=0.0))
        low, high = (lean, high) if judge(logs).drift < drift else (low, lean)
    return logs


def play(world: World, logs: list[float]) -> str:
    """Trade the deepest pool of ether to each of these prices, an hour after the other; the pool's address."""
    pool = world.pool("v3", "USDC", "WETH", 500)
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    sign = 1 if pool.token0 == weth else -1
    router = world.contracts["uniswap_v3_swap_router_02"]
    trader = world.new_account(10**19, {"USDC": 500_000_000 * 10**6, "WETH": 150_000 * 10**18})
    for token in (usdc, weth):
        world.transact(trader, token, "approve(address,uint256)", router, 2**256 - 1)
    root = world.rpc.read(pool.address, "slot0()", returns=_SLOT0)[0]
    # What was traded before lies more than a week back.
    begins_at = world.timestamp() + 8 * 86_400
    for hour, moved in enumerate(logs):
        wanted = isqrt(int(root * root * exp(sign * (moved + 0.001))))
        now = world.rpc.read(pool.address, "slot0()", returns=_SLOT0)[0]
        sold, bought = (pool.token1, pool.token0) if wanted > now else (pool.token0, pool.token1)
        amount = 5_000_000 * 10**6 if sold == usdc else 2_000 * 10**18
        world.rpc.call("evm_setNextBlockTimestamp", begins_at + hour * 3_600)
        world.transact(trader, router, SINGLE, (sold, bought, 500, trader.address, amount * 10, 0, wanted))
    world.rpc.call("evm_setNextBlockTimestamp", begins_at + HOURS * 3_600 + 60)
    world.rpc.call("evm_mine")
    return pool.address


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("drift", "regime"),
    [
        (-1.51, "strong_bear"),
        (-1.49, "weak_bear"),
        (-0.51, "weak_bear"),
        (-0.49, "sideways"),
        (0.49, "sideways"),
        (0.51, "weak_bull"),
        (1.49, "weak_bull"),
        (1.51, "strong_bull"),
    ],
)
def test_each_regime_begins_at_its_threshold_at_a_real_pool_and_by_hand(
    chain: World, drift: float, regime: str
) -> None:
    pool = play(chain, draw_path(drift))
    told = answer_of(make_context(chain), "intel_classify_regime", asset="WETH")
    worked_out = by_hand(chain, pool)
    assert told["pool"] == pool
    assert told["current_regime"] == regime == worked_out.newest
    assert float(told["drift"]) == pytest.approx(drift, abs=0.005)
    assert float(told["drift"]) == pytest.approx(worked_out.drift, abs=1e-5)
    assert float(told["volatility_24h"]) == pytest.approx(worked_out.volatility, abs=2e-6)
    past = [each["regime"] for each in told["historical_regimes"]]
    assert past == list(worked_out.regimes[-len(past) :]) and len(past) == 24
    for each in told["transition_probabilities"]:
        assert float(each["probability"]) == pytest.approx(worked_out.share(each["regime"]), abs=2e-6)


def by_hand(world: World, pool: str) -> ByHand:
    """From the node's own logs: each hour had one trade, at its end."""
    is_first = world.pool("v3", "USDC", "WETH", 500).token0 == world.tokens["WETH"].address
    since = world.timestamp() - 168 * 3_600
    roots = [words[2] for at, words in read_logs(world, pool, SWAP) if at >= since]
    assert len(roots) == HOURS + 1
    return judge([(2 if is_first else -2) * log2(root) for root in roots])
