"""Sends stored bytes and waits for receipts. The only connection in the product that may send.

Sending the same bytes twice does no harm: the node answers "already known", or the nonce is used, and the
look-up by hash decides. Its reading counterpart is `tools_app/chain/`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tools_app.chain.abi import checksum
from tools_app.chain.networks import get_network
from tools_app.chain.node_errors import AlreadyKnown, NonceTooLow, RpcNonsense
from tools_app.chain.rpc import RpcLimits, RpcRequest
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.toolkit.views import LogEntry, ReceiptView

SENDING_METHODS = frozenset(
    {
        "eth_blockNumber",
        "eth_chainId",
        "eth_sendRawTransaction",
        "eth_getTransactionByHash",
        "eth_getTransactionReceipt",
        "eth_getTransactionCount",
    }
)
Found = TypeVar("Found")
_FIRST_POLL_SECONDS = 0.004
_LONGEST_POLL_SECONDS = 0.5

_pools: dict[int, RpcPool] = {}
_limits: RpcLimits | None = None


def send_raw(*, chain_id: int, raw: str, tx_hash: str, deadline: Deadline) -> None:
    """Hand signed bytes to the node; returns when the node has them, now or from before.

    Raises the typed node error otherwise; RpcTimeout and RpcUnavailable leave it open whether they arrived.
    """
    pool = _pool(chain_id)
    try:
        pool.call("eth_sendRawTransaction", raw, deadline=deadline)
    except AlreadyKnown:
        return
    except NonceTooLow:
        if not is_known(chain_id=chain_id, tx_hash=tx_hash, deadline=deadline):
            raise


def is_known(*, chain_id: int, tx_hash: str, deadline: Deadline) -> bool:
    """Whether the node knows the transaction, pending or mined."""
    return _pool(chain_id).call("eth_getTransactionByHash", tx_hash, deadline=deadline) is not None


def mined_nonce(*, chain_id: int, address: str, deadline: Deadline) -> int:
    """How many transactions of `address` are mined."""
    return int(_pool(chain_id).call("eth_getTransactionCount", address, "latest", deadline=deadline), 16)


def head_number(*, chain_id: int, deadline: Deadline) -> int:
    """The number of the newest block."""
    return int(_pool(chain_id).call("eth_blockNumber", deadline=deadline), 16)


def find_receipt(*, chain_id: int, tx_hash: str, deadline: Deadline) -> ReceiptView | None:
    """The receipt when the transaction is mined, else None."""
    answer = _pool(chain_id).call("eth_getTransactionReceipt", tx_hash, deadline=deadline)
    return None if answer is None else parse_receipt(answer)


def find_receipts(*, chain_id: int, tx_hashes: Sequence[str], deadline: Deadline) -> dict[str, ReceiptView]:
    """The receipts of those that are mined, by hash, asked for in one batch. What the node fails on is left out.

    Raises the node's errors where it answers nothing at all.
    """
    if not tx_hashes:
        return {}
    asked = [RpcRequest("eth_getTransactionReceipt", (tx_hash,)) for tx_hash in tx_hashes]
    found = {}
    for tx_hash, reply in zip(tx_hashes, _pool(chain_id).send(asked, deadline=deadline), strict=True):
        if reply.error is not None or reply.result is None:
            continue
        try:
            receipt = parse_receipt(reply.result)
        except RpcNonsense:
            continue
        # One of another transaction says nothing about this one.
        if receipt.tx_hash == tx_hash:
            found[tx_hash] = receipt
    return found


def find_any_receipt(*, chain_id: int, tx_hashes: Sequence[str], deadline: Deadline) -> ReceiptView | None:
    """The receipt of whichever of the payloads of one nonce is mined, else None."""
    for tx_hash in tx_hashes:
        receipt = find_receipt(chain_id=chain_id, tx_hash=tx_hash, deadline=deadline)
        if receipt is not None:
            return receipt
    return None


def poll(find: Callable[[], Found | None], *, deadline: Deadline, renew_lease: Callable[[], None]) -> Found | None:
    """Ask `find` with growing pauses until it finds something; None when time ran out."""
    pause = _FIRST_POLL_SECONDS
    while not deadline.is_over:
        try:
            found = find()
        except GolemError:
            # A node that fails while we wait says nothing about the transaction; the time limit decides.
            found = None
        if found is not None:
            return found
        time.sleep(min(pause, deadline.remaining_ms() / 1000))
        pause = min(pause * 2, _LONGEST_POLL_SECONDS)
        renew_lease()
    return None


def parse_receipt(answer: Any) -> ReceiptView:  # Any: a node may answer anything; its shape is checked here
    """A node's receipt as a value. Raises RpcNonsense."""
    try:
        return ReceiptView(
            tx_hash=str(answer["transactionHash"]),
            succeeded=int(answer["status"], 16) == 1,
            block_number=int(answer["blockNumber"], 16),
            block_hash=str(answer["blockHash"]),
            gas_used=int(answer["gasUsed"], 16),
            effective_gas_price=int(answer["effectiveGasPrice"], 16),
            l1_fee=int(answer.get("l1Fee") or "0x0", 16),
            logs=tuple(_parse_log(log) for log in answer["logs"]),
        )
    except (KeyError, TypeError, ValueError):
        raise RpcNonsense("the node answered a receipt of the wrong shape") from None


def _parse_log(log: Any) -> LogEntry:  # Any: as above
    return LogEntry(
        address=checksum(str(log["address"])),
        topics=tuple(str(topic) for topic in log["topics"]),
        data=str(log["data"]),
        block_number=int(log["blockNumber"], 16),
        tx_hash=str(log["transactionHash"]),
        log_index=int(log["logIndex"], 16),
    )


def _pool(chain_id: int) -> RpcPool:
    network = get_network(chain_id)
    pool = _pools.get(chain_id)
    if pool is None:
        # Sending goes to a second node only when nothing can have left for the first.
        made = RpcPool.of_network(network, allowed_methods=SENDING_METHODS, limits=_limits)
        pool = _pools.setdefault(chain_id, made)
    return pool


def forget_pools(limits: RpcLimits | None = None) -> None:
    """Drop the connections, when the chain table was configured anew; `limits` bound the next ones."""
    global _limits
    _limits = limits
    _pools.clear()
