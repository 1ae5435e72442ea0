"""Writes what owners are shown of a change, as JSON that is stored and hashed.

Texts from agents and chains stay data: they are escaped by the page and never read as an instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from permits_app.approvals.loan_risk import read_loan_risk, say_liquidation
from permits_app.approvals.plan_bounds_text import say_bounds
from permits_app.approvals.simulated_loss import say_loss
from permits_app.models import ActionPermit
from permits_app.permits.kept_bounds import KeptAllowance, KeptFlow, read_bounds
from permits_app.permits.kept_simulation import read_simulation
from permits_app.safety.position_words import say_moved
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd, format_units
from tools_app.wording.address_names import name_address
from tools_app.wording.decoded_calls import DecodedCall, decode_call
from tools_app.wording.formats import format_chain, format_coin


def describe_permit(permit: ActionPermit) -> JsonObject:
    """The statement of a permit: its calls decoded, what it moves and allows, at which block that was simulated."""
    simulation = read_simulation(permit.simulation)
    return {
        "golem": permit.golem.name,
        "chain": format_chain(permit.chain_id),
        "signer": permit.signer,
        "tool": permit.tool_name,
        "action": f"{permit.action_type} at {permit.venue}",
        "action_class": permit.action_class,
        "parameters": {name: str(value) for name, value in permit.params.items() if value is not None},
        "calls": describe_calls(permit.plan_calls, chain_id=permit.chain_id),
        "carried_by": describe_carrier(permit),
        "bounds": summarize_bounds(permit.bounds, chain_id=permit.chain_id),
        "balances": _describe_balances(permit),
        **({"positions": said} if (said := _describe_positions(permit)) else {}),
        **_describe_differences(permit),
        **_describe_stakes(permit),
        "effect": str(permit.expected_outcome.get("summary", "")),
        **({"measured_loss": lost} if (lost := say_loss(permit.expected_outcome)) else {}),
        "value_at_stake": format_micro_usd(permit.value_micro_usd),
        "gas_at_most": _describe_gas(permit),
        "simulated": {
            "engine": simulation.engine if simulation is not None else "",
            "fidelity": simulation.fidelity if simulation is not None else "",
            "block": str(simulation.block.number) if simulation is not None else "",
        },
        "review": {
            "verdict": str((permit.review or {}).get("verdict", "")),
            "reasons": [str(reason) for reason in (permit.review or {}).get("reasons", [])],
            "warnings": [str(warning) for warning in (permit.review or {}).get("warnings", [])],
        },
    }


def _describe_positions(permit: ActionPermit) -> list[dict[str, str]]:
    """What becomes of each position, and of a loan the price at which it is liquidated."""
    moved = permit.expected_outcome.get("positions", [])
    told = []
    for line, each in zip(say_moved(moved), moved, strict=True):
        fall = say_liquidation(each)
        told.append({**line, "liquidated": fall} if fall else line)
    return told


def _describe_stakes(permit: ActionPermit) -> dict[str, object]:
    """Of a plan that leaves a debt: what is owed and what covers it, in dollars; nothing for every other."""
    risk = read_loan_risk(permit.expected_outcome.get("positions", []))
    if risk is None:
        return {}
    stakes = {"owed": format_micro_usd(risk.owed_micro_usd), "cover": format_micro_usd(risk.cover_micro_usd)}
    return {"stakes": {**stakes, "calls": format_micro_usd(permit.value_micro_usd)}}


def describe_carrier(permit: ActionPermit) -> dict[str, str]:
    """What carries the calls of a signer that acts for another account: that account and the contract between them."""
    if not permit.acts_for or not permit.calls:
        return {}
    [sent] = permit.calls
    # A user operation is the account's own call, made by the EntryPoint.
    through = sent.get("user_operation", {}).get("entry_point", sent["to"])
    return {"account": permit.acts_for, "through": str(through), "data": str(sent["data"])}


def describe_calls(calls: Iterable[Mapping[str, object]], *, chain_id: int) -> list[dict[str, object]]:
    """Stored calls in words: contract by name, function, arguments in units, and the raw bytes beside them."""
    return [_spell_call(decode_call(call, chain_id=chain_id)) for call in calls]


def summarize_bounds(stored: Mapping[str, object], *, chain_id: int) -> JsonObject:
    """The most that leaves, the least that comes back, allowances, contracts and recipients by name, and every other
    bound in words.
    """
    bounds = read_bounds(stored)
    return {
        "leaves_at_most": [_describe_flow(flow) for flow in bounds.spends],
        "returns_at_least": [_describe_flow(flow) for flow in bounds.receives],
        "allowances": [_describe_allowance(each, chain_id) for each in bounds.allowances],
        "contracts": [_name(address, chain_id) for address in bounds.contracts],
        "recipients": [_name(address, chain_id) for address in bounds.recipients],
        "promises": say_bounds(bounds, chain_id=chain_id),
    }


def _spell_call(call: DecodedCall) -> dict[str, object]:
    return {
        "label": call.label,
        "to": call.to,
        "to_name": call.to_name or "not registered",
        "function": call.function or f"unknown function {call.selector}",
        "arguments": [{"name": each.name, "text": each.text, "raw": each.raw} for each in call.arguments],
        "value": call.value,
        "data": call.data,
        "inner": [_spell_call(each) for each in call.inner],
    }


def _describe_flow(flow: KeptFlow) -> dict[str, str]:
    return {
        "token": flow.token.symbol,
        "address": flow.token.address,
        "raw": str(flow.bound),
        "units": format_units(flow.bound, flow.token.decimals, flow.token.symbol),
    }


def _describe_allowance(allowance: KeptAllowance, chain_id: int) -> dict[str, object]:
    decimals, symbol = allowance.token.decimals, allowance.token.symbol
    return {
        "token": symbol,
        "spender": _name(allowance.spender, chain_id),
        "granted": format_units(allowance.granted, decimals, symbol),
        "stays_allowed": format_units(allowance.left, decimals, symbol),
    }


def _describe_differences(permit: ActionPermit) -> dict[str, object]:
    """What a write without a transaction changes, line by line, as the page of an owners' operation shows it."""
    lines = permit.expected_outcome.get("differences", [])
    names = ("words", "before", "after", "note")
    return {"differences": [{name: str(line.get(name, "")) for name in names} for line in lines]} if lines else {}


def _describe_balances(permit: ActionPermit) -> list[dict[str, str]]:
    deltas: Sequence[Mapping[str, object]] = permit.expected_outcome.get("balance_deltas", [])
    return [
        {"token": str(delta.get("symbol", "")), "raw": str(delta.get("raw", "")), "units": str(delta.get("units", ""))}
        for delta in deltas
    ]


def _describe_gas(permit: ActionPermit) -> str:
    gas = sum(int(call["gas_limit"]) for call in permit.calls)
    return format_coin(gas * int(permit.max_fee_per_gas), permit.chain_id) if gas else ""


def _name(address: str, chain_id: int) -> dict[str, str]:
    return {"address": str(address), "name": name_address(chain_id, str(address)) or "not registered"}
