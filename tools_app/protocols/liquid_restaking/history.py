"""What issuers' rates were, from what their contracts logged: reports, prices told, and deposits at a rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.protocols.liquid_restaking import etherfi, kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import ETHERFI, KELP
from tools_app.protocols.liquid_restaking.issuers import WAD
from tools_app.protocols.liquid_restaking.risk import Sample, yearly_bps
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import LogEntry

DAY_SECONDS: Final = 86_400
WEEK, MONTH = 7, 30
_LEAST_WEI: Final = 10**15
"""A deposit of less tells its rate too roughly."""


def read_rates(reader: ChainReader, at: Mapping[str, str], issuer: str, *, days: int) -> tuple[Sample, ...]:
    """The rates an issuer told in the last `days`, oldest first. Raises the node's errors."""
    event, contract = {
        ETHERFI: (etherfi.REBASED, "etherfi_pool"),
        KELP: (kelp.PRICED, "kelp_oracle"),
    }.get(issuer, (renzo.DEPOSITED, "renzo_manager"))
    first = reader.first_block_since(reader.block.timestamp - days * DAY_SECONDS).number
    logs = reader.logs(
        address=at[contract], topics=[event_topic(event)], from_block=first, to_block=reader.block.number
    )
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
