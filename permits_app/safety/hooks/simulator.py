"""Hook 5: runs the calls exactly as they will be signed and holds them to every promise of the plan.

What it lets pass reverted nowhere, took no more than the plan's bounds, brought no less, left no larger allowance,
and moved no token the plan does not speak of. The golem's setting and the tier choose the engines; from ELEVATED on two
must agree. No engine, no answer: the call is refused. Emits policy:violation when engines disagree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from permits_app.custody.signing_route import Carrier, SigningRoute
from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.models.allowlist import AllowlistKind
from permits_app.safety.arrival_rules import judge_arrival
from permits_app.safety.balances_after_open_permits import judge_levels
from permits_app.safety.classify_action import classify_measured, list_deeper_debts
from permits_app.safety.final_simulation import Rehearsed, rehearse
from permits_app.safety.format_rule_figures import format_amount
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.health_between_calls import judge_steps
from permits_app.safety.hook import Allow, HookCall, Verdict
from permits_app.safety.hooks.policy_cage import judge_standing
from permits_app.safety.load_call_records import records_of
from permits_app.safety.measured_prices import judge_prices
from permits_app.safety.measured_shares import judge_measured_oracles, judge_measured_shares
from permits_app.safety.position_rules import (
    judge_changes,
    judge_gauges,
    judge_health,
    judge_heirs,
    list_claim_tokens,
    list_moved,
    price_on,
    refuse_unpriced,
)
from permits_app.safety.positions_to_simulate import ask_for_positions, run_asking
from permits_app.safety.principal_rules import judge_principals
from permits_app.safety.promise_rules import judge_promise
from permits_app.safety.rights_without_logs_rules import gauge_rights, judge_asked_rights
from permits_app.safety.risk_tier_of_call import classify_call, returns_to_golem
from tools_app.chain.chains import get_deployment
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.chain.node_errors import InsufficientFunds
from tools_app.chain.running_code import find_delegate
from tools_app.core import event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import InsufficientBalance
from tools_app.core.events import Event, EventType
from tools_app.core.units import format_units
from tools_app.portfolio.health import measure_health
from tools_app.simulation.differential import SimulationDisagrees
from tools_app.simulation.engine import ApprovalSeen, SimulationRequest, SimulationResult
from tools_app.simulation.pyevm.rules import runs_here
from tools_app.simulation.select import run_simulation
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_calls import read_given
from tools_app.standards.permit2_in_calldata import read_inner
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import LEAVING, ActionClass, EngineSetting, RiskLayer, RiskTier
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF, Trait
from tools_app.toolkit.views import NATIVE, TokenMeta

SIMULATION_BUDGET_MS = 8_000
"""What the code of an account begins with that runs another contract's; that contract's address follows."""
_ZERO_ADDRESS = "0x" + "0" * 40
_TOLD_BY_TWO = frozenset({Trait.LEVERAGE, Trait.POOLED})


class Simulator:
    """Runs the plan. Allow carries the simulation; a write without a transaction has none."""

    name = "simulator"

    def check(self, call: HookCall) -> Verdict:
        """Allow with the simulation and the gas it ran with, or Reject.

        Raises SimulationRecognised, PolicyChanged, SimulationUnavailable, SimulationTimeout, and SimulationDisagrees
        after its policy:violation event.
        """
        if call.plan is None:
            return Allow(note="no transaction")
        chain, account = call.chain, call.view.address
        if chain is None or account is None:
            return Reject(
                rule="simulator.chain",
                reason="there is no chain or no account to simulate with",
                observed="no chain or no account",
                limit="a chain that answers",
                would_pass="the same action once the golem has a wallet on a chain this server reaches",
            )
        if call.plan.promise is not None:
            run = partial(
                run_simulation,
                deadline=Deadline.after_ms(SIMULATION_BUDGET_MS),
                risk_tier=classify_call(call),
                setting=choose_setting(call),
            )
            refused = judge_signer(route=call.sent_by, chain=chain)
            refused = refused or judge_promise(call, call.plan, call.plan.promise, chain, run=run)
            return refused or Allow(note="nothing is sent: what is signed was read word by word")
        native = chain.native()
        if (delegated := judge_signer(route=call.sent_by, chain=chain)) is not None:
            return delegated
        try:
            request, rehearsed = rehearse_whole(call, call.plan, chain, risk_tier=classify_call(call))
        except InsufficientFunds:
            have = chain.native_balance(account)
            return _poor("simulator.value", have, sum(c.value for c in call.plan.calls), native, "the calls' value")
        except SimulationDisagrees as error:
            payload = {"hook": self.name, "rule": "simulator.engines_disagree", "tool_name": call.tool.name}
            event_bus.emit(
                golem_id=call.golem.pk,
                event=Event(EventType.POLICY_VIOLATION, {**payload, **error.as_event()}),
                now=call.now,
            )
            raise
        if rehearsed.refusal is not None:
            return rehearsed.refusal
        simulation = rehearsed.simulation
        refusal = judge_steps(
            call=call,
            request=request,
            run=partial(
                run_simulation,
                deadline=Deadline.after_ms(SIMULATION_BUDGET_MS),
                risk_tier=classify_call(call),
                setting=choose_setting(call),
            ),
        )
        if refusal is None and simulation.is_told_by_two:
            deadline = Deadline.after_ms(SIMULATION_BUDGET_MS)
            refusal = judge_prices(simulation=simulation, chain=chain, deadline=deadline)
        if refusal is not None:
            return refusal
        note = f"{simulation.gas_used} gas; {simulation.fidelity}"
        return Allow(note=note, simulation=simulation, gas=rehearsed.gas)


def rehearse_whole(
    call: HookCall, plan: TxPlan, chain: ChainReader, *, risk_tier: RiskTier
) -> tuple[SimulationRequest, Rehearsed[Reject]]:
    """All calls of the plan, run and judged; what lies between them is not looked at. Raises what `check` raises.

    `risk_tier` decides how many engines run them.
    """
    route = call.sent_by
    run_once = partial(
        run_simulation,
        deadline=Deadline.after_ms(SIMULATION_BUDGET_MS),
        risk_tier=risk_tier,
        setting=choose_setting(call),
    )
    hints = records_of(call).positions
    request = build_request(plan=plan, route=route, chain=chain, hints=hints)
    rehearsed = rehearse(
        request,
        route=route,
        chain=chain,
        calls=call.sent_calls,
        run=run_asking(run_once, chain=chain, account=route.account, hints=hints),
        judge=partial(judge_run, call),
        promised=call.promised,
    )
    return request, rehearsed


def judge_signer(*, route: SigningRoute, chain: ChainReader) -> Reject | None:
    """The signing account runs another contract's code (EIP-7702), which may then do anything with what it holds; or
    it does not run yet what its owners agreed to, and its nonce is about to be used for that.

    A smart account is a contract on purpose, and its key's own code means nothing to it. Raises the node errors.
    """
    if route.carrier is Carrier.OPERATION:
        return None
    runs = find_delegate(chain.code(route.signer))
    if (runs or "") == route.runs:
        return None
    if runs is None:
        return Reject(
            rule="simulator.account_code_awaited",
            reason=f"{route.signer} does not run the code of {route.runs} yet, which its owners gave it",
            observed="no code",
            limit=f"a delegation to {route.runs}",
            would_pass="the same action once the chain has the account's delegation, which this server sends by itself",
            data={"account": route.signer, "contract": route.runs},
        )
    return Reject(
        rule="simulator.account_delegated",
        reason=f"{route.signer} has delegated itself to the code of {runs}, which may do anything with what it holds",
        observed=f"a delegation to {runs}",
        limit="an account with no code of its own",
        would_pass="the same action once the account's delegation (EIP-7702) is withdrawn",
        data={"account": route.signer, "contract": runs},
    )


def choose_setting(call: HookCall) -> EngineSetting:
    """The golem's own; both engines for a token that nobody registered, whose code nobody here vouches for, and where
    something leaves a pool, or a protocol that knows debts, or covers none of them any more: what comes of it, and the
    health it leaves behind, is told by no node alone.
    """
    plan = call.plan
    if plan is not None:
        is_unknown = not all(token.is_registered or token.is_native for token in plan.tokens)
        if is_unknown or (_takes_out(plan) and runs_here(plan.chain_id)):
            return EngineSetting.BOTH
    return EngineSetting(call.golem.simulation_engine)


def _takes_out(plan: TxPlan) -> bool:
    # A change of nothing is what stays where it is and counts otherwise: no collateral any more.
    leaving = {change.protocol for change in plan.changes if change.expected <= 0}
    found = (SHELF.get(name) for name in leaving)
    return any(protocol is not None and protocol.traits & _TOLD_BY_TWO for protocol in found)


def judge_run(call: HookCall, simulation: SimulationResult, budget: GasBudget) -> Reject | None:
    """One run of the plan's calls against every promise of the plan, and what they may cost in gas."""
    plan, chain, route = call.plan, call.chain, call.sent_by
    if plan is None or chain is None:
        raise TypeError("only a plan on a chain is run")
    native = chain.native()
    return (
        judge_balances(plan=plan, simulation=simulation)
        or judge_reverts(calls=route.rehearse(plan.calls), simulation=simulation, route=route)
        or judge_flows(plan=plan, simulation=simulation, native=native)
        or judge_payees(plan=plan, simulation=simulation)
        or judge_principals(call, plan, simulation)
        or judge_allowances(plan=plan, simulation=simulation)
        or judge_surprises(plan=plan, simulation=simulation)
        or judge_changes(plan=plan, simulation=simulation, chain=chain)
        or judge_heirs(simulation=simulation, account=route.account)
        or judge_arrival(call, simulation, chain)
        or judge_gauges(plan=plan, simulation=simulation)
        or judge_asked_rights(plan=plan, simulation=simulation)
        or _judge_health(call, plan, simulation, chain)
        or _judge_class(call, simulation, chain)
        or _judge_layer(call, simulation)
        or _judge_shares(call, simulation, chain)
        or _judge_levels(call, plan, simulation, chain)
        or judge_questions(call=call, simulation=simulation)
        or judge_gas(plan=plan, simulation=simulation, native=native, budget=budget, payer=route.pays_gas)
    )


def _judge_health(call: HookCall, plan: TxPlan, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    try:
        return judge_health(
            plan=plan,
            simulation=simulation,
            floor_bps=call.cage.min_health_bps,
            value_of=price_on(chain),
            is_raising=call.action_class not in LEAVING,
        )
    except (PriceUnavailable, PriceStale) as error:
        return refuse_unpriced(
            error,
            rule="simulator.health_unknown",
            what="a debt stands behind the action and cannot be priced",
            limit="a fresh price of everything owed and of its cover",
        )


def _judge_class(call: HookCall, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    """What was measured is a stricter kind of action than the tool declares: one that only claims to leave is refused,
    any other is held to what its phase allows of what it really is.
    """
    measured = measure_action(call, simulation, chain)
    if measured is call.action_class:
        return None
    if call.action_class in LEAVING and measured not in LEAVING:
        return Reject(
            rule="simulator.class_laxer",
            reason=f"the action declares itself {call.action_class} and the simulation measured {measured}",
            observed=measured.value,
            limit=f"what the tool declares, {call.action_class}, or stricter",
            would_pass="an action that takes out no more than leaves every debt covered, all of it to the golem",
            error=SimulationFailed,
            data={"declared": call.action_class.value, "measured": measured.value},
        )
    return judge_standing(replace(call, action_class=measured))


def _judge_layer(call: HookCall, simulation: SimulationResult) -> Reject | None:
    """A debt grows under a tool whose layer knows no leverage: tier and owners were asked for less than it does."""
    if call.tool.risk_layer is RiskLayer.UNBOUNDED:
        return None
    deeper = list_deeper_debts(simulation.positions_before or (), simulation.positions_after or ())
    if not deeper:
        return None
    return Reject(
        rule="simulator.layer_laxer",
        reason=f"the simulation measured a larger debt in {deeper[0]}, and the tool declares itself without leverage",
        observed=f"a debt that grows in {deeper[0]}",
        limit=f"what a tool of risk layer {call.tool.risk_layer.value} may do",
        would_pass="an action that borrows nothing, or a tool that says that it does",
        error=SimulationFailed,
        data={"position": str(deeper[0]), "risk_layer": str(call.tool.risk_layer.value)},
    )


def _judge_shares(call: HookCall, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    try:
        return judge_measured_shares(call, simulation, chain) or judge_measured_oracles(call, simulation, chain)
    except (PriceUnavailable, PriceStale) as error:
        return refuse_unpriced(
            error,
            rule="simulator.share_unknown",
            what="more enters a position than the plan says, and cannot be priced",
            limit="a fresh price of everything that enters a position",
        )


def _judge_levels(call: HookCall, plan: TxPlan, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    records = records_of(call)
    try:
        return judge_levels(
            call,
            plan,
            simulation,
            beside=records.beside,
            open_spends=records.open_spends,
            value_of=price_on(chain),
            chain=chain,
        )
    except (PriceUnavailable, PriceStale) as error:
        return refuse_unpriced(
            error,
            rule="simulator.level_unknown",
            what="other permits take from a position with a debt, which cannot be priced",
            limit="a fresh price of everything owed and of its cover",
        )


def measure_action(call: HookCall, simulation: SimulationResult, chain: ChainReader) -> ActionClass:
    """By the positions that the plan speaks of: what else earned meanwhile makes no action of another kind."""
    if call.plan is None or not call.plan.changes:
        return call.action_class
    named = {(change.protocol, change.kind) for change in call.plan.changes}
    moved = [each for each in list_moved(simulation) if (each.ref.protocol, each.ref.kind) in named]
    value_of = price_on(chain)
    return classify_measured(
        declared=call.action_class,
        before=[each.before for each in moved if each.before is not None],
        after=[each.after for each in moved if each.after is not None],
        health_before={each.ref: measure_health(each.before, value_of) for each in moved},
        health_after={each.ref: measure_health(each.after, value_of) for each in moved},
        floor_bps=call.cage.min_health_bps,
        returns_to_golem=returns_to_golem(call),
    )


def judge_questions(*, call: HookCall, simulation: SimulationResult) -> Reject | None:
    """A contract nobody here vouches for asks what only mining decides, so no simulation can tell what it will do.

    At a venue whose outcomes were other than simulated no contract is vouched for. Getting out is never made harder.
    A run without the terms of a signature is not judged by this: fees are zero there.
    """
    if simulation.terms is None or (call.action_class in LEAVING and returns_to_golem(call)):
        return None
    vouched = _list_vouched(call) if call.is_venue_trusted else frozenset()
    for what, contract in simulation.undecided:
        if contract in vouched:
            continue
        return Reject(
            rule="simulator.undecided",
            reason=f"{contract} asks for the block's {what}, which only mining decides; what it does then is unknown",
            observed=f"{what} asked for by {contract}",
            limit="contracts that do as they are simulated",
            would_pass="the same action at contracts that the registry knows, or that the owner lists as contracts",
            data={"contract": contract, "asked": what},
        )
    return None


def _list_vouched(call: HookCall) -> frozenset[str]:
    if call.chain is None:
        return frozenset()
    known = {token.address for token in call.chain.registered_tokens()}
    allowed = {address for kind, address in call.allowlist if kind == AllowlistKind.CONTRACT}
    return frozenset({*known, *allowed, *get_deployment(call.chain.chain_id).contracts.values()})


def build_request(
    *, plan: TxPlan, route: SigningRoute, chain: ChainReader, hints: Sequence[PositionRef] = ()
) -> SimulationRequest:
    """What is sent for the plan, watching the account's coin, the plan's tokens and allowances, whom it pays, and what
    it moves of others' money.

    Where the signer acts for another account, its own coin, which pays the gas, is watched too. While the owners of a
    Safe are asked there is nothing to send yet: then the Safe itself makes the plan's calls, one after the other.
    """
    tokens = dict.fromkeys([NATIVE, *(token.address for token in plan.tokens)])
    account = route.account
    others = [(who, token) for who, own in plan.list_others() for token in (own, NATIVE)]
    watch = tuple(dict.fromkeys([*((account, token) for token in tokens), *plan.list_payees(account), *others]))
    return SimulationRequest(
        chain_id=plan.chain_id,
        sender=route.runs_as,
        acts_for=None if route.waits_for_owners else route.acts_for or None,
        calls=route.rehearse(plan.calls),
        watch=(*watch, (route.signer, NATIVE)) if route.signer != account else watch,
        allowances=tuple(
            dict.fromkeys(
                (a.token.address, account, a.spender)
                for a in plan.allowances
                if not a.token.is_native and not a.through
            )
        ),
        positions=ask_for_positions(plan=plan, chain=chain, account=account, hints=hints),
        gauges=(*(promise.gauge for promise in plan.gauges), *gauge_rights(plan=plan, account=account)),
        block=chain.block,
    )


def judge_balances(*, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """The golem holds less than the plan expects to spend; said before a revert that only follows from it."""
    needed: dict[str, int] = defaultdict(int)
    tokens: dict[str, TokenMeta] = {}
    for flow in plan.spends:
        needed[flow.token.address] += flow.expected
        tokens[flow.token.address] = flow.token
    for address, need in needed.items():
        have = simulation.balances_before[simulation.account, address]
        if have < need:
            return _poor("simulator.balance", have, need, tokens[address], "this action")
    return None


def judge_reverts(
    *, calls: Sequence[Call], simulation: SimulationResult, route: SigningRoute | None = None
) -> Reject | None:
    """A call reverts. `calls` are those that were simulated."""
    if len(simulation.calls) != len(calls) or not calls:
        return Reject(
            rule="simulator.calls",
            reason="the engine did not run exactly the plan's calls",
            observed=f"{len(simulation.calls)} calls",
            limit=f"{len(calls)} calls",
            would_pass="a plan that is run whole",
            error=SimulationFailed,
        )
    for index, outcome in enumerate(simulation.calls):
        if not outcome.succeeded:
            told = route.explain(outcome) if route is not None else outcome.revert_reason
            label, reason = calls[index].label, told or "no reason given"
            return Reject(
                rule="simulator.reverted",
                reason=f"call {index + 1} of {len(calls)} ({label}) would revert: {reason}",
                observed=reason,
                limit="no call reverts",
                would_pass="calls that succeed at this block: other parameters, or the same ones later",
                error=SimulationFailed,
                data={"call_index": index, "label": label, "revert_reason": reason},
            )
    return None


def judge_flows(*, plan: TxPlan, simulation: SimulationResult, native: TokenMeta) -> Reject | None:
    """More leaves, or less arrives, than the plan's bounds say; a token without a bound may not leave at all."""
    spends = _sum_bounds((flow.token.address, flow.bound) for flow in plan.spends)
    receives = _sum_bounds((flow.token.address, flow.bound) for flow in plan.receives)
    tokens = {native.address: native, **{token.address: token for token in plan.tokens}}
    # What stands for a position is told by its change, and is in the plan only for what it approves.
    claims = list_claim_tokens(simulation)
    for address, token in tokens.items():
        if address in claims:
            continue
        delta = simulation.delta_of(simulation.account, address)
        worst = receives.get(address, 0) - spends.get(address, 0)
        if delta >= worst:
            continue
        if delta < 0:
            rule, words = "simulator.spends_too_much", f"would take {format_amount(-delta, token)}"
        else:
            rule, words = "simulator.receives_too_little", f"would bring {format_amount(delta, token)}"
        promise = f"at least {format_amount(worst, token)}" if worst > 0 else f"at most {format_amount(-worst, token)}"
        return Reject(
            rule=rule,
            reason=f"the action {words}; the plan promises {promise}",
            observed=format_amount(abs(delta), token),
            limit=promise,
            would_pass=f"calls that keep the promise of {promise}",
            error=SimulationFailed,
            data={"token": address},
        )
    return None


def judge_payees(*, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """Whom the plan pays gets less than it spends, of a token that is not known to keep a fee."""
    tokens = {token.address: token for token in plan.tokens}
    for recipient, address in plan.list_payees(simulation.account):
        token = tokens[address]
        owed = sum(flow.expected for flow in plan.spends if flow.token.address == address)
        arrives = simulation.delta_of(recipient, address)
        if arrives >= owed or (token.has_transfer_fee and arrives > 0):
            continue
        return Reject(
            rule="simulator.payee_gets_less",
            reason=f"{recipient} would get {format_amount(arrives, token)} of {format_amount(owed, token)}",
            observed=format_amount(arrives, token),
            limit=f"at least {format_amount(owed, token)}",
            would_pass="a token that delivers what it takes",
            error=SimulationFailed,
            data={"token": address, "recipient": recipient},
        )
    return None


def judge_allowances(*, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """An allowance is left larger than the plan says."""
    for allowance in plan.allowances:
        # What another contract keeps is asked of that contract (`judge_asked_rights`).
        if allowance.token.is_native or allowance.through:
            continue
        key = (allowance.token.address, simulation.account, allowance.spender)
        left = simulation.allowances_after[key]
        if left > allowance.left:
            return Reject(
                rule="simulator.allowance_left",
                reason=(
                    f"{allowance.spender} could still take {format_amount(left, allowance.token)} afterwards;"
                    f" the plan promises {format_amount(allowance.left, allowance.token)}"
                ),
                observed=format_amount(left, allowance.token),
                limit=format_amount(allowance.left, allowance.token),
                would_pass=f"an allowance of at most {format_amount(allowance.left, allowance.token)} afterwards",
                error=SimulationFailed,
                data={"token": allowance.token.address, "spender": allowance.spender},
            )
    return None


def judge_surprises(*, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """A token moves, or a right is given away, of which the plan says nothing.

    Four things are let through: an NFT that a contract of the plan mints to the golem, such as a liquidity position,
    one that the plan hands over by name or has come back by name, so many of a number as it names, and tokens that
    stand for a position which was measured itself.
    """
    claims, account = list_claim_tokens(simulation), simulation.account
    handed_over = {(account, each.contract, each.token_id, each.recipient) for each in plan.items}
    came_back = {(each.contract, each.token_id) for each in plan.items if each.recipient == account}
    came_back |= {(each.contract, each.token_id) for each in plan.amounts if each.recipient == account}
    may_leave = Counter[tuple[str, str, int | None, str]]()
    for amount in plan.amounts:
        may_leave[account, amount.contract, amount.token_id, amount.recipient] += amount.raw
    for seen in simulation.unexpected_transfers:
        if seen.token in claims:
            continue
        is_mint = seen.token_id is not None and seen.sender == _ZERO_ADDRESS and seen.token in plan.contracts
        if is_mint and seen.recipient == simulation.account:
            continue
        way = (seen.sender, seen.token, seen.token_id, seen.recipient)
        if way in handed_over:
            continue
        if 0 < seen.amount <= may_leave[way]:
            # How many both sides have of it then is measured beside (`tools_app/standards/erc1155_erc6909_amounts.py`).
            may_leave[way] -= seen.amount
            continue
        if seen.recipient == account and (seen.token, seen.token_id) in came_back:
            continue
        direction = "leave" if seen.sender == simulation.account else "arrive"
        what = f"NFT {seen.token_id}" if seen.token_id is not None else f"{seen.amount} base units"
        return Reject(
            rule=f"simulator.unexpected_{direction}",
            reason=f"{what} of {seen.token} would {direction}, and the plan does not speak of that token",
            observed=f"{what} of {seen.token}",
            limit="only tokens the plan speaks of",
            would_pass="a plan that names every token it moves",
            error=SimulationFailed,
            data={"token": seen.token, "call_index": seen.call_index},
        )
    for given in find_undeclared(plan=plan, simulation=simulation):
        return Reject(
            rule="simulator.unexpected_approval",
            reason=f"{given.spender} would be allowed to take {given.token}, and the plan does not say so",
            observed="everything" if given.amount < 0 else f"{given.amount} base units of {given.token}",
            limit="only allowances the plan speaks of",
            would_pass="a plan that names every allowance it leaves",
            error=SimulationFailed,
            data={"token": given.token, "spender": given.spender, "call_index": given.call_index},
        )
    return None


def find_undeclared(*, plan: TxPlan, simulation: SimulationResult) -> list[ApprovalSeen]:
    """The rights that were seen and that the plan does not say."""
    kept = list_kept_elsewhere(plan)
    return [
        given
        for given in simulation.unexpected_approvals
        if not 0 <= given.amount <= kept.get((given.contract, given.token, given.spender), -1)
    ]


def list_kept_elsewhere(plan: TxPlan) -> dict[tuple[str, str, str], int]:
    """Base units by keeper, token and spender of what the plan says Permit2 keeps for a while.

    Only what a call of the plan itself gives there, or hands in as the account signed it: what is left of exactly that
    is asked for after the calls. A permit that anybody else hands in is none.
    """
    given = {(each.token, each.spender) for call in plan.calls for each in read_given(call)}
    signed = (each for call in plan.calls for each in read_inner(plan.chain_id, call))
    given |= {(each.token, permit.spender) for permit in signed for each in permit.gives}
    return {
        (each.through, each.token.address, each.spender): each.granted
        for each in plan.allowances
        if each.through == PERMIT2 and (each.token.address, each.spender) in given
    }


def judge_gas(
    *, plan: TxPlan, simulation: SimulationResult, native: TokenMeta, budget: GasBudget, payer: str
) -> Reject | None:
    """The coin does not cover the calls' value and the whole gas budget at its worst; a signer of another account's
    funds, `payer`, pays the gas from its own, and a paymaster ("") from what is none of the golem's.
    """
    if (too_large := _judge_block(simulation=simulation, budget=budget)) is not None:
        return too_large
    gas = format_units(budget.wei, native.decimals, native.symbol)
    value = sum(call.value for call in plan.calls)
    if payer and payer != simulation.account:
        own = simulation.balances_before[payer, NATIVE]
        if own < budget.wei:
            purpose = f"up to {gas} of gas, which the signing key {payer} pays from its own coins,"
            return _poor("simulator.gas", own, budget.wei, native, purpose)
        have, need = simulation.balances_before[simulation.account, NATIVE], value
    else:
        have = simulation.balances_before[simulation.account, NATIVE]
        need = value + budget.wei if payer else value
    if have >= need:
        return None
    return _poor("simulator.gas", have, need, native, f"the calls' value and up to {gas} of gas")


def _judge_block(*, simulation: SimulationResult, budget: GasBudget) -> Reject | None:
    """A gas limit that no block holds: the node would refuse the signed bytes for ever."""
    most = simulation.block.gas_limit
    for index, limit in enumerate(budget.limits):
        if most and limit > most:
            return Reject(
                rule="simulator.gas_limit",
                reason=f"transaction {index + 1} would be signed with {limit} gas; a block holds {most}",
                observed=f"{limit} gas",
                limit=f"{most} gas",
                would_pass="an action that needs less gas, or the same one in parts",
                error=SimulationFailed,
                data={"call_index": index},
            )
    return None


def _sum_bounds(flows: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for address, bound in flows:
        sums[address] += bound
    return sums


def _poor(rule: str, have: int, need: int, token: TokenMeta, purpose: str) -> Reject:
    return Reject(
        rule=rule,
        reason=(
            f"the golem holds {format_units(have, token.decimals, token.symbol)};"
            f" {purpose} needs {format_units(need, token.decimals, token.symbol)}"
        ),
        observed=format_amount(need, token),
        limit=format_amount(have, token),
        remaining=format_amount(have, token),
        would_pass=f"at most what is held, or after {format_amount(need - have, token)} more arrive",
        error=InsufficientBalance,
        data={"token": token.address, "have": str(have), "need": str(need)},
    )
