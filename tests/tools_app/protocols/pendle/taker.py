"""A stranger who fills limit orders at Pendle: sells claims through the real router, into orders first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from permits_app.models import SignedPromise
from tests.evm.world import CHAIN_ID, World
from tools_app.chain.abi import encode_call
from tools_app.protocols.pendle.addresses import Place, find_places
from tools_app.protocols.pendle.calls import ANY_GUESS, BUY_PT, NO_LIMIT, SELL_PT, paying, taking
from tools_app.protocols.pendle.limit_orders import order_values
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
        fills = tuple(self._fill(row, part, changes) for row in rows)
        limit = (self.place.limit_router, 0, fills, (), b"") if fills else NO_LIMIT
        data = encode_call(
            SELL_PT, self.account.address, self.place.market, claims, taking(self.place.asset, least), limit
        )
        return bool(
            self.world.send(self.account, self.place.router, "0x" + data.hex(), gas=3_000_000)["status"] == "0x1"
        )

    def _fill(self, row: SignedPromise, part: int, changes: dict[str, Any]) -> tuple[Any, ...]:
        message = {**TypedData.of_json(row.typed_data).message, **changes}
        return (order_values(message), bytes.fromhex(row.signature[2:]), part)


def make_taker(world: World) -> Taker:
    """A stranger with claims worth 4,000 DAI, which the router may take."""
    (place,) = find_places(CHAIN_ID)
    account = world.new_account(WAD, {"DAI": 4_000 * WAD})
    world.transact(account, place.asset, "approve(address,uint256)", place.router, 2**255)
    world.transact(account, place.pt, "approve(address,uint256)", place.router, 2**255)
    data = encode_call(BUY_PT, account.address, place.market, 1, ANY_GUESS, paying(place.asset, 4_000 * WAD), NO_LIMIT)
    assert world.send(account, place.router, "0x" + data.hex())["status"] == "0x1"
    return Taker(world, account, place)
