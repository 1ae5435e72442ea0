"""Sells what may only fall in a wallet, in the plan that takes it out of a position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.errors import GolemError, Recovery
from tools_app.standards.market_orders import find_swap
from tools_app.standards.mid_plan_state import foresee
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.retiring_tokens import list_falling
from tools_app.toolkit.views import TokenMeta

SALE_SLIPPAGE_BPS: Final = 50
"""Of a sale in a plan whose tool asks for no slippage."""

LEAST_SOLD_MICRO_USD: Final = 1_000
"""What a sale of its own brings at least, a tenth of a cent: rounding alone takes too much of less."""

RETIRES: Final = "it retires: a withdrawal of its own sells it"
"""Why a plan that takes several things out leaves one of them."""


class RetiringUnsold(
    GolemError,
    status=422,
    recovery=Recovery.ASK_OWNER,
    title="What retires cannot be sold in the plan that takes it out",
):
    """What retires would come out of a position, and no market here sells so much of it in the same plan.

    `data.token` is the token, `data.amount` base units; a rest of interest too small to be sold is such an amount.
    """


@dataclass(frozen=True, slots=True)
class Sale:
    """Base units of a token that are sold as they come out, and the swap."""

    amount: int
    token: TokenMeta
    plan: TxPlan

    @property
    def brought(self) -> TokenFlow:
        """What it is sold for."""
        return self.plan.receives[0]

    @property
    def bounds(self) -> dict[str, int | None]:
        """What the plan that adopts it is held to."""
        return {
            "slippage_bps": self.plan.slippage_bps,
            "price_impact_bps": self.plan.price_impact_bps,
            "deadline": self.plan.deadline,
        }

    @property
    def details(self) -> Mapping[str, str]:
        """What the permit tells of it."""
        return {"sold_with_it": str(self.amount), "sold_token": self.token.address}


def sell_at_once(
    ctx: WriteContext, reader: ChainReader, *, sold: TokenMeta, bought: TokenMeta, amount: int, slippage_bps: int
) -> Sale:
    """The sale of `amount` that the account does not hold yet. Raises RetiringUnsold, and what the chain raises."""
    seen = foresee(reader, ctx.account, {sold.address: amount})
    plan = find_swap(
        replace(ctx, open_chain=lambda _: seen),
        chain_id=reader.chain_id,
        sold=sold.address,
        bought=bought.address,
        amount=amount,
        slippage_bps=slippage_bps,
    )
    if plan is None:
        raise RetiringUnsold(
            f"{sold.symbol} retires, and no market here sells what would come out of the position",
            token=sold.address,
            amount=str(amount),
        )
    return Sale(amount, sold, plan)


def sell_falling(
    ctx: WriteContext, reader: ChainReader, token: TokenMeta, amount: int, *, slippage_bps: int = SALE_SLIPPAGE_BPS
) -> Sale | None:
    """The sale into the golem's base asset of what may only fall; None where none must be.

    With the base asset itself falling nothing helps: what it is sold for would rise. Raises RetiringUnsold, also for
    what is worth too little to be sold alone, and what the chain raises.
    """
    falling = list_falling(ctx, reader.chain_id)
    if not amount or token.address not in falling:
        return None
    # Asked only here: a chain without the base asset has nothing that a cage lets fall.
    base = reader.token(ctx.golem.base_asset)
    if base.address in falling:
        return None
    sale = sell_at_once(ctx, reader, sold=token, bought=base, amount=amount, slippage_bps=slippage_bps)
    if _is_too_small(reader, sale):
        raise RetiringUnsold(
            f"{token.symbol} retires, and so little of it would come out of the position that a sale alone loses more"
            " by rounding than a cage lets it lose; the owners can take it out",
            token=token.address,
            amount=str(amount),
        )
    return sale


def _is_too_small(reader: ChainReader, sale: Sale) -> bool:
    """Without a price of what it is sold for nobody here can tell, and the cage judges."""
    if sale.brought.expected < LEAST_SOLD_MICRO_USD:
        return True
    try:
        price = reader.price(sale.brought.token)
    except (PriceStale, PriceUnavailable):
        return False
    scale: int = 10 ** (price.decimals + sale.brought.token.decimals)
    return sale.brought.expected * price.answer * 10**6 < LEAST_SOLD_MICRO_USD * scale
