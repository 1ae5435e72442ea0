"""What a plan has arrive on another chain of the golem: whose it is, where, and whether it is worth what was sent.

Nothing of it can be simulated on the chain that sends, so it is judged by what the plan says of it; the guardian reads
the same from the bytes. Part of hook 1. Decision 0447.
"""

from __future__ import annotations

from typing import Final

from archetypes_app.models import Golem
from permits_app.hook_rejection import Reject
from permits_app.models import AllowlistEntry, PendingRequest
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.pending_request import RequestState
from permits_app.models.spending import AllowlistMode
from permits_app.permits.other_chain_holdings import READ_BUDGET_MS, ChainNotCounted, name_chain
from permits_app.safety.assets import find_protocol
from permits_app.safety.format_rule_figures import format_bps
from permits_app.safety.holding_rules import judge_failures
from permits_app.safety.hook import HookCall
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import BPS, format_micro_usd
from tools_app.portfolio.holdings import PriceBook
from tools_app.portfolio.issuer_and_bridge_risk import DependenceKind, Failure, depends_of_protocol
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.golem_chains import ChainNotAllowed, list_chains
from tools_app.toolkit.plan import Arrival

LONGEST_SECONDS: Final = 86_400
"""So long something may be on its way before nobody may deliver it any more."""


def judge_crossing(call: HookCall) -> Reject | None:
    """Everything arrives with the golem, on a chain of its own, as a token it may hold, in time and for its worth."""
    if call.plan is None or not call.plan.arrivals or call.chain is None:
        return None
    if refusal := _judge_stuck(call):
        return refusal
    for arrival in call.plan.arrivals:
        if refusal := _judge_place(call, arrival):
            return refusal
    return _judge_worth(call, call.chain, call.plan.arrivals)


def _judge_stuck(call: HookCall) -> Reject | None:
    """Nothing more goes over a bridge that did not deliver what is under way, also once that counts no more."""
    assert call.plan is not None
    protocol = find_protocol(call.plan)
    stuck = PendingRequest.objects.filter(golem=call.golem, protocol=protocol, state=RequestState.STUCK)
    late = stuck.order_by("created_at").values_list("ref", "last_error").first()
    if late is None:
        return None
    ref, words = late
    failures = [
        Failure(each, f"{ref} is not there: {words}")
        for each in sorted(depends_of_protocol(protocol))
        if each.kind is DependenceKind.BRIDGE
    ]
    return judge_failures(failures=failures, entered=frozenset(each.dependence for each in failures))


def _judge_place(call: HookCall, arrival: Arrival) -> Reject | None:
    where = name_chain(arrival.chain_id)
    if arrival.chain_id not in list_chains(call.view) or arrival.chain_id == _sent_on(call):
        return Reject(
            rule="policy_cage.arrival_chain",
            reason=f"what is sent would arrive on {where}, which is none of the golem's other chains",
            observed=where,
            limit=", ".join(map(name_chain, list_chains(call.view))),
            would_pass="the same action to one of the golem's chains, or once its owner allows this one on its page",
            error=ChainNotAllowed,
            data={"recovery": Recovery.ASK_OWNER, "chain_id": arrival.chain_id},
        )
    if arrival.recipient != call.view.address:
        return Reject(
            rule="policy_cage.arrival_recipient",
            reason=f"what arrives on {where} would go to {arrival.recipient}, which is not the golem",
            observed=arrival.recipient,
            limit=call.view.address or "the golem",
            would_pass="the same action to the golem's own address",
        )
    left = arrival.by - int(call.now.timestamp())
    if not 0 < left <= LONGEST_SECONDS:
        return Reject(
            rule="policy_cage.arrival_time",
            reason=f"it may arrive for {left} s from now on, and that is no time in which it can be followed",
            observed=f"{left} s",
            limit=f"1 to {LONGEST_SECONDS} s",
            would_pass="the same action with a time within a day",
        )
    if call.limits.allowlist_mode == AllowlistMode.STRICT and not _may_hold(call.golem, arrival):
        return Reject(
            rule="policy_cage.arrival_asset",
            reason=f"{arrival.token} on {where} is not on the golem's list of tokens",
            observed=arrival.token,
            limit="a token of the golem's list on that chain",
            would_pass="the same action once its owner allows the token there",
            data={"recovery": Recovery.ASK_OWNER},
        )
    return None


def _sent_on(call: HookCall) -> int | None:
    return call.plan.chain_id if call.plan is not None else None


def _may_hold(golem: Golem, arrival: Arrival) -> bool:
    entries = AllowlistEntry.objects.filter(golem=golem, chain_id=arrival.chain_id, kind=AllowlistKind.TOKEN)
    return entries.filter(address=arrival.token).exists()


def _judge_worth(call: HookCall, chain: ChainReader, arrivals: tuple[Arrival, ...]) -> Reject | None:
    """What arrives at the least is worth what leaves at the most, less what an exchange may lose."""
    assert call.plan is not None
    try:
        sent = PriceBook(chain)
        for flow in call.plan.spends:
            sent.learn(flow.token)
        left = sum(sent.value_of(flow.token.address, flow.bound) for flow in call.plan.spends)
        arrived = 0
        for each in arrivals:
            there = runner.open_reader(each.chain_id, now=call.now, deadline=Deadline.after_ms(READ_BUDGET_MS))
            arrived += PriceBook(there).value_of(each.token, each.raw)
    except GolemError as error:
        return Reject(
            rule="policy_cage.arrival_unknown",
            reason=f"what arrives cannot be weighed: {error.detail}",
            observed=error.code,
            limit="a price of what leaves and of what arrives, each on its chain",
            would_pass="the same action once both chains answer and price it",
            error=ChainNotCounted,
            data={"recovery": Recovery.WAIT, "cause": error.code},
        )
    most = call.limits.max_slippage_bps + call.limits.max_price_impact_bps
    if arrived * BPS >= left * (BPS - most):
        return None
    return Reject(
        rule="policy_cage.arrival_worth",
        reason=f"{format_micro_usd(left)} would be sent, and only {format_micro_usd(arrived)} arrives at the least",
        observed=format_bps((left - arrived) * BPS // left),
        limit=format_bps(most),
        remaining=format_bps(most),
        would_pass=f"the same action with at least {format_micro_usd(left * (BPS - most) // BPS)} arriving",
    )
