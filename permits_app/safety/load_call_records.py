"""Reads what the database holds about one call, in one statement and once for a run of the chain.

The rules over it live with their hooks; here is only which rows they look at. A local write reads no venue.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from archetypes_app.profiles import is_conservative
from permits_app.limits import ledger
from permits_app.limits.trading_costs import COSTS_SQL, TradeCost, is_trade, name_pair, read_cost_columns
from permits_app.models import (
    ActionPermit,
    HighWaterMark,
    KnownContract,
    OutboundTransaction,
    OutcomeRecord,
    SignedPromise,
)
from permits_app.models.permit import OPEN, UNFINISHED, WAITING, PermitStatus, list_states
from permits_app.permits.plan_store import decode_changes
from permits_app.safety.action_gate import DIVERGENCE_TOLERANCE_BPS, GATE_WINDOW
from permits_app.safety.assets import NO_POSITION, RAISING, Portfolio
from permits_app.safety.balances_after_open_permits import may_lower
from permits_app.safety.call_records import (
    Mark,
    OpenSpend,
    PastCall,
    Records,
    UnderWay,
    VenueOutcome,
    decode_later,
    read_moment,
)
from permits_app.safety.hook import HookCall
from permits_app.safety.loop_and_breaker_rules import BREAKER_HORIZON, BREAKER_REQUESTS, LOOP_HORIZON, LOOP_WINDOW
from tools_app.core.prepared_statements import Prepared
from tools_app.core.stored_json import read_stored
from tools_app.portfolio.remembered_positions import HINTS_SQL, parse_refs
from tools_app.standards.loan_callback import list_contracts
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.registry import REGISTRY

_DAY = timedelta(hours=24)
_LATELY = timedelta(minutes=10)
"""Longer than a block stays pinned while a plan is judged by it."""
NAMED_PERMITS = 20
"""A refusal names so many of those that it waits for; the sum counts all of them."""
_PERMITS = ActionPermit._meta.db_table
_OUTCOMES = OutcomeRecord._meta.db_table
_PAYLOADS = OutboundTransaction._meta.db_table
_DONE_OR_UNDER_WAY = (PermitStatus.COMMITTING, PermitStatus.UNKNOWN, PermitStatus.COMMITTED)


def _in_microseconds(column: str) -> str:
    """A moment as microseconds since 1970: a hundred of them are read for a call, and a number is made ten times faster
    than a moment with its time zone.
    """
    return f"(EXTRACT(EPOCH FROM {column}) * 1000000)::bigint"


# What a call does not need is left out of the statement. A span that is open at one end is closed with 'infinity':
# behind an open one PostgreSQL expects a third of the table, and reads a whole life; behind a closed one, a few.
_MARK = f"""LEFT JOIN {HighWaterMark._meta.db_table} AS mark ON mark.golem_id = %(golem)s"""
_PAST = f"""CROSS JOIN LATERAL (
    SELECT array_agg(tool_name ORDER BY created_at DESC) AS tools,
           array_agg(action_hash ORDER BY created_at DESC) AS hashes,
           array_agg({_in_microseconds("created_at")} ORDER BY created_at DESC) AS times,
           array_agg(alike ORDER BY created_at DESC) AS alikes
      FROM (SELECT tool_name, action_hash, created_at, COALESCE(facts->>'alike', '') AS alike FROM {_PERMITS}
             WHERE golem_id = %(golem)s AND created_at > %(loop_start)s AND created_at <= %(now)s
               AND status <> 'CANCELLED' AND id IS DISTINCT FROM %(excluded)s
             ORDER BY created_at DESC LIMIT %(loop_window)s) AS newest
) AS past"""  # noqa: S608
_VENUE = f"""CROSS JOIN LATERAL (
    SELECT array_agg(status ORDER BY finished_at) AS statuses,
           array_agg({_in_microseconds("finished_at")} ORDER BY finished_at) AS times
      FROM (SELECT status, finished_at FROM {_PERMITS}
             WHERE golem_id = %(golem)s AND venue = %(venue)s AND chain_id = %(chain)s AND NOT is_local
               AND finished_at > %(breaker_start)s AND finished_at < 'infinity' AND status IN ('COMMITTED', 'REVERTED')
               AND NOT EXISTS (SELECT 1 FROM {_OUTCOMES} AS ended WHERE ended.permit_id = {_PERMITS}.id
                               AND ended.is_cancelled AND ended.taken_back_at IS NULL)
             ORDER BY finished_at DESC LIMIT %(breaker_window)s) AS newest
) AS venue"""  # noqa: S608
_TRIED = f"""EXISTS (SELECT 1 FROM {_PERMITS}
    WHERE golem_id = %(golem)s AND venue = %(venue)s AND chain_id = %(chain)s AND NOT is_local
      AND status IN ({list_states(UNFINISHED)}) AND id IS DISTINCT FROM %(excluded)s)"""  # noqa: S608
_REBALANCES = f"""ARRAY(SELECT COALESCE(finished_at, committing_at, created_at) FROM {_PERMITS}
    WHERE golem_id = %(golem)s AND action_class = 'REBALANCE' AND status IN ({list_states(_DONE_OR_UNDER_WAY)})
      AND id IS DISTINCT FROM %(excluded)s
      AND COALESCE(finished_at, committing_at, created_at) > %(day_start)s)"""  # noqa: S608
# From the newest permit back, until there are enough: older ones are not looked at.
_PREDICTIONS = f"""ARRAY(SELECT outcome.is_verified AND outcome.divergence_bps <= %(tolerance_bps)s
    FROM {_PERMITS} AS judged JOIN {_OUTCOMES} AS outcome ON outcome.permit_id = judged.id
    WHERE judged.golem_id = %(golem)s AND judged.status IN ('COMMITTED', 'REVERTED')
      AND NOT outcome.is_cancelled AND outcome.taken_back_at IS NULL
    ORDER BY judged.finished_at DESC LIMIT %(gate_window)s)"""  # noqa: S608
_KNOWN = f"""ARRAY(SELECT ARRAY[address, code_hash]::text[] FROM {KnownContract._meta.db_table}
    WHERE chain_id = %(chain)s AND address = ANY(%(touched)s))"""  # noqa: S608
_NO_BLOCK = 2**62
"""Closes the span of blocks."""
# Nobody asked yet to carry it out, and anybody still may. The states of an index are said in its own words: without
# them a plan that was made when the golem was young reads all its permits for as long as the connection lives.
_IS_OPEN = f"""status IN ({list_states(OPEN)}) AND (status IN ({list_states(WAITING)})
    OR (status = '{PermitStatus.CREATED}' AND expires_at > %(now)s AND expires_at_tick > %(heartbeat_tick)s))"""
# A plan is some kilobytes, packed: what is read of hundreds of them stands beside it.
_CHANGES_POSITIONS = "COALESCE(spends_in_short ? 'changes', bounds ? 'changes')"
# Of two that were started, the earlier is judged without the later one, and the later with the earlier: one passes.
# `lock_start` gives each of a golem a time of its own, in the order in which they are seen here. What was promised is
# under way until it ends. A preview also looks at what is open, which others may still start; a commit does not, for
# whoever starts later is judged with it. What ended in a block that is not judged yet is missing from what is measured.
# Each permit is found by its id alone: a plan that was made when the tables were young would read all of a golem's.
_BESIDE = f"""(SELECT jsonb_agg(jsonb_build_object('permit', permit.id, 'tool', tool_name, 'status', status,
                                   'venue', venue, 'position', params->>'position_id', 'bounds', bounds)
                        ORDER BY committing_at)::text
    FROM (SELECT DISTINCT unnest(ARRAY(
              SELECT id FROM {_PERMITS} WHERE golem_id = %(golem)s AND status IN ({list_states(UNFINISHED)})
              UNION ALL SELECT permit_id FROM {SignedPromise._meta.db_table}
                         WHERE golem_id = %(golem)s AND state = 'OPEN'
              UNION ALL SELECT id FROM {_PERMITS} WHERE %(excluded)s::uuid IS NULL AND golem_id = %(golem)s
                           AND {_IS_OPEN} AND {_CHANGES_POSITIONS}
              UNION ALL SELECT ended.id FROM (
                  SELECT DISTINCT permit_id FROM {_PAYLOADS}
                   WHERE chain_id = %(chain)s AND block_number > %(block)s AND block_number < {_NO_BLOCK}
              ) AS mined CROSS JOIN LATERAL (
                  SELECT id, status, finished_at FROM {_PERMITS} WHERE id = mined.permit_id OFFSET 0
              ) AS ended WHERE ended.status = '{PermitStatus.COMMITTED}' AND ended.finished_at > %(ended_start)s
          )) AS id) AS wanted
   CROSS JOIN LATERAL (SELECT * FROM {_PERMITS} WHERE {_PERMITS}.id = wanted.id OFFSET 0) AS permit
   WHERE permit.golem_id = %(golem)s AND permit.chain_id = %(chain)s AND NOT permit.is_local
     AND permit.halt_epoch IS NULL AND permit.id IS DISTINCT FROM %(excluded)s
     AND (permit.committing_at IS NULL OR permit.committing_at < COALESCE(
          (SELECT own.committing_at FROM {_PERMITS} AS own WHERE own.id = %(excluded)s), 'infinity')))"""  # noqa: S608
# An agent may have hundreds open. Of those that move no position only the sums of what they spend matter, so each of
# them costs a few microseconds here, and nothing of it is sent.
_OPEN_SPENDS = f"""(SELECT jsonb_agg(jsonb_build_array(token, raw::text, permits))::text
    FROM (SELECT flow->'token'->>'address' AS token, SUM((flow->>'expected')::numeric) AS raw,
                 (array_agg(id ORDER BY created_at))[:{NAMED_PERMITS}] AS permits
            FROM {_PERMITS}
           CROSS JOIN LATERAL jsonb_array_elements(
               CASE jsonb_typeof(spends_in_short) WHEN 'array' THEN spends_in_short ELSE bounds->'spends' END
           ) AS flow
           WHERE golem_id = %(golem)s AND chain_id = %(chain)s AND NOT is_local AND halt_epoch IS NULL
             AND %(excluded)s::uuid IS NULL AND {_IS_OPEN} AND NOT {_CHANGES_POSITIONS}
             AND flow->'token'->>'address' = ANY(%(spent)s)
           GROUP BY 1) AS by_token)"""  # noqa: S608
_POSITIONS = f"ARRAY({HINTS_SQL})"
_NOTHING = "NULL"


class RecordReader:
    """The records of one call, read at first use and kept for the hooks that follow."""

    def __init__(self, call: HookCall) -> None:
        self._call = call
        self.known: Records | None = None
        self.portfolio: Portfolio | None = None
        self.trade: TradeCost | None = None

    def read(self) -> Records:
        """The same value to every hook of one run."""
        if self.known is None:
            self.known = read_records(self._call)
        return self.known


def records_of(call: HookCall) -> Records:
    """What the run has read already, or a fresh look when a hook is asked alone."""
    return call.records.read() if call.records is not None else read_records(call)


def read_records(call: HookCall) -> Records:
    """Everything hooks 1 to 4 and 6 want of the database, in one round trip."""
    (row,) = _prepare_statement(_build_statement(call)).fetch(**_list_arguments(call))
    usage, rest = ledger.read_usage_columns(row[: ledger.USAGE_COLUMNS]), row[ledger.USAGE_COLUMNS :]
    costs, mark, rest = rest[:4], rest[4:10], rest[10:]
    (
        tools,
        hashes,
        called,
        alikes,
        statuses,
        times,
        is_tried,
        rebalances,
        predictions,
        known,
        beside,
        spent,
        positions,
    ) = rest
    others = tuple(_decode_under_way(each) for each in json.loads(beside or "[]"))
    return Records(
        usage=usage,
        costs=read_cost_columns(costs),
        mark=_read_mark(*mark) if mark[1] is not None else None,
        is_conservative=is_conservative(call.golem),
        earlier=tuple(map(PastCall, tools or (), hashes or (), map(read_moment, called or ()), alikes or ())),
        outcomes=_list_outcomes(statuses or (), map(read_moment, times or ())),
        is_venue_tried=bool(is_tried),
        rebalances=tuple(rebalances or ()),
        predictions=tuple(predictions or ()),
        known_code=dict(known or ()),
        under_way=tuple(each for each in others if each.is_started and not each.is_ended)
        if asks_under_way(call)
        else (),
        beside=others if may_lower(call.plan) else (),
        open_spends=tuple(
            OpenSpend(token, int(raw), tuple(permits)) for token, raw, permits in json.loads(spent or "[]")
        ),
        positions=parse_refs(positions or ()),
    )


def asks_rebalances(call: HookCall) -> bool:
    """Whether past rebalances are read for `call`."""
    return call.action_class is ActionClass.REBALANCE


def asks_predictions(call: HookCall) -> bool:
    """Whether past predictions are read for `call`."""
    return call.cage.is_action_gate_on and call.action_class is ActionClass.NEW_POSITION


def asks_under_way(call: HookCall) -> bool:
    """Whether what other permits are about to change of the holdings counts in the shares that `call` is judged by."""
    return call.plan is not None and call.action_class in RAISING


def asks_beside(call: HookCall) -> bool:
    """Whether what other permits may take or change is read for `call`."""
    return asks_under_way(call) or may_lower(call.plan)


def list_touched(plan: TxPlan) -> list[str]:
    """Every address whose code the plan relies on: tokens, contracts called, spenders, hooks of pools."""
    spenders = (allowance.spender for allowance in plan.allowances)
    hooks = (hook.address for hook in plan.hooks)
    return list(dict.fromkeys((*(token.address for token in plan.tokens), *list_contracts(plan), *spenders, *hooks)))


@cache
def _prepare_statement(sql: str) -> Prepared:
    return Prepared("read_records", sql)


def _build_statement(call: HookCall) -> str:
    has_plan = call.plan is not None
    columns = (
        "usage.*",
        "costs.*" if is_trade(call.plan) else f"0, 0, 0, {_NOTHING}",
        "mark.value_micro_usd, mark.reached_at, mark.violated_at, mark.violated_bps, mark.paused_until,"
        " mark.later::text",
        "past.tools, past.hashes, past.times, past.alikes",
        "venue.statuses, venue.times" if has_plan else f"{_NOTHING}, {_NOTHING}",
        _TRIED if has_plan else _NOTHING,
        _REBALANCES if asks_rebalances(call) else _NOTHING,
        _PREDICTIONS if asks_predictions(call) else _NOTHING,
        _KNOWN if has_plan else _NOTHING,
        _BESIDE if asks_beside(call) else _NOTHING,
        _OPEN_SPENDS if may_lower(call.plan) else _NOTHING,
        _POSITIONS if has_plan else _NOTHING,
    )
    costs = f"CROSS JOIN ({COSTS_SQL}) AS costs" if is_trade(call.plan) else ""
    joins = (f"({ledger.USAGE_SQL}) AS usage", costs, _MARK, _PAST, _VENUE if has_plan else "")
    return f"SELECT {', '.join(columns)} FROM {' '.join(joins)}"  # noqa: S608  (our own constants)


def _list_arguments(call: HookCall) -> dict[str, object]:
    now, plan = call.now, call.plan
    return {
        **ledger.usage_arguments(
            golem_id=call.golem.pk,
            api_key_id=call.api_key_id,
            heartbeat_tick=call.golem.heartbeat_tick,
            now=now,
            exclude_permit_id=call.own_permit_id,
        ),
        "now": now,
        "loop_start": now - LOOP_HORIZON,
        "loop_window": LOOP_WINDOW - 1,
        "venue": call.tool.venue,
        "pair": name_pair(plan) if plan is not None and is_trade(plan) else "",
        "chain": plan.chain_id if plan is not None else None,
        "breaker_start": now - BREAKER_HORIZON,
        "breaker_window": 10 * BREAKER_REQUESTS,
        "day_start": now - _DAY,
        "tolerance_bps": DIVERGENCE_TOLERANCE_BPS,
        "gate_window": GATE_WINDOW,
        "spent": [flow.token.address for flow in plan.spends] if plan is not None else [],
        "touched": list_touched(plan) if plan is not None else [],
        "account": call.view.address or "",
        "heartbeat_tick": call.golem.heartbeat_tick,
        "ended_start": now - _LATELY,
        # Pinned before anything else is read: what ended later is not in it.
        "block": call.chain.block.number if call.chain is not None and asks_beside(call) else 0,
    }


def _read_mark(
    value: int,
    reached_at: datetime,
    violated_at: datetime | None,
    violated_bps: int,
    paused_until: datetime | None,
    later: str,
) -> Mark:
    return Mark(value, reached_at, violated_at, violated_bps, paused_until, decode_later(json.loads(later)))


@dataclass(frozen=True, slots=True)
class _KeptBeside:
    """A permit under way as the query for the records gathers it."""

    tool: str
    status: str
    bounds: _BoundsBeside
    permit: str
    position: str | None = None
    venue: str | None = None


@dataclass(frozen=True, slots=True)
class _BoundsBeside:
    """What of its bounds moves money; `promise` is there for one that is signed and not sent."""

    spends: tuple[TokenFlow, ...] = ()
    receives: tuple[TokenFlow, ...] = ()
    changes: tuple[dict[str, object], ...] = ()
    promise: object = None


def _decode_under_way(told: Mapping[str, object]) -> UnderWay:
    kept = read_stored(_KeptBeside, told)
    name, status, spends = kept.tool, kept.status, kept.bounds.spends
    is_swap = name not in REGISTRY or REGISTRY.get(name).category in NO_POSITION
    return UnderWay(
        spends=spends,
        receives=kept.bounds.receives,
        enters=not is_swap and bool(spends),
        position_id=kept.position or "",
        permit_id=kept.permit,
        changes=decode_changes(kept.bounds.changes),
        protocol=kept.venue or "",
        is_started=status not in (PermitStatus.CREATED, *WAITING),
        is_ended=status == PermitStatus.COMMITTED and kept.bounds.promise is None,
        is_borrowing=name in REGISTRY and REGISTRY.get(name).risk_layer is RiskLayer.UNBOUNDED,
    )


def _list_outcomes(statuses: Iterable[str], times: Iterable[datetime]) -> tuple[VenueOutcome, ...]:
    return tuple(VenueOutcome(status == PermitStatus.COMMITTED, at) for status, at in zip(statuses, times, strict=True))
