"""Writes a loan's figures for people: amounts, health, what a year brings."""

from __future__ import annotations

from tools_app.core.units import format_units
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.report import amount_spent
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta


def show(raw: int, token: TokenMeta) -> str:
    """An amount in units, with its symbol."""
    return format_units(raw, token.decimals, token.symbol)


def show_health(bps: int) -> str:
    """`15234` -> `1.52`, rounded down."""
    return f"{bps // 10_000}.{bps % 10_000 // 100:02d}"


def show_health_of(bps: int | None) -> str | None:
    """The same; None without a debt."""
    return None if bps is None else show_health(bps)


def debt_left(outcome: PlanOutcome) -> TokenAmount:
    """What is left of a debt after what was really paid back; a plan that pays everything leaves nothing."""
    details, token = outcome.plan.details, outcome.plan.spends[0].token
    left = 0 if details["is_all"] else max(0, int(details["owed_before"]) - amount_spent(outcome, token).raw)
    return TokenAmount(left, token)


def percent(ppm: int) -> str:
    """Millionths as percent: `41_234` -> `4.1234`."""
    sign, size = ("-", -ppm) if ppm < 0 else ("", ppm)
    return f"{sign}{size // 10_000}.{size % 10_000:04d}"
