"""A replay answers what living under the draft would have answered; under the policy it was decided by, the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permits_app.backtest.judge_past_decision import NO_HOLDINGS, NOT_KEPT, ON_CHAIN
from permits_app.backtest.policy_replay import replay_decisions
from tests.permits_app.backtest.lives import KEYS, LISTED, OPEN, OTHER_ROUTER, Life, Wish, tighten
from tools_app.toolkit.enums import ActionClass as A
from tools_app.toolkit.enums import Phase

USD = 1_000_000
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
WITHOUT_ROUTER = {**OPEN, "allowlist": {key: "" for key in LISTED if OTHER_ROUTER not in key}}
WITHOUT_WBTC = {**OPEN, "allowlist": {key: "" for key in LISTED if "ACD71143" not in key}}
RIGHT, WRONG = (True,) * 20, (False,) * 20

# The rule, a policy under which the second wish is refused by it, one under which it is not, and the two wishes.
SECOND: list[tuple[str, dict[str, Any], dict[str, Any], tuple[Wish, Wish]]] = [
    ("spending_limiter.per_transaction", tighten(per_transaction_micro_usd=USD), OPEN, (Wish(), Wish(amount=USD + 1))),
    ("spending_limiter.per_tick", tighten(per_tick_micro_usd=2 * USD - 1), OPEN, (Wish(tick=3), Wish(tick=3))),
    ("spending_limiter.per_session", tighten(per_session_micro_usd=2 * USD - 1), OPEN, (Wish(), Wish())),
    ("spending_limiter.per_day", tighten(per_day_micro_usd=2 * USD - 1), OPEN, (Wish(), Wish(key=1))),
    (
        "spending_limiter.trading_costs_per_day",
        tighten(trading_costs_per_day_micro_usd=9_999),
        tighten(trading_costs_per_day_micro_usd=10_000),
        (Wish(), Wish(buys_wbtc=True)),
    ),
    (
        "spending_limiter.trading_costs_per_pair",
        tighten(trading_costs_per_pair_micro_usd=9_999),
        tighten(trading_costs_per_pair_micro_usd=10_000),
        (Wish(), Wish()),
    ),
    (
        "spending_limiter.trading_costs_per_venue",
        tighten(trading_costs_per_venue_micro_usd=9_999),
        tighten(trading_costs_per_venue_micro_usd=10_000),
        (Wish(), Wish(buys_wbtc=True)),
    ),
    ("spending_limiter.slippage", tighten(max_slippage_bps=50), OPEN, (Wish(), Wish(slippage_bps=51))),
    ("spending_limiter.price_impact", tighten(max_price_impact_bps=10), OPEN, (Wish(), Wish(impact_bps=11))),
    ("rate_limiter.per_hour", tighten(writes_per_hour=1), OPEN, (Wish(), Wish())),
    ("rate_limiter.alike", tighten(most_alike_calls=2), tighten(most_alike_calls=3), (Wish(alike=1), Wish(alike=2))),
    ("allowlist_guard.contract", WITHOUT_ROUTER, OPEN, (Wish(), Wish(router=OTHER_ROUTER))),
    ("policy_cage.approved_asset", WITHOUT_WBTC, OPEN, (Wish(), Wish(buys_wbtc=True))),
    (
        "policy_cage.max_assets",
        tighten(allowlist_mode="OFF", max_assets=2),
        tighten(allowlist_mode="OFF"),
        (Wish(), Wish(buys_wbtc=True)),
    ),
    ("policy_cage.max_position", tighten(max_position_bps=1_000), OPEN, (Wish(), Wish(position=1_000_001))),
    ("policy_cage.max_concentration", tighten(max_concentration_bps=2_000), OPEN, (Wish(), Wish(amount=USD + 1))),
    (
        "policy_cage.drawdown",
        tighten(max_drawdown_bps=999),
        tighten(max_drawdown_bps=1_000),
        (Wish(), Wish(usdc=8 * USD)),
    ),
    (
        "policy_cage.rebalance_interval",
        tighten(min_rebalance_interval_seconds=601),
        OPEN,
        (Wish(action_class=A.REBALANCE), Wish(action_class=A.REBALANCE)),
    ),
    (
        "policy_cage.rebalances_per_day",
        tighten(max_rebalances_per_day=1),
        OPEN,
        (Wish(action_class=A.REBALANCE), Wish(action_class=A.REBALANCE)),
    ),
    (
        "policy_cage.collateral_ratio",
        tighten(min_collateral_ratio_bps=12_000),
        OPEN,
        (Wish(), Wish(collateral_bps=11_999)),
    ),
]


@pytest.mark.parametrize(("rule", "strict", "loose", "wishes"), SECOND, ids=[each[0] for each in SECOND])
def test_every_limit_flips_both_ways_with_its_value(
    rule: str, strict: dict[str, Any], loose: dict[str, Any], wishes: tuple[Wish, Wish]
) -> None:
    for lived, tried, was, becomes in ((strict, loose, rule, "allowed"), (loose, strict, "allowed", rule)):
        life = Life(lived)
        life.live(wishes)
        (line,) = replay_decisions(life.decisions, tried).flipped
        assert (line.was, line.becomes) == (was, becomes)
        assert line.value_micro_usd == wishes[1].amount
        assert not replay_decisions(life.decisions, lived).flipped


def test_the_action_gate_flips_both_ways() -> None:
    gated = tighten(is_action_gate_on="True")
    for lived, tried, was in ((gated, OPEN, "policy_cage.action_gate_size"), (OPEN, gated, "allowed")):
        life = Life(lived, predictions=RIGHT[:8] + WRONG[:12])
        life.live([Wish(amount=USD)])
        before = [(life.decisions[0].at - HOUR, each) for each in life.predictions[::-1]]
        (line,) = replay_decisions(life.decisions, tried, predictions=before).flipped
        assert line.was == was


def test_the_gate_counts_only_predictions_that_had_come_true_by_then() -> None:
    life = Life(OPEN)
    life.live([Wish(amount=USD)])
    late = [(life.decisions[0].at + MINUTE, True)] * 20
    (line,) = replay_decisions(life.decisions, tighten(is_action_gate_on="True"), predictions=late).lines
    assert line.becomes == "policy_cage.action_gate_few_predictions"


@pytest.mark.parametrize(
    ("wish", "rule"),
    [
        (Wish(phase=Phase.DEFENSIVE), "policy_cage.phase"),
        (Wish(phase=Phase.SURVIVAL, action_class=A.REBALANCE), "policy_cage.phase"),
    ],
)
def test_what_the_phase_refused_stays_refused_by_it_under_every_draft(wish: Wish, rule: str) -> None:
    life = Life(OPEN)
    assert life.live([wish]) == [rule]
    assert [line.becomes for line in replay_decisions(life.decisions, OPEN).lines] == [rule]


POLICIES = st.builds(
    tighten,
    per_transaction_micro_usd=st.integers(1, 4).map(lambda each: each * USD),
    per_tick_micro_usd=st.integers(2, 8).map(lambda each: each * USD),
    per_session_micro_usd=st.integers(4, 20).map(lambda each: each * USD),
    per_day_micro_usd=st.integers(4, 20).map(lambda each: each * USD),
    writes_per_hour=st.integers(1, 8),
    max_slippage_bps=st.sampled_from([50, 100]),
    max_price_impact_bps=st.sampled_from([10, 20]),
    allowlist_mode=st.sampled_from(["STRICT", "WARN", "OFF"]),
    max_assets=st.integers(2, 4),
    max_position_bps=st.sampled_from([1_000, 2_500, 10_000]),
    max_concentration_bps=st.sampled_from([1_500, 3_000, 10_000]),
    min_rebalance_interval_seconds=st.sampled_from([0, 600, 3_600]),
    max_rebalances_per_day=st.integers(0, 4),
    min_collateral_ratio_bps=st.sampled_from([10_500, 12_500, 15_000]),
    is_action_gate_on=st.sampled_from(["False", "True"]),
)
DRAWDOWNS = st.sampled_from([100, 500, 1_000, 1_399, 1_400, 2_000, 5_000])
WISHES = st.lists(
    st.builds(
        Wish,
        after=st.integers(1, 90).map(lambda each: each * MINUTE),
        action_class=st.sampled_from([A.NEW_POSITION, A.INCREASE_POSITION, A.REBALANCE, A.DECREASE_POSITION]),
        amount=st.integers(1, 5).map(lambda each: each * USD),
        key=st.integers(0, len(KEYS) - 1),
        tick=st.integers(0, 2),
        slippage_bps=st.sampled_from([40, 60]),
        impact_bps=st.sampled_from([5, 15]),
        collateral_bps=st.sampled_from([None, 11_000, 13_000]),
        weth=st.integers(0, 4).map(lambda each: each * USD),
        position=st.integers(0, 4).map(lambda each: each * USD),
        router=st.sampled_from([Wish().router, OTHER_ROUTER]),
        buys_wbtc=st.booleans(),
        is_conservative=st.booleans(),
        phase=st.sampled_from([Phase.THRIVING, Phase.THRIVING, Phase.DEFENSIVE]),
    ),
    max_size=30,
)


def _answers(life: Life, policy: dict[str, Any], predictions: tuple[bool, ...]) -> list[str]:
    when = life.decisions[0].at - HOUR if life.decisions else None
    known = [(when, each) for each in predictions[::-1]] if when is not None else []
    lines = replay_decisions(life.decisions, policy, predictions=known).lines
    assert not any(line.unknown for line in lines)
    return ["" if line.becomes == "allowed" else line.becomes for line in lines]


@settings(max_examples=150, deadline=None)
@given(wishes=WISHES, policy=POLICIES, drawdown=DRAWDOWNS, right=st.integers(0, 20))
def test_a_decision_replayed_under_its_own_policy_is_the_same_decision(
    wishes: list[Wish], policy: dict[str, Any], drawdown: int, right: int
) -> None:
    own = tighten(policy, max_drawdown_bps=drawdown)
    predictions = RIGHT[:right] + WRONG[right:]
    life = Life(own, predictions=predictions)
    lived = life.live(wishes)
    assert _answers(life, own, predictions) == lived


@settings(max_examples=150, deadline=None)
@given(wishes=WISHES, lived=POLICIES, draft=POLICIES, right=st.integers(0, 20))
def test_a_draft_answers_as_a_life_under_it_would_have(
    wishes: list[Wish], lived: dict[str, Any], draft: dict[str, Any], right: int
) -> None:
    predictions = RIGHT[:right] + WRONG[right:]
    quiet = [replace(wish, usdc=9 * USD - wish.weth) for wish in wishes]  # Always the same total: nothing falls.
    one, other = Life(lived, predictions=predictions), Life(draft, predictions=predictions)
    one.live(quiet)
    assert _answers(one, draft, predictions) == other.live(quiet)


@settings(max_examples=150, deadline=None)
@given(
    totals=st.lists(st.tuples(st.integers(1, 30), st.integers(70, 110)), max_size=25), lived=DRAWDOWNS, draft=DRAWDOWNS
)
def test_falls_are_judged_as_the_draft_would_have_recorded_them(
    totals: list[tuple[int, int]], lived: int, draft: int
) -> None:
    wishes = [Wish(after=hours * HOUR, amount=1, weth=0, usdc=total * USD) for hours, total in totals]
    one, other = Life(tighten(max_drawdown_bps=lived)), Life(tighten(max_drawdown_bps=draft))
    one.live(wishes)
    assert _answers(one, tighten(max_drawdown_bps=draft), ()) == other.live(wishes)


def test_an_acknowledged_fall_is_acknowledged_under_the_draft_too() -> None:
    life = Life(tighten(max_drawdown_bps=500))
    life.live([Wish(usdc=10 * USD), Wish(usdc=8 * USD), Wish(usdc=8 * USD)])
    assert life.mark is not None
    life.mark = replace(life.mark, value_micro_usd=0, violated_at=None, violated_bps=0, paused_until=None)
    life.live([Wish(usdc=8 * USD)])
    for bps in (500, 400):
        lines = replay_decisions(life.decisions, tighten(max_drawdown_bps=bps)).lines
        assert [line.becomes for line in lines] == [
            "allowed",
            "policy_cage.drawdown",
            "policy_cage.drawdown",
            "allowed",
        ]


def test_a_fall_from_before_the_period_is_not_guessed_away() -> None:
    life = Life(tighten(max_drawdown_bps=500))
    life.live([Wish(usdc=10 * USD), Wish(usdc=9 * USD), Wish(usdc=9 * USD)])
    (same,) = replay_decisions(life.decisions[2:], tighten(max_drawdown_bps=500)).lines
    assert same.becomes == "policy_cage.drawdown"
    (looser,) = replay_decisions(life.decisions[2:], tighten(max_drawdown_bps=2_000)).lines
    assert (looser.becomes, looser.flips) == ("", False)
    assert "before this period" in looser.unknown


def test_what_was_recorded_without_facts_is_not_judged() -> None:
    life = Life(OPEN)
    life.live([Wish(), Wish()])
    old = [replace(past, facts=None) for past in life.decisions]
    replay = replay_decisions(old, tighten(per_transaction_micro_usd=0))
    assert [(line.unknown, line.flips) for line in replay.lines] == [(NOT_KEPT, False)] * 2


def test_a_refusal_whose_holdings_could_not_be_read_is_not_judged() -> None:
    life = Life(tighten(per_transaction_micro_usd=0))
    life.live([Wish()])
    (past,) = life.decisions
    assert past.facts is not None
    (line,) = replay_decisions([replace(past, facts=replace(past.facts, portfolio=None))], OPEN).lines
    assert line.unknown == NO_HOLDINGS


@pytest.mark.parametrize("rule", ["simulator.reverts", "rate_limiter.loop", "spending_limiter.whole_units", "VETOED"])
def test_what_no_limit_decided_stays_refused(rule: str) -> None:
    life = Life(OPEN)
    life.live([Wish()])
    (line,) = replay_decisions([replace(life.decisions[0], rule=rule)], OPEN).lines
    assert (line.becomes, line.flips) == (rule, False)


def test_what_a_contract_refused_is_not_judged_here() -> None:
    life = Life(OPEN)
    life.live([Wish()])
    (line,) = replay_decisions([replace(life.decisions[0], rule="policy_cage.contract")], OPEN).lines
    assert line.unknown == ON_CHAIN


def test_progress_is_told_to_the_last_one() -> None:
    life = Life(OPEN)
    life.live([Wish()] * 3)
    told: list[tuple[int, int]] = []
    replay_decisions(life.decisions, OPEN, on_progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_flips_are_summed_by_rule() -> None:
    life = Life(OPEN)
    life.live([Wish(amount=USD), Wish(amount=2 * USD), Wish(amount=3 * USD, slippage_bps=200)])
    replay = replay_decisions(life.decisions, tighten(per_transaction_micro_usd=USD, max_slippage_bps=100))
    assert [(each.rule, each.count, each.worth, each.share) for each in replay.rules] == [
        ("spending_limiter.per_transaction", 1, "$2.00", 100),
        ("spending_limiter.slippage", 1, "$3.00", 100),
    ]
