"""Staking with Rocket Pool and leaving again, with a pool that is full, dry, closed, or that moved."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import tools_app.protocols.rocketpool.tools.figures
import tools_app.protocols.rocketpool.tools.stake
import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call, event_topic
from tools_app.chain.known_events import KNOWN_EVENTS
from tools_app.core.errors import GolemError, Recovery
from tools_app.protocols.rocketpool.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import Act, Position, Wait, drive

pytestmark = pytest.mark.protocols("rocketpool")
ETH = 10**18
DUST = 16


def at(key: str) -> str:
    found = PROTOCOL.address(CHAIN_ID, key)
    assert found is not None
    return found


def list_of(chain: World, account: Any) -> tuple[Position, ...]:
    reader = make_context(chain, address=account.address).chain()
    assert PROTOCOL.positions is not None
    return drive(PROTOCOL.positions.list(CHAIN_ID, account.address, ()), reader.call_many)


def plan_of(chain: World, account: Any, tool: str, **params: Any) -> TxPlan:
    plan: TxPlan = call_tool(make_context(chain, address=account.address), tool, **params)
    return plan


def act(chain: World, account: Any, tool: str, **params: Any) -> PlanOutcome:
    return run_plan(chain, account, plan_of(chain, account, tool, **params))


def refused(chain: World, account: Any, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        plan_of(chain, account, tool, **params)
    return found.value


def as_admin(chain: World, key: str, signature: str, *args: Any) -> None:
    admin = derive_account("rocketpool deployer")
    chain.rpc.call("anvil_setBalance", admin.address, hex(10**24))
    chain.transact(admin, at(key), signature, *args)


def drain(chain: World, *, left: int = 0) -> None:
    """Node operators take what is in the pool."""
    held = int(chain.rpc.call("eth_getBalance", at("deposit_pool"), "latest"), 16)
    as_admin(chain, "deposit_pool", "assignDeposits(uint256,address)", held - left, derive_account("beacon").address)


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["rocketpool"] == dict(PROTOCOL.deployments(CHAIN_ID) or {})
    assert CHAIN_ID in PROTOCOL.simulated_on


def test_what_is_staked_is_held_as_ether_less_the_networks_fee(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    outcome = act(chain, account, "rocketpool_stake", amount=str(10 * ETH))
    (held,) = list_of(chain, account)
    (change,) = outcome.plan.changes
    assert change.bound <= held.legs[0].raw <= change.expected == 10 * ETH - 10 * ETH // 2_000
    told = report_of("rocketpool_stake", outcome)
    assert told["eth_staked"] == str(10 * ETH)
    assert int(told["r_eth_received"]) == chain.rpc.balance_of(at("reth"), account.address)
    assert 1.12 < float(told["exchange_rate"]) < 1.13


def test_what_is_held_is_burned_at_full_worth_and_nothing_is_left(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "rocketpool_stake", amount=str(10 * ETH))
    (held,) = list_of(chain, account)
    assert PROTOCOL.exits is not None
    step = PROTOCOL.exits.next_step(held, {}, 0)
    assert isinstance(step, Act)
    outcome = act(chain, account, step.tool, **step.params)
    told = report_of("rocketpool_unstake", outcome)
    assert told["route"] == "burn" and int(told["eth_received"]) == outcome.plan.receives[0].bound == held.legs[0].raw
    # What no balance tells is not made up.
    assert report_of("rocketpool_unstake", replace(outcome, deltas={}))["eth_received"] == "0"
    assert list_of(chain, account) == ()


def test_what_the_pool_can_just_pay_to_the_wei_is_burned_there(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "rocketpool_stake", amount=str(10 * ETH))
    (held,) = list_of(chain, account)
    drain(chain, left=held.legs[0].raw)
    amount = chain.rpc.balance_of(at("reth"), account.address)
    told = report_of("rocketpool_unstake", act(chain, account, "rocketpool_unstake", amount=str(amount)))
    assert (told["route"], told["eth_received"]) == ("burn", str(held.legs[0].raw))


def test_a_report_in_between_breaks_no_promise(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "rocketpool_stake", amount=str(5 * ETH))
    amount = chain.rpc.balance_of(at("reth"), account.address) // 2
    plans = [
        plan_of(chain, account, "rocketpool_stake", amount=str(ETH)),
        plan_of(chain, account, "rocketpool_unstake", amount=str(amount)),
    ]
    total = chain.rpc.read(at("reth"), "getTotalETHBalance()", returns="(uint256)")[0]
    supply = chain.rpc.read(at("reth"), "getTotalRETHSupply()", returns="(uint256)")[0]
    report = "submitBalances(uint256,uint256,uint256,uint256)"
    as_admin(chain, "reth", report, 0, total * 1_001 // 1_000, total * 9 // 10, supply)
    for plan in plans:
        (before,) = list_of(chain, account)
        outcome = run_plan(chain, account, plan)
        (after,) = list_of(chain, account)
        assert after.legs[0].raw - before.legs[0].raw >= plan.changes[0].bound
        assert all(outcome.deltas[flow.token.address] >= flow.bound for flow in plan.receives)


def test_a_dry_pool_burns_what_there_is_and_waits_for_the_rest(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "rocketpool_stake", amount=str(10 * ETH))
    drain(chain, left=4 * ETH)
    amount = chain.rpc.balance_of(at("reth"), account.address)
    load_registry()
    dry = refused(chain, account, "rocketpool_unstake", amount=str(amount))
    assert (dry.code, dry.next_step) == ("DEPOSIT_POOL_DRY", Recovery.WAIT) and dry.cleared_by
    assert dry.data["available"] == str(4 * ETH)
    (held,) = list_of(chain, account)
    assert PROTOCOL.exits is not None
    step = PROTOCOL.exits.next_step(held, {}, 0)
    assert isinstance(step, Act)
    act(chain, account, step.tool, **step.params)
    (rest,) = list_of(chain, account)
    assert abs(held.legs[0].raw - rest.legs[0].raw - 4 * ETH) <= DUST
    assert isinstance(PROTOCOL.exits.next_step(rest, {}, 0), Wait)


def test_a_dry_pool_sends_to_a_market_that_pays_enough(chain: World) -> None:
    maker, account = chain.new_account(900 * ETH, {"WETH": 400 * ETH}), chain.new_account(20 * ETH)
    act(chain, maker, "rocketpool_stake", amount=str(400 * ETH))
    act(chain, account, "rocketpool_stake", amount=str(2 * ETH))
    (worth,) = (leg.raw for leg in list_of(chain, maker)[0].legs)
    router, weth, shares = chain.contracts["uniswap_v2_router"], chain.tokens["WETH"].address, 0
    shares = chain.rpc.balance_of(at("reth"), maker.address)
    for token, raw in ((at("reth"), shares), (weth, worth)):
        chain.transact(maker, token, "approve(address,uint256)", router, raw)
    chain.transact(
        maker,
        router,
        "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
        at("reth"),
        weth,
        shares,
        worth,
        0,
        0,
        maker.address,
        2**40,
        gas=8_000_000,
    )
    drain(chain)
    load_registry()
    amount = chain.rpc.balance_of(at("reth"), account.address)
    assert refused(chain, account, "rocketpool_unstake", amount=str(amount)).code == "DEPOSIT_POOL_DRY", "0.5% is less"
    (before,) = list_of(chain, account)
    outcome = act(chain, account, "rocketpool_unstake", amount=str(amount), max_slippage_bps=200)
    told = report_of("rocketpool_unstake", outcome)
    assert told["route"] == "secondary_market" and not outcome.plan.spends
    assert int(told["eth_received"]) >= outcome.plan.receives[0].bound >= before.legs[0].raw * 98 // 100
    assert list_of(chain, account) == ()


@pytest.mark.parametrize(
    ("setting", "params", "code", "recovery"),
    [
        ((False, 1, 10**24, 0), {}, "DEPOSITS_DISABLED", Recovery.WAIT),
        ((True, 2 * ETH, 10**24, 0), {}, "DEPOSIT_TOO_SMALL", Recovery.FIX_PARAMS),
        ((True, 1, 5_000 * ETH + ETH // 2, 0), {}, "DEPOSIT_POOL_FULL", Recovery.WAIT),
        (None, {"amount": str(500 * ETH)}, "INSUFFICIENT_BALANCE", Recovery.FIX_PARAMS),
    ],
)
def test_what_the_network_does_not_take_is_refused_with_the_next_step(
    chain: World, setting: Any, params: dict[str, str], code: str, recovery: Recovery
) -> None:
    account = chain.new_account(20 * ETH)
    if setting:
        as_admin(chain, "deposit_pool", "setSettings(bool,uint256,uint256,uint256)", *setting)
    found = refused(chain, account, "rocketpool_stake", **{"amount": str(ETH), **params})
    assert (found.code, found.next_step) == (code, recovery)


def test_an_upgrade_that_moves_the_deposit_pool_is_the_owners_business(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    as_admin(chain, "storage", "setAddress(string,address)", "rocketDepositPool", "0x" + "44" * 20)
    for tool in ("rocketpool_stake", "rocketpool_unstake"):
        moved = refused(chain, account, tool, amount=str(ETH))
        assert (moved.code, moved.next_step) == ("DEPLOYMENT_MOVED", Recovery.ASK_OWNER)


def read(chain: World, account: Any, plan: TxPlan) -> Effects:
    reader, effects = make_context(chain, address=account.address).chain(), Effects()
    assert PROTOCOL.effects is not None
    for index, call in enumerate(plan.calls):
        PROTOCOL.effects.read(call, earlier=plan.calls[:index], account=account.address, chain=reader, into=effects)
    return effects


def test_what_is_not_known_is_refused(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    other = "0x" + "33" * 20
    for call in (
        Call(at("reth"), encode_call("function transfer(address,uint256)", other, 1), 0, ""),
        Call(at("reth"), encode_call("function burn(uint256)", 1), 1, "coin along"),
        Call(at("deposit_pool"), encode_call("function deposit()"), 0, "nothing"),
        Call(at("storage"), encode_call("function setAddress(string,address)", "x", other), 0, ""),
    ):
        with pytest.raises(UnknownCall):
            read(chain, account, TxPlan(CHAIN_ID, (call,)))


def test_the_position_tells_its_worth_and_what_it_earned(chain: World) -> None:
    account = chain.new_account(30 * ETH)
    act(chain, account, "rocketpool_stake", amount=str(10 * ETH))
    ctx = make_context(chain, address=account.address)
    told = answer_of(ctx, "rocketpool_get_position")
    assert told["is_simulated"] is True and told["yield_earned_eth"] == "0"
    assert abs(int(told["eth_equivalent"]) - list_of(chain, account)[0].legs[0].raw) <= DUST
    assert 2.5 < float(told["realized_apy_7d"]) < 3 and 2.5 < float(told["realized_apy_30d"]) < 3
    total = chain.rpc.read(at("reth"), "getTotalETHBalance()", returns="(uint256)")[0]
    supply = chain.rpc.read(at("reth"), "getTotalRETHSupply()", returns="(uint256)")[0]
    report = "submitBalances(uint256,uint256,uint256,uint256)"
    as_admin(chain, "reth", report, 0, total * 1_001 // 1_000, total * 9 // 10, supply)
    grown = answer_of(make_context(chain, address=account.address), "rocketpool_get_position")
    gain = int(grown["eth_equivalent"]) - int(told["eth_equivalent"])
    assert gain > 0 and abs(int(grown["yield_earned_eth"]) - gain) < 1_000


@pytest.mark.parametrize("contract", ["SimulatedRocketDepositPool", "SimulatedRocketEther"])
def test_whatever_its_contracts_write_into_the_log_has_a_name_in_a_trace(contract: str) -> None:
    abi = json.loads((CHECKOUT / f"contracts/out/{contract}.json").read_text())["abi"]
    written = {
        f"{each['name']}({','.join(one['type'] for one in each['inputs'])})" for each in abi if each["type"] == "event"
    }
    named = {event_topic(text) for text in (*KNOWN_EVENTS, *PROTOCOL.events)}
    assert written and [each for each in written if event_topic(f"event {each}") not in named] == []
