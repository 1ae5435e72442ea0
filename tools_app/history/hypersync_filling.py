"""The past from HyperSync instead of the node: thousands of blocks an answer, believed as far as the own node says so.

Nobody has to use it. What it answers goes through the same checks as a node's answer, and besides a sample of blocks is
asked of the own node: their headers and their logs must be the same. Blocks whose bloom leaves a doubt are asked of the
own node as well. What contradicts anything is not kept; the own node is read instead, and it is told.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from random import SystemRandom
from typing import Any, Final

from django.conf import settings

from tools_app.chain.blocks import parse_log
from tools_app.chain.chains import get_pool
from tools_app.chain.networks import Network
from tools_app.chain.node_errors import RpcNonsense
from tools_app.core import guarded_http
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.clock import Deadline
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import Secret
from tools_app.history.checked_logs import (
    CheckedHeader,
    Stretch,
    Wanted,
    check_answer,
    group_wanted,
    parse_header,
    plain,
    query_of,
    read_headers,
    read_logs_of,
)
from tools_app.toolkit.views import LogEntry

BLOCKS_PER_READ: Final = 2_000
SAMPLE: Final = 16
"""So many blocks of a stretch are asked of the own node, and as many of those that have logs."""
MOST_QUESTIONS: Final = 4 * SAMPLE
_MOST_BYTES: Final = 32 * 1024 * 1024
_MOST_PAGES: Final = 20
_PAUSE: Final = timedelta(minutes=10)
"""After an answer that was none it is not asked for so long."""
_BLOCK_FIELDS: Final = ("number", "hash", "parent_hash", "timestamp", "logs_bloom")
_LOG_FIELDS: Final = (
    *("block_number", "block_hash", "transaction_hash", "log_index", "address", "data"),
    *("topic0", "topic1", "topic2", "topic3"),
)
_random = SystemRandom()


class OutsideFailed(Exception):
    """It gave no answer that could be read. Its words may be shown."""


@dataclass(slots=True)
class _Silence:
    until: dict[int, datetime] = field(default_factory=dict)


_silence = _Silence()


def is_on(chain_id: int, *, now: datetime) -> bool:
    """Whether it is asked about a chain now."""
    if not settings.GOLEM_HYPERSYNC_TOKEN or not settings.GOLEM_HYPERSYNC_URL:
        return False
    until = _silence.until.get(chain_id)
    # A pause that lies further ahead than it lasts is one of a clock that was set back.
    return until is None or not now < until <= now + _PAUSE


def be_silent(chain_id: int, *, now: datetime) -> None:
    """Do not ask it about a chain for a while."""
    _silence.until[chain_id] = now + _PAUSE


def forget_silence() -> None:
    """Ask it again about every chain."""
    _silence.until.clear()


def read_outside(
    network: Network, wanted: Wanted, *, first: int, last: int, last_hash: str, deadline: Deadline
) -> Stretch:
    """The blocks from `first` to `last` and the wanted logs in them, held against the own node.

    Raises OutsideFailed where it does not answer, RpcNonsense where it says what is not so, and the node's errors.
    """
    start = max(0, first - 1)
    headers: dict[int, CheckedHeader] = {}
    told: list[LogEntry] = []
    at = start
    for _ in range(_MOST_PAGES):
        page = _ask(network.chain_id, _write_query(wanted, at, last + 1), deadline)
        blocks, logs, following = _read_page(page)
        headers |= {header.number: header for header in blocks}
        told += logs
        if following <= at:
            raise OutsideFailed("it does not go on")
        at = following
        if at > last:
            break
    missing = next((number for number in range(start, last + 1) if number not in headers), None)
    if missing is not None:
        raise OutsideFailed(f"it left block {missing} out")
    chain = [headers[number] for number in range(start, last + 1)]
    pool = get_pool(network.chain_id)
    inside, logs_in_order, asked = check_answer(
        pool,
        network,
        wanted,
        chain,
        [log for log in told if first <= log.block_number <= last],
        first,
        last_hash,
        deadline,
    )
    asked += _hold_against_node(network, wanted, inside, [log for _, log in logs_in_order], deadline)
    return Stretch(chain[0] if first > 0 else None, tuple(inside), tuple(logs_in_order), asked)


def _hold_against_node(
    network: Network, wanted: Wanted, headers: Sequence[CheckedHeader], logs: Sequence[LogEntry], deadline: Deadline
) -> int:
    """A sample of blocks, the first and the last among them, as the own node has them. Raises RpcNonsense."""
    pool = get_pool(network.chain_id)
    numbers = [header.number for header in headers]
    with_logs = sorted({log.block_number for log in logs})
    chosen = {numbers[0], numbers[-1]}
    for among in (numbers, with_logs):
        chosen |= set(_random.sample(among, min(SAMPLE, len(among))))
    own = read_headers(pool, sorted(chosen), deadline=deadline)
    by_number = {header.number: header for header in headers}
    for number in sorted(chosen):
        if own.get(number) != by_number[number]:
            raise RpcNonsense(f"HyperSync told another block {number} than the own node")
    found = read_logs_of(pool, wanted, [by_number[number] for number in sorted(chosen)], deadline=deadline)
    said = {plain(log) for log in logs if log.block_number in chosen}
    if {plain(log) for log in found} != said:
        raise RpcNonsense("HyperSync told other logs than the own node")
    return len(chosen) * 2


def _write_query(wanted: Wanted, first: int, end: int) -> dict[str, object]:
    selections = []
    for group in group_wanted(wanted):
        query = query_of(wanted, group, first, end - 1)
        topics = [[each] if isinstance(each, str) else list(each or ()) for each in query.topics]
        selections.append({"address": list(query.addresses), "topics": topics})
    return {
        "from_block": first,
        "to_block": end,
        "include_all_blocks": True,
        "logs": selections,
        "field_selection": {"block": list(_BLOCK_FIELDS), "log": list(_LOG_FIELDS)},
    }


def _ask(chain_id: int, query: dict[str, Any], deadline: Deadline) -> Any:  # Any: a node's JSON
    """Any: the service's JSON."""
    url = settings.GOLEM_HYPERSYNC_URL.replace("{chain_id}", str(chain_id)).rstrip("/") + "/query"
    seconds = max(0.05, deadline.remaining_ms() / 1_000)
    try:
        answer = guarded_http.exchange(
            "POST",
            guarded_http.resolve(
                url,
                allows_private=settings.GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES,
                seconds=min(seconds, guarded_http.LOOK_UP_SECONDS),
            ),
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                "Authorization": f"Bearer {Secret(settings.GOLEM_HYPERSYNC_TOKEN).reveal()}",
            },
            body=json.dumps(query, separators=(",", ":")).encode(),
            seconds=seconds,
            most_bytes=_MOST_BYTES + 1,
        )
    except (guarded_http.AddressRefused, guarded_http.ExchangeFailed) as error:
        raise OutsideFailed(f"it is not reached: {error}") from None
    if answer.status != HTTPStatus.OK:
        raise OutsideFailed(f"it answered {answer.status}")
    try:
        return read_json(answer.body, most_bytes=_MOST_BYTES)
    except OutsideTextRefused as refusal:
        raise OutsideFailed(str(refusal)) from None


@dataclass(frozen=True, slots=True)
class _Part:
    blocks: tuple[dict[str, object], ...] = ()
    logs: tuple[dict[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class _Page:
    next_block: int
    data: tuple[_Part, ...]


def _read_page(page: object) -> tuple[list[CheckedHeader], list[LogEntry], int]:
    """Raises OutsideFailed for another shape, RpcNonsense for what is no block or log."""
    try:
        told = read_stored(_Page, page)
        following = told.next_block
        blocks = [block for part in told.data for block in part.blocks]
        logs = [log for part in told.data for log in part.logs]
        headers = [parse_header(_as_node_block(block)) for block in blocks]
        entries = [parse_log(_as_node_log(log)) for log in logs]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise OutsideFailed("it answered another shape") from None
    return [header for header in headers if header is not None], entries, following


def _as_node_block(block: dict[str, object]) -> dict[str, object]:
    match block:
        case {"number": number, "hash": own, "parent_hash": parent, "timestamp": timestamp, "logs_bloom": bloom}:
            return {
                "number": hex(_number(number)),
                "hash": own,
                "parentHash": parent,
                "timestamp": hex(_number(timestamp)),
                "logsBloom": bloom,
                "baseFeePerGas": "0x0",
            }
    raise ValueError("a block of it lacks what was asked for")


def _as_node_log(log: dict[str, object]) -> dict[str, object]:
    match log:
        case {
            "address": address,
            "data": data,
            "block_number": number,
            "transaction_hash": tx_hash,
            "log_index": index,
            "block_hash": block_hash,
        }:
            return {
                "address": address,
                "topics": [log[name] for name in _LOG_FIELDS[-4:] if log.get(name)],
                "data": data,
                "blockNumber": hex(_number(number)),
                "transactionHash": tx_hash,
                "logIndex": hex(_number(index)),
                "blockHash": block_hash,
            }
    raise ValueError("a log of it lacks what was asked for")


def _number(value: Any) -> int:  # Any: a node's JSON
    """Any: a whole number, or hex text, as the service writes quantities."""
    return int(value, 16) if isinstance(value, str) else int(value)
