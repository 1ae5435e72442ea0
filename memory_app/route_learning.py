"""What swaps through different pools taught: which route filled nearest to what its preview predicted.

A route is preferred over another only for as much as that one's fills fell short of their predictions, counted from
verified outcomes alone; what a quote says before is the quoter's business. Pure. Seed: decisions, "Memory".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median_low
from typing import Any
from uuid import UUID

from memory_app.actions.reflect import NOTABLE_ERROR_BPS
from memory_app.models.insight import LARGEST_ROUTE_COST_BPS, LEAST_EPISODES_TO_TUNE
from tools_app.core.units import BPS
from tools_app.toolkit.params import ROUTE_PATTERN

LEAST_FILLS = 3
_ROUTE = re.compile(ROUTE_PATTERN)
_BLAMED_ON_ROUTE = {
    "The price moved further than the slippage bound allowed.",
    "The route had too little liquidity.",
}


@dataclass(frozen=True, slots=True)
class Fill:
    """How one swap through `route` went; `shortfall_bps` is what it lost against its prediction, below 0 a gain."""

    episode_id: UUID
    route: str
    shortfall_bps: int


@dataclass(frozen=True, slots=True)
class Preference:
    """The route to prefer, how much more it may cost than the best quote in bps, and the episodes that say so."""

    route: str
    cost_bps: int
    episode_ids: tuple[UUID, ...]

    @property
    def as_parameter(self) -> str:
        """As a swap takes it."""
        return f"{self.route}@{self.cost_bps}"


def read_fill(
    *,
    episode_id: UUID,
    token_in: str,
    prediction: Mapping[str, Any],
    outcome: Mapping[str, Any],
    reflection: Mapping[str, Any],
) -> Fill | None:
    """The fill of an episode that started from `token_in` (a token key); None when it tells nothing about its route.

    A swap that reverted because of its route fell short by its whole slippage at least; for another reason by nothing.
    """
    details = prediction.get("details")
    if not isinstance(details, Mapping) or str(details.get("token_in", "")).lower() != token_in:
        return None
    route = details.get("route_name")
    if not isinstance(route, str) or not _ROUTE.fullmatch(route) or "@" in route:
        return None
    if reflection.get("verdict") == "reverted":
        slippage = prediction.get("slippage_bps")
        if not _BLAMED_ON_ROUTE & set(reflection.get("why") or ()) or not isinstance(slippage, int):
            return None
        return Fill(episode_id, route, slippage)
    shortfall = _shortfall(_deltas(prediction), _deltas(outcome), str(details["token_in"]), str(details["token_out"]))
    return None if shortfall is None else Fill(episode_id, route, shortfall)


def choose_route(fills: Iterable[Fill]) -> Preference | None:
    """The route whose median fill beat another's by more than a prediction is off anyway; None without five fills.

    Three fills of each of the two at least. The cost it is worth is the difference of the two medians.
    """
    groups: dict[str, list[Fill]] = defaultdict(list)
    for fill in fills:
        groups[fill.route].append(fill)
    medians = {
        route: median_low([fill.shortfall_bps for fill in group])
        for route, group in groups.items()
        if len(group) >= LEAST_FILLS
    }
    if len(medians) < 2:
        return None
    best, worst = (pick(medians, key=lambda route: (medians[route], route)) for pick in (min, max))
    gain = medians[worst] - medians[best]
    behind = [fill.episode_id for route in (best, worst) for fill in groups[route]]
    if gain <= NOTABLE_ERROR_BPS or len(behind) < LEAST_EPISODES_TO_TUNE:
        return None
    return Preference(best, min(gain, LARGEST_ROUTE_COST_BPS), tuple(behind))


def _shortfall(expected: Mapping[str, int], actual: Mapping[str, int], token_in: str, token_out: str) -> int | None:
    """Less received and more spent, in bps of the prediction. Gas is paid in the chain's coin and blurs no token."""
    if not expected.get(token_out) or not expected.get(token_in) or token_out not in actual or token_in not in actual:
        return None
    received = (expected[token_out] - actual[token_out]) * BPS // abs(expected[token_out])
    spent = (expected[token_in] - actual[token_in]) * BPS // abs(expected[token_in])
    return received + spent


def _deltas(side: Mapping[str, Any]) -> dict[str, int]:
    found = {}
    rows = side.get("balance_deltas")
    for row in rows if isinstance(rows, list) else ():
        raw = str(row.get("raw", "")) if isinstance(row, Mapping) else ""
        if re.fullmatch(r"-?[0-9]{1,78}", raw):
            found[str(row.get("symbol"))] = int(raw)
    return found
