"""Checks the shape of a node's answer to each method; a wrong one is no answer.

Checked where the answer arrives, so that whoever reads it later meets neither a list for a number nor a number that no
chain has. Whether an answer is true is another question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

Shape = Callable[[Any], bool]  # Any: a node's JSON

_QUANTITY: Final = re.compile(r"0x[0-9a-fA-F]{1,64}")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]*")


def is_quantity(value: object) -> bool:
    """Whether it is a number of at most 256 bits, in hex."""
    return isinstance(value, str) and _QUANTITY.fullmatch(value) is not None


def is_bytes(value: object) -> bool:
    """Whether it is hex of whole bytes."""
    return isinstance(value, str) and len(value) % 2 == 0 and _HEX.fullmatch(value) is not None


def has_shape(method: str, result: object) -> bool:
    """Whether `result` may be an answer to `method`; of a method that is not listed anything may be."""
    shape = _SHAPES.get(method)
    return shape is None or shape(result)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 66 and _HEX.fullmatch(value) is not None


def _list_of(shape: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(map(shape, value))


def _or_null(shape: Shape) -> Shape:
    return lambda value: value is None or shape(value)


def _object_of(needed: Mapping[str, Shape], **known: Shape) -> Shape:
    """An object with these members; of others that are there, those that are known have their shape."""

    def check(value: Any) -> bool:  # Any: a node's JSON
        if not isinstance(value, dict) or not all(
            name in value and shape(value[name]) for name, shape in needed.items()
        ):
            return False
        return all(shape(value[name]) for name, shape in known.items() if value.get(name) is not None)

    return check


_LOG: Final = _object_of(
    {"address": is_bytes, "topics": _list_of(is_bytes), "data": is_bytes},
    blockNumber=is_quantity,
    logIndex=is_quantity,
    transactionIndex=is_quantity,
    blockHash=is_bytes,
    transactionHash=is_bytes,
)
_BLOCK: Final = _object_of(
    {"number": is_quantity, "hash": is_bytes, "timestamp": is_quantity},
    baseFeePerGas=is_quantity,
    gasLimit=is_quantity,
    gasUsed=is_quantity,
    difficulty=is_quantity,
    excessBlobGas=is_quantity,
    parentHash=is_bytes,
    miner=is_bytes,
    mixHash=is_bytes,
    transactions=_list_of(lambda each: isinstance(each, str | dict)),
)
_RECEIPT: Final = _object_of(
    {"transactionHash": is_bytes, "blockNumber": is_quantity},
    status=is_quantity,
    gasUsed=is_quantity,
    effectiveGasPrice=is_quantity,
    blockHash=is_bytes,
    logs=_list_of(_LOG),
    contractAddress=is_bytes,
)
_TRANSACTION: Final = _object_of(
    {},
    hash=is_bytes,
    nonce=is_quantity,
    blockNumber=is_quantity,
    blockHash=is_bytes,
    to=is_bytes,
    input=is_bytes,
    value=is_quantity,
)
_FEE_HISTORY: Final = _object_of(
    {"baseFeePerGas": _list_of(is_quantity)}, reward=_list_of(_or_null(_list_of(is_quantity)))
)

_SHAPES: Final[Mapping[str, Shape]] = {
    "eth_blockNumber": is_quantity,
    "eth_call": is_bytes,
    "eth_chainId": is_quantity,
    "eth_createAccessList": _object_of({}, accessList=_list_of(_is_object)),
    "eth_estimateGas": is_quantity,
    "eth_feeHistory": _FEE_HISTORY,
    "eth_gasPrice": is_quantity,
    "eth_getBalance": is_quantity,
    "eth_getBlockByHash": _or_null(_BLOCK),
    "eth_getBlockByNumber": _or_null(_BLOCK),
    "eth_getCode": is_bytes,
    "eth_getLogs": _list_of(_LOG),
    "eth_getProof": _is_object,
    "eth_getStorageAt": _is_word,
    "eth_getTransactionByHash": _or_null(_TRANSACTION),
    "eth_getTransactionCount": is_quantity,
    "eth_getTransactionReceipt": _or_null(_RECEIPT),
    "eth_maxPriorityFeePerGas": is_quantity,
    "eth_sendRawTransaction": is_bytes,
    "eth_simulateV1": _list_of(_is_object),
    "eth_syncing": lambda value: isinstance(value, bool | dict),
    "debug_traceCall": _is_object,
    "net_version": _is_text,
    "web3_clientVersion": _is_text,
}
