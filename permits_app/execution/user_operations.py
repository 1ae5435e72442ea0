"""User operations under way: handed to the bundler, and looked for on the chain, which alone says what became of it.

The EntryPoint's event in a mined transaction is the outcome; what the bundler says of it is not asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from permits_app.custody.signers.choose_signer import open_zerodev
from permits_app.execution import broadcast, confirm_transaction
from permits_app.models import OutboundTransaction
from tools_app import runner
from tools_app.chain.networks import get_network
from tools_app.chain.node_errors import NonceTooLow
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.standards.user_operation import (
    ENTRY_POINT,
    OPERATION_TOPIC,
    decode_operation,
    find_in_receipt,
    read_next_nonce,
    read_nonce,
    topic_of,
)
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import LogEntry, ReceiptView


def send_operation(row: OutboundTransaction, *, deadline: Deadline) -> None:
    """Hand stored bytes to the bundler; returns when it has them or the chain does.

    Raises what its refusal means otherwise; RpcTimeout leaves it open whether it has them.
    """
    operation = decode_operation(bytes.fromhex(row.raw.removeprefix("0x")))
    try:
        open_zerodev().send(row.chain_id, operation, op_hash=row.tx_hash)
    except NonceTooLow:
        if find_any_operation([row], deadline=deadline) is None:
            raise


def find_any_operation(
    rows: Sequence[OutboundTransaction], *, deadline: Deadline
) -> tuple[OutboundTransaction, ReceiptView] | None:
    """Whichever of the operations of one nonce is mined, and what became of it; None while none is.

    The receipt is that of the transaction which carried it, with the operation's own success, cost, gas and logs.
    """
    by_hash = {row.tx_hash: row for row in rows}
    chain = _open(rows[0].chain_id, deadline)
    since = min(row.signed_at_block or 0 for row in rows)
    for log in _find_logs(chain, [OPERATION_TOPIC, list(by_hash)], since=since):
        receipt = _read_carrier(chain, log, deadline)
        if receipt is not None:
            return by_hash[log.topics[1]], receipt
    return None


def is_taken_by_another(row: OutboundTransaction, *, ours: Collection[str], deadline: Deadline) -> bool:
    """Whether the EntryPoint tells of another operation of the account under this nonce, none of `ours`: shown, not
    concluded. Raises the node errors.
    """
    return next(_find_takers(row, ours, deadline), None) is not None


def find_taker(row: OutboundTransaction, *, ours: Collection[str], deadline: Deadline) -> ReceiptView | None:
    """What the operation did that took the nonce of `row`, with its own logs alone. Raises the node errors."""
    return next(_find_takers(row, ours, deadline), None)


def _find_takers(row: OutboundTransaction, ours: Collection[str], deadline: Deadline) -> Iterator[ReceiptView]:
    chain = _open(row.chain_id, deadline)
    for log in _find_logs(chain, [OPERATION_TOPIC, None, topic_of(row.sender)], since=row.signed_at_block or 0):
        if log.topics[1] in ours or read_nonce(log) != row.nonce:
            continue
        found = _read_carrier(chain, log, deadline)
        if found is not None:
            yield found


def read_used_nonce(*, chain_id: int, account: str, deadline: Deadline) -> int:
    """How many operations of `account` the EntryPoint has carried out under key 0."""
    return read_next_nonce(_open(chain_id, deadline), account)


def _read_carrier(chain: ChainReader, log: LogEntry, deadline: Deadline) -> ReceiptView | None:
    """The receipt of the transaction that carried the operation of an event, with that operation's own facts; None
    where a second reading does not confirm it.
    """
    carrier = broadcast.find_receipt(chain_id=chain.chain_id, tx_hash=log.tx_hash, deadline=deadline)
    found = find_in_receipt(carrier, log.topics[1]) if carrier is not None else None
    if carrier is None or found is None or not confirm_transaction.confirm(chain.chain_id, carrier, deadline=deadline):
        return None
    seen, logs = found
    return replace(
        carrier, succeeded=seen.succeeded, gas_used=seen.gas_used, logs=logs, cost=seen.cost, paid_by=seen.paymaster
    )


def _find_logs(chain: ChainReader, topics: Sequence[str | Sequence[str] | None], *, since: int) -> Iterator[LogEntry]:
    """The EntryPoint's logs with these topics, newest blocks first, back to where the first operation was signed."""
    network = get_network(chain.chain_id)
    # A reorganisation may put one into an earlier block than the head it was signed at.
    first = max(0, since - network.confirmations)
    last = chain.block.number
    while last >= first:
        start = max(first, last - network.max_log_range + 1)
        yield from chain.logs(address=ENTRY_POINT, topics=topics, from_block=start, to_block=last)
        last = start - 1


def _open(chain_id: int, deadline: Deadline) -> ChainReader:
    return runner.open_reader(chain_id, now=clock.now(), deadline=deadline)
