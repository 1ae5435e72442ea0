"""Courses of prices for dry runs: recorded at a pool of the local chain, and drawn from a seed."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from math import exp

from golem_project.heartbeat.strategies.backtest_market import PricesAt
from tests.bench.recorded import read_recording

START = datetime(2026, 1, 1, tzinfo=UTC)
TICKS = 2_000
USD = 1_000_000


def draw_market(*, seed: int, hourly: float, drift: float) -> list[PricesAt]:
    """A walk of WETH, a tick an hour; dollars stay near a dollar."""
    draws = random.Random(seed)
    price, points = 3_000.0, []
    for hour in range(TICKS):
        price = min(50_000.0, max(50.0, price * exp(draws.gauss(drift, hourly))))
        points.append(_point(START + timedelta(hours=hour), price, draws.uniform(0.999, 1.001)))
    return points


def read_recorded_market() -> list[PricesAt]:
    """WETH at the end of each hour of the recording, from its beginning again where that is too short."""
    closes = read_recording().hours
    course = (closes * (TICKS // len(closes) + 1))[:TICKS]
    return [_point(START + timedelta(hours=number), price / USD, 1.0) for number, price in enumerate(course)]


def _point(at: datetime, weth: float, dai: float) -> PricesAt:
    return PricesAt(at, {"WETH": int(weth * USD), "USDC": USD, "DAI": int(dai * USD)})
