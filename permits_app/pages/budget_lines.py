"""Tells what one owner's golems used of the budget that they share, and when some of it is free again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from permits_app.limits import ledger
from permits_app.limits.owner_budget import BudgetView, GolemShare, find_limit, list_golems_of_person, read_shares
from permits_app.pages.golem_figures import meter_usd
from permits_app.pages.limit_meter import Meter
from tools_app.wording.formats import format_usd

MOST_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class ShareLine:
    """What one golem used, as a page shows it."""

    golem_id: UUID
    name: str
    used: str
    told: str
    is_used: bool


def read_budget(person_id: int, *, now: datetime) -> BudgetView:
    """The budget of a person and the day of each of their golems."""
    used = ledger.sum_days(golem_ids=list_golems_of_person(person_id), now=now)
    return BudgetView(find_limit(person_id), read_shares(person_id=person_id, used=used, now=now))


def meter_budget(budget: BudgetView) -> Meter:
    """As a bar."""
    frees_at = budget.frees_at
    hint = f"some of it is free again at {frees_at:%H:%M} UTC on {frees_at:%d %B}" if frees_at is not None else ""
    return meter_usd("All golems in 24 h", budget.used_micro_usd, budget.limit_micro_usd or 0, hint)


def list_share_lines(budget: BudgetView) -> tuple[ShareLine, ...]:
    """A line for each of the fifty golems that used most."""
    return tuple(
        ShareLine(
            golem_id=share.golem_id,
            name=share.name,
            used=format_usd(share.used_micro_usd),
            told=_say_when(share),
            is_used=share.used_micro_usd > 0,
        )
        for share in budget.shares[:MOST_SHOWN]
    )


def _say_when(share: GolemShare) -> str:
    told = []
    if share.held_micro_usd:
        told.append(f"{format_usd(share.held_micro_usd)} of it is held until its permits and promises end")
    if share.frees_at is not None:
        told.append(f"the oldest of it is free again {share.frees_at:%Y-%m-%d %H:%M} UTC")
    if not told:
        told.append("what others may still take by older allowances" if share.used_micro_usd else "nothing used")
    return "; ".join(told)
