"""Hooks, drawdown, heartbeat, wallet tool and pages tell one value; a made-up bank with debt and a queue is in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from permits_app.hook_rejection import Reject
from permits_app.models import HighWaterMark, NavSnapshot, PolicyCage
from permits_app.safety.assets import read_portfolio
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.policy_cage import PolicyCageHook
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tests.permits_app.safety.calls import live_call, swap_call
from tests.permits_app.tools.test_wallet import read
from tools_app.chain.abi import encode_call
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core import clock
from tools_app.core.units import usd_to_micro
from tools_app.models import KnownPosition
from tools_app.portfolio.remembered_positions import list_hints, note_found, remember_positions
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF

E18 = 10**18
USD = 1_000_000


def act(bank: Bank, live: LiveGolem, signature: str, *args: Any) -> None:
    """As the golem, past every rule: what is there afterwards is what is measured."""
    world, account = bank.world, live.golem.address
    world.rpc.call("anvil_impersonateAccount", account)
    for to, call, values in (
        (world.tokens["DAI"].address, "approve(address,uint256)", (bank.address, 10**30)),
        (world.tokens["WETH"].address, "approve(address,uint256)", (bank.address, 10**30)),
        (bank.address, signature, args),
    ):
        data = "0x" + encode_call(f"function {call}", *values).hex()
        request = {
            "from": account,
            "to": to,
            "data": data,
            "gas": hex(1_000_000),
            "gasPrice": hex(world.fair_gas_price()),
        }
        assert world.wait(world.rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    world.rpc.call("anvil_stopImpersonatingAccount", account)


def worth(live: LiveGolem) -> int:
    return usd_to_micro(read(live, "wallet_get_status")["total_value_usd"])


def test_a_deposit_a_loan_a_repayment_and_a_request_keep_the_value_but_for_gas(
    live_golem: LiveGolem, bank: Bank
) -> None:
    start = worth(live_golem)
    for signature, amount in (
        ("deposit(uint256)", 2_000 * E18),
        ("borrow(uint256)", E18 // 4),
        ("repay(uint256)", E18 // 8),
        ("request(uint256)", 500 * E18),
    ):
        act(bank, live_golem, signature, amount)
    # Twelve transactions of gas, and nothing else.
    assert 0 <= start - worth(live_golem) < 10 * USD
    status = read(live_golem, "wallet_get_status")
    held = {each["position"].split("/")[1]: each for each in status["positions"]}
    assert set(held) == {"account", "request"}
    assert Decimal(status["debt_usd"]) == Decimal("375")
    # 1,500 dollars at eight tenths, over 375.
    assert held["account"]["health"] == "3.20"
    assert held["request"]["free_at"] is not None and Decimal(held["request"]["value_usd"]) == 500


def test_hooks_the_mark_the_heartbeat_and_the_wallet_tool_tell_one_value(live_golem: LiveGolem, bank: Bank) -> None:
    act(bank, live_golem, "deposit(uint256)", 2_000 * E18)
    act(bank, live_golem, "borrow(uint256)", E18 // 4)
    told = worth(live_golem)
    call = swap_call(live_golem)
    assert call.plan is not None and call.chain is not None
    portfolio = read_portfolio(
        chain=call.chain,
        account=live_golem.golem.address,
        base_asset="USDC",
        plan=call.plan,
        enters_position=False,
        position_id="",
    )
    PolicyCageHook().check(call)
    mark = HighWaterMark.objects.get(golem=live_golem.golem).value_micro_usd
    turn_on(live_golem.golem)
    record = tick(live_golem.golem)
    kept = NavSnapshot.objects.get(golem=live_golem.golem)
    assert portfolio.total_before == told == mark
    # The tick may have acted; what it saw last is what is kept and told.
    assert {int(record.probes["total_micro_usd"]), kept.value_micro_usd} == {worth(live_golem)}
    assert kept.debt_micro_usd == 750 * USD


def test_a_debt_is_no_gain_and_repaying_no_fall(live_golem: LiveGolem, bank: Bank) -> None:
    act(bank, live_golem, "deposit(uint256)", 2_000 * E18)
    PolicyCageHook().check(swap_call(live_golem))
    before = HighWaterMark.objects.get(golem=live_golem.golem).value_micro_usd
    act(bank, live_golem, "borrow(uint256)", E18 // 2)
    PolicyCageHook().check(swap_call(live_golem))
    assert HighWaterMark.objects.get(golem=live_golem.golem).value_micro_usd <= before
    act(bank, live_golem, "repay(uint256)", E18 // 2)
    PolicyCageHook().check(swap_call(live_golem))
    mark = HighWaterMark.objects.get(golem=live_golem.golem)
    assert mark.violated_at is None and mark.paused_until is None


def test_what_lies_at_one_protocol_is_limited_as_a_whole(live_golem: LiveGolem, bank: Bank) -> None:
    total = worth(live_golem)
    PolicyCage.objects.filter(golem=live_golem.golem).update(max_position_bps=2_500 * 10_000 * USD // total)
    live_golem.golem.refresh_from_db()
    deposit = {"amount": str(2_000 * E18)}
    first = PolicyCageHook().check(live_call(live_golem, "bank_deposit", deposit))
    assert isinstance(first, Allow)
    act(bank, live_golem, "deposit(uint256)", 2_000 * E18)
    second = PolicyCageHook().check(live_call(live_golem, "bank_deposit", deposit))
    assert isinstance(second, Reject)
    assert (second.rule, second.data.get("protocol")) == ("policy_cage.max_position", NAME)


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    asked: list[int] = []
    original = RpcPool._ask

    def count(self: Any, node: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(len(requests))
        return original(self, node, requests, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(RpcPool, "_ask", count)
        yield asked


def test_a_preview_of_a_golem_that_holds_nothing_elsewhere_asks_at_most_two_batches_more(
    live_golem: LiveGolem, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Off the shelf nobody declares what the swap calls, nor which listed tokens stand for positions.
    PolicyCage.objects.filter(golem=live_golem.golem).update(allows_arbitrary_calldata=True, max_assets=20)
    live_golem.preview(amount="400000000")
    protocols = [each for each in SHELF if each.positions is not None]
    for each in protocols:
        SHELF.remove(each.name)
    try:
        with counted(monkeypatch) as alone:
            live_golem.preview(amount="410000000")
    finally:
        for each in protocols:
            SHELF.add(each)
    with counted(monkeypatch) as among_all:
        live_golem.preview(amount="420000000")
    assert len(among_all) <= len(alone) + 2


def test_the_golems_page_shows_positions_debts_health_unlocks_and_the_days_change(
    live_golem: LiveGolem, bank: Bank, client: Client
) -> None:
    act(bank, live_golem, "deposit(uint256)", 2_000 * E18)
    act(bank, live_golem, "borrow(uint256)", E18 // 4)
    act(bank, live_golem, "request(uint256)", 100 * E18)
    turn_on(live_golem.golem)
    tick(live_golem.golem)
    kept = NavSnapshot.objects.get(golem=live_golem.golem)
    NavSnapshot.objects.create(
        golem=live_golem.golem, at=clock.now() - timedelta(hours=3), chain_id=31337, block_number=1, value_micro_usd=1
    )
    NavSnapshot.objects.filter(pk=kept.pk).update(
        parts={"price": "-5000000", "fees_and_interest": "2000000", "slippage": "0", "gas": "-1000000", "moved": "7"}
    )
    live_golem.owner.is_superuser = True
    live_golem.owner.save()
    client.force_login(live_golem.owner)
    pk = live_golem.golem.pk
    page = client.get(f"/admin/archetypes_app/golem/{pk}/money/").content.decode()
    for text in (
        "Account at the bank",
        "The made-up bank",
        "$750.00 of debt subtracted",
        "2.02",
        "-$4.00",
        "fees and interest +$2.00",
        "in 23 h",
    ):
        assert text in page, text
    cockpit = client.get(reverse("cockpit", args=[pk])).content.decode()
    assert "-$4.00 in 24 h" in cockpit
    fleet = client.get(reverse("fleet")).content.decode()
    assert "-$4.00 in 24 h" in fleet


@pytest.mark.django_db
def test_a_position_is_looked_for_until_a_look_does_not_find_it() -> None:
    here = [PositionRef("bank", "market", 1, str(number)) for number in range(3)]
    account, now = "0x" + "1" * 40, clock.now()
    remember_positions(account=account, refs=here, now=now)
    remember_positions(account=account, refs=here, now=now)
    assert set(list_hints(chain_id=1, account=account)) == set(here)
    assert list_hints(chain_id=10, account=account) == list_hints(chain_id=1, account="0x" + "2" * 40) == ()
    later = now + timedelta(minutes=6)
    note_found(chain_id=1, account=account, asked=here, found=here[:1], now=later)
    assert list_hints(chain_id=1, account=account) == (here[0],)
    assert KnownPosition.objects.get(ref=str(here[0])).last_seen == later
    remember_positions(account=account, refs=[here[1]], now=later)
    assert set(list_hints(chain_id=1, account=account)) == set(here[:2])
