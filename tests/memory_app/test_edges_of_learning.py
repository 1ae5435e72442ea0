"""What memory makes of what happened: causes, patterns of losses, and figures of predictions, at their edges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from memory_app.categories import choose_category, choose_stability
from memory_app.decay import Importance
from memory_app.execution_statistics import _describe_cluster, judge_accuracy, measure_performance, show_ratio
from memory_app.models.insight import InsightCategory
from memory_app.reflection import _COST_WORDS, MINED_LATE, PRICE_MOVED, TOO_SHALLOW, reflect


def lost(micro: int, *, gas: int = 0, impermanent: int = 0, slipped: int | None = None, **market: Any) -> Any:
    """An execution as far as its figures go."""
    return SimpleNamespace(
        realized_pnl_micro_usd=-micro,
        gas_used_micro_usd=gas,
        impermanent_loss_micro_usd=impermanent,
        slippage_actual_bps=slipped,
        market_conditions=market,
    )


@pytest.mark.parametrize(
    ("members", "hypothesis"),
    [
        ([lost(100)], "these executions lost alike; nothing recorded tells why"),
        ([lost(100, impermanent=50)], "these executions lost alike; nothing recorded tells why"),
        ([lost(100, impermanent=51, gas=90)], "impermanent loss took most of it"),
        ([lost(100, gas=50)], "these executions lost alike; nothing recorded tells why"),
        ([lost(100, gas=51, slipped=99)], "gas took most of it"),
        ([lost(100, slipped=50)], "these executions lost alike; nothing recorded tells why"),
        ([lost(100, slipped=51)], "slippage was high"),
        ([lost(100, slipped=101), lost(100, slipped=1), lost(100)], "slippage was high"),
        ([lost(100, impermanent=60), lost(-500)], "impermanent loss took most of it"),
        ([lost(100, impermanent=-60), lost(0)], "these executions lost alike; nothing recorded tells why"),
        ([lost(0, gas=5, impermanent=5)], "these executions lost alike; nothing recorded tells why"),
    ],
)
def test_a_loss_is_laid_to_what_took_more_than_half_of_it(members: list[Any], hypothesis: str) -> None:
    told = _describe_cluster("carry", "SWAP", members)
    assert told.hypothesis == f"carry, swap: {hypothesis}"
    results = [each.realized_pnl_micro_usd for each in members]
    assert (told.execution_count, told.average_pnl_micro_usd) == (len(members), sum(results) // len(results))


def test_what_four_in_five_met_in_the_market_is_shared_and_what_three_met_is_not() -> None:
    calm = [lost(1, regime="CALM", depth=3) for _ in range(4)]
    told = _describe_cluster("carry", "SWAP", [*calm, lost(1, regime="CRISIS", depth=4)])
    assert told.features == {"strategy_name": "carry", "action_type": "SWAP", "regime": "CALM", "depth": "3"}
    fewer = _describe_cluster("carry", "SWAP", [*calm[:3], lost(1), lost(1)])
    assert fewer.features == {"strategy_name": "carry", "action_type": "SWAP"}


def test_the_figures_of_predictions_are_told_in_basis_points() -> None:
    told = judge_accuracy([(error, None) for error in range(100)])
    assert (told.sample_count, told.mean_bps, told.median_bps, told.p95_bps) == (100, 49, 50, 95)
    one = judge_accuracy([(40, 9_000)])
    assert (one.stddev_bps, one.median_bps, one.p95_bps, one.drift_bps, one.is_overconfident) == (
        0,
        40,
        40,
        None,
        False,
    )
    assert judge_accuracy([(10, None), (30, None)]).stddev_bps == 10
    nothing = judge_accuracy([])
    assert (nothing.sample_count, nothing.mean_bps, nothing.is_overconfident) == (0, None, False)


@pytest.mark.parametrize(
    ("errors", "drift"),
    [
        ([1, 1, 1], None),
        ([0, 0, 0, 0], 10_000),
        ([0, 0, 5, 5], 100_000),
        ([10, 10, 15, 15], 15_000),
        ([9, 9, 3, 3], 3_333),
    ],
)
def test_drift_is_the_newer_half_over_the_older(errors: list[int], drift: int | None) -> None:
    assert judge_accuracy([(error, None) for error in errors]).drift_bps == drift


def test_performance_needs_a_result_and_a_ratio_four_of_them() -> None:
    assert measure_performance([]) is None
    three = measure_performance([lost(-3_000_000), lost(0), lost(3_000_000)])
    assert three == {"total_executions": 3, "avg_pnl_usd": "$0.00", "win_rate": "0.3333", "sharpe_ratio": None}
    four = measure_performance([lost(-1_000_000), lost(-3_000_000), lost(-1_000_000), lost(-3_000_000)])
    assert four == {"total_executions": 4, "avg_pnl_usd": "$2.00", "win_rate": "1.0000", "sharpe_ratio": "2.0000"}
    even = measure_performance([lost(-1_000_000)] * 4)
    assert even is not None and even["sharpe_ratio"] is None


@pytest.mark.parametrize(
    ("bps", "text"),
    [(None, None), (0, "0.0000"), (7_500, "0.7500"), (-1, "-0.0001"), (-12_345, "-1.2345"), (10_000, "1.0000")],
)
def test_a_ratio_is_told_with_four_decimals(bps: int | None, text: str | None) -> None:
    assert show_ratio(bps) == text


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("Too little received", PRICE_MOVED),
        ("UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT", PRICE_MOVED),
        ("slippage", PRICE_MOVED),
        ("Too much requested", PRICE_MOVED),
        ("EXCESSIVE_INPUT_AMOUNT", PRICE_MOVED),
        ("UniswapV2Router: EXPIRED", MINED_LATE),
        ("Transaction too old", MINED_LATE),
        ("TransactionDeadlinePassed()", MINED_LATE),
        ("UniswapV2: INSUFFICIENT_LIQUIDITY", TOO_SHALLOW),
        ("SPL", TOO_SHALLOW),
        ("TransferHelper: TRANSFER_FROM_FAILED", "A token could not be taken from the account"),
        ("ERC20: transfer amount exceeds balance", "A token could not be taken from the account"),
        ("STF", "A token could not be taken from the account"),
        ("insufficient allowance", "A token could not be taken from the account"),
        ("insufficient balance", "A token could not be taken from the account"),
        ("K", "The contract refused for a reason that is not known here."),
        ("", "The contract refused for a reason that is not known here."),
    ],
)
def test_a_revert_is_laid_to_what_its_words_say(reason: str, cause: str) -> None:
    told = reflect(prediction={}, outcome={"status": "reverted", "revert_reason": reason})
    assert told.verdict == "reverted" and told.why[0].startswith(cause) and len(told.next_time) == 1
    assert told.prediction_error_bps == 10_000


@pytest.mark.parametrize("word", ["gas", "fee", "nonce", "block", "timestamp", "deadline", "duration", "decimals"])
def test_what_an_action_costs_or_when_it_ran_is_no_error_of_its_prediction(word: str) -> None:
    told = reflect(prediction={f"{word}_of_it": "100"}, outcome={f"{word}_of_it": "200", "status": "committed"})
    assert told.prediction_error_bps is None and told.verdict == "not_comparable"
    assert {"chain_id", "units"} < set(_COST_WORDS) and len(_COST_WORDS) == 10


def episode(
    tool: str, *, verdict: str = "as_predicted", why: str = "", importance: Importance = Importance.BASE
) -> Any:
    return SimpleNamespace(
        tool_name=tool,
        action_type=tool,
        importance=importance,
        reflection={"verdict": verdict, "why": [why] if why else []},
    )


@pytest.mark.parametrize(
    ("members", "category"),
    [
        ([episode("a_tool_of_an_owner")], InsightCategory.SLIPPAGE),
        ([episode("a_tool_of_an_owner", verdict="diverged")], InsightCategory.VOLATILITY),
        ([episode("vault_deposit")], InsightCategory.VAULT_STRATEGY),
        ([episode("aave_supply")], InsightCategory.GENERAL),
        ([episode("uniswap_execute_swap", verdict="reverted", why=PRICE_MOVED)], InsightCategory.SLIPPAGE),
        ([episode("uniswap_execute_swap", verdict="reverted", why=MINED_LATE)], InsightCategory.GAS_TIMING),
        ([episode("uniswap_execute_swap", verdict="reverted", why=TOO_SHALLOW)], InsightCategory.LIQUIDITY_DEPTH),
        ([episode("uniswap_execute_swap", verdict="reverted", why="another")], InsightCategory.GENERAL),
        ([episode("uniswap_execute_swap", verdict="reverted")], InsightCategory.GENERAL),
        ([episode("aave_repay", importance=Importance.EMERGENCY)], InsightCategory.EMERGENCY),
    ],
)
def test_a_conclusion_is_about_the_cause_or_about_what_the_tool_does(
    members: list[Any], category: InsightCategory
) -> None:
    assert choose_category(members) is category


def test_more_than_half_of_the_prices_that_moved_against_it_are_an_attack() -> None:
    against, other = (
        episode("uniswap_execute_swap", verdict="diverged", importance=importance)
        for importance in (Importance.MEV, Importance.BASE)
    )
    assert choose_category([against, other]) is InsightCategory.VOLATILITY
    assert choose_category([against, against, other]) is InsightCategory.MEV_PATTERN


def test_a_conclusion_lasts_as_the_weightiest_of_its_experiences() -> None:
    days = {each: choose_stability([episode("x"), episode("x", importance=each)]) for each in Importance}
    assert list(days.values()) == [7.0, 30.0, 90.0, 90.0, 180.0]
