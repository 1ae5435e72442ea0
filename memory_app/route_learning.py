"""Learns from swaps which route filled nearest to what its preview predicted.

A route is preferred over another only for as much as that one's fills fell short of their predictions, counted from
verified outcomes alone; what a quote says before is the quoter's business. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from memory_app.models.insight import LARGEST_ROUTE_COST_BPS, LEAST_EPISODES_TO_TUNE
from memory_app.reflection import NOTABLE_ERROR_BPS, PRICE_MOVED, TOO_SHALLOW
from tools_app.core.stored_json import read_stored
from tools_app.core.units import BPS
from tools_app.toolkit.params import ROUTE_PATTERN

LEAST_FILLS = 3
DUST_DIVISOR = 10
"""A fill below this part of the largest one known says nothing about that one's size."""
LARGEST_STRETCH = 10
"""How many times its middle fill a preference reaches: what a small swap showed does not steer a large one."""
_MEASURED_WEIGHT = 2
_ROUTE = re.compile(ROUTE_PATTERN)
_LONGEST_ROUTE = 90
"""Two pools by their ids around a hub are longer than what is kept of a route with its cost."""
_BLAMED_ON_ROUTE = {PRICE_MOVED, TOO_SHALLOW}


@dataclass(frozen=True, slots=True)
class Fill:
    """How one swap through `route` went; `shortfall_bps` is what it lost against its prediction, below 0 a gain.

    `amount` is what it spent in base units of the token it started from; `is_measured` says that balances were read,
    and not logs alone.
    """

    episode_id: UUID
    route: str
    shortfall_bps: int
    amount: int = 1
    is_measured: bool = True

    @property
    def weight(self) -> int:
        """How much it counts beside others: by what was at stake, half where only logs tell."""
        return self.amount * (_MEASURED_WEIGHT if self.is_measured else 1)


@dataclass(frozen=True, slots=True)
class Preference:
    """The route to prefer, how much more it may cost than the best quote in bps, and the episodes that say so.

    `most_amount` is the largest swap they speak for, in base units of the token it starts from.
    """

    route: str
    cost_bps: int
    episode_ids: tuple[UUID, ...]
    most_amount: int = 0

    @property
    def as_parameter(self) -> str:
        """As a swap takes it."""
        return f"{self.route}@{self.cost_bps}"


@dataclass(frozen=True, slots=True)
class SwapSides:
    """One side of a swap's episode, as much of it as it tells: what was predicted, or what came of it."""

    details: object = None
    slippage_bps: object = None
    balance_deltas: object = None
    ground_truth_source: object = "balance"


@dataclass(frozen=True, slots=True)
class SwapDetails:
    """What a swap's prediction says of its tokens and route, as much of it as it tells."""

    token_in: object = ""
    token_out: object = None
    route_name: object = None


@dataclass(frozen=True, slots=True)
class SwapLesson:
    """What was concluded of a swap, as much of it as it tells."""

    verdict: object = None
    why: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class BalanceDelta:
    """What came or went of one token; `raw` is decimal text in base units."""

    raw: object = ""
    symbol: object = None


def read_fill(
    *,
    episode_id: UUID,
    token_in: str,
    prediction: Mapping[str, object],
    outcome: Mapping[str, object],
    reflection: Mapping[str, object],
) -> Fill | None:
    """The fill of an episode that started from `token_in` (a token key); None when it tells nothing about its route.

    A swap that reverted because of its route fell short by its whole slippage at least; for another reason by nothing.
    """
    told = read_stored(SwapSides, prediction)
    if not isinstance(told.details, Mapping):
        return None
    details = read_stored(SwapDetails, told.details)
    if str(details.token_in).lower() != token_in:
        return None
    route = details.route_name
    if not isinstance(route, str) or not _ROUTE.fullmatch(route) or "@" in route or len(route) > _LONGEST_ROUTE:
        return None
    lesson = read_stored(SwapLesson, reflection)
    expected = _deltas(told.balance_deltas)
    if lesson.verdict == "reverted":
        slippage = told.slippage_bps
        if not _BLAMED_ON_ROUTE & set(lesson.why or ()) or not isinstance(slippage, int):
            return None
        spent = abs(expected.get(str(details.token_in), 0))
        return Fill(episode_id, route, slippage, spent, _is_measured(outcome)) if spent else None
    sold, bought = str(details.token_in), str(details.token_out)
    shortfall = _shortfall(expected, _deltas(read_stored(SwapSides, outcome).balance_deltas), sold, bought)
    if shortfall is None:
        return None
    return Fill(episode_id, route, shortfall, abs(expected[sold]), _is_measured(outcome))


def _is_measured(outcome: Mapping[str, object]) -> bool:
    # An outcome that does not say how it was read was written before it did.
    return str(read_stored(SwapSides, outcome).ground_truth_source).startswith("balance")


def choose_route(fills: Iterable[Fill]) -> Preference | None:
    """The route whose middle fill beat another's by more than a prediction is off anyway; None without five fills.

    Three fills of each of the two at least, none of them dust beside the largest. The middle is that of the amounts.
    The cost it is worth is the difference of the two, and it holds up to a few times the smaller of their sizes.
    """
    known = list(fills)
    least = max((fill.amount for fill in known), default=0) // DUST_DIVISOR
    groups: dict[str, list[Fill]] = defaultdict(list)
    for fill in known:
        if fill.amount >= least:
            groups[fill.route].append(fill)
    medians = {route: _weighted_median(group) for route, group in groups.items() if len(group) >= LEAST_FILLS}
    if len(medians) < 2:
        return None
    best, worst = (pick(medians, key=lambda route: (medians[route], route)) for pick in (min, max))
    gain = medians[worst] - medians[best]
    behind = [fill.episode_id for route in (best, worst) for fill in groups[route]]
    if gain <= NOTABLE_ERROR_BPS or len(behind) < LEAST_EPISODES_TO_TUNE:
        return None
    most = LARGEST_STRETCH * min(_middle_amount(groups[route]) for route in (best, worst))
    return Preference(best, min(gain, LARGEST_ROUTE_COST_BPS), tuple(behind), most)


def _weighted_median(group: list[Fill]) -> int:
    """The lowest shortfall that half of the weight lies at or under."""
    half, reached = sum(fill.weight for fill in group), 0
    for fill in sorted(group, key=lambda fill: fill.shortfall_bps):
        reached += 2 * fill.weight
        if reached >= half:
            return fill.shortfall_bps
    raise ValueError("no fills")


def _middle_amount(group: list[Fill]) -> int:
    return sorted(fill.amount for fill in group)[(len(group) - 1) // 2]


def _shortfall(expected: Mapping[str, int], actual: Mapping[str, int], token_in: str, token_out: str) -> int | None:
    """Less received and more spent, in bps of the prediction. Gas is paid in the chain's coin and blurs no token."""
    if not expected.get(token_out) or not expected.get(token_in) or token_out not in actual or token_in not in actual:
        return None
    received = (expected[token_out] - actual[token_out]) * BPS // abs(expected[token_out])
    spent = (expected[token_in] - actual[token_in]) * BPS // abs(expected[token_in])
    return received + spent


def _deltas(rows: object) -> dict[str, int]:
    found = {}
    for row in rows if isinstance(rows, list) else ():
        delta = read_stored(BalanceDelta, row) if isinstance(row, Mapping) else BalanceDelta()
        if re.fullmatch(r"-?[0-9]{1,78}", str(delta.raw)):
            found[str(delta.symbol)] = int(str(delta.raw))
    return found
