"""Signed promises found and followed: who reads one, and what the chain says became of it.

A contract that many protocols share (Permit2) takes signatures for each of them: there the spender says whose it is,
and what comes for it stands in the witness, which that protocol reads word by word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import Fields, TypedStruct
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.position_logs import follow_trails
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.promises import Fate, Promises
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.typed_data import TypedData

WITNESSED: Final = "PermitWitnessTransferFrom"
PERMITTED: Final = (("token", "address"), ("amount", "uint256"))
_PERMIT: Final = (
    ("permitted", "TokenPermissions"),
    ("spender", "address"),
    ("nonce", "uint256"),
    ("deadline", "uint256"),
)


@dataclass(frozen=True, slots=True)
class Permitted:
    """So many base units of a token."""

    token: str
    amount: int


@dataclass(frozen=True, slots=True)
class WitnessedPermit:
    """What Permit2 is told beside the witness: what `spender` may take once, until `deadline` in Unix seconds."""

    permitted: Permitted
    spender: str
    nonce: int
    deadline: int


_PERMITS: Final = TypedStruct({WITNESSED: _PERMIT, "TokenPermissions": PERMITTED}, WITNESSED, WitnessedPermit)


def read_permit(typed: TypedData) -> WitnessedPermit:
    """What typed data that is WITNESSED tells Permit2. Raises KeyError for any other."""
    return _PERMITS.read(typed.message)


def read_witness(typed: TypedData) -> Mapping[str, object]:
    """The struct that a protocol adds to it. Raises KeyError for typed data without one."""
    match typed.message:
        case {"witness": Mapping() as witness}:
            return witness
    raise KeyError("witness")


def list_witnessed(witness: str, structs: Mapping[str, Fields]) -> dict[str, Fields]:
    """Every struct of what is signed with a witness of that name."""
    return {WITNESSED: (*_PERMIT, ("witness", witness)), "TokenPermissions": PERMITTED, **structs}


def find_reader(typed: TypedData) -> ProtocolDef | None:
    """The protocol that reads what is signed, None where nobody here does."""
    is_shared = typed.contract == PERMIT2
    at = str(typed.message.get("spender", "")) if is_shared else typed.contract
    owner = SHELF.of_contract(typed.chain_id, at)
    return owner if owner is not None and owner.promises is not None else None


def is_witnessed_order(typed: TypedData) -> bool:
    """Whether Permit2 would hand tokens to a contract that gives what the signed witness says, and no right beside.

    Only of a spender that a protocol here owns and reads; to any other the same struct is a plain right.
    """
    is_order = typed.contract == PERMIT2 and typed.primary_type == WITNESSED
    return is_order and find_reader(typed) is not None


def read_fate(chain: ChainReader, typed: TypedData, promises: Promises, *, since: int | None) -> Fate:
    """What the pinned block says became of it; logs since a block are asked for only where state does not decide.

    Raises PositionsUnreadable, and the node's errors.
    """
    outcomes = chain.call_many(promises.ask(typed))
    fate = promises.judge(typed, outcomes, None)
    if fate is not None:
        return fate
    trails = promises.trails(typed)
    logs = follow_trails(chain, trails, from_block=since or 0, to_block=chain.block.number)
    # Whatever was used up and nobody tells by whom may have been taken: it counts as taken once its time is over.
    return promises.judge(typed, outcomes, logs) or Fate.PARTLY
