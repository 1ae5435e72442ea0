"""The wallet tools on the local chain: what is held, what is left of the limits, sending, and the price of gas."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from archetypes_app.toolset import view_golem
from permits_app.models import ActionPermit, AllowlistEntry, OutboundTransaction, SpendEntry
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import OTHER, live_call
from tools_app import runner
from tools_app.core import clock
from tools_app.core.errors import GolemError, InsufficientBalance, InvalidParams
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool
from tools_app.toolkit.views import NATIVE

ETH = 10**18


def read(live: LiveGolem, name: str, **params: Any) -> dict[str, Any]:
    live.golem.refresh_from_db()
    tool = REGISTRY.get(name)
    assert isinstance(tool, ReadTool)
    data = runner.run_read(tool=tool, params=params, golem=view_golem(live.golem), now=clock.now()).data
    assert isinstance(data, dict)
    return data


def plan_transfer(live: LiveGolem, **params: Any) -> TxPlan:
    plan = live_call(live, "wallet_transfer_token", params).plan
    assert plan is not None
    return plan


def test_the_status_shows_every_balance_with_its_value(live_golem: LiveGolem) -> None:
    status = read(live_golem, "wallet_get_status")
    held = {row["token"]["symbol"]: row for row in status["balances"]}
    assert set(held) == {"ETH", "USDC", "WETH", "DAI"}
    assert held["USDC"]["balance"] == str(20_000 * 10**6)
    assert held["USDC"]["balance_units"] == "20000 USDC"
    assert Decimal(held["USDC"]["value_usd"]) == Decimal("20000")
    assert status["address"] == live_golem.golem.address
    assert (status["account_type"], status["provider"]) == ("eoa", "local_keystore")
    assert sum(Decimal(row["value_usd"]) for row in status["balances"]) == Decimal(status["total_value_usd"])
    assert status["pending_transactions"] == []


def test_the_status_tells_what_is_left_of_the_limits(live_golem: LiveGolem) -> None:
    now = clock.now()
    permit = ActionPermit.objects.create(
        golem=live_golem.golem,
        chain_id=31337,
        action_hash="x",
        action_class="NEW_POSITION",
        risk_tier="STANDARD",
        status="COMMITTED",
        expires_at=now,
    )
    SpendEntry.objects.create(
        golem=live_golem.golem, permit=permit, reserved_micro_usd=40_000 * 10**6, counted_at=now - timedelta(hours=2)
    )
    policy = read(live_golem, "wallet_get_status")["policy_summary"]
    assert (policy["per_day_usd"], policy["per_day_left_usd"]) == ("100000.000000", "60000.000000")
    assert (policy["writes_per_hour"], policy["writes_left"]) == (500, 499)
    assert policy["allowlist_mode"] == "strict"


def test_the_status_names_what_is_under_way(live_golem: LiveGolem) -> None:
    permit = ActionPermit.objects.create(
        golem=live_golem.golem,
        chain_id=31337,
        action_hash="x",
        action_class="NEW_POSITION",
        risk_tier="STANDARD",
        expires_at=clock.now(),
    )
    for index, state in enumerate(("BROADCAST", "MINED")):
        OutboundTransaction.objects.create(
            permit=permit,
            call_index=index,
            chain_id=31337,
            sender=live_golem.golem.address,
            nonce=index,
            to=OTHER,
            value_wei="0",
            gas_limit=1,
            max_fee_per_gas="1",
            max_priority_fee_per_gas="1",
            raw="0xsecretbytes",
            tx_hash=f"0x{index}",
            state=state,
        )
    status = read(live_golem, "wallet_get_status")
    assert [row["tx_hash"] for row in status["pending_transactions"]] == ["0x0"]
    assert "secretbytes" not in str(status)


def test_a_transfer_of_a_token_is_one_call_and_its_whole_promise(live_golem: LiveGolem) -> None:
    plan = plan_transfer(live_golem, token="USDC", recipient=OTHER, amount="1500000")
    assert len(plan.calls) == 1
    assert plan.calls[0].label == f"Send 1.5 USDC to {OTHER}"
    assert [(flow.expected, flow.bound) for flow in plan.spends] == [(1_500_000, 1_500_000)]
    assert (plan.receives, plan.allowances, plan.recipients) == ((), (), (OTHER,))


def test_the_coin_goes_as_value(live_golem: LiveGolem) -> None:
    plan = plan_transfer(live_golem, token="ETH", recipient=OTHER, amount=str(ETH))
    assert (plan.calls[0].to, plan.calls[0].value, plan.calls[0].data) == (OTHER, ETH, b"")
    assert plan.spends[0].token.address == NATIVE


def test_only_a_recipient_registered_on_that_chain_is_a_decrease(live_golem: LiveGolem) -> None:
    params = {"token": "USDC", "recipient": OTHER, "amount": "1500000"}
    assert plan_transfer(live_golem, **params).action_class is ActionClass.NEW_POSITION
    entry = AllowlistEntry.objects.create(golem=live_golem.golem, chain_id=1, kind="RECIPIENT", address=OTHER)
    assert plan_transfer(live_golem, **params).action_class is ActionClass.NEW_POSITION
    entry.chain_id = 31337
    entry.save()
    assert plan_transfer(live_golem, **params).action_class is ActionClass.DECREASE_POSITION


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"amount": str(20_000 * 10**6 + 1)}, InsufficientBalance),
        ({"amount": "0"}, InvalidParams),
        ({"amount": "-1"}, InvalidParams),
        ({"amount": "1.5"}, InvalidParams),
        ({"amount": 1.5}, InvalidParams),
        ({"recipient": "0x1234"}, InvalidParams),
        ({"recipient": OTHER[:-1] + "b"}, InvalidParams),
        ({"token": "NOPE"}, GolemError),
    ],
)
def test_what_cannot_be_sent_is_refused(live_golem: LiveGolem, params: dict[str, Any], error: type[GolemError]) -> None:
    with pytest.raises(error) as refused:
        plan_transfer(live_golem, **{"token": "USDC", "recipient": OTHER, "amount": "1000000", **params})
    assert refused.value.next_step == "FIX_PARAMS"


def test_the_golem_does_not_send_to_itself(live_golem: LiveGolem) -> None:
    with pytest.raises(InvalidParams, match="the golem itself"):
        plan_transfer(live_golem, token="USDC", recipient=live_golem.golem.address, amount="1000000")


def test_a_transfer_goes_the_whole_way_to_a_registered_recipient(live_golem: LiveGolem, local_chain: World) -> None:
    body = {"action_type": "transfer", "venue": "wallet", "token": "USDC", "recipient": OTHER, "amount": "1500000"}
    cleared = {"token_in": None, "token_out": None}
    with pytest.raises(GolemError) as refused:
        live_golem.preview(**body, **cleared)
    assert refused.value.code == "SAFETY_ADDRESS_NOT_ALLOWED"
    AllowlistEntry.objects.create(golem=live_golem.golem, chain_id=31337, kind="RECIPIENT", address=OTHER)
    usdc = local_chain.tokens["USDC"].address
    before = local_chain.rpc.balance_of(usdc, OTHER)
    permit = live_golem.preview(**body, **cleared)
    assert permit["action_class"] == "DECREASE_POSITION"
    done = live_golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED"
    assert local_chain.rpc.balance_of(usdc, OTHER) - before == 1_500_000
    report = done["result"]["data"]
    assert (report["amount"], report["amount_units"], report["recipient"]) == ("1500000", "1.5 USDC", OTHER)


def test_the_gas_price_is_in_gwei_and_in_dollars(live_golem: LiveGolem, local_chain: World) -> None:
    price = read(live_golem, "wallet_get_gas_price")
    base_fee = int(local_chain.rpc.call("eth_feeHistory", "0x1", "latest", [])["baseFeePerGas"][-1], 16)
    assert Decimal(price["base_fee_gwei"]) * 10**9 == base_fee
    assert Decimal(price["max_fee_gwei"]) >= 2 * Decimal(price["base_fee_gwei"])
    assert 0 < Decimal(price["estimated_swap_cost_usd"]) < Decimal(price["estimated_lp_cost_usd"])
    assert price["cost_missing"] is None
