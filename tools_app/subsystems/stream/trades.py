"""Trades of a wallet, from the logs of their blocks: what it paid into pools and what it got out of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from tools_app.chain.abi import encode_event_topics
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_units
from tools_app.portfolio.markets import markets_on
from tools_app.standards.erc20 import MOVED, TRANSFER_EVENT
from tools_app.subsystems.stream.event_block_windows import ToldLogs, take_turn
from tools_app.subsystems.stream.pool_events import describe_log, describe_token
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import LogEntry

_ACCOUNT_BITS: Final = 160
_SWAPS_AT_EACH_END: Final = 8
"""So many logs at the beginning and the end of a transaction are looked at: a trade is told by its first and last."""


@dataclass
class _Trade:
    paid: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    got: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    logs: list[LogEntry] = field(default_factory=list)
    swaps: list[tuple[Pool, LogEntry]] = field(default_factory=list)


def find_trades(reader: ChainReader, wallet: str, *, from_block: int, to_block: int) -> ToldLogs:
    """The trades of a wallet in a range of blocks, as far as one look tells them. Raises RpcUnavailable.

    Anybody can send a wallet something, and log what never moved: so many such transactions are looked at, and so many
    pools of each.
    """
    moved: dict[str, _Trade] = defaultdict(_Trade)
    for direction in ("from", "to"):
        topics = encode_event_topics(TRANSFER_EVENT, **{direction: wallet})
        for log in reader.logs(address=None, topics=topics, from_block=from_block, to_block=to_block):
            found = MOVED.read(log)
            if found is not None and found.from_ != found.to:
                side = moved[log.tx_hash].paid if direction == "from" else moved[log.tx_hash].got
                side[log.address] += found.value
    if not moved:
        return ToldLogs([], to_block)
    _add_logs(reader, moved, from_block=from_block, to_block=to_block)
    swapping = sorted((each for each in moved.values() if each.logs), key=lambda each: _place_of(each.logs[0]))
    most: int = settings.GOLEM_STREAM_EVENTS_PER_READ
    turn = take_turn([each.logs[0].block_number for each in swapping], most=most, to_block=to_block)
    looked_at = swapping[: turn.told]
    _confirm(reader, looked_at)
    trades = [
        (trade.swaps[-1][1], payload)
        for trade in looked_at
        if trade.swaps and (payload := _tell(reader, wallet, trade)) is not None
    ]
    return ToldLogs(sorted(trades, key=lambda found: _place_of(found[0])), turn.last_block, turn.left_out)


def _place_of(log: LogEntry) -> tuple[int, int]:
    return log.block_number, log.log_index


def _add_logs(reader: ChainReader, moved: dict[str, _Trade], *, from_block: int, to_block: int) -> None:
    markets = markets_on(reader.chain_id)
    topics = [list(dict.fromkeys(topic for each in markets.by_protocol.values() for topic in each.swap_topics))]
    for log in reader.logs(address=None, topics=topics, from_block=from_block, to_block=to_block):
        if log.tx_hash in moved:
            moved[log.tx_hash].logs.append(log)


def _confirm(reader: ChainReader, trades: Sequence[_Trade]) -> None:
    """Note the swaps whose pools their markets know, all asked at once; others' logs only have the shape of one."""
    most = _SWAPS_AT_EACH_END
    asked = [(trade, log) for trade in trades for log in (*trade.logs[:most], *trade.logs[most:][-most:])]
    names = dict.fromkeys(name.text for _, log in asked for name in _list_names(log))
    known = markets_on(reader.chain_id).recognize(reader, list(names)) if names else {}
    for trade, log in asked:
        found = (known[name.text] for name in _list_names(log) if name.text in known)
        pool = next((each for each in found if each.pool_id.tells(log)), None)
        if pool is not None:
            trade.swaps.append((pool, log))


def _list_names(log: LogEntry) -> list[PoolId]:
    """What a swap's log may be of: the contract itself, or the pool that it names first, unless that is an account."""
    first = log.topics[1].lower() if len(log.topics) > 1 else ""
    return [PoolId(log.address), *([PoolId(first, log.address)] if first and int(first, 16) >> _ACCOUNT_BITS else [])]


def _tell(reader: ChainReader, wallet: str, trade: _Trade) -> JsonObject | None:
    """None where a stranger's contract logged a movement and is no token: the other trades are told all the same."""
    try:
        return _describe(reader, wallet, trade)
    except TokenNotFound:
        return None


def _describe(reader: ChainReader, wallet: str, trade: _Trade) -> JsonObject | None:
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
