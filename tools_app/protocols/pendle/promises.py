"""Limit orders that an account signs, read word by word from the limit router's interface, and what became of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.typed_hash import hash_typed_data
from tools_app.protocols.pendle.addresses import NAME, Place, find_places
from tools_app.protocols.pendle.limit_orders import (
    FIELDS,
    ORDER,
    Order,
    Side,
    domain_of,
    keeps_its_part,
    least_out,
    read_order,
)
from tools_app.protocols.pendle.market_maths import NoTrade
from tools_app.protocols.pendle.market_state import Standing, ask_standings
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.order_desks import HandIn
from tools_app.toolkit.plan import Statement
from tools_app.toolkit.positions import Act, PositionRef, PositionsUnreadable, Trail, drive
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import LogEntry

STATUSES: Final = (
    "function orderStatusesRaw(bytes32[] orderHashes) view returns (uint256[] remainingsRaw, uint256[] filledAmounts)"
)
NONCE: Final = "function nonce(address maker) view returns (uint256)"
_UNTOUCHED, _OVER = 0, 1
"""What the router keeps of an order's rest: nothing while it knows none, else one more than it is."""


class PendlePromises:
    """Limit orders that buy and sell claims and yield tokens."""

    def read(self, typed: TypedData, *, account: str, chain: ChainReader, into: Effects) -> None:
        """Add what a whole fill does at its worst."""
        place = next((each for each in find_places(typed.chain_id) if each.limit_router == typed.contract), None)
        if place is None or typed.primary_type != ORDER or dict(typed.types) != {ORDER: FIELDS}:
            raise UnknownCall("Pendle's limit router takes its orders and nothing else")
        if dict(typed.domain) != domain_of(place.limit_router, typed.chain_id):
            raise UnknownCall("the order is signed for another contract, or another version of it")
        order = read_order(typed)
        place = _find_market(typed, order)
        if order.order_type not in list(Side) or order.token != place.asset:
            raise UnknownCall("only orders that trade claims or yield tokens for the market's asset are known")
        if (order.maker, order.receiver) != (account, account):
            raise UnknownCall(f"the order is {order.maker}'s and pays {order.receiver}")
        if order.permit != "0x":
            raise UnknownCall("the order would carry a permit")
        if order.made_at > chain.block.timestamp:
            raise UnknownCall("the order says that it was made later than now, when it would bring more")
        try:
            standing = drive(ask_standings(typed.chain_id, (place,), account), chain.call_many)[0]
            [told] = chain.call_many([ReadCall(typed.contract, NONCE, (account,))])
            due_at, index = standing.market.expiry, standing.market.index
            if not told.ok or order.nonce != told.values[0]:
                raise UnknownCall("the order has another nonce than its maker's")
            if order.expiry >= due_at:
                raise UnknownCall("the order would outlive its market")
            if not keeps_its_part(order, index=index):
                raise UnknownCall("shares could be made of the asset, or sold for it, at any price")
            _add(typed, order, place, standing, least_out(order, due_at=due_at), into)
        except PositionsUnreadable as error:
            raise UnknownCall(error.detail) from error
        except NoTrade as error:
            raise UnknownCall(f"the order's rate is no rate: {error}") from error
        into.recipients.append(account)
        into.deadlines.append(order.expiry)

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """How much of it is left, and its maker's nonce."""
        return [
            ReadCall(typed.contract, STATUSES, ([hash_typed_data(typed)],)),
            ReadCall(typed.contract, NONCE, (read_order(typed).maker,)),
        ]

    def trails(self, typed: TypedData) -> Sequence[Trail]:
        """The router's state says all."""
        return ()

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome], logs: Sequence[LogEntry] | None) -> Fate:
        """What is left and what was filled; under a later nonce nobody fills the rest."""
        rest, filled, is_withdrawn = read_rest(typed, outcomes)
        if rest and not is_withdrawn:
            return Fate.PARTLY if filled else Fate.OPEN
        return Fate.FILLED if filled else Fate.CANCELLED

    def hand_in(self, typed: TypedData, signature: bytes) -> HandIn | None:
        """As Pendle's order book takes orders of makers."""
        told = typed.as_json()["message"]
        renamed = {"YT": "yt", "orderType": "type"}
        body = {renamed.get(name, name): value for name, value in told.items()}
        return HandIn(
            {
                **body,
                "type": read_order(typed).order_type,
                "chainId": typed.chain_id,
                "signature": "0x" + signature.hex(),
            }
        )

    def cancel(self, typed: TypedData) -> Act:
        """By itself, which leaves the maker's other orders as they are."""
        asked = {"order_hash": "0x" + hash_typed_data(typed).hex(), "chain_id": typed.chain_id}
        return Act("pendle_cancel_limit_order", asked, "the order is taken back")


def read_rest(typed: TypedData, outcomes: Sequence[ReadOutcome]) -> tuple[int, int, bool]:
    """Base units that are left of it and that were filled, and whether its maker withdrew all orders of its nonce.

    Raises PositionsUnreadable.
    """
    statuses, nonce = outcomes
    if not statuses.ok or not nonce.ok:
        raise PositionsUnreadable("the limit router does not tell what became of an order")
    [kept], [filled] = statuses.values
    order = read_order(typed)
    rest = order.making_amount if kept == _UNTOUCHED else kept - _OVER
    return int(rest), int(filled), bool(nonce.values[0] > order.nonce)


def _add(typed: TypedData, order: Order, place: Place, standing: Standing, least: int, into: Effects) -> None:
    """What a whole fill moves. Raises PositionsUnreadable."""
    side, amount = Side(order.order_type), order.making_amount
    token = side.takes(place) if side.buys else side.gives(place)
    moved, word = (least, "least bought") if side.buys else (-amount, "most sold")
    if side.buys:
        into.spends[place.asset] += amount
    else:
        into.receives[place.asset] += least
    into.statements.append(Statement(typed.contract, token, word, str(abs(moved))))
    ref = PositionRef(NAME, "market", typed.chain_id, place.market)
    if side.is_of_claims:
        worth = standing.worth_of_claims(place, abs(moved))
        token, moved = place.asset, worth if side.buys else -worth
    into.changes.append(ChangeRead(NAME, "market", token, moved, ref, is_exact=not side.is_of_claims))


def _find_market(typed: TypedData, order: Order) -> Place:
    for place in find_places(typed.chain_id):
        if (place.yt, place.limit_router) == (order.yt, typed.contract):
            return place
    raise UnknownCall(f"{order.yt} are the yield tokens of no known market")
