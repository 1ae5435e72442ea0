"""Typed data that only gives: permits, authorisations and delegations, told by the names of their structs.

An order says what comes for what it gives. These say who may take what, or act for the account, and nothing else; a
plan that spends approves exactly what it spends instead. Sources: EIP-2612, EIP-3009, Permit2 (`PermitHash.sol`),
Maker's DAI, Aave V3 (`DebtTokenBase`), Morpho Blue (`ConstantsLib`), Compound's and OpenZeppelin's votes.

One struct of the name of a right gives none of the account's: a delegation of ERC-7710 that hands on what the account
received itself. Who reads its contract says then what it gives, and of whose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.typed_data import TypedData

_BY_NONCE: Final = "only a later permit of the token uses its nonce up"
_SINGLE_USE: Final = "only a transaction to Permit2 that spends its nonce takes it back"
_LOCKDOWN: Final = "what it opens stays open until a lockdown at Permit2 or its expiration"
_AT_ITS_CONTRACT: Final = "only a transaction to its contract takes it back"


@dataclass(frozen=True, slots=True)
class SignedRight:
    """A struct that gives a right: its name, words for people, and how it ends."""

    name: str
    label: str
    end: str


_PERMIT2_TRANSFERS: Final = (
    "PermitTransferFrom",
    "PermitBatchTransferFrom",
    "PermitWitnessTransferFrom",
    "PermitBatchWitnessTransferFrom",
)
_RIGHTS: Final[Mapping[str, SignedRight]] = {
    each.name: each
    for each in (
        SignedRight("Permit", "a token's permit (EIP-2612)", _BY_NONCE),
        *(SignedRight(name, f"Permit2's {name}", _SINGLE_USE) for name in _PERMIT2_TRANSFERS),
        SignedRight("PermitSingle", "Permit2's PermitSingle", _LOCKDOWN),
        SignedRight("PermitBatch", "Permit2's PermitBatch", _LOCKDOWN),
        SignedRight("TransferWithAuthorization", "a transfer that others carry out (EIP-3009)", _AT_ITS_CONTRACT),
        SignedRight("ReceiveWithAuthorization", "a transfer that its taker carries out (EIP-3009)", _AT_ITS_CONTRACT),
        SignedRight("DelegationWithSig", "a delegation of credit (Aave)", _AT_ITS_CONTRACT),
        SignedRight("Authorization", "an authorisation to act for the account (Morpho)", _AT_ITS_CONTRACT),
        SignedRight("Delegation", "a delegation, of votes or of all that the account may do (ERC-7710)", _BY_NONCE),
    )
}
_UNKNOWN_AT_PERMIT2: Final = SignedRight("", "typed data for Permit2", _LOCKDOWN)


_HANDED_ON: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "Delegation": (
        ("delegate", "address"),
        ("delegator", "address"),
        ("authority", "bytes32"),
        ("caveats", "Caveat[]"),
        ("salt", "uint256"),
    ),
    "Caveat": (("enforcer", "address"), ("terms", "bytes")),
}
_OWN_AUTHORITY: Final = "0x" + "ff" * 32
"""A delegation (ERC-7710) with this authority gives what its delegator itself may do."""


def _hands_on(typed: TypedData) -> bool:
    """Whether it gives what somebody else gave the account, and nothing of the account's own."""
    is_shape = typed.primary_type == "Delegation" and dict(typed.types) == _HANDED_ON
    return is_shape and str(typed.message["authority"]).lower() != _OWN_AUTHORITY


def name_signed_right(typed: TypedData) -> SignedRight | None:
    """The right that `typed` gives of the account's own, also where it stands inside another struct; None where no
    struct is one by name.
    """
    if _hands_on(typed):
        return None
    for name in (typed.primary_type, *typed.types):
        if name in _RIGHTS:
            return _RIGHTS[name]
    return _UNKNOWN_AT_PERMIT2 if typed.contract.lower() == PERMIT2.lower() else None
