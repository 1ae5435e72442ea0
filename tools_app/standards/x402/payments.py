"""A payment as its payer hands it in, read strictly, and whether the chain says that it was made."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools_app.chain.abi import checksum, event_topic
from tools_app.core.bounded_parsing import read_json
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


def open_header(header: str) -> object:
    """The JSON in the header PAYMENT-SIGNATURE. Raises PaymentUnfit."""
    try:
        return read_json(base64.b64decode(header, validate=True), most_bytes=LONGEST_HEADER)
    except (binascii.Error, ValueError):
        raise PaymentUnfit("it is no base64 of JSON, as the header PAYMENT-SIGNATURE holds it") from None


def read_payment(told: object) -> Payment:
    """The payment, every word of it in its form. Raises PaymentUnfit."""
    if not isinstance(told, dict) or told.get("x402Version") != VERSION:
        raise PaymentUnfit(f"it is no payment of version {VERSION}")
    payload, accepted = told.get("payload"), told.get("accepted")
    if not isinstance(payload, dict) or not isinstance(accepted, dict):
        raise PaymentUnfit("it has no payload, or does not say which way of paying it accepted")
    if not isinstance(payload.get("signature"), str) or not _SIGNATURE.fullmatch(payload["signature"]):
        raise PaymentUnfit("it is not signed")
    body = {"x402Version": VERSION, "payload": payload, "accepted": accepted}
    reader = _read_permit2 if "permit2Authorization" in payload else _read_eip3009
    return reader(payload, accepted, body)


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
    accepted, asked = payment.body["accepted"], way.as_item()
    wrong = [name for name in ("scheme", "network") if accepted.get(name) != asked[name]]
    pairs = {"asset": payment.token, "payTo": payment.payee}
    wrong += [name for name, value in pairs.items() if value != asked[name]]
    wrong += [name for name in pairs if _address(accepted.get(name)) != asked[name]]
    fits = payment.amount >= way.amount if way.method is Method.UPTO else payment.amount == way.amount
    if not fits or accepted.get("amount") != str(payment.amount):
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


def _read_eip3009(payload: Mapping[str, object], accepted: Mapping[str, object], body: Mapping[str, object]) -> Payment:
    given = payload.get("authorization")
    if not isinstance(given, dict) or not isinstance(given.get("nonce"), str) or not _WORD.fullmatch(given["nonce"]):
        raise PaymentUnfit("it holds no authorization with a nonce")
    _number(given.get("validAfter"))
    return Payment(
        method=Method.EIP3009,
        network=str(accepted.get("network")),
        token=_address(accepted.get("asset")),
        payer=_address(given.get("from")),
        payee=_address(given.get("to")),
        amount=_number(given.get("value")),
        nonce=int(given["nonce"], 16),
        ends_at=_number(given.get("validBefore")),
        body=body,
    )


def _read_permit2(payload: Mapping[str, object], accepted: Mapping[str, object], body: Mapping[str, object]) -> Payment:
    given = payload.get("permit2Authorization")
    permitted = given.get("permitted") if isinstance(given, dict) else None
    witness = given.get("witness") if isinstance(given, dict) else None
    if not isinstance(given, dict) or not isinstance(permitted, dict) or not isinstance(witness, dict):
        raise PaymentUnfit("it holds no authorization with what is permitted, and a witness")
    _address(given.get("spender"))
    _number(witness.get("validAfter"))
    return Payment(
        method=Method.UPTO if "facilitator" in witness else Method.PERMIT2,
        network=str(accepted.get("network")),
        token=_address(permitted.get("token")),
        payer=_address(given.get("from")),
        payee=_address(witness.get("to")),
        amount=_number(permitted.get("amount")),
        nonce=_number(given.get("nonce")),
        ends_at=_number(given.get("deadline")),
        body=body,
    )


def _address(value: Any) -> str:  # Any: a stranger's JSON
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise PaymentUnfit("an address in it is none")
    return checksum(value)


def _number(value: object) -> int:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value) or int(value) >> 256:
        raise PaymentUnfit("a number in it is no whole number as text")
    return int(value)


def _topic(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")
