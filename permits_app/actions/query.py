"""query_state: run one read tool for a golem, or answer about the golem itself from our own rows.

Nothing is locked and nothing changes but the events of the run (tool:start, tool:end, tool:error).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, Q

from archetypes_app.browse_and_load_tools import TIER_KEYS
from archetypes_app.models import Golem
from archetypes_app.phases import SAYS as PHASE_SAYS
from archetypes_app.phases import is_allowed
from archetypes_app.profiles import writes_per_hour_cap
from archetypes_app.toolset import resolve_toolset, view_golem
from permits_app.actions.announce_warden_actions import is_watchdog, list_announced_elsewhere
from permits_app.halts.halt_choices import SAYS, read_choice
from permits_app.limits import ledger
from permits_app.limits.pending_requests import say_taken
from permits_app.limits.rate_rules import most_writes_per_hour
from permits_app.limits.signed_promises import list_open, tell
from permits_app.limits.trading_costs import read_costs
from permits_app.models import ActionPermit, PendingRequest, SignedPromise, SpendingLimits, StandingAllowance
from permits_app.models.pending_request import FOLLOWED
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.signed_promise import PromiseState
from permits_app.permits.tick_decisions import list_decisions
from permits_app.safety.hooks.result_filter import filter_result
from tools_app import read_ahead
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd, format_units
from tools_app.select_tool_for_venue import UnknownAction, normalize_key, resolve_action
from tools_app.toolkit.enums import ActionClass, Phase, PiTool
from tools_app.toolkit.golem_chains import list_chains, place_read
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.result import ToolResult
from tools_app.toolkit.retired_parameters import renew_params
from tools_app.toolkit.tooldef import ReadTool

OWN_VENUE = "golem"
_MOST_PERMITS = 20
_MOST, _MOST_ENDED = 50, 10
OPEN_STATUSES = (
    PermitStatus.CREATED,
    PermitStatus.COMMITTING,
    PermitStatus.UNKNOWN,
    PermitStatus.AWAITING_APPROVAL,
    PermitStatus.ANNOUNCED,
)


@dataclass(frozen=True, slots=True)
class OwnQuery:
    """A query about the golem itself, answered from rows and without parameters."""

    key: str
    summary: str
    read: Callable[[Golem, UUID | None, datetime], dict[str, object]]


def query_state(
    *,
    golem: Golem,
    query: str,
    venue: str | None,
    params: Mapping[str, object],
    now: datetime,
    ignored: frozenset[str] = frozenset(),
    chain_id: int | str | None = None,
    api_key_id: UUID | None = None,
    cursor: str | None = None,
    pi_tool: PiTool = PiTool.QUERY_STATE,
) -> JsonObject:
    """The filtered ToolResult of the read tool that serves `query` at `venue`, or of a query about the golem itself.

    `cursor` continues an answer that was too long; it is the `next_cursor` of the part before. Parameters in
    `ignored` that the tool does not have are dropped, all others refused.
    Raises UnknownAction, UnknownVenue, VenueRequired, a requirement's error, InvalidParams, SchemaRetired, the
    handler's error.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if chain_id is not None:
        given["chain_id"] = chain_id
    own = _OWN.get(normalize_key(query)) if pi_tool is PiTool.QUERY_STATE else None
    if own is not None and (venue is None or normalize_key(venue) == OWN_VENUE):
        return _filter(_answer_own(own, golem, given, api_key_id, now), cursor)
    tool = _resolve(golem, pi_tool, query, venue)
    given = dict(renew_params(tool=tool, params=given, now=now))
    known = tool.params_model.model_fields
    wanted = {name: value for name, value in given.items() if name in known or name not in ignored}
    reading = read_ahead.ReadingAgent(
        golem=view_golem(golem),
        archetype=golem.archetype.name,
        toolset=resolve_toolset(golem),
        now=now,
        acted_since=lambda moment: _acted_since(golem, moment),
    )
    placed = place_read(tool, wanted, golem)
    return _filter(read_ahead.run_read(tool=tool, params=placed, reading=reading), cursor)


def describe_golem(golem: Golem, api_key_id: UUID | None, now: datetime) -> JsonObject:
    """Who the golem is and what its phase lets it do."""
    phase, on_halt = Phase(golem.phase), read_choice(golem)
    return {
        "golem_id": str(golem.pk),
        "name": golem.name,
        "address": golem.address or None,
        "home_chain_id": golem.home_chain_id,
        "chain_ids": list(list_chains(golem)),
        "base_asset": golem.base_asset,
        "phase": phase.value,
        "phase_allows": PHASE_SAYS[phase],
        "allowed_action_classes": [kind.value for kind in ActionClass if is_allowed(phase, kind)],
        "is_halted": golem.is_halted,
        "halt_reason": golem.halt_reason or None,
        "on_halt": {"choice": on_halt.value, "what_follows": SAYS[on_halt]},
        "heartbeat_tick": golem.heartbeat_tick,
        "permit_ttl_seconds": golem.permit_ttl_seconds,
        "as_of": now.isoformat(),
    }


def describe_limits(golem: Golem, api_key_id: UUID | None, now: datetime) -> JsonObject:
    """Every spending limit with what is used and left; USD as text and as integer micro-USD in a decimal string."""
    limits, _ = SpendingLimits.objects.get_or_create(golem=golem)
    usage = ledger.read_usage(golem_id=golem.pk, api_key_id=api_key_id, heartbeat_tick=golem.heartbeat_tick, now=now)
    costs = read_costs(golem_id=golem.pk, now=now)
    most_writes = most_writes_per_hour(configured=limits.writes_per_hour, cap=writes_per_hour_cap(golem))
    return {
        "per_transaction": _usd("limit", limits.per_transaction_micro_usd),
        "per_tick": _window(limits.per_tick_micro_usd, usage.tick_micro_usd),
        "per_session": _window(
            limits.per_session_micro_usd, usage.session_micro_usd, resets_at=usage.session_resets_at
        ),
        "per_day": _window(limits.per_day_micro_usd, usage.day_micro_usd, resets_at=usage.day_resets_at),
        "trading_costs_per_day": _window(
            limits.trading_costs_per_day_micro_usd, costs.day_micro_usd, resets_at=costs.resets_at
        ),
        "trading_costs_per_pair": _usd("limit", limits.trading_costs_per_pair_micro_usd),
        "trading_costs_per_venue": _usd("limit", limits.trading_costs_per_venue_micro_usd),
        "writes_per_hour": {
            "limit": most_writes,
            "used": usage.writes_last_hour,
            "remaining": max(0, most_writes - usage.writes_last_hour),
            "resets_at": usage.hour_resets_at.isoformat() if usage.hour_resets_at else None,
        },
        "most_alike_calls": limits.most_alike_calls,
        "standing_allowances": [_describe_allowance(row) for row in list_standing(golem)],
        "guardian_above": _usd("limit", limits.hot_lane_micro_usd),
        "max_slippage_bps": limits.max_slippage_bps,
        "max_price_impact_bps": limits.max_price_impact_bps,
        "allowlist_mode": limits.allowlist_mode,
        "as_of": now.isoformat(),
    }


def list_standing(*golems: Golem) -> list[StandingAllowance]:
    """What spenders may still take of the golems' tokens, the oldest first."""
    rows = StandingAllowance.objects.filter(golem__in=golems).exclude(left="0")
    return list(rows.order_by("counted_at", "pk"))


def _describe_allowance(row: StandingAllowance) -> dict[str, object]:
    return {
        "chain_id": row.chain_id,
        "token": row.token,
        "spender": row.spender,
        "raw": row.left,
        "units": format_units(int(row.left), row.decimals, row.symbol),
        "worth_usd": format_micro_usd(row.worth_micro_usd),
        "since": row.counted_at.isoformat(),
    }


def describe_open_permits(golem: Golem, api_key_id: UUID | None, now: datetime) -> JsonObject:
    """Permits that still hold part of a limit, newest first, in short; to a watchdog also what others announced."""
    rows = ActionPermit.objects.filter(golem=golem, status__in=[status.value for status in OPEN_STATUSES])
    permits = [
        {
            "permit_id": str(permit.pk),
            "status": permit.status,
            "action_type": permit.action_type,
            "venue": permit.venue,
            "risk_tier": permit.risk_tier,
            "value_usd": format_micro_usd(permit.value_micro_usd),
            "created_at": permit.created_at.isoformat(),
            "expires_at": permit.expires_at.isoformat(),
        }
        for permit in rows.order_by("-created_at", "-id")[:_MOST_PERMITS]
    ]
    announced = {"announced_by_others": list_announced_elsewhere(golem)} if is_watchdog(golem) else {}
    return {"permits": permits, **announced, "as_of": now.isoformat()}


def describe_requests(golem: Golem, api_key_id: UUID | None, now: datetime) -> JsonObject:
    """What the golem asked of protocols and waits for, the soonest first, and what ended last."""
    rows = PendingRequest.objects.filter(golem=golem)
    followed = rows.filter(state__in=[str(state) for state in FOLLOWED])
    ended = rows.exclude(state__in=[str(state) for state in FOLLOWED])
    return {
        "waiting": [
            _show_request(row) for row in followed.order_by(F("expected_at").asc(nulls_last=True), "pk")[:_MOST]
        ],
        "waiting_count": followed.count(),
        "ended": [_show_request(row) for row in ended.order_by("-updated_at", "pk")[:_MOST_ENDED]],
        "as_of": now.isoformat(),
    }


def _show_request(row: PendingRequest) -> dict[str, object]:
    return {
        "position": row.ref,
        "protocol": row.protocol,
        "chain_id": row.chain_id,
        "expects_chain_id": row.expects_chain_id,
        "state": row.state,
        "amounts": row.amounts,
        "expected_at": row.expected_at.isoformat() if row.expected_at else None,
        "checked_at": row.checked_at.isoformat() if row.checked_at else None,
        "asked_by_permit": str(row.permit_id),
        "claimed_by_permit": str(row.claim_id) if row.claim_id else None,
        "note": row.last_error or (say_taken(row.others_took) if row.others_took else None),
        **(_show_order(row) if row.is_order else {}),
    }


def _show_order(row: PendingRequest) -> dict[str, object]:
    return {
        "awaits": row.awaits or None,
        "ends_at": row.ends_at.isoformat() if row.ends_at else None,
        "brings_at_least": row.brings,
        "successor": row.successor or None,
        "came_back": row.came,
        "ended_at": row.ended_at.isoformat() if row.ended_at else None,
        "holds_usd": format_micro_usd(int(row.holds_micro_usd)),
        "spent_usd": format_micro_usd(int(row.spent_micro_usd)) if row.spent_micro_usd is not None else None,
    }


def describe_promises(golem: Golem, api_key_id: UUID | None, now: datetime) -> JsonObject:
    """What the golem signed and somebody may still carry out, the soonest over first, and what ended last."""
    rows = SignedPromise.objects.filter(golem=golem)
    waiting = list_open(golem.pk)
    ended = rows.exclude(state=PromiseState.OPEN)
    return {
        "open": [_show_promise(row) for row in waiting.order_by("ends_at", "pk")[:_MOST]],
        "open_count": waiting.count(),
        "ended": [_show_promise(row) for row in ended.order_by("-ended_at", "pk")[:_MOST_ENDED]],
        "as_of": now.isoformat(),
    }


def _show_promise(row: SignedPromise) -> dict[str, object]:
    return {
        **tell(row, PromiseState(row.state)),
        "signed_at": row.created_at.isoformat(),
        "checked_at": row.checked_at.isoformat() if row.checked_at else None,
        "ended_at": row.ended_at.isoformat() if row.ended_at else None,
        "note": row.last_error or None,
    }


def describe_decisions(golem: Golem, api_key_id: UUID | None, now: datetime) -> JsonObject:
    """The newest decisions of the heartbeat that thought, and the newest of all with what agents did since."""
    newest = list_decisions(golem=golem, limit=1, with_agents=True)
    thinking = list_decisions(golem=golem, limit=10, only_thinking=True)
    return {"newest": newest[0] if newest else None, "thinking": thinking}


OWN_QUERIES: tuple[OwnQuery, ...] = (
    OwnQuery(
        "golem", "the golem's name, address, phase, what its phase allows, and whether it is halted.", describe_golem
    ),
    OwnQuery(
        "limits",
        "every spending limit, how much of it is used, what remains and when it frees; allowances that stand.",
        describe_limits,
    ),
    OwnQuery("permits", "the golem's open permits; they hold part of its limits.", describe_open_permits),
    OwnQuery(
        "requests",
        "what the golem asked of protocols and waits for (queues, cooldowns, standing orders): state, amounts, when"
        " it is expected, what may still come of an order and until when.",
        describe_requests,
    ),
    OwnQuery(
        "promises",
        "what the golem signed for others to carry out (offers, orders): what may go, what comes for it, until when.",
        describe_promises,
    ),
    OwnQuery(
        "decisions",
        "what the last heartbeat ticks saw, why they thought, what they did, what came of it and cost.",
        describe_decisions,
    ),
)
"""Answered without a tool, so they are there for every golem, whatever its profile."""

_OWN = {query.key: query for query in OWN_QUERIES}


def _resolve(golem: Golem, pi_tool: PiTool, query: str, venue: str | None) -> ReadTool:
    try:
        tool = resolve_action(pi_tool=pi_tool, key=query, venue=venue, toolset=resolve_toolset(golem), known=REGISTRY)
    except UnknownAction as error:
        own = (*_OWN, *TIER_KEYS) if pi_tool is PiTool.QUERY_STATE else ()
        raise UnknownAction(error.detail, available=sorted({*error.data.get("available", ()), *own})) from None
    if not isinstance(tool, ReadTool):
        raise TypeError(f"{tool.name} is routed as a read but is none")
    return tool


def _acted_since(golem: Golem, moment: datetime) -> bool:
    """Whether an action of the golem was under way at `moment` or began or ended later."""
    begun = Q(committing_at__gte=moment) | Q(finished_at__gte=moment) | Q(status__in=UNFINISHED)
    return ActionPermit.objects.filter(begun, golem=golem).exists()


def _answer_own(
    own: OwnQuery, golem: Golem, given: Mapping[str, object], api_key_id: UUID | None, now: datetime
) -> ToolResult:
    if given:
        raise InvalidParams(
            f"{own.key!r} takes no parameters",
            fields=dict.fromkeys(given, "this parameter does not exist here"),
            allowed=[],
        )
    return ToolResult(data=own.read(golem, api_key_id, now))


def _filter(result: ToolResult, cursor: str | None) -> dict[str, object]:
    answer: dict[str, object] = filter_result(result.as_dict(), cursor=cursor)
    return answer


def _usd(name: str, micro_usd: int) -> dict[str, str]:
    return {f"{name}_usd": format_micro_usd(micro_usd), f"{name}_micro_usd": str(micro_usd)}


def _window(limit: int, used: int, *, resets_at: datetime | None = None) -> dict[str, object]:
    return {
        **_usd("limit", limit),
        **_usd("used", used),
        **_usd("remaining", max(0, limit - used)),
        "resets_at": resets_at.isoformat() if resets_at else None,
    }
