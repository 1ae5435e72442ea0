"""Makes defaults that an agent left out stricter by the market's regime, and never looser.

The regime is the one the golem's own heartbeat measured of its base pair; a label that is old, unknown or of another
chain changes nothing, and neither does it touch what was asked for. It is fixed before the plan is made, so that
simulation, permit and plan hash bind it.

See docs/decisions/0185-slippage-and-deadline-defaults-follow-the-market-only-downwards.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.utils.dateparse import parse_datetime

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.models.tick import MOST_THETA_SECONDS, Regime
from tools_app.core.compiled_query import CompiledStatement
from tools_app.core.json_types import JsonObject
from tools_app.core.prepared_statements import Filled, Rows
from tools_app.core.units import BPS
from tools_app.toolkit.enums import LEAVING
from tools_app.toolkit.golem_chains import find_chosen
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool

FRESH_FOR: Final = timedelta(seconds=2 * MOST_THETA_SECONDS)
"""A golem that ticks has looked again by then."""
SHORTEST_DEADLINE_SECONDS: Final = 60
"""No default falls below: what is sent needs some blocks of the slowest chain."""
LEAST_SLIPPAGE_BPS: Final = 10
_SLIPPAGES: Final = ("slippage_bps", "max_slippage_bps")
_DEADLINE: Final = "deadline"
# Of the declared default, in basis points. A price that moves holds for a shorter time; a quiet market needs less room.
_DEADLINE_BPS: Final[Mapping[Regime, int]] = {Regime.VOLATILE: 5_000, Regime.CRISIS: 3_000, Regime.TRENDING: 8_000}
_SLIPPAGE_BPS: Final[Mapping[Regime, int]] = {Regime.CALM: 5_000}


@dataclass(frozen=True, slots=True)
class SeenRegime:
    """What a golem's heartbeat last made of its market, and when it had read the price for it."""

    regime: Regime
    seen_at: datetime

    def is_fresh(self, *, now: datetime) -> bool:
        """Whether it still speaks of now."""
        return now - FRESH_FOR < self.seen_at <= now


@dataclass(frozen=True, slots=True)
class MarketDefaults:
    """`changes` are stricter defaults by parameter, made for `seen`."""

    seen: SeenRegime | None = None
    changes: Mapping[str, int] = field(default_factory=dict)

    def apply(self, params: Mapping[str, object]) -> JsonObject:
        """The parameters with what the regime makes stricter."""
        return {**params, **self.changes}

    def word(self, name: str, declared: object) -> str:
        """Why `name` is what it is, with the default that was declared; empty where the market changed nothing."""
        if self.seen is None or name not in self.changes:
            return ""
        at = self.seen.seen_at.isoformat(timespec="seconds")
        return f"market {self.seen.regime.value} at {at}: {self.changes[name]}, not the default {declared}"


def _select_regime(golem_id: UUID) -> QuerySet[Any, Any]:  # Any: rows of several models
    return Heartbeat.objects.filter(pk=golem_id).values_list("regime", KT("state__regime_seen_at"))


_REGIME: Final = CompiledStatement(_select_regime, UUID(int=0))


def fill_regime(golem_id: UUID) -> Filled:
    """The statement that reads what `read_regime` understands, for a round trip together with others."""
    return _REGIME.fill(golem_id)


def read_regime(rows: Rows) -> SeenRegime | None:
    """The regime of a golem that has a heartbeat which has read a price; else None."""
    for regime, seen_at in rows:
        moment = parse_datetime(seen_at) if isinstance(seen_at, str) else None
        if moment is not None and moment.tzinfo is not None and regime in Regime.values:
            return SeenRegime(Regime(regime), moment)
    return None


def choose_defaults(
    *,
    golem: Golem,
    tool: WriteTool | LocalWriteTool,
    params: Mapping[str, object],
    given: frozenset[str],
    seen: SeenRegime | None,
    most_slippage_bps: int,
    now: datetime,
) -> MarketDefaults:
    """Stricter defaults for what `given` does not name, from the tool's own and within the owner's slippage.

    Slippage of what leaves a position stays: getting out is not made harder.
    """
    is_home = find_chosen(params, golem) == golem.home_chain_id
    if seen is None or not is_home or not seen.is_fresh(now=now):
        return MarketDefaults()
    factors = {_DEADLINE: _DEADLINE_BPS.get(seen.regime, BPS)}
    if tool.action_class not in LEAVING:
        factors |= dict.fromkeys(_SLIPPAGES, _SLIPPAGE_BPS.get(seen.regime, BPS))
    changes: dict[str, int] = {}
    for name, factor in factors.items():
        plain = params.get(name)
        if name in given or factor == BPS or not isinstance(plain, int):
            continue
        least = SHORTEST_DEADLINE_SECONDS if name == _DEADLINE else LEAST_SLIPPAGE_BPS
        stricter = max(min(plain, least), plain * factor // BPS)
        fitting = stricter if name == _DEADLINE else min(stricter, most_slippage_bps)
        if fitting < plain:
            changes[name] = fitting
    return MarketDefaults(seen, changes)
