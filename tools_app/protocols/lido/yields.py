"""Tells what staked ether earned at Lido, for whoever compares: the rate of the oracle's reports of a week."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.lido.addresses import NAME, contracts_on, deployment_on
from tools_app.protocols.lido.history import read_rebases
from tools_app.protocols.lido.math import yearly_bps
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.yields import YieldKind, YieldOffer, is_coin

_WEEK_DAYS: Final = 7
_DAY: Final = 86_400


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """Staking, for the coin and what wraps it."""
    if contracts_on(reader.chain_id) is None or not is_coin(reader, token):
        return ()
    now = reader.block.timestamp
    rebases = read_rebases(reader, deployment_on(reader), days=_WEEK_DAYS).rebases
    rate = yearly_bps(rebases, since=now - _WEEK_DAYS * _DAY)
    return (
        YieldOffer(
            protocol=NAME,
            place="queue",
            label="staked ether (Lido)",
            kind=YieldKind.STAKING,
            yearly_ppm=None if rate is None else rate * 100,
            basis="the oracle's reports of the last week" if rate is not None else "no report of the last week is here",
            waits_seconds=None,
            steps_out=2,
        ),
    )
