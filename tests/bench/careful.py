"""What knowing a market spares a golem: entries that were bad, over five hundred ticks recorded at a real pool and
over as many of a market drawn from a seed.

The drawn market has calm days, days that trend and days on which little lies in the pool; in a trend traders who know
more trade ahead of it. Beside it stands one in which nothing of the past says what comes, where care cannot help.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, isqrt

from archetypes_app.models.tick import Regime
from golem_project.heartbeat.entry_caution import doubt_wishes, is_entering
from golem_project.heartbeat.liquidity_plan import RuleWish, plan_liquidity
from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.memory_caution import hold_back, leave_out
from golem_project.heartbeat.observation import Observation, ObservedToken
from tests.bench.figures import Figure, measure
from tests.bench.recorded import read_recording, replay_recording
from tools_app.subsystems.intel.figure_basis import LITTLE
from tools_app.subsystems.intel.flow_maths import compute_vpin
from tools_app.subsystems.intel.indexed_market import DayFlow, KnownMarket
from tools_app.subsystems.intel.regime_maths import WEEK_HOURS, list_drifts, list_moves, name_regime
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import BlockRef, FeedPrice, TokenMeta

SEED = 43
TICKS = 500
HOURS_BETWEEN = 3
AHEAD_HOURS = 24
RULE = LiquidityRule("WETH", "USDC", half_width_bps=300, target_micro_usd=500_000_000)
_CHAIN = 31_337
_WETH = TokenMeta(_CHAIN, "0x" + "00" * 19 + "01", "WETH", 18, "Wrapped Ether", True)
_USDC = TokenMeta(_CHAIN, "0x" + "00" * 19 + "02", "USDC", 6, "USD Coin", True)
_HOURLY = 0.0028
_DRIFT = 0.0018
_STAYS = 0.98
_TRADES_AN_HOUR = 15
_INFORMED = 0.9
_DEEP, _SHALLOW = 5_000_000_000_000, 6_000_000_000


@dataclass(frozen=True, slots=True)
class Hour:
    """The price at its end, its trades (below zero sold), and what lay in the pool."""

    close: float
    volumes: tuple[int, ...]
    worth_micro_usd: int


@dataclass(frozen=True, slots=True)
class Replay:
    """What was entered without and with what is known; `moved` counts wishes that were added or changed."""

    entries: int
    bad: int
    careful_entries: int
    careful_bad: int
    moved: int

    @property
    def good_left_out(self) -> int:
        """Entries that waited and would have been good."""
        return (self.entries - self.bad) - (self.careful_entries - self.careful_bad)


def draw_market(seed: int, *, persists: bool) -> list[Hour]:
    """The hours of a market. Without `persists` its moves are tossed, as are the sides of its trades."""
    drawn = random.Random(seed)
    price, drift, is_shallow = 3_000.0, 0.0, False
    hours = []
    for _ in range(WEEK_HOURS + TICKS * HOURS_BETWEEN + AHEAD_HOURS):
        if drawn.random() > _STAYS:
            drift = drawn.choice((-_DRIFT, 0.0, 0.0, _DRIFT)) if persists else 0.0
            is_shallow = persists and drawn.random() < 0.15
        spread = _HOURLY * (2 if is_shallow else 1)
        price *= exp(drift + drawn.gauss(0, spread))
        volumes = tuple(
            (_side(drawn, drift)) * int(drawn.lognormvariate(0, 0.7) * 10**9) for _ in range(_TRADES_AN_HOUR)
        )
        hours.append(Hour(price, volumes, _SHALLOW if is_shallow else _DEEP))
    return hours


def replay(seed: int, *, persists: bool = True) -> Replay:
    """Five hundred ticks, each of a golem that holds both tokens and no position."""
    hours = draw_market(seed, persists=persists)
    entries = bad = careful_entries = careful_bad = moved = 0
    for tick in range(TICKS):
        now = WEEK_HOURS + tick * HOURS_BETWEEN
        past = hours[now - WEEK_HOURS : now]
        wishes = plan_liquidity(observation=_look(past[-1].close), rule=RULE, phase=Phase.THRIVING)
        held = hold_back(wishes, (), regime=Regime.NORMAL, chain_id=_CHAIN)
        doubted = doubt_wishes(wishes, known=_know(past), debts=(), size_micro_usd=RULE.target_micro_usd)
        before, after = leave_out(wishes, held), leave_out(wishes, held, doubted)
        moved += sum(1 for wish in after if not any(wish is each for each in before))
        turned_bad = _leaves_range(past[-1].close, hours[now : now + AHEAD_HOURS])
        entries, bad = _count(before, entries, bad, turned_bad)
        careful_entries, careful_bad = _count(after, careful_entries, careful_bad, turned_bad)
    return Replay(entries, bad, careful_entries, careful_bad, moved)


@measure("careful")
def measure_careful() -> Iterator[Figure]:
    """Entries and bad entries with and without what is known, where it can help and where it cannot."""
    found = replay(SEED)
    bad = f"of {TICKS} ticks, entries whose range of 3% the price left within {AHEAD_HOURS} hours"
    yield Figure("careful.bad_before", f"{bad}, without what is known", found.bad, "entries")
    told = f"of {found.careful_entries} entries; without it {found.bad} of {found.entries}"
    yield Figure("careful.bad", f"{bad}, with it", found.careful_bad, "entries", target=found.bad - 1, reference=told)
    share = 100 * found.careful_bad / max(1, found.careful_entries)
    most = 100 * found.bad / max(1, found.entries)
    yield Figure("careful.bad_share", "the share of entries that were bad, with it", share, "%", target=most)
    left = "entries that waited and would have been good: what care costs"
    yield Figure("careful.good_left_out", left, found.good_left_out, "entries")
    yield Figure("careful.moved", "wishes that care added or changed", found.moved, "wishes", target=0)
    tossed = replay(SEED, persists=False)
    told = f"{tossed.careful_bad} of {tossed.careful_entries} with it, {tossed.bad} of {tossed.entries} without"
    what = "where nothing of the past says what comes: entries that were bad, with what is known"
    yield Figure("careful.tossed_bad", what, tossed.careful_bad, "entries", target=tossed.bad, reference=told)
    yield from measure_recorded()


def measure_recorded() -> Iterator[Figure]:
    """The same of the ticks that were recorded."""
    found = replay_recording(read_recording())
    bad = f"of {found.ticks} ticks recorded at a real pool, entries whose own range the price left within a day"
    yield Figure("careful.recorded_bad_before", f"{bad}, without what is known", found.bad, "entries")
    told = f"of {found.careful_entries} entries; without it {found.bad} of {found.entries}"
    yield Figure(
        "careful.recorded_bad", f"{bad}, with it", found.careful_bad, "entries", target=found.bad - 1, reference=told
    )
    share, without = (100 * part / max(1, of) for part, of in found.shares)
    what = "the share of recorded entries that were bad, with what is known"
    yield Figure("careful.recorded_bad_share", what, share, "%", reference=f"without it {without:.1f}%")
    left = "recorded entries that waited and would have been good: what care costs"
    yield Figure("careful.recorded_good_left_out", left, found.good_left_out, "entries")
    yield Figure(
        "careful.recorded_moved", "recorded wishes that care added or changed", found.moved, "wishes", target=0
    )


def _side(drawn: random.Random, drift: float) -> int:
    """In a trend most trades go with it."""
    if drift and drawn.random() < _INFORMED:
        return 1 if drift > 0 else -1
    return drawn.choice((-1, 1))


def _know(past: Sequence[Hour]) -> KnownMarket:
    """What the index would know, by the formulas of the product."""
    regime = name_regime(list_drifts(list_moves([each.close for each in past]))[-1])
    volumes = [volume for each in past[-24:] for volume in each.volumes]
    flow = None
    if len(volumes) >= LITTLE:
        found = compute_vpin(volumes, 50)
        flow = DayFlow(found.value, found.by_chance, len(volumes))
    return KnownMarket("0x" + "11" * 20, True, regime, flow, past[-1].worth_micro_usd)


def _look(price: float) -> Observation:
    """A golem with a thousand dollars of each token, at a pool whose price is the feeds'."""
    answer = int(price * 10**8)
    root = isqrt(int(price * 10**6) * 2**192 // 10**18)
    pool = Pool("v3", PoolId("0x" + "11" * 20), _WETH.address, _USDC.address, 500, sqrt_price=root, protocol="a market")
    return Observation(
        block=BlockRef(1, "", 1, 10**9),
        holdings=(
            ObservedToken(_WETH, 10**21 // int(price), FeedPrice("", answer, 8, 1, 1, 0)),
            ObservedToken(_USDC, 1_000 * 10**6, FeedPrice("", 10**8, 8, 1, 1, 0)),
        ),
        pool=pool,
        deviation_bps=0,
    )


def _leaves_range(price: float, ahead: Sequence[Hour]) -> bool:
    part = RULE.half_width_bps / 10_000
    return any(not price * (1 - part) <= each.close <= price * (1 + part) for each in ahead)


def _count(wishes: Sequence[RuleWish], entries: int, bad: int, turned_bad: bool) -> tuple[int, int]:
    is_entry = any(is_entering(wish) for wish in wishes)
    return entries + is_entry, bad + (is_entry and turned_bad)
