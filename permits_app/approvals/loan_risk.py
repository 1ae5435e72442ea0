"""Says what a loan risks: the price at which it is liquidated, what is owed, what may be lost of it in dollars.

Reads what a permit predicted of its positions (`describe_moved`); title, approval, permit, one-page decision and alert
say the same because they ask here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from typing import Final

from permits_app.permits.kept_position_changes import (
    KeptLiquidation,
    KeptPositionChange,
    KeptPrice,
    read_position_change,
    read_position_changes,
)
from tools_app.wording.formats import format_usd

_SHORTEST_FALL: Final = "at once: its cover is worth too little already, and anybody may sell it"


@dataclass(frozen=True, slots=True)
class LoanRisk:
    """What positions with a debt hold and owe afterwards, in micro-USD at the feeds of the simulated block."""

    owed_micro_usd: int
    cover_micro_usd: int

    @property
    def words(self) -> str:
        """`$1,800.00 owed, and the $3,000.00 that covers it`."""
        return f"{format_usd(self.owed_micro_usd)} owed, and the {format_usd(self.cover_micro_usd)} that covers it"


def read_loan_risk(positions: Iterable[Mapping[str, object]]) -> LoanRisk | None:
    """Sum up what all positions that owe something after the plan put at risk; None where none owes, or nobody weighed
    it.
    """
    loans = [each.liquidation for each in read_position_changes(positions) if each.owed_after]
    found = [each for each in loans if each is not None]
    if not found:
        return None
    return LoanRisk(sum(each.owed_micro_usd for each in found), sum(each.cover_micro_usd for each in found))


def say_liquidation(position: Mapping[str, object]) -> str:
    """Say when one position is liquidated, with prices; of a permit that was not told prices, the fall of its cover
    alone. Empty without a debt.
    """
    kept = read_position_change(position)
    told = kept.liquidation
    if told is None:
        return _say_fall(kept.health_after)
    if not told.fall_bps:
        return _SHORTEST_FALL
    cover = list(_list_cover(told))
    rises = [_say_rise(each) for each in told.prices if _is_rise(each)]
    if not cover:
        return _say_fall(kept.health_after)
    if len(cover) == 1:
        [(only, together_usd)] = cover
        words = (
            f"when {only.symbol} falls by {_percent(told.fall_bps)} to {_usd(together_usd)} (now {_usd(only.now_usd)})"
        )
    else:
        together = " and ".join(f"{each.symbol} at {_usd(together_usd)}" for each, together_usd in cover)
        alone = "; ".join(_say_alone(each) for each, _ in cover)
        words = f"when all that covers it falls by {_percent(told.fall_bps)}: {together}; {alone}"
    return f"{words}{''.join(f', or when {each}' for each in rises)}; anybody may then sell its cover at a discount"


def say_growth(positions: Iterable[Mapping[str, object]]) -> str:
    """Say, for a title, when the first position whose debt or risk grows is liquidated: `WETH at $1,125.00 (-62.5%)`;
    empty where none grows.
    """
    for each in read_position_changes(positions):
        told = each.liquidation
        if told is None or not _grows(each):
            continue
        if not told.fall_bps:
            return "liquidated at once"
        cover = list(_list_cover(told))
        if not cover:
            return ""
        prices = ", ".join(f"{price.symbol} at {_usd(together_usd)}" for price, together_usd in cover[:2])
        more = " and others" if len(cover) > 2 else ""
        return f"liquidated with {prices}{more} (-{_percent(told.fall_bps)})"
    return ""


def _list_cover(told: KeptLiquidation) -> Iterator[tuple[KeptPrice, str]]:
    """Each token that covers the loan, and its price when all of them fell alike."""
    for price in told.prices:
        if price.together_usd is not None:
            yield price, price.together_usd


def _grows(position: KeptPositionChange) -> bool:
    """Whether more is owed in it than before, or less covers what is owed."""
    debts = {each.token for each in position.owed_after}
    if any(each.raw < 0 for each in position.changes if each.token in debts):
        return True
    before, after = _ratio(position.health_before), _ratio(position.health_after)
    return after is not None and (before is None or after < before)


def _is_rise(price: KeptPrice) -> bool:
    return price.alone_usd is not None and Decimal(price.alone_usd) > Decimal(price.now_usd)


def _say_rise(price: KeptPrice) -> str:
    return f"{price.symbol}, which is owed, rises to {_usd(price.alone_usd or '')} (now {_usd(price.now_usd)})"


def _say_alone(price: KeptPrice) -> str:
    if price.alone_usd is None or _is_rise(price):
        return f"a fall of {price.symbol} alone never does it"
    share = (1 - Decimal(price.alone_usd) / Decimal(price.now_usd)) * 100 if Decimal(price.now_usd) else 0
    fall = Decimal(share).quantize(Decimal("0.1"), rounding=ROUND_DOWN)
    return f"{price.symbol} alone at {_usd(price.alone_usd)}, {fall}% lower"


def _usd(text: str) -> str:
    whole, _, cents = text.partition(".")
    return f"${int(whole):,}.{cents}"


def _percent(bps: int) -> str:
    return f"{bps // 100}.{bps % 100 // 10}%"


def _ratio(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(str(text))
    except InvalidOperation:
        return None


def _say_fall(health: str | None) -> str:
    """`1.18` -> by how much the price of what covers a loan may fall against it; empty without a loan."""
    ratio = _ratio(health)
    if ratio is None or ratio <= 0:
        return ""
    if ratio <= 1:
        return _SHORTEST_FALL
    share = ((1 - 1 / ratio) * 100).quantize(Decimal("0.1"), rounding=ROUND_DOWN)
    return f"when the price of its cover falls by {share}% against what is owed; anybody may then sell it at a discount"
