"""Tells what restaking a token pays, for whoever compares: no contract tells it, and how long leaving waits one
does.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.eigenlayer.addresses import DELEGATION, DEPOSITS, NAME, deployments, strategies
from tools_app.protocols.eigenlayer.math import SLOT_SECONDS
from tools_app.protocols.eigenlayer.reads import DELAY, NO_DEPOSIT, NO_EXIT, NO_QUEUE, NO_WITHDRAWAL, PAUSED, UNDERLYING
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.yields import YieldKind, YieldOffer

_UNTOLD: Final = (
    "what services pay to those who restake is told off chain alone; the token goes on to earn what it earns by itself,"
    " and all of it can be slashed until it has left"
)


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """The strategies that take a token. One batch."""
    at = deployments(reader.chain_id)
    if at is None:
        return ()
    known = strategies(at)
    calls = [ReadCall(at[DELEGATION], DELAY), ReadCall(at[DEPOSITS], PAUSED), ReadCall(at[DELEGATION], PAUSED)]
    calls += [ReadCall(each, view) for each in known for view in (UNDERLYING, PAUSED)]
    (delay,), (stopped,), (shut,), *told = read_all(reader, calls)
    found = zip(known, told[::2], told[1::2], strict=True)
    return tuple(
        YieldOffer(
            protocol=NAME,
            place=strategy,
            label=f"{reader.token(token).symbol} restaked at EigenLayer",
            kind=YieldKind.STAKING,
            yearly_ppm=None,
            basis=_UNTOLD,
            waits_seconds=(int(delay) + 1) * SLOT_SECONDS,
            # It earns once it is delegated, and leaves through a queue.
            steps_in=2,
            steps_out=2,
            closed=_closed(deposits=int(stopped) | int(paused), way_out=int(shut), strategy=int(paused)),
        )
        for strategy, (underlying,), (paused,) in found
        if str(underlying) == token
    )


def _closed(*, deposits: int, way_out: int, strategy: int) -> str:
    """Of flags of `paused`."""
    if deposits & NO_DEPOSIT:
        return "deposits are paused"
    return "leaving is paused" if way_out & (NO_QUEUE | NO_EXIT) or strategy & NO_WITHDRAWAL else ""
