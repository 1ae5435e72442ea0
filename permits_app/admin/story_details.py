"""Rewrites a tool's details of its plan for people: amounts in units, addresses by name."""

from __future__ import annotations

from collections.abc import Mapping

from permits_app.admin.story_facts import Fact, show_value, spell
from permits_app.models import ActionPermit
from permits_app.permits.kept_bounds import read_bounds
from tools_app.core.units import format_units
from tools_app.wording.address_names import name_addresses
from tools_app.wording.formats import format_bps, format_gas

_LONG_NUMBER = 7


def describe_details(permit: ActionPermit) -> tuple[Fact, ...]:
    """The tool's own details; a raw amount is left out where its units stand beside it."""
    details: Mapping[str, object] = permit.bounds.get("details") or {}
    return tuple(
        Fact(spell(name.removesuffix("_units").removesuffix("_bps").removesuffix("_pct")), _tell(permit, name, value))
        for name, value in details.items()
        if f"{name}_units" not in details and value not in (None, "", [])
    )


def _tell(permit: ActionPermit, name: str, value: object) -> str:
    if name.endswith("_bps") and str(value).lstrip("-").isdigit():
        return format_bps(int(str(value)))
    if name.endswith("_pct"):
        return f"{value}%"
    if "gas" in name and str(value).isdigit():
        return format_gas(int(str(value)))
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return " → ".join(_tell_hop(permit, hop) for hop in value)
    text = name_addresses(show_value(value), permit.chain_id)
    return _in_units(permit, name, text) if text.isdigit() and len(text) >= _LONG_NUMBER else text


def _tell_hop(permit: ActionPermit, hop: Mapping[str, object]) -> str:
    names = {key: name_addresses(str(value), permit.chain_id) for key, value in hop.items()}
    if {"token_in", "token_out"} <= set(names):
        fee = f" {format_bps(int(names['fee_tier']) // 100)}" if names.get("fee_tier", "").isdigit() else ""
        return f"{names['token_in']} to {names['token_out']} in the{fee} pool {names.get('pool', '')}".strip()
    return ", ".join(f"{spell(key).lower()} {value}" for key, value in names.items())


def _in_units(permit: ActionPermit, name: str, text: str) -> str:
    """A base-unit figure in the units of the flow its name speaks of; else with separators."""
    bounds = read_bounds(permit.bounds)
    flows = bounds.spends if "in" in name.split("_") else bounds.receives
    if "amount" in name and len(flows) == 1:
        return format_units(int(text), flows[0].token.decimals, flows[0].token.symbol)
    return f"{int(text):,}"
