"""Computes what one action earned or cost: its change of the net asset value, at the block it ended in.

Tokens and the legs of positions count alike, so what goes into a position or comes out of one is neither gain nor loss.
Where a plan says nothing of positions, only what trades and what collects is counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from permits_app.execution.actual_cost import MOST_MICRO_USD
from permits_app.models import ActionPermit
from permits_app.models.withdrawal import WITHDRAW
from permits_app.safety.position_rules import Moved
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import value_of
from tools_app.portfolio.slash_losses import list_marks, list_slashes
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import Category
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import NATIVE

_TRADES: Final = frozenset({Category.TRADING, Category.FEES})
_COLLECTS: Final = ("collect_", "claim_", "harvest_")


@dataclass(frozen=True, slots=True)
class Profit:
    """Micro-USD, a loss below zero. `slippage` is everything a trade or a step costs but gas: fees of the pool and
    impact too. `fees` are what was collected of fees, interest and rewards.
    """

    gas: int = 0
    slippage: int = 0
    fees: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.gas + self.slippage + self.fees

    def as_parts(self) -> dict[str, str]:
        """As it is stored. The price has no part: everything is valued at one block."""
        return {"gas": str(self.gas), "slippage": str(self.slippage), "fees_and_interest": str(self.fees)}


def measure_profit(
    *,
    permit: ActionPermit,
    tool: WriteTool | None,
    plan: TxPlan,
    succeeded: bool,
    deltas: Mapping[str, int],
    moved: Sequence[Moved] | None,
    fee_wei: int,
    chain: ChainReader | None,
) -> Profit | None:
    """None where it cannot be told. `deltas` in base units by token, gas in `fee_wei`, `moved` the positions around the
    blocks, None where they were not read. Reads the feeds.
    """
    # What a principal gives is paid in, and nothing that was earned.
    if chain is None or (succeeded and (plan.principals or not _is_told(permit, tool, plan, moved))):
        return None
    # What an owner takes out is neither gain nor loss: only its gas is.
    is_counted = succeeded and permit.tool_name != WITHDRAW
    changes = _sum_changes(deltas, moved or (), permit.chain_id) if is_counted else {}
    try:
        tokens = {address: chain.native() if address == NATIVE else chain.token(address) for address in changes}
        coin = chain.native()
        chain.preload(prices_of=[coin, *tokens.values()])
        gas = value_of(-fee_wei, coin, chain.price(coin))
        values = [value_of(raw, tokens[address], chain.price(tokens[address])) for address, raw in changes.items()]
    except GolemError:
        # A token nobody prices, or a node that went away: no figure rather than half of one.
        return None
    is_earned = all(value >= 0 for value in values)
    profit = Profit(gas, 0, sum(values)) if is_earned else Profit(gas, sum(values), 0)
    # A token can claim any amount; more than a row holds is no figure.
    return profit if abs(profit.total) <= MOST_MICRO_USD else None


def _is_told(permit: ActionPermit, tool: WriteTool | None, plan: TxPlan, moved: Sequence[Moved] | None) -> bool:
    if plan.changes:
        return moved is not None
    return tool is None or tool.category in _TRADES or permit.action_type.startswith(_COLLECTS)


def _sum_changes(deltas: Mapping[str, int], moved: Sequence[Moved], chain_id: int) -> dict[str, int]:
    """Base units by token in wallet and positions together. What stands for a position is not counted besides it."""
    around = [position for each in moved for position in (each.before, each.after) if position is not None]
    claims = {token for position in around for token in position.claim_tokens}
    sums: dict[str, int] = defaultdict(int)
    for address, raw in deltas.items():
        if address not in claims and (not moved or SHELF.of_contract(chain_id, address) is None):
            sums[address] += raw
    for each in moved:
        for address, raw in each.list_changes().items():
            sums[address] += raw
    # What was slashed in the same blocks is no cost of the action: it is a part of its own of the golem's profit.
    first = list_marks(each.before for each in moved if each.before is not None)
    last = list_marks(each.after for each in moved if each.after is not None)
    for slash in list_slashes(first, last):
        sums[slash.token] += slash.raw
    return {address: raw for address, raw in sums.items() if raw}
