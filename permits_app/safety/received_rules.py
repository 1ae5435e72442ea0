"""Hook 1's part for others' money: every right a plan uses is in the golem's book, stands, and has so much left.

The book is asked and the contract is asked, at a preview and again at the commit, so that a right that its principal
withdrew in between signs nothing. Decision 0450.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime

from permits_app.errors import RightEnded, RightLimitExceeded, RightNotReceived, RightWithdrawn
from permits_app.hook_rejection import Reject
from permits_app.limits.received_rights import find_right, read_limit, sum_uses, view_right
from permits_app.models import ReceivedRight
from permits_app.models.received_right import RightState
from permits_app.safety.format_rule_figures import format_amount
from permits_app.safety.hook import HookCall
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.others_money import PrincipalFlow, RightLimit, RightStanding
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import TokenMeta


def judge_received(call: HookCall) -> Reject | None:
    """The first flow of others' money that no right of the golem covers. Raises what the chain raises."""
    plan, chain = call.plan, call.chain
    if plan is None or chain is None or not plan.principals:
        return None
    asked: dict[tuple[str, str, str], int] = defaultdict(int)
    for flow in plan.principals:
        key = (flow.protocol, flow.reference, flow.token.address)
        asked[key] += flow.most
        refused = _judge_flow(call, plan, flow, asked[key], chain)
        if refused is not None:
            return refused
    return None


def _judge_flow(call: HookCall, plan: TxPlan, flow: PrincipalFlow, most: int, chain: ChainReader) -> Reject | None:
    row = find_right(golem_id=call.golem.pk, chain_id=plan.chain_id, flow=flow)
    protocol = SHELF.get(flow.protocol)
    if row is None or protocol is None or protocol.received is None or not _is_as_said(row, flow, call):
        return Reject(
            rule="policy_cage.right_not_received",
            reason=f"the plan moves money of {flow.principal} under a right that this golem did not receive so",
            observed=flow.reference,
            limit="a right in the golem's book, held by its own account, with the limits it was given with",
            would_pass="the same action once its principal gives the golem that right",
            error=RightNotReceived,
            data={"reference": flow.reference, "principal": flow.principal},
        )
    if row.state != RightState.STANDING:
        return _gone(flow, row.state_reason or row.get_state_display())
    limit, at = flow.limit, max(int(call.now.timestamp()), chain.block.timestamp)
    if not limit.starts_at <= at < limit.ends_at:
        return _out_of_time(flow, limit, at)
    view = view_right(row)
    try:
        standing = protocol.received.judge(view, chain.call_many(protocol.received.ask(view)))
    except PositionsUnreadable as error:
        return _gone(flow, f"its contract does not tell whether it stands: {error}")
    if not standing.stands:
        return _gone(flow, standing.reason)
    return _judge_amount(call, row, flow, most, standing, at)


def _is_as_said(row: ReceivedRight, flow: PrincipalFlow, call: HookCall) -> bool:
    is_own = row.holder == call.view.address and row.principal == flow.principal
    return is_own and read_limit(row) == flow.limit and flow.most > 0


def _judge_amount(
    call: HookCall, row: ReceivedRight, flow: PrincipalFlow, most: int, standing: RightStanding, at: int
) -> Reject | None:
    used = sum_uses(row, now=datetime.fromtimestamp(at, UTC), exclude_permit_id=call.own_permit_id)
    # The contract knows what was mined, the book also what is open.
    left = max(0, min(flow.limit.most - used.total, standing.available - used.held))
    if most <= left:
        return None
    resets = _find_reset(flow.limit, at)
    return Reject(
        rule="policy_cage.right_limit",
        reason=f"{format_amount(most, flow.token)} of {flow.principal} would be moved; the right has"
        f" {format_amount(left, flow.token)} left in this period",
        observed=format_amount(most, flow.token),
        limit=_say_limit(flow.limit, flow.token),
        remaining=format_amount(left, flow.token),
        resets_at=resets,
        would_pass=f"at most {format_amount(left, flow.token)}"
        if left
        else f"nothing before {resets or 'another right'}",
        error=RightLimitExceeded,
        data={"reference": flow.reference, "remaining_raw": str(left)},
    )


def _find_reset(limit: RightLimit, at: int) -> str:
    if not limit.period_seconds:
        return ""
    following = limit.find_period(at) + limit.period_seconds
    return datetime.fromtimestamp(following, UTC).isoformat() if following < limit.ends_at else ""


def _say_limit(limit: RightLimit, token: TokenMeta) -> str:
    amount = format_amount(limit.most, token)
    return f"{amount} in each {limit.period_seconds} s" if limit.period_seconds else f"{amount} in all"


def _gone(flow: PrincipalFlow, why: str) -> Reject:
    return Reject(
        rule="policy_cage.right_withdrawn",
        reason=f"the right over money of {flow.principal} does not stand any more: {why}",
        observed=why,
        limit="a right that its contract still honours",
        would_pass="the same action under another right, or once its principal gives a new one",
        error=RightWithdrawn,
        data={"reference": flow.reference, "principal": flow.principal},
    )


def _out_of_time(flow: PrincipalFlow, limit: RightLimit, at: int) -> Reject:
    starts, ends = (datetime.fromtimestamp(each, UTC).isoformat() for each in (limit.starts_at, limit.ends_at))
    return Reject(
        rule="policy_cage.right_ended",
        reason=f"the right over money of {flow.principal} holds from {starts} to {ends}",
        observed=datetime.fromtimestamp(at, UTC).isoformat(),
        limit=f"from {starts}, and before {ends}",
        would_pass="the same action under a right that holds now",
        error=RightEnded,
        data={"reference": flow.reference, "starts_at": starts, "ends_at": ends},
    )
