"""Reads what an account signs for payees, read word by word, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import event_topic
from tools_app.protocols.x402.addresses import EXACT, deployments
from tools_app.protocols.x402.payments import name_payment, read_terms, scheme_of
from tools_app.standards.erc20 import MOVED
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
        at = deployments(typed.chain_id) or {}
        scheme = scheme_of(typed)
        if scheme is None or typed.primary_type != WITNESSED or dict(typed.domain) != domain_of(typed.chain_id):
            raise UnknownCall("x402 takes payments signed for Permit2 and nothing else")
        terms = read_terms(typed)
        if terms.spender != at.get(scheme):
            raise UnknownCall(f"{terms.spender} is not the proxy of {scheme} payments on chain {typed.chain_id}")
        if terms.payer != account:
            raise UnknownCall("its nonce is another payer's, and what became of it would be told of that one")
        if terms.payee in (account, _NOBODY) or terms.facilitator == _NOBODY:
            raise UnknownCall("the payment goes to nobody, to the payer itself, or is settled by nobody")
        if terms.valid_after:
            raise UnknownCall("the payment holds only from a later moment on")
        into.spends[terms.token] += terms.amount
        into.recipients.append(terms.payee)
        into.paid_plainly.append(terms.payee)
        into.deadlines.append(terms.deadline)

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """Whether its nonce is used."""
        terms = read_terms(typed)
        return [ask_nonce(terms.payer, terms.nonce)]

    def trails(self, typed: TypedData) -> Sequence[Trail]:
        """What went from its payer to its payee, and what its payer took back."""
        terms = read_terms(typed)
        return (
            Trail((terms.token,), (event_topic(PAID), _topic(terms.payer), _topic(terms.payee))),
            trail_of_invalidations(terms.payer),
        )

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome], logs: Sequence[LogEntry] | None) -> Fate | None:
        """A used nonce was settled or taken back: only what was paid says the one, only an invalidation the other."""
        [told] = outcomes
        terms = read_terms(typed)
        if not is_used(terms.nonce, told):
            return Fate.OPEN
        if logs is None:
            return None
        if was_invalidated(terms.nonce, logs):
            return Fate.CANCELLED
        paid = read_paid(typed, logs)
        is_exact = scheme_of(typed) == EXACT
        if any(each == terms.amount if is_exact else each <= terms.amount for each in paid):
            return Fate.FILLED
        return Fate.PARTLY

    def hand_in(self, typed: TypedData, signature: bytes) -> HandIn | None:
        """Its agent hands it to the payee, with the request that it pays for."""
        return None

    def cancel(self, typed: TypedData) -> Act:
        """By its nonce, which Permit2 then takes from nobody."""
        asked = {"payment_id": name_payment(read_terms(typed).nonce), "chain_id": typed.chain_id}
        return Act("x402_cancel_payment", asked, "the payment is taken back")


def read_paid(typed: TypedData, logs: Sequence[LogEntry]) -> list[int]:
    """Base units of each transfer from its payer to its payee among the logs, in their order."""
    terms = read_terms(typed)
    told = MOVED.list(log for log in logs if log.address == terms.token)
    return [each.value for each in told if (each.from_, each.to) == (terms.payer, terms.payee)]


def _topic(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")
