"""Computes what a rollup charges for carrying a transaction's bytes to layer one.

Optimism's chains ask their GasPriceOracle, Arbitrum its NodeInterface; the answer is an estimate of the chain itself at
the pinned block. Every other chain charges nothing more, and a rollup whose oracle does not answer is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rlp import encode as rlp_encode

from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import Call

OP_ORACLE: Final = "0x420000000000000000000000000000000000000F"
OP_FEE: Final = "function getL1Fee(bytes data) view returns (uint256 fee)"
ARBITRUM_NODE_INTERFACE: Final = "0x00000000000000000000000000000000000000C8"
ARBITRUM_GAS: Final = (
    "function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable"
    " returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)"
)
_DYNAMIC_FEE_TYPE: Final = b"\x02"


class RollupKind(StrEnum):
    """How a chain charges for layer one."""

    NONE = "none"
    OP_STACK = "op_stack"
    ARBITRUM = "arbitrum"


ROLLUPS: Final[dict[int, RollupKind]] = {
    10: RollupKind.OP_STACK,
    130: RollupKind.OP_STACK,
    8453: RollupKind.OP_STACK,
    81457: RollupKind.OP_STACK,
    42220: RollupKind.OP_STACK,
    42161: RollupKind.ARBITRUM,
}


@dataclass(frozen=True, slots=True)
class L1Charge:
    """What one transaction pays for layer one: further gas it needs in its limit, and wei on top of all gas."""

    gas: int = 0
    fee_wei: int = 0


def estimate_l1_charges(
    chain: ChainReader,
    *,
    calls: Sequence[Call],
    gas_limits: Sequence[int],
    nonce: int,
    max_fee_per_gas: int,
    max_priority_fee_per_gas: int,
) -> tuple[L1Charge, ...]:
    """What each of `calls` is charged as a type 2 transaction, asked of the chain's own oracle in one round trip.

    Nothing on a chain without layer one. Raises ContractOutputUnexpected when the oracle does not answer as it
    should, and what the reader raises.
    """
    kind = ROLLUPS.get(chain.chain_id, RollupKind.NONE)
    if kind is RollupKind.NONE:
        return (L1Charge(),) * len(calls)
    if kind is RollupKind.ARBITRUM:
        asked = [ReadCall(ARBITRUM_NODE_INTERFACE, ARBITRUM_GAS, (c.to, len(c.to) <= 2, c.data)) for c in calls]
        # Arbitrum takes its charge as gas, at the price the transaction pays.
        return tuple(L1Charge(gas=found) for found in _ask(chain, asked))
    asked = []
    for position, (call, gas_limit) in enumerate(zip(calls, gas_limits, strict=True)):
        unsigned = encode_unsigned(
            chain_id=chain.chain_id,
            call=call,
            nonce=nonce + position,
            gas_limit=gas_limit,
            max_fee_per_gas=max_fee_per_gas,
            max_priority_fee_per_gas=max_priority_fee_per_gas,
        )
        asked.append(ReadCall(OP_ORACLE, OP_FEE, (unsigned,)))
    return tuple(L1Charge(fee_wei=found) for found in _ask(chain, asked))


def encode_unsigned(
    *,
    chain_id: int,
    call: Call,
    nonce: int,
    gas_limit: int,
    max_fee_per_gas: int,
    max_priority_fee_per_gas: int,
) -> bytes:
    """The transaction as it will be sent but for its signature, whose bytes the oracle adds itself."""
    fields = [
        _trim(chain_id),
        _trim(nonce),
        _trim(max_priority_fee_per_gas),
        _trim(max_fee_per_gas),
        _trim(gas_limit),
        bytes.fromhex(call.to[2:]),
        _trim(call.value),
        call.data,
        [],
    ]
    return _DYNAMIC_FEE_TYPE + bytes(rlp_encode(fields))


def _ask(chain: ChainReader, asked: Sequence[ReadCall]) -> list[int]:
    found = []
    for read, outcome in zip(asked, chain.call_many(asked), strict=True):
        if not outcome.ok or not isinstance(outcome.values[0], int):
            raise ContractOutputUnexpected(
                f"the layer-one fee oracle at {read.to} does not answer: {outcome.revert_reason}", address=read.to
            )
        found.append(outcome.values[0])
    return found


def _trim(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "big")
