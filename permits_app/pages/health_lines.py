"""The health of each debt over a golem's last ticks, drawn beside what its owner asked for. No node is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from archetypes_app.models import DecisionCycleRecord
from permits_app.models.policy_cage import PolicyCage
from permits_app.permits.kept_holdings import KeptPosition
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.core.stored_json import read_stored
from tools_app.wording.formats import format_age

MOST_TICKS: Final = 96
HIGHEST_BPS: Final = 30_000
"""A healthier debt is drawn at the upper edge: what matters is how near 1.00 is."""
LIQUIDATION_BPS: Final = 10_000
_HEIGHT: Final = 24
_WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class HealthLine:
    """A health over time as an SVG's points, with the owner's floor as a height, and the same in words."""

    points: str
    floor: str
    is_under: bool
    said: str


@dataclass(frozen=True, slots=True)
class _Probed:
    """A position as a tick saw it; its health in basis points, None without debt."""

    position: str
    health_bps: int | None = None


def draw_health(golem_id: UUID, refs: Sequence[str], *, now: datetime) -> dict[str, HealthLine]:
    """Of each position its line, in words and points, by its reference; none of what fewer than two ticks saw."""
    if not refs:
        return {}
    rows = (
        DecisionCycleRecord.objects.filter(golem_id=golem_id)
        .order_by("-heartbeat_tick")
        .values_list("decided_at", "probes__held_elsewhere")[:MOST_TICKS]
    )
    seen: dict[str, list[tuple[datetime, int]]] = {ref: [] for ref in refs}
    for at, held in reversed(rows):
        for each in held or ():
            probe = read_stored(_Probed, each)
            if probe.health_bps is not None and probe.position in seen:
                seen[probe.position].append((at, probe.health_bps))
    cage = PolicyCage.objects.filter(golem_id=golem_id).first() or PolicyCage(golem_id=golem_id)
    return {ref: _draw(line, cage.min_health_bps, now) for ref, line in seen.items() if len(line) > 1}


def _draw(line: Sequence[tuple[datetime, int]], floor_bps: int, now: datetime) -> HealthLine:
    begins, ends = line[0][0], line[-1][0]
    span = max(1.0, (ends - begins).total_seconds())
    points = " ".join(f"{(at - begins).total_seconds() * _WIDTH / span:.1f},{_place(health)}" for at, health in line)
    lowest, last = min(health for _, health in line), line[-1][1]
    return HealthLine(
        points=points,
        floor=_place(floor_bps),
        is_under=last < floor_bps,
        said=f"{format_ratio(last)} at the last tick, {format_ratio(lowest)} at the lowest since"
        f" {format_age(begins, now=now)}; your floor is {format_ratio(floor_bps)}, at 1.00 it is liquidated",
    )


def _place(health_bps: int) -> str:
    """How far from the upper edge."""
    within = min(max(health_bps, LIQUIDATION_BPS), HIGHEST_BPS) - LIQUIDATION_BPS
    return f"{_HEIGHT - within * _HEIGHT / (HIGHEST_BPS - LIQUIDATION_BPS):.1f}"


def with_health(golem_id: UUID, positions: Sequence[KeptPosition], *, now: datetime) -> list[HealthLine | None]:
    """The line of each of these positions, in their order."""
    refs = [each.ref for each in positions if each.health_bps is not None]
    drawn = draw_health(golem_id, refs, now=now)
    return [drawn.get(each.ref) for each in positions]
