"""Contracts that try to tell a simulation from reality, with real bytecode, on both engines, through hook 5.

Each pays a coin to whom it takes for a simulator and one wei to everybody else. What hook 5 lets pass is then mined
with exactly the gas limits and fees it let pass, and must pay what it promised.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from eth_utils.crypto import keccak

from permits_app.errors import PolicyChanged, SimulationRecognised
from permits_app.hook_rejection import Reject
from permits_app.models import ActionPermit
from permits_app.safety.final_simulation import LIMITS, RememberedLimits
from permits_app.safety.gas_budget import GasBudget, Promised, check_gas_fits, limit_gas
from permits_app.safety.hook import Allow, HookCall, Verdict
from permits_app.safety.hooks.simulator import Simulator
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import USDC, WBTC, swap_call
from tools_app.core.errors import GolemError
from tools_app.simulation.engine import CallOutcome, SimulationRequest, SimulationResult
from tools_app.simulation.rpc import RpcSimulationEngine
from tools_app.toolkit.plan import Call, TokenFlow
from tools_app.toolkit.views import NATIVE, TokenMeta

HOOK = Simulator()
COIN = TokenMeta(CHAIN_ID, NATIVE, "ETH", 18, "Ether", True)
ETH = 10**18
PAYER = "0x9aB0000000000000000000000000000000000001"
HELPER = "0x9AB0000000000000000000000000000000000002"
# Calls itself with what gas there is and answers how deep that went.
DEPTH = "60205f5f5f5f305af1505f516001015f5260205ff3"
TOO_DEEP = f"60205f5f5f5f73{HELPER[2:]}5af1505f5161025810"
# amount = 1 + (10^18 - 1) * condition, sent to the caller
PAY = "1515" + f"67{ETH - 1:016x}" + "02" + "6001" + "01" + "600060006000600093335af15000"


def put(world: World, code: str, *, address: str = PAYER, coins: int = 100 * ETH) -> None:
    """Bytecode with coins at an address."""
    world.rpc.call("anvil_setCode", address, "0x" + code)
    world.rpc.call("anvil_setBalance", address, hex(coins))


def poke(live: LiveGolem, *, engine: str = "auto", bound: int = ETH, **changes: Any) -> HookCall:
    """The plan to call PAYER, which promises to bring `bound` wei."""
    call = swap_call(live)
    call.golem.simulation_engine = engine
    assert call.plan is not None
    plan = replace(
        call.plan,
        calls=(Call(PAYER, b"", 0, "Poke"),),
        allowances=(),
        spends=(),
        receives=(TokenFlow(COIN, bound, bound),),
    )
    return replace(call, plan=plan, **changes)


def mine(live: LiveGolem, world: World, gas: GasBudget, priority_fee: int) -> int:
    """Wei the golem got from the same call with the same terms, fees not counted."""
    account = live.golem.address
    before = int(world.rpc.call("eth_getBalance", account, "latest"), 16)
    world.rpc.call("anvil_impersonateAccount", account)
    sent = world.rpc.call(
        "eth_sendTransaction",
        {
            "from": account,
            "to": PAYER,
            "gas": hex(gas.limits[0]),
            "maxFeePerGas": hex(gas.max_fee_per_gas),
            "maxPriorityFeePerGas": hex(priority_fee),
        },
    )
    receipt = world.wait(sent)
    world.rpc.call("anvil_stopImpersonatingAccount", account)
    fee = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    return int(world.rpc.call("eth_getBalance", account, "latest"), 16) - before + fee


def _balance_is(wei: int) -> str:
    return f"32317f{wei:064x}14"


TELLS = {
    "gas left": "620f42405a11",
    "base fee": "4815",
    "gas price": "3a15",
    "gas price below the base fee": "483a10",
    "miner": "4115",
    "randomness of the parent": "",
    "no randomness": "4415",
    "unchanged balance of the origin": "",
    "blob base fee": "4a15",
    "origin that is not the caller": "33321415",
    "chain": f"4661{CHAIN_ID:04x}1415",
    "block that is not the next": "",
    "hash of the parent missing": "600143034015",
    "code at the caller": "333b1515",
    "slot already warm": "5a600054505a90036107d010",
    "block's gas limit below the gas left": "455a11",
    "new account of the origin": "3f" + "15",
    "call depth": "",
    "address of what it creates": "",
    "time that is not later": "",
    "time that is far away": "",
    "code size of the caller": "333b" + "601710",
    "hash of this block": "434015",
    "hash of the parent": "",
    "helper that was touched before": f"5a73{HELPER[2:]}31505a9003610800" + "11",
}


@pytest.mark.parametrize("engine", ["auto", "pyevm"])
@pytest.mark.parametrize("tell", sorted(TELLS))
def test_what_a_contract_that_looks_for_a_simulation_promises_is_what_it_pays(
    live_golem: LiveGolem, local_chain: World, tell: str, engine: str
) -> None:
    block = local_chain.rpc.call("eth_getBlockByNumber", "latest", False)
    condition = TELLS[tell]
    if tell == "randomness of the parent":
        condition = f"447f{int(block['mixHash'], 16):064x}14"
    elif tell == "unchanged balance of the origin":
        held = int(local_chain.rpc.call("eth_getBalance", live_golem.golem.address, "latest"), 16)
        condition = _balance_is(held)
    elif tell == "block that is not the next":
        condition = f"4363{int(block['number'], 16) + 1:08x}1415"
    elif tell == "new account of the origin":
        condition = "323f15"
    elif tell == "call depth":
        put(local_chain, DEPTH, address=HELPER)
        condition = TOO_DEEP
    elif tell == "address of what it creates":
        # That of a first creation, whose nonce is zero.
        told = keccak(bytes.fromhex(f"d694{PAYER[2:]}80"))[12:].hex()
        condition = f"5f5f5ff073{told}14"
    elif tell == "time that is not later":
        condition = f"4263{int(block['timestamp'], 16):08x}1015"
    elif tell == "time that is far away":
        condition = f"4263{int(block['timestamp'], 16) + 3_600:08x}10"
    elif tell == "hash of the parent":
        condition = f"60014303407f{block['hash'][2:]}1415"
    put(local_chain, condition + PAY)
    call = poke(live_golem, engine=engine)

    try:
        verdict = HOOK.check(call)
    except SimulationRecognised as refused:
        assert refused.data["differences"]
        return
    if isinstance(verdict, Reject):
        assert verdict.rule in {"simulator.receives_too_little", "simulator.undecided"}
        return
    assert isinstance(verdict, Allow) and verdict.gas is not None and call.chain is not None
    assert mine(live_golem, local_chain, verdict.gas, call.chain.fees().priority_fee) == ETH


@pytest.mark.parametrize("engine", ["auto", "pyevm"])
@pytest.mark.parametrize("tell", ["gas left", "base fee", "gas price", "unchanged balance of the origin"])
def test_what_only_a_free_simulation_shows_is_refused(
    live_golem: LiveGolem, local_chain: World, tell: str, engine: str
) -> None:
    condition = TELLS[tell]
    if not condition:
        held = int(local_chain.rpc.call("eth_getBalance", live_golem.golem.address, "latest"), 16)
        condition = _balance_is(held)
    put(local_chain, condition + PAY)
    with pytest.raises(SimulationRecognised) as refused:
        HOOK.check(poke(live_golem, engine=engine))
    assert refused.value.code == "SAFETY_SIMULATION_RECOGNISED"


@pytest.mark.parametrize("engine", ["auto", "pyevm"])
def test_an_honest_contract_that_wants_gas_in_hand_is_given_it(
    live_golem: LiveGolem, local_chain: World, engine: str
) -> None:
    """It pays whole above 100,000 gas left, about twice what it uses itself."""
    put(local_chain, "620186a05a11" + PAY)
    call = poke(live_golem, engine=engine)
    verdict = HOOK.check(call)

    assert isinstance(verdict, Allow) and verdict.gas is not None and verdict.simulation is not None
    assert call.chain is not None and verdict.simulation.terms is not None
    assert verdict.simulation.terms.gas_limits == verdict.gas.limits
    assert mine(live_golem, local_chain, verdict.gas, call.chain.fees().priority_fee) == ETH


def test_a_run_that_the_node_began_from_another_state_is_made_again(
    live_golem: LiveGolem, local_chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that mines meanwhile may answer for the newest block from the state of the next one."""
    account = live_golem.golem.address
    held = int(local_chain.rpc.call("eth_getBalance", account, "latest"), 16)
    run_once = RpcSimulationEngine._run_once
    begun: list[int] = []

    def begin_from_the_next_block_once(*args: Any, **options: Any) -> SimulationResult:
        begun.append(1)
        if len(begun) > 1:
            return run_once(*args, **options)
        local_chain.rpc.call("anvil_setBalance", account, hex(held - 4_611_695_322_805))
        try:
            return run_once(*args, **options)
        finally:
            local_chain.rpc.call("anvil_setBalance", account, hex(held))

    monkeypatch.setattr(RpcSimulationEngine, "_run_once", begin_from_the_next_block_once)
    put(local_chain, "6001" + PAY)
    verdict = HOOK.check(poke(live_golem, engine="rpc"))

    assert isinstance(verdict, Allow) and verdict.simulation is not None
    assert verdict.simulation.balances_before[account, NATIVE] == held


@pytest.mark.parametrize("asked", ["41", "44"])
def test_a_stranger_that_asks_what_only_mining_decides_is_refused_where_the_machine_sees_it(
    live_golem: LiveGolem, local_chain: World, asked: str
) -> None:
    put(local_chain, asked + "50" + "6001" + PAY)
    refused = HOOK.check(poke(live_golem, engine="pyevm"))

    assert isinstance(refused, Reject)
    assert refused.rule == "simulator.undecided"
    assert refused.data["contract"] == PAYER
    listed = frozenset({("CONTRACT", PAYER)})
    assert isinstance(HOOK.check(poke(live_golem, engine="pyevm", allowlist=listed)), Allow)
    untrusted = poke(live_golem, engine="pyevm", allowlist=listed, is_venue_trusted=False)
    assert isinstance(HOOK.check(untrusted), Reject)


def test_a_token_nobody_registered_is_run_on_both_engines(live_golem: LiveGolem, local_chain: World) -> None:
    put(local_chain, "6001" + PAY)
    stranger = local_chain.deploy(
        local_chain.new_account(), "SimulatedToken", "(string,string,uint8)", "Strange", "STR", 18
    )
    call = poke(live_golem)
    assert call.plan is not None
    token = TokenMeta(CHAIN_ID, stranger, "STR", 18, "Strange", False)
    alone, both = HOOK.check(call), HOOK.check(replace(call, plan=replace(call.plan, spends=(TokenFlow(token, 0, 0),))))

    assert isinstance(alone, Allow) and alone.simulation is not None and alone.simulation.engine == "rpc"
    assert isinstance(both, Allow) and both.simulation is not None and both.simulation.engine == "rpc+pyevm"


def test_a_second_call_of_the_same_shape_is_run_once(live_golem: LiveGolem, local_chain: World) -> None:
    put(local_chain, "6001" + PAY)
    first, second = HOOK.check(poke(live_golem)), HOOK.check(poke(live_golem))

    assert isinstance(first, Allow) and isinstance(second, Allow)
    assert first.simulation == second.simulation
    assert first.gas == second.gas


def test_a_permits_terms_are_what_a_commit_runs_and_too_little_gas_is_said(
    live_golem: LiveGolem, local_chain: World
) -> None:
    put(local_chain, "6001" + PAY)
    call = poke(live_golem)
    assert call.chain is not None
    fees = call.chain.fees()
    enough = Promised((77_777,), fees.max_fee, fees.priority_fee)
    verdict = HOOK.check(replace(call, promised=enough))
    assert isinstance(verdict, Allow) and verdict.simulation is not None and verdict.simulation.terms is not None
    assert verdict.simulation.terms.gas_limits == (77_777,)

    with pytest.raises(PolicyChanged, match="now needs"):
        HOOK.check(replace(call, promised=replace(enough, gas_limits=(25_000,))))


def test_a_limit_is_compared_with_gas_before_refunds(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    assert call.chain is not None and call.plan is not None
    sent = Call(USDC.address, b"", 0, "Clear a slot")
    permit = ActionPermit(
        calls=[{"gas_limit": "40000", "label": sent.label}], max_fee_per_gas="1", max_priority_fee_per_gas="1"
    )
    refunded = CallOutcome(True, b"", 39_000, (), gas_before_refunds=43_800)
    with pytest.raises(PolicyChanged, match="43800 gas"):
        check_gas_fits(permit=permit, chain=call.chain, calls=(sent,), outcomes=(refunded,))
    check_gas_fits(
        permit=permit, chain=call.chain, calls=(sent,), outcomes=(replace(refunded, gas_before_refunds=40_000),)
    )


def test_a_limit_has_room_for_a_slot_that_is_empty_by_then() -> None:
    approval_kept = CallOutcome(True, b"", 26_466, (), gas_before_refunds=26_466)
    assert limit_gas(approval_kept) >= 46_366


def test_swaps_at_once_that_use_each_others_allowance_are_all_committed(
    live_golem: LiveGolem, local_chain: World
) -> None:
    """The approval is simulated while the allowance is there and mined when it is used up."""
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    approval = next(call for call in permit.calls if call["data"].startswith("0x095ea7b3"))
    amount = 500_000_000

    def approve(value: int) -> None:
        account = live_golem.golem.address
        data = approval["data"][:74] + f"{value:064x}"
        local_chain.rpc.call("anvil_impersonateAccount", account)
        sent = local_chain.rpc.call("eth_sendTransaction", {"from": account, "to": approval["to"], "data": data})
        assert local_chain.wait(sent)["status"] == "0x1"
        local_chain.rpc.call("anvil_stopImpersonatingAccount", account)

    approve(1)
    LIMITS.clear()
    second = live_golem.preview(amount=str(amount + 1))
    approve(0)
    assert live_golem.commit(second["permit_id"])["status"] == "COMMITTED"


def test_errors_of_a_recognised_simulation_say_what_to_do() -> None:
    error: GolemError = SimulationRecognised("differs", differences=["a balance"])
    assert error.as_problem()["recovery"] == "GIVE_UP"


def test_a_gas_limit_that_no_block_holds_is_refused(live_golem: LiveGolem, local_chain: World) -> None:
    """The call itself fits into a block, and with the margin of what is signed it does not."""
    put(local_chain, "fe", address=HELPER)
    put(local_chain, f"5f5f5f5f5f73{HELPER[2:]}63018cba80f150" + "6001" + PAY)
    refused = HOOK.check(poke(live_golem, engine="auto"))

    assert isinstance(refused, Reject)
    assert refused.rule == "simulator.gas_limit"
    assert refused.limit == "30000000 gas"
    assert refused.as_error(HOOK.name).code == "SAFETY_SIMULATION_FAILED"


def test_a_token_whose_balance_is_read_bears_no_mark_of_it(live_golem: LiveGolem, local_chain: World) -> None:
    """It writes when it is asked for a balance; its payer pays a coin where it was, on the one engine of STANDARD."""
    marks = "36600e5761beef545f5260205ff35b600161beef555f5f5260205ff3"
    put(local_chain, marks, address=WBTC.address)
    put(local_chain, f"60205f5f5f5f73{WBTC.address[2:]}5af1505f51" + PAY)

    def ask(bound: int) -> Verdict:
        call = poke(live_golem, bound=bound)
        assert call.plan is not None
        return HOOK.check(replace(call, plan=replace(call.plan, spends=(TokenFlow(WBTC, 0, 0),))))

    allowed, refused = ask(1), ask(ETH)
    assert isinstance(allowed, Allow) and allowed.simulation is not None
    assert allowed.simulation.engine == "rpc"
    assert (allowed.simulation.account, WBTC.address) in allowed.simulation.balances_before
    assert isinstance(refused, Reject) and refused.rule == "simulator.receives_too_little"


def test_limits_that_were_used_longest_ago_are_forgotten(live_golem: LiveGolem) -> None:
    remembered, route = RememberedLimits(2), swap_call(live_golem).sent_by
    one, two, three = (SimulationRequest(CHAIN_ID, PAYER, (Call(PAYER, bytes(size), 0, "Poke"),)) for size in (1, 2, 3))
    remembered.remember(one, route, (1,))
    remembered.remember(two, route, (2,))
    assert remembered.recall(one, route) == (1,)
    remembered.remember(three, route, (3,))
    assert [remembered.recall(each, route) for each in (one, two, three)] == [(1,), None, (3,)]
