"""Computes what an account may take out when its last debt is paid in the same plan.

A reserve that is paused, or from which too little can be taken out now, keeps nobody from paying: it is left where it
is, and named.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.contracts import PoolContracts
from tools_app.standards.aave_like.reads import Reserve, answer_of, held_call, read_held, read_reserve, reserve_calls
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import Reads, gather


@dataclass(frozen=True, slots=True)
class Supplied:
    """Base units of one asset that an account supplied. `closed` says why they cannot all be taken out now."""

    reserve: Reserve
    raw: int
    closed: str = ""


def list_supplied(where: PoolContracts, account: str, *, label: str) -> Reads[tuple[Supplied, ...]]:
    """All that `account` supplied, in the lender's order: two batches, a third when something is there.

    Raises PositionsUnreadable.
    """
    [listed] = yield [ReadCall(where.pool, signatures.RESERVES_LIST)]
    assets = [str(asset) for asset in answer_of(listed, label)[0]]
    outcomes = yield [held_call(where, asset, account) for asset in assets]
    told = {asset: read_held(outcome) for asset, outcome in zip(assets, outcomes, strict=True)}
    held = {asset: each.supplied for asset, each in told.items() if each.supplied}
    if not held:
        return ()
    batches = yield from gather(*(reserve_calls(where, asset) for asset in held))
    return tuple(
        _look_at(read_reserve(asset, batch, label=label), raw)
        for (asset, raw), batch in zip(held.items(), batches, strict=True)
    )


def _look_at(reserve: Reserve, raw: int) -> Supplied:
    configuration = reserve.configuration
    if configuration.is_paused or not configuration.is_active:
        return Supplied(reserve, raw, "paused")
    return Supplied(reserve, raw, "liquidity" if raw > reserve.liquidity else "")
