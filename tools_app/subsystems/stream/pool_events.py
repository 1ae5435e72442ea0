"""Logs of pools as the fields of a `pool:event`. Amounts are base units, positive into the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings

from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_units
from tools_app.portfolio.markets import markets_on
from tools_app.subsystems.stream.event_block_windows import ToldLogs, take_turn
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.views import LogEntry, TokenMeta

POOL_EVENT_NAMES: Final = ("swap", "mint", "burn", "collect")


@dataclass(frozen=True, slots=True)
class _Wanted:
    pool_address: str
    events: tuple[str, ...]


def find_events(
    reader: ChainReader,
    params: Mapping[str, Any],  # Any: JSON of an answer
    *,
    from_block: int,
    to_block: int,
) -> ToldLogs:
    """What a pool logged of the wanted kinds in a range of blocks, as far as one look tells it.

    Anybody can trade in a pool as often as they pay for. Raises PoolNotFound, RpcUnavailable.
    """
    markets = markets_on(reader.chain_id)
    wanted = read_stored(_Wanted, params)
    pool = markets.read(reader, wanted.pool_address)
    topics = pool.pool_id.filter_logs(markets.of_pool(pool).event_topics(pool, wanted.events))
    logs = reader.logs(address=pool.pool_id.contract, topics=topics, from_block=from_block, to_block=to_block)
    most: int = settings.GOLEM_STREAM_EVENTS_PER_READ
    turn = take_turn([log.block_number for log in logs], most=most, to_block=to_block)
    told = [(log, found) for log in logs[: turn.told] if (found := describe_log(reader, pool, log)) is not None]
    return ToldLogs(told, turn.last_block, turn.left_out)


def describe_log(reader: ChainReader, pool: Pool, log: LogEntry) -> JsonObject | None:
    """The payload of a pool's log, without its subscription; None for one that is none of ours."""
    found = markets_on(reader.chain_id).of_pool(pool).read_event(pool, log)
    if found is None:
        return None
    return {
        "pool_address": pool.id,
        "event": found.name,
        **describe_amounts(reader, pool, found.amount0, found.amount1),
        **found.details,
    }


def describe_amounts(reader: ChainReader, pool: Pool, amount0: int, amount1: int) -> dict[str, object]:
    """Both tokens with their amounts in base units and in units."""
    token0, token1 = reader.token(pool.token0), reader.token(pool.token1)
    return {
        "venue": pool.venue,
        "token0": describe_token(token0),
        "token1": describe_token(token1),
        "amount0": str(amount0),
        "amount0_units": format_units(amount0, token0.decimals),
        "amount1": str(amount1),
        "amount1_units": format_units(amount1, token1.decimals),
    }


def describe_token(token: TokenMeta) -> dict[str, object]:
    """A token in an event. Its symbol is data from outside unless `is_registered`."""
    return {
        "address": token.address,
        "symbol": token.symbol,
        "decimals": token.decimals,
        "is_registered": token.is_registered,
    }
