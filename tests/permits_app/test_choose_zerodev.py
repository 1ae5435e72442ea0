"""A smart account through the owners' operation: read from the chain, shown, approved, and refused where it is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from eth_account import Account

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.stage_key import stage_key
from permits_app.approvals.request_digest import export_request, verify_export
from permits_app.custody.signers import choose_signer
from permits_app.errors import SignerUnavailable
from permits_app.models import ChangeRequest, SigningKey, Wallet
from permits_app.models.approval import ChangeState
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.execution.signers.bundler_stand_in import BundlerStandIn, serve_bundler
from tests.permits_app.execution.signers.privy_stand_in import WALLET_ID, serve_privy
from tests.permits_app.execution.signers.smart_accounts import SmartAccounts, deploy_smart_accounts
from tests.permits_app.test_choose_signer import ask, carry_out
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.standards import zerodev_kernel


@pytest.fixture
def accounts(live_golem: LiveGolem) -> SmartAccounts:
    return deploy_smart_accounts(live_golem.world)


@pytest.fixture
def bundler(accounts: SmartAccounts, monkeypatch: pytest.MonkeyPatch) -> Iterator[BundlerStandIn]:
    with serve_bundler(accounts) as stand_in:
        monkeypatch.setattr(choose_signer, "_zerodev", stand_in.client())
        yield stand_in


def test_an_account_that_is_not_there_is_asked_for_made_by_anybody_and_taken(
    live_golem: LiveGolem, accounts: SmartAccounts, bundler: BundlerStandIn
) -> None:
    staged = stage_key(golem=live_golem.golem, reason="x", actor="system:test", now=clock.now())
    with pytest.raises(SignerUnavailable, match="no account lies at") as told:
        ask(live_golem, kind="ZERODEV")
    anybody = live_golem.world.new_account(10**18)
    sent = live_golem.world.send(anybody, str(told.value.data["to"]), str(told.value.data["data"]))
    assert sent["status"] == "0x1" and told.value.data["to"] == zerodev_kernel.FACTORY
    request = ask(live_golem, kind="ZERODEV")
    shown = {line["words"]: (line["after"], line["note"]) for line in request.shown["differences"]}
    account = told.value.data["address"]
    assert shown["Account"][0] == account and shown["Signs"][0] == staged.address
    assert "it pays its gas itself; limits are enforced by this server only" in shown["Wallet"][1]
    assert request.risk_tier == "CRITICAL"
    assert verify_export(export_request(request))
    assert carry_out(request, live_golem.owner).state == ChangeState.EXECUTED, request.problem
    live_golem.golem.refresh_from_db()
    assert live_golem.golem.address == account
    wallet, key = Wallet.objects.get(golem=live_golem.golem), SigningKey.objects.get(account=account)
    assert (wallet.kind, wallet.address, key.address, key.state) == (
        WalletKind.ZERODEV,
        account,
        staged.address,
        KeyState.ACTIVE,
    )
    live_golem.world.fund(str(account), 10**18, FUNDS)
    assert live_golem.commit(live_golem.preview()["permit_id"])["status"] == "COMMITTED"


def test_the_paymaster_is_shown_to_who_decides(
    live_golem: LiveGolem, accounts: SmartAccounts, bundler: BundlerStandIn, settings: Any
) -> None:
    settings.GOLEM_ZERODEV_PAYMASTER = accounts.paymaster
    account = accounts.make_account(SigningKey.objects.get(golem=live_golem.golem).address)
    request = ask(live_golem, kind="ZERODEV", account=account)
    assert f"the paymaster {accounts.paymaster} pays the gas" in str(request.shown)


def test_accounts_of_other_keys_and_what_is_no_kernel_are_refused(
    live_golem: LiveGolem, accounts: SmartAccounts, bundler: BundlerStandIn
) -> None:
    others = accounts.make_account(Account.create().address)
    with pytest.raises(SignerUnavailable, match="no such key"):
        ask(live_golem, kind="ZERODEV", account=others)
    for odd in (accounts.paymaster, live_golem.golem.address, live_golem.world.tokens["USDC"].address):
        with pytest.raises(InvalidParams, match="does not answer as Kernel"):
            ask(live_golem, kind="ZERODEV", account=odd)
    with pytest.raises(InvalidParams, match="is an address"):
        ask(live_golem, kind="ZERODEV", account="0x12")
    uninstalled = accounts.make_account(SigningKey.objects.get(golem=live_golem.golem).address)
    live_golem.world.fund(uninstalled, 10**18)
    rpc = live_golem.world.rpc
    rpc.call("anvil_impersonateAccount", uninstalled)
    data = "0x8a91b0e3" + f"{32:064x}" + f"{0:064x}"
    live_golem.world.wait(
        rpc.call("eth_sendTransaction", {"from": uninstalled, "to": zerodev_kernel.ECDSA_VALIDATOR, "data": data})
    )
    with pytest.raises(SignerUnavailable, match="not ruled by one key"):
        ask(live_golem, kind="ZERODEV", account=uninstalled)
    assert not ChangeRequest.objects.exists()


def test_an_owner_at_privy_signs_the_operations_and_another_wallet_there_does_not(
    live_golem: LiveGolem, accounts: SmartAccounts, bundler: BundlerStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_privy() as privy:
        monkeypatch.setattr(choose_signer, "_privy", privy.client())
        with pytest.raises(SignerUnavailable, match="not by the wallet at Privy"):
            others = accounts.make_account(Account.create().address)
            ask(live_golem, kind="ZERODEV", account=others, wallet_id=WALLET_ID)
        account = accounts.make_account(privy.account.address)
        live_golem.world.fund(account, 10**19, FUNDS)
        request = ask(live_golem, kind="ZERODEV", wallet_id=WALLET_ID)
        shown = {line["words"]: (line["after"], line["note"]) for line in request.shown["differences"]}
        assert (shown["Account"][0], shown["Signs"][0]) == (account, privy.account.address)
        assert "its key at Privy alone owns" in shown["Wallet"][1]
        assert carry_out(request, live_golem.owner).state == ChangeState.EXECUTED, request.problem
        live_golem.golem.refresh_from_db()
        key = SigningKey.objects.get(golem=live_golem.golem, state=KeyState.ACTIVE)
        assert (key.holder, key.external_id, key.account) == ("PRIVY", WALLET_ID, account)
        done = live_golem.commit(live_golem.preview()["permit_id"])
        assert done["status"] == "COMMITTED", done
        asked = [json.loads(body)["method"] for method, _, _, body in privy.seen if method == "POST"]
        assert asked == ["personal_sign"]
        # What the wallet answers for another operation is refused before the bundler sees anything.
        carried = list(bundler.carried)
        privy.twist = lambda answer: {**answer, "data": {**answer["data"], "signature": "0x" + "11" * 64 + "1b"}}
        refused = live_golem.commit(live_golem.preview()["permit_id"])
        assert (refused["status"], bundler.carried) == ("BLOCKED", carried)


def test_without_a_project_or_with_another_chains_bundler_nothing_is_asked(
    live_golem: LiveGolem, bundler: BundlerStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundler.answers["eth_chainId"] = "0x1"
    with pytest.raises(SignerUnavailable, match="another chain"):
        ask(live_golem, kind="ZERODEV")
    monkeypatch.setattr(choose_signer, "_zerodev", None)
    with pytest.raises(SignerUnavailable, match="GOLEM_ZERODEV_PROJECT_ID_FILE"):
        ask(live_golem, kind="ZERODEV")


def test_an_owner_asks_for_it_on_the_wallets_page_and_sees_whose_key_signs(
    live_golem: LiveGolem, accounts: SmartAccounts, bundler: BundlerStandIn, client: Client
) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    client.force_login(live_golem.owner)
    key = SigningKey.objects.get(golem=live_golem.golem)
    account = accounts.make_account(key.address)
    wallet = Wallet.objects.get(golem=live_golem.golem)
    page = reverse("admin:permits_app_wallet_choose_signer", args=[wallet.pk])
    assert "through ZeroDev" in client.get(page).content.decode()
    answer = client.post(page, {"kind": "ZERODEV", "account": account, "reason": "no coins for gas"}, follow=True)
    assert answer.status_code == 200
    request = ChangeRequest.objects.get()
    shown = {line["words"]: line["after"] for line in request.shown["differences"]}
    assert (shown["Account"], shown["Signs"]) == (account, key.address)
