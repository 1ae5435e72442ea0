"""Trades of a wallet, from the logs of their blocks: what it paid into pools and what it got out of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from tools_app.chain.abi import decode_log, encode_event_topics
from tools_app.core.units import format_units
from tools_app.portfolio.markets import markets_on
from tools_app.standards.erc20 import TRANSFER_EVENT
from tools_app.subsystems.stream.pool_events import describe_log, describe_token
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool, PoolNotFound
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import LogEntry

_ACCOUNT_BITS: Final = 160


@dataclass
class _Trade:
    paid: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    got: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    swaps: list[tuple[Pool, LogEntry]] = field(default_factory=list)


def find_trades(
    reader: ChainReader, wallet: str, *, from_block: int, to_block: int
) -> list[tuple[LogEntry, dict[str, Any]]]:
    """Each trade as the log of its last swap and its payload, in chain order. Raises RpcUnavailable."""
    moved: dict[str, _Trade] = defaultdict(_Trade)
    for direction in ("from", "to"):
        topics = encode_event_topics(TRANSFER_EVENT, **{direction: wallet})
        for log in reader.logs(address=None, topics=topics, from_block=from_block, to_block=to_block):
            found = decode_log(TRANSFER_EVENT, log)
            if found is not None and found["from"] != found["to"]:
                side = moved[log.tx_hash].paid if direction == "from" else moved[log.tx_hash].got
                side[log.address] += found["value"]
    if not moved:
        return []
    _add_swaps(reader, moved, from_block=from_block, to_block=to_block)
    trades = [
        (trade.swaps[-1][1], payload)
        for trade in moved.values()
        if trade.swaps and (payload := _describe(reader, wallet, trade)) is not None
    ]
    return sorted(trades, key=lambda found: (found[0].block_number, found[0].log_index))


def _add_swaps(reader: ChainReader, moved: dict[str, _Trade], *, from_block: int, to_block: int) -> None:
    markets = markets_on(reader.chain_id)
    topics = [list(dict.fromkeys(topic for each in markets.by_protocol.values() for topic in each.swap_topics))]
    pools: dict[PoolId, Pool | None] = {}
    for log in reader.logs(address=None, topics=topics, from_block=from_block, to_block=to_block):
        if log.tx_hash not in moved:
            continue
        pool = next((found for name in _list_names(log) if (found := _confirm(reader, pools, name)) is not None), None)
        if pool is not None:
            moved[log.tx_hash].swaps.append((pool, log))


def _list_names(log: LogEntry) -> list[PoolId]:
    """What a swap's log may be of: the contract itself, or the pool that it names first, unless that is an account."""
    first = log.topics[1].lower() if len(log.topics) > 1 else ""
    return [PoolId(log.address), *([PoolId(first, log.address)] if first and int(first, 16) >> _ACCOUNT_BITS else [])]


def _confirm(reader: ChainReader, pools: dict[PoolId, Pool | None], name: PoolId) -> Pool | None:
    """The pool of a name, asked of its market once; None for somebody else's contract with an event of that shape."""
    if name not in pools:
        try:
            found = markets_on(reader.chain_id).read(reader, name.text)
        except PoolNotFound:
            found = None
        pools[name] = found if found is not None and found.pool_id == name else None
    return pools[name]


def _describe(reader: ChainReader, wallet: str, trade: _Trade) -> dict[str, Any] | None:
    (first_pool, first), (last_pool, last) = trade.swaps[0], trade.swaps[-1]
    paid = _largest(trade.paid) or _wrapped_leg(reader, first_pool, first, into_pool=True)
    got = _largest(trade.got) or _wrapped_leg(reader, last_pool, last, into_pool=False)
    if paid is None or got is None or paid[0] == got[0]:
        return None
    token_in, token_out = reader.token(paid[0]), reader.token(got[0])
    return {
        "wallet_address": wallet,
        "trade_type": "swap",
        "token_in": describe_token(token_in),
        "amount_in": str(paid[1]),
        "amount_in_units": format_units(paid[1], token_in.decimals),
        "token_out": describe_token(token_out),
        "amount_out": str(got[1]),
        "amount_out_units": format_units(got[1], token_out.decimals),
        "pool_address": last_pool.id,
        "venue": last_pool.venue,
    }


def _largest(amounts: dict[str, int]) -> tuple[str, int] | None:
    held: Iterable[tuple[str, int]] = ((token, amount) for token, amount in amounts.items() if amount > 0)
    return max(held, key=lambda pair: pair[1], default=None)


def _wrapped_leg(reader: ChainReader, pool: Pool, log: LogEntry, *, into_pool: bool) -> tuple[str, int] | None:
    """The side that moved as the chain's own coin: the pool's wrapped coin, or nothing."""
    payload = describe_log(reader, pool, log)
    wrapped = markets_on(reader.chain_id).wrapped_native
    if payload is None:
        return None
    for token, name in ((pool.token0, "amount0"), (pool.token1, "amount1")):
        amount = int(payload[name])
        if token == wrapped and (amount > 0) == into_pool and amount != 0:
            return token, abs(amount)
    return None
