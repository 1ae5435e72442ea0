"""A payment as its payer hands it in, read strictly, and whether the chain says that it was made."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from tools_app.chain.abi import checksum, event_topic
from tools_app.core.bounded_parsing import read_json
from tools_app.core.stored_json import read_stored
from tools_app.standards.erc20 import MOVED, TRANSFER_EVENT
from tools_app.standards.permit2_nonces import ask_nonce, is_used, trail_of_invalidations, was_invalidated
from tools_app.standards.position_logs import follow_trails
from tools_app.standards.x402.price_offers import IDENTIFIER, IDENTIFIER_FORM, STATE, VERSION, Method, PriceOffer
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import Trail
from tools_app.toolkit.views import LogEntry

LONGEST_HEADER: Final = 16_000
_USED: Final = "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)"
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_WORD: Final = re.compile(r"0x[0-9a-fA-F]{64}")
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,77}")
_SIGNATURE: Final = re.compile(r"0x(?:[0-9a-fA-F]{2}){64,4096}")


class PaymentUnfit(Exception):
    """What was handed in is no payment of what was asked for; its words say why."""


@dataclass(frozen=True, slots=True)
class Payment:
    """What a payer signed: `amount` base units of `token` to `payee`, until `ends_at` in Unix seconds; by UPTO at most.

    `body` is it as its payer wrote it, without extensions. Whether it is signed is the facilitator's to say.
    """

    method: Method
    network: str
    token: str
    payer: str
    payee: str
    amount: int
    nonce: int
    ends_at: int
    body: Mapping[str, Any]  # Any: a stranger's JSON


@dataclass(frozen=True, slots=True)
class _PaymentTold:
    """A stranger's words, none of them looked at yet; so are those below."""

    version: Annotated[object, Field(alias="x402Version")] = None
    payload: object = None
    accepted: object = None


@dataclass(frozen=True, slots=True)
class _Payload:
    signature: object = None
    authorization: object = None
    permit2: Annotated[object, Field(alias="permit2Authorization")] = None


@dataclass(frozen=True, slots=True)
class _Accepted:
    scheme: object = None
    network: object = None
    asset: object = None
    payee: Annotated[object, Field(alias="payTo")] = None
    amount: object = None


@dataclass(frozen=True, slots=True)
class _Authorization:
    payer: Annotated[object, Field(alias="from")] = None
    payee: Annotated[object, Field(alias="to")] = None
    value: object = None
    valid_after: Annotated[object, Field(alias="validAfter")] = None
    valid_before: Annotated[object, Field(alias="validBefore")] = None
    nonce: object = None


@dataclass(frozen=True, slots=True)
class _Permit2:
    payer: Annotated[object, Field(alias="from")] = None
    permitted: object = None
    spender: object = None
    nonce: object = None
    deadline: object = None
    witness: object = None


@dataclass(frozen=True, slots=True)
class _Permitted:
    token: object = None
    amount: object = None


@dataclass(frozen=True, slots=True)
class _PaymentWitness:
    payee: Annotated[object, Field(alias="to")] = None
    valid_after: Annotated[object, Field(alias="validAfter")] = None


def open_header(header: str) -> object:
    """The JSON in the header PAYMENT-SIGNATURE. Raises PaymentUnfit."""
    try:
        return read_json(base64.b64decode(header, validate=True), most_bytes=LONGEST_HEADER)
    except (binascii.Error, ValueError):
        raise PaymentUnfit("it is no base64 of JSON, as the header PAYMENT-SIGNATURE holds it") from None


def read_payment(told: object) -> Payment:
    """The payment, every word of it in its form. Raises PaymentUnfit."""
    whole = read_stored(_PaymentTold, told) if isinstance(told, dict) else _PaymentTold()
    if whole.version != VERSION:
        raise PaymentUnfit(f"it is no payment of version {VERSION}")
    if not isinstance(whole.payload, dict) or not isinstance(whole.accepted, dict):
        raise PaymentUnfit("it has no payload, or does not say which way of paying it accepted")
    payload, accepted = read_stored(_Payload, whole.payload), read_stored(_Accepted, whole.accepted)
    if not isinstance(payload.signature, str) or not _SIGNATURE.fullmatch(payload.signature):
        raise PaymentUnfit("it is not signed")
    body = {"x402Version": VERSION, "payload": whole.payload, "accepted": whole.accepted}
    if "permit2Authorization" in whole.payload:
        return _read_permit2(payload.permit2, accepted, body)
    return _read_eip3009(payload.authorization, accepted, body)


def read_identifier(told: object) -> str:
    """The word of its own that a payer says with a payment; empty where it says none. Raises PaymentUnfit."""
    for name in ("extensions", IDENTIFIER, "info", "id"):
        if not isinstance(told, dict) or told.get(name) is None:
            return ""
        told = told[name]
    if not isinstance(told, str) or not re.fullmatch(IDENTIFIER_FORM, told):
        raise PaymentUnfit("its payment-identifier has not 16 to 128 letters, digits, hyphens and underscores")
    return told


def find_way(payment: Payment, ways: Sequence[PriceOffer]) -> PriceOffer:
    """The one of the ways that it follows to the letter. Raises PaymentUnfit."""
    way = next((each for each in ways if each.method is payment.method), None)
    if way is None:
        raise PaymentUnfit(f"a payment by {payment.method} is not asked for")
    accepted, asked = read_stored(_Accepted, read_stored(_PaymentTold, payment.body).accepted), way.as_item()
    named = {"scheme": accepted.scheme, "network": accepted.network, "asset": payment.token, "payTo": payment.payee}
    wrong = [name for name, value in named.items() if value != asked[name]]
    addresses = {"asset": _address(accepted.asset), "payTo": _address(accepted.payee)}
    wrong += [name for name, value in addresses.items() if value != asked[name]]
    fits = payment.amount >= way.amount if way.method is Method.UPTO else payment.amount == way.amount
    if not fits or accepted.amount != str(payment.amount):
        wrong.append("amount")
    if wrong:
        raise PaymentUnfit(f"what was signed is not what is asked for: {', '.join(dict.fromkeys(wrong))}")
    return way


def is_used_up(reader: ChainReader, *, way: PriceOffer, payer: str, nonce: int) -> bool:
    """Whether it was paid or taken back before. Of Permit2 its own nonces say so, else the token."""
    if way.method is not Method.EIP3009:
        [told] = reader.call_many([ask_nonce(payer, nonce)])
        return is_used(nonce, told)
    return bool(reader.call(way.token, STATE, payer, nonce.to_bytes(32, "big"))[0])


def find_paid(reader: ChainReader, *, way: PriceOffer, payer: str, nonce: int, since_block: int) -> tuple[str, ...]:
    """The transactions since a block that may have made this payment, whoever sent them; none where nobody did.

    A nonce says only that something was signed with it: a payer may sign the same one for somebody else. So each of
    them moved the whole amount from the payer to the payee. The token's own authorization tells its nonce right before
    the move; of Permit2 nobody tells which move used which nonce, so that a move must not be counted for two payments.
    """
    until = reader.block.number
    moved = Trail((way.token,), (event_topic(TRANSFER_EVENT), _topic(payer), _topic(way.payee)))
    if way.method is Method.EIP3009:
        used = Trail((way.token,), (event_topic(_USED), _topic(payer), f"0x{nonce:064x}"))
        logs = follow_trails(reader, [moved, used], from_block=since_block, to_block=until)
        told = {(log.tx_hash, log.log_index + 1) for log in logs if log.topics[0] == event_topic(_USED)}
        return tuple(log.tx_hash for log in _list_moves(logs, way) if (log.tx_hash, log.log_index) in told)
    [answer] = reader.call_many([ask_nonce(payer, nonce)])
    if not is_used(nonce, answer):
        return ()
    logs = follow_trails(reader, [moved, trail_of_invalidations(payer)], from_block=since_block, to_block=until)
    if was_invalidated(nonce, logs):
        return ()
    return tuple(dict.fromkeys(log.tx_hash for log in _list_moves(logs, way)))


def _list_moves(logs: Sequence[LogEntry], way: PriceOffer) -> list[LogEntry]:
    """Those that moved the whole amount to the payee."""
    moves = [log for log in logs if log.address == way.token and log.topics[0] == event_topic(TRANSFER_EVENT)]
    told = [(log, MOVED.read(log)) for log in moves]
    return [log for log, each in told if each is not None and each.value == way.amount]


def _read_eip3009(told: object, accepted: _Accepted, body: Mapping[str, object]) -> Payment:
    given = read_stored(_Authorization, told) if isinstance(told, dict) else _Authorization()
    if not isinstance(given.nonce, str) or not _WORD.fullmatch(given.nonce):
        raise PaymentUnfit("it holds no authorization with a nonce")
    _number(given.valid_after)
    return Payment(
        method=Method.EIP3009,
        network=str(accepted.network),
        token=_address(accepted.asset),
        payer=_address(given.payer),
        payee=_address(given.payee),
        amount=_number(given.value),
        nonce=int(given.nonce, 16),
        ends_at=_number(given.valid_before),
        body=body,
    )


def _read_permit2(told: object, accepted: _Accepted, body: Mapping[str, object]) -> Payment:
    given = read_stored(_Permit2, told) if isinstance(told, dict) else _Permit2()
    if not isinstance(given.permitted, dict) or not isinstance(given.witness, dict):
        raise PaymentUnfit("it holds no authorization with what is permitted, and a witness")
    permitted, witness = read_stored(_Permitted, given.permitted), read_stored(_PaymentWitness, given.witness)
    _address(given.spender)
    _number(witness.valid_after)
    return Payment(
        method=Method.UPTO if "facilitator" in given.witness else Method.PERMIT2,
        network=str(accepted.network),
        token=_address(permitted.token),
        payer=_address(given.payer),
        payee=_address(witness.payee),
        amount=_number(permitted.amount),
        nonce=_number(given.nonce),
        ends_at=_number(given.deadline),
        body=body,
    )


def _address(value: object) -> str:
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise PaymentUnfit("an address in it is none")
    return checksum(value)


def _number(value: object) -> int:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value) or int(value) >> 256:
        raise PaymentUnfit("a number in it is no whole number as text")
    return int(value)


def _topic(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")
