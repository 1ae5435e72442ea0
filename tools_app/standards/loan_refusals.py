"""How a lender's tools refuse: a market that takes nothing now, and a debt that would stand on too little."""

from __future__ import annotations

from typing import Final, NoReturn

from tools_app.core.errors import Recovery
from tools_app.standards.format_loan_figures import show
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, FlashTerms, MarketClosed
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import HealthTooLow, Reads
from tools_app.toolkit.views import TokenMeta

_PASSES: Final = frozenset({"paused", "used", "liquidity"})
"""What others may end without anything else being asked for."""


def close_market(label: str, symbol: str, reason: str, why: str, *, room: int | None = None) -> NoReturn:
    """Raises MarketClosed: what passes with time is waited for, else `room` base units would pass."""
    told = {} if room is None else {"room": str(room)}
    raise MarketClosed(
        f"the {label} {why}",
        recovery=Recovery.WAIT if reason in _PASSES else Recovery.FIX_PARAMS,
        cleared_by="others repay or lend, or its guardians open it" if reason in _PASSES else "a smaller amount",
        market=symbol,
        reason=reason,
        **told,
    )


def refuse_health(doing: str, room: int, token: TokenMeta) -> NoReturn:
    """Raises HealthTooLow naming the most that passes."""
    raise HealthTooLow(
        f"{doing} would leave a health under {DEFAULT_HEALTH_FLOOR_BPS} bps; at most {show(room, token)} passes",
        most=str(room),
        least_health_bps=str(DEFAULT_HEALTH_FLOOR_BPS),
    )


class NoFlashLoans:
    """A lender whose markets lend nothing within one call; `label` is its name for people."""

    label: str

    def flash_terms(self, chain_id: int, asset: str) -> Reads[FlashTerms | None]:
        """None."""
        yield []
        return None

    def flash_probe(self, chain_id: int, receiver: str, asset: str) -> ReadCall:
        """Raises MarketClosed."""
        self._refuse()

    def flash_call(self, chain_id: int, receiver: str, asset: str, amount: int, data: bytes) -> Call:
        """Raises MarketClosed."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise MarketClosed(f"{self.label} has no flash loans", reason="no_flash_loans")
