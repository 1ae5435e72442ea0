"""Confirms what a node says of a transaction by a second reading and by the chain itself.

A receipt must be the same twice, lie in the block that the chain has at its number, and be of a transaction which that
block lists; what contradicts itself is not seen yet. Another node gives the second reading where one has the block.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from permits_app.execution.broadcast import parse_receipt
from tools_app.chain.blocks import header_request
from tools_app.chain.chains import get_pool
from tools_app.chain.node_errors import RpcNonsense
from tools_app.chain.rpc import RpcReply, RpcRequest, parse_quantity
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.views import ReceiptView

logger = logging.getLogger(__name__)

_FAN: Final = 50
_MOST_TURNS: Final = 8
_MOST_LOOKS: Final = 4
_PAUSE_SECONDS: Final = 0.03


def confirm(chain_id: int, claimed: ReceiptView, *, deadline: Deadline) -> bool:
    """Whether one receipt counts. Raises the node errors."""
    return bool(confirm_many(chain_id, [claimed], deadline=deadline))


def confirm_many(chain_id: int, claimed: Sequence[ReceiptView], *, deadline: Deadline) -> list[ReceiptView]:
    """Those of the receipts of one node that count, in their order: one round trip, or one for each node that does not
    have their blocks yet. Raises the node errors.
    """
    if not claimed:
        return []
    numbers = sorted({receipt.block_number for receipt in claimed})
    requests = [
        *(RpcRequest("eth_getTransactionReceipt", (receipt.tx_hash,)) for receipt in claimed),
        *(RpcRequest("eth_getTransactionByHash", (receipt.tx_hash,)) for receipt in claimed),
        *(header_request(number) for number in numbers),
    ]
    for left in reversed(range(_MOST_LOOKS)):
        found, is_settled = _read_again(chain_id, claimed, numbers, requests, deadline)
        if is_settled or not left or deadline.is_over:
            break
        time.sleep(_PAUSE_SECONDS)
    return found


def _read_again(
    chain_id: int,
    claimed: Sequence[ReceiptView],
    numbers: Sequence[int],
    requests: Sequence[RpcRequest],
    deadline: Deadline,
) -> tuple[list[ReceiptView], bool]:
    """Those that one reading confirms, and whether it has made up its mind about the others."""
    count = len(claimed)
    # The node that claims is likely the best one; it is asked again only where no other has the block.
    for replies in get_pool(chain_id).readings(requests, deadline=deadline, is_best_last=True):
        blocks = {number: _value(reply) for number, reply in zip(numbers, replies[2 * count :], strict=True)}
        if all(blocks.values()):
            sent = [_value(reply) for reply in replies[count : 2 * count]]
            found = [
                receipt
                for receipt, again, told in zip(claimed, replies[:count], sent, strict=True)
                if _agrees(receipt, _value(again), told, blocks[receipt.block_number])
            ]
            return found, not any(_waits_still(receipt, told) for receipt, told in zip(claimed, sent, strict=True))
    return [], True


def _waits_still(claimed: ReceiptView, sent: object) -> bool:
    """Whether the node has the transaction in its pool as well as in a block, as one does that just made the block."""
    return isinstance(sent, dict) and sent.get("hash") == claimed.tx_hash and sent.get("blockHash") is None


def find_block_hashes(
    chain_id: int, numbers: Collection[int], *, deadline: Deadline
) -> tuple[dict[int, str | None], int]:
    """The hashes of the chain's blocks of these numbers, None where it is shorter, and the number of its newest one.

    A block on which two readings do not agree is left out. Raises the node errors.
    """
    wanted = sorted(set(numbers))
    requests = [RpcRequest("eth_blockNumber"), *(header_request(number) for number in wanted)]
    first, second = get_pool(chain_id).read_twice(requests, deadline=deadline)
    heads = [parse_quantity(reading[0].unwrap()) for reading in (first, second)]
    found: dict[int, str | None] = {}
    for number, one, other in zip(wanted, first[1:], second[1:], strict=True):
        told = {_hash_of(each) for each in (one, other)}
        # A node that has the block says there is none while its head lies beyond: it contradicts itself.
        if len(told) == 1 and not (told == {None} and number <= min(heads)):
            found[number] = told.pop()
    return found, min(heads)


@dataclass(frozen=True, slots=True)
class Taker:
    """Another transaction that used a nonce, with the coin it sent along, in wei."""

    receipt: ReceiptView
    value: int


def is_taken_by_another(
    *, chain_id: int, sender: str, nonce: int, tx_hashes: Collection[str], since_block: int, deadline: Deadline
) -> bool:
    """Whether a block holds a transaction of `sender` with this nonce that is none of `tx_hashes`: looked for from
    `since_block` on, and shown, not concluded. Raises the node errors.
    """
    found = _find_in_blocks(chain_id, sender, nonce, since_block, deadline)
    return any(each.get("hash") not in tx_hashes for each in found)


def find_taker(
    *, chain_id: int, sender: str, nonce: int, tx_hashes: Collection[str], since_block: int, deadline: Deadline
) -> Taker | None:
    """That transaction, as far as a second reading confirms it. Raises the node errors."""
    for each in _find_in_blocks(chain_id, sender, nonce, since_block, deadline):
        if each.get("hash") in tx_hashes:
            continue
        told = get_pool(chain_id).call("eth_getTransactionReceipt", each["hash"], deadline=deadline)
        receipt = _parse(told)
        if receipt is not None and confirm(chain_id, receipt, deadline=deadline):
            return Taker(receipt, parse_quantity(each.get("value")) if receipt.succeeded else 0)
    return None


def _find_in_blocks(
    chain_id: int, sender: str, nonce: int, since_block: int, deadline: Deadline
) -> list[Mapping[str, object]]:
    pool = get_pool(chain_id)
    head = parse_quantity(pool.call("eth_blockNumber", deadline=deadline))
    first = max(0, min(since_block, head))
    before, now = _counts_at(chain_id, sender, [first, head], deadline)
    if now <= nonce:
        return []
    low, high = (0, first) if before > nonce else (first, head)
    for _ in range(_MOST_TURNS):
        if low >= high:
            break
        step = max(1, (high - low) // _FAN)
        numbers = list(range(low, high, step))
        counts = _counts_at(chain_id, sender, numbers, deadline)
        for number, count in zip(numbers, counts, strict=True):
            if count > nonce:
                high = number
                break
            low = number + 1
    block = pool.call("eth_getBlockByNumber", hex(high), True, deadline=deadline)
    return [
        each
        for each in (block or {}).get("transactions", ())
        if isinstance(each, dict)
        and str(each.get("from", "")).lower() == sender.lower()
        and parse_quantity(each.get("nonce")) == nonce
    ]


def _counts_at(chain_id: int, sender: str, numbers: Sequence[int], deadline: Deadline) -> list[int]:
    requests = [RpcRequest("eth_getTransactionCount", (sender, hex(number))) for number in numbers]
    return [parse_quantity(reply.unwrap()) for reply in get_pool(chain_id).send(requests, deadline=deadline)]


def _agrees(claimed: ReceiptView, again: object, sent: object, block: JsonObject) -> bool:
    if _waits_still(claimed, sent):
        return False
    is_same = (
        _parse(again) == claimed
        and isinstance(sent, dict)
        and sent.get("hash") == claimed.tx_hash
        and sent.get("blockHash") == claimed.block_hash == block.get("hash")
        and claimed.tx_hash in block.get("transactions", ())
        and all(log.tx_hash == claimed.tx_hash for log in claimed.logs)
        and (claimed.succeeded or not claimed.logs)
    )
    if not is_same:
        logger.warning("what a node says of %s contradicts itself; it counts as not seen", claimed.tx_hash)
    return is_same


def _parse(answer: object) -> ReceiptView | None:
    try:
        return None if answer is None else parse_receipt(answer)
    except RpcNonsense:
        return None


def _value(reply: RpcReply) -> Any:  # Any: a node may answer anything; whoever takes it checks
    return None if reply.error is not None else reply.result


def _hash_of(reply: RpcReply) -> str | None:
    """Of a header; None where there is none. Raises what the node raises instead of an answer."""
    try:
        block = reply.unwrap()
    except GolemError as error:
        if error.code == "BLOCK_UNAVAILABLE":
            return None
        raise
    if block is None:
        return None
    if not isinstance(block, dict) or not isinstance(block.get("hash"), str):
        raise RpcNonsense("The node answered something that is no block")
    return str(block["hash"])
