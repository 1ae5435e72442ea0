"""The family of the `lido_*` tools, and what several of them check before they begin anything."""

from __future__ import annotations

from tools_app.core.clock import tell_unix_time
from tools_app.core.units import format_units
from tools_app.protocols.lido.addresses import CHAINS
from tools_app.protocols.lido.errors import OracleStalled
from tools_app.protocols.lido.reads import Oracle
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

lido = ToolFamily(prefix="lido", category=Category.STAKING, chains=CHAINS, picks_chain=True)


def check_oracle(oracle: Oracle) -> None:
    """Raises OracleStalled, in which case only reads and ways out are left."""
    if oracle.is_stalled:
        raise OracleStalled(
            f"the oracle's last report is of epoch {oracle.epoch_of(oracle.processed_slot)} and that of epoch"
            f" {oracle.epoch_of(oracle.frame_slot)} is due; until it comes only reads and ways out are served",
            last_finalized_epoch=oracle.epoch_of(oracle.processed_slot),
            expected_epoch=oracle.epoch_of(oracle.frame_slot),
        )


def time_text(seconds: int | None) -> str | None:
    """A unix second as RFC 3339 text."""
    return None if seconds is None else tell_unix_time(seconds)


def rate_text(rate: int) -> str:
    """Wei of a whole share as decimal text of ETH."""
    return format_units(rate, 18)
