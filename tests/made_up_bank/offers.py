"""What an account signs for the bank: an offer of a part of its deposit for some of the loan token."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.order_desks import HandIn
from tools_app.toolkit.positions import Act, PositionRef, PositionsUnreadable, Trail
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED

NAME = "made_up_bank"
OFFER = (
    ("maker", "address"),
    ("give", "uint256"),
    ("want", "uint256"),
    ("nonce", "uint256"),
    ("deadline", "uint256"),
)
STATE = "function offerState(address,uint256) view returns (uint256)"
_DOMAIN = {"name": "MadeUpBank", "version": "1"}
_FATES = (Fate.OPEN, Fate.FILLED, Fate.CANCELLED)


class BankOffers:
    """Offers, read from the bank's own words for them."""

    def read(self, typed: TypedData, *, account: str, chain: ChainReader, into: Effects) -> None:
        """Add what a whole fill does."""
        bank = DEPLOYED[typed.chain_id]
        domain = {**_DOMAIN, "chainId": typed.chain_id, "verifyingContract": bank["bank"]}
        if dict(typed.domain) != domain or typed.primary_type != "Offer" or dict(typed.types) != {"Offer": OFFER}:
            raise UnknownCall("the bank signs offers and nothing else")
        message = typed.message
        if message["maker"] != account:
            raise UnknownCall(f"the offer is {message['maker']}'s")
        ref = PositionRef(NAME, "account", typed.chain_id, account)
        into.changes.append(ChangeRead(NAME, "account", bank["cash"], -message["give"], ref))
        into.receives[bank["loan"]] += message["want"]
        into.recipients.append(account)
        into.deadlines.append(message["deadline"])

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """Whether somebody took it."""
        return [ReadCall(typed.contract, STATE, (typed.message["maker"], typed.message["nonce"]))]

    def trails(self, typed: TypedData) -> Sequence[Trail]:
        """The bank's state says all."""
        return ()

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome], logs: Sequence[LogEntry] | None) -> Fate:
        """0, 1, 2 in the bank's words."""
        [told] = outcomes
        if not told.ok:
            raise PositionsUnreadable("the bank does not tell what became of an offer")
        return _FATES[told.values[0]]

    def hand_in(self, typed: TypedData, signature: bytes) -> HandIn | None:
        """The offer with its signature."""
        return HandIn({"offer": typed.as_json()["message"], "signature": "0x" + signature.hex()})

    def cancel(self, typed: TypedData) -> Act:
        """By its nonce."""
        return Act("bank_cancel_offer", {"nonce": str(typed.message["nonce"])}, "the offer is taken back")
