"""The family of the `uniswap_*` tools, and the few words all of them answer with."""

from __future__ import annotations

from tools_app.protocols.uniswap.addresses import CHAINS
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.views import ReceiptView

uniswap = ToolFamily(prefix="uniswap", category=Category.TRADING, chains=CHAINS)


def deadline_after(ctx: ReadContext, reader: ChainReader, seconds: int) -> int:
    """Unix seconds `seconds` from now, by our clock or the chain's, whichever is ahead."""
    return max(int(ctx.now.timestamp()), reader.block.timestamp) + seconds


def main_receipt(outcome: PlanOutcome, contract: str) -> ReceiptView:
    """The receipt of the plan's last call to `contract`; an account that batches has one receipt for all calls."""
    positions = [index for index, call in enumerate(outcome.plan.calls) if call.to == contract]
    return outcome.receipts[min(positions[-1], len(outcome.receipts) - 1)]


def gas_of(outcome: PlanOutcome) -> int:
    """Gas units of all transactions of a plan."""
    return sum(receipt.gas_used for receipt in outcome.receipts)
