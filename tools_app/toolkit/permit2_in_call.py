"""A permit of Permit2 that an account signed and put into one of its own calls, and who puts it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tools_app.toolkit.plan import Call


@dataclass(frozen=True, slots=True)
class PermitDetails:
    """`amount` base units of `token` may be taken until `until` (Unix seconds); `nonce` is Permit2's for the pair."""

    token: str
    amount: int
    until: int
    nonce: int


@dataclass(frozen=True, slots=True)
class InnerPermit:
    """What was signed: `gives` to `spender`, to be handed in until `ends_at` (Unix seconds). `signature` is empty
    before it is signed. `is_batch`: it is a PermitBatch, which is not a PermitSingle of the same token.
    """

    gives: tuple[PermitDetails, ...]
    spender: str
    ends_at: int
    signature: bytes = b""
    is_batch: bool = False


class PermitCarrier(Protocol):
    """A contract that takes tokens of whoever calls it and of nobody else, by way of Permit2, and hands in a permit
    that its caller signed in the same call. `key` is its name in `deployments`.
    """

    @property
    def key(self) -> str: ...

    def list_permits(self, call: Call) -> Sequence[InnerPermit]:
        """The permits within a call to it; none within a call that is not read. Raises UnknownCall."""

    def can_carry(self, call: Call) -> bool:
        """Whether the call can be given a permit: it has none and is of the kind that takes one."""

    def put(self, call: Call, permit: InnerPermit, *, account: str) -> Call:
        """The call with a permit that `account` signed, of one token or of several, before all else that it does."""
