"""Pools as they are made, from the logs of factories and managers: so many at a time, however many somebody makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from tools_app.chain.tokens import TokenNotFound
from tools_app.core.json_types import JsonObject
from tools_app.portfolio.markets import markets_on
from tools_app.subsystems.stream.event_block_windows import take_turn
from tools_app.subsystems.stream.pool_events import describe_token
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import CreatedPool


@dataclass(frozen=True, slots=True)
class PoolsMade:
    """Payloads in chain order, the last block that was looked at, and how many of that block are left out."""

    payloads: list[JsonObject]
    last_block: int
    left_out: int


def find_new_pools(reader: ChainReader, params: Mapping[str, object], *, from_block: int, to_block: int) -> PoolsMade:
    """The pools made in a range of blocks, as far as one look tells them; of one token where it is named.

    It ends before the block with which they become too many. One block that alone has too many is told in part.
    A pool of something that is no ERC-20 token is left out. Raises RpcUnavailable.
    """
    made = markets_on(reader.chain_id).created(reader, from_block=from_block, to_block=to_block)
    token = params.get("token")
    wanted = [each for each in made if token in (None, each.token0, each.token1)]
    most: int = settings.GOLEM_STREAM_NEW_POOLS_PER_READ
    turn = take_turn([each.block_number for each in wanted], most=most, to_block=to_block)
    return PoolsMade(_describe_all(reader, wanted[: turn.told]), turn.last_block, turn.left_out)


def _describe_all(reader: ChainReader, made: Sequence[CreatedPool]) -> list[dict[str, object]]:
    found = (_describe(reader, each) for each in made)
    return [payload for payload in found if payload is not None]


def _describe(reader: ChainReader, made: CreatedPool) -> JsonObject | None:
    try:
        token0, token1 = reader.token(made.token0), reader.token(made.token1)
    except TokenNotFound:
        return None
    hook = {"hook": made.hook, "hook_powers": [str(power) for power in made.powers]} if made.hook else {}
    return {
        "block_number": made.block_number,
        "block_hash": made.block_hash,
        "transaction_hash": made.tx_hash,
        "log_index": made.log_index,
        "pool_address": made.id,
        "venue": made.venue,
        "fee_pips": made.fee,
        "token0": describe_token(token0),
        "token1": describe_token(token1),
        **({"manager": made.manager} if made.manager else {}),
        **hook,
    }
