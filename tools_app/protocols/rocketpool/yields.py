"""Tells what staked ether earned at Rocket Pool, for whoever compares: growth of the reported rate over a week."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.rocketpool.addresses import NAME, contracts_on, find_contracts
from tools_app.protocols.rocketpool.math import ONE, yearly_bps
from tools_app.protocols.rocketpool.reads import read_network, read_reports
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.yields import YieldKind, YieldOffer, is_coin

_WEEK: Final = 7 * 86_400
_LOOK_BACK_DAYS: Final = 14
"""Watchers report about once a day; a report that is a week old is among those of two."""


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """rETH, for the coin and what wraps it."""
    if contracts_on(reader.chain_id) is None or not is_coin(reader, token):
        return ()
    at, now = find_contracts(reader), reader.block.timestamp
    network = read_network(reader, at, None)
    reports = read_reports(reader, at, days=_LOOK_BACK_DAYS)
    rate = yearly_bps(reports, now_rate=network.rate.wei, now=now, since=now - _WEEK)
    grown = "growth of the rate that was reported over a week" if rate is not None else "no report a week old is known"
    return (
        YieldOffer(
            protocol=NAME,
            place=at.reth,
            label="rETH (Rocket Pool)",
            kind=YieldKind.STAKING,
            yearly_ppm=None if rate is None else rate * PPM // 10_000,
            basis=f"{grown}; out comes what there is ether for",
            free=network.collateral,
            entry_ppm=-(-network.rate.fee * PPM // ONE),
            closed="" if network.is_enabled and network.most_deposit else "the deposit pool is closed or full",
        ),
    )
