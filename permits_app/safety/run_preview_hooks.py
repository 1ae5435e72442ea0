"""The hooks of a preview, with what they refuse kept beside the audit log's line for a later back-test."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from permits_app.models import DeniedCall
from permits_app.permits.plan_store import encode_bounds, encode_calls
from permits_app.safety import hook_chain
from permits_app.safety.assets import RAISING
from permits_app.safety.hook import HookCall
from permits_app.safety.hook_chain import HookReport
from permits_app.safety.hook_inputs_json import encode_facts
from permits_app.safety.hooks.policy_cage import measure_portfolio
from permits_app.safety.hooks.spending_limiter import counts_per_day
from permits_app.safety.load_call_records import RecordReader
from tools_app.core.errors import GolemError

_MOST_MICRO_USD = 2**63 - 1
"""What the column holds; a refused plan may ask for more than there is."""


def judge_call(call: HookCall, *, may_modify: bool = True) -> HookReport:
    """`hook_chain.run`; a refused plan is stored as a DeniedCall. Raises what the hooks raise."""
    call = replace(call, records=RecordReader(call))
    try:
        return hook_chain.run(call, may_modify=may_modify)
    except GolemError as error:
        if error.http_status < 500:
            _measure_late(call)
            keep_denial(call, error, facts=encode_facts(call))
        raise


def keep_denial(call: HookCall, error: GolemError, *, facts: Mapping[str, object]) -> DeniedCall | None:
    """Store a refused plan with the facts it was judged on; a local write has none. Our failures are no denials."""
    if call.plan is None or error.http_status >= 500:
        return None
    return DeniedCall.objects.create(
        golem=call.golem,
        api_key_id=call.api_key_id,
        denied_at=call.now,
        tool_name=call.tool.name,
        action_type=call.tool.key,
        venue=call.tool.venue,
        chain_id=call.plan.chain_id,
        action_class=call.action_class.value,
        signer=call.view.address or "",
        calls=encode_calls(call.plan.calls, [0] * len(call.plan.calls)),
        bounds=encode_bounds(call.plan),
        value_micro_usd=min(call.value.total_micro_usd, _MOST_MICRO_USD),
        counts_per_day=counts_per_day(call),
        code=error.code,
        rule=str(error.data.get("rule", "")),
        detail=error.detail[:500],
        facts=dict(facts),
    )


def _measure_late(call: HookCall) -> None:
    """Read the holdings that a refusal came before: whether another policy had allowed the call depends on them."""
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None or chain is None or account is None or call.records is None:
        return
    if call.records.known is None or call.records.portfolio is not None or call.action_class not in RAISING:
        return
    # Without them the denial is still kept, and a back-test says that it cannot judge it.
    with suppress(GolemError):
        call.records.portfolio = measure_portfolio(call, plan, chain, account)
