"""Reads what an account signs for payees, read word by word, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.protocols.x402.addresses import EXACT, UPTO, deployments
from tools_app.protocols.x402.payments import name_payment, payer_of, types_of
from tools_app.standards.permit2 import domain_of
from tools_app.standards.permit2_nonces import ask_nonce, is_used, trail_of_invalidations, was_invalidated
from tools_app.standards.signed_order_tracking import WITNESSED
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.order_desks import HandIn
from tools_app.toolkit.positions import Act, Trail
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import LogEntry

PAID: Final = "event Transfer(address indexed from, address indexed to, uint256 value)"
_NOBODY: Final = "0x" + "0" * 40


class Payments:
    """Payments, from Permit2's and the proxies' own words for them. The nonce begins with the payer."""

    def read(self, typed: TypedData, *, account: str, chain: ChainReader, into: Effects) -> None:
        """Add what goes at most, and to whom."""
        message, at = typed.message, deployments(typed.chain_id) or {}
        scheme = scheme_of(typed)
        if scheme is None or typed.primary_type != WITNESSED or dict(typed.domain) != domain_of(typed.chain_id):
            raise UnknownCall("x402 takes payments signed for Permit2 and nothing else")
        if message["spender"] != at.get(scheme):
            raise UnknownCall(f"{message['spender']} is not the proxy of {scheme} payments on chain {typed.chain_id}")
        if payer_of(message["nonce"]) != account:
            raise UnknownCall("its nonce is another payer's, and what became of it would be told of that one")
        witness, given = message["witness"], message["permitted"]
        if witness["to"] in (account, _NOBODY) or witness.get("facilitator") == _NOBODY:
            raise UnknownCall("the payment goes to nobody, to the payer itself, or is settled by nobody")
        if witness["validAfter"]:
            raise UnknownCall("the payment holds only from a later moment on")
        into.spends[given["token"]] += given["amount"]
        into.recipients.append(witness["to"])
        into.paid_plainly.append(witness["to"])
        into.deadlines.append(message["deadline"])

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """Whether its nonce is used."""
        nonce = typed.message["nonce"]
        return [ask_nonce(payer_of(nonce), nonce)]

    def trails(self, typed: TypedData) -> Sequence[Trail]:
        """What went from its payer to its payee, and what its payer took back."""
        payer, payee = payer_of(typed.message["nonce"]), typed.message["witness"]["to"]
        return (
            Trail((typed.message["permitted"]["token"],), (event_topic(PAID), _topic(payer), _topic(payee))),
            trail_of_invalidations(payer),
        )

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome], logs: Sequence[LogEntry] | None) -> Fate | None:
        """A used nonce was settled or taken back: only what was paid says the one, only an invalidation the other."""
        [told] = outcomes
        nonce, given = typed.message["nonce"], typed.message["permitted"]
        if not is_used(nonce, told):
            return Fate.OPEN
        if logs is None:
            return None
        if was_invalidated(nonce, logs):
            return Fate.CANCELLED
        paid = read_paid(typed, logs)
        is_exact = scheme_of(typed) == EXACT
        if any(each == given["amount"] if is_exact else each <= given["amount"] for each in paid):
            return Fate.FILLED
        return Fate.PARTLY

    def hand_in(self, typed: TypedData, signature: bytes) -> HandIn | None:
        """Its agent hands it to the payee, with the request that it pays for."""
        return None

    def cancel(self, typed: TypedData) -> Act:
        """By its nonce, which Permit2 then takes from nobody."""
        asked = {"payment_id": name_payment(typed.message["nonce"]), "chain_id": typed.chain_id}
        return Act("x402_cancel_payment", asked, "the payment is taken back")


def scheme_of(typed: TypedData) -> str | None:
    """exact or upto, None where the types are those of neither."""
    return next((scheme for scheme in (EXACT, UPTO) if dict(typed.types) == types_of(scheme)), None)


def read_paid(typed: TypedData, logs: Sequence[LogEntry]) -> list[int]:
    """Base units of each transfer from its payer to its payee among the logs, in their order."""
    token = typed.message["permitted"]["token"]
    told = (decode_log(PAID, log) for log in logs if log.address == token)
    pair = (payer_of(typed.message["nonce"]), typed.message["witness"]["to"])
    return [int(each["value"]) for each in told if each is not None and (each["from"], each["to"]) == pair]


def _topic(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")
