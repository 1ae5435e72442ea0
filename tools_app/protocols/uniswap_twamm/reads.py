"""What the contract says of an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.toolkit.context import AbiValues, ReadCall
from tools_app.toolkit.orders import OrderFate

OPEN_OF: Final = "function openOrdersOf(address owner) view returns (uint256[])"
ORDER: Final = (
    "function orders(uint256 id) view returns ((address owner, address tokenIn, address tokenOut, uint256 amount,"
    " uint256 least, uint256 start, uint256 until, uint256 sold, uint256 bought, uint256 fate, uint256 endedIn))"
)
SUBMITTED: Final = (
    "event OrderSubmitted(uint256 indexed id, address indexed owner, address tokenIn, address tokenOut, uint256 amount)"
)
_FATES: Final = {
    1: OrderFate.OPEN,
    2: OrderFate.EXECUTED,
    3: OrderFate.CANCELLED,
    4: OrderFate.EXPIRED,
}


@dataclass(frozen=True, slots=True)
class OrderRead:
    """An order: base units of what it sells and buys, Unix seconds, and the block it ended in (0: not yet)."""

    number: int
    owner: str
    token_in: str
    token_out: str
    amount: int
    least: int
    start: int
    until: int
    sold: int
    bought: int
    fate: OrderFate
    ended_in: int

    @property
    def left(self) -> int:
        """What is not sold yet."""
        return self.amount - self.sold

    def most_due(self, at: int) -> int:
        """How much may be bought at a time, where nobody bought since."""
        gone = max(0, min(at, self.until) - self.start)
        return max(0, self.amount * gone // (self.until - self.start) - self.sold)


def order_call(contract: str, number: int) -> ReadCall:
    """One order."""
    return ReadCall(contract, ORDER, (number,))


def make_order(number: int, values: AbiValues) -> OrderRead:
    """What `order_call` answered."""
    ((owner, token_in, token_out, amount, least, start, until, sold, bought, fate, ended_in),) = values
    return OrderRead(
        number,
        owner,
        token_in,
        token_out,
        amount,
        least,
        start,
        until,
        sold,
        bought,
        _FATES.get(fate, OrderFate.UNKNOWN),
        ended_in,
    )
