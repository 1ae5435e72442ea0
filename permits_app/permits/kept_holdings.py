"""What a snapshot keeps of a golem's holdings, as values: the type of `NavSnapshot.holdings`.

Pages read these; `holdings_json` makes them of what was measured. A snapshot of before may lack what has a default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from tools_app.core.stored_json import IntText


@dataclass(frozen=True, slots=True)
class KeptToken:
    """One token in the wallet: its amount in units, and micro-USD, None where nobody knows or it counts elsewhere."""

    symbol: str
    units: str
    micro_usd: IntText | None
    note: str
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class KeptTime:
    """When (Unix seconds) a part of a position comes free or a claim in it is due."""

    at: int
    what: str


@dataclass(frozen=True, slots=True)
class KeptLock:
    """What of a position cannot be taken out now, in units (empty for all of it), and why."""

    units: str
    reason: str


@dataclass(frozen=True, slots=True)
class KeptRange:
    """A range of prices and where the pool stands in it.

    `price`, `lower` and `upper` are in `unit` (as `USDC per WETH`), `at` is from 0 to 100 on the drawing. `fees` are
    what waits of both tokens, `fees_bps` how much that is of what is in it, at the pool's price, and `fees_at` from 0
    to 100 on the drawing. `hook` says what a stranger's code in its pool could do, empty without one, and `powers`
    names it; `is_risky` is on where that is to take money or to keep it.
    """

    lower: str
    upper: str
    price: str
    unit: str
    at: int
    is_within: bool
    fees: tuple[str, ...] = ()
    fees_bps: int = 0
    fees_at: int = 0
    hook: str = ""
    powers: tuple[str, ...] = ()
    is_risky: bool = False


@dataclass(frozen=True, slots=True)
class KeptPosition:
    """One position: amounts in units, worth and debt in micro-USD, health in basis points, `free_at` a Unix second.

    `leaving_seconds` is how long its way out takes once it is asked for, None where nobody knows; `counted` says by
    which rules it counts, where that is not the price of what it holds.
    """

    ref: str
    label: str
    protocol: str
    is_simulated: bool
    holds: tuple[str, ...]
    owes: tuple[str, ...]
    micro_usd: IntText | None
    debt: IntText
    health_bps: int | None
    free_at: int | None
    leaving_seconds: int | None = 0
    times: tuple[KeptTime, ...] = ()
    locked: tuple[KeptLock, ...] = ()
    counted: tuple[str, ...] = ()
    range: KeptRange | None = None


@dataclass(frozen=True, slots=True)
class KeptShare:
    """How much of a portfolio, in micro-USD, moves with one asset."""

    symbol: str
    address: str
    micro_usd: IntText


@dataclass(frozen=True, slots=True)
class KeptHoldings:
    """Everything on one chain, or on several, in micro-USD; `liquid` is what did not wait, `problems` what is not
    counted, `shares` the largest first.
    """

    tokens: tuple[KeptToken, ...]
    positions: tuple[KeptPosition, ...]
    value: IntText
    debt: IntText
    liquid: IntText
    problems: tuple[str, ...]
    shares: tuple[KeptShare, ...] = ()

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Those of several chains as one; of a single one just that."""
        if len(parts) == 1:
            return parts[0]
        shares: dict[str, KeptShare] = {}
        for each in (share for one in parts for share in one.shares):
            known = shares.get(each.symbol, replace(each, micro_usd=0))
            shares[each.symbol] = replace(known, micro_usd=known.micro_usd + each.micro_usd)
        return cls(
            tokens=tuple(each for one in parts for each in one.tokens),
            positions=tuple(each for one in parts for each in one.positions),
            value=sum(one.value for one in parts),
            debt=sum(one.debt for one in parts),
            liquid=sum(one.liquid for one in parts),
            problems=tuple(each for one in parts for each in one.problems),
            shares=tuple(sorted(shares.values(), key=lambda share: -share.micro_usd)),
        )
