"""Reads permits of Permit2 inside calls, says what is signed and whether it is the account's and holds now, and turns
calls that give rights through Permit2 into one permit inside the call that uses them.

Whoever has the signature may hand it in, and gets nothing by it: the right is the spender's, and the spender takes
tokens of its caller alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tools_app.chain.key_signatures import find_signer
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.standards.permit2 import ALLOWANCE, PERMIT2, domain_of
from tools_app.standards.permit2_calls import GivenThroughPermit2, read_given
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.permit2_in_call import InnerPermit, PermitCarrier, PermitDetails
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.typed_data import TypedData

SINGLE: Final = "PermitSingle"
BATCH: Final = "PermitBatch"
_DETAILS: Final = (("token", "address"), ("amount", "uint160"), ("expiration", "uint48"), ("nonce", "uint48"))


@dataclass(frozen=True, slots=True)
class Foldable:
    """The calls at `given` give `rights` to one contract, which the call at `used` could carry as a permit instead."""

    given: tuple[int, ...]
    used: int
    rights: tuple[GivenThroughPermit2, ...]

    @property
    def spender(self) -> str:
        return self.rights[0].spender

    @property
    def until(self) -> int:
        return self.rights[0].until


def find_carrier(chain_id: int, address: str) -> PermitCarrier | None:
    """Who carries permits at a contract; None where nobody here does."""
    owner = SHELF.of_contract(chain_id, address)
    carriers = owner.permit_carriers if owner is not None else ()
    return next((each for each in carriers if owner and owner.address(chain_id, each.key) == address), None)


def list_carriers(chain_id: int) -> tuple[str, ...]:
    """The contracts of a chain whose calls may hold permits."""
    found = (
        protocol.address(chain_id, carrier.key)
        for protocol in SHELF.on(chain_id)
        for carrier in protocol.permit_carriers
    )
    return tuple(address for address in found if address is not None)


def read_inner(chain_id: int, call: Call) -> tuple[InnerPermit, ...]:
    """The permits within `call`; none where nobody here carries any, or where they are not read."""
    carrier = find_carrier(chain_id, call.to)
    if carrier is None:
        return ()
    try:
        return tuple(carrier.list_permits(call))
    except UnknownCall:
        return ()


def list_keepers(plan: TxPlan) -> frozenset[tuple[str, str]]:
    """Tokens with Permit2, where a call of the plan hands in a permit of them and none goes there by itself."""
    permits = (each for call in plan.calls for each in read_inner(plan.chain_id, call))
    return frozenset((each.token, PERMIT2) for permit in permits for each in permit.gives)


def type_permit(permit: InnerPermit, *, chain_id: int) -> TypedData:
    """What is signed. Names and order of fields as in Permit2's `PermitHash.sol`."""
    details = [
        {"token": each.token, "amount": each.amount, "expiration": each.until, "nonce": each.nonce}
        for each in permit.gives
    ]
    name = BATCH if permit.is_batch else SINGLE
    kind = "PermitDetails[]" if permit.is_batch else "PermitDetails"
    message: dict[str, object] = {
        "details": details if permit.is_batch else details[0],
        "spender": permit.spender,
        "sigDeadline": permit.ends_at,
    }
    return TypedData(
        domain=domain_of(chain_id),
        primary_type=name,
        types={
            name: (("details", kind), ("spender", "address"), ("sigDeadline", "uint256")),
            "PermitDetails": _DETAILS,
        },
        message=message,
    )


def check_inner(permit: InnerPermit, *, account: str, carried_by: str, chain: ChainReader) -> None:
    """That `account` signed it, for the contract that carries it, with the nonces that Permit2 takes now, and for no
    longer than it may be handed in. One that somebody handed in already stands there as it is. Raises UnknownCall.
    """
    if permit.spender != carried_by:
        raise UnknownCall(f"a permit inside a call of {carried_by} is for {permit.spender}")
    if not permit.gives or any(not each.amount for each in permit.gives):
        raise UnknownCall("a permit gives nothing")
    if len({each.token for each in permit.gives}) != len(permit.gives):
        raise UnknownCall("a permit gives a token twice")
    if any(each.until != permit.ends_at for each in permit.gives):
        raise UnknownCall("a permit gives for another time than it may be handed in")
    if find_signer(hash_typed_data(type_permit(permit, chain_id=chain.chain_id)), permit.signature) != account:
        raise UnknownCall("a permit inside a call was signed by somebody else, or over other words")
    asked = [ReadCall(PERMIT2, ALLOWANCE, (account, each.token, permit.spender)) for each in permit.gives]
    for each, told in zip(permit.gives, chain.call_many(asked), strict=True):
        handed_in = (each.amount, each.until, each.nonce + 1)
        if not told.ok or (told.values[2] != each.nonce and tuple(told.values) != handed_in):
            raise UnknownCall(f"a permit of {each.token} has another nonce than Permit2 takes now")


def find_foldable(plan: TxPlan) -> Foldable | None:
    """The rights through Permit2 that `plan` gives by calls, and the call that could carry all of them as one permit;
    None where there are none, a token twice, more than one that takes, or where they end otherwise than the plan.
    """
    given = [
        (place, each)
        for place, call in enumerate(plan.calls)
        for each in read_given(call)
        if each.amount and not call.value
    ]
    rights = tuple(each for _, each in given)
    if len({(each.spender, each.until) for each in rights}) != 1 or rights[0].until != plan.deadline:
        return None
    if len({each.token for each in rights}) != len(rights):
        return None
    first, spender = given[0][0], rights[0].spender
    used = next((at for at, call in enumerate(plan.calls) if at > first and call.to == spender), None)
    carrier = find_carrier(plan.chain_id, spender)
    if used is None or carrier is None or not carrier.can_carry(plan.calls[used]):
        return None
    return Foldable(tuple(place for place, _ in given), used, rights)


def word_permit(found: Foldable, *, account: str, chain: ChainReader) -> InnerPermit:
    """The permit instead of the calls, not signed yet: a batch where it is of several tokens. Raises the node's errors,
    ContractOutputUnexpected.
    """
    gives = []
    for each in found.rights:
        _, _, nonce = chain.call(PERMIT2, ALLOWANCE, account, each.token, each.spender)
        gives.append(PermitDetails(each.token, each.amount, each.until, nonce))
    return InnerPermit(tuple(gives), found.spender, found.until, is_batch=len(gives) > 1)


def fold(plan: TxPlan, found: Foldable, permit: InnerPermit, *, account: str) -> TxPlan:
    """`plan` with the signed permit inside the call that uses it, and without the calls that gave the rights."""
    carrier = find_carrier(plan.chain_id, found.spender)
    if carrier is None:
        raise ValueError(f"{found.spender} carries no permits")
    calls: Sequence[Call] = [
        carrier.put(call, permit, account=account) if place == found.used else call
        for place, call in enumerate(plan.calls)
        if place not in found.given
    ]
    return replace(plan, calls=tuple(calls))
