"""The risk board of one golem: what the `safety_*` reads tell its agent, as its owner sees it.

The figures are those of the tools and are asked of the chain now; nothing is computed here a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeVar

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from golem_project.cockpit.risk_answers import (
    ToldAction,
    ToldAlerts,
    ToldBreaches,
    ToldDashboard,
    ToldDebtRisk,
    ToldExposure,
    ToldFall,
    ToldLiquidationRisks,
    ToldShare,
    ToldStress,
    ToldUnwinding,
    ToldWayOut,
)
from permits_app.performance.prediction_accuracy import KeptPredictions
from tools_app import runner
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.core.units import usd_to_micro
from tools_app.subsystems.intel.calibration import (
    LEAST_ACTIONS,
    MEANS,
    MODELS,
    CalibratedClass,
    PredictionJudgement,
    calibrate,
)
from tools_app.subsystems.safety.health_tools import NOT_WHOLE_NOW
from tools_app.toolkit.predictions import PredictionKind
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool
from tools_app.wording.address_names import known_deployment, name_address
from tools_app.wording.formats import format_seconds, format_usd

Answer = TypeVar("Answer")
_EVERY_CHAIN: Final = {"chain_id": 0}
_PREDICTIONS: Final = (
    ("Chance that the price runs away", PredictionKind.REVERT),
    ("Size of a trade beside its pool", PredictionKind.TRADE_SIZE),
)
_HELD: Final = "Nothing is held."
_TONES: Final = {"danger": "bad", "warning": "warn", "safe": "good", "Danger": "bad", "Warning": "warn", "Safe": "good"}
_JUDGED: Final = {
    PredictionJudgement.TOO_FEW: ("not judged", ""),
    PredictionJudgement.NO_CHANCE: ("no chance named", ""),
    PredictionJudgement.AS_PREDICTED: ("as predicted", "good"),
    PredictionJudgement.MORE_OFTEN: ("more often", "bad"),
    PredictionJudgement.LESS_OFTEN: ("less often", "warn"),
}
_BY_CHAIN: Final = "By chain"
_BY_ORACLE: Final = "By oracle"


@dataclass(frozen=True, slots=True)
class ShareBar:
    """One place of worth; `percent` fills its bar."""

    name: str
    held: str
    owed: str
    share: str
    percent: str


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """Shares of one kind, the largest first; `nothing` is what stands there without one."""

    title: str
    bars: tuple[ShareBar, ...]
    nothing: str


@dataclass(frozen=True, slots=True)
class DebtBar:
    """One debt; the bar is filled by how far its cover may fall before it is liquidated."""

    label: str
    health: str
    may_fall: str
    tone: str
    debt: str
    action: str


@dataclass(frozen=True, slots=True)
class FallBar:
    """One fall of prices; the bar is filled by what would be left of the worth."""

    fall: str
    left: str
    lost: str
    percent: int
    tone: str
    liquidated: str


@dataclass(frozen=True, slots=True)
class WayOutLine:
    """One position on the way out, in the order in which to leave."""

    label: str
    kind: str
    reason: str
    cost: str
    wait: str


@dataclass(frozen=True, slots=True)
class PredictionLine:
    """One class of what was predicted, in words: the chance named before, what was observed, and its 95% interval.

    `begins` and `spans` place the interval on its bar and `named_at` the chance, in percent; empty without any.
    """

    predicted: str
    actions: int
    happened: int
    named: str
    observed: str
    interval: str
    judgement: str
    tone: str
    begins: str
    spans: str
    named_at: str


@dataclass(frozen=True, slots=True)
class PredictionTable:
    """How one kind of prediction came out for this golem's own actions."""

    title: str
    model: str
    means: str
    least: int
    lines: tuple[PredictionLine, ...]

    @property
    def actions(self) -> int:
        """How many actions there are in all."""
        return sum(line.actions for line in self.lines)


@dataclass(frozen=True, slots=True)
class RiskBoard:
    """Everything on the page. `fault` says why nothing could be measured; the rest is empty then."""

    golem: Golem
    now: datetime
    fault: str = ""
    overall: str = ""
    tone: str = ""
    summary: str = ""
    concentration: str = ""
    shares: tuple[ShareGroup, ...] = ()
    debts: tuple[DebtBar, ...] = ()
    falls: tuple[FallBar, ...] = ()
    falling: str = ""
    deepest: str = ""
    ways_out: tuple[WayOutLine, ...] = ()
    unwind_cost: str = ""
    unwind_time: str = ""
    breaches: tuple[str, ...] = ()
    alerts: int = 0
    off_peg: tuple[str, ...] = ()
    held_in: tuple[str, ...] = ()
    not_counted: tuple[str, ...] = ()
    predictions: tuple[PredictionTable, ...] = ()


def build_risks(golem: Golem, *, now: datetime) -> RiskBoard:
    """The board of a golem at this moment, over every chain of this server."""
    try:
        board = _ask(golem, "safety_get_risk_dashboard", now, ToldDashboard)
        exposure = _ask(golem, "safety_get_protocol_exposure", now, ToldExposure)
        risks = _ask(golem, "safety_get_liquidation_risks", now, ToldLiquidationRisks)
        stress = _ask(golem, "safety_simulate_price_stress", now, ToldStress)
        unwind = _ask(golem, "safety_estimate_unwind_cost", now, ToldUnwinding)
        pending = _ask(golem, "safety_check_pending_alerts", now, ToldBreaches)
        alerts = _ask(golem, "safety_get_health_alerts", now, ToldAlerts)
    except GolemError as error:
        return RiskBoard(golem, now, fault=f"{error.detail} ({error.code})")
    worth = _micro(board.net_worth_usd)
    deepest = stress.max_drawdown_survivable
    wait = unwind.estimated_total_time
    return RiskBoard(
        golem=golem,
        now=now,
        overall=board.overall_risk,
        tone=_TONES[board.overall_risk],
        summary=board.summary,
        concentration=exposure.concentration_risk,
        shares=tuple(_list_shares(exposure)),
        debts=tuple(map(_tell_debt, risks.risky_positions)),
        falls=tuple(_tell_fall(each, worth) for each in stress.scenarios) if worth is not None else (),
        falling=", ".join(dict.fromkeys(stress.falls)),
        deepest="" if deepest is None else f"{deepest}%",
        ways_out=tuple(map(_tell_way_out, unwind.positions)),
        unwind_cost=_usd(unwind.total_unwind_cost_usd),
        unwind_time="nobody knows how long" if wait is None else format_seconds(wait) if wait else "at once",
        breaches=tuple(_tell_breach(each) for each in pending.breached_alerts),
        alerts=len(alerts.alerts),
        off_peg=tuple(board.off_peg),
        held_in=tuple(_list_held_in(board.pending_actions, unwind.positions)),
        not_counted=tuple(board.not_counted),
        predictions=tuple(_tell_predictions(golem, title, kind) for title, kind in _PREDICTIONS),
    )


def _ask(golem: Golem, name: str, now: datetime, kind: type[Answer]) -> Answer:
    """A tool's answer, read from the JSON that agents see. Raises GolemError."""
    tool = REGISTRY.get(name)
    if not isinstance(tool, ReadTool):
        raise TypeError(f"{name} is no read")
    return read_stored(kind, runner.run_read(tool=tool, params=_EVERY_CHAIN, golem=view_golem(golem), now=now).data)


def _list_shares(exposure: ToldExposure) -> Iterator[ShareGroup]:
    """Shares by what they are of: the title, the member of the answer, and what an empty one says."""
    for title, rows, nothing in (
        ("By protocol", exposure.by_protocol, _HELD),
        (_BY_CHAIN, exposure.by_chain, _HELD),
        ("By token", exposure.by_asset, _HELD),
        ("Dollar tokens and others", exposure.by_asset_type, _HELD),
        ("By issuer", exposure.by_issuer, "Nothing that is held depends on an issuer that is known here."),
        (
            "By bridge",
            exposure.by_bridge,
            "Nothing that is held came, or is under way, over a bridge that is known here.",
        ),
        (_BY_ORACLE, exposure.by_oracle, "No position believes an oracle that is known here."),
    ):
        yield ShareGroup(title, tuple(_name(_tell_share(row), title) for row in rows), nothing)


def _micro(dollars: str | None) -> int | None:
    """Micro-USD of decimal text, which may be below zero."""
    if dollars is None:
        return None
    return -usd_to_micro(dollars[1:]) if dollars.startswith("-") else usd_to_micro(dollars)


def _usd(dollars: str | None) -> str:
    micro = _micro(dollars)
    return "unknown" if micro is None else format_usd(micro)


def _tell_share(row: ToldShare) -> ShareBar:
    share = row.held_share_percent
    owed = _micro(row.owed_usd)
    return ShareBar(row.name, _usd(row.held_usd), format_usd(owed) if owed else "", f"{share}%", share)


def _name(share: ShareBar, group: str) -> ShareBar:
    """What a share is of as people call it: a chain by its name; an oracle, told as `chain:address`, by what it is."""
    if group == _BY_CHAIN:
        known = KNOWN_NETWORKS.get(int(share.name.removeprefix("chain ")))
        return share if known is None else replace(share, name=f"{known.name}, {share.name}")
    if group != _BY_ORACLE:
        return share
    chain_id, _, address = share.name.partition(":")
    return replace(share, name=f"{_name_oracle(int(chain_id), address)} {address} on chain {chain_id}")


def _name_oracle(chain_id: int, address: str) -> str:
    """A feed by the name of its token, a protocol's own oracle by that of the protocol."""
    deployment = known_deployment(chain_id)
    feeds = deployment.feeds if deployment is not None else {}
    of = next((name_address(chain_id, token) for token, feed in feeds.items() if feed.address == address), "")
    if of:
        return f"price feed of {of}"
    keepers = (each.label for each in SHELF.on(chain_id) if each.owns(chain_id, address))
    return name_address(chain_id, address) or next((f"oracle of {label}" for label in keepers), "oracle")


def _tell_debt(row: ToldDebtRisk) -> DebtBar:
    return DebtBar(
        label=row.label,
        health=row.health_factor,
        may_fall=row.collateral_may_fall_percent,
        tone=_TONES[row.risk_level],
        debt=_usd(row.debt_usd),
        action=row.action,
    )


def _tell_fall(row: ToldFall, worth: int) -> FallBar:
    left = _micro(row.net_worth_usd) or 0
    return FallBar(
        fall=f"{row.price_change_pct}%",
        left=format_usd(left),
        lost=_usd(row.total_loss_usd),
        percent=max(0, min(100, left * 100 // worth)) if worth > 0 else 0,
        tone="good" if row.survives else "bad",
        liquidated=", ".join(each.label for each in row.liquidated_positions),
    )


def _tell_way_out(row: ToldWayOut) -> WayOutLine:
    wait = row.wait_seconds
    return WayOutLine(
        label=row.label,
        kind=row.kind,
        # When it ends stands in a column of its own.
        reason=row.reason.partition(" (until ")[0],
        cost=_usd(row.cost_usd),
        wait="unknown" if wait is None else format_seconds(wait) if wait else "",
    )


def _list_held_in(actions: Sequence[ToldAction], ways: Sequence[ToldWayOut]) -> Iterator[str]:
    """What cannot be left whole now, by name with the reason; debts stand among what is near to liquidation."""
    labels = {row.position: row.label for row in ways}
    for each in actions:
        if each.action.startswith(NOT_WHOLE_NOW):
            yield f"{labels.get(each.position, each.position)} {each.action}"


def _tell_predictions(golem: Golem, title: str, kind: PredictionKind) -> PredictionTable:
    counted = KeptPredictions().count(golem_id=golem.pk, kind=kind)
    lines = (_tell_class(calibrate(each)) for each in counted)
    return PredictionTable(title, MODELS[kind], MEANS[kind], LEAST_ACTIONS, tuple(lines))


def _tell_class(found: CalibratedClass) -> PredictionLine:
    words, tone = _JUDGED[found.judgement]
    nothing = "none" if found.actions else "no action"
    low, high = found.interval or ("0", "0")
    return PredictionLine(
        predicted=found.predicted,
        actions=found.actions,
        happened=found.happened,
        named=nothing if found.predicted_share is None else _percent(found.predicted_share),
        observed="too few" if found.observed_share is None else _percent(found.observed_share),
        interval="nothing is known" if found.interval is None else f"{_percent(low)} to {_percent(high)}",
        judgement=words,
        tone=tone,
        begins=_place(float(low)) if found.interval else "",
        spans=_place(float(high) - float(low)),
        named_at="" if found.predicted_share is None else _place(float(found.predicted_share)),
    )


def _place(share: float) -> str:
    return f"{share * 100:.2f}"


def _percent(share: str) -> str:
    return f"{float(share):.1%}"


def _tell_breach(row: Mapping[str, object]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.items() if isinstance(value, str | int))
