"""What a permit predicts, in words and numbers an agent and an owner can check against the outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from permits_app.custody.signing_route import SigningRoute
from permits_app.permits.balance_deltas import describe_deltas
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hook import HookCall
from permits_app.safety.position_rules import list_claim_tokens, list_moved, price_on
from permits_app.safety.position_words import describe_moved
from permits_app.safety.simulated_value_change import VALUE_CHANGE, measure_value_change
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd, format_units
from tools_app.toolkit.params import is_token
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.result import encode_result
from tools_app.toolkit.views import FeeQuote, TokenMeta


def describe_expected(
    *, call: HookCall, fees: FeeQuote | None, gas: GasBudget | None, sources: Mapping[str, str]
) -> JsonObject:
    """Balance deltas, gas, fee and price impact as the simulation saw them; amounts in base units with units beside.

    `fee_wei` is what is expected, `l1_fee_wei` the part of it that a rollup takes for layer one, `l1_fee_most_wei` what
    is kept for that part.
    `value_change` is by how much the account is worth more or less afterwards at the feeds, gas apart.
    `payees` are those whom the plan pays, and what arrives there. A local write has `summary` and `details` instead.
    `parameters` are those it was planned with: what was left out filled in, tokens with address and decimals;
    `parameters_from` says of each where it comes from (`sources`).
    """
    if call.plan is not None and call.plan.promise is not None:
        return {**_describe_promise(call, call.plan), "parameters_from": dict(sources)}
    if call.plan is None or call.simulation is None:
        effect = call.effect
        if effect is None:
            return {"summary": "", "details": {}}
        lines = {"differences": [dict(line) for line in effect.differences]} if effect.differences else {}
        return {"summary": effect.summary, "details": dict(effect.details), **lines}
    sent = call.sent_by.outcomes_of_sent(call.simulation.calls)
    gas_used = sum(outcome.gas_used for outcome in sent)
    native = call.chain.native() if call.chain else None
    l1_fee = gas.l1_fee_expected if gas else 0
    fee_expected = gas_used * (fees.base_fee + fees.priority_fee) + l1_fee if fees else 0
    known = {token.address: token for token in call.plan.tokens}
    # What stands for a position is told by the position.
    claims = list_claim_tokens(call.simulation)
    if native is not None:
        known[native.address] = native
    return {
        "balance_deltas": describe_deltas(
            {address: delta for address, delta in call.simulation.deltas.items() if delta and address not in claims},
            known,
            chain_id=call.plan.chain_id,
        ),
        "payees": [
            {
                "recipient": to,
                "token": token,
                "raw": str(arrives := call.simulation.delta_of(to, token)),
                "units": format_units(arrives, known[token].decimals, known[token].symbol),
            }
            for to, token in call.plan.list_payees(call.simulation.account)
        ],
        "least_received": [
            {
                "token": flow.token.address,
                "raw": str(flow.bound),
                "units": format_units(flow.bound, flow.token.decimals, flow.token.symbol),
            }
            for flow in call.plan.receives
        ],
        "most_spent": [
            {
                "token": flow.token.address,
                "raw": str(flow.bound),
                "units": format_units(flow.bound, flow.token.decimals, flow.token.symbol),
            }
            for flow in call.plan.spends
        ],
        "gas_used": gas_used,
        "gas_per_call": [outcome.gas_used for outcome in sent],
        "gas_limit": sum(gas.limits) if gas else 0,
        "fee_wei": str(fee_expected),
        "fee_units": format_units(fee_expected, native.decimals, native.symbol) if native else "",
        "l1_fee_wei": str(l1_fee),
        "l1_fee_most_wei": str(gas.l1_fee if gas else 0),
        "worst_cost_usd": format_micro_usd(call.value.total_micro_usd),
        "price_impact_bps": call.plan.price_impact_bps,
        "slippage_bps": call.plan.slippage_bps,
        "block_number": call.simulation.block.number,
        "details": dict(call.plan.details),
        "parameters": _describe_parameters(call, known.values()),
        "parameters_from": dict(sources),
        **({"positions": positions} if (positions := _describe_positions(call)) else {}),
        **_measure_value_change(call, known),
    }


def _describe_parameters(call: HookCall, known: Iterable[TokenMeta]) -> dict[str, object]:
    """Nothing is asked of the chain for it: a token is told in full where the plan moves it, else as it was named.

    A symbol that two of the plan's tokens bear stays as it was named: anybody may call a token USDC.
    """
    tokens = list(known)
    borne = Counter(token.symbol for token in tokens)
    named = {token.symbol: token for token in tokens if borne[token.symbol] == 1}
    named |= {token.address: token for token in tokens}
    shapes, told = call.tool.schema["properties"], {}
    for name, field in call.tool.params_model.model_fields.items():
        value = call.params.get(name)
        if value is None:
            continue
        if isinstance(value, str) and is_token(field) and value in named:
            told[name] = encode_result(named[value])
        elif isinstance(value, int) and not isinstance(value, bool) and shapes[name].get("type") == "string":
            told[name] = str(value)
        else:
            told[name] = encode_result(value)
    return told


def _describe_promise(call: HookCall, plan: TxPlan) -> dict[str, object]:
    """What may come of what is signed: nothing moves before somebody carries it out."""
    return {
        "promise": "signed, not sent: somebody else may carry it out any moment until it ends",
        "signed_by": _say_who_signs(call.sent_by),
        "ends_at": plan.deadline,
        "least_received": [_describe_bound(flow) for flow in plan.receives],
        "most_spent": [_describe_bound(flow) for flow in plan.spends],
        "position_changes": [
            {"ref": str(change.ref or change.protocol), "token": change.token, "raw": str(change.expected)}
            for change in plan.changes
        ],
        "worst_cost_usd": format_micro_usd(call.value.total_micro_usd),
        "details": dict(plan.details),
        "parameters": _describe_parameters(call, plan.tokens),
    }


def _say_who_signs(route: SigningRoute) -> str:
    if not route.acts_for:
        return "the account's own key (EIP-712)"
    return f"the Safe {route.account}, which takes a SafeMessage of its only owner for its own word (ERC-1271)"


def _describe_bound(flow: TokenFlow) -> dict[str, str]:
    token = flow.token
    units = format_units(flow.bound, token.decimals, token.symbol)
    return {"token": token.address, "raw": str(flow.bound), "units": units}


def _measure_value_change(call: HookCall, known: Mapping[str, TokenMeta]) -> dict[str, object]:
    if call.chain is None or call.simulation is None:
        return {}
    return {VALUE_CHANGE: measure_value_change(call.simulation, chain=call.chain, known=known).as_dict()}


def _describe_positions(call: HookCall) -> list[dict[str, object]]:
    chain, simulation = call.chain, call.simulation
    if chain is None or simulation is None or simulation.positions_after is None:
        return []
    return describe_moved(list_moved(simulation), chain=chain, value_of=price_on(chain))
