"""Keys in AWS KMS and at Turnkey, against local servers of their published shapes: what is signed is what was asked
for, in the one form that a chain takes, or nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from Crypto.Util.asn1 import DerSequence
from django.core.exceptions import ImproperlyConfigured
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils.crypto import keccak

from golem_project import wiring
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.signers import choose_signer
from permits_app.custody.signers.aws_kms import KmsClient
from permits_app.custody.signers.check_signed_bytes import check_signed
from permits_app.custody.signers.eth_account_library import encode_signed, encode_unsigned
from permits_app.custody.signers.external_digest_signer import (
    ORDER,
    DigestSigner,
    make_signature,
    read_der_signature,
    read_public_key,
)
from permits_app.custody.signers.turnkey import TurnkeySigner
from permits_app.errors import SignerMismatch, SignerUnavailable
from permits_app.models import OutboundTransaction, SigningKey
from permits_app.models.signing_key import KeyHolder, KeyState
from permits_app.models.wallet import WalletKind
from permits_app.permits.plan_store import decode_plan
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.execution.signers.kms_stand_in import REGION, KmsStandIn, serve_kms, write_public_key
from tests.permits_app.execution.signers.test_privy import OUR_RAW, PLAIN, THIEF, US
from tests.permits_app.execution.signers.turnkey_stand_in import USER, TurnkeyStandIn, serve_turnkey
from tools_app.chain.key_signatures import find_signer
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.taint import Secret
from tools_app.standards.permit2 import PERMIT2, domain_of
from tools_app.standards.permit2_in_calldata import read_inner, type_permit
from tools_app.toolkit.typed_data import TypedData

TYPED = TypedData(
    domain=domain_of(31337),
    primary_type="Order",
    types={"Order": (("give", "uint256"), ("to", "address"), ("what", "bytes32"))},
    message={"give": 2**200 + 1, "to": THIEF, "what": "0x" + "07" * 32},
)
# Like nothing else: what a test makes a secret is taken out of every later answer of its process.
ANOTHER_KEY = "5b1fd07e93" * 6 + "77c4"
STRANGER = Account.from_key("0x" + "77" * 32)


@pytest.fixture
def kms() -> Iterator[KmsStandIn]:
    with serve_kms() as stand_in:
        stand_in.make()
        yield stand_in


@pytest.fixture
def turnkey() -> Iterator[TurnkeyStandIn]:
    with serve_turnkey() as stand_in:
        stand_in.make()
        yield stand_in


def kms_signer(kms: KmsStandIn, **changes: Any) -> DigestSigner:
    [(key_id, account)] = kms.keys.items()
    return DigestSigner(holder=kms.client(**changes), address=account.address, key_id=key_id)


def turnkey_signer(turnkey: TurnkeyStandIn) -> TurnkeySigner:
    [account] = turnkey.wallets.values()
    return TurnkeySigner(client=turnkey.client(), address=account.address)


@pytest.mark.parametrize("is_high", [False, True])
def test_a_key_in_kms_signs_what_a_chain_takes_whichever_half_it_answers(kms: KmsStandIn, is_high: bool) -> None:
    kms.is_high = is_high
    signer = kms_signer(kms)
    signed = signer.sign(PLAIN)
    assert Account.recover_transaction(signed.raw) == signer.address
    check_signed(signed.raw, transaction=PLAIN, address=signer.address)
    message = signer.sign_message(b"hello", chain_id=1)
    assert Account.recover_message(encode_defunct(b"hello"), signature=message) == signer.address
    typed = signer.sign_typed_data(TYPED)
    assert Account._recover_hash(hash_typed_data(TYPED), signature=typed) == signer.address
    for signature in (message, typed):
        assert int.from_bytes(signature[32:64], "big") <= ORDER // 2 and signature[64] in (27, 28)
    assert {action for action, _ in kms.seen} == {"Sign"}
    assert all(len(base64.b64decode(asked["Message"])) == 32 for _, asked in kms.seen)


def test_the_bytes_of_a_transaction_are_those_of_the_library() -> None:
    signature = US.unsafe_sign_hash(keccak(encode_unsigned(PLAIN))).signature
    assert encode_signed(PLAIN, bytes(signature)) == OUR_RAW


def test_a_signature_version_4_is_the_one_that_the_makers_own_library_computes() -> None:
    """Worked out once by botocore 1.44.8 (`SigV4Auth`) for this very request."""
    client = KmsClient(REGION, "AKIAOFTESTS", Secret("a secret access key of tests"), Secret("a token"))
    headers = {
        "Content-Type": "application/x-amz-json-1.1",
        "Host": "kms.eu-central-1.amazonaws.com",
        "X-Amz-Target": "TrentService.Sign",
    }
    signed = client._sign_request(headers, b'{"KeyId":"k"}', now=datetime(2026, 11, 30, 6, 0, 0, tzinfo=UTC))
    assert signed["Authorization"] == BOTOCORE
    assert (signed["X-Amz-Date"], signed["X-Amz-Security-Token"]) == ("20261130T060000Z", "a token")


BOTOCORE = (
    "AWS4-HMAC-SHA256 Credential=AKIAOFTESTS/20261130/eu-central-1/kms/aws4_request,"
    " SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target,"
    " Signature=e39bddbb8f1ae0077ea811660c3f2030ecf04f5eec5fd817ca18916f6dcaa447"
)


def test_what_another_key_signed_is_kept_by_nobody(kms: KmsStandIn, turnkey: TurnkeyStandIn) -> None:
    kms.signs_with = STRANGER
    for ask in (
        lambda: kms_signer(kms).sign(PLAIN),
        lambda: kms_signer(kms).sign_message(b"x", chain_id=1),
        lambda: kms_signer(kms).sign_typed_data(TYPED),
    ):
        with pytest.raises(SignerMismatch):
            ask()
    signer = turnkey_signer(turnkey)
    turnkey.change = {"give": "1"}
    with pytest.raises(SignerMismatch):
        signer.sign_typed_data(TYPED)
    for field, value in (("to", THIEF), ("value", 1), ("nonce", 8), ("gas", 1), ("chainId", 1), ("data", b"")):
        turnkey.change = {field: value}
        with pytest.raises(SignerMismatch):
            signer.sign(PLAIN)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x30\x00",
        DerSequence([1]).encode(),
        DerSequence([1, 2, 3]).encode(),
        DerSequence([1, 2]).encode() + b"\x00",
        b"\x31" + DerSequence([1, 2]).encode()[1:],
        b"\x30\x07\x02\x02\x00\x01\x02\x01\x02",
    ],
)
def test_what_is_no_signature_in_der_is_refused(answer: bytes) -> None:
    with pytest.raises(SignerMismatch):
        read_der_signature(answer)


@pytest.mark.parametrize(("r", "s"), [(0, 1), (1, 0), (ORDER, 1), (1, ORDER), (-1, 1), (1, 1), (2**256, 1)])
def test_numbers_outside_the_group_are_no_signature(r: int, s: int) -> None:
    with pytest.raises(SignerMismatch):
        make_signature(r, s, digest=b"\x01" * 32, address=US.address)


def test_a_public_key_of_another_curve_or_form_is_refused() -> None:
    good = base64.b64decode(write_public_key(US))
    assert read_public_key(good) == US.address
    p256 = base64.b64decode(write_public_key(US, curve="1.2.840.10045.3.1.7"))
    for raw in (b"", good[:-1], good + b"\x00", p256, good.replace(b"\x00\x04", b"\x00\x02", 1)):
        with pytest.raises(SignerMismatch):
            read_public_key(raw)


@pytest.mark.parametrize(
    ("twist", "error"),
    [
        ({"Signature": "no base64!"}, SignerMismatch),
        ({"Signature": None}, SignerMismatch),
        ({"SigningAlgorithm": "RSASSA_PSS_SHA_256"}, SignerMismatch),
    ],
)
def test_kms_that_answers_something_else_signs_nothing(kms: KmsStandIn, twist: dict[str, Any], error: type) -> None:
    kms.twist = lambda answer: {**answer, **twist}
    with pytest.raises(error):
        kms_signer(kms).sign(PLAIN)


def test_kms_refuses_a_wrong_secret_and_keys_of_another_kind_are_not_taken(kms: KmsStandIn) -> None:
    with pytest.raises(SignerUnavailable) as refused:
        kms_signer(kms, secret_access_key=Secret("another")).sign(PLAIN)
    assert "another" not in str(refused.value.as_problem()) and "another" not in repr(kms.client())
    [(key_id, account)] = kms.keys.items()
    assert kms.client().read_address(key_id) == account.address
    for wrong in ("", "alias/mine", "../x", "arn:aws:kms:x:1:key/" + key_id, "g" * 36):
        with pytest.raises(InvalidParams):
            kms.client().read_address(wrong)
    for changed in ({"KeySpec": "ECC_NIST_P256"}, {"KeyUsage": "ENCRYPT_DECRYPT"}, {"PublicKey": ""}):
        kms.twist = partial(lambda other, answer: {**answer, **other}, changed)
        with pytest.raises(SignerMismatch):
            kms.client().read_address(key_id)
    with pytest.raises(SignerUnavailable):
        kms.client(allows_private=False).read_address(key_id)


def test_a_wallet_at_turnkey_signs_transactions_as_such_and_typed_data_as_such(turnkey: TurnkeyStandIn) -> None:
    signer = turnkey_signer(turnkey)
    check_signed(signer.sign(PLAIN).raw, transaction=PLAIN, address=signer.address)
    typed = signer.sign_typed_data(TYPED)
    assert Account._recover_hash(hash_typed_data(TYPED), signature=typed) == signer.address
    message = signer.sign_message(b"hello", chain_id=1)
    assert Account.recover_message(encode_defunct(b"hello"), signature=message) == signer.address
    asked = [told["parameters"].get("encoding", told["type"]) for _, told in turnkey.seen]
    assert asked == ["ACTIVITY_TYPE_SIGN_TRANSACTION_V2", "PAYLOAD_ENCODING_EIP712", "PAYLOAD_ENCODING_HEXADECIMAL"]


@pytest.mark.parametrize(
    "status", ["ACTIVITY_STATUS_CONSENSUS_NEEDED", "ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_PENDING", "", None]
)
def test_what_turnkey_did_not_complete_is_signed_by_nobody(turnkey: TurnkeyStandIn, status: Any) -> None:
    turnkey.status = status
    with pytest.raises(SignerUnavailable):
        turnkey_signer(turnkey).sign(PLAIN)


def test_turnkey_refuses_another_stamp_and_what_it_answers_is_read_strictly(turnkey: TurnkeyStandIn) -> None:
    [(wallet_id, account)] = turnkey.wallets.items()
    assert turnkey.client().read_address(wallet_id) == account.address
    for key in (ANOTHER_KEY, "no key"):
        with pytest.raises(SignerUnavailable) as refused:
            turnkey.client(api_key=Secret(key)).read_address(wallet_id)
        assert key not in str(refused.value.as_problem())
    for wrong in ("", "x", wallet_id.upper() + "A", f"{wallet_id}'"):
        with pytest.raises(InvalidParams):
            turnkey.client().read_address(wrong)
    answers: tuple[Any, ...] = ({}, {"accounts": []}, {"accounts": [{}]}, {"accounts": 3}, [])
    for answer in answers:
        turnkey.twist = partial(lambda told, _: told, answer)
        with pytest.raises(SignerMismatch):
            turnkey.client().read_address(wallet_id)


def test_a_new_wallet_at_turnkey_is_held_to_its_chains_and_never_to_bare_bytes(turnkey: TurnkeyStandIn) -> None:
    wallet_id, address = turnkey.client().create_wallet(name="golem", chain_ids=(1, 8453))
    assert turnkey.wallets[wallet_id].address == address
    [policy] = turnkey.policies
    assert policy["consensus"] == f"approvers.any(user, user.id == '{USER}')"
    for chain in (1, 8453):
        for what in ("eth.tx.chain_id", "eth.eip_712.domain.chain_id"):
            assert f"{what} == {chain}" in policy["condition"]
    assert f"wallet.id == '{wallet_id}' && (" in policy["condition"] and "activity.type" not in policy["condition"]


@pytest.fixture
def kms_golem(live_golem: LiveGolem, kms: KmsStandIn, monkeypatch: pytest.MonkeyPatch) -> LiveGolem:
    """The live golem after its owners gave it a key in AWS KMS."""
    monkeypatch.setattr(choose_signer, "_kms", kms.client())
    [(key_id, account)] = kms.keys.items()
    live_golem.world.fund(account.address, 10**19, FUNDS)
    choice = WalletChoice(kind=WalletKind.AWS_KMS, address=account.address, key=account.address, external_id=key_id)
    choose_wallet(golem=live_golem.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
    live_golem.golem.refresh_from_db()
    return live_golem


def test_a_golem_swaps_with_its_key_in_kms_and_nothing_is_stored_that_it_did_not_sign(
    kms_golem: LiveGolem, kms: KmsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = kms_golem.preview()
    kms.signs_with = STRANGER
    done = kms_golem.commit(answer["permit_id"])
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "SIGNER_MISMATCH")
    assert not OutboundTransaction.objects.filter(permit_id=answer["permit_id"]).exists()
    kms.signs_with, kms.is_high = None, True
    answer = kms_golem.preview()
    assert kms_golem.commit(answer["permit_id"])["status"] == "COMMITTED"
    rows = OutboundTransaction.objects.filter(permit_id=answer["permit_id"])
    assert {row.sender for row in rows} == {kms_golem.golem.address}
    keys = {key.holder: key.state for key in SigningKey.objects.filter(golem=kms_golem.golem)}
    assert keys == {KeyHolder.LOCAL_KEYSTORE: KeyState.DROPPED, KeyHolder.AWS_KMS: KeyState.ACTIVE}
    answer = kms_golem.preview()
    monkeypatch.setattr(choose_signer, "_kms", None)
    done = kms_golem.commit(answer["permit_id"])
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "SIGNER_UNAVAILABLE")


@pytest.fixture
def turnkey_golem(live_golem: LiveGolem, turnkey: TurnkeyStandIn, monkeypatch: pytest.MonkeyPatch) -> LiveGolem:
    """The live golem after its owners gave it a wallet at Turnkey."""
    monkeypatch.setattr(choose_signer, "_turnkey", turnkey.client())
    [(wallet_id, account)] = turnkey.wallets.items()
    live_golem.world.fund(account.address, 10**19, FUNDS)
    choice = WalletChoice(kind=WalletKind.TURNKEY, address=account.address, key=account.address, external_id=wallet_id)
    choose_wallet(golem=live_golem.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
    live_golem.golem.refresh_from_db()
    return live_golem


@pytest.mark.protocols("uniswap_v4")
@pytest.mark.parametrize("holder", ["kms", "turnkey"])
def test_a_key_elsewhere_signs_a_permit_inside_the_call_that_uses_it_and_what_another_key_signed_is_left_out(
    holder: str, kms: KmsStandIn, turnkey: TurnkeyStandIn, request: pytest.FixtureRequest
) -> None:
    live: LiveGolem = request.getfixturevalue(f"{holder}_golem")
    swap = {"token_in": "USDC", "token_out": "DAI", "amount": "100000000", "route": "v4:100"}
    kms.signs_with, turnkey.change = STRANGER, {"sigDeadline": 1}
    without = decode_plan(live.permit(live.preview(**swap)["permit_id"]))
    assert PERMIT2 in [call.to for call in without.calls], "the right is given by a call"
    kms.signs_with, turnkey.change = None, {}
    answer = live.preview(**{**swap, "token_in": "DAI", "token_out": "USDC", "amount": str(10**20)})
    plan = decode_plan(live.permit(answer["permit_id"]))
    (permit,) = (each for call in plan.calls for each in read_inner(plan.chain_id, call))
    assert find_signer(hash_typed_data(type_permit(permit, chain_id=plan.chain_id)), permit.signature) == (
        live.golem.address
    )
    assert PERMIT2 not in [call.to for call in plan.calls]
    assert live.commit(answer["permit_id"])["status"] == "COMMITTED"


def test_they_are_wired_from_settings_and_refused_without_their_secrets(settings: Any) -> None:
    assert wiring.read_kms() is None and wiring.read_turnkey() is None
    settings.GOLEM_KMS_REGION, settings.GOLEM_TURNKEY_ORGANIZATION_ID = "eu-central-1", "o"
    for read in (wiring.read_kms, wiring.read_turnkey):
        with pytest.raises(ImproperlyConfigured):
            read()
    settings.GOLEM_KMS_ACCESS_KEY_ID, settings.GOLEM_KMS_SECRET_ACCESS_KEY = "AKIA", "a secret of tests"
    settings.GOLEM_TURNKEY_API_KEY = ANOTHER_KEY
    kms, turnkey = wiring.read_kms(), wiring.read_turnkey()
    assert kms is not None and turnkey is not None
    assert "secret of tests" not in repr(kms) and ANOTHER_KEY not in repr(turnkey)
