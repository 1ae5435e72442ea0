"""When two actions are one: the same golem and tool, and parameters that mean the same, however they are written.

A token by its symbol and by its address is one token, and what is left out is what stands for it. So no other spelling
passes an action that is under way, the loop guard, or a repeat. Seed: 002, "RateLimiter"; decision 0128.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archetypes_app.models import Golem
from permits_app.permits.sealing import hash_action
from tools_app.chain.chains import get_registry
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import GolemError
from tools_app.toolkit.params import is_token
from tools_app.toolkit.tooldef import ToolDef


def hash_meant(*, golem: Golem, tool: ToolDef, params: Mapping[str, Any]) -> str:
    """Names an action by what it means; `params` as `runner.check_params` gives them. Reads no node."""
    return hash_action(golem_id=golem.pk, tool_name=tool.name, params=resolve_params(tool, params, golem))


def resolve_params(tool: ToolDef, params: Mapping[str, Any], golem: Golem) -> dict[str, Any]:
    """`params` with registered tokens by address and the chain filled in; what is not set is left out."""
    fields = tool.params_model.model_fields
    meant = {name: value for name, value in params.items() if value is not None}
    if "chain_id" in fields:
        meant.setdefault("chain_id", golem.home_chain_id)
    chain_id = int(meant.get("chain_id", golem.home_chain_id))
    for name, value in meant.items():
        if name in fields and isinstance(value, str) and is_token(fields[name]):
            meant[name] = _address_of(chain_id, value)
    return meant


def _address_of(chain_id: int, reference: str) -> str:
    try:
        registry = get_registry(chain_id)
        known = registry.by_address(reference) if reference.startswith("0x") else registry.by_symbol(reference)
    except TokenNotFound:
        return reference
    except GolemError:
        # A chain that is not reached refuses the plan itself.
        return reference
    return known.address if known is not None else reference
