"""Tells what issuers' rates were, from what their contracts logged: reports, prices told, and deposits at a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.core.ratio import Ratio
from tools_app.portfolio.logged_past import read_logs_since
from tools_app.protocols.liquid_restaking import etherfi, kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import ETHERFI, KELP, RENZO, TOKENS, deployments, issuers_of
from tools_app.protocols.liquid_restaking.issuers import WAD
from tools_app.protocols.liquid_restaking.risk import Sample, yearly_bps
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry

DAY_SECONDS: Final = 86_400
WEEK, MONTH = 7, 30
TELLS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        ETHERFI: (etherfi.REBASED, "etherfi_pool"),
        KELP: (kelp.PRICED, "kelp_oracle"),
        RENZO: (renzo.DEPOSITED, "renzo_manager"),
    }
)
"""What tells each issuer's rate, and the key of the contract that does."""
_LEAST_WEI: Final = 10**15
"""A deposit of less tells its rate too roughly."""


class IssuerRates:
    """What an issuer's token is worth in ether, wherever it is told."""

    meaning = "ether for a token, at the issuer's own rate"

    @property
    def topics(self) -> tuple[str, ...]:
        """Those of all issuers."""
        return tuple(event_topic(event) for event, _ in TELLS.values())

    def about(self, chain_id: int, token: str) -> PoolId | None:
        """Whose token it is."""
        at = deployments(chain_id) or {}
        found = (issuer for issuer in issuers_of(at) if at and at[TOKENS[issuer]] == token)
        return next((PoolId(at[TELLS[issuer][1]]) for issuer in found), None)

    def held(self, chain_id: int, ref: PositionRef) -> Sequence[PoolId]:
        """All of them, which are few."""
        at = deployments(chain_id)
        return () if at is None else [PoolId(at[TELLS[issuer][1]]) for issuer in issuers_of(at)]

    def read(self, log: LogEntry) -> Ratio | None:
        """Ether for a whole token."""
        rates = (_rate(issuer, event, log) for issuer, (event, _) in TELLS.items())
        return next((Ratio(rate, WAD) for rate in rates if rate is not None), None)


def read_rates(reader: ChainReader, at: Mapping[str, str], issuer: str, *, days: int) -> tuple[Sample, ...]:
    """The rates an issuer told in the last `days`, oldest first. Raises the node's errors."""
    event, contract = TELLS[issuer]
    since = reader.block.timestamp - days * DAY_SECONDS
    logs = read_logs_since(reader, at[contract], [event_topic(event)], since)
    ordered = sorted(logs, key=lambda log: (log.block_number, log.log_index))
    return tuple(Sample(log.block_number, rate) for log in ordered if (rate := _rate(issuer, event, log)) is not None)


def read_yearly_bps(
    reader: ChainReader, at: Mapping[str, str], issuer: str, rate_now: int, *, days: int = WEEK
) -> int | None:
    """Simple yearly rate since the first rate told in the last `days`; None where none is a day old."""
    samples = read_rates(reader, at, issuer, days=days)
    if not samples:
        return None
    seconds = reader.block.timestamp - reader.block_at(samples[0].block).timestamp
    return yearly_bps(samples[0].rate, rate_now, seconds=seconds)


def _rate(issuer: str, event: str, log: LogEntry) -> int | None:
    told = decode_log(event, log)
    if told is None:
        return None
    if issuer == ETHERFI:
        return int(told["totalEthLocked"]) * WAD // int(told["totalEEthShares"]) if told["totalEEthShares"] else None
    if issuer == KELP:
        return int(told["newPrice"])
    is_coin = int(str(told["token"]), 16) == 0
    if not is_coin or not told["ezETHMinted"] or int(told["amount"]) < _LEAST_WEI:
        return None
    return int(told["amount"]) * WAD // int(told["ezETHMinted"])
