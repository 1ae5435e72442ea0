"""Says what a loan risks: the price at which it is liquidated, what is owed, what may be lost of it in dollars.

Reads what a permit predicted of its positions (`describe_moved`); title, approval, permit, one-page decision and alert
say the same because they ask here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from typing import Any, Final

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


def read_loan_risk(positions: Iterable[Mapping[str, Any]]) -> LoanRisk | None:
    """What all positions that owe something after the plan put at risk; None where none owes, or nobody weighed it."""
    found = [each["liquidation"] for each in positions if each.get("liquidation") and each.get("owed_after")]
    if not found:
        return None
    return LoanRisk(*(sum(int(each[name]) for each in found) for name in ("owed_micro_usd", "cover_micro_usd")))


def say_liquidation(position: Mapping[str, Any]) -> str:
    """When one position is liquidated, with prices; of a permit that was not told prices, the fall of its cover alone.
    Empty without a debt.
    """
    told = position.get("liquidation")
    if not told:
        return _say_fall(position.get("health_after"))
    if not told["fall_bps"]:
        return _SHORTEST_FALL
    cover = [each for each in told["prices"] if each["together_usd"] is not None]
    rises = [_say_rise(each) for each in told["prices"] if _is_rise(each)]
    if not cover:
        return _say_fall(position.get("health_after"))
    if len(cover) == 1:
        only = cover[0]
        words = (
            f"when {only['symbol']} falls by {_percent(told['fall_bps'])} to {_usd(only['together_usd'])}"
            f" (now {_usd(only['now_usd'])})"
        )
    else:
        together = " and ".join(f"{each['symbol']} at {_usd(each['together_usd'])}" for each in cover)
        alone = "; ".join(map(_say_alone, cover))
        words = f"when all that covers it falls by {_percent(told['fall_bps'])}: {together}; {alone}"
    return f"{words}{''.join(f', or when {each}' for each in rises)}; anybody may then sell its cover at a discount"


def say_growth(positions: Iterable[Mapping[str, Any]]) -> str:
    """For a title: when the first position whose debt or risk grows is liquidated: `WETH at $1,125.00 (-62.5%)`; empty
    where none grows.
    """
    for each in positions:
        told = each.get("liquidation")
        if not told or not _grows(each):
            continue
        cover = [price for price in told["prices"] if price["together_usd"] is not None]
        if not told["fall_bps"] or not cover:
            return "liquidated at once" if not told["fall_bps"] else ""
        prices = ", ".join(f"{price['symbol']} at {_usd(price['together_usd'])}" for price in cover[:2])
        more = " and others" if len(cover) > 2 else ""
        return f"liquidated with {prices}{more} (-{_percent(told['fall_bps'])})"
    return ""


def _grows(position: Mapping[str, Any]) -> bool:
    """Whether more is owed in it than before, or less covers what is owed."""
    debts = {each["token"] for each in position["owed_after"]}
    if any(int(each["raw"]) < 0 for each in position["changes"] if each["token"] in debts):
        return True
    before, after = _ratio(position.get("health_before")), _ratio(position.get("health_after"))
    return after is not None and (before is None or after < before)


def _is_rise(price: Mapping[str, Any]) -> bool:
    return price["alone_usd"] is not None and Decimal(price["alone_usd"]) > Decimal(price["now_usd"])


def _say_rise(price: Mapping[str, Any]) -> str:
    return f"{price['symbol']}, which is owed, rises to {_usd(price['alone_usd'])} (now {_usd(price['now_usd'])})"


def _say_alone(price: Mapping[str, Any]) -> str:
    if price["alone_usd"] is None or _is_rise(price):
        return f"a fall of {price['symbol']} alone never does it"
    share = (1 - Decimal(price["alone_usd"]) / Decimal(price["now_usd"])) * 100 if Decimal(price["now_usd"]) else 0
    fall = Decimal(share).quantize(Decimal("0.1"), rounding=ROUND_DOWN)
    return f"{price['symbol']} alone at {_usd(price['alone_usd'])}, {fall}% lower"


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
