"""Reads an account's nonces from the chain, believed only where two readings agree.

One answer that is too high would have bytes signed that wait for transactions nobody ever made; one that is too low
gives a nonce out that is used. Two nodes are asked where two answer, else one twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from permits_app.errors import NonceUnsettled
from permits_app.execution import user_operations
from permits_app.execution.nonces import NonceUnexpected, reserve_nonces
from permits_app.models import ActionPermit
from tools_app.chain.chains import get_pool
from tools_app.chain.rpc import RpcRequest, parse_quantity
from tools_app.core.clock import Deadline

READ_BUDGET_MS: Final = 5_000
_PAUSES: Final = (0.05, 0.1, 0.2, 0.4)
_RETRY_AFTER_SECONDS: Final = 5


class Counts(NamedTuple):
    """How many nonces of an account are used up in blocks, and with those that wait in the node's pool."""

    mined: int
    pending: int


def take_nonces(*, permit: ActionPermit, count: int, pending_nonce: int) -> list[int]:
    """`count` nonces of the permit's signer. `pending_nonce` is one node's word, which is believed while it says what
    we know; anything else is read again first. Raises NonceUnsettled.
    """
    reserve = partial(reserve_nonces, permit_id=permit.pk, chain_id=permit.chain_id, address=permit.signer, count=count)
    try:
        return reserve(pending_nonce=pending_nonce, is_agreed=False)
    except NonceUnexpected as unexpected:
        counts = read_counts(
            chain_id=permit.chain_id,
            address=permit.signer,
            is_of_operations=permit.sends_operation,
            known=unexpected.known,
            deadline=Deadline.after_ms(READ_BUDGET_MS),
        )
        return reserve(pending_nonce=counts.pending)


def read_counts(*, chain_id: int, address: str, is_of_operations: bool, deadline: Deadline, known: int = 0) -> Counts:
    """The account's counts as two readings give them. That they differ below `known`, our own next nonce, is no
    difference: what we sent ourselves reaches nodes at different times. Raises NonceUnsettled, what a node raises.
    """
    if is_of_operations:
        [counts] = _agree(lambda: [_read_operations(chain_id, address, deadline)], known)
    else:
        [counts] = read_many(chain_id=chain_id, addresses=[address], deadline=deadline, known=known)
    if counts is None:
        raise NonceUnsettled(
            f"the chain's nodes do not agree on the next nonce of {address}; nothing was signed",
            address=address,
            clears="two readings that agree",
            retry_after_seconds=_RETRY_AFTER_SECONDS,
        )
    return counts


def read_many(*, chain_id: int, addresses: Sequence[str], deadline: Deadline, known: int = 0) -> list[Counts | None]:
    """The counts of ordinary accounts in as few round trips as agreement takes; None where readings never agree."""
    requests = [
        RpcRequest("eth_getTransactionCount", (address, tag)) for address in addresses for tag in ("latest", "pending")
    ]

    def read() -> list[tuple[Counts, Counts]]:
        first, second = (
            [parse_quantity(reply.unwrap()) for reply in replies]
            for replies in get_pool(chain_id).read_twice(requests, deadline=deadline)
        )
        return [
            (Counts(first[at], first[at + 1]), Counts(second[at], second[at + 1])) for at in range(0, len(first), 2)
        ]

    return _agree(read, known)


def _read_operations(chain_id: int, account: str, deadline: Deadline) -> tuple[Counts, Counts]:
    """The EntryPoint counts what is mined; nothing of it waits in a node."""
    first, second = (
        user_operations.read_used_nonce(chain_id=chain_id, account=account, deadline=deadline) for _ in range(2)
    )
    return Counts(first, first), Counts(second, second)


def _agree(read: Callable[[], list[tuple[Counts, Counts]]], known: int) -> list[Counts | None]:
    """Of each account, what two readings agree on; those that do not are read again, with growing pauses."""
    found = [_settle(*pair, known) for pair in read()]
    for pause in _PAUSES:
        if None not in found:
            break
        time.sleep(pause)
        found = [old or _settle(*pair, known) for old, pair in zip(found, read(), strict=True)]
    return found


def _settle(first: Counts, second: Counts, known: int) -> Counts | None:
    is_same = first.mined == second.mined and max(first.pending, known) == max(second.pending, known)
    lower = min(first.pending, second.pending)
    return Counts(first.mined, lower) if is_same and first.mined <= lower else None
