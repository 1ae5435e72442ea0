"""A wallet's life by tools: wallet_provision, wallet_fund and wallet_migrate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from archetypes_app.models import Golem
from golem_project.runtime import local_faucet
from permits_app.custody.signers import choose_signer
from permits_app.errors import SignerMismatch, WalletExists
from permits_app.models import (
    ActionPermit,
    AllowlistEntry,
    ChangeRequest,
    FormerAccount,
    SigningKey,
    SpendingLimits,
    Wallet,
)
from permits_app.tools.wallet_fund import FundingNeedsPeople
from permits_app.tools.wallet_migrate import MOST_MOVED, DestinationNotRegistered, NothingToMigrate
from permits_app.tools.wallet_provision import ProviderNeedsOwner
from tests.evm.world import CHAIN_ID
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve, carry_out
from tests.permits_app.execution.signers.kms_stand_in import serve_kms
from tests.permits_app.execution.signers.privy_stand_in import serve_privy
from tests.permits_app.execution.signers.turnkey_stand_in import serve_turnkey
from tests.permits_app.execution.test_safe_wallet import Safe
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.runner import check_params
from tools_app.toolkit.faucets import FaucetMissing
from tools_app.toolkit.registry import REGISTRY

OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
USD = 10**6
COIN = 10**18
_NO_SWAP = {"venue": "wallet", "token_in": None, "token_out": None, "amount": None}


def ask(live: LiveGolem, action_type: str, **wish: Any) -> dict[str, Any]:
    return live.preview(action_type=action_type, **{**_NO_SWAP, **wish})


def decide(permit: dict[str, Any], by: Any) -> ChangeRequest:
    """The owner approves, and the wait is over."""
    assert (permit["status"], permit["missing"]) == ("AWAITING_APPROVAL", ["approval"]), permit
    request = approve(ChangeRequest.objects.get(permit_id=permit["permit_id"]), by)
    return carry_out(request)


def permit_of(request: ChangeRequest) -> ActionPermit:
    """The permit that asked."""
    assert request.permit is not None
    return request.permit


def register(live: LiveGolem, recipient: str = OTHER) -> None:
    """As owners prepare a migration: where it goes, and limits that take all of it."""
    everything = 200_000 * USD
    SpendingLimits.objects.filter(golem=live.golem).update(
        per_transaction_micro_usd=everything,
        per_tick_micro_usd=everything,
        per_session_micro_usd=everything,
        per_day_micro_usd=2 * everything,
    )
    AllowlistEntry.objects.create(
        golem=live.golem, chain_id=CHAIN_ID, kind="RECIPIENT", address=recipient, label="mine"
    )


def without_a_wallet(live: LiveGolem) -> Golem:
    """As a golem is before it has one."""
    SigningKey.objects.filter(golem=live.golem).delete()
    Wallet.objects.filter(golem=live.golem).delete()
    Golem.objects.filter(pk=live.golem.pk).update(address="")
    live.golem.refresh_from_db()
    return live.golem


def held_by(live: LiveGolem, account: str, symbol: str) -> int:
    world = live.world
    if symbol == "ETH":
        return int(world.rpc.call("eth_getBalance", account, "latest"), 16)
    return world.rpc.balance_of(world.tokens[symbol].address, account)


def test_a_golem_without_a_wallet_gets_one_when_its_owner_agreed_and_not_before(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, _, other = two_owners
    without_a_wallet(live)
    permit = ask(live, "provision", provider="local", label="first")
    assert not Wallet.objects.filter(golem=live.golem).exists()
    done = decide(permit, other)
    wallet = Wallet.objects.get(golem=live.golem)
    assert (done.state, permit_of(done).status) == ("EXECUTED", "COMMITTED"), done.problem
    told = permit_of(done).result["data"]
    assert (told["address"], told["account_type"], told["chain_id"]) == (wallet.address, "eoa", CHAIN_ID)
    live.golem.refresh_from_db()
    assert live.golem.address == wallet.address


def test_a_golem_with_a_wallet_is_told_where_another_is_chosen(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, _ = two_owners
    with pytest.raises(WalletExists) as refused:
        ask(live, "provision")
    assert "Choose who signs" in refused.value.detail
    assert not ChangeRequest.objects.exists()


@pytest.mark.parametrize("provider", ["privy", "zerodev", "turnkey", "kms", "eip7702"])
def test_a_provider_that_makes_no_wallet_here_is_refused_by_name_with_what_to_do(
    two_owners: tuple[LiveGolem, Any, Any], provider: str
) -> None:
    live, _, _ = two_owners
    without_a_wallet(live)
    with pytest.raises(ProviderNeedsOwner) as refused:
        ask(live, "provision", provider=provider)
    assert (refused.value.code, refused.value.recovery) == ("WALLET_PROVIDER_NOT_HERE", "ASK_OWNER")
    assert refused.value.data["provider"] == provider and len(refused.value.detail) > 30


@contextmanager
def keeper_of(provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A local server of the provider's published shapes, asked by this server. Privy's wants signed requests."""
    serve: Any = {"privy": partial(serve_privy, needs_authorization=True), "turnkey": serve_turnkey, "kms": serve_kms}
    with serve[provider]() as stand_in:
        monkeypatch.setattr(choose_signer, f"_{provider}", stand_in.client())
        yield stand_in


@pytest.mark.parametrize("provider", ["privy", "turnkey", "kms"])
def test_a_key_elsewhere_is_made_when_it_is_asked_for_and_acts_once_its_owners_agreed(
    two_owners: tuple[LiveGolem, Any, Any], provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, other = two_owners
    without_a_wallet(live)
    with keeper_of(provider, monkeypatch) as keeper:
        permit = ask(live, "provision", provider=provider, label="first")
        key = SigningKey.objects.get(golem=live.golem)
        assert (key.state, key.external_id != "") == ("STAGED", True)
        assert not Wallet.objects.filter(golem=live.golem).exists()
        made = len(keeper.seen)
        with pytest.raises(WalletExists):
            ask(live, "provision", provider="turnkey" if provider != "turnkey" else "kms")
        done = decide(permit, other)
        assert (done.state, permit_of(done).status) == ("EXECUTED", "COMMITTED"), done.problem
        told = permit_of(done).result["data"]
        assert (told["address"], told["account_type"]) == (key.address, "eoa")
        live.golem.refresh_from_db()
        key.refresh_from_db()
        assert (live.golem.address, key.state) == (key.address, "ACTIVE")
        assert len(keeper.seen) == made, "what was approved is the key that was shown"
        live.world.fund(key.address, 10 * COIN, FUNDS)
        swap = live.preview()
        assert live.commit(swap["permit_id"])["status"] == "COMMITTED"


def test_asking_twice_for_a_key_elsewhere_makes_one(
    two_owners: tuple[LiveGolem, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, _ = two_owners
    without_a_wallet(live)
    with keeper_of("kms", monkeypatch) as keeper:
        ask(live, "provision", provider="kms", label="first")
        ask(live, "provision", provider="kms", label="another word")
        assert len(keeper.keys) == 1 == SigningKey.objects.filter(golem=live.golem).count()


def test_a_wallet_at_privy_has_a_policy_that_exports_nothing_and_knows_its_chains(
    two_owners: tuple[LiveGolem, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, _ = two_owners
    without_a_wallet(live)
    with keeper_of("privy", monkeypatch) as privy:
        ask(live, "provision", provider="privy")
        policy, wallet = privy.made.values()
        assert {rule["method"] for rule in policy["rules"]} == {"eth_signTransaction", "eth_signTypedData_v4"}
        assert all(rule["conditions"][0]["value"] == [str(CHAIN_ID)] for rule in policy["rules"])
        assert wallet["external_id"] == f"golem-{live.golem.pk}"
        others: tuple[dict[str, Any], ...] = ({"policy_ids": []}, {"id": None}, {"address": OTHER})
        for other in others:
            SigningKey.objects.filter(golem=live.golem).delete()
            privy.twist = partial(lambda new, told: {**told, **new} if "policy_ids" in told else told, other)
            with pytest.raises(SignerMismatch):
                ask(live, "provision", provider="privy", label=" ".join(other))
        assert not SigningKey.objects.filter(golem=live.golem).exists()


def test_a_safe_that_owners_made_is_taken_up_with_their_approval(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, other = two_owners
    safe, before = Safe(live), live.golem.address
    with pytest.raises(InvalidParams):
        ask(live, "provision", provider="safe")
    with pytest.raises(InvalidParams):
        ask(live, "provision", provider="safe", address=live.world.tokens["USDC"].address)
    done = decide(ask(live, "provision", provider="safe", address=safe.address), other)
    assert done.state == "EXECUTED", done.problem
    assert permit_of(done).result["data"]["account_type"] == "safe"
    live.golem.refresh_from_db()
    assert live.golem.address == safe.address
    assert FormerAccount.objects.get(golem=live.golem).address == before


def test_the_faucet_gives_a_bounded_gift_on_the_local_chain(live_golem: LiveGolem) -> None:
    had, coins = live_golem.balance("USDC"), held_by(live_golem, live_golem.golem.address, "ETH")
    done = live_golem.commit(ask(live_golem, "fund", source="faucet", token="USDC", amount=str(7 * USD))["permit_id"])
    assert done["status"] == "COMMITTED", done
    assert live_golem.balance("USDC") - had == 7 * USD
    assert done["result"]["data"]["tx_hash"] is None
    assert live_golem.commit(ask(live_golem, "fund", source="faucet")["permit_id"])["status"] == "COMMITTED"
    assert held_by(live_golem, live_golem.golem.address, "ETH") - coins == COIN
    with pytest.raises(InvalidParams):
        ask(live_golem, "fund", source="faucet", token="USDC", amount=str(15_001 * USD))
    assert live_golem.mined_nonce() == 0


@pytest.mark.parametrize("source", ["transfer", "bridge"])
def test_real_money_is_an_owners_to_send_and_the_refusal_says_where(live_golem: LiveGolem, source: str) -> None:
    with pytest.raises(FundingNeedsPeople) as refused:
        ask(live_golem, "fund", source=source, token="USDC")
    assert refused.value.recovery == "ASK_OWNER"
    assert live_golem.golem.address in refused.value.detail and str(CHAIN_ID) in refused.value.detail


def test_a_chain_without_a_faucet_gives_nothing(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_faucet, "_LOCAL", frozenset())
    with pytest.raises(FaucetMissing) as refused:
        ask(live_golem, "fund", source="faucet")
    assert live_golem.golem.address in refused.value.detail


def test_everything_moves_to_a_registered_wallet_tokens_first_and_the_coin_last(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, _, other = two_owners
    account = live.golem.address
    with pytest.raises(DestinationNotRegistered):
        ask(live, "migrate", recipient=OTHER)
    register(live)
    had = {symbol: held_by(live, account, symbol) for symbol in ("USDC", "WETH", "DAI", "ETH")}
    there = {symbol: held_by(live, OTHER, symbol) for symbol in had}
    permit = ask(live, "migrate", recipient=OTHER)
    moves = ActionPermit.objects.get(pk=permit["permit_id"]).expected_outcome["details"]["moves"]
    assert len(moves) == 4 and moves[-1].endswith("ETH")
    assert held_by(live, OTHER, "USDC") == there["USDC"], "the preview is the dry run"
    done = decide(permit, other)
    assert (done.state, permit_of(done).status) == ("EXECUTED", "COMMITTED"), (done.problem, permit_of(done).result)
    moved = {symbol: held_by(live, OTHER, symbol) - there[symbol] for symbol in had}
    assert moved == {**had, "ETH": had["ETH"] - 10**16}
    assert all(held_by(live, account, symbol) == 0 for symbol in ("USDC", "WETH", "DAI"))
    assert 0 < held_by(live, account, "ETH") <= 10**16
    told = permit_of(done).result["data"]
    assert len(told["tx_hashes"]) == 4 and len(told["total_migrated"]) == 4


def test_a_migration_that_moved_a_part_goes_on_with_what_is_still_there(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, _, other = two_owners
    register(live)
    had = held_by(live, live.golem.address, "WETH")
    there = held_by(live, OTHER, "WETH")
    first = decide(ask(live, "migrate", recipient=OTHER, tokens=["USDC"]), other)
    assert permit_of(first).status == "COMMITTED"
    second = decide(ask(live, "migrate", recipient=OTHER, include_coin=False), other)
    assert permit_of(second).status == "COMMITTED", second.problem
    moves = permit_of(second).expected_outcome["details"]["moves"]
    assert len(moves) == 2 and not any("USDC" in each for each in moves)
    assert held_by(live, OTHER, "WETH") - there == had
    with pytest.raises(NothingToMigrate):
        ask(live, "migrate", recipient=OTHER, include_coin=False)


def test_a_migration_waits_for_owners_and_a_stranger_is_paid_nothing(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, _ = two_owners
    register(live)
    permit = ask(live, "migrate", recipient=OTHER)
    with pytest.raises(GolemError) as refused:
        live.start(permit["permit_id"])
    assert refused.value.code in {"APPROVAL_REQUIRED", "PERMIT_NOT_COMMITTABLE", "PERMIT_AWAITING_APPROVAL"}
    AllowlistEntry.objects.filter(golem=live.golem, address=OTHER).delete()
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    assert request.state == "OPEN"
    with pytest.raises(DestinationNotRegistered):
        ask(live, "migrate", recipient=OTHER, tokens=["USDC"])


def test_the_older_name_of_setting_up_a_wallet_is_answered() -> None:
    assert REGISTRY.get("bootstrap_setup_wallet").name == "wallet_provision"


def test_a_migration_names_twelve_tokens_at_most() -> None:
    tool = REGISTRY.get("wallet_migrate")
    named = [f"T{number}" for number in range(MOST_MOVED)]
    assert MOST_MOVED == 12
    assert check_params(tool=tool, params={"recipient": OTHER, "tokens": named})
    with pytest.raises(InvalidParams) as refused:
        check_params(tool=tool, params={"recipient": OTHER, "tokens": [*named, "T99"]})
    assert "tokens" in refused.value.data["fields"]
