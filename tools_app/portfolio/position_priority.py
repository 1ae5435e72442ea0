"""Orders positions where not all can come first: debts, then what is worth most.

Anybody can put positions into an account, as many as they like, and each has to be paid for with what is in it. In this
order no gift stands before anything that is worth more, and none before a debt, which nobody else can run up.
"""

from __future__ import annotations

from collections.abc import Iterable

from tools_app.portfolio.holdings import HeldPosition
from tools_app.toolkit.positions import PositionRef


def list_foremost(held: Iterable[HeldPosition]) -> list[HeldPosition]:
    """The same positions, those that count first. What has no price counts as nothing."""
    return sorted(held, key=_rank)


def _rank(held: HeldPosition) -> tuple[bool, int, int, PositionRef]:
    known = sum(part.micro_usd or 0 for part in held.parts)
    return not held.position.has_health, -held.debt_micro_usd, -known, held.ref
