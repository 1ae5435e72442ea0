"""Hook 5 on plain values: every promise of a plan against what a simulation saw, and the words of a refusal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from permits_app.custody.signing_route import Carrier, SigningRoute, plain_route
from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.hallucination_detector import HallucinationDetector
from permits_app.safety.hooks.simulator import (
    Simulator,
    build_request,
    judge_allowances,
    judge_balances,
    judge_flows,
    judge_gas,
    judge_reverts,
    judge_surprises,
)
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, OTHER, ROUTER, USDC, WETH, swap_call
from tools_app.core.errors import InsufficientBalance
from tools_app.simulation.engine import ApprovalSeen, CallOutcome, SimulationResult, TransferSeen
from tools_app.standards import permit2
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.views import NATIVE, BlockRef, TokenMeta

COIN = TokenMeta(CHAIN_ID, NATIVE, "ETH", 18, "Ether", True)
DONE = CallOutcome(succeeded=True, output=b"", gas_used=1, logs=())


def simulated(*, before: dict[str, int] | None = None, deltas: dict[str, int] | None = None, **seen: Any) -> Any:
    """A result of ACCOUNT's calls, by token."""
    held = dict.fromkeys((USDC.address, WETH.address, NATIVE), 1_000) | (before or {})
    return SimulationResult(
        engine="rpc",
        fidelity="",
        block=BlockRef(1, "0x", 1, 1),
        sender=ACCOUNT,
        balances_before={(ACCOUNT, token): value for token, value in held.items()},
        balances_after={(ACCOUNT, token): value + (deltas or {}).get(token, 0) for token, value in held.items()},
        allowances_before={},
        allowances_after={},
        **{"calls": (DONE,), **seen},
    )


def plan(*, spends: tuple[TokenFlow, ...] = (), receives: tuple[TokenFlow, ...] = ()) -> TxPlan:
    return TxPlan(CHAIN_ID, (Call(ROUTER, b"1234", 0, "Poke"),), spends=spends, receives=receives)


@pytest.mark.parametrize(
    ("spend", "receive", "delta", "rule", "observed", "promise"),
    [
        (0, 0, 0, None, "", ""),
        (0, 0, 1, None, "", ""),
        (0, 0, -1, "spends_too_much", 1, "at most 0 USDC (0 base units)"),
        (0, 5, 5, None, "", ""),
        (0, 5, 4, "receives_too_little", 4, "at least 0.000005 USDC (5 base units)"),
        (0, 5, 0, "receives_too_little", 0, "at least 0.000005 USDC (5 base units)"),
        (0, 1, 0, "receives_too_little", 0, "at least 0.000001 USDC (1 base units)"),
        (0, 5, -1, "spends_too_much", 1, "at least 0.000005 USDC (5 base units)"),
        (5, 0, -5, None, "", ""),
        (5, 0, -6, "spends_too_much", 6, "at most 0.000005 USDC (5 base units)"),
        (7, 5, -2, None, "", ""),
        (7, 5, -3, "spends_too_much", 3, "at most 0.000002 USDC (2 base units)"),
    ],
)
def test_a_flow_is_held_to_its_bounds_and_told_in_words(
    spend: int, receive: int, delta: int, rule: str | None, observed: int, promise: str
) -> None:
    held = plan(spends=(TokenFlow(USDC, spend, spend),), receives=(TokenFlow(USDC, receive, receive),))
    refusal = judge_flows(plan=held, simulation=simulated(deltas={USDC.address: delta}), native=COIN)
    if rule is None:
        assert refusal is None
        return
    assert refusal is not None
    assert (refusal.rule, refusal.limit, refusal.error) == (f"simulator.{rule}", promise, SimulationFailed)
    assert refusal.observed.endswith(f"({observed} base units)")
    assert ("would take" if delta < 0 else "would bring") in refusal.reason


def test_bounds_of_one_token_add_up() -> None:
    twice = plan(spends=(TokenFlow(USDC, 3, 3), TokenFlow(USDC, 4, 4)))
    for delta, passes in ((-7, True), (-8, False)):
        seen = simulated(deltas={USDC.address: delta})
        assert (judge_flows(plan=twice, simulation=seen, native=COIN) is None) is passes


@pytest.mark.parametrize(("delta", "passes"), [(4, False), (5, True)])
def test_what_a_plan_only_receives_is_held_to_the_base_unit(delta: int, passes: bool) -> None:
    bought = plan(receives=(TokenFlow(USDC, 9, 5),))
    assert (judge_flows(plan=bought, simulation=simulated(deltas={USDC.address: delta}), native=COIN) is None) is passes


@pytest.mark.parametrize(("amount", "is_said"), [(-1, False), (0, True), (5, True), (6, False)])
def test_a_right_through_permit2_may_be_as_large_as_the_plan_says(amount: int, is_said: bool) -> None:
    """An end that is taken back on the way is told as nothing; "-1" is all there is and will be."""
    given = permit2.approve(token=USDC, spender=OTHER, amount=5, expiration=2**40)
    said = replace(plan(), calls=(given,), allowances=(AllowanceLeft(USDC, OTHER, 5, 0, through=PERMIT2),))
    seen = ApprovalSeen(0, PERMIT2, USDC.address, OTHER, amount)
    for each, passes in ((said, is_said), (plan(), False)):
        refusal = judge_surprises(plan=each, simulation=simulated(unexpected_approvals=(seen,)))
        assert (refusal is None) is passes


@pytest.mark.parametrize(("held", "passes"), [(6, False), (7, True), (8, True)])
def test_all_that_is_expected_to_be_spent_must_be_held(held: int, passes: bool) -> None:
    twice = plan(spends=(TokenFlow(USDC, 3, 9), TokenFlow(USDC, 4, 9)))
    refusal = judge_balances(plan=twice, simulation=simulated(before={USDC.address: held}))
    assert (refusal is None) is passes
    if refusal is not None:
        assert (refusal.rule, refusal.error) == ("simulator.balance", InsufficientBalance)
        assert (refusal.data["have"], refusal.data["need"]) == ("6", "7")
        assert "0.000001 USDC (1 base units) more arrive" in refusal.would_pass


def test_a_revert_is_told_by_its_place_among_the_calls() -> None:
    failed = CallOutcome(succeeded=False, output=b"", gas_used=1, logs=())
    calls = [Call(ROUTER, b"", 0, label) for label in ("Approve", "Swap")]
    refusal = judge_reverts(calls=calls, simulation=simulated(calls=(DONE, failed)))
    assert refusal is not None
    assert refusal.reason == "call 2 of 2 (Swap) would revert: no reason given"
    assert refusal.data == {"call_index": 1, "label": "Swap", "revert_reason": "no reason given"}
    assert judge_reverts(calls=calls, simulation=simulated(calls=(DONE, DONE))) is None
    for seen in ((DONE,), (DONE, DONE, DONE)):
        miscounted = judge_reverts(calls=calls, simulation=simulated(calls=seen))
        assert miscounted is not None and miscounted.rule == "simulator.calls"
    assert judge_reverts(calls=[], simulation=simulated(calls=())) is not None


@pytest.mark.parametrize(("token_id", "what"), [(None, "9 base units"), (7, "NFT 7"), (0, "NFT 0")])
def test_what_moves_unannounced_is_named(token_id: int | None, what: str) -> None:
    seen = TransferSeen(0, WETH.address, OTHER, ACCOUNT, 9, token_id)
    refusal = judge_surprises(plan=plan(), simulation=simulated(unexpected_transfers=(seen,)))
    assert refusal is not None
    assert refusal.observed == f"{what} of {WETH.address}"


@pytest.mark.parametrize(("amount", "what"), [(-1, "everything"), (0, "0 base units"), (1, "1 base units")])
def test_a_right_given_away_unannounced_is_told_with_its_size(amount: int, what: str) -> None:
    given = ApprovalSeen(0, WETH.address, WETH.address, OTHER, amount)
    refusal = judge_surprises(plan=plan(), simulation=simulated(unexpected_approvals=(given,)))
    assert refusal is not None
    assert refusal.observed == (what if amount < 0 else f"{what} of {WETH.address}")


@pytest.mark.parametrize("missing", ["chain", "account"])
def test_without_a_chain_or_an_account_neither_hook_agrees(live_golem: LiveGolem, missing: str) -> None:
    call = swap_call(live_golem)
    less = replace(call, chain=None) if missing == "chain" else replace(call, view=replace(call.view, address=None))
    simulated_, detected = Simulator().check(less), HallucinationDetector().check(less)
    assert isinstance(simulated_, Reject) and simulated_.rule == "simulator.chain"
    assert isinstance(detected, Reject) and detected.rule == "hallucination_detector.unknown"
    assert isinstance(Simulator().check(replace(less, plan=None)), Allow)


def test_who_acts_for_another_account_is_simulated_for_it_and_pays_from_its_own(live_golem: LiveGolem) -> None:
    chain = swap_call(live_golem).chain
    assert chain is not None
    wanted = plan(spends=(TokenFlow(USDC, 1, 1),))
    own = build_request(plan=wanted, route=plain_route(ACCOUNT), chain=chain)
    assert (own.sender, own.acts_for) == (ACCOUNT, None)
    assert own.watch == ((ACCOUNT, NATIVE), (ACCOUNT, USDC.address))
    through_cage = SigningRoute(account=ACCOUNT, signer=OTHER, carrier=Carrier.CAGE, through=ROUTER)
    acting = build_request(plan=wanted, route=through_cage, chain=chain)
    assert (acting.sender, acting.acts_for, acting.account) == (OTHER, ACCOUNT, ACCOUNT)
    assert acting.watch == (*own.watch, (OTHER, NATIVE))
    waiting = SigningRoute(account=ACCOUNT, signer=OTHER, carrier=Carrier.OWNERS)
    asked = build_request(plan=wanted, route=waiting, chain=chain)
    assert (asked.sender, asked.acts_for, asked.calls) == (ACCOUNT, None, wanted.calls)
    operation = SigningRoute(account=ACCOUNT, signer=ACCOUNT, carrier=Carrier.OPERATION, through=ROUTER)
    carried = build_request(plan=wanted, route=operation, chain=chain)
    assert (carried.sender, carried.acts_for, carried.watch) == (ROUTER, ACCOUNT, own.watch)


def test_only_allowances_of_tokens_are_watched(live_golem: LiveGolem) -> None:
    chain = swap_call(live_golem).chain
    assert chain is not None
    left = tuple(AllowanceLeft(token, ROUTER, 1, 0) for token in (USDC, USDC, COIN))
    request = build_request(plan=replace(plan(), allowances=left), route=plain_route(ACCOUNT), chain=chain)
    assert request.allowances == ((USDC.address, ACCOUNT, ROUTER),)


@pytest.mark.parametrize(("left", "passes"), [(4, True), (5, True), (6, False)])
def test_an_allowance_is_held_to_what_is_left_of_it(left: int, passes: bool) -> None:
    promised = (AllowanceLeft(COIN, ROUTER, 9, 0), AllowanceLeft(USDC, ROUTER, 9, 5))
    seen = replace(simulated(), allowances_after={(USDC.address, ACCOUNT, ROUTER): left})
    refusal = judge_allowances(plan=replace(plan(), allowances=promised), simulation=seen)
    assert (refusal is None) is passes


@pytest.mark.parametrize(("held", "passes"), [(4, False), (5, True), (6, True)])
def test_where_a_paymaster_pays_the_gas_the_account_pays_the_value(held: int, passes: bool) -> None:
    paying, budget = TxPlan(CHAIN_ID, (Call(ROUTER, b"", 5, "pay"),)), GasBudget(limits=(2,), max_fee_per_gas=5)
    seen = simulated(before={NATIVE: held})
    assert (judge_gas(plan=paying, simulation=seen, native=COIN, budget=budget, payer="") is None) is passes
    assert judge_gas(plan=paying, simulation=seen, native=COIN, budget=budget, payer=ACCOUNT) is not None


@pytest.mark.parametrize(
    ("own", "held", "rule"),
    [(9, 5, "gas"), (10, 5, None), (11, 5, None), (10, 4, "gas"), (10, 6, None)],
)
def test_the_signer_pays_the_gas_and_the_account_the_value(own: int, held: int, rule: str | None) -> None:
    paying = TxPlan(CHAIN_ID, (Call(ROUTER, b"", 5, "pay"),))
    budget = GasBudget(limits=(2,), max_fee_per_gas=5)
    seen = replace(simulated(), balances_before={(OTHER, NATIVE): own, (ACCOUNT, NATIVE): held})
    refusal = judge_gas(plan=paying, simulation=seen, native=COIN, budget=budget, payer=OTHER)
    assert (refusal is None) is (rule is None)
    if refusal is not None:
        short_of_gas = own < 10
        assert ("signing key" in refusal.reason) is short_of_gas
        assert refusal.data["need"] == ("10" if short_of_gas else "5")
