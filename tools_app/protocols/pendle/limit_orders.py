"""A limit order as its maker signs it: typed data, the rate at which it stands, and the least that a fill brings. Pure.

Whoever fills it pays what the order's yearly rate makes of a claim at that second, so what comes changes with time and
nothing else. `failSafeRate` is what shares the asset must at least become; older limit routers hold it only where the
salt is a multiple of a number of theirs. A part of an order may be filled, and the rest waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools_app.core.units import BPS
from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS, exp_wad, ln_wad
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
BUYS_CLAIMS: Final = 0
"""The order's type: the maker gives a token of the yield and gets claims. The three other types are not signed here."""
SALT_STEP: Final = 12_421
"""Of a salt that is no multiple of it older limit routers ignore `failSafeRate`, and the order book takes none."""
KEPT_BPS: Final = 9_950
"""How much of its asset an order still has as shares, at worst: what a yield earns while it waits may be so much."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What an order says, in base units, Unix seconds, and rates with 18 decimals."""

    asset: str
    yt: str
    maker: str
    amount: int
    ends_at: int
    nonce: int
    number: int
    ln_rate: int
    fail_safe: int


def type_order(terms: Terms, *, router: str, chain_id: int) -> TypedData:
    """What is signed to buy claims with `amount` of the asset."""
    return TypedData(
        domain=domain_of(router, chain_id),
        primary_type=ORDER,
        types={ORDER: FIELDS},
        message={
            "salt": terms.number * SALT_STEP,
            "expiry": terms.ends_at,
            "nonce": terms.nonce,
            "orderType": BUYS_CLAIMS,
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


def domain_of(router: str, chain_id: int) -> dict[str, Any]:
    """Whom an order is signed for."""
    return {"name": "Pendle Limit Order Protocol", "version": "1", "chainId": chain_id, "verifyingContract": router}


def order_values(message: Mapping[str, Any]) -> tuple[Any, ...]:
    """The order as calls take it."""
    return tuple(bytes.fromhex(message[name][2:]) if kind == "bytes" else message[name] for name, kind in FIELDS)


def order_message(values: tuple[Any, ...]) -> dict[str, Any]:
    """The order as it is signed, of what a call carries."""
    named = zip(FIELDS, values, strict=True)
    return {name: "0x" + value.hex() if kind == "bytes" else value for (name, kind), value in named}


def least_claims(message: Mapping[str, Any], *, due_at: int) -> int:
    """The least claims that an order to buy them brings when it is filled whole: at its last second, with shares that
    are worth no more than what it lets them be.
    """
    left = due_at - int(message["expiry"])
    kept = int(message["makingAmount"]) * KEPT_BPS // BPS
    return kept * exp_wad(int(message["lnImpliedRate"]) * left // YEAR_SECONDS) // WAD


def least_shares(index: int) -> int:
    """`failSafeRate` of an order to buy claims: shares that an asset must at least become, to keep its part."""
    return -(-KEPT_BPS * WAD * WAD // (BPS * index))


def keeps_its_part(message: Mapping[str, Any], *, index: int) -> bool:
    """Whether the order lets none of its asset be worth less as shares than what `least_claims` counts on."""
    kept = int(message["failSafeRate"]) * index * BPS
    return int(message["salt"]) % SALT_STEP == 0 and kept >= KEPT_BPS * WAD * WAD


def to_ln_rate(yearly_wad: int) -> int:
    """The order's rate of a yearly rate, both with 18 decimals. Raises NoTrade beyond the series."""
    return ln_wad(WAD + yearly_wad)
