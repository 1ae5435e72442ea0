"""Describes, case by case, what the `intel_*` reads tell of the local chain."""

from __future__ import annotations

from itertools import pairwise
from math import log, sqrt
from typing import Final

from tools_app.subsystems.intel.regime_check import ROOT, SWAP, ByHand, work_out
from tools_app.toolkit.case import About, FromReport, Look, ReadCase

_POOL: Final = {"pool": FromReport("pool")}
_PAIR: Final = {"token0": "WETH", "token1": "USDC"}
_SIZED: Final = {**_PAIR, "amount_usd": "10000", "fee": 500}
_NO_POOL: Final = ({"pool": "0x" + "11" * 20}, "POOL_NOT_FOUND")
_ELSEWHERE: Final = ({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED")
_BOUGHT: Final = ("somebody buys WETH in the pool once an hour for 36 hours",)
_BOUGHT_ALONE: Final = ("somebody buys WETH in the pool once an hour for 36 hours, and no block is between",)
_OUTSIDE: Final = ("its owner switched on what others say of markets",)
_SLOT0: Final = "function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)"
_FEE: Final = "function fee() view returns (uint24)"
_TOKEN0: Final = "function token0() view returns (address)"
_LIQUIDITY: Final = "function liquidity() view returns (uint128)"
_MILLION: Final = 10**6
_Q192: Final = 2**192


def _price_now(look: Look) -> About:
    """Millionths of a USDC for a WETH."""
    root = int(look.call(look.told("pool"), _SLOT0)[0])
    return About(root * root * 10**18 // _Q192, 1)


def _bought(look: Look) -> About:
    """Micro-USD: 36 times a hundred thousand dollars, less nothing, by the day of the week that is looked at."""
    return About(36 * 100_000 * _MILLION // 7, 300)


def _fees_lost(look: Look) -> About:
    """Micro-USD that a tenth of a month's fees come to: what was bought, by the pool's fee."""
    fee = int(look.call(_deep(look), _FEE))
    return About(36 * 100_000 * _MILLION * fee // _MILLION * 30 // 7 // 10, 300)


def _fees_paid(look: Look) -> About:
    """Micro-USD: the pool's fee of all that was bought with dollars."""
    return About(36 * 100_000 * int(look.call(look.told("pool"), _FEE)), 300)


def _whole_range(look: Look) -> int:
    """Micro-USD that liquidity over all prices would be worth were it as much as the pool has now."""
    pool = _deep(look)
    return 2 * int(look.call(pool, _LIQUIDITY)) * int(look.call(pool, _SLOT0)[0]) >> 96


def _fees_of(look: Look, liquidity: int) -> int:
    """Micro-USD: the share of all fees of liquidity that would be worth so much over all prices."""
    return _fees_paid(look).raw * liquidity // (liquidity + _whole_range(look))


def _fees_of_two_days(look: Look) -> About:
    """3,000 dollars over all prices earn their share of two days of seven."""
    return About(_fees_of(look, 3_000 * _MILLION) * 2 // 7, 300)


def _fees_replayed(look: Look) -> About:
    """10,000 dollars that reach a tenth down are worth over all prices what is divided by 1 - sqrt(0.9); they began at
    the price before it rose by six percent.
    """
    return About(_fees_of(look, round(10_000 * _MILLION / (1 - 0.9**0.5))), 400)


def _fees_a_year(look: Look) -> About:
    """Millionths of a percent of 10,000 dollars that reach to a fifth of the price: a year as these seven days."""
    earned = _fees_of(look, round(10_000 * _MILLION / (1 - 0.2**0.5))) * 365 // 7
    return About(100 * earned // 10_000, 300)


def _hourly_move(look: Look) -> About:
    """Millionths of a percent: each hour has one purchase but the first, which has two. Of what each moved the price,
    squared, six hundredths count, and a purchase before it 94 hundredths of that; the oldest stands for all before it.
    """
    roots = [log(int(words[ROOT])) for _, words in look.logs(_deep(look), SWAP)][-36:]
    squares = [(2 * (after - before)) ** 2 for before, after in pairwise(roots)][1:]
    weighed = [0.06 * 0.94**age * each for age, each in enumerate(reversed(squares))]
    return About(round(sqrt(sum(weighed) + 0.94 ** len(squares) * squares[0]) * 100 * _MILLION), 10)


def _gwei(wei: int) -> str:
    whole, part = divmod(wei, 10**9)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".")


def _cost_of_two(look: Look) -> About:
    """A swap of 180,000 gas and a transfer of 65,000, at the next block's price."""
    return About(245_000 * sum(look.gas_price()) * look.price("ETH") // 10**20, 100)


def _by_hand(look: Look) -> ByHand:
    """Of ether, which may be the second token of the pool."""
    is_first = look.call(_deep(look), _TOKEN0) == look.token("WETH").lower()
    return work_out(look, _deep(look), of_second=not is_first)


def _share(look: Look, regime: str) -> About:
    return _millionths(_by_hand(look).share(regime))


def _millionths(figure: float) -> About:
    return About(round(figure * _MILLION), 1)


def _part_of_the_pool(look: Look) -> int:
    """Basis points that 3,000 dollars are of what lies in the pool, at the feeds."""
    pool = str(look.told("pool"))
    held = look.balance("WETH", pool) * look.price("WETH") // 10**20
    held += look.balance("USDC", pool) * look.price("USDC") // 10**8
    return 3_000 * _MILLION * 10_000 // held


def _deep(look: Look) -> str:
    """The pool of 0.05 percent."""
    return str(look.told("pool"))


def _ether_less_fee(look: Look) -> About:
    """Base units of USDC for an ether: the price, less no more than the least fee and a little for depth."""
    return About(_price_now(look).raw, 10)


READS: Final = (
    ReadCase(
        "intel_get_chain_status",
        tells={
            "chain_id": lambda look: look.chain_id,
            "block_number": lambda look: look.block,
            "base_fee_gwei": lambda look: _gwei(look.gas_price()[0]),
            "priority_fee_gwei": lambda look: _gwei(look.gas_price()[1]),
            "gas_price_gwei": lambda look: _gwei(sum(look.gas_price())),
            "markets.#": 1,
        },
        refuses=(({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED"),),
    ),
    ReadCase(
        "intel_classify_regime",
        {},
        # Nobody sells for a day and a half.
        {
            "asset": "WETH",
            "current_regime": "strong_bull",
            "drift": lambda look: _millionths(_by_hand(look).drift),
            "volatility_24h": lambda look: _millionths(_by_hand(look).volatility),
            "historical_regimes.#": lambda look: len(_by_hand(look).regimes),
            "historical_regimes.0.regime": lambda look: _by_hand(look).regimes[0],
            "transition_probabilities.#": 5,
            "transition_probabilities[regime=strong_bull].probability": lambda look: _share(look, "strong_bull"),
            "transition_probabilities[regime=sideways].probability": lambda look: _share(look, "sideways"),
            "confidence": "low",
        },
        given=_BOUGHT_ALONE,
        refuses=(_ELSEWHERE,),
        most_exchanges=40,
    ),
    ReadCase(
        "intel_discover_token",
        {"token": "WETH"},
        {
            "risk_score": 100,
            "risk_rating": "SAFE",
            "risk_factors": [],
            "untrusted_words": False,
            "market_data.price_usd": _price_now,
        },
        refuses=(({"token": "ETH"}, "INVALID_PARAMS"), _ELSEWHERE),
        most_exchanges=60,
    ),
    ReadCase(
        "intel_advise_gas_optimization",
        {"operations": ["SWAP", "TRANSFER"]},
        {
            "recommended_chain": lambda look: look.chain_id,
            "current_gas_by_chain.#": 1,
            "current_gas_by_chain.0.is_dear": False,
            "current_gas_by_chain.0.gas_price_gwei": lambda look: _gwei(sum(look.gas_price())),
            "current_gas_by_chain.0.cost_usd": _cost_of_two,
            "batch_suggestion": "one batch of 2 saves about 21000 gas where the account carries out batches",
            "estimated_savings_usd": "0.000000",
        },
        most_exchanges=10,
    ),
    ReadCase(
        "intel_calculate_il",
        {**_POOL, "price_change": "2"},
        # 2 * sqrt(2) / 3 - 1, as for a pool of reserves.
        {"il_pct": About(-5_719_095, 1), "price_now": _price_now, "is_in_range_then": True},
        refuses=(
            ({"price_change": "0"}, "INVALID_PARAMS"),
            ({"tick_lower": 9, "tick_upper": 3}, "INVALID_PARAMS"),
            _NO_POOL,
        ),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_simulate_price_impact",
        {**_POOL, "trade_sizes_usd": ["3000"]},
        # A WETH is 3,000 USDC before the fee.
        {"impacts.#": 1, "impacts.0.amount_in": 3_000 * _MILLION, "impacts.0.amount_out": About(10**18, 40)},
        refuses=(
            _NO_POOL,
            _ELSEWHERE,
        ),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_track_governance",
        {"governor": FromReport("governor"), "lookback": "1h"},
        {
            "changes.#": 3,
            "changes.0.words": "Raise the fee",
            "changes.0.untrusted": True,
            "changes.2.kind": "executed",
            "changes.2.block_number": lambda look: look.block,
            "open_proposals": ["8"],
        },
        given=("a governor has one proposal executed and one open",),
        refuses=(_ELSEWHERE,),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_compare_venues",
        {"token_in": "WETH", "token_out": "USDC", "amount": str(10**18)},
        {
            "venues.0.output_amount": _ether_less_fee,
            "venues.0.behind_best_bps": 0,
            "better_without_tool": None,
            "without_quote.#": 1,
            "without_quote.0.code": "NO_ROUTE",
        },
        refuses=(
            ({"token_out": "WETH"}, "POOL_NOT_FOUND"),
            _ELSEWHERE,
        ),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_assess_mev_risk",
        {**_POOL, "token_in": "USDC", "token_out": "WETH", "amount_usd": "3000", "slippage_bps": 0},
        # Nobody can take from a swap that accepts nothing less.
        {
            "sandwich_probability": None,
            "extractable": 0,
            "estimated_mev_cost_usd": "0.000000",
            "risk_level": "LOW",
            "trade_of_pool_bps": _part_of_the_pool,
            "calibration.classes.#": 4,
            "calibration.classes.0.interval": None,
            "calibration.classes.0.judgement": "TOO_FEW",
            "calibration.least_actions": 20,
        },
        refuses=(({"pool": "0x" + "11" * 20}, "POOL_NOT_FOUND"),),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_estimate_revert_risk",
        {**_POOL, "trade_size_usd": "3000"},
        {"revert_probability": None, "horizon_blocks": 2, "basis": None, "calibration.classes.#": 3},
        refuses=(
            _NO_POOL,
            _ELSEWHERE,
        ),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_estimate_revert_risk",
        {**_POOL, "trade_size_usd": "3000", "slippage_bps": 0},
        # Seventy trades are 34 stretches of two blocks, and the price rose in each: Wilson's interval in closed form.
        {
            "revert_probability": "1",
            "basis.sample": 34,
            "interval.0": About(round(34 * _MILLION / (34 + 1.959964**2)), 1),
            "interval.1": "1",
        },
        name="intel_estimate_revert_risk_of_a_price_that_rises_in_every_block",
        given=("seventy people buy a little WETH in the pool, one a block",),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_compute_vpin",
        {**_POOL, "lookback": "7d"},
        # All of it was bought.
        {"vpin": "1", "classification": "TOXIC", "buckets": 50},
        given=_BOUGHT,
        refuses=(_NO_POOL,),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_compute_lvr",
        _POOL,
        {
            "method": "model with realised variance",
            "basis.sample": 35,
            "fee_revenue_usd": _fees_paid,
        },
        given=_BOUGHT,
        refuses=(_NO_POOL,),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_get_order_flow_metrics",
        _POOL,
        {
            "vpin": "1",
            "lvr.fee_revenue_usd": _fees_paid,
            # One trade a block: those with so many blocks of trades behind them, but for the first.
            "markout[blocks=5].trades": 36 - 1 - 5,
            "markout[blocks=20].trades": 36 - 1 - 20,
            "markout[blocks=100].trades": 0,
            "jit_liquidity.found": 0,
            "jit_liquidity.blocks_with_trades": 36,
        },
        given=_BOUGHT,
        refuses=(_NO_POOL,),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_recommend_fee_tier",
        _PAIR,
        {"recommended_tier": 500, "pool_distribution.#": 3, "pool_distribution.0.volume_24h_usd": _bought},
        given=_BOUGHT,
        refuses=(_ELSEWHERE,),
        most_exchanges=30,
    ),
    ReadCase(
        "intel_calculate_fee_switch_impact",
        _POOL,
        {"fee_switch_bps": 1_000, "apy_reduction_pct": "10", "fee_revenue_lost_30d_usd": _fees_lost},
        given=_BOUGHT,
        refuses=(_NO_POOL,),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_simulate_pool_scenario",
        {
            **_POOL,
            "scenario": "sideways",
            "tick_lower": -887_200,
            "tick_upper": 887_200,
            "position_size_usd": "3000",
            "duration_days": 2,
        },
        {
            "projected_il_usd": "0.000000",
            "projected_fees_usd": _fees_of_two_days,
            "projected_net_pnl_usd": _fees_of_two_days,
            "time_in_range_pct": "100",
            "daily_projections.#": 2,
        },
        given=_BOUGHT,
        refuses=(({"tick_lower": 887_200}, "INVALID_PARAMS"),),
        most_exchanges=20,
    ),
    ReadCase(
        "intel_optimize_range",
        _SIZED,
        {
            "candidate_ranges.#": 4,
            "candidate_ranges[label=widest].in_range_probability": "1",
            "candidate_ranges[label=widest].fee_apr": _fees_a_year,
            "hourly_volatility_pct": _hourly_move,
            "simulations": 5_000,
            "horizon_days": 30,
        },
        given=_BOUGHT,
        refuses=(({"fee": 7}, "POOL_NOT_FOUND"),),
        most_exchanges=30,
    ),
    ReadCase(
        "intel_backtest_strategy",
        {**_SIZED, "days": 2},
        {
            "results.#": 4,
            "gas_price_known": True,
            "results[strategy=10% kept].fees_earned_usd": _fees_replayed,
            "results[strategy=10% kept].in_range_pct": "100",
            "results.0.rebalance_count": 0,
        },
        given=_BOUGHT,
        refuses=(({"fee": 7}, "POOL_NOT_FOUND"),),
        most_exchanges=30,
    ),
    ReadCase(
        "intel_defilama_get_yields",
        tells={
            "total_matching": 1,
            "pools.0.apy_pct": "3.25",
            "pools.0.tvl_usd": "2500000.00",
            "source.untrusted": True,
        },
    ),
    ReadCase(
        "intel_get_defi_context",
        {"chain_id": 1},
        {
            # From 57 to 50 thousand million dollars in a week.
            "tvl_total_usd": "50000000000.00",
            "tvl_change_pct": f"{100 * 50 / 57 - 100:.2f}",
            "volume_24h_usd": "2000000000.50",
            "active_protocols": 2,
            "top_protocols.0.name.untrusted": True,
        },
        given=_OUTSIDE,
    ),
    ReadCase(
        "intel_get_market_sentiment",
        tells={
            "fear_greed_index": 22,
            "regime_hint": "fearful",
            # From 1.00 to 1.24 thousand million; the mean of 0.01 and 0.03 percent.
            "open_interest_change_24h_pct": "24.00",
            "funding_rate_aggregate": "0.020000",
        },
        given=_OUTSIDE,
    ),
)
