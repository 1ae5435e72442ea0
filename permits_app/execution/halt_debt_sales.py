"""Under a halt, when its owner chose that: what is sold so that a debt can be paid. One plan, of the tools agents use.

Out of what the wallet holds where one token of it is enough; else, at lenders that core code knows to leave, out of
the loan's own collateral, in one plan where its health allows; else what the wallet has is sold towards it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.models import HaltSetting
from tools_app import runner
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import Holdings, Worth, measure_holdings
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import NeedsTrade, Position
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

SWAP: Final = "swap"
UNWIND: Final = "lending_unwind_loop"
SLIPPAGE_BPS: Final = 100
MARGIN_BPS: Final = 250
"""So much more is sold than the feeds say, for fees and slippage; what is over stays in the wallet."""
MOST_WAYS: Final = 4
"""So many other ways of a tool are asked where a halt may not sign its best."""

MaySign = Callable[[TxPlan], bool]
"""Whether the halt may sign what a plan asks."""


def does_sell(golem: Golem) -> bool:
    """Whether the owner lets a halt sell."""
    return HaltSetting.objects.filter(golem=golem, unwind_on_halt=True, sell_on_halt=True).exists()


def plan_sale(
    *,
    golem: Golem,
    position: Position,
    step: NeedsTrade,
    is_needed: bool,
    chain: ChainReader,
    now: datetime,
    may_sign: MaySign,
) -> tuple[TxPlan, str] | None:
    """A plan that brings what `step` misses or pays the debt out of its cover, and its tool; None where nothing does.

    Where it `is_needed`, since no other step is left, also one that brings a part of it. Raises the node's errors.
    """
    held = measure_holdings(chain=chain, account=golem.address, tokens=(chain.token(step.token),))
    sold = _choose_sold(held, step.token, step.raw, chain)

    def sell() -> tuple[TxPlan, str] | None:
        if sold is None:
            return None
        return find_best_sale(
            golem=golem,
            token=sold.token,
            wanted=step.token,
            amount=sold.amount,
            slippage_bps=SLIPPAGE_BPS,
            chain=chain,
            now=now,
            may_sign=may_sign,
        )

    found = sell() if sold is not None and sold.is_enough else None
    found = found or _sell_cover(golem, position, chain, now)
    return sell() if found is None and is_needed else found


def find_best_sale(
    *,
    golem: Golem,
    token: str,
    wanted: str,
    amount: int,
    slippage_bps: int,
    chain: ChainReader,
    now: datetime,
    may_sign: MaySign,
) -> tuple[TxPlan, str] | None:
    """The swap of `amount` of `token` that brings most of `wanted` among those that the halt may sign, and its tool;
    None where there is none. Raises the node's errors.
    """
    asked: dict[str, object] = {
        "token_in": token,
        "token_out": wanted,
        "amount": str(amount),
        "slippage_bps": slippage_bps,
        "chain_id": chain.chain_id,
    }
    found: list[tuple[TxPlan, str]] = []
    for tool in REGISTRY:
        if isinstance(tool, WriteTool) and tool.key == SWAP and tool.supports_chain(chain.chain_id):
            plan = _plan_signable(tool, asked, golem, chain, now, may_sign)
            found += [(plan, tool.name)] if plan is not None else []
    return max(found, key=lambda each: each[0].receives[0].expected, default=None)


def _plan_signable(
    tool: WriteTool, asked: dict[str, object], golem: Golem, chain: ChainReader, now: datetime, may_sign: MaySign
) -> TxPlan | None:
    """The tool's best way, or where a halt may not sign that one, the best of the others it names."""
    best = _plan(tool, asked, golem, chain, now)
    if best is None or may_sign(best):
        return best
    named = [each for each in best.details.get("other_routes", ()) if isinstance(each, str)]
    ways = (_plan(tool, {**asked, "route": each}, golem, chain, now) for each in named[:MOST_WAYS])
    signable = [plan for plan in ways if plan is not None and may_sign(plan)]
    return max(signable, key=lambda plan: plan.receives[0].expected, default=None)


@dataclass(frozen=True, slots=True)
class _Sold:
    """What is sold of the wallet: base units of a token, and whether they bring all that is missing."""

    token: str
    amount: int
    is_enough: bool


def _choose_sold(held: Holdings, missing: str, raw: int, chain: ChainReader) -> _Sold | None:
    """The token worth most, and how much of it: what is missing and a margin, or all there is. The coin stays for gas.

    Raises PriceStale, PriceUnavailable: what is sold blindly is sold badly.
    """
    meta = chain.token(missing)
    needed = Worth(meta, raw, chain.price(meta)).micro_usd
    rows = [
        each
        for each in held.tokens
        if each.raw > 0 and each.micro_usd and not each.token.is_native and each.token.address != missing
    ]
    best = max(rows, key=lambda each: each.micro_usd or 0, default=None)
    if best is None or not needed or not best.micro_usd:
        return None
    amount = -(-best.raw * needed * (BPS + MARGIN_BPS) // (best.micro_usd * BPS))
    return _Sold(best.token.address, min(best.raw, amount), best.raw >= amount)


def _sell_cover(golem: Golem, position: Position, chain: ChainReader, now: datetime) -> tuple[TxPlan, str] | None:
    protocol = SHELF.get(position.ref.protocol)
    tool = REGISTRY.get(UNWIND)
    if protocol is None or protocol.lending is None or not isinstance(tool, WriteTool):
        return None
    wanted = {
        "account": golem.address,
        "protocol": protocol.name,
        "percent_to_unwind": 100,
        "chain_id": chain.chain_id,
        "slippage_bps": SLIPPAGE_BPS,
        "position": str(position.ref),
    }
    plan = _plan(tool, wanted, golem, chain, now)
    return (plan, tool.name) if plan is not None else None


def _plan(tool: WriteTool, wanted: dict[str, object], golem: Golem, chain: ChainReader, now: datetime) -> TxPlan | None:
    """None where the tool cannot; a node that is away is no such answer."""
    known = {name: value for name, value in wanted.items() if name in tool.params_model.model_fields}
    try:
        params = runner.check_params(tool=tool, params=known)
        return runner.build_plan(tool=tool, params=params, golem=view_golem(golem), now=now, chain=chain)
    except GolemError as error:
        if error.next_step in (Recovery.WAIT, Recovery.CHECK_STATE) and error.http_status >= 500:
            raise
        return None
