"""A limit order as its maker signs it: typed data, the rate at which it stands, and the least that a fill brings. Pure.

Whoever fills it pays or asks what the order's yearly rate makes of a claim at that second, so what comes changes with
time and nothing else: a claim grows dearer with every second, and a yield token cheaper. `failSafeRate` is what a token
given must at least become in shares, or shares taken at least bring; older limit routers hold it only where the salt is
a multiple of a number of theirs. A part of an order may be filled, and the rest waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from tools_app.chain.abi_records import TypedStruct
from tools_app.core.units import BPS
from tools_app.protocols.pendle.addresses import Place
from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS, exp_wad, ln_wad, price_of_claim
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.typed_data import TypedData

ORDER: Final = "Order"
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    ("salt", "uint256"),
    ("expiry", "uint256"),
    ("nonce", "uint256"),
    ("orderType", "uint8"),
    ("token", "address"),
    ("YT", "address"),
    ("maker", "address"),
    ("receiver", "address"),
    ("makingAmount", "uint256"),
    ("lnImpliedRate", "uint256"),
    ("failSafeRate", "uint256"),
    ("permit", "bytes"),
)
SALT_STEP: Final = 12_421
"""Of a salt that is no multiple of it older limit routers ignore `failSafeRate`, and the order book takes none."""
_IN_A_SECOND: Final = 10**6
"""How many orders of one second have salts of their own: a salt says when its order was made."""
KEPT_BPS: Final = 9_950
"""How much stays at worst where the asset becomes shares, or shares the asset: a yield earns while an order waits."""
MOST_YEARLY_BPS: Final = 10_000
"""What shares are taken to earn a year at most while an order waits: they double. What they earned is what claims are
counted in, and shares that lose it again bring so much less: an order cannot say by how much they may have risen.
"""
_SIGNED_BPS: Final = 9_955
"""What an order that takes the asset is signed with: what a share brings grows until somebody else reads the order."""


class Side(IntEnum):
    """What an order does, by the number that it has in the order."""

    BUY_PT = 0
    SELL_PT = 1
    BUY_YT = 2
    SELL_YT = 3

    @property
    def buys(self) -> bool:
        """Whether its maker gives the asset."""
        return self in (Side.BUY_PT, Side.BUY_YT)

    @property
    def is_of_claims(self) -> bool:
        """Whether claims are bought or sold, and not yield tokens."""
        return self in (Side.BUY_PT, Side.SELL_PT)

    def gives(self, place: Place) -> str:
        """The token that its maker gives."""
        return place.asset if self.buys else self._of_market(place)

    def takes(self, place: Place) -> str:
        """The token that its maker gets."""
        return self._of_market(place) if self.buys else place.asset

    def _of_market(self, place: Place) -> str:
        return place.pt if self.is_of_claims else place.yt


@dataclass(frozen=True, slots=True)
class Terms:
    """What an order says, in base units, Unix seconds, and rates with 18 decimals. `number` tells orders that were made
    in the same second apart.
    """

    side: Side
    asset: str
    yt: str
    maker: str
    amount: int
    made_at: int
    ends_at: int
    nonce: int
    number: int
    ln_rate: int
    fail_safe: int


def type_order(terms: Terms, *, router: str, chain_id: int) -> TypedData:
    """What is signed."""
    return TypedData(
        domain=domain_of(router, chain_id),
        primary_type=ORDER,
        types={ORDER: FIELDS},
        message={
            "salt": (terms.made_at * _IN_A_SECOND + terms.number % _IN_A_SECOND) * SALT_STEP,
            "expiry": terms.ends_at,
            "nonce": terms.nonce,
            "orderType": int(terms.side),
            "token": terms.asset,
            "YT": terms.yt,
            "maker": terms.maker,
            "receiver": terms.maker,
            "makingAmount": terms.amount,
            "lnImpliedRate": terms.ln_rate,
            "failSafeRate": terms.fail_safe,
            "permit": "0x",
        },
    )


def domain_of(router: str, chain_id: int) -> dict[str, object]:
    """Whom an order is signed for."""
    return {"name": "Pendle Limit Order Protocol", "version": "1", "chainId": chain_id, "verifyingContract": router}


@dataclass(frozen=True, slots=True)
class Order:
    """What was signed: `making_amount` base units at a yearly rate, from its maker to its receiver, until `expiry` in
    Unix seconds.
    """

    salt: int
    expiry: int
    nonce: int
    order_type: int
    token: str
    yt: str
    maker: str
    receiver: str
    making_amount: int
    ln_implied_rate: int
    fail_safe_rate: int
    permit: str

    @property
    def made_at(self) -> int:
        """The second in which it was made, as its salt says."""
        return self.salt // SALT_STEP // _IN_A_SECOND


_ORDERS: Final = TypedStruct({ORDER: FIELDS}, ORDER, Order)


def read_order(typed: TypedData) -> Order:
    """The order that is signed. Raises KeyError for typed data of another kind."""
    return _ORDERS.read(typed.message)


def order_values(message: Mapping[str, object]) -> tuple[object, ...]:
    """The order as calls take it."""
    return tuple(bytes.fromhex(str(message[name])[2:]) if kind == "bytes" else message[name] for name, kind in FIELDS)


def order_message(values: AbiValues) -> dict[str, object]:
    """The order as it is signed, of what a call carries."""
    named = zip(FIELDS, values, strict=True)
    return {name: "0x" + value.hex() if kind == "bytes" else value for (name, kind), value in named}


def least_out(order: Order, *, due_at: int) -> int:
    """The least that it brings when it is filled whole, with shares no worse than what it lets them be. Raises NoTrade.

    What is bought for less every second, and sold for more, brings the least at once; the others at their last second.
    What is sold is paid in shares of what they had risen to, and those may have fallen since, as far as it lets them.
    """
    side, rate, amount = Side(order.order_type), order.ln_implied_rate, order.making_amount
    worst_at = order.made_at if side in (Side.SELL_PT, Side.BUY_YT) else order.expiry
    left, kept = due_at - worst_at, amount * KEPT_BPS // BPS
    if not side.buys:
        stands = max(0, order.expiry - order.made_at)
        year = BPS * YEAR_SECONDS
        kept = kept * year // (year + MOST_YEARLY_BPS * stands)
    if side is Side.BUY_PT:
        return kept * exp_wad(rate * left // YEAR_SECONDS) // WAD
    price = price_at(side, rate, left)
    return kept * WAD // max(1, price) if side is Side.BUY_YT else kept * price // WAD


def price_at(side: Side, ln_rate: int, left: int) -> int:
    """What one of what is traded costs in the asset, with 18 decimals, so many seconds before claims are due."""
    claim = price_of_claim(ln_rate, left)
    return claim if side.is_of_claims else WAD - claim


def fail_safe(side: Side, *, index: int) -> int:
    """`failSafeRate` to sign: shares that an asset must at least become, or of the asset that a share must bring."""
    return -(-KEPT_BPS * WAD * WAD // (BPS * index)) if side.buys else -(-_SIGNED_BPS * index // BPS)


def keeps_its_part(order: Order, *, index: int) -> bool:
    """Whether the order lets no share and no asset be worth less than what `least_out` counts on."""
    if order.salt % SALT_STEP:
        return False
    rate = order.fail_safe_rate
    if Side(order.order_type).buys:
        return rate * index * BPS >= KEPT_BPS * WAD * WAD
    return rate * BPS >= KEPT_BPS * index


def to_ln_rate(yearly_wad: int) -> int:
    """The order's rate of a yearly rate, both with 18 decimals. Raises NoTrade beyond the series."""
    return ln_wad(WAD + yearly_wad)
