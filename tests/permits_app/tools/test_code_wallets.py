"""A golem's account that runs known code (EIP-7702): taken up when its owners agreed, told, and dropped on leaving."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from permits_app.approval_errors import RelayerRefuses
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.safe_view import open_chain
from permits_app.custody.signers.base import SignedAuthorization
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.custody.signers.local import LocalSigner
from permits_app.errors import PolicyRejected, SignerMismatch
from permits_app.gas_relayer import RelayOrder, send_order
from permits_app.models import RelayedTransaction, SigningKey, Wallet
from permits_app.models.owner_transaction import RelayPurpose
from permits_app.models.wallet import WalletKind
from permits_app.tasks import commit_openings_task
from permits_app.tools.wallet_provision import ProviderNeedsOwner
from tests.evm.world import CHAIN_ID
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.safes import make_relayer
from tests.permits_app.safety.test_delegated_accounts import list_pages, sign_in
from tests.permits_app.tools.test_wallet_life import COIN, ask, decide, permit_of, without_a_wallet
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.protocols.metamask.addresses import DELEGATOR, place_on

pytestmark = pytest.mark.protocols("metamask")
SOMEBODY = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
CODE = place_on(CHAIN_ID)[DELEGATOR]


def code_of(live: LiveGolem, account: str) -> str:
    return str(live.world.rpc.call("eth_getCode", account, "latest")).lower()


def names(contract: str) -> str:
    """The code of an account that runs that of `contract`."""
    return "0xef0100" + contract[2:].lower()


@pytest.fixture
def asked(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> LiveGolem:
    """A golem whose owners agreed to a new account with code; the chain has nothing of it yet."""
    live, _, other = two_owners
    without_a_wallet(live)
    make_relayer(live, settings)
    done = decide(ask(live, "provision", provider="eip7702", label="first"), other)
    assert done.state == "EXECUTED", done.problem
    told = permit_of(done).result["data"]
    assert (told["provider"], told["account_type"]) == ("eip7702", "eip7702")
    live.golem.refresh_from_db()
    live.world.fund(live.golem.address, 10 * COIN, FUNDS)
    return live


@pytest.fixture
def coded(asked: LiveGolem) -> LiveGolem:
    """The same, once the chain has it."""
    assert commit_openings_task.run()["codes_sent"] == 1
    assert code_of(asked, asked.golem.address) == names(CODE)
    return asked


def test_an_account_takes_up_the_code_that_its_owners_agreed_to_and_acts_then_and_not_before(asked: LiveGolem) -> None:
    account = asked.golem.address
    with pytest.raises(PolicyRejected) as refused:
        asked.preview()
    assert refused.value.data["rule"] == "simulator.account_code_awaited"
    assert refused.value.data["contract"] == CODE and "by itself" in refused.value.data["would_pass"]

    assert commit_openings_task.run()["codes_sent"] == 1
    assert code_of(asked, account) == names(CODE)
    for _ in range(2):
        assert commit_openings_task.run()["codes_sent"] == 0
    relayed = RelayedTransaction.objects.get()
    assert (relayed.purpose, relayed.to, relayed.data, relayed.raw[:4]) == ("DELEGATE", account, "0x", "0x04")
    assert asked.commit(asked.preview()["permit_id"])["status"] == "COMMITTED"
    assert asked.mined_nonce() > 1, "its own word took the first nonce"
    assert AuditEntry.objects.filter(golem_id=asked.golem.pk, event="AccountCodeSent").count() == 1


def test_owners_read_that_it_runs_what_they_agreed_to_and_nobody_is_alarmed(coded: LiveGolem) -> None:
    first, golem, cockpit = list_pages(coded, sign_in(coded.owner))
    assert CODE not in first
    for page in (golem, cockpit):
        assert CODE in page and "as you agreed" in page.replace("\n", " ") and "somebody else has the key" not in page
    assert not OutboxEvent.objects.filter(golem_id=coded.golem.pk, type="signer:delegated").exists()


def test_the_code_is_dropped_once_the_golem_acts_with_another_account(coded: LiveGolem) -> None:
    left = coded.golem.address
    key = open_keystore().create()
    choice = WalletChoice(kind=WalletKind.LOCAL_KEYSTORE, address=key, key=key)
    choose_wallet(golem=coded.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
    assert Wallet.objects.get(golem=coded.golem).runs == {}
    assert commit_openings_task.run()["codes_sent"] == 1
    assert code_of(coded, left) in ("0x", "")
    assert commit_openings_task.run()["codes_sent"] == 0
    assert not SigningKey.objects.filter(had_code=True).exists()
    assert SigningKey.objects.get(address=left).delegated == {}


def test_the_code_is_dropped_once_the_golem_was_retired(coded: LiveGolem) -> None:
    coded.golem.retired_at = clock.now()
    coded.golem.save(update_fields=["retired_at"])
    assert commit_openings_task.run()["codes_sent"] == 1
    assert code_of(coded, coded.golem.address) in ("0x", "")


def test_what_a_reorganisation_took_out_is_sent_again(coded: LiveGolem) -> None:
    coded.world.rpc.call("anvil_setCode", coded.golem.address, "0x")
    coded.world.rpc.call("evm_mine")
    assert commit_openings_task.run()["codes_sent"] == 1
    assert code_of(coded, coded.golem.address) == names(CODE)


def test_nothing_is_signed_while_the_golem_has_something_under_way(asked: LiveGolem) -> None:
    SigningKey.objects.filter(golem=asked.golem).update(had_code=False)
    Wallet.objects.filter(golem=asked.golem).update(runs={})
    asked.golem = type(asked.golem).objects.get(pk=asked.golem.pk)
    permit = asked.preview()["permit_id"]
    asked.start(permit)
    found = {str(CHAIN_ID): {"contract": CODE, "code_hash": "0x"}}
    SigningKey.objects.filter(golem=asked.golem).update(had_code=True)
    Wallet.objects.filter(golem=asked.golem).update(runs=found)
    assert commit_openings_task.run()["codes_sent"] == 0
    assert not RelayedTransaction.objects.exists()


def test_other_code_than_owners_were_shown_is_not_taken_up(asked: LiveGolem) -> None:
    before = code_of(asked, CODE)
    asked.world.rpc.call("anvil_setCode", CODE, "0x6001")
    asked.world.rpc.call("evm_mine")
    try:
        assert commit_openings_task.run()["codes_sent"] == 0
        assert code_of(asked, asked.golem.address) in ("0x", "")
    finally:
        asked.world.rpc.call("anvil_setCode", CODE, before)
        asked.world.rpc.call("evm_mine")


def test_somebody_else_s_code_is_an_alarm_stops_it_and_is_not_fought_over(coded: LiveGolem) -> None:
    coded.world.rpc.call("anvil_setCode", coded.golem.address, names(SOMEBODY))
    coded.world.rpc.call("evm_mine")
    assert commit_openings_task.run()["codes_sent"] == 0
    with pytest.raises(PolicyRejected) as refused:
        coded.preview()
    assert refused.value.data["rule"] == "simulator.account_delegated"
    assert OutboxEvent.objects.filter(golem_id=coded.golem.pk, type="signer:delegated").count() == 1
    assert "somebody else has the key" in sign_in(coded.owner).get(reverse("admin:index")).content.decode()


def test_a_key_gives_its_word_for_known_code_alone_and_the_relayer_carries_no_other(asked: LiveGolem) -> None:
    signer = LocalSigner(keystore=open_keystore(), address=asked.golem.address)
    with pytest.raises(SignerMismatch):
        signer.sign_authorization(chain_id=CHAIN_ID, contract=SOMEBODY, nonce=0)
    good = signer.sign_authorization(chain_id=CHAIN_ID, contract=CODE, nonce=0)
    key = SigningKey.objects.get(address=asked.golem.address)
    wrong: tuple[tuple[dict[str, Any], type[Exception]], ...] = (
        ({"authorization": None}, RelayerRefuses),
        ({"data": b"\x01"}, RelayerRefuses),
        ({"to": SOMEBODY}, RelayerRefuses),
        ({"authorization": SignedAuthorization(CHAIN_ID, SOMEBODY, 0, good.y_parity, good.r, good.s)}, SignerMismatch),
    )
    for changes, refusal in wrong:
        told = {"to": key.address, "data": b"", "authorization": good, "key": key, **changes}
        order = RelayOrder(purpose=RelayPurpose.DELEGATE, **told)
        with pytest.raises(refusal):
            send_order(order=order, chain=open_chain(CHAIN_ID, now=clock.now()), now=clock.now())
    assert not RelayedTransaction.objects.exists()


def test_without_a_relayer_it_is_refused_with_what_makes_one(two_owners: tuple[LiveGolem, Any, Any]) -> None:
    live, _, _ = two_owners
    without_a_wallet(live)
    with pytest.raises(ProviderNeedsOwner) as refused:
        ask(live, "provision", provider="eip7702")
    assert "manage.py relayer --create" in refused.value.detail
    assert refused.value.data["provider"] == "eip7702"
