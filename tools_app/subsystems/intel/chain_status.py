"""`intel_get_chain_status`: block, fees and how quickly a node answers."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tools_app.chain.chains import get_pool
from tools_app.core.units import format_units
from tools_app.portfolio.markets import list_markets
from tools_app.subsystems.intel.family import intel
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import ChainId

_GWEI = 9


@dataclass(frozen=True, slots=True)
class ChainStatus:
    """One chain now. Fees in gwei as decimal text; `gas_price_gwei` is base and priority fee together, what a
    transaction of the next block pays. `rpc_latency_ms` is one question, there and back; `markets` are the
    protocols whose pools are read there.
    """

    chain_id: int
    block_number: int
    block_age_seconds: int
    gas_price_gwei: str
    base_fee_gwei: str
    priority_fee_gwei: str
    rpc_latency_ms: int
    markets: tuple[str, ...]


@intel.read(
    budget=TickBudget.FAST,
    snippet=(
        "chain_status: newest block and its age, fees of the next block, how quickly the node answers, and whose"
        " pools are traded on the chain."
    ),
    guidelines=("Old blocks or a slow node make quotes old: take a smaller amount or wait.",),
)
def intel_get_chain_status(ctx: ReadContext, chain_id: ChainId | None = None) -> ChainStatus:
    """Read how a chain is now: newest block, fees, and how quickly its node answers.

    Use before acting on a chain that was quiet. Fees are of the next block, by the node that would carry it.
    Does not compare chains; wallet_get_supported_chains lists all of them.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Asking the node")
    begun = time.monotonic()
    get_pool(reader.chain_id).call("eth_blockNumber", deadline=ctx.deadline)
    latency = round((time.monotonic() - begun) * 1_000)
    fees = reader.fees()
    return ChainStatus(
        chain_id=reader.chain_id,
        block_number=reader.block.number,
        block_age_seconds=max(0, int(ctx.now.timestamp()) - reader.block.timestamp),
        gas_price_gwei=format_units(fees.base_fee + fees.priority_fee, _GWEI),
        base_fee_gwei=format_units(fees.base_fee, _GWEI),
        priority_fee_gwei=format_units(fees.priority_fee, _GWEI),
        rpc_latency_ms=latency,
        markets=tuple(sorted(list_markets(reader.chain_id))),
    )
