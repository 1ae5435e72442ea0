"""Hook 5: runs the exact calls on the chain's engine and holds them to every promise of the plan.

What it lets pass reverted nowhere, took no more than the plan's bounds, brought no less, left no larger allowance,
and moved no token the plan does not speak of. The golem's setting and the tier choose the engines; from ELEVATED on two
must agree. No engine, no answer: the call is refused. Emits policy:violation when engines disagree.
Seed: 002, "RevmSimulator"; decisions, "Safety hooks" (hook 5 is the simulation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from permits_app.errors import SimulationFailed
from permits_app.safety.figures import format_amount
from permits_app.safety.gas_budget import GasBudget, budget_gas
from permits_app.safety.hook import Allow, HookCall, Reject, Verdict
from permits_app.safety.tiers import classify_call
from permits_app.signing_route import SigningRoute
from tools_app.chain.node_errors import InsufficientFunds
from tools_app.core import event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import InsufficientBalance
from tools_app.core.events import Event, EventType
from tools_app.core.units import format_units
from tools_app.simulation.differential import SimulationDisagrees
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import EngineSetting
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.views import NATIVE, TokenMeta

SIMULATION_BUDGET_MS = 8_000
_ZERO_ADDRESS = "0x" + "0" * 40


class Simulator:
    """Runs the plan. Allow carries the simulation; a write without a transaction has none."""

    name = "simulator"

    def check(self, call: HookCall) -> Verdict:
        """Allow with the simulation, or Reject.

        Raises SimulationUnavailable, SimulationTimeout, and SimulationDisagrees after its policy:violation event.
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
        native = chain.native()
        route = call.sent_by
        request = build_request(plan=call.plan, route=route, chain=chain)
        try:
            simulation = run_simulation(
                request,
                deadline=Deadline.after_ms(SIMULATION_BUDGET_MS),
                risk_tier=classify_call(call),
                setting=EngineSetting(call.golem.simulation_engine),
            )
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
        refusal = (
            judge_balances(plan=call.plan, simulation=simulation)
            or judge_reverts(calls=request.calls, simulation=simulation, route=route)
            or judge_flows(plan=call.plan, simulation=simulation, native=native)
            or judge_allowances(plan=call.plan, simulation=simulation)
            or judge_surprises(plan=call.plan, simulation=simulation)
        )
        if refusal is None:
            outcomes = route.outcomes_of_sent(simulation.calls)
            budget = budget_gas(chain=chain, calls=call.sent_calls, outcomes=outcomes)
            refusal = judge_gas(
                plan=call.plan, simulation=simulation, native=native, budget=budget, payer=route.pays_gas
            )
        if refusal is not None:
            return refusal
        return Allow(note=f"{simulation.gas_used} gas; {simulation.fidelity}", simulation=simulation)


def build_request(*, plan: TxPlan, route: SigningRoute, chain: ChainReader) -> SimulationRequest:
    """What is sent for the plan, watching the account's coin, the plan's tokens and allowances.

    Where the signer acts for another account, its own coin, which pays the gas, is watched too. While the owners of a
    Safe are asked there is nothing to send yet: then the Safe itself makes the plan's calls, one after the other.
    """
    tokens = dict.fromkeys([NATIVE, *(token.address for token in plan.tokens)])
    account = route.account
    watch = tuple((account, token) for token in tokens)
    return SimulationRequest(
        chain_id=plan.chain_id,
        sender=route.runs_as,
        acts_for=None if route.waits_for_owners else route.acts_for or None,
        calls=route.rehearse(plan.calls),
        watch=(*watch, (route.signer, NATIVE)) if route.signer != account else watch,
        allowances=tuple(
            dict.fromkeys((a.token.address, account, a.spender) for a in plan.allowances if not a.token.is_native)
        ),
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
    for address, token in tokens.items():
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


def judge_allowances(*, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """An allowance is left larger than the plan says."""
    for allowance in plan.allowances:
        if allowance.token.is_native:
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

    One thing is let through: an NFT that a contract of the plan mints to the golem, such as a liquidity position.
    """
    for seen in simulation.unexpected_transfers:
        is_mint = seen.token_id is not None and seen.sender == _ZERO_ADDRESS and seen.token in plan.contracts
        if is_mint and seen.recipient == simulation.account:
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
    for given in simulation.unexpected_approvals:
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


def judge_gas(
    *, plan: TxPlan, simulation: SimulationResult, native: TokenMeta, budget: GasBudget, payer: str
) -> Reject | None:
    """The coin does not cover the calls' value and the whole gas budget at its worst; a signer of another account's
    funds, `payer`, pays the gas from its own, and a paymaster ("") from what is none of the golem's.
    """
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
