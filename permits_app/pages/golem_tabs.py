"""A golem's page in six tabs: now, its money, its rules, its agent, its records, its settings.

Each tab reads what it shows and no more. Balances come from the chain within a short deadline; a node that does not
answer is said so and breaks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.utils.safestring import SafeString

from archetypes_app.models import ApiKey, Golem, Heartbeat
from archetypes_app.pages.demo_mark import show_maker
from archetypes_app.phases import SAYS as PHASE_SAYS
from archetypes_app.toolset import resolve_toolset
from permits_app.halts.halt_choices import SAYS, read_choice
from permits_app.models import ActionPermit, AllowlistEntry, DeniedCall, PolicyCage, SpendingLimits, Wallet
from permits_app.models.wallet import SAFES
from permits_app.pages.death_lines import describe_death
from permits_app.pages.delegation_lines import DelegationLine, list_delegation_lines
from permits_app.pages.effective_limits import list_effective_limits
from permits_app.pages.exit_lines import ExitLine, list_halt_exits
from permits_app.pages.exposed_safe_lines import OpeningLine, list_opening_lines
from permits_app.pages.golem_answers import OwnerAnswer, answer_all
from permits_app.pages.golem_figures import PermitLine, build_meters, describe_permits
from permits_app.pages.golem_state import GolemState, read_state, say_contract
from permits_app.pages.golem_switches import Switches, say_switches
from permits_app.pages.limit_meter import Meter
from permits_app.pages.money_pictures import MoneyPictures, draw_money
from permits_app.pages.portfolio_card import PortfolioCard, read_kept_card, read_portfolio_card
from permits_app.pages.promise_lines import PromiseLine, list_promise_lines
from permits_app.pages.refusals import RefusalLine, RuleTally, count_by_rule, list_refusals
from permits_app.pages.request_lines import RequestLine, list_request_lines
from permits_app.pages.right_lines import RightLine, list_right_lines
from permits_app.performance.profit_days import read_worth
from permits_app.permits.former_account_holdings import LeftBehind, list_left_behind
from permits_app.words.address_book import UNKNOWN, read_book
from tools_app.pages.html import show_hex
from tools_app.toolkit.enums import CapabilityTier, Phase
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ForeignTool
from tools_app.wording.formats import format_age, format_chain, shorten_hex

LOCAL_CHAIN_ID = 31337
SHOWN_PERMITS = 5
SHOWN_REFUSALS = 8


class Tab(StrEnum):
    """The parts of a golem's page, each with an address of its own."""

    NOW = "change"
    MONEY = "money"
    RULES = "rules"
    AGENT = "agent"
    RECORDS = "records"
    SETTINGS = "settings"

    @property
    def words(self) -> str:
        """What it is called."""
        return "Now" if self is Tab.NOW else self.value.capitalize()


@dataclass(frozen=True, slots=True)
class WalletCard:
    """The account and how it is kept; what it holds is the portfolio's."""

    address: SafeString | None
    kind: str
    backup: str
    is_backed_up: bool
    wallet_pk: object = None
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
class ShownLimit:
    """An effective limit, its value with a unit, and where the value comes from."""

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class GolemHead:
    """What stands above every tab: who it is, whether it acts, and what its owner must know at once."""

    golem: Golem
    chain: str
    is_simulated_chain: bool
    switches: Switches
    maker: SafeString
    state: SafeString
    contract_notice: str
    openings: tuple[OpeningLine, ...]
    delegations: tuple[DelegationLine, ...]
    halted: str
    ending: str


@dataclass(frozen=True, slots=True)
class NowTab:
    """Four answers, pictures of its money, what was refused, and what it did last."""

    answers: tuple[OwnerAnswer, ...]
    left_behind: Sequence[LeftBehind]
    exits: tuple[ExitLine, ...]
    portfolio: PortfolioCard
    pictures: MoneyPictures
    refused: tuple[RuleTally, ...]
    permits: tuple[PermitLine, ...]


@dataclass(frozen=True, slots=True)
class MoneyTab:
    """What it holds and where, what is under way, and its wallet."""

    wallet: WalletCard
    portfolio: PortfolioCard
    left_behind: Sequence[LeftBehind]
    promises: tuple[PromiseLine, ...]
    requests: tuple[RequestLine, ...]
    rights: tuple[RightLine, ...]


@dataclass(frozen=True, slots=True)
class RulesTab:
    """What it may do: limits with what is used of them, its cage, its allowlist, and what a stop does."""

    meters: tuple[Meter, ...]
    rules: tuple[ShownLimit, ...]
    on_halt: str
    phase_allows: str
    limits_pk: object
    cage_pk: object
    allowlist: tuple[tuple[str, tuple[str, ...]], ...]
    refusals: tuple[RefusalLine, ...]


@dataclass(frozen=True, slots=True)
class AgentTab:
    """Who acts as it: its heartbeat, the keys of its agents, and the tools they have, with reasons."""

    has_heartbeat: bool
    has_account: bool
    keys: tuple[ApiKey, ...]
    tools_in: tuple[ToolGroup, ...]
    tools_out: tuple[ToolGroup, ...]
    tool_count: int


@dataclass(frozen=True, slots=True)
class RecordsTab:
    """What it did."""

    permits: tuple[PermitLine, ...]


def build_head(golem: Golem, *, now: datetime) -> GolemHead:
    """What stands above every tab. Reads rows only; no node is asked."""
    state = read_state(golem)
    return GolemHead(
        golem=golem,
        chain=format_chain(golem.home_chain_id),
        is_simulated_chain=golem.home_chain_id == LOCAL_CHAIN_ID,
        switches=say_switches(golem, is_beating=_is_beating(golem)),
        maker=show_maker(golem),
        state=state.show(),
        contract_notice=say_contract(state),
        openings=list_opening_lines([golem]),
        delegations=list_delegation_lines([golem]),
        halted=f"{golem.halt_reason or 'no reason given'}, {format_age(golem.halted_at, now=now)}"
        if golem.is_halted
        else "",
        ending=describe_death(golem, now=now),
    )


def build_now(golem: Golem, *, now: datetime) -> NowTab:
    """As it was measured last; the chain is asked where it never was, and for what former accounts hold."""
    worth = read_worth(golem_id=golem.pk, now=now)
    portfolio = read_kept_card(golem, worth, now=now) or read_portfolio_card(golem, now=now)
    state: GolemState = read_state(golem)
    exits = list_halt_exits(golem, now=now)
    return NowTab(
        answers=answer_all(golem, state, portfolio, is_beating=_is_beating(golem), now=now),
        left_behind=list_left_behind(golem, now=now),
        exits=exits,
        portfolio=portfolio,
        pictures=draw_money([golem], now=now),
        refused=count_by_rule(DeniedCall.objects.filter(golem=golem), now=now),
        permits=describe_permits(ActionPermit.objects.filter(golem=golem), now=now)[:SHOWN_PERMITS],
    )


def build_money(golem: Golem, *, now: datetime) -> MoneyTab:
    """One chain read, and one for each account it left; each has a short deadline."""
    return MoneyTab(
        wallet=read_wallet(golem, now=now),
        portfolio=read_portfolio_card(golem, now=now),
        left_behind=list_left_behind(golem, now=now),
        promises=list_promise_lines(golem, now=now),
        requests=list_request_lines(golem, now=now),
        rights=list_right_lines(golem, now=now),
    )


def build_rules(golem: Golem, *, now: datetime) -> RulesTab:
    """Reads rows only."""
    limits = SpendingLimits.objects.filter(golem=golem).first()
    cage = PolicyCage.objects.filter(golem=golem).first()
    return RulesTab(
        meters=build_meters(golem, limits or SpendingLimits(golem=golem), now=now),
        rules=_list_rules(golem),
        on_halt=SAYS[read_choice(golem)],
        phase_allows=PHASE_SAYS[Phase(golem.phase)],
        limits_pk=limits.pk if limits else None,
        cage_pk=cage.pk if cage else None,
        allowlist=_list_allowlist(golem),
        refusals=list_refusals(DeniedCall.objects.filter(golem=golem), now=now, most=SHOWN_REFUSALS),
    )


def build_agent(golem: Golem) -> AgentTab:
    """Reads rows only."""
    tools_in, tools_out, count = _list_tools(golem)
    return AgentTab(
        has_heartbeat=Heartbeat.objects.filter(golem=golem).exists(),
        has_account=bool(golem.address),
        keys=tuple(ApiKey.objects.filter(golem=golem, revoked_at__isnull=True).order_by("-created_at")[:10]),
        tools_in=tools_in,
        tools_out=tools_out,
        tool_count=count,
    )


def build_records(golem: Golem, *, now: datetime) -> RecordsTab:
    """Reads rows only."""
    return RecordsTab(permits=describe_permits(ActionPermit.objects.filter(golem=golem), now=now))


def _is_beating(golem: Golem) -> bool:
    return Heartbeat.objects.filter(golem=golem, is_on=True).exists()


_LABELS = {
    "per_transaction_micro_usd": "Per transaction",
    "per_tick_micro_usd": "Per heartbeat tick",
    "per_session_micro_usd": "Per API key",
    "per_day_micro_usd": "Per 24 h",
    "trading_costs_per_day_micro_usd": "Trading may cost in 24 h",
    "trading_costs_per_pair_micro_usd": "Trading one pair may cost in 24 h",
    "trading_costs_per_venue_micro_usd": "Trading at one venue may cost in 24 h",
    "hot_lane_micro_usd": "In one action without the safety guardian, at most",
    "writes_per_hour": "Writes per hour",
    "most_alike_calls": "Of 20 actions, how many may be alike",
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
        else "no backup: if its file is lost, so is its money",
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
