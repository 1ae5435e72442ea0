"""`intel_advise_gas_optimization`: on which chain, and whether now, some operations cost least gas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from tools_app.chain.chains import get_pool
from tools_app.chain.rpc import parse_quantity
from tools_app.core.errors import GolemError
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.subsystems.intel.family import intel
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.result import UsdAmount

_BLOCKS: Final = 256
_GWEI: Final = 9
DEAR_BPS: Final = 12_500
"""Of the median: from a quarter above it on, waiting is advised."""
BASE_GAS: Final = 21_000
"""What every transaction pays beside its work; a batch pays it once."""


Operation = Literal[
    "TRANSFER", "APPROVE", "SWAP", "ADD_LIQUIDITY", "REMOVE_LIQUIDITY", "SUPPLY", "BORROW", "REPAY", "CLAIM"
]
TYPICAL_GAS: Final[Mapping[Operation, int]] = {
    "TRANSFER": 65_000,
    "APPROVE": 50_000,
    "SWAP": 180_000,
    "ADD_LIQUIDITY": 420_000,
    "REMOVE_LIQUIDITY": 260_000,
    "SUPPLY": 250_000,
    "BORROW": 320_000,
    "REPAY": 230_000,
    "CLAIM": 150_000,
}
_FORMULA: Final = (
    "typical gas of each operation times base and priority fee of the next block; a rollup's fee for data is left out;"
    " dear is a base fee a quarter above the median of the last 256 blocks"
)

Operations = Annotated[
    list[Operation], Field(min_length=1, max_length=10, description="What is to be done, one for each transaction.")
]
ChainIds = Annotated[
    list[int],
    Field(min_length=1, max_length=8, description="Chain ids to compare; by default the golem's own."),
    Meaning.ANY_ORDER,
]


@dataclass(frozen=True, slots=True)
class GasOnChain:
    """One chain now. `cost_usd` is of all operations, null with a reason where it cannot be told."""

    chain_id: int
    gas_price_gwei: str | None
    median_base_fee_gwei: str | None
    is_dear: bool | None
    cost_usd: UsdAmount | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class GasAdvice:
    """`recommended_time_utc` is `now`, or null where waiting is better: nobody knows for how long. Savings are against
    the dearest chain that answered.
    """

    recommended_chain: int | None
    recommended_time_utc: str | None
    advice: str
    batch_suggestion: str | None
    estimated_savings_usd: UsdAmount | None
    current_gas_by_chain: tuple[GasOnChain, ...]
    formula: str


@intel.read(
    query="gas_advice",
    snippet=(
        "gas_advice: what some operations would cost in gas on each of your chains now, whether fees are dear against"
        " the last blocks, and what a batch saves."
    ),
    guidelines=("Cheaper gas is no reason to move money to another chain for one action: the way costs more.",),
)
def intel_advise_gas_optimization(
    ctx: ReadContext, operations: Operations, chain_ids: ChainIds | None = None
) -> GasAdvice:
    """Compare what operations cost in gas on several chains now, and say whether to wait and whether to batch.

    Use before several small actions. Gas is typical, not simulated: a preview tells the exact amount.
    Does not foresee fees.
    """
    ctx.step("Reading fees")
    chains = list(dict.fromkeys(chain_ids or list_chains(ctx.golem)))
    gas = sum(TYPICAL_GAS[each] for each in operations)
    rows = [_read_chain(ctx, chain_id, gas) for chain_id in chains]
    priced = sorted((row.cost_usd.micro, place) for place, row in enumerate(rows) if row.cost_usd is not None)
    best = rows[priced[0][1]] if priced else None
    saved = BASE_GAS * (len(operations) - 1)
    return GasAdvice(
        recommended_chain=best.chain_id if best is not None else None,
        recommended_time_utc=ctx.now.isoformat() if best is not None and not best.is_dear else None,
        advice=_advise(best),
        batch_suggestion=(
            f"one batch of {len(operations)} saves about {saved} gas where the account carries out batches"
            if len(operations) > 1
            else None
        ),
        estimated_savings_usd=UsdAmount(priced[-1][0] - priced[0][0]) if priced else None,
        current_gas_by_chain=tuple(rows),
        formula=_FORMULA,
    )


def _advise(best: GasOnChain | None) -> str:
    if best is None:
        return "no chain told what its gas costs in dollars; look at the reasons"
    if best.is_dear:
        return f"fees on chain {best.chain_id} are dear against the last blocks: wait, unless it is urgent"
    return f"act now on chain {best.chain_id}"


def _read_chain(ctx: ReadContext, chain_id: int, gas: int) -> GasOnChain:
    """A chain that does not answer is told with its reason."""
    try:
        reader = ctx.chain(chain_id)
        fees = reader.fees()
        usual = median(_read_base_fees(ctx, reader))
    except GolemError as error:
        return GasOnChain(chain_id, None, None, None, None, f"{error.code}: {error.detail}")
    price = fees.base_fee + fees.priority_fee
    worth = PriceBook(reader).weigh(reader.native().address, gas * price).micro_usd
    return GasOnChain(
        chain_id,
        format_units(price, _GWEI),
        format_units(int(usual), _GWEI),
        fees.base_fee * BPS > usual * DEAR_BPS,
        UsdAmount(worth) if worth is not None else None,
        None if worth is not None else "the chain's coin has no fresh price",
    )


def _read_base_fees(ctx: ReadContext, reader: ChainReader) -> list[int]:
    """Wei per gas of each of the last blocks. Raises the node errors."""
    asked = hex(min(_BLOCKS, reader.block.number + 1))
    told: Any = get_pool(reader.chain_id).call(  # Any: a node's JSON
        "eth_feeHistory", asked, hex(reader.block.number), [], deadline=ctx.deadline
    )
    return [parse_quantity(each) for each in told["baseFeePerGas"]]
