"""Decodes the rates that a pool of Aave's code logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.core.ratio import Ratio
from tools_app.standards.aave_like.contracts import contracts_on
from tools_app.standards.aave_like.signatures import RATES_UPDATED, RAY
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry


@dataclass(frozen=True, slots=True)
class RatesUpdated:
    """What a reserve pays and costs a year, in rays."""

    liquidity_rate: int
    variable_borrow_rate: int


UPDATED: Final = AbiEvent(RATES_UPDATED, RatesUpdated)


@dataclass(frozen=True, slots=True)
class ReserveRates:
    """What supplying pays a year, without interest on interest."""

    deployments: Callable[[int], Mapping[str, str] | None]
    meaning: str = "what supplying pays a year as a share of it, without interest on interest"

    @property
    def topics(self) -> tuple[str, ...]:
        """That of the one event."""
        return (UPDATED.topic,)

    def about(self, chain_id: int, token: str) -> PoolId | None:
        """The pool tells, and names the reserve by its asset in 32 bytes."""
        at = contracts_on(self.deployments, chain_id)
        return None if at is None else PoolId("0x" + token.lower().removeprefix("0x").rjust(64, "0"), at.pool)

    def held(self, chain_id: int, ref: PositionRef) -> Sequence[PoolId]:
        """None: the name of a position is the account's and says no reserve."""
        return ()

    def read(self, log: LogEntry) -> Ratio | None:
        """The rate of whoever supplies."""
        told = UPDATED.read(log)
        return None if told is None else Ratio(told.liquidity_rate, RAY)


@dataclass(frozen=True, slots=True)
class DebtRates(ReserveRates):
    """What borrowing at the variable rate costs a year, out of the same log."""

    meaning: str = "what borrowing costs a year as a share of it, without interest on interest"

    def read(self, log: LogEntry) -> Ratio | None:
        """The rate of whoever borrows."""
        told = UPDATED.read(log)
        return None if told is None else Ratio(told.variable_borrow_rate, RAY)
