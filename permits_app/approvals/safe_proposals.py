"""A golem's plan as its Safe's owners sign it: one SafeTx that makes exactly the calls of one permit.

The golem's key sends it. Where that key is an owner too, sending is its consent, given last, when hooks and limits
judged the plan once more; every other consent is a signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from permits_app.approvals.operations.base import SafeTxDraft
from permits_app.approvals.safe_nonces import find_free_nonce
from permits_app.approvals.signatures import pick_signatures
from permits_app.custody.safe_view import SafeView
from permits_app.custody.signing_route import SigningRoute
from permits_app.models import ActionPermit, OwnerTransaction
from permits_app.permits.plan_store import decode_calls
from permits_app.policy_cage.safe_batches import pack_calls
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION, join_signatures
from tools_app.chain.abi import AbiDecodeError, decode_input
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class _SignedTx:
    """Of the fields of a SafeTx, as a request keeps them, those that its execution repeats."""

    safe: str
    to: str
    value: int
    data: str
    operation: int = 0


@dataclass(frozen=True, slots=True)
class _SentCall:
    """Where a permit's call goes, and its data, 0x-hex."""

    to: str
    data: str


def draft_plan(permit: ActionPermit, route: SigningRoute) -> SafeTxDraft | None:
    """What the owners sign for `permit`, under the next free nonce; None where no owner is asked. Reads rows."""
    safe = route.safe
    if safe is None or not route.waits_for_owners:
        return None
    nonce = find_free_nonce(chain_id=permit.chain_id, safe=safe.address, at_least=safe.nonce)
    calls = decode_calls(permit.batch)
    return SafeTxDraft(
        chain_id=permit.chain_id,
        safe=safe.address,
        tx=pack_calls(route.make_from_safe(calls), safe=safe.address, multi_send=route.through, nonce=nonce),
        block=safe.block,
        threshold=safe.threshold,
        own_key=permit.signer if permit.signer in safe.owners else "",
        ends_at=route.ends_at,
    )


def join_owner_signatures(asked: OwnerTransaction, safe: SafeView) -> str:
    """What goes into the call that is sent, 0x-hex, in the order the Safe wants it."""
    return "0x" + join_signatures(pick_signatures(asked, safe)).hex()


def makes_the_plan(permit: ActionPermit, document: Mapping[str, object]) -> bool:
    """Whether the call that is sent for `permit` carries the SafeTx of `document` and nothing else."""
    if len(permit.calls) != 1:
        return False
    asked, call = read_stored(_SignedTx, document), read_stored(_SentCall, permit.calls[0])
    if call.to != asked.safe:
        return False
    try:
        to, value, data, operation, *rest = decode_input(EXEC_TRANSACTION, bytes.fromhex(call.data[2:]))
    except AbiDecodeError:
        return False
    is_same = (to, value, "0x" + data.hex(), operation) == (asked.to, asked.value, asked.data, asked.operation)
    return is_same and not any(map(_is_set, rest[:5]))


def _is_set(field: object) -> bool:
    return bool(int(field, 16) if isinstance(field, str) else field)
