"""wallet_configure_policy: an agent asks, its owners decide, here or on chain, and nothing changes before."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from permits_app.approvals.request_sentences import describe_asked
from permits_app.models import AllowlistEntry, ChangeRequest, SpendingLimits
from permits_app.policy_cage.contract import RuleKind, address_key
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve, carry_out
from tests.permits_app.approvals.safes import OwnedSafe, make_relayer, owner_transaction
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.required_value import require

USD = 10**6


def ask(live: LiveGolem, **wish: Any) -> ChangeRequest:
    body = {"action_type": "configure_policy", "venue": "wallet", "token_in": None, "token_out": None, "amount": None}
    permit = live.preview(**{**body, **wish})
    assert (permit["status"], permit["missing"]) == ("AWAITING_APPROVAL", ["approval"])
    return ChangeRequest.objects.get(permit_id=permit["permit_id"])


def limit_of(live: LiveGolem) -> int:
    return SpendingLimits.objects.get(golem=live.golem).per_transaction_micro_usd


def test_without_a_contract_the_owners_approval_changes_the_limits_here(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, owner, other = two_owners
    router = live.world.contracts["uniswap_v2_router"]
    AllowlistEntry.objects.filter(golem=live.golem, address=router).delete()
    request = ask(live, allowed_contracts=[router], spending_limit_usd="4000")
    assert (request.risk_tier, request.barred_owner_id, request.asked_by) == ("CRITICAL", owner.pk, None)
    assert request.title == "Its agent asks for calls to Uniswap V2 router; $4,000.00 a transaction"
    assert "Uniswap V2 router" in describe_asked(request) and router not in describe_asked(request)
    notes = {line["words"].split(" (")[0].split(" on ")[0]: line["note"] for line in request.shown["differences"]}
    assert notes == {"Per transaction": "tightens", "Contract it may call": "loosens"}
    assert request.cooling_seconds == 48 * 3_600
    request = approve(request, other)
    assert limit_of(live) == 10_000 * USD
    request = carry_out(request, chain=live.world)
    assert (request.state, require(request.permit).status) == ("EXECUTED", "COMMITTED")
    assert limit_of(live) == 4_000 * USD
    assert AllowlistEntry.objects.filter(golem=live.golem, address=router, kind="CONTRACT").exists()
    assert require(request.permit).result["data"]["is_on_chain"] is False


def test_on_chain_the_owners_signature_changes_the_contract_and_then_the_limits_here(
    two_owners: tuple[LiveGolem, Any, Any], settings: Any
) -> None:
    live, _, other = two_owners
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    request = ask(live, spending_limit_usd="4000")
    request = carry_out(
        approve(request, other, signature=safe.sign(owner_transaction(request).safe_tx_hash, 1)), chain=live.world
    )
    assert (request.state, require(request.permit).status) == ("EXECUTED", "COMMITTED"), request.problem
    state, usdc = safe.sync(), live.world.tokens["USDC"].address
    assert abs(state.rule(RuleKind.OUTFLOW_PER_BATCH, address_key(usdc)) - 4_000 * USD) <= USD * 40
    assert limit_of(live) == 4_000 * USD
    assert require(request.permit).result["data"]["is_on_chain"] is True


def test_a_contract_no_tool_calls_is_refused_before_anybody_is_asked(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, _, _ = two_owners
    with pytest.raises(InvalidParams, match="no contract at"):
        ask(live, allowed_contracts=["0x" + "11" * 20])
    OwnedSafe(live)
    with pytest.raises(InvalidParams, match="no tool of this golem calls"):
        ask(live, allowed_contracts=[live.world.contracts["multicall3"]])
    assert not ChangeRequest.objects.exists()


def test_requests_of_an_agent_are_told_apart_by_what_they_ask_for(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, _ = two_owners
    unknown = live.world.tokens["USDC"].feed
    wishes: tuple[dict[str, Any], ...] = (
        {"spending_limit_usd": "4000"},
        {"policy_template": "read-only"},
        {"allowed_contracts": [unknown]},
    )
    titles = [ask(live, **wish).title for wish in wishes]
    assert titles == [
        "Its agent asks for $4,000.00 a transaction",
        "Its agent asks for the policy read-only",
        f"Its agent asks for calls to unknown contract {unknown}",
    ]


def test_an_equal_wish_is_folded_into_the_one_that_waits(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, _ = two_owners
    first = ask(live, spending_limit_usd="4000")
    assert ask(live, spending_limit_usd="4000").pk == first.pk
    assert ChangeRequest.objects.get().repeats == 2


def test_read_only_is_a_policy_under_which_nothing_is_written(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    request = carry_out(approve(ask(live, policy_template="read-only"), other), chain=live.world)
    assert request.state == "EXECUTED"
    data = require(request.permit).result["data"]
    assert (data["template"], Decimal(data["spending_limit_usd"])) == ("read-only", 0)
    limits = SpendingLimits.objects.get(golem=live.golem)
    assert (limits.per_day_micro_usd, limits.writes_per_hour) == (0, 0)
    with pytest.raises(GolemError):
        live.preview()


def test_defi_trading_brings_the_default_limits_and_the_trading_contracts(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, _, other = two_owners
    AllowlistEntry.objects.filter(golem=live.golem).delete()
    SpendingLimits.objects.filter(golem=live.golem).update(allowlist_mode="OFF", per_transaction_micro_usd=USD)
    request = carry_out(
        approve(ask(live, policy_template="defi-trading", spending_limit_usd="2500"), other), chain=live.world
    )
    assert request.state == "EXECUTED"
    limits = SpendingLimits.objects.get(golem=live.golem)
    assert (limits.allowlist_mode, limits.per_transaction_micro_usd) == ("STRICT", 2_500 * USD)
    assert live.preview(amount="100000000")["status"] == "CREATED"


def test_chains_that_are_not_named_keep_no_entry(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    AllowlistEntry.objects.create(
        golem=live.golem, chain_id=8453, kind="TOKEN", address="0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
    )
    here = AllowlistEntry.objects.filter(golem=live.golem, chain_id=31337).count()
    request = carry_out(approve(ask(live, chain_restrictions=[31337]), other), chain=live.world)
    assert (request.state, require(request.permit).result["data"]["chain_restrictions"]) == ("EXECUTED", [31337])
    kept = AllowlistEntry.objects.filter(golem=live.golem)
    assert (kept.count(), kept.exclude(chain_id=31337).count()) == (here, 0)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"chain_restrictions": [1]}, "home chain 31337 must be among them"),
        ({"chain_restrictions": [31337]}, "so already"),
        ({"policy_template": "vault-manager"}, "policy_template"),
        ({}, "name a template"),
    ],
)
def test_a_wish_that_cannot_be_meant_is_refused_with_what_is_wrong(
    two_owners: tuple[LiveGolem, Any, Any], wish: dict[str, Any], words: str
) -> None:
    live, _, _ = two_owners
    with pytest.raises(GolemError) as refused:
        ask(live, **wish)
    assert words in f"{refused.value.detail} {refused.value.data}"
    assert not ChangeRequest.objects.exists()


def test_on_chain_read_only_takes_every_outflow_away(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> None:
    live, _, other = two_owners
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    request = ask(live, policy_template="read-only")
    request = carry_out(
        approve(request, other, signature=safe.sign(owner_transaction(request).safe_tx_hash, 1)), chain=live.world
    )
    assert request.state == "EXECUTED", request.problem
    state, usdc = safe.sync(), live.world.tokens["USDC"].address
    assert state.rule(RuleKind.OUTFLOW_PER_BATCH, address_key(usdc)) == 0
    assert SpendingLimits.objects.get(golem=live.golem).writes_per_hour == 0
