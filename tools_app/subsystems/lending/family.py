"""The family of the `lending_*` tools, and how they find a lender and a loop at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from tools_app.core.errors import GolemError, Recovery
from tools_app.portfolio.holdings import value_of
from tools_app.portfolio.read_all_positions import HeldAt
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.lending import Lending, LendingPair, NothingThere
from tools_app.toolkit.positions import Position, drive
from tools_app.toolkit.protocol import SHELF, ProtocolDef

Lender = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9_]{1,39}$", description="A lender by its name, as lending_compare_rates lists them."),
    Meaning.LENDER,
]

PositionName = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_]{1,39}/[a-z_]{1,20}/[0-9]{1,16}/[0-9a-zA-Z_\-]{1,100}$",
        description="One position at the lender by its name, as the health dashboard lists them.",
    ),
]

lending = ToolFamily(prefix="lending", category=Category.LENDING, picks_chain=True)


class UnknownLender(
    GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such lender on this chain"
):
    """No lender of that name is on the chain. `data.choices` are those that are."""


def list_lenders(chain: ChainReader) -> tuple[ProtocolDef, ...]:
    """The lenders that are there, their entry contract's code seen."""
    found = [each for each in SHELF.on(chain.chain_id) if each.lending is not None]
    entries = [each.address(chain.chain_id, each.entry) or "" for each in found]
    chain.preload(contracts=entries)
    return tuple(each for each, entry in zip(found, entries, strict=True) if entry and chain.code(entry))


def find_lender(chain: ChainReader, name: str) -> tuple[ProtocolDef, Lending]:
    """A lender by its name, or by the first word of it where only one has that. Raises UnknownLender."""
    lenders, wanted = list_lenders(chain), name.lower()
    found = [each for each in lenders if each.name == wanted]
    found = found or [each for each in lenders if each.name.partition("_")[0] == wanted]
    if len(found) != 1 or found[0].lending is None:
        raise UnknownLender(f"no lender on this chain is called {name!r}", choices=[each.name for each in lenders])
    return found[0], found[0].lending


def read_at(chain: ChainReader, account: str, lenders: Sequence[ProtocolDef]) -> tuple[Position, ...]:
    """What an account has at these lenders. Raises PositionsUnreadable."""
    return drive(HeldAt(chain.chain_id, account, tuple(lenders)).ask(), chain.call_many)


def read_loop(
    chain: ChainReader, account: str, lender: ProtocolDef, offer: Lending, *, named: str | None = None
) -> LendingPair:
    """The largest pair of collateral and debt of an account, by what they are worth at our feeds; of the position
    `named` where one is.

    Raises NothingThere where nothing is owed, PositionsUnreadable, and what prices raise.
    """
    best: tuple[int, Position, str, str] | None = None
    for position in read_at(chain, account, [lender]):
        if named is not None and str(position.ref) != named:
            continue
        owed = _largest(chain, position, sign=-1)
        covered = _largest(chain, position, sign=1)
        if owed and covered and (best is None or owed[0] > best[0]):
            best = (owed[0], position, covered[1], owed[1])
    if best is None:
        raise NothingThere(f"{account} owes nothing against collateral at {lender.label}", account=account)
    _, position, collateral, debt = best
    market = position.facts.get("market")
    wanted = None if market is None else str(market)
    return drive(offer.pair(chain.chain_id, account, collateral, debt, wanted), chain.call_many)


def worth(chain: ChainReader, token: str, raw: int) -> int:
    """Micro-USD of base units at our feed. Raises PriceUnavailable, PriceStale."""
    meta = chain.token(token)
    return value_of(raw, meta, chain.price(meta))


def _largest(chain: ChainReader, position: Position, *, sign: int) -> tuple[int, str] | None:
    """The leg worth most of those owed (-1), or of those that cover debts (1)."""
    legs = [leg for leg in position.legs if leg.raw * sign > 0 and (sign < 0 or leg.cover_bps)]
    return max(((worth(chain, leg.token, abs(leg.raw)), leg.token) for leg in legs), default=None)
