"""A golem's page in figures: phase, limits used, wallet, tools with reasons, keys, allowlist, last permits.

Balances come from the chain within a short deadline; a node that does not answer is said so and breaks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from typing import Any

from django.db.models import QuerySet
from django.utils.safestring import SafeString

from archetypes_app.models import ApiKey, Golem, Heartbeat
from archetypes_app.pages.demo_mark import show_maker
from archetypes_app.phases import SAYS as PHASE_SAYS
from archetypes_app.profiles import writes_per_hour_cap
from archetypes_app.toolset import resolve_toolset
from permits_app.halts.halt_choices import SAYS, read_choice
from permits_app.limits import ledger
from permits_app.limits.rate_rules import most_writes_per_hour
from permits_app.limits.trading_costs import read_costs
from permits_app.models import ActionPermit, AllowlistEntry, PolicyCage, SpendingLimits, Wallet
from permits_app.models.permit import PermitStatus
from permits_app.models.wallet import SAFES
from permits_app.pages.death_lines import describe_death
from permits_app.pages.delegation_lines import DelegationLine, list_delegation_lines
from permits_app.pages.effective_limits import list_effective_limits
from permits_app.pages.exit_lines import ExitLine, list_halt_exits
from permits_app.pages.golem_state import read_state, say_contract
from permits_app.pages.golem_switches import Switches, say_switches
from permits_app.pages.limit_meter import Meter
from permits_app.pages.opening_lines import OpeningLine, list_opening_lines
from permits_app.pages.portfolio_card import PortfolioCard, read_portfolio_card
from permits_app.pages.promise_lines import PromiseLine, list_promise_lines
from permits_app.pages.request_lines import RequestLine, list_request_lines
from permits_app.pages.right_lines import RightLine, list_right_lines
from permits_app.permits.former_account_holdings import LeftBehind, list_left_behind
from permits_app.words.address_book import UNKNOWN, read_book
from permits_app.words.move_words import describe_move
from tools_app.pages.html import show_age, show_badge, show_hex
from tools_app.toolkit.enums import CapabilityTier, Phase
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ForeignTool
from tools_app.wording.formats import format_age, format_chain, format_usd, shorten_hex

LAST_PERMITS = 10
_LOOKED_AT = 60  # permits, of which equal ones in a row become one line
# A permit's plan and simulation are long, and a line tells nothing of them.
_LINE_COLUMNS = ("action_type", "bounds", "status", "value_micro_usd", "created_at", "golem__name")


@dataclass(frozen=True, slots=True)
class WalletCard:
    """The account and how it is kept; what it holds is the portfolio's."""

    address: SafeString | None
    kind: str
    backup: str
    is_backed_up: bool
    wallet_pk: Any = None
    is_safe: bool = False


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool with why it is in or out."""

    name: str
    capability: str
    tone: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """The tools of one category."""

    category: str
    tools: tuple[ToolLine, ...]


@dataclass(frozen=True, slots=True)
class PermitLine:
    """One permit in a short list."""

    permit: ActionPermit
    what: str
    status: SafeString
    worth: str
    age: SafeString
    golem_name: str
    times: int


@dataclass(frozen=True, slots=True)
class ShownLimit:
    """An effective limit, its value with a unit, and where the value comes from."""

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class GolemPage:
    """Everything the page shows above the form."""

    golem: Golem
    chain: str
    is_simulated_chain: bool
    has_heartbeat: bool
    switches: Switches
    maker: SafeString
    state: SafeString
    contract_notice: str
    openings: tuple[OpeningLine, ...]
    delegations: tuple[DelegationLine, ...]
    phase_allows: str
    halted: str
    on_halt: str
    ending: str
    meters: tuple[Meter, ...]
    rules: tuple[ShownLimit, ...]
    wallet: WalletCard
    portfolio: PortfolioCard
    left_behind: Sequence[LeftBehind]
    promises: tuple[PromiseLine, ...]
    requests: tuple[RequestLine, ...]
    rights: tuple[RightLine, ...]
    exits: tuple[ExitLine, ...]
    tools_in: tuple[ToolGroup, ...]
    tools_out: tuple[ToolGroup, ...]
    tool_count: int
    keys: tuple[ApiKey, ...]
    allowlist: tuple[tuple[str, tuple[str, ...]], ...]
    permits: tuple[PermitLine, ...]
    limits_pk: Any
    cage_pk: Any


def build_golem_page(golem: Golem, *, now: datetime) -> GolemPage:
    """The page of `golem` as of `now`. One chain read, and one for each account it left; each has a short deadline."""
    limits = SpendingLimits.objects.filter(golem=golem).first()
    cage = PolicyCage.objects.filter(golem=golem).first()
    tools_in, tools_out, count = _list_tools(golem)
    state = read_state(golem)
    heartbeat = Heartbeat.objects.filter(golem=golem).first()
    return GolemPage(
        golem=golem,
        chain=format_chain(golem.home_chain_id),
        is_simulated_chain=golem.home_chain_id == 31337,
        has_heartbeat=heartbeat is not None,
        switches=say_switches(golem, is_beating=heartbeat is not None and heartbeat.is_on),
        maker=show_maker(golem),
        state=state.show(),
        contract_notice=say_contract(state),
        openings=list_opening_lines([golem]),
        delegations=list_delegation_lines([golem]),
        phase_allows=PHASE_SAYS[Phase(golem.phase)],
        halted=f"{golem.halt_reason or 'no reason given'}, {format_age(golem.halted_at, now=now)}"
        if golem.is_halted
        else "",
        on_halt=SAYS[read_choice(golem)],
        ending=describe_death(golem, now=now),
        meters=build_meters(golem, limits or SpendingLimits(golem=golem), now=now),
        rules=_list_rules(golem),
        wallet=read_wallet(golem, now=now),
        portfolio=read_portfolio_card(golem, now=now),
        left_behind=list_left_behind(golem, now=now),
        promises=list_promise_lines(golem, now=now),
        requests=list_request_lines(golem, now=now),
        rights=list_right_lines(golem, now=now),
        exits=list_halt_exits(golem, now=now),
        tools_in=tools_in,
        tools_out=tools_out,
        tool_count=count,
        keys=tuple(ApiKey.objects.filter(golem=golem, revoked_at__isnull=True).order_by("-created_at")[:10]),
        allowlist=_list_allowlist(golem),
        permits=describe_permits(ActionPermit.objects.filter(golem=golem), now=now),
        limits_pk=limits.pk if limits else None,
        cage_pk=cage.pk if cage else None,
    )


def build_meters(golem: Golem, limits: SpendingLimits, *, now: datetime) -> tuple[Meter, ...]:
    """What is used of the limits that add up: per 24 h, what trading cost, per heartbeat tick, writes per hour."""
    usage = ledger.read_usage(golem_id=golem.pk, api_key_id=None, heartbeat_tick=golem.heartbeat_tick, now=now)
    resets = f"oldest part is free {format_age(usage.day_resets_at, now=now)}" if usage.day_resets_at else ""
    hour = f"next one is free {format_age(usage.hour_resets_at, now=now)}" if usage.hour_resets_at else ""
    costs = read_costs(golem_id=golem.pk, now=now)
    frees = f"oldest part is free {format_age(costs.resets_at, now=now)}" if costs.resets_at else ""
    most_costs = limits.trading_costs_per_day_micro_usd
    meters = [
        meter_day(usage.day_micro_usd, limits, hint=resets),
        meter_usd("Trading cost in 24 h", costs.day_micro_usd, most_costs, frees),
    ]
    if golem.heartbeat_tick:
        meters.append(meter_usd("In this heartbeat tick", usage.tick_micro_usd, limits.per_tick_micro_usd, ""))
    most_writes = most_writes_per_hour(configured=limits.writes_per_hour, cap=writes_per_hour_cap(golem))
    percent = _percent(usage.writes_last_hour, most_writes)
    meters.append(
        Meter(
            name="Writes in the last hour",
            used=str(usage.writes_last_hour),
            limit=str(most_writes),
            remaining=f"{max(0, most_writes - usage.writes_last_hour)} left",
            percent=percent,
            tone=_meter_tone(percent),
            hint=hour,
        )
    )
    return tuple(meters)


def meter_day(used_micro_usd: int, limits: SpendingLimits, *, hint: str = "") -> Meter:
    """The rolling 24 h as a bar."""
    return meter_usd("Spent and reserved in 24 h", used_micro_usd, limits.per_day_micro_usd, hint)


def meter_usd(name: str, used: int, limit: int, hint: str) -> Meter:
    """Dollars of a limit as a bar, from micro-USD."""
    percent = _percent(used, limit)
    return Meter(
        name=name,
        used=format_usd(used),
        limit=format_usd(limit),
        remaining=f"{format_usd(max(0, limit - used))} left",
        percent=percent,
        tone=_meter_tone(percent),
        hint=hint,
    )


def _percent(used: int, limit: int) -> int:
    return min(100, used * 100 // limit) if limit else 100


def _meter_tone(percent: int) -> str:
    return "bad" if percent >= 90 else "warn" if percent >= 70 else "good"


def describe_permits(permits: QuerySet[ActionPermit], *, now: datetime) -> tuple[PermitLine, ...]:
    """Short lines of the newest of `permits`. An action previewed again and again and never used is one line."""
    newest = permits.select_related("golem").only(*_LINE_COLUMNS).order_by("-created_at")[:_LOOKED_AT]
    runs = groupby(newest, key=_name_run)
    return tuple(_describe_run(list(run), now) for _, run in islice(runs, LAST_PERMITS))


def _name_run(permit: ActionPermit) -> tuple[Any, ...]:
    if permit.status in (PermitStatus.CANCELLED, PermitStatus.EXPIRED):
        return permit.golem_id, describe_action(permit), permit.status
    return (permit.pk,)


def _describe_run(run: list[ActionPermit], now: datetime) -> PermitLine:
    permit = run[0]
    return PermitLine(
        permit=permit,
        what=describe_action(permit),
        status=show_badge(permit.status),
        worth=format_usd(permit.value_micro_usd),
        age=show_age(permit.created_at, now=now),
        golem_name=permit.golem.name,
        times=len(run),
    )


def describe_action(permit: ActionPermit) -> str:
    """`Swap 500 USDC for WETH`."""
    return describe_move(permit.action_type, permit.bounds)


_LABELS = {
    "per_transaction_micro_usd": "Per transaction",
    "per_tick_micro_usd": "Per heartbeat tick",
    "per_session_micro_usd": "Per API key",
    "per_day_micro_usd": "Per 24 h",
    "trading_costs_per_day_micro_usd": "Trading may cost in 24 h",
    "trading_costs_per_pair_micro_usd": "Trading one pair may cost in 24 h",
    "trading_costs_per_venue_micro_usd": "Trading at one venue may cost in 24 h",
    "hot_lane_micro_usd": "Hot lane, above it the safety-guardian decides",
    "writes_per_hour": "Writes per hour",
    "max_slippage_bps": "Slippage at most",
    "max_price_impact_bps": "Price impact at most",
    "allowlist_mode": "Allowlist",
    "max_position_bps": "One position, of the portfolio",
    "max_concentration_bps": "One asset, of the portfolio",
    "max_issuer_bps": "One issuer, of the portfolio",
    "max_bridge_bps": "One bridge, of the portfolio",
    "max_oracle_bps": "One oracle, of the portfolio",
    "max_drawdown_bps": "Drawdown within 24 h",
    "min_rebalance_interval_seconds": "Between two rebalances, at least",
    "max_rebalances_per_day": "Rebalances in 24 h",
    "min_collateral_ratio_bps": "Collateral ratio, at least",
    "min_health_bps": "Health of a debt, at least",
    "min_range_ticks": "Range of a position in a pool, at least",
    "max_assets": "Assets at once",
    "permit_ttl_seconds": "A permit stays valid",
}


def _list_rules(golem: Golem) -> tuple[ShownLimit, ...]:
    return tuple(
        ShownLimit(
            name=_LABELS.get(limit.name, limit.words[:1].upper() + limit.words[1:]),
            value=limit.value,
            source=limit.source if limit.value == limit.default else f"{limit.source}, default {limit.default}",
        )
        for limit in list_effective_limits(golem)
    )


def read_wallet(golem: Golem, *, now: datetime) -> WalletCard:
    """The wallet and when it was last backed up."""
    wallet = Wallet.objects.filter(golem=golem).first()
    if not golem.address:
        return WalletCard(None, "", "", False)
    return WalletCard(
        address=show_hex(golem.address),
        kind=wallet.get_kind_display() if wallet else "watched address, no key here",
        backup=f"backed up {format_age(wallet.backed_up_at, now=now)}"
        if wallet and wallet.backed_up_at
        else "never backed up",
        is_backed_up=bool(wallet and wallet.backed_up_at),
        wallet_pk=wallet.pk if wallet else None,
        is_safe=bool(wallet and wallet.kind in SAFES),
    )


def _list_tools(golem: Golem) -> tuple[tuple[ToolGroup, ...], tuple[ToolGroup, ...], int]:
    toolset = resolve_toolset(golem)
    inside: dict[str, list[ToolLine]] = {}
    outside: dict[str, list[ToolLine]] = {}
    brought = {tool.name: tool for tool in toolset if isinstance(tool, ForeignTool)}
    for tool in ({tool.name: tool for tool in REGISTRY} | brought).values():
        line = ToolLine(
            name=tool.name,
            capability=tool.capability.value.lower(),
            tone={CapabilityTier.READ: "info", CapabilityTier.WRITE: "warn"}.get(tool.capability, "bad"),
            reason=toolset.reasons.get(tool.name, ""),
        )
        (inside if tool.name in toolset else outside).setdefault(tool.category.value, []).append(line)
    return _group(inside), _group(outside), len(toolset)


def _group(by_category: dict[str, list[ToolLine]]) -> tuple[ToolGroup, ...]:
    return tuple(
        ToolGroup(category.replace("_", " "), tuple(sorted(lines, key=lambda line: line.name)))
        for category, lines in sorted(by_category.items())
    )


def _list_allowlist(golem: Golem) -> tuple[tuple[str, tuple[str, ...]], ...]:
    entries = AllowlistEntry.objects.filter(golem=golem).order_by("kind", "label")
    book = read_book(golem.owner_id)
    by_kind: dict[str, list[str]] = {}
    for entry in entries:
        found = entry.label or book.find(entry.chain_id, entry.address)
        name = found or f"{UNKNOWN} {shorten_hex(entry.address)}"
        by_kind.setdefault(entry.get_kind_display(), []).append(name)
    return tuple((kind, tuple(dict.fromkeys(names))) for kind, names in by_kind.items())
