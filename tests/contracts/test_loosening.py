"""Loosening that looks like tightening, comes in many small steps, or races with the one who cancels it."""

from __future__ import annotations

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import (
    AssetRule,
    AssetState,
    Limit,
    Rule,
    RuleKind,
    address_key,
    limit_rule,
)
from tests.contracts.test_governance import DAY, HOUR, TWO_DAYS, delay, inner_error
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.safe import USD, CagedSafe


def test_the_valuer_of_what_is_held_is_not_taken_away_at_once(caged: CagedSafe) -> None:
    """Without it the position counts as nothing, and what counts as nothing can be stolen."""
    removal = Rule(RuleKind.VALUER, address_key(caged.lender), 0)
    expect(caged, caged.execute(caged.position(10_000 * USD)), None)
    assert delay(caged, removal) == TWO_DAYS
    assert caged.propose(removal).succeeded
    assert caged.rule(removal) != 0
    expect(
        caged, caged.execute(caged.position(0), *caged.take("USDC", 1)), ("LossTooLarge", (10_000 * USD + 1, 300 * USD))
    )


def test_an_asset_is_not_taken_off_the_list_at_once_while_a_position_may_hold_it(caged: CagedSafe) -> None:
    wbtc = caged.coins["WBTC"]
    removal = Rule(RuleKind.ASSET, address_key(wbtc.address), 0)
    expect(caged, caged.execute(*caged.trade("WBTC", 25_000_000, "USDC", 15_000 * USD)), None)
    assert delay(caged, removal) == 0
    expect(caged, caged.execute(caged.position(100 * USD)), None)
    assert delay(caged, removal) == TWO_DAYS
    retiring = AssetRule(wbtc.feed, HOUR, 8, 8, AssetState.RETIRING).pack()
    assert delay(caged, Rule(RuleKind.ASSET, removal.key, retiring)) == 0


def test_many_small_loosenings_wait_as_long_as_the_large_one_they_make(caged: CagedSafe) -> None:
    """A quarter looser every hour would be nine times as loose in ten hours."""
    data = cage_contract.encode_apply_change(RuleKind.LIMIT, cage_contract.limit_key(Limit.MAX_POSITION_BPS))

    def loosen(value: int, seconds: int) -> None:
        rule = limit_rule(Limit.MAX_POSITION_BPS, value)
        assert delay(caged, rule) == seconds, value
        assert caged.propose(rule).succeeded
        caged.engine.advance(seconds)
        assert caged.engine.send(caged.stranger, caged.cage, data).succeeded
        assert caged.rule(rule) == value

    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000)).succeeded
    loosen(1_250, HOUR)
    loosen(1_500, DAY)
    loosen(2_000, DAY)
    loosen(2_001, TWO_DAYS)
    # Two days after the last one it counts from where it stands.
    assert delay(caged, limit_rule(Limit.MAX_POSITION_BPS, 2_500)) == HOUR
    caged.engine.advance(TWO_DAYS)
    loosen(2_501, HOUR)


def test_a_limit_that_is_tighter_when_higher_counts_from_the_tightest_too(caged: CagedSafe) -> None:
    key = cage_contract.limit_key(Limit.MIN_REBALANCE_INTERVAL_SECONDS)
    data = cage_contract.encode_apply_change(RuleKind.LIMIT, key)
    for value, seconds in ((2_880, HOUR), (2_304, DAY), (1_800, DAY), (1_799, TWO_DAYS)):
        rule = limit_rule(Limit.MIN_REBALANCE_INTERVAL_SECONDS, value)
        assert delay(caged, rule) == seconds, value
        assert caged.propose(rule).succeeded
        caged.engine.advance(seconds)
        assert caged.engine.send(caged.stranger, caged.cage, data).succeeded


def test_tightening_in_between_does_not_make_the_way_back_shorter(caged: CagedSafe) -> None:
    limit = Limit.MAX_POSITION_BPS
    data = cage_contract.encode_apply_change(RuleKind.LIMIT, cage_contract.limit_key(limit))
    assert caged.propose(limit_rule(limit, 3_000)).succeeded
    caged.engine.advance(HOUR)
    assert caged.engine.send(caged.stranger, caged.cage, data).succeeded
    assert caged.propose(limit_rule(limit, 1_000)).succeeded
    assert caged.propose(limit_rule(limit, 1_250)).succeeded
    caged.engine.advance(HOUR)
    assert caged.engine.send(caged.stranger, caged.cage, data).succeeded
    assert delay(caged, limit_rule(limit, 1_500)) == DAY


def test_of_a_mixed_change_the_tighter_half_is_true_at_once_and_the_looser_one_waits(caged: CagedSafe) -> None:
    tighter, looser = limit_rule(Limit.MAX_POSITION_BPS, 1_000), limit_rule(Limit.MAX_DRAWDOWN_BPS, 1_400)
    assert caged.propose(looser, tighter).succeeded
    assert (caged.rule(tighter), caged.rule(looser)) == (1_000, 1_300)
    # One rule twice in one proposal: it becomes tighter, and what would make it looser again waits.
    back = limit_rule(Limit.MAX_POSITION_BPS, 2_500)
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 900), back).succeeded
    assert caged.rule(back) == 900


@pytest.mark.parametrize(
    ("seconds", "refusal"),
    [(HOUR - 1, "NotYet"), (HOUR, None), (HOUR + 7 * DAY, None), (HOUR + 7 * DAY + 1, "TooLate")],
)
def test_a_change_is_applied_from_its_second_to_the_end_of_its_week(
    caged: CagedSafe, seconds: int, refusal: str | None
) -> None:
    rule = limit_rule(Limit.MAX_POSITION_BPS, 3_000)
    proposed = caged.propose(rule)
    caged.engine.advance(proposed.at + seconds - caged.engine.now())
    sent = caged.engine.send(caged.stranger, caged.cage, cage_contract.encode_apply_change(rule.kind, rule.key))
    assert sent.at == proposed.at + seconds
    assert (None if sent.succeeded else caged.error(sent)[0]) == refusal


@pytest.mark.parametrize("is_cancelled_first", [True, False])
def test_of_cancelling_and_applying_the_first_one_counts(caged: CagedSafe, is_cancelled_first: bool) -> None:
    rule = limit_rule(Limit.MAX_POSITION_BPS, 3_000)
    assert caged.propose(rule).succeeded
    caged.engine.advance(HOUR)
    apply_data = cage_contract.encode_apply_change(rule.kind, rule.key)
    cancel = cage_contract.encode_cancel_change(rule.kind, rule.key)
    if is_cancelled_first:
        assert caged.owner_call(caged.cage, cancel).succeeded
        expect(caged, caged.engine.send(caged.stranger, caged.cage, apply_data), ("NothingPending", ()))
    else:
        assert caged.engine.send(caged.stranger, caged.cage, apply_data).succeeded
        assert inner_error(caged.owner_call(caged.cage, cancel)) == ("NothingPending", ())
    assert caged.rule(rule) == (2_500 if is_cancelled_first else 3_000)
