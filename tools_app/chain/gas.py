"""EIP-1559 fees from the node's own history of recent blocks."""

from __future__ import annotations

from statistics import median_low
from typing import Any, Final

from tools_app.chain.node_errors import RpcNonsense
from tools_app.chain.rpc import RpcRequest, parse_quantity
from tools_app.toolkit.views import FeeQuote

_BLOCKS: Final = 10
_PERCENTILE: Final = 50


def fee_requests(block_number: int) -> list[RpcRequest]:
    """History up to the pinned block, and the node's own suggestion for when no recent block held a transaction."""
    return [
        RpcRequest("eth_feeHistory", (hex(_BLOCKS), hex(block_number), [_PERCENTILE])),
        RpcRequest("eth_maxPriorityFeePerGas"),
    ]


def parse_fees(results: list[Any]) -> FeeQuote:  # Any: a node's JSON
    """Wei per gas: next base fee, median priority fee, and a cap that five full blocks in a row cannot outgrow.

    The cap is twice the base fee plus the priority fee; a base fee grows by at most an eighth a block.
    Raises RpcNonsense.
    """
    history, suggested = results
    try:
        base_fee = parse_quantity(history["baseFeePerGas"][-1])
        rewards = [parse_quantity(row[0]) for row in history.get("reward") or []]
    except (KeyError, IndexError, TypeError):
        raise RpcNonsense("The node's fee history has another shape") from None
    paid = [reward for reward in rewards if reward > 0]
    priority_fee = median_low(paid) if paid else parse_quantity(suggested)
    return FeeQuote(base_fee=base_fee, priority_fee=priority_fee, max_fee=2 * base_fee + priority_fee)
