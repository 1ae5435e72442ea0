"""Signs the one thing that is signed before there is a permit of ours: rights of Permit2 only their account can use.

It is for a contract that takes tokens of its caller alone, so that whoever finds the signature can do nothing with it,
and it ends within the hour. Everything else that gives a right is refused here, whatever it says of itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from permits_app.custody.signers.base import TypedSigner
from permits_app.custody.signers.choose_signer import open_signer
from permits_app.errors import SignerUnavailable
from tools_app.standards.permit2_in_calldata import find_carrier, type_permit
from tools_app.toolkit.permit2_in_call import InnerPermit

MOST_SECONDS: Final = 3_600
"""A signature that may be handed in for longer is not made."""


def sign_inner(permit: InnerPermit, *, address: str, chain_id: int, at: int) -> InnerPermit:
    """`permit` signed by `address`, at the Unix second `at`. Raises SignerUnavailable, SignerMismatch."""
    if find_carrier(chain_id, permit.spender) is None:
        raise SignerUnavailable("a permit is signed only for a contract that takes tokens of its caller alone")
    if any(each.until != permit.ends_at for each in permit.gives):
        raise SignerUnavailable("a permit is signed only for as long as it may be handed in")
    tokens = {each.token for each in permit.gives}
    if not tokens or len(tokens) != len(permit.gives) or permit.is_batch != (len(tokens) > 1):
        raise SignerUnavailable("a permit is signed only of one token, and a batch only of several, each of them once")
    if not at < permit.ends_at <= at + MOST_SECONDS:
        raise SignerUnavailable(f"a permit is signed only until {MOST_SECONDS} s from now")
    signer = open_signer(address)
    if not isinstance(signer, TypedSigner):
        raise SignerUnavailable("this account's key does not sign typed data here", address=address)
    return replace(permit, signature=signer.sign_typed_data(type_permit(permit, chain_id=chain_id)))
