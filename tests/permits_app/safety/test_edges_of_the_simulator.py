"""Hook 5 at the edge of each of its rules, on plain values: where a test with a chain would take seconds for one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from permits_app.hook_rejection import Reject
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hooks import simulator
from permits_app.safety.hooks.simulator import (
    choose_setting,
    judge_gas,
    judge_payees,
    judge_run,
    judge_surprises,
    list_kept_elsewhere,
    measure_action,
)
from tests.evm.world import CHAIN_ID
from tests.permits_app.safety.calls import ACCOUNT, OTHER, ROUTER, USDC, WBTC, WETH, plain_call
from tools_app.chain.abi import encode_call
from tools_app.simulation.engine import CallOutcome, SimulationResult, TransferSeen
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_calls import APPROVE
from tools_app.toolkit.enums import ActionClass, EngineSetting, RiskLayer
from tools_app.toolkit.plan import AllowanceLeft, AmountGiven, Call, ItemGiven, TokenFlow, TxPlan
from tools_app.toolkit.positions import Leg, Position, PositionChange, PositionRef
from tools_app.toolkit.views import NATIVE, BlockRef, TokenMeta

COIN = TokenMeta(CHAIN_ID, NATIVE, "ETH", 18, "Ether", True)
BUDGET = GasBudget(limits=(1,), max_fee_per_gas=1)
REF = PositionRef("aave_v3", "account", CHAIN_ID, ACCOUNT)
ANY: Any = object()


def ran(**changes: Any) -> SimulationResult:
    """A run of one call by one engine in which nothing moved."""
    return replace(
        SimulationResult(
            "rpc", "", BlockRef(1, "0x", 1, 1), ACCOUNT, (CallOutcome(True, b"", 21_000, ()),), {}, {}, {}, {}
        ),
        **changes,
    )


def plan(**changes: Any) -> TxPlan:
    return TxPlan(chain_id=CHAIN_ID, calls=(Call(ROUTER, b"\x01\x02\x03\x04", 0, "do"),), **changes)


def change(protocol: str, expected: int) -> PositionChange:
    return PositionChange(protocol, "account", USDC.address, expected, expected, REF)


def refusal(rule: str) -> Reject:
    return Reject(rule=rule, reason="", observed="", limit="", would_pass="")


@pytest.mark.parametrize(
    ("protocol", "expected", "both"),
    [
        ("aave_v3", -1, True),
        ("aave_v3", 0, True),
        ("aave_v3", 1, False),
        ("erc4626", -1, False),
        ("uniswap", -1, True),
        ("uniswap", 1, False),
        ("uniswap_twamm", -1, True),
        ("nobody_knows_it", -1, False),
    ],
)
def test_two_engines_tell_what_leaves_a_pool_or_a_protocol_that_knows_debts_and_no_other(
    protocol: str, expected: int, both: bool
) -> None:
    call = plain_call(plan(changes=(change(protocol, expected),)))
    call.golem.simulation_engine = EngineSetting.RPC
    assert choose_setting(call) is (EngineSetting.BOTH if both else EngineSetting.RPC)


@pytest.mark.parametrize(("has_plan", "has_chain"), [(False, True), (True, False), (False, False)])
def test_only_a_plan_on_a_chain_is_run(has_plan: bool, has_chain: bool) -> None:
    call = plain_call(plan() if has_plan else None, chain=ANY if has_chain else None)
    with pytest.raises(TypeError, match="only a plan on a chain is run"):
        judge_run(call, ran(), BUDGET)


@pytest.mark.parametrize(
    ("action_class", "raising"),
    [
        (ActionClass.NEW_POSITION, True),
        (ActionClass.INCREASE_POSITION, True),
        (ActionClass.REBALANCE, True),
        (ActionClass.DECREASE_POSITION, False),
        (ActionClass.CLOSE_POSITION, False),
    ],
)
def test_health_is_asked_for_as_of_what_raises_unless_something_is_left(
    monkeypatch: pytest.MonkeyPatch, action_class: ActionClass, raising: bool
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(simulator, "judge_health", lambda **given: asked.append(given["is_raising"]))
    call = plain_call(plan(), action_class=action_class)
    assert simulator._judge_health(call, plan(), ran(), ANY) is None
    assert asked == [raising]


@pytest.mark.parametrize(
    ("declared", "measured", "rule"),
    [
        (ActionClass.DECREASE_POSITION, ActionClass.DECREASE_POSITION, None),
        (ActionClass.NEW_POSITION, ActionClass.NEW_POSITION, None),
        (ActionClass.DECREASE_POSITION, ActionClass.NEW_POSITION, "simulator.class_laxer"),
        (ActionClass.CLOSE_POSITION, ActionClass.REBALANCE, "simulator.class_laxer"),
        (ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION, "standing of CLOSE_POSITION"),
        (ActionClass.REBALANCE, ActionClass.NEW_POSITION, "standing of NEW_POSITION"),
        (ActionClass.NEW_POSITION, ActionClass.DECREASE_POSITION, "standing of DECREASE_POSITION"),
    ],
)
def test_what_was_measured_is_held_to_its_own_class_and_what_claims_to_leave_must_leave(
    monkeypatch: pytest.MonkeyPatch, declared: ActionClass, measured: ActionClass, rule: str | None
) -> None:
    monkeypatch.setattr(simulator, "measure_action", lambda *_: measured)
    monkeypatch.setattr(
        simulator, "judge_standing", lambda held: refusal(f"standing of {ActionClass(held.action_class).value}")
    )
    refused = simulator._judge_class(plain_call(plan(), action_class=declared), ran(), ANY)
    assert (refused.rule if refused else None) == rule


def test_a_debt_that_grows_under_a_tool_without_leverage_is_refused_by_the_position_it_grows_in() -> None:
    before = Position(REF, "Account", (Leg(USDC.address, 100), Leg(WETH.address, -1_000)))
    after = replace(before, legs=(Leg(USDC.address, 100), Leg(WETH.address, -2_000)))
    told = ran(positions_before=(before,), positions_after=(after,))
    call = plain_call(plan())
    assert call.tool.risk_layer is RiskLayer.BOUNDED
    refused = simulator._judge_layer(call, told)
    assert refused is not None and refused.rule == "simulator.layer_laxer"
    assert str(REF) in refused.reason and refused.data["position"] == str(REF)
    assert simulator._judge_layer(call, ran(positions_before=(before,), positions_after=(before,))) is None


@pytest.mark.parametrize(("shares", "oracles"), [(True, False), (False, True), (True, True)])
def test_a_share_too_large_is_refused_and_so_is_an_oracle_that_carries_too_much(
    monkeypatch: pytest.MonkeyPatch, shares: bool, oracles: bool
) -> None:
    monkeypatch.setattr(simulator, "judge_measured_shares", lambda *_: refusal("shares") if shares else None)
    monkeypatch.setattr(simulator, "judge_measured_oracles", lambda *_: refusal("oracles") if oracles else None)
    refused = simulator._judge_shares(plain_call(plan()), ran(), ANY)
    assert refused is not None and refused.rule == ("shares" if shares else "oracles")


def test_an_action_is_measured_by_the_positions_that_its_plan_speaks_of(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def classify(**given: Any) -> ActionClass:
        asked.append(given)
        return ActionClass.CLOSE_POSITION

    monkeypatch.setattr(simulator, "classify_measured", classify)
    other = PositionRef("maker", "vault", CHAIN_ID, ACCOUNT)
    moved = [Position(ref, "x", (Leg(USDC.address, 100),)) for ref in (REF, other)]
    later = [replace(each, legs=(Leg(USDC.address, 50),)) for each in moved]
    told = ran(positions_before=tuple(moved), positions_after=tuple(later))
    spoken = plain_call(plan(changes=(change("aave_v3", -50),)))
    assert measure_action(spoken, told, ANY) is ActionClass.CLOSE_POSITION
    (given,) = asked
    assert [each.ref for each in given["before"]] == [each.ref for each in given["after"]] == [REF]


@pytest.mark.parametrize("silent", [None, plan()], ids=["no-plan", "no-changes"])
def test_what_speaks_of_no_position_is_what_it_declares(monkeypatch: pytest.MonkeyPatch, silent: TxPlan | None) -> None:
    monkeypatch.setattr(simulator, "classify_measured", lambda **_: pytest.fail("nothing was to be measured"))
    call = plain_call(silent, action_class=ActionClass.REBALANCE)
    assert measure_action(call, ran(), ANY) is ActionClass.REBALANCE


@pytest.mark.parametrize(
    ("keeps_a_fee", "arrives", "passes"),
    [
        (False, 100, True),
        (False, 99, False),
        (False, 50, False),
        (False, 0, False),
        (True, 100, True),
        (True, 50, True),
        (True, 1, True),
        (True, 0, False),
    ],
)
def test_a_payee_gets_what_is_spent_or_with_a_token_that_keeps_a_fee_at_least_something(
    keeps_a_fee: bool, arrives: int, passes: bool
) -> None:
    token = replace(USDC, has_transfer_fee=keeps_a_fee)
    spends = (TokenFlow(token, 100, 100), TokenFlow(WETH, 7, 7))
    told = ran(
        balances_before={(OTHER, USDC.address): 5, (OTHER, WETH.address): 0},
        balances_after={(OTHER, USDC.address): 5 + arrives, (OTHER, WETH.address): 7},
    )
    refused = judge_payees(plan=plan(spends=spends, recipients=(OTHER,)), simulation=told)
    assert (refused is None) is passes
    if refused is not None:
        assert refused.rule == "simulator.payee_gets_less" and refused.data["token"] == USDC.address


@pytest.mark.parametrize(
    ("named_for", "sender", "recipient", "passes"),
    [
        (ACCOUNT, OTHER, ACCOUNT, True),
        (OTHER, OTHER, ACCOUNT, False),
        (ACCOUNT, ACCOUNT, OTHER, False),
        (OTHER, ACCOUNT, OTHER, True),
        (OTHER, ACCOUNT, ROUTER, False),
    ],
)
def test_an_item_comes_back_or_leaves_only_as_it_is_named(
    named_for: str, sender: str, recipient: str, passes: bool
) -> None:
    told = ran(unexpected_transfers=(TransferSeen(0, WBTC.address, sender, recipient, 1, 7),))
    named = plan(items=(ItemGiven(WBTC.address, 7, named_for),))
    assert (judge_surprises(plan=named, simulation=told) is None) is passes


def moved(sender: str, recipient: str, amount: int, number: int | None = 7, token: str = WBTC.address) -> TransferSeen:
    return TransferSeen(0, token, sender, recipient, amount, number)


@pytest.mark.parametrize(
    ("seen", "passes"),
    [
        ([moved(ACCOUNT, OTHER, 5)], True),
        ([moved(ACCOUNT, OTHER, 4)], True),
        ([moved(ACCOUNT, OTHER, 6)], False),
        ([moved(ACCOUNT, OTHER, 0)], False),
        # In parts, as a batch tells them, together no more than was named.
        ([moved(ACCOUNT, OTHER, 2), moved(ACCOUNT, OTHER, 3)], True),
        ([moved(ACCOUNT, OTHER, 5), moved(ACCOUNT, OTHER, 1)], False),
        ([moved(ACCOUNT, OTHER, 5), moved(ACCOUNT, OTHER, 1, 8)], False),
        ([moved(ACCOUNT, OTHER, 5), moved(ACCOUNT, OTHER, 0, 8)], False),
        ([moved(ACCOUNT, ROUTER, 5)], False),
        ([moved(OTHER, ACCOUNT, 5)], False),
        ([moved(ACCOUNT, OTHER, 5, token=WETH.address)], False),
        # An amount without a number is another token's, and one of nothing was never named.
        ([moved(ACCOUNT, OTHER, 5, None)], False),
        ([moved(ACCOUNT, OTHER, 0, None, WETH.address)], False),
    ],
)
def test_so_many_of_a_number_leave_as_are_named_for_that_taker_and_no_more(
    seen: list[TransferSeen], passes: bool
) -> None:
    named = plan(amounts=(AmountGiven(WBTC.address, 7, OTHER, 5),))
    refused = judge_surprises(plan=named, simulation=ran(unexpected_transfers=tuple(seen)))
    assert (refused is None) is passes


def test_what_is_named_twice_for_one_taker_may_leave_together() -> None:
    named = plan(amounts=(AmountGiven(WBTC.address, 7, OTHER, 5), AmountGiven(WBTC.address, 7, OTHER, 1)))
    told = ran(unexpected_transfers=(moved(ACCOUNT, OTHER, 6),))
    assert judge_surprises(plan=named, simulation=told) is None
    told = ran(unexpected_transfers=(moved(ACCOUNT, OTHER, 7),))
    assert judge_surprises(plan=named, simulation=told) is not None


@pytest.mark.parametrize(
    ("sender", "recipient", "number", "passes"),
    [(OTHER, ACCOUNT, 7, True), (OTHER, ACCOUNT, 8, False), (OTHER, ROUTER, 7, False), (ACCOUNT, OTHER, 7, False)],
)
def test_so_many_of_a_number_come_where_the_plan_names_the_account_as_taker(
    sender: str, recipient: str, number: int, passes: bool
) -> None:
    named = plan(amounts=(AmountGiven(WBTC.address, 7, ACCOUNT, 5),))
    told = ran(unexpected_transfers=(moved(sender, recipient, 5, number),))
    assert (judge_surprises(plan=named, simulation=told) is None) is passes


def test_permit2_keeps_what_a_call_of_the_plan_gives_there_and_nothing_else() -> None:
    given = Call(PERMIT2, encode_call(APPROVE, USDC.address, ROUTER, 5, 9), 0, "give")
    allowances = (
        AllowanceLeft(USDC, ROUTER, 5, 0, through=PERMIT2),
        AllowanceLeft(USDC, OTHER, 6, 0, through=PERMIT2),
        AllowanceLeft(USDC, ROUTER, 8, 0),
    )
    kept = list_kept_elsewhere(TxPlan(chain_id=CHAIN_ID, calls=(given,), allowances=allowances))
    assert kept == {(PERMIT2, USDC.address, ROUTER): 5}


@pytest.mark.parametrize(("limit", "passes"), [(99, True), (100, True), (101, False)])
def test_a_block_holds_a_transaction_of_its_own_size_and_none_larger(limit: int, passes: bool) -> None:
    told = ran(
        block=replace(BlockRef(1, "0x", 1, 1), gas_limit=100),
        balances_before={(ACCOUNT, NATIVE): 10**18},
        balances_after={(ACCOUNT, NATIVE): 10**18},
    )
    budget = GasBudget(limits=(limit,), max_fee_per_gas=1)
    refused = judge_gas(plan=plan(), simulation=told, native=COIN, budget=budget, payer=ACCOUNT)
    assert (refused.rule if refused else None) == (None if passes else "simulator.gas_limit")
