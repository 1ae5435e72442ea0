"""`intel_get_defi_context`: what lies and trades on a chain, by DefiLlama's figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import Field, RootModel

from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.outside_figures import Shape, as_text, change_in_percent, read_or_reason
from tools_app.subsystems.intel.services import FIGURES
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.outside_services import OutsideSource, Question, ServiceAnswerRefused, ask, say_age
from tools_app.toolkit.params import ChainId, ContextLookback

NAMES: Final = {
    1: "Ethereum",
    10: "OP Mainnet",
    56: "BSC",
    130: "Unichain",
    137: "Polygon",
    8453: "Base",
    42161: "Arbitrum",
    43114: "Avalanche",
}
"""What the service calls the chains of this product."""
_DAYS: Final[dict[str, int]] = {"1d": 1, "7d": 7, "30d": 30}
_DAY: Final = 86_400
_TOP: Final = 10
_MOST_BYTES: Final = 4 * 1024 * 1024
_KEPT_SECONDS: Final = 900


class DayOfChain(Shape):
    date: int
    tvl: float


class ChainHistory(RootModel[list[DayOfChain]]):
    """What lay on a chain, one figure a day, the oldest first."""


class Venue(Shape):
    name: str
    total24h: float | None = None


class Exchanges(Shape):
    chain: str | None = None
    total24h: float | None = None
    change_1d: float | None = None
    change_7d: float | None = None
    change_1m: float | None = None
    protocols: list[Venue] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TopVenue:
    """One exchange of the chain and what was traded there in 24 hours, in dollars as decimal text."""

    name: ForeignText
    volume_24h_usd: str | None


@dataclass(frozen=True, slots=True)
class DefiContext:
    """What `intel_get_defi_context` answers. Dollars and percent as decimal text; a figure without a source is null.

    `volume_change_pct` is of the 24 hours against those `lookback` ago. `active_protocols` counts exchanges that traded
    in 24 hours.
    """

    chain_id: int
    lookback: str
    tvl_total_usd: str | None
    tvl_change_pct: str | None
    tvl_reason: str
    volume_24h_usd: str | None
    volume_change_pct: str | None
    active_protocols: int | None
    top_protocols: tuple[TopVenue, ...]
    volume_reason: str
    sources: tuple[OutsideSource, ...]


@intel.read(
    budget=TickBudget.SLOW,
    aliases=("get_defi_context",),
    snippet="defi_context: what lies in a chain's protocols and what trades there, and how both changed; by DefiLlama.",
    guidelines=("Falling value with rising volume is people leaving: look at exits before entries.",),
)
def intel_get_defi_context(
    ctx: ReadContext, chain_id: ChainId | None = None, lookback: ContextLookback = "7d"
) -> DefiContext:
    """Read what lies in the protocols of a chain, what was traded there in 24 hours, and how both changed.

    Use for a look around before a plan. The figures are DefiLlama's; a source that is off or fails leaves its figures
    null with the reason. Does not read the chain itself, and no rule allows anything because of it.
    """
    wanted = chain_id if chain_id is not None else ctx.golem.home_chain_id
    ctx.step("Asking what lies there")
    value, value_reason = read_or_reason(lambda: _ask_value(ctx, wanted, _DAYS[lookback]))
    ctx.step("Asking what trades there")
    volume, volume_reason = read_or_reason(lambda: _ask_volume(ctx, wanted))
    traded = volume[0] if volume is not None else None
    venues = sorted(traded.protocols if traded is not None else [], key=lambda each: each.total24h or 0, reverse=True)
    active = [each for each in venues if each.total24h]
    return DefiContext(
        chain_id=wanted,
        lookback=lookback,
        tvl_total_usd=value[0] if value is not None else None,
        tvl_change_pct=value[1] if value is not None else None,
        tvl_reason=value_reason,
        volume_24h_usd=as_text(traded.total24h) if traded is not None else None,
        volume_change_pct=_change(traded, lookback) if traded is not None else None,
        active_protocols=len(active) if traded is not None else None,
        top_protocols=tuple(
            TopVenue(mark_foreign(each.name, most=80), as_text(each.total24h)) for each in active[:_TOP]
        ),
        volume_reason=volume_reason,
        sources=(*([value[2]] if value is not None else []), *([volume[1]] if volume is not None else [])),
    )


def _name_chain(chain_id: int) -> str:
    if chain_id not in NAMES:
        raise ServiceAnswerRefused(f"{FIGURES.label} has no figures of chain {chain_id}", chains=sorted(NAMES))
    return NAMES[chain_id]


def _ask_value(ctx: ReadContext, chain_id: int, days: int) -> tuple[str | None, str | None, OutsideSource]:
    path = "/v2/historicalChainTvl/" + _name_chain(chain_id).replace(" ", "%20")
    question = Question("GET", path, ChainHistory, most_bytes=_MOST_BYTES, kept_seconds=_KEPT_SECONDS)
    answer = ask(ctx, FIGURES, question)
    history = answer.value.root
    if not history:
        raise ServiceAnswerRefused("the history of the chain is empty")
    newest = history[-1]
    if say_age(datetime.fromtimestamp(newest.date, UTC), ctx.now) > 2 * _DAY:
        raise ServiceAnswerRefused("the newest figure of the chain is older than two days")
    before = next((each for each in reversed(history) if each.date <= newest.date - days * _DAY), None)
    change = change_in_percent(before.tvl, newest.tvl) if before is not None else None
    return as_text(newest.tvl), change, answer.source


def _ask_volume(ctx: ReadContext, chain_id: int) -> tuple[Exchanges, OutsideSource]:
    name = _name_chain(chain_id)
    question = Question(
        "GET",
        "/overview/dexs/" + name.replace(" ", "%20"),
        Exchanges,
        query=(("excludeTotalDataChart", "true"), ("excludeTotalDataChartBreakdown", "true")),
        most_bytes=_MOST_BYTES,
        kept_seconds=_KEPT_SECONDS,
    )
    answer = ask(ctx, FIGURES, question)
    if answer.value.chain is not None and answer.value.chain != name:
        raise ServiceAnswerRefused("the figures are of another chain than was asked about")
    return answer.value, answer.source


def _change(traded: Exchanges, lookback: Literal["1d", "7d", "30d"]) -> str | None:
    return as_text({"1d": traded.change_1d, "7d": traded.change_7d, "30d": traded.change_1m}[lookback])
