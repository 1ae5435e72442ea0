"""The owner's transactions: SafeTx as EIP-712 says it, its digest, and the call that carries its signatures.

The server never signs one. It shows what would be signed, and relays what an owner signed elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import encode_args, encode_call
from tools_app.core.json_types import JsonObject

ZERO_ADDRESS: Final = "0x" + "00" * 20
NONCE: Final = "function nonce() view returns (uint256)"
OWNERS: Final = "function getOwners() view returns (address[])"
THRESHOLD: Final = "function getThreshold() view returns (uint256)"
IS_MODULE_ENABLED: Final = "function isModuleEnabled(address module) view returns (bool)"
ENABLE_MODULE: Final = "function enableModule(address module)"
MODULES: Final = (
    "function getModulesPaginated(address start, uint256 pageSize) view returns (address[] array, address next)"
)
FIRST_MODULE: Final = "0x0000000000000000000000000000000000000001"
"""What stands before the first module in a Safe's list."""
DISABLE_MODULE: Final = "function disableModule(address prevModule, address module)"
SET_HANDLER: Final = "function setFallbackHandler(address handler)"
SETUP: Final = (
    "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler,"
    " address paymentToken, uint256 payment, address paymentReceiver)"
)
CREATE_PROXY: Final = "function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce)"
EXEC_TRANSACTION: Final = (
    "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas,"
    " uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)"
)
_DOMAIN_TYPE: Final = keccak(text="EIP712Domain(uint256 chainId,address verifyingContract)")
_TX_TYPE: Final = keccak(
    text="SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,"
    "uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)"
)
_FIELDS: Final = (
    ("to", "address"),
    ("value", "uint256"),
    ("data", "bytes"),
    ("operation", "uint8"),
    ("safeTxGas", "uint256"),
    ("baseGas", "uint256"),
    ("gasPrice", "uint256"),
    ("gasToken", "address"),
    ("refundReceiver", "address"),
    ("nonce", "uint256"),
)


@dataclass(frozen=True, slots=True)
class SafeTx:
    """A call of a Safe, paid by whoever relays it. `value` in wei; `nonce` is the Safe's own.

    `operation` is 0 for a plain call, and 1 only for MultiSendCallOnly, which makes calls and nothing else.
    """

    to: str
    data: bytes
    nonce: int
    value: int = 0
    operation: int = 0


def build_typed_data(tx: SafeTx, *, safe: str, chain_id: int) -> JsonObject:
    """What a wallet shows and signs (`eth_signTypedData_v4`), JSON-ready."""
    return {
        "types": {
            "EIP712Domain": [
                {"name": "chainId", "type": "uint256"},
                {"name": "verifyingContract", "type": "address"},
            ],
            "SafeTx": [{"name": name, "type": kind} for name, kind in _FIELDS],
        },
        "primaryType": "SafeTx",
        "domain": {"chainId": chain_id, "verifyingContract": safe},
        "message": {
            "to": tx.to,
            "value": str(tx.value),
            "data": "0x" + tx.data.hex(),
            "operation": tx.operation,
            "safeTxGas": "0",
            "baseGas": "0",
            "gasPrice": "0",
            "gasToken": ZERO_ADDRESS,
            "refundReceiver": ZERO_ADDRESS,
            "nonce": str(tx.nonce),
        },
    }


def hash_safe_tx(tx: SafeTx, *, safe: str, chain_id: int) -> bytes:
    """The 32 bytes an owner signs; computable offline."""
    domain = keccak(encode_args(("bytes32", "uint256", "address"), (_DOMAIN_TYPE, chain_id, safe)))
    types = (
        "bytes32",
        "address",
        "uint256",
        "bytes32",
        "uint8",
        "uint256",
        "uint256",
        "uint256",
        "address",
        "address",
        "uint256",
    )
    values = (
        _TX_TYPE,
        tx.to,
        tx.value,
        bytes(keccak(tx.data)),
        tx.operation,
        0,
        0,
        0,
        ZERO_ADDRESS,
        ZERO_ADDRESS,
        tx.nonce,
    )
    return bytes(keccak(b"\x19\x01" + domain + keccak(encode_args(types, values))))


def join_signatures(signatures: Mapping[str, bytes]) -> bytes:
    """65-byte signatures by owner address, in the order the Safe wants them. Raises ValueError for another length."""
    if any(len(signature) != 65 for signature in signatures.values()):
        raise ValueError("an owner's signature has 65 bytes")
    return b"".join(signatures[owner] for owner in sorted(signatures, key=lambda address: int(address, 16)))


def encode_exec_transaction(tx: SafeTx, *, signatures: bytes) -> bytes:
    """Call data of the Safe's `execTransaction`; anyone may relay it."""
    return encode_call(
        EXEC_TRANSACTION, tx.to, tx.value, tx.data, tx.operation, 0, 0, 0, ZERO_ADDRESS, ZERO_ADDRESS, signatures
    )


def encode_setup(owners: Sequence[str], *, threshold: int, fallback_handler: str) -> bytes:
    """The initializer of a new Safe."""
    return encode_call(
        SETUP, list(owners), threshold, ZERO_ADDRESS, b"", fallback_handler, ZERO_ADDRESS, 0, ZERO_ADDRESS
    )
