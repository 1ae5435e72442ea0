"""`intel_classify_regime`: which way an asset's price has gone of late, by a model that is stated with the answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import sqrt
from statistics import pstdev
from typing import Final

from tools_app.portfolio.pool_history import InsufficientHistory
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.figure_basis import Basis, show, tell_basis
from tools_app.subsystems.intel.pool_snapshot import look_at
from tools_app.subsystems.intel.regime_maths import (
    LEAST_HOURS,
    WEEK_HOURS,
    WINDOW_HOURS,
    close_hours,
    count_transitions,
    list_drifts,
    list_moves,
    name_regime,
)
from tools_app.subsystems.safety.token_tools import find_depth
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.markets import PoolNotFound
from tools_app.toolkit.params import ChainId, Token

_NEWEST: Final = 24
_MODEL: Final = (
    "hourly closes of the deepest pool in seven days; the move of the last 24 hours over 24-hour standard deviations:"
    " under 0.5 sideways, from 1.5 strong; transitions counted hour by hour, one case more of each"
)


@dataclass(frozen=True, slots=True)
class Transition:
    """The share of hours in the present regime that were followed by an hour in this one."""

    regime: str
    probability: str


@dataclass(frozen=True, slots=True)
class PastRegime:
    """The regime that an hour ended in."""

    ended_at: str
    regime: str


@dataclass(frozen=True, slots=True)
class MeasuredRegime:
    """`drift` is the last day's move in standard deviations of a day; `volatility_24h` is one of them as a share, 0.02
    being two percent. `confidence` is the size of the sample in a word. The newest hour comes last.
    """

    asset: str
    pool: str
    chain_id: int
    current_regime: str
    drift: str
    volatility_24h: str
    transition_probabilities: tuple[Transition, ...]
    historical_regimes: tuple[PastRegime, ...]
    confidence: str
    basis: Basis


@intel.read(
    query="regime",
    snippet=(
        "regime: whether an asset has trended up or down of late or went sideways, how strongly, and how often such"
        " hours were followed by others."
    ),
    guidelines=("It says what was, not what comes: use it to be more careful, never to take a larger amount.",),
)
def intel_classify_regime(ctx: ReadContext, asset: Token = "WETH", chain_id: ChainId | None = None) -> MeasuredRegime:
    """Classify the market of an asset as strong or weak, bull or bear, or sideways, from a week of its deepest pool.

    Use before a range or a loop whose risk is a trend. The model stands in the answer. Does not foresee.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Finding its deepest pool")
    meta = reader.token(asset)
    depth = find_depth(reader, meta)
    if depth is None:
        raise PoolNotFound(f"no pool that is known here trades {meta.symbol} against a hub token", token=meta.address)
    look = look_at(ctx, reader.chain_id, depth.pool.id)
    ctx.step("Reading a week of trades")
    past = look.past(WEEK_HOURS)
    is_first = look.pool.token0 == look.chain.asset(meta)
    prices = [
        (trade.time, trade.price.numerator / trade.price.denominator)
        for trade in past.trades
        if trade.price.numerator and trade.price.denominator
    ]
    if not is_first:
        prices = [(at, 1 / price) for at, price in prices]
    since = past.until - timedelta(hours=WEEK_HOURS)
    closes = close_hours(prices, since=int(since.timestamp()), hours=WEEK_HOURS)
    moves = list_moves(closes)
    if len(closes) < LEAST_HOURS:
        raise InsufficientHistory(
            f"prices of {len(closes)} hours are known and a regime takes {LEAST_HOURS}",
            known=len(closes),
            needed=LEAST_HOURS,
        )
    drifts = list_drifts(moves)
    regimes = [name_regime(each) for each in drifts]
    basis = tell_basis(_MODEL, past, sample=len(moves))
    first_hour = WEEK_HOURS - len(regimes) + 1
    return MeasuredRegime(
        asset=meta.symbol,
        pool=look.pool.id,
        chain_id=reader.chain_id,
        current_regime=regimes[-1],
        drift=show(drifts[-1]),
        volatility_24h=show(pstdev(moves) * sqrt(WINDOW_HOURS)),
        transition_probabilities=tuple(
            Transition(name, show(share)) for name, share in count_transitions(regimes).items()
        ),
        historical_regimes=tuple(
            PastRegime(_end_of(since, first_hour + place), name) for place, name in list(enumerate(regimes))[-_NEWEST:]
        ),
        confidence=basis.confidence,
        basis=basis,
    )


def _end_of(since: datetime, hour: int) -> str:
    return (since + timedelta(hours=hour)).astimezone(UTC).isoformat()
