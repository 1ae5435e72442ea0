"""What a rollup charges on top of its own gas for carrying a transaction's bytes to layer one.

Optimism's chains ask their GasPriceOracle, Arbitrum its NodeInterface; the answer is an estimate of the chain itself at
the pinned block. Every other chain charges nothing more, and a rollup whose oracle does not answer is an error.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Protocol

from rlp import encode as rlp_encode

from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import BlockRef

OP_ORACLE: Final = "0x420000000000000000000000000000000000000F"
OP_FEE: Final = "function getL1Fee(bytes data) view returns (uint256 fee)"
ARBITRUM_NODE_INTERFACE: Final = "0x00000000000000000000000000000000000000C8"
ARBITRUM_GAS: Final = (
    "function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable"
    " returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)"
)
_DYNAMIC_FEE_TYPE: Final = b"\x02"
# The oracle prices bytes: a signature's are as many and as random as these.
_SIGNATURE: Final = (b"\x01", b"\xff" * 32, b"\xff" * 32)


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


class Reader(Protocol):
    """What is needed of a chain reader: one typed call at the pinned block."""

    @property
    def block(self) -> BlockRef: ...

    def call(self, to: str, signature: str, *args: object) -> tuple[object, ...]: ...


def estimate_l1_fee(
    reader: Reader,
    *,
    chain_id: int,
    call: Call,
    nonce: int,
    gas_limit: int,
    max_fee_per_gas: int,
    max_priority_fee_per_gas: int,
    kind: RollupKind | None = None,
    oracle: str | None = None,
) -> int:
    """The fee in wei for carrying `call` as a signed type 2 transaction to layer one; zero where there is none.

    `kind` and `oracle` replace what is known of the chain. Raises what the reader raises, also when the oracle does
    not answer as it should.
    """
    kind = kind or ROLLUPS.get(chain_id, RollupKind.NONE)
    if kind is RollupKind.NONE:
        return 0
    if kind is RollupKind.OP_STACK:
        signed = encode_signed(
            chain_id=chain_id,
            call=call,
            nonce=nonce,
            gas_limit=gas_limit,
            max_fee_per_gas=max_fee_per_gas,
            max_priority_fee_per_gas=max_priority_fee_per_gas,
        )
        return _as_int(reader.call(oracle or OP_ORACLE, OP_FEE, signed)[0])
    answer = reader.call(oracle or ARBITRUM_NODE_INTERFACE, ARBITRUM_GAS, call.to, False, call.data)
    # Arbitrum charges layer one as gas of its own, at the price the transaction pays.
    return _as_int(answer[0]) * max_fee_per_gas


def encode_signed(
    *,
    chain_id: int,
    call: Call,
    nonce: int,
    gas_limit: int,
    max_fee_per_gas: int,
    max_priority_fee_per_gas: int,
) -> bytes:
    """The transaction as it will be sent, with a signature of the same size in place of the real one."""
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
        *_SIGNATURE,
    ]
    return _DYNAMIC_FEE_TYPE + bytes(rlp_encode(fields))


def _trim(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def _as_int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("the signature promises a number")
    return value
