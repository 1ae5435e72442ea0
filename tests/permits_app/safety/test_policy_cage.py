"""The cage's rules, each at its boundary, and the hook on a real golem's real plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from archetypes_app.errors import GolemHalted
from permits_app.errors import PhaseBlocked, TokenNotAllowed
from permits_app.hook_rejection import Reject
from permits_app.models import ActionPermit, AllowlistEntry, PolicyCage
from permits_app.models.permit import PermitStatus
from permits_app.safety.assets import Portfolio, read_portfolio
from permits_app.safety.call_records import UnderWay
from permits_app.safety.holding_rules import (
    judge_asset_count,
    judge_asset_list,
    judge_collateral,
    judge_concentration,
    judge_position,
    judge_range,
)
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.policy_cage import (
    CageRows,
    PolicyCageHook,
    enters_position,
    judge_rows,
    load_holdings,
)
from permits_app.safety.phase_rules import judge_layer, judge_phase
from permits_app.safety.rebalance_rules import judge_rebalances
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import NOW, SWAP_TOOL, WBTC, WETH, live_call, open_position, plain_call, swap_call
from tools_app.core.errors import Recovery
from tools_app.toolkit.enums import ActionClass, Category, Phase, RiskLayer
from tools_app.toolkit.plan import TokenFlow, TxPlan

A, P = ActionClass, Phase
HOOK = PolicyCageHook()

# Which classes each phase lets pass: the table of the seed, written out.
ALLOWED = {
    P.THRIVING: {A.NEW_POSITION, A.INCREASE_POSITION, A.REBALANCE, A.DECREASE_POSITION, A.CLOSE_POSITION, A.READ_ONLY},
    P.CAUTIOUS: {A.NEW_POSITION, A.INCREASE_POSITION, A.REBALANCE, A.DECREASE_POSITION, A.CLOSE_POSITION, A.READ_ONLY},
    P.DEFENSIVE: {A.REBALANCE, A.DECREASE_POSITION, A.CLOSE_POSITION, A.READ_ONLY},
    P.SURVIVAL: {A.DECREASE_POSITION, A.CLOSE_POSITION, A.READ_ONLY},
    P.TERMINAL: {A.CLOSE_POSITION, A.READ_ONLY},
}


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("action_class", list(ActionClass))
def test_a_phase_allows_exactly_its_classes(phase: Phase, action_class: ActionClass) -> None:
    refusal = judge_phase(phase=phase, action_class=action_class)
    assert (refusal is None) == (action_class in ALLOWED[phase])
    if refusal is not None:
        assert (refusal.rule, refusal.error) == ("policy_cage.phase", PhaseBlocked)
        assert action_class.value in refusal.observed


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("action_class", list(ActionClass))
def test_what_leaves_and_comes_back_passes_in_every_phase(phase: Phase, action_class: ActionClass) -> None:
    refusal = judge_phase(phase=phase, action_class=action_class, returns_to_golem=True)
    leaving = {A.DECREASE_POSITION, A.CLOSE_POSITION}
    assert (refusal is None) == (action_class in ALLOWED[phase] | leaving)


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("layer", list(RiskLayer))
@pytest.mark.parametrize("action_class", list(ActionClass))
def test_layer_three_is_blocked_in_the_late_phases_unless_it_gets_out(
    phase: Phase, layer: RiskLayer, action_class: ActionClass
) -> None:
    late = phase in (P.DEFENSIVE, P.SURVIVAL, P.TERMINAL)
    leaving = action_class in (A.DECREASE_POSITION, A.CLOSE_POSITION)
    refusal = judge_layer(phase=phase, layer=layer, action_class=action_class)
    assert (refusal is not None) == (layer is RiskLayer.UNBOUNDED and late and not leaving)


@pytest.mark.parametrize(("seconds", "passes"), [(3599, False), (3600, True), (3601, True)])
def test_rebalances_keep_their_distance_to_the_second(seconds: int, passes: bool) -> None:
    last = NOW - timedelta(seconds=seconds)
    refusal = judge_rebalances(times=[last], now=NOW, interval_seconds=3600, most_per_day=24)
    assert (refusal is None) == passes
    if refusal is not None:
        assert refusal.resets_at == (last + timedelta(hours=1)).isoformat()
        assert refusal.as_error("policy_cage").next_step is Recovery.WAIT


@pytest.mark.parametrize(("count", "passes"), [(2, True), (3, False), (4, False)])
def test_a_day_takes_exactly_its_number_of_rebalances(count: int, passes: bool) -> None:
    times = [NOW - timedelta(hours=2 + each) for each in range(count)]
    refusal = judge_rebalances(times=times, now=NOW, interval_seconds=3600, most_per_day=3)
    assert (refusal is None) == passes
    if refusal is not None:
        assert refusal.rule == "policy_cage.rebalances_per_day"
        assert datetime.fromisoformat(refusal.resets_at) == times[2] + timedelta(hours=24)


def test_a_rebalance_a_day_old_no_longer_counts() -> None:
    times = [NOW - timedelta(hours=24), NOW - timedelta(hours=25)]
    assert judge_rebalances(times=times, now=NOW, interval_seconds=0, most_per_day=1) is None


@pytest.mark.parametrize(("count", "passes"), [(9, True), (10, True), (11, False)])
def test_the_cage_has_room_for_exactly_its_assets(count: int, passes: bool) -> None:
    assert (judge_asset_count(count=count, most=10) is None) == passes


def test_a_token_that_arrives_must_be_an_approved_asset() -> None:
    assert judge_asset_list(arriving=[WETH], approved=frozenset({WETH.address})) is None
    refusal = judge_asset_list(arriving=[WETH, WBTC], approved=frozenset({WETH.address}))
    assert refusal is not None
    assert (refusal.rule, refusal.error) == ("policy_cage.approved_asset", TokenNotAllowed)
    assert refusal.data["token"] == WBTC.address


@pytest.mark.parametrize(("value", "passes"), [(249_999, True), (250_000, True), (250_001, False)])
def test_a_position_takes_exactly_its_share(value: int, passes: bool) -> None:
    refusal = judge_position(value_micro_usd=value, total_micro_usd=1_000_000, most_bps=2500)
    assert (refusal is None) == passes


def portfolio(before: dict[str, int], after: dict[str, int]) -> Portfolio:
    return Portfolio(before, after, {"w": "WETH", "u": "USDC"}, base_asset="u")


@pytest.mark.parametrize(("weth", "passes"), [(2_999, True), (3_000, True), (3_001, False)])
def test_an_asset_takes_exactly_its_share_of_the_portfolio(weth: int, passes: bool) -> None:
    moved = portfolio({"u": 10_000}, {"u": 10_000 - weth, "w": weth})
    refusal = judge_concentration(portfolio=moved, most_bps=3000)
    assert (refusal is None) == passes
    if refusal is not None:
        assert "WETH" in refusal.reason
        assert refusal.limit == "3000 bps (30%)"


def test_the_base_asset_may_be_everything() -> None:
    assert judge_concentration(portfolio=portfolio({"w": 5_000}, {"u": 5_000}), most_bps=3000) is None


def test_only_an_action_that_raises_the_share_is_refused() -> None:
    falling = portfolio({"u": 1_000, "w": 9_000}, {"u": 2_000, "w": 8_000})
    still = portfolio({"u": 1_000, "w": 9_000}, {"u": 1_000, "w": 9_000})
    rising = portfolio({"u": 1_000, "w": 9_000}, {"u": 999, "w": 9_001})
    assert judge_concentration(portfolio=falling, most_bps=3000) is None
    assert judge_concentration(portfolio=still, most_bps=3000) is None
    assert judge_concentration(portfolio=rising, most_bps=3000) is not None


def test_paying_somebody_raises_the_share_of_what_is_left() -> None:
    paid = portfolio({"u": 8_000, "w": 4_000}, {"u": 2_000, "w": 4_000})
    assert judge_concentration(portfolio=paid, most_bps=3000) is not None


@pytest.mark.django_db
def test_a_halted_golem_refuses_even_a_close() -> None:
    call = plain_call(action_class=A.CLOSE_POSITION)
    call.golem.halted_at, call.golem.halt_reason = NOW, "owner said stop"
    verdict = HOOK.check(call)
    assert isinstance(verdict, Reject)
    assert (verdict.rule, verdict.error) == ("policy_cage.halted", GolemHalted)


def test_without_a_chain_nothing_that_raises_exposure_passes() -> None:
    plan = TxPlan(chain_id=31337, calls=(), receives=(TokenFlow(WETH, 1, 1),))
    verdict = HOOK.decide(plain_call(plan), CageRows(), load_holdings(plain_call(plan)))
    assert isinstance(verdict, Reject)
    assert verdict.rule == "policy_cage.unknown"
    leaving = plain_call(plan, action_class=A.DECREASE_POSITION)
    assert isinstance(HOOK.decide(leaving, CageRows(), None), Allow)


@pytest.mark.parametrize(("ratio", "passes"), [(12_499, False), (12_500, True), (12_501, True)])
def test_the_collateral_ratio_is_held_to_the_basis_point(ratio: int, passes: bool) -> None:
    refusal = judge_collateral(ratio_bps=ratio, least_bps=12_500, borrows=True)
    assert (refusal is None) == passes
    if refusal is not None:
        assert (refusal.rule, refusal.limit) == ("policy_cage.collateral_ratio", "at least 12500 bps (125%)")


@pytest.mark.parametrize(("ticks", "passes"), [(499, False), (500, True), (501, True)])
def test_a_range_is_held_to_the_tick(ticks: int, passes: bool) -> None:
    plan = TxPlan(31337, (), details={"tick_lower": 10 - ticks, "tick_upper": 10})
    assert (judge_range(plan, least_ticks=500) is None) == passes
    assert judge_range(TxPlan(31337, (), details={}), least_ticks=500) is None


BORROW = replace(SWAP_TOOL, name="lending_borrow", category=Category.LENDING, risk_layer=RiskLayer.UNBOUNDED)


@pytest.mark.parametrize("category", [Category.LENDING, Category.DERIVATIVES])
@pytest.mark.parametrize(("ratio", "rule"), [(None, "collateral_unknown"), (12_499, "collateral_ratio"), (12_500, "")])
def test_what_borrows_without_stating_enough_collateral_is_refused(
    category: Category, ratio: int | None, rule: str
) -> None:
    plan = TxPlan(chain_id=31337, calls=(), collateral_ratio_bps=ratio)
    call = plain_call(plan, tool=replace(BORROW, category=category), action_class=A.INCREASE_POSITION)
    refusal = judge_rows(call, CageRows())
    assert (refusal.rule if refusal else "") == (f"policy_cage.{rule}" if rule else "")


def test_what_gives_debt_back_or_does_not_borrow_needs_no_ratio() -> None:
    plan = TxPlan(chain_id=31337, calls=())
    assert judge_rows(plain_call(plan, tool=BORROW, action_class=A.DECREASE_POSITION), CageRows()) is None
    assert judge_rows(plain_call(plan, tool=BORROW, action_class=A.CLOSE_POSITION), CageRows()) is None
    supply = replace(BORROW, risk_layer=RiskLayer.BOUNDED)
    assert judge_rows(plain_call(plan, tool=supply), CageRows()) is None
    swap = replace(BORROW, category=Category.TRADING)
    assert judge_rows(plain_call(plan, tool=swap), CageRows()) is None
    assert judge_rows(plain_call(None, tool=BORROW), CageRows()) is None


def test_a_stated_ratio_is_judged_whatever_the_tool() -> None:
    plan = TxPlan(chain_id=31337, calls=(), collateral_ratio_bps=12_499)
    refusal = judge_rows(plain_call(plan), CageRows())
    assert refusal is not None and refusal.rule == "policy_cage.collateral_ratio"


# ---- on the local chain --------------------------------------------------------------------------------------------


def set_cage(live: LiveGolem, **columns: Any) -> None:
    PolicyCage.objects.filter(golem=live.golem).update(**columns)


def test_the_share_is_measured_from_real_balances_and_feeds(live_golem: LiveGolem) -> None:
    assert isinstance(HOOK.check(swap_call(live_golem)), Allow)
    set_cage(live_golem, max_concentration_bps=500)
    verdict = HOOK.check(swap_call(live_golem))
    assert isinstance(verdict, Reject)
    assert verdict.rule == "policy_cage.max_concentration"
    assert "WETH" in verdict.reason


def test_a_swap_into_the_base_asset_is_never_stopped_by_concentration(live_golem: LiveGolem) -> None:
    set_cage(live_golem, max_concentration_bps=500, max_assets=1)
    verdict = HOOK.check(swap_call(live_golem, token_in="WETH", token_out="USDC", amount=str(10**17)))
    assert isinstance(verdict, Allow)


RANGE = {"token0": "WETH", "token1": "USDC", "price_lower": "1", "price_upper": "100000"}


def test_a_position_larger_than_its_share_is_refused(live_golem: LiveGolem) -> None:
    params = {**RANGE, "amount1": "2000000000"}
    assert isinstance(HOOK.check(live_call(live_golem, "uniswap_lp_add_liquidity", params)), Allow)
    set_cage(live_golem, max_position_bps=100)
    verdict = HOOK.check(live_call(live_golem, "uniswap_lp_add_liquidity", params))
    assert isinstance(verdict, Reject)
    assert verdict.rule == "policy_cage.max_position"


def test_a_range_under_the_owners_least_is_refused_and_leaving_one_is_not(
    live_golem: LiveGolem, local_chain: World
) -> None:
    narrow = {**RANGE, "price_lower": "2950", "price_upper": "3050", "amount1": "100000000"}
    verdict = HOOK.check(live_call(live_golem, "uniswap_lp_add_liquidity", narrow))
    assert isinstance(verdict, Reject)
    assert (verdict.rule, verdict.limit) == ("policy_cage.min_range", "at least 500 ticks")
    assert "owner" in verdict.would_pass
    wide = {**RANGE, "price_lower": "2800", "price_upper": "3200", "amount1": "100000000"}
    assert isinstance(HOOK.check(live_call(live_golem, "uniswap_lp_add_liquidity", wide)), Allow)
    position_id = open_position(live_golem, local_chain, amount1="200000000")
    set_cage(live_golem, min_range_ticks=1_774_544)
    more = HOOK.check(
        live_call(live_golem, "uniswap_lp_increase_liquidity", {"position_id": position_id, "amount1": "100000000"})
    )
    assert isinstance(more, Reject) and more.rule == "policy_cage.min_range"
    left = {"position_id": position_id, "percent_to_remove": 100}
    assert isinstance(HOOK.check(live_call(live_golem, "uniswap_lp_remove_liquidity", left)), Allow)


def test_adding_to_a_position_counts_what_is_in_it(live_golem: LiveGolem, local_chain: World) -> None:
    before = measure(live_golem, "uniswap_lp_add_liquidity", {**RANGE, "amount1": "1000000000"})
    position_id = open_position(live_golem, local_chain, amount1="2000000000")
    fresh = measure(live_golem, "uniswap_lp_add_liquidity", {**RANGE, "amount1": "1000000000"})
    grown = measure(live_golem, "uniswap_lp_increase_liquidity", {"position_id": position_id, "amount1": "1000000000"})
    # Two parts are in it and one comes on top; what the pool rounds and the feed differs is under one per cent.
    assert abs(grown.position_after - 3 * fresh.position_after) * 100 < fresh.position_after
    # A position is still the golem's own: the portfolio is as large as before it was opened.
    assert abs(fresh.total_before - before.total_before) * 100 < before.total_before
    # What a plan says it changes is rounded for itself: a millionth of a dollar for a token.
    assert all(abs(grown.after[asset] - worth) <= 1 for asset, worth in grown.before.items())


def measure(live: LiveGolem, name: str, params: dict[str, str], *, under_way: Sequence[UnderWay] = ()) -> Portfolio:
    call = live_call(live, name, params)
    assert call.plan is not None
    assert call.chain is not None
    return read_portfolio(
        chain=call.chain,
        account=live.golem.address,
        base_asset="USDC",
        plan=call.plan,
        enters_position=enters_position(call),
        position_id=str(params.get("position_id", "")),
        under_way=under_way,
    )


def test_an_asset_taken_off_the_list_can_still_be_left_but_not_entered(live_golem: LiveGolem) -> None:
    AllowlistEntry.objects.filter(golem=live_golem.golem, kind="TOKEN", address=WETH.address).delete()
    entering = HOOK.check(swap_call(live_golem))
    leaving = HOOK.check(swap_call(live_golem, token_in="WETH", token_out="USDC", amount=str(10**17)))
    assert isinstance(entering, Reject)
    assert entering.rule == "policy_cage.approved_asset"
    assert isinstance(leaving, Allow)


@pytest.mark.parametrize(
    ("status", "counts"),
    [
        (PermitStatus.COMMITTED, True),
        (PermitStatus.COMMITTING, True),
        (PermitStatus.UNKNOWN, True),
        (PermitStatus.REVERTED, False),
        (PermitStatus.CREATED, False),
        (PermitStatus.EXPIRED, False),
    ],
)
def test_a_rebalance_counts_once_it_may_have_happened(
    live_golem: LiveGolem, status: PermitStatus, counts: bool
) -> None:
    call = swap_call(live_golem, token_in="WETH", token_out="DAI", amount=str(10**16))
    assert call.action_class is ActionClass.REBALANCE
    row = ActionPermit.objects.create(
        golem=live_golem.golem,
        status=status,
        chain_id=31337,
        action_hash=status.value,
        action_class="REBALANCE",
        risk_tier="STANDARD",
        expires_at=call.now,
        committing_at=call.now - timedelta(minutes=5),
    )
    verdict = HOOK.check(call)
    assert isinstance(verdict, Reject) == counts
    again = swap_call(live_golem, token_in="WETH", token_out="DAI", amount=str(10**16))
    assert isinstance(HOOK.check(replace(again, own_permit_id=row.pk)), Allow)


def test_the_coin_and_its_wrapped_form_are_one_asset(live_golem: LiveGolem) -> None:
    set_cage(live_golem, max_concentration_bps=500)
    verdict = HOOK.check(swap_call(live_golem, token_out="ETH"))
    assert isinstance(verdict, Reject)
    assert verdict.data["asset"] == WETH.address


@pytest.mark.parametrize(
    ("ratio", "observed", "words"),
    [
        (12_499, "12499 bps (124.99%)", "12499 bps (124.99%) of the debt"),
        (0, "0 bps (0%)", "would be 0 bps (0%) of the debt"),
        (None, "no collateral ratio", "does not say"),
    ],
)
def test_a_refusal_for_collateral_says_what_would_stand_behind_the_debt(
    ratio: int | None, observed: str, words: str
) -> None:
    refusal = judge_collateral(ratio_bps=ratio, least_bps=12_500, borrows=True)
    assert isinstance(refusal, Reject)
    assert refusal.observed == observed
    assert words in refusal.reason


@pytest.mark.parametrize(
    ("most", "resets_at", "would_pass"),
    [
        (
            1,
            (NOW + timedelta(hours=22)).isoformat(),
            f"the same action from {(NOW + timedelta(hours=22)).isoformat()} on",
        ),
        (
            2,
            (NOW + timedelta(hours=21)).isoformat(),
            f"the same action from {(NOW + timedelta(hours=21)).isoformat()} on",
        ),
        (0, "", "nothing while the limit is 0"),
    ],
)
def test_a_refusal_for_rebalances_says_when_one_is_free_again(most: int, resets_at: str, would_pass: str) -> None:
    times = [NOW - timedelta(hours=2), NOW - timedelta(hours=3)]
    refusal = judge_rebalances(times=times, now=NOW, interval_seconds=0, most_per_day=most)
    assert isinstance(refusal, Reject)
    assert (refusal.resets_at, refusal.would_pass) == (resets_at, would_pass)
    step = refusal.as_error("policy_cage").next_step
    assert step is (Recovery.WAIT if resets_at else Recovery.ASK_OWNER)
