"""preview_action: from an agent's wish to a permit bound to a simulation of the exact bytes.

Reads the chain and simulates with no transaction open; then one short transaction locks the limits row,
reserves the worst case and opens the permit. Emits permit:created; appends PermitCreated.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from archetypes_app.errors import GolemHalted
from archetypes_app.toolset import add_rescue_tools, resolve_toolset
from permits_app.actions.find_equal_action import find_equal_action
from permits_app.actions.open_permit import open_permit
from permits_app.actions.preview_module_wish import preview_module_wish
from permits_app.errors import RateLimited, RightLimitExceeded, RightNotReceived, SpendingLimitExceeded
from permits_app.limits.policy import load_for_decision, read_policy
from permits_app.permits.equal_actions import hash_meant
from permits_app.permits.market_defaults import MarketDefaults, choose_defaults
from permits_app.permits.selectors import view_permit
from permits_app.previews.approval_wait import list_missing
from permits_app.previews.judged_call import judge
from permits_app.previews.request_words import read_why
from permits_app.previews.requested_tool import resolve_asked
from permits_app.previews.stopwatch import Stopwatch
from permits_app.safety.run_preview_hooks import keep_denial
from tools_app.core import event_bus
from tools_app.core.json_types import JsonObject


def preview_action(
    *,
    golem_id: UUID,
    api_key_id: UUID | None,
    body: Mapping[str, object],
    now: datetime,
    actor: str = "system:runtime",
    is_rescue: bool = False,
) -> JsonObject:
    """Judge one action and permit it: the permit, as agents see it.

    `body` has `action_type`, `venue`, `why`, and the action's parameters.

    With `is_rescue`, the health tripwire's own, tools that lower a debt are there whatever the profiles hold.
    Raises GolemHalted, UnknownAction, InvalidParams, a handler's error, PolicyRejected, SimulationFailed,
    ReviewVetoed, TooManyChanges, SameActionPending, SchemaRetired.
    """
    with event_bus.holding(golem_id=golem_id, now=now):
        return _preview(golem_id, api_key_id, body, now, actor, is_rescue)


def _preview(
    golem_id: UUID, api_key_id: UUID | None, body: Mapping[str, object], now: datetime, actor: str, is_rescue: bool
) -> dict[str, object]:
    watch = Stopwatch()
    golem, addresses = load_for_decision(golem_id)
    if golem.is_halted:
        raise GolemHalted("this golem is halted; only its owner can resume it", reason=golem.halt_reason)
    toolset, why = resolve_toolset(golem), read_why(body)
    body, wished_by = preview_module_wish(golem_id=golem.pk, body=body, toolset=toolset, now=now)
    asked = resolve_asked(body=body, toolset=add_rescue_tools(golem, toolset) if is_rescue else toolset, now=now)
    action_hash = hash_meant(golem=golem, tool=asked.tool, params=asked.params)
    waiting, regime = find_equal_action(golem=golem, action_hash=action_hash, now=now)
    if waiting is not None:
        return {**view_permit(waiting), "timings_ms": watch.laps}
    policy = read_policy(golem=golem, toolset=toolset, addresses=addresses)
    watch.lap("toolset and policy")
    # What a debt in danger asks for is judged and sent as the rules wrote it, whatever the market does.
    market = MarketDefaults()
    if not is_rescue:
        market = choose_defaults(
            golem=golem,
            tool=asked.tool,
            params=asked.params,
            given=asked.given,
            seen=regime,
            most_slippage_bps=policy.limits.max_slippage_bps,
            now=now,
        )
    judged = judge(
        golem=golem,
        toolset=toolset,
        policy=policy,
        asked=asked,
        market=market,
        action_hash=action_hash,
        api_key_id=api_key_id,
        now=now,
        watch=watch,
    )
    try:
        permit = open_permit(
            golem=golem,
            policy=policy,
            judged=judged,
            action_hash=action_hash,
            api_key_id=api_key_id,
            actor=actor,
            now=now,
            why=why,
            wished_by=wished_by,
        )
    except (RateLimited, SpendingLimitExceeded, RightNotReceived, RightLimitExceeded) as error:
        # Only the reservation counts the gas, and what others reserved meanwhile.
        keep_denial(judged.call, error, facts=judged.report.facts)
        raise
    watch.lap("reserve and open the permit")
    return {**view_permit(permit), "missing": list_missing(permit), "timings_ms": watch.laps}
