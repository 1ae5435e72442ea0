"""Hook 5 on real contracts: what the tools plan passes, what is bent by one promise is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from golem_project import wiring
from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.safety.gas_budget import GasBudget, limit_gas
from permits_app.safety.hook import Allow, HookCall
from permits_app.safety.hooks.simulator import Simulator, judge_gas, judge_surprises
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import OTHER, USDC, WBTC, WETH, live_call, plain_call, swap_call
from tools_app.chain.abi import encode_call
from tools_app.core.errors import InsufficientBalance
from tools_app.simulation.engine import CallOutcome, SimulationResult, SimulationUnavailable, TransferSeen
from tools_app.standards import erc20
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.views import NATIVE, BlockRef, TokenMeta

HOOK = Simulator()
ETH = 10**18
COIN = TokenMeta(CHAIN_ID, NATIVE, "ETH", 18, "Ether", True)
RANGE = {"price_lower": "1", "price_upper": "100000"}


def refuse(call: HookCall) -> Reject:
    verdict = HOOK.check(call)
    assert isinstance(verdict, Reject), verdict
    return verdict


def with_plan(call: HookCall, **changes: Any) -> HookCall:
    assert call.plan is not None
    return replace(call, plan=replace(call.plan, **changes))


def plan_of(call: HookCall) -> TxPlan:
    assert call.plan is not None
    return call.plan


def used(gas: int) -> CallOutcome:
    """A call that succeeded with `gas`."""
    return CallOutcome(succeeded=True, output=b"", gas_used=gas, logs=())


def test_a_real_swap_passes_with_its_simulation(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    verdict = HOOK.check(call)
    assert isinstance(verdict, Allow)
    simulation = verdict.simulation
    assert simulation is not None
    assert simulation.deltas[USDC.address] == -500_000_000
    assert simulation.deltas[WETH.address] == plan_of(call).receives[0].expected
    assert "rpc" in verdict.note


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("uniswap_execute_swap", {"token_in": "ETH", "token_out": "USDC", "amount": str(ETH // 10)}),
        ("uniswap_execute_swap", {"token_in": "USDC", "token_out": "ETH", "amount": "500000000"}),
        (
            "uniswap_execute_swap",
            {"token_in": "USDC", "token_out": "WETH", "amount": str(ETH // 10), "exact_output": True},
        ),
        ("uniswap_lp_add_liquidity", {"token0": "WETH", "token1": "USDC", "amount1": "1000000000", **RANGE}),
        ("wallet_transfer_token", {"token": "USDC", "recipient": OTHER, "amount": "1000000"}),
        ("wallet_transfer_token", {"token": "ETH", "recipient": OTHER, "amount": "1000000"}),
    ],
)
def test_what_the_tools_plan_keeps_its_promises(live_golem: LiveGolem, name: str, params: dict[str, Any]) -> None:
    verdict = HOOK.check(live_call(live_golem, name, params))
    assert isinstance(verdict, Allow), verdict
    assert verdict.simulation is not None
    assert verdict.simulation.succeeded


def test_a_local_write_has_no_transaction_to_simulate() -> None:
    assert HOOK.check(plain_call(None)) == Allow(note="no transaction")


def test_a_plan_without_calls_is_no_success(live_golem: LiveGolem) -> None:
    call = with_plan(swap_call(live_golem), calls=(), allowances=(), spends=(), receives=())
    assert refuse(call).rule == "simulator.calls"


def test_a_reverting_call_is_refused_with_its_number_label_and_reason(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    approve = plan_of(call).calls[0]
    late = Call(plan_of(call).calls[-1].to, encode_call("function multicall(uint256,bytes[])", 1, []), 0, "Late swap")
    verdict = refuse(with_plan(call, calls=(approve, late)))
    assert (verdict.rule, verdict.error) == ("simulator.reverted", SimulationFailed)
    assert verdict.data["call_index"] == 1
    assert verdict.data["label"] == "Late swap"
    assert "Transaction too old" in verdict.data["revert_reason"]


def test_a_custom_error_of_a_contract_is_named(live_golem: LiveGolem, local_chain: World) -> None:
    contract = local_chain.deploy(local_chain.new_account(), "Reverter")
    bad = Call(contract, encode_call("function withReason(string)", "the pool is closed"), 0, "Poke")
    verdict = refuse(with_plan(swap_call(live_golem), calls=(bad,), allowances=()))
    assert "the pool is closed" in verdict.reason


@pytest.mark.parametrize(("bound", "passes"), [(500_000_001, True), (500_000_000, True), (499_999_999, False)])
def test_a_spend_passes_up_to_its_bound(live_golem: LiveGolem, bound: int, passes: bool) -> None:
    call = swap_call(live_golem)
    verdict = HOOK.check(with_plan(call, spends=(TokenFlow(USDC, 499_999_000, bound),)))
    assert isinstance(verdict, Allow) == passes
    if isinstance(verdict, Reject):
        assert verdict.rule == "simulator.spends_too_much"
        assert verdict.observed == "500 USDC (500000000 base units)"


@pytest.mark.parametrize(("over", "passes"), [(-1, True), (0, True), (1, False)])
def test_a_receipt_passes_down_to_its_bound(live_golem: LiveGolem, over: int, passes: bool) -> None:
    call = swap_call(live_golem)
    expected = plan_of(call).receives[0].expected
    verdict = HOOK.check(with_plan(call, receives=(TokenFlow(WETH, expected, expected + over),)))
    assert isinstance(verdict, Allow) == passes
    if isinstance(verdict, Reject):
        assert verdict.rule == "simulator.receives_too_little"


def test_a_token_without_a_bound_may_not_leave(live_golem: LiveGolem) -> None:
    call = with_plan(swap_call(live_golem), spends=())
    assert refuse(call).rule == "simulator.spends_too_much"


def test_coin_that_leaves_without_a_promise_is_refused(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    gift = Call(OTHER, b"", 1, "A small present")
    verdict = refuse(with_plan(call, calls=(*plan_of(call).calls, gift)))
    assert (verdict.rule, verdict.data["token"]) == ("simulator.spends_too_much", NATIVE)


def test_a_token_the_plan_does_not_speak_of_may_not_leave(live_golem: LiveGolem, local_chain: World) -> None:
    local_chain.fund(live_golem.golem.address, 0, {"WBTC": 10**8})
    call = swap_call(live_golem)
    theft = erc20.transfer(token=WBTC, recipient=OTHER, amount=1)
    verdict = refuse(with_plan(call, calls=(*plan_of(call).calls, theft)))
    assert (verdict.rule, verdict.data["token"]) == ("simulator.unexpected_leave", WBTC.address)


def test_a_token_the_plan_does_not_speak_of_may_not_arrive(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    verdict = refuse(with_plan(call, receives=()))
    assert (verdict.rule, verdict.data["token"]) == ("simulator.unexpected_arrive", WETH.address)


def test_an_allowance_left_larger_than_promised_is_refused(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    router = plan_of(call).calls[-1].to
    generous = erc20.approve_exact(token=USDC, spender=router, amount=500_000_001)
    calls = (generous, plan_of(call).calls[-1])
    left = AllowanceLeft(USDC, router, 500_000_001, 1)
    assert isinstance(HOOK.check(with_plan(call, calls=calls, allowances=(left,))), Allow)
    verdict = refuse(with_plan(call, calls=calls, allowances=(replace(left, left=0),)))
    assert verdict.rule == "simulator.allowance_left"
    assert verdict.observed == "0.000001 USDC (1 base units)"


def test_an_approval_the_plan_does_not_speak_of_is_refused(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    backdoor = erc20.approve_exact(token=USDC, spender=OTHER, amount=2**256 - 1)
    verdict = refuse(with_plan(call, calls=(*plan_of(call).calls, backdoor)))
    assert verdict.rule == "simulator.unexpected_approval"
    assert verdict.data["spender"] == OTHER


def test_too_small_a_balance_is_said_as_such_and_not_as_a_revert(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    too_much = erc20.transfer(token=USDC, recipient=OTHER, amount=20_000 * 10**6 + 1)
    spends = (TokenFlow(USDC, 20_000 * 10**6 + 1, 20_000 * 10**6 + 1),)
    verdict = refuse(with_plan(call, calls=(too_much,), spends=spends, receives=(), allowances=()))
    assert (verdict.rule, verdict.error) == ("simulator.balance", InsufficientBalance)
    assert verdict.data["have"] == str(20_000 * 10**6)
    assert verdict.data["need"] == str(20_000 * 10**6 + 1)
    assert "20000 USDC" in verdict.reason


def test_a_value_nobody_holds_is_too_small_a_balance(live_golem: LiveGolem) -> None:
    gift = Call(OTHER, b"", 11 * ETH, "Too large a present")
    spends = (TokenFlow(COIN, 11 * ETH, 11 * ETH),)
    verdict = refuse(with_plan(swap_call(live_golem), calls=(gift,), spends=spends, receives=(), allowances=()))
    assert verdict.error is InsufficientBalance
    assert "10 ETH" in verdict.reason


def test_an_account_without_coin_for_gas_is_refused_before_it_fails(live_golem: LiveGolem, local_chain: World) -> None:
    local_chain.rpc.call("anvil_setBalance", live_golem.golem.address, hex(1_000))
    verdict = refuse(swap_call(live_golem))
    assert (verdict.rule, verdict.error) == ("simulator.gas", InsufficientBalance)


@pytest.mark.parametrize(("short", "passes"), [(-1, True), (0, True), (1, False)])
def test_the_coin_must_cover_value_and_the_whole_gas_budget_to_the_wei(short: int, passes: bool) -> None:
    budget = GasBudget(limits=(limit_gas(used(100_000)),), max_fee_per_gas=7, l1_fee_expected=2, l1_fee=3)
    have = 150_000 * 7 + 3 + 5 - short
    simulation = SimulationResult(
        engine="rpc",
        fidelity="",
        block=BlockRef(1, "0x", 1, 1),
        sender=OTHER,
        calls=(CallOutcome(True, b"", 100_000, ()),),
        balances_before={(OTHER, NATIVE): have},
        balances_after={(OTHER, NATIVE): have},
        allowances_before={},
        allowances_after={},
    )
    plan = TxPlan(chain_id=CHAIN_ID, calls=(Call(OTHER, b"", 5, "pay"),))
    refusal = judge_gas(plan=plan, simulation=simulation, native=COIN, budget=budget, payer=OTHER)
    assert (refusal is None) == passes


def test_the_gas_limit_covers_the_largest_refund_and_the_margin() -> None:
    assert limit_gas(used(100_000)) == 150_000
    assert limit_gas(used(1_000_000)) == 1_500_000


def test_the_gas_limit_uses_gas_before_refunds_where_the_engine_tells_it() -> None:
    assert limit_gas(replace(used(100_000), gas_before_refunds=104_800)) == 125_760


def test_without_an_engine_nothing_passes(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    wiring.configure_networks({CHAIN_ID: ("http://127.0.0.1:9",)})
    with pytest.raises(SimulationUnavailable) as refused:
        HOOK.check(call)
    assert refused.value.recovery == "WAIT"


ZERO = "0x0000000000000000000000000000000000000000"


@pytest.mark.parametrize(
    ("token", "sender", "recipient", "token_id", "passes"),
    [
        pytest.param(WBTC.address, ZERO, OTHER, 7, True, id="a-position-minted-by-a-contract-of-the-plan"),
        pytest.param(WBTC.address, USDC.address, OTHER, 7, False, id="an-nft-from-somebody"),
        pytest.param(WETH.address, ZERO, OTHER, 7, False, id="an-nft-of-a-contract-that-is-not-called"),
        pytest.param(WBTC.address, OTHER, USDC.address, 7, False, id="an-nft-that-leaves"),
        pytest.param(WBTC.address, ZERO, OTHER, None, False, id="a-token-minted-to-the-golem"),
    ],
)
def test_only_an_nft_minted_to_the_golem_by_the_plans_own_contract_may_come_unannounced(
    token: str, sender: str, recipient: str, token_id: int | None, passes: bool
) -> None:
    simulation = SimulationResult(
        engine="rpc",
        fidelity="",
        block=BlockRef(1, "0x", 1, 1),
        sender=OTHER,
        calls=(CallOutcome(True, b"", 100_000, ()),),
        balances_before={},
        balances_after={},
        allowances_before={},
        allowances_after={},
        unexpected_transfers=(TransferSeen(0, token, sender, recipient, 1, token_id),),
    )
    plan = TxPlan(chain_id=CHAIN_ID, calls=(Call(WBTC.address, b"mint", 0, "mint"),))
    refusal = judge_surprises(plan=plan, simulation=simulation)
    assert (refusal is None) == passes
    if refusal is not None:
        assert refusal.rule == f"simulator.unexpected_{'leave' if sender == OTHER else 'arrive'}"
