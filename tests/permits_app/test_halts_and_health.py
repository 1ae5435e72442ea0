"""What a halt signs leaves no open loan to be liquidated, and a loan that is ill already can always be left."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.rpc import call_data
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, HaltRecord, HaltSetting
from permits_app.pages.exit_lines import list_halt_exits
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import open_stage
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_bank.on_the_shelf import Bank
from tests.strangers import send_ranges
from tools_app.core import clock
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass

DAI = ETH = 10**18
PUT_IN, BORROWED = 1_000 * DAI, ETH // 10
TOO_MUCH = 700 * DAI
"""Of a thousand under a loan of 300 dollars: what is left covers four fifths of it."""


@pytest.fixture
def debtor(db: None, bank: Bank) -> LiveGolem:
    """A golem with a loan at the bank, which thinks half as much of what it lent as the feeds do."""
    golem = make_live_golem(bank.world)
    allow_addresses(golem=golem.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    send(golem, bank.world.tokens["DAI"].address, "approve(address,uint256)", bank.address, PUT_IN)
    send(golem, bank.address, "deposit(uint256)", PUT_IN)
    send(golem, bank.address, "borrow(uint256)", BORROWED)
    set_price_of_loan(bank, bank.read("priceOfLoan()") // 2)
    return golem


def send(golem: LiveGolem, to: str, signature: str, *args: Any) -> None:
    """Besides everything of ours."""
    rpc, account = golem.world.rpc, golem.golem.address
    rpc.call("anvil_impersonateAccount", account)
    request = {"from": account, "to": to, "data": call_data(signature, *args), "gas": hex(300_000)}
    assert golem.world.wait(rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    rpc.call("anvil_stopImpersonatingAccount", account)


def set_price_of_loan(bank: Bank, price: int) -> None:
    bank.world.transact(bank.world.actors.deployer, bank.address, "setPriceOfLoan(uint256)", price)


def halt(golem: LiveGolem, **setting: Any) -> list[ActionPermit]:
    """What was signed to leave, in order."""
    HaltSetting.objects.create(golem=golem.golem, unwind_on_halt=True, **setting)
    halt_golem(golem=golem.golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())
    return list(ActionPermit.objects.filter(action_type="unwind_position").order_by("created_at"))


def at_the_bank(golem: LiveGolem, bank: Bank) -> tuple[int, int]:
    """What it has there and what it owes."""
    address = golem.golem.address
    return bank.read("deposited(address)", address), bank.read("owed(address)", address)


@pytest.mark.parametrize("order", ["asks_first", "on_the_way"])
def test_a_halt_that_would_leave_a_loan_to_be_liquidated_hands_it_to_its_owner_with_the_reason(
    debtor: LiveGolem, bank: Bank, order: str
) -> None:
    bank.modules["positions"].HASTE[order] = TOO_MUCH
    assert halt(debtor) == []
    assert at_the_bank(debtor, bank) == (PUT_IN, BORROWED)
    assert HaltRecord.objects.get().completed_at is not None
    debtor.golem.refresh_from_db()
    (line,) = (each for each in list_halt_exits(debtor.golem, now=clock.now()) if "bank" in each.label)
    assert "needs you" in line.state and "health" in line.words and "0.80" in line.words
    assert ("after call 1 of 3" in line.words) == (order == "on_the_way")


def test_a_halt_takes_the_safe_order(debtor: LiveGolem, bank: Bank) -> None:
    repaid, asked = halt(debtor)
    assert [repaid.params["tool"], asked.params["tool"]] == ["bank_repay", "bank_request"]
    assert at_the_bank(debtor, bank) == (0, 0)


def test_an_ill_loan_is_repaid_in_parts_though_it_is_ill_after_the_first(debtor: LiveGolem, bank: Bank) -> None:
    # Liquidation is at one; a third of it before, and two thirds after half is repaid.
    set_price_of_loan(bank, 16 * bank.read("priceOfLoan()"))
    assert bank.read("health(address)", debtor.golem.address) < 3_400
    bank.modules["positions"].HASTE["at_most"] = BORROWED // 2
    assert [each.params["tool"] for each in halt(debtor)] == ["bank_repay", "bank_repay", "bank_request"]
    assert at_the_bank(debtor, bank) == (0, 0)


@pytest.mark.protocols("aave_v3")
def test_an_ill_loan_at_a_lender_is_left_under_a_halt(live_golem: LiveGolem) -> None:
    stage = ill_loan_at_aave(live_golem)
    (permit,) = halt(live_golem)
    assert (permit.status, permit.params["tool"]) == ("COMMITTED", "aave_repay")
    assert stage.positions() == ()


@pytest.mark.protocols("aave_v3")
def test_an_ill_loan_is_left_while_no_feed_prices_it(live_golem: LiveGolem) -> None:
    stage = ill_loan_at_aave(live_golem)
    world = live_golem.world
    old = world.timestamp() - 2 * 86_400
    world.transact(world.actors.deployer, world.tokens["WETH"].feed, "setUpdatedAt(uint256)", old)
    (permit,) = halt(live_golem)
    assert permit.status == "COMMITTED"
    assert stage.positions() == ()


def test_a_halt_leaves_what_is_worth_most_before_what_strangers_sent(live_golem: LiveGolem) -> None:
    golem, world = live_golem.golem, live_golem.world
    send_ranges(world, golem.address, 2, in_range=True)
    turn_on(golem)
    tick(golem)
    manager, third = world.contracts["uniswap_v3_position_manager"], "tokenOfOwnerByIndex(address,uint256)"
    own = world.rpc.read(manager, third, golem.address, 2, returns="(uint256)")[0]
    send_ranges(world, golem.address, 1, in_range=True, cents=2)
    assert [each.params["position"] for each in halt(live_golem)][:1] == [f"uniswap/nft/{CHAIN_ID}/{own}"]


def ill_loan_at_aave(golem: LiveGolem) -> Any:
    stage, world = open_stage(golem, load_cases()), golem.world
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=("aave_borrow",)))
    world.transact(world.actors.deployer, world.tokens["WETH"].feed, "setAnswer(int256)", 800 * 10**8)
    (position,) = stage.positions()
    assert position.health_bps is not None and position.health_bps < 10_000
    return stage
