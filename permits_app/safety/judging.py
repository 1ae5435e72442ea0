"""The hooks of a preview, with what they refuse kept beside the audit log's line for a later back-test."""

from __future__ import annotations

from permits_app.models import DeniedCall
from permits_app.plan_store import encode_bounds, encode_calls
from permits_app.safety import hook_chain
from permits_app.safety.hook import HookCall
from permits_app.safety.hook_chain import HookReport
from permits_app.safety.hooks.spending_limiter import counts_per_day
from tools_app.core.errors import GolemError


def judge_call(call: HookCall, *, may_modify: bool = True) -> HookReport:
    """`hook_chain.run`; a refused plan is stored as a DeniedCall. Raises what the hooks raise."""
    try:
        return hook_chain.run(call, may_modify=may_modify)
    except GolemError as error:
        keep_denial(call, error)
        raise


def keep_denial(call: HookCall, error: GolemError) -> DeniedCall | None:
    """Store a refused plan; a local write has none. A failure of ours (5xx) is no denial."""
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
        value_micro_usd=call.value.total_micro_usd,
        counts_per_day=counts_per_day(call),
        code=error.code,
        rule=str(error.data.get("rule", "")),
        detail=error.detail[:500],
    )
