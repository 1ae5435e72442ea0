"""Kernel v3, ZeroDev's smart account (ERC-7579): the call that makes its calls, and what it says of who signs for it.

Facts from the ABIs and constants of the npm packages `@zerodev/sdk` 5.5.10 and `@zerodev/ecdsa-validator` 5.4.9. With
nonce key 0 the root validator judges an operation; only a root ECDSA validator with one owner is served.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import checksum, encode_args, encode_call
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call

ECDSA_VALIDATOR: Final = "0x845ADb2C711129d4f3966735eD98a9F09fC4cE57"
"""ZeroDev's ECDSA validator of Kernel v3.1 and later, at one address on every chain."""
FACTORY: Final = "0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"
"""The factory of Kernel v3.1; anybody may have it make an account."""
ID_PREFIX: Final = "kernel.advanced.v0.3."
_ACCOUNT_ID: Final = "function accountId() view returns (string)"
_ENTRY_POINT: Final = "function entrypoint() view returns (address)"
_ROOT_VALIDATOR: Final = "function rootValidator() view returns (bytes21)"
_OWNER: Final = "function ecdsaValidatorStorage(address account) view returns (address)"
_EXECUTE: Final = "function execute(bytes32 mode, bytes executionCalldata)"
_INITIALIZE: Final = (
    "function initialize(bytes21 rootValidator, address hook, bytes validatorData, bytes hookData, bytes[] initConfig)"
)
_CREATE: Final = "function createAccount(bytes data, bytes32 salt) returns (address)"
_ADDRESS: Final = "function getAddress(bytes data, bytes32 salt) view returns (address)"
# A validator's id: its kind, then its address. A mode: kind of call, kind of failure (0: everything reverts), nothing.
_VALIDATOR_ID: Final = b"\x01" + bytes.fromhex(ECDSA_VALIDATOR[2:])
_SINGLE: Final = bytes(32)
_BATCH: Final = b"\x01" + bytes(31)
_ZERO: Final = "0x" + "00" * 20
_SALT: Final = bytes(32)


def build_execute(calls: Sequence[Call], *, account: str) -> Call:
    """The call by which `account` makes `calls` in order, all or none; the EntryPoint sends it. Raises ValueError."""
    if not calls:
        raise ValueError("no calls to make")
    label = "; ".join(call.label for call in calls)
    if len(calls) == 1:
        [call] = calls
        packed = bytes.fromhex(call.to[2:]) + call.value.to_bytes(32, "big") + call.data
        return Call(account, encode_call(_EXECUTE, _SINGLE, packed), 0, label)
    batch = encode_args(("(address,uint256,bytes)[]",), ([(call.to, call.value, call.data) for call in calls],))
    return Call(account, encode_call(_EXECUTE, _BATCH, batch), 0, label)


def read_owner(chain: ChainReader, account: str, *, entry_point: str) -> str:
    """The key that alone signs for `account`, empty where it is no Kernel that `entry_point` and one key rule.

    Raises CallReverted, ContractOutputUnexpected for anything that is no Kernel, and the node errors.
    """
    [kind] = chain.call(account, _ACCOUNT_ID)
    [ruler] = chain.call(account, _ENTRY_POINT)
    [root] = chain.call(account, _ROOT_VALIDATOR)
    if not str(kind).startswith(ID_PREFIX) or ruler != entry_point or bytes(root) != _VALIDATOR_ID:
        return ""
    [owner] = chain.call(ECDSA_VALIDATOR, _OWNER, account)
    return str(checksum(owner)) if int(owner, 16) else ""


def find_account(chain: ChainReader, owner: str) -> str:
    """The account that the factory makes, or made, for `owner`. Raises as read_owner does."""
    [account] = chain.call(FACTORY, _ADDRESS, _initialize(owner), _SALT)
    return str(checksum(account))


def build_creation(owner: str) -> Call:
    """What anybody sends to have the account of `owner` made."""
    return Call(FACTORY, encode_call(_CREATE, _initialize(owner), _SALT), 0, f"Make the Kernel account of {owner}")


def _initialize(owner: str) -> bytes:
    return encode_call(_INITIALIZE, _VALIDATOR_ID, _ZERO, bytes.fromhex(owner[2:]), b"", [])
