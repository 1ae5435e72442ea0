"""Decides when two actions are the same: golem, tool, and the meaning of their parameters; and when alike.

A token by its symbol and by its address is one token, and what is left out is what stands for it. So no other spelling
passes an action that is under way, the loop guard, or a repeat.

See docs/decisions/0128-equal-actions-same-tool-and-same-meaning-of-parameters.md
and docs/decisions/0311-parameters-have-one-spelling-once-they-are-checked.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from eth_utils import is_hex_address, to_checksum_address

from archetypes_app.models import Golem
from permits_app.permits.permit_hashes import hash_action
from tools_app.chain.chains import get_registry
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import GolemError
from tools_app.toolkit.canonical_param_values import SpellingContext, spell_params
from tools_app.toolkit.golem_chains import find_chosen
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.tooldef import ToolDef

_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def hash_meant(*, golem: Golem, tool: ToolDef, params: Mapping[str, object]) -> str:
    """Names an action by what it means; `params` as `runner.check_params` gives them. Reads no node."""
    return hash_action(golem_id=golem.pk, tool_name=tool.name, params=resolve_params(tool, params, golem))


def hash_alike(*, golem: Golem, tool: ToolDef, params: Mapping[str, object]) -> str:
    """Names what an action shares with those that differ from it in numbers only: amounts, prices, bounds, times. A
    chain or a position is no number. Reads no node.
    """
    meant = resolve_params(tool, params, golem)
    words = {name: value for name, value in meant.items() if name.endswith("_id") or not _is_number(value)}
    return hash_action(golem_id=golem.pk, tool_name=tool.name, params=words)


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def resolve_params(tool: ToolDef, params: Mapping[str, object], golem: Golem) -> dict[str, object]:
    """`params` in the one spelling of each kind, registered tokens by address and the chain filled in; what is not set
    is left out.
    """
    meant = dict(params)
    if "chain_id" in tool.params_model.model_fields and meant.get("chain_id") is None:
        meant["chain_id"] = golem.home_chain_id
    chain_id = find_chosen(meant, golem)
    place = SpellingContext(
        account=golem.address,
        token=lambda reference: _address_of(chain_id, reference),
        lenders=lambda: [each.name for each in SHELF.on(chain_id) if each.lending is not None],
    )
    return spell_params(tool.params_model, meant, place)


def _address_of(chain_id: int, reference: str) -> str:
    if is_hex_address(reference):
        return str(to_checksum_address(reference))
    try:
        return get_registry(chain_id).by_symbol(reference).address
    except TokenNotFound:
        return reference
    except GolemError:
        # A chain that is not reached refuses the plan itself.
        return reference
