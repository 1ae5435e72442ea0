"""A delegation as bytes, as a value and as what is hashed (ERC-7710); pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, decode_values, encode_args, encode_call
from tools_app.chain.abi_records import TypedStruct
from tools_app.chain.typed_hash import hash_struct, hash_typed_data
from tools_app.protocols.metamask.addresses import MANAGER
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.typed_data import TypedData

ROOT: Final = "0x" + "ff" * 32
ANYBODY: Final = "0x0000000000000000000000000000000000000a11"
"""As a delegate it lets whoever wants redeem."""
DELEGATION: Final = "Delegation"
REDEEM: Final = "function redeemDelegations(bytes[] contexts, bytes32[] modes, bytes[] executions)"
_STRUCT: Final = (
    "(address delegate, address delegator, bytes32 authority, (address enforcer, bytes terms, bytes args)[] caveats,"
    " uint256 salt, bytes signature)"
)
DISABLE: Final = f"function disableDelegation({_STRUCT} given)"
"""What the giver of a delegation calls after which nobody redeems it, nor what was handed on of it."""
SINGLE: Final = bytes(32)
"""The mode of one execution that reverts with its call."""
_SHAPE: Final = ("(address,address,bytes32,(address,bytes,bytes)[],uint256,bytes)[]",)
_ADDRESS_BYTES: Final = 20
_WORD: Final = 32
TYPES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
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
    def message(self) -> dict[str, Any]:  # Any: typed data (EIP-712)
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
        return "0x" + hash_struct(DELEGATION, self.message, TYPES).hex()

    def typed(self, *, chain_id: int, at: Mapping[str, str]) -> TypedData:
        """What its delegator signs."""
        return TypedData(domain_of(chain_id, at), DELEGATION, TYPES, self.message)

    def digest(self, *, chain_id: int, at: Mapping[str, str]) -> bytes:
        """What its signature is over."""
        return hash_typed_data(self.typed(chain_id=chain_id, at=at))


def domain_of(chain_id: int, at: Mapping[str, str]) -> dict[str, object]:
    """Whom a signature is for."""
    return {"name": "DelegationManager", "version": "1", "chainId": chain_id, "verifyingContract": at[MANAGER]}


def encode_context(*delegations: Delegation) -> bytes:
    """A chain: who redeems was given the first one, and each was handed on from the one behind it."""
    return encode_args(_SHAPE, [[_list_words(each) for each in delegations]])


def encode_disable(delegation: Delegation) -> bytes:
    """The call by which its giver takes it back; its signature is no part of it."""
    return encode_call(DISABLE, _list_words(replace(delegation, signature=b"")))


def read_struct(words: AbiValues) -> Delegation:
    """A delegation from its six words as a contract takes them."""
    delegate, delegator, authority, caveats, salt, signature = words
    return Delegation(
        delegate=delegate,
        delegator=delegator,
        authority="0x" + bytes(authority).hex(),
        caveats=tuple(Caveat(enforcer, bytes(terms), bytes(args)) for enforcer, terms, args in caveats),
        salt=salt,
        signature=bytes(signature),
    )


@dataclass(frozen=True, slots=True)
class _CaveatMessage:
    enforcer: str
    terms: str


@dataclass(frozen=True, slots=True)
class _Message:
    delegate: str
    delegator: str
    authority: str
    caveats: tuple[_CaveatMessage, ...]
    salt: int


_MESSAGE: Final = TypedStruct(TYPES, DELEGATION, _Message)


def read_message(message: Mapping[str, Any]) -> Delegation:  # Any: typed data (EIP-712)
    """A delegation from what is signed of it. Raises KeyError, TypeError, ValueError."""
    told = _MESSAGE.read(message)
    return Delegation(
        delegate=told.delegate,
        delegator=told.delegator,
        authority=told.authority,
        caveats=tuple(Caveat(each.enforcer, bytes.fromhex(each.terms.removeprefix("0x"))) for each in told.caveats),
        salt=told.salt,
    )


def decode_context(context: bytes) -> Delegation:
    """The one delegation of a chain of one. Raises NoDelegation, for a longer chain too."""
    try:
        (rows,) = decode_values(_SHAPE, context)
        [words] = rows
    except (AbiDecodeError, ValueError) as error:
        raise NoDelegation("not the bytes of one delegation that its giver signed itself") from error
    read = read_struct(words)
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


def _list_words(given: Delegation) -> tuple[object, ...]:
    caveats = [(each.enforcer, each.terms, each.args) for each in given.caveats]
    authority = bytes.fromhex(given.authority.removeprefix("0x"))
    return (given.delegate, given.delegator, authority, caveats, given.salt, given.signature)
