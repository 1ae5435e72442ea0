"""What an account signs for fillers, read word by word, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.protocols.uniswap_x.addresses import deployments
from tools_app.protocols.uniswap_x.orders import ZERO, encode_order, hash_order, kind_of, open_order
from tools_app.standards.permit2 import domain_of
from tools_app.standards.permit2_nonces import ask_nonce, is_used, trail_of_invalidations, was_invalidated
from tools_app.standards.signed_order_tracking import WITNESSED, Permitted, read_permit
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.order_desks import HandIn
from tools_app.toolkit.positions import Act, Trail
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import LogEntry

FILLED: Final = "event Fill(bytes32 indexed orderHash, address indexed filler, address indexed swapper, uint256 nonce)"


class UniswapXPromises:
    """Orders, from Permit2's and the reactors' own words for them."""

    def read(self, typed: TypedData, *, account: str, chain: ChainReader, into: Effects) -> None:
        """Add the worst of a fill."""
        kind = kind_of(typed)
        at = deployments(typed.chain_id) or {}
        if kind is None or typed.primary_type != WITNESSED or dict(typed.domain) != domain_of(typed.chain_id):
            raise UnknownCall("UniswapX takes orders signed for Permit2 and nothing else")
        permit, order = read_permit(typed), open_order(typed)
        info, sides = order.info, order.sides
        if permit.spender != at.get(kind.key) or info.reactor != permit.spender:
            raise UnknownCall(f"{permit.spender} is not the reactor of {kind.struct} on chain {typed.chain_id}")
        if info.swapper != account:
            raise UnknownCall(f"the order is {info.swapper}'s")
        if (info.nonce, info.deadline) != (permit.nonce, permit.deadline):
            raise UnknownCall("the order has another nonce or end than what Permit2 is told")
        if info.additional_validation_contract != ZERO or info.additional_validation_data != "0x":
            raise UnknownCall("another contract would have a word in the order")
        given = sides.gives.amount
        if permit.permitted != Permitted(given.token, given.most):
            raise UnknownCall("Permit2 is told another amount or token than the most that the order gives")
        into.spends[given.token] += given.most
        for each in sides.brings:
            into.receives[each.amount.token] += each.amount.least
            into.recipients.append(each.recipient)
        into.deadlines.append(info.deadline)

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """Whether its nonce is used."""
        return [ask_nonce(open_order(typed).info.swapper, read_permit(typed).nonce)]

    def trails(self, typed: TypedData) -> Sequence[Trail]:
        """Its fill, and what its maker invalidated."""
        return (
            Trail((read_permit(typed).spender,), (event_topic(FILLED), hash_order(typed))),
            trail_of_invalidations(open_order(typed).info.swapper),
        )

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome], logs: Sequence[LogEntry] | None) -> Fate | None:
        """A used nonce was filled or cancelled: only a fill's log says filled, only an invalidation's cancelled."""
        [told] = outcomes
        permit = read_permit(typed)
        nonce = permit.nonce
        if not is_used(nonce, told):
            return Fate.OPEN
        if logs is None:
            return None
        if any(log.address == permit.spender and decode_log(FILLED, log) is not None for log in logs):
            return Fate.FILLED
        if was_invalidated(nonce, logs):
            return Fate.CANCELLED
        return Fate.PARTLY

    def hand_in(self, typed: TypedData, signature: bytes) -> HandIn | None:
        """As the service of UniswapX takes orders."""
        kind = kind_of(typed)
        if kind is None:
            return None
        return HandIn(
            {
                "encodedOrder": "0x" + encode_order(typed).hex(),
                "signature": "0x" + signature.hex(),
                "chainId": typed.chain_id,
                "orderType": kind.wire,
            }
        )

    def cancel(self, typed: TypedData) -> Act:
        """By its nonce, which Permit2 then takes from nobody."""
        asked = {"nonce": str(read_permit(typed).nonce), "chain_id": typed.chain_id}
        return Act("uniswap_cancel_uniswapx_order", asked, "the order is taken back")
