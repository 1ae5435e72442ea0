"""Reads from the chain what a golem's present, former and future accounts hold.

What cannot be read is None and said so; it is no empty account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.models import FormerAccount
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.units import format_micro_usd
from tools_app.portfolio.holdings import measure_holdings
from tools_app.portfolio.remembered_positions import list_hints

_BUDGET_MS: Final = 1_500
_NEXT_TO_NOTHING_MICRO_USD: Final = 10_000
_MOST_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """One former account: what is told of it, in words."""

    address: str
    held: str
    is_read: bool


def measure_account(*, chain_id: int, account: str, now: datetime) -> int | None:
    """Micro-USD of what `account` holds as far as it has a price; None where that cannot be read. Asks a node."""
    if not account:
        return None
    try:
        chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
        hints = list_hints(chain_id=chain_id, account=account)
        return measure_holdings(chain=chain, account=account, hints=hints).nav_micro_usd
    except GolemError:
        return None


def say_held(micro_usd: int | None) -> str:
    """`$17,998.00`, `nothing`, or that it could not be read."""
    if micro_usd is None:
        return "not readable now"
    return format_micro_usd(micro_usd) if abs(micro_usd) >= _NEXT_TO_NOTHING_MICRO_USD else "nothing"


def list_left_behind(golem: Golem, *, now: datetime) -> Sequence[LeftBehind]:
    """Former accounts that hold something, or may; the last that was left first. One read for each, three at most."""
    found = []
    for row in FormerAccount.objects.filter(golem=golem).order_by("-left_at")[:_MOST_SHOWN]:
        held = measure_account(chain_id=row.chain_id, account=row.address, now=now)
        if held is not None and abs(held) < _NEXT_TO_NOTHING_MICRO_USD:
            continue
        told = say_held(held) if held is not None else f"{say_held(row.held_micro_usd)} when it was left"
        found.append(LeftBehind(row.address, told, is_read=held is not None))
    return tuple(found)
