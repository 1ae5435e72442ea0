"""Tells what issuers' rates were, from what their contracts logged: reports, prices told, and deposits at a rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tools_app.core.ratio import Ratio
from tools_app.portfolio.history_from_logs import read_logs_since
from tools_app.protocols.liquid_restaking import etherfi, kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import (
    ETHERFI,
    ISSUERS,
    KELP,
    RENZO,
    RestakingContracts,
    contracts_on,
)
from tools_app.protocols.liquid_restaking.issuers import WAD
from tools_app.protocols.liquid_restaking.risk import Sample, yearly_bps
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry

DAY_SECONDS: Final = 86_400
WEEK, MONTH = 7, 30
_LEAST_WEI: Final = 10**15
"""A deposit of less tells its rate too roughly."""


class IssuerRates:
    """What an issuer's token is worth in ether, wherever it is told."""

    meaning = "ether for a token, at the issuer's own rate"

    @property
    def topics(self) -> tuple[str, ...]:
        """Those of all issuers."""
        return tuple(topic for topic, _ in _TELLS.values())

    def about(self, chain_id: int, token: str) -> PoolId | None:
        """Whose token it is."""
        at = contracts_on(chain_id)
        if at is None:
            return None
        return next((PoolId(at.tellers[issuer]) for issuer in ISSUERS if at.tokens[issuer] == token), None)

    def held(self, chain_id: int, ref: PositionRef) -> Sequence[PoolId]:
        """All of them, which are few."""
        at = contracts_on(chain_id)
        return () if at is None else [PoolId(at.tellers[issuer]) for issuer in ISSUERS]

    def read(self, log: LogEntry) -> Ratio | None:
        """Ether for a whole token."""
        rates = (tell(log) for _, tell in _TELLS.values())
        return next((Ratio(rate, WAD) for rate in rates if rate is not None), None)


def read_rates(reader: ChainReader, at: RestakingContracts, issuer: str, *, days: int) -> tuple[Sample, ...]:
    """The rates an issuer told in the last `days`, oldest first. Raises the node's errors."""
    topic, tell = _TELLS[issuer]
    since = reader.block.timestamp - days * DAY_SECONDS
    logs = read_logs_since(reader, at.tellers[issuer], [topic], since)
    ordered = sorted(logs, key=lambda log: (log.block_number, log.log_index))
    return tuple(Sample(log.block_number, rate) for log in ordered if (rate := tell(log)) is not None)


def read_yearly_bps(
    reader: ChainReader, at: RestakingContracts, issuer: str, rate_now: int, *, days: int = WEEK
) -> int | None:
    """Simple yearly rate since the first rate told in the last `days`; None where none is a day old."""
    samples = read_rates(reader, at, issuer, days=days)
    if not samples:
        return None
    seconds = reader.block.timestamp - reader.block_at(samples[0].block).timestamp
    return yearly_bps(samples[0].rate, rate_now, seconds=seconds)


def _tell_etherfi(log: LogEntry) -> int | None:
    told = etherfi.REBASES.read(log)
    return told.total_eth_locked * WAD // told.total_eeth_shares if told and told.total_eeth_shares else None


def _tell_kelp(log: LogEntry) -> int | None:
    told = kelp.PRICES.read(log)
    return None if told is None else told.new_price


def _tell_renzo(log: LogEntry) -> int | None:
    told = renzo.DEPOSITS.read(log)
    if told is None or int(told.token, 16) or not told.ezeth_minted or told.amount < _LEAST_WEI:
        return None
    return told.amount * WAD // told.ezeth_minted


_TELLS: Final[Mapping[str, tuple[str, Callable[[LogEntry], int | None]]]] = {
    ETHERFI: (etherfi.REBASES.topic, _tell_etherfi),
    KELP: (kelp.PRICES.topic, _tell_kelp),
    RENZO: (renzo.DEPOSITS.topic, _tell_renzo),
}
"""The log in which each issuer tells its rate, and how it is read."""
