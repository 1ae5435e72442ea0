"""Privy as a signer, against a local server of its API's shapes: what is signed is what was asked for, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from eth_account import Account
from hypothesis import example, given
from hypothesis import strategies as st

from golem_project import wiring
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.signers import choose_signer
from permits_app.custody.signers.base import UnsignedTransaction
from permits_app.custody.signers.check_signed_bytes import check_signed
from permits_app.custody.signers.eth_account_library import recover_signer
from permits_app.custody.signers.privy import PrivySigner
from permits_app.errors import SignerMismatch, SignerUnavailable
from permits_app.models import OutboundTransaction, SigningKey
from permits_app.models.signing_key import KeyHolder, KeyState
from permits_app.models.wallet import WalletKind
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.execution.signers.privy_stand_in import APP_SECRET, WALLET_ID, PrivyStandIn, serve_privy
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.taint import Secret

ELSEWHERE, THIEF = checksum("0x" + "aa" * 20), checksum("0x" + "bb" * 20)
PLAIN = UnsignedTransaction(
    chain_id=31337,
    nonce=7,
    to=ELSEWHERE,
    value=10**19,
    data=b"\x01\x02",
    gas_limit=90_000,
    max_fee_per_gas=3 * 10**9,
    max_priority_fee_per_gas=10**9,
)

US = Account.from_key("0x" + "11" * 32)
OUR_RAW = bytes(
    US.sign_transaction(
        {
            "type": 2,
            "chainId": PLAIN.chain_id,
            "nonce": PLAIN.nonce,
            "to": PLAIN.to,
            "value": PLAIN.value,
            "data": PLAIN.data,
            "gas": PLAIN.gas_limit,
            "maxFeePerGas": PLAIN.max_fee_per_gas,
            "maxPriorityFeePerGas": PLAIN.max_priority_fee_per_gas,
        }
    ).raw_transaction
)


@pytest.fixture
def privy() -> Iterator[PrivyStandIn]:
    with serve_privy() as stand_in:
        yield stand_in


def signer_of(privy: PrivyStandIn, **changes: Any) -> PrivySigner:
    return PrivySigner(client=privy.client(**changes), address=privy.account.address, wallet_id=WALLET_ID)


def test_the_signed_bytes_are_the_transaction_that_was_asked_for(privy: PrivyStandIn) -> None:
    signed = signer_of(privy).sign(PLAIN)
    assert Account.recover_transaction(signed.raw) == privy.account.address
    check_signed(signed.raw, transaction=PLAIN, address=privy.account.address)
    assert signed.tx_hash.startswith("0x") and len(signed.tx_hash) == 66


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("to", THIEF),
        ("value", 10**19 + 1),
        ("nonce", 8),
        ("data", "0x0103"),
        ("gas", 90_001),
        ("maxFeePerGas", 4 * 10**9),
        ("maxPriorityFeePerGas", 2 * 10**9),
        ("chainId", 1),
        ("accessList", [{"address": THIEF, "storageKeys": []}]),
    ],
)
def test_an_answer_that_signs_anything_else_is_refused(privy: PrivyStandIn, field: str, value: Any) -> None:
    privy.change = {field: value}
    with pytest.raises(SignerMismatch) as refused:
        signer_of(privy).sign(PLAIN)
    assert refused.value.data.get("field") == field


@example(position=len(OUR_RAW) - 67, flip=0x1D, cut=0).via("a parity of 28, which the library reads as 1")
@example(position=len(OUR_RAW) - 67, flip=0x1C, cut=0)
@example(position=177, flip=29, cut=0)
@given(position=st.integers(0, 400), flip=st.integers(1, 255), cut=st.integers(0, 3))
def test_no_changed_byte_of_an_answer_gets_through(position: int, flip: int, cut: int) -> None:
    raw = bytearray(OUR_RAW)
    raw[position % len(raw)] ^= flip
    with pytest.raises(SignerMismatch):
        check_signed(bytes(raw[: len(raw) - cut]), transaction=PLAIN, address=US.address)


def test_another_keys_signature_is_refused(privy: PrivyStandIn) -> None:
    signer = signer_of(privy)
    privy.account = Account.create()
    with pytest.raises(SignerMismatch, match="another key"):
        signer.sign(PLAIN)


@pytest.mark.parametrize(
    "twist",
    [
        lambda answer: {**answer, "method": "eth_sendTransaction"},
        lambda answer: {**answer, "data": {**answer["data"], "encoding": "base64"}},
        lambda answer: {**answer, "data": {**answer["data"], "signed_transaction": "0x02zz"}},
        lambda answer: {**answer, "data": {**answer["data"], "signed_transaction": "0x02c0"}},
        lambda answer: {**answer, "data": {**answer["data"], "signed_transaction": "0x"}},
        lambda answer: {**answer, "data": None},
        lambda answer: ["no object"],
        lambda answer: b"no json",
        lambda answer: b"{" + b" " * 300_000 + b"}",
    ],
)
def test_an_answer_of_another_shape_is_refused(privy: PrivyStandIn, twist: Any) -> None:
    privy.twist = twist
    with pytest.raises(SignerMismatch):
        signer_of(privy).sign(PLAIN)


def test_a_message_is_signed_by_the_wallet_and_only_that_message(privy: PrivyStandIn) -> None:
    signature = signer_of(privy).sign_message(b"\x01" * 32, chain_id=31337)
    assert recover_signer(b"\x01" * 32, signature) == privy.account.address
    with serve_privy() as other:
        privy.account = other.account
        with pytest.raises(SignerMismatch, match="another key"):
            PrivySigner(client=privy.client(), address=US.address, wallet_id=WALLET_ID).sign_message(b"x", chain_id=1)


@pytest.mark.parametrize(
    "twist",
    [
        lambda answer: {**answer, "method": "eth_signTransaction"},
        lambda answer: {**answer, "data": {**answer["data"], "encoding": "base64"}},
        lambda answer: {**answer, "data": {**answer["data"], "signature": "0x12zz"}},
        lambda answer: {**answer, "data": {**answer["data"], "signature": answer["data"]["signature"] + "00"}},
        lambda answer: {**answer, "data": {**answer["data"], "signature": answer["data"]["signature"][:-2] + "00"}},
        lambda answer: {**answer, "data": {**answer["data"], "signature": "0x" + "00" * 64 + "1b"}},
        lambda answer: {**answer, "data": {**answer["data"], "signature": "0x" + "11" * 64 + "1b"}},
        lambda answer: {**answer, "data": None},
    ],
)
def test_a_signature_of_another_shape_or_key_is_refused(privy: PrivyStandIn, twist: Any) -> None:
    privy.twist = twist
    with pytest.raises(SignerMismatch):
        signer_of(privy).sign_message(b"\x01" * 32, chain_id=31337)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 302])
def test_a_refusal_is_told_without_the_strangers_words(privy: PrivyStandIn, status: int) -> None:
    privy.status = status
    with pytest.raises(SignerUnavailable) as refused:
        signer_of(privy).sign(PLAIN)
    assert "refused by this test" not in refused.value.detail


def test_the_authorization_signature_is_over_the_request_that_is_sent() -> None:
    with serve_privy(needs_authorization=True) as privy:
        assert signer_of(privy).sign(PLAIN).raw
        with pytest.raises(SignerUnavailable, match="credentials"):
            signer_of(privy, authorization_key=None).sign(PLAIN)
        with serve_privy(needs_authorization=True) as other:
            with pytest.raises(SignerUnavailable, match="credentials"):
                signer_of(privy, authorization_key=other.authorization_key).sign(PLAIN)


def test_an_authorization_key_that_is_none_is_said_before_anything_is_sent(privy: PrivyStandIn) -> None:
    for text in ("wallet-auth:AAAA", "not base64!"):
        with pytest.raises(SignerUnavailable, match="does not open"):
            signer_of(privy, authorization_key=Secret(text)).sign(PLAIN)
    assert privy.seen == []


def test_private_addresses_are_not_asked_unless_the_operator_says_so(privy: PrivyStandIn) -> None:
    with pytest.raises(SignerUnavailable, match="https"):
        signer_of(privy, allows_private=False).sign(PLAIN)
    with pytest.raises(SignerUnavailable, match="not public"):
        signer_of(privy, allows_private=False, url="https://127.0.0.1").sign(PLAIN)
    with pytest.raises(SignerUnavailable, match="not one of the web"):
        signer_of(privy, allows_private=False, url="https://127.0.0.1:9").sign(PLAIN)
    assert privy.seen == []


def test_a_wallet_id_leads_nowhere_else(privy: PrivyStandIn) -> None:
    for wallet_id in ("", "../../v1/apps", "a/b", "a?b", "a b", "ä"):
        with pytest.raises(InvalidParams):
            privy.client().read_address(wallet_id)
    assert privy.seen == []


def test_the_address_is_read_from_the_wallet_itself(privy: PrivyStandIn) -> None:
    assert privy.client().read_address(WALLET_ID) == privy.account.address
    privy.twist = lambda answer: {**answer, "chain_type": "solana"}
    with pytest.raises(SignerMismatch):
        privy.client().read_address(WALLET_ID)


def test_no_text_of_the_client_shows_its_secrets(privy: PrivyStandIn) -> None:
    privy.needs_authorization = True
    client = privy.client()
    assert client.authorization_key is not None
    for text in (repr(client), str(client), repr(signer_of(privy))):
        assert APP_SECRET not in text
        assert client.authorization_key.reveal() not in text
    privy.status = 401
    with pytest.raises(SignerUnavailable) as refused:
        client.read_address(WALLET_ID)
    assert APP_SECRET not in f"{refused.value!r} {refused.value.as_problem()}"


@pytest.fixture
def privy_golem(live_golem: LiveGolem, privy: PrivyStandIn, monkeypatch: pytest.MonkeyPatch) -> LiveGolem:
    """The live golem after its owners gave it a wallet at Privy."""
    monkeypatch.setattr(choose_signer, "_privy", privy.client())
    live_golem.world.fund(privy.account.address, 10**19, FUNDS)
    choice = WalletChoice(
        kind=WalletKind.PRIVY, address=privy.account.address, key=privy.account.address, external_id=WALLET_ID
    )
    choose_wallet(golem=live_golem.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
    live_golem.golem.refresh_from_db()
    return live_golem


def test_a_golem_swaps_with_its_key_at_privy_and_only_we_send(privy_golem: LiveGolem, privy: PrivyStandIn) -> None:
    answer = privy_golem.preview()
    done = privy_golem.commit(answer["permit_id"])
    assert done["status"] == "COMMITTED", done
    rows = OutboundTransaction.objects.filter(permit_id=answer["permit_id"])
    assert {row.sender for row in rows} == {privy.account.address}
    assert all(b"eth_signTransaction" in body for method, _, _, body in privy.seen if method == "POST")
    keys = {key.holder: key.state for key in SigningKey.objects.filter(golem=privy_golem.golem)}
    assert keys == {KeyHolder.LOCAL_KEYSTORE: KeyState.DROPPED, KeyHolder.PRIVY: KeyState.ACTIVE}


def test_bytes_for_another_action_are_never_stored(privy_golem: LiveGolem, privy: PrivyStandIn) -> None:
    answer = privy_golem.preview()
    privy.change = {"to": THIEF}
    done = privy_golem.commit(answer["permit_id"])
    assert done["status"] == "BLOCKED"
    assert done["problem"]["code"] == "SIGNER_MISMATCH"
    assert not OutboundTransaction.objects.filter(permit_id=answer["permit_id"]).exists()
    privy.change = {}
    assert privy_golem.commit(privy_golem.preview()["permit_id"])["status"] == "COMMITTED"


def test_without_an_account_at_privy_nothing_is_signed(privy_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = privy_golem.preview()
    monkeypatch.setattr(choose_signer, "_privy", None)
    done = privy_golem.commit(answer["permit_id"])
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "SIGNER_UNAVAILABLE")


def test_a_signer_takes_replacements_too(privy: PrivyStandIn) -> None:
    raised = replace(PLAIN, max_fee_per_gas=4 * 10**9, max_priority_fee_per_gas=2 * 10**9)
    assert signer_of(privy).sign(raised).tx_hash != signer_of(privy).sign(PLAIN).tx_hash


def test_privy_is_wired_from_settings_and_refused_without_its_secret(settings: Any) -> None:
    assert wiring.read_privy() is None
    settings.GOLEM_PRIVY_APP_ID = "app"
    with pytest.raises(ImproperlyConfigured, match="GOLEM_PRIVY_APP_SECRET"):
        wiring.read_privy()
    settings.GOLEM_PRIVY_APP_SECRET = "a secret of tests"
    client = wiring.read_privy()
    assert client is not None and client.url == "https://api.privy.io" and not client.allows_private
    assert "a secret of tests" not in repr(client)
