"""What a golem's strategies would have done over the recorded past, as its owner sees it: a picture each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django import forms
from unfold.widgets import UnfoldAdminRadioSelectWidget

from archetypes_app.models import Heartbeat
from golem_project.heartbeat.liquidity_rule import parse_liquidity_rule
from golem_project.heartbeat.strategies.backtest_engine import DryRun, DryTrade
from golem_project.heartbeat.strategies.catalog import parse_strategies
from golem_project.heartbeat.strategy_backtest import DAYS, LIQUIDITY, StrategyTrial, describe_position, try_strategies
from golem_project.heartbeat.strategy_form import TITLES
from tools_app.core.errors import GolemError
from tools_app.core.units import format_micro_usd, format_units
from tools_app.pages.plots import LinePlot, Point, plot_line
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.formats import shorten_amount

SHOWN_TRADES: Final = 20
_POINTS: Final = 120
"""More are no finer on the page, and each is an element of it."""
_TITLES: Final = {**TITLES, LIQUIDITY: "Keeps a position of liquidity"}


class DaysForm(forms.Form):
    """Over how long."""

    days = forms.ChoiceField(
        label="Over the last",
        choices=[(str(each), f"{each} days") for each in DAYS],
        initial="30",
        widget=UnfoldAdminRadioSelectWidget(),
    )


@dataclass(frozen=True, slots=True)
class TradeLine:
    """One action that would have been done."""

    at: datetime
    gave: str
    got: str
    cost: str
    reason: str


@dataclass(frozen=True, slots=True)
class TriedCard:
    """One run: a picture, its figures with the difference to holding, and its newest actions.

    `difference` is signed and told in dollars and percent; `tone` is how it looks.
    """

    title: str
    sentence: str
    plot: LinePlot | None
    start: str
    end: str
    untouched: str
    difference: str
    tone: str
    earned: str
    costs: str
    actions: int
    trades: tuple[TradeLine, ...]
    liquidated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrialBoard:
    """The page. `fault` says why nothing was tried; `together` is None where nothing is recorded."""

    days: int = 0
    fault: str = ""
    together: TriedCard | None = None
    each: tuple[TriedCard, ...] = ()
    notes: tuple[str, ...] = ()


def list_sentences(heartbeat: Heartbeat) -> tuple[tuple[str, str], ...]:
    """What is going to be tried: a title and a sentence for each strategy; none where one cannot be read."""
    try:
        strategies, rule = parse_strategies(heartbeat.strategies), parse_liquidity_rule(heartbeat.liquidity_rule)
    except GolemError:
        return ()
    found = [(_TITLES[each.kind], each.describe()) for each in strategies]
    return (*found, *([(_TITLES[LIQUIDITY], describe_position(rule))] if rule is not None else ()))


def build_trial(heartbeat: Heartbeat, *, days: int, now: datetime) -> TrialBoard:
    """Try them now."""
    try:
        trial = try_strategies(heartbeat=heartbeat, days=days, now=now)
    except GolemError as error:
        return TrialBoard(days, fault=f"{error.detail} ({error.code})")
    if trial.together is None:
        return TrialBoard(days, notes=trial.notes)
    cards = tuple(_describe(_TITLES[each.kind], each.sentence, each.run, trial) for each in trial.each)
    whole = _describe("All of them together", "What lowers a risk comes first.", trial.together, trial)
    return TrialBoard(days, together=whole, each=cards if len(cards) > 1 else (), notes=trial.notes)


def _describe(title: str, sentence: str, run: DryRun, trial: StrategyTrial) -> TriedCard:
    difference = run.end_micro_usd - run.untouched_micro_usd
    share = f" ({difference * 100 / run.untouched_micro_usd:+.2f}%)" if run.untouched_micro_usd > 0 else ""
    return TriedCard(
        title=title,
        sentence=sentence,
        plot=_plot(run),
        start=format_micro_usd(run.start_micro_usd),
        end=format_micro_usd(run.end_micro_usd),
        untouched=format_micro_usd(run.untouched_micro_usd),
        difference=f"{'+' if difference >= 0 else ''}{format_micro_usd(difference)}{share}",
        tone="good" if difference > 0 else "bad" if difference < 0 else "",
        earned=format_micro_usd(run.earned_micro_usd),
        costs=format_micro_usd(run.costs_micro_usd),
        actions=len(run.trades),
        trades=tuple(_tell(each, trial.tokens) for each in reversed(run.trades[-SHOWN_TRADES:])),
        liquidated=tuple(f"{label} at {at:%Y-%m-%d %H:%M} UTC" for label, at in run.liquidated.items()),
    )


def _plot(run: DryRun) -> LinePlot | None:
    points, beside = _thin(run.values), _thin(run.untouched)
    every = [value for _, value in (*points, *beside)]
    return plot_line(
        points,
        name="With its strategies",
        show=format_micro_usd,
        lowest=min(every, default=0),
        highest=max(every, default=0),
        beside=beside,
    )


def _thin(points: Sequence[Point]) -> list[Point]:
    """At most so many of them, the last always."""
    step = max(1, -(-len(points) // _POINTS))
    return [*points[::step], *([points[-1]] if points and (len(points) - 1) % step else [])]


def _tell(trade: DryTrade, tokens: Sequence[TokenMeta]) -> TradeLine:
    return TradeLine(
        at=trade.at,
        gave=_amount(trade.sold, trade.raw_sold, tokens),
        got=_amount(trade.bought, trade.raw_bought, tokens),
        cost=format_micro_usd(trade.cost_micro_usd),
        reason=trade.reason,
    )


def _amount(name: str, raw: int, tokens: Sequence[TokenMeta]) -> str:
    """Units of a token; what lies somewhere, or is owed, names its token and where that is."""
    words = name.split()
    token = next((each for each in tokens if each.symbol in words), None)
    if token is None:
        return f"{raw} {name}"
    return f"{shorten_amount(format_units(raw, token.decimals, token.symbol))}{_rest(name, token.symbol)}"


def _rest(name: str, symbol: str) -> str:
    before, _, after = name.partition(symbol)
    return f" of {before.removesuffix(' in ')}" if before else after
