"""A delegation as bytes, as a value and as what is hashed (ERC-7710); pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, decode_values, encode_args, encode_call
from tools_app.chain.typed_hash import hash_struct, hash_typed_data
from tools_app.protocols.metamask.addresses import MANAGER
from tools_app.toolkit.typed_data import TypedData

ROOT: Final = "0x" + "ff" * 32
ANYBODY: Final = "0x0000000000000000000000000000000000000a11"
"""As a delegate it lets whoever wants redeem."""
REDEEM: Final = "function redeemDelegations(bytes[] contexts, bytes32[] modes, bytes[] executions)"
SINGLE: Final = bytes(32)
"""The mode of one execution that reverts with its call."""
_SHAPE: Final = ("(address,address,bytes32,(address,bytes,bytes)[],uint256,bytes)[]",)
_ADDRESS_BYTES: Final = 20
_WORD: Final = 32
_TYPES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "Delegation": (
        ("delegate", "address"),
        ("delegator", "address"),
        ("authority", "bytes32"),
        ("caveats", "Caveat[]"),
        ("salt", "uint256"),
    ),
    "Caveat": (("enforcer", "address"), ("terms", "bytes")),
}


class NoDelegation(ValueError):
    """Bytes that are no list of delegations, or not as they are written."""


@dataclass(frozen=True, slots=True)
class Caveat:
    """What an enforcer is held to. `args` are given by who redeems and are signed by nobody."""

    enforcer: str
    terms: bytes
    args: bytes = b""


@dataclass(frozen=True, slots=True)
class Delegation:
    """What `delegator` lets `delegate` do, within its caveats."""

    delegate: str
    delegator: str
    authority: str
    caveats: tuple[Caveat, ...]
    salt: int
    signature: bytes = b""

    @property
    def message(self) -> dict[str, Any]:
        """What is signed of it."""
        return {
            "delegate": self.delegate,
            "delegator": self.delegator,
            "authority": self.authority,
            "caveats": [{"enforcer": each.enforcer, "terms": "0x" + each.terms.hex()} for each in self.caveats],
            "salt": self.salt,
        }

    @property
    def hash(self) -> str:
        """What the manager and its enforcers call it."""
        return "0x" + hash_struct("Delegation", self.message, _TYPES).hex()

    def typed(self, *, chain_id: int, at: Mapping[str, str]) -> TypedData:
        """What its delegator signs."""
        domain = {"name": "DelegationManager", "version": "1", "chainId": chain_id, "verifyingContract": at[MANAGER]}
        return TypedData(domain, "Delegation", _TYPES, self.message)

    def digest(self, *, chain_id: int, at: Mapping[str, str]) -> bytes:
        """What its signature is over."""
        return hash_typed_data(self.typed(chain_id=chain_id, at=at))


def encode_context(delegation: Delegation) -> bytes:
    """A chain of one."""
    caveats = [(each.enforcer, each.terms, each.args) for each in delegation.caveats]
    authority = bytes.fromhex(delegation.authority.removeprefix("0x"))
    row = (delegation.delegate, delegation.delegator, authority, caveats, delegation.salt, delegation.signature)
    return encode_args(_SHAPE, [[row]])


def decode_context(context: bytes) -> Delegation:
    """The one delegation of a chain of one. Raises NoDelegation, for a longer chain too."""
    try:
        (rows,) = decode_values(_SHAPE, context)
        [(delegate, delegator, authority, caveats, salt, signature)] = rows
    except (AbiDecodeError, ValueError) as error:
        raise NoDelegation("not the bytes of one delegation that its giver signed itself") from error
    read = Delegation(
        delegate=delegate,
        delegator=delegator,
        authority="0x" + bytes(authority).hex(),
        caveats=tuple(Caveat(enforcer, bytes(terms), bytes(args)) for enforcer, terms, args in caveats),
        salt=salt,
        signature=bytes(signature),
    )
    if encode_context(read) != context:
        raise NoDelegation("the bytes hold more than the delegation")
    return read


def encode_redeem(context: bytes, *, target: str, data: bytes) -> bytes:
    """The call that has the delegator call `target` with `data`, without coins."""
    packed = bytes.fromhex(target.removeprefix("0x")) + bytes(_WORD) + data
    return encode_call(REDEEM, [context], [SINGLE], [packed])


def decode_execution(packed: bytes) -> tuple[str, int, bytes]:
    """Target, wei and call data of a single execution."""
    head = _ADDRESS_BYTES + _WORD
    return "0x" + packed[:_ADDRESS_BYTES].hex(), int.from_bytes(packed[_ADDRESS_BYTES:head], "big"), packed[head:]
