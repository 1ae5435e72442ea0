"""A stranger who fills limit orders at Pendle: trades through the real router, with what stands in orders first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from permits_app.models import SignedPromise
from tests.evm.world import CHAIN_ID, World
from tools_app.chain.abi import encode_call
from tools_app.protocols.pendle.addresses import Place, find_places
from tools_app.protocols.pendle.limit_orders import order_values
from tools_app.protocols.pendle.signatures import ANY_GUESS, BUY_PT, BUY_YT, NO_LIMIT, SELL_PT, SELL_YT, paying, taking
from tools_app.toolkit.typed_data import TypedData

WAD = 10**18


@dataclass
class Taker:
    """Who holds claims and sells them."""

    world: World
    account: Any
    place: Place

    def sell(self, claims: int, *rows: SignedPromise, part: int = 2**128, least: int = 1, **changes: Any) -> bool:
        """Sell so many claims, into `rows` first, at most `part` of each order's asset; whether it was carried out."""
        return self._give(SELL_PT, claims, rows, part, least, changes)

    def sell_yields(
        self, amount: int, *rows: SignedPromise, part: int = 2**128, least: int = 1, **changes: Any
    ) -> bool:
        """The same with yield tokens."""
        return self._give(SELL_YT, amount, rows, part, least, changes)

    def buy(self, paid: int, *rows: SignedPromise, part: int = 2**128, least: int = 1, **changes: Any) -> bool:
        """Buy claims for so much of the asset, of `rows` first, at most `part` of each; whether it was carried out."""
        return self._pay(BUY_PT, paid, rows, part, least, changes)

    def buy_yields(self, paid: int, *rows: SignedPromise, part: int = 2**128, least: int = 1, **changes: Any) -> bool:
        """The same with yield tokens."""
        return self._pay(BUY_YT, paid, rows, part, least, changes)

    def _give(
        self,
        signature: str,
        amount: int,
        rows: Sequence[SignedPromise],
        part: int,
        least: int,
        changes: dict[str, Any],
    ) -> bool:
        place, limit = self.place, self._limit(rows, part, changes)
        taken = taking(place.asset, least)
        return self._send(encode_call(signature, self.account.address, place.market, amount, taken, limit))

    def _pay(
        self,
        signature: str,
        paid: int,
        rows: Sequence[SignedPromise],
        part: int,
        least: int,
        changes: dict[str, Any],
    ) -> bool:
        place, limit = self.place, self._limit(rows, part, changes)
        given = paying(place.asset, paid)
        return self._send(encode_call(signature, self.account.address, place.market, least, ANY_GUESS, given, limit))

    def _limit(self, rows: Sequence[SignedPromise], part: int, changes: dict[str, Any]) -> tuple[Any, ...]:
        fills = tuple(self._fill(row, part, changes) for row in rows)
        return (self.place.limit_router, 0, fills, (), b"") if fills else NO_LIMIT

    def _send(self, data: bytes) -> bool:
        sent = self.world.send(self.account, self.place.router, "0x" + data.hex(), gas=3_000_000)
        return bool(sent["status"] == "0x1")

    def _fill(self, row: SignedPromise, part: int, changes: dict[str, Any]) -> tuple[Any, ...]:
        message = {**TypedData.of_json(row.typed_data).message, **changes}
        return (order_values(message), bytes.fromhex(row.signature[2:]), part)


def make_taker(world: World) -> Taker:
    """A stranger with claims worth 4,000 DAI, yield tokens worth 1,000, and 5,000 DAI, which the router may take."""
    (place,) = find_places(CHAIN_ID)
    account = world.new_account(WAD, {"DAI": 10_000 * WAD})
    world.transact(account, place.asset, "approve(address,uint256)", place.router, 2**255)
    for token in (place.pt, place.yt):
        world.transact(account, token, "approve(address,uint256)", place.router, 2**255)
    taker = Taker(world, account, place)
    assert taker.buy(4_000 * WAD) and taker.buy_yields(1_000 * WAD)
    return taker
