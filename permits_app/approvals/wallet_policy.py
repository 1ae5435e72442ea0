"""What an agent's wish for another wallet policy means here: local limits and allowlist, and the cage's rules on chain.

It only writes the wish down; owners decide it. Seed: 002, "wallet_configure_policy"; decisions, "privileged".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from permits_app.approvals.operations import find_operation
from permits_app.approvals.operations.base import ObservingOperation
from permits_app.approvals.operations.cage import find_mirror, write_rule
from permits_app.approvals.policy_state import name_entry
from permits_app.models import CageMirror
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.contract import Rule, RuleKind, address_key, spender_rule
from permits_app.policy_cage.state import CageState
from permits_app.policy_cage.suggested_rules import call_rules
from tools_app.admin.tokens import name_address
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE

TITLE = "An agent asks for another wallet policy"


def build_policy_wish(
    *,
    golem: Golem,
    chain: ChainReader,
    contracts: Sequence[str],
    spending_limit_micro_usd: int | None,
    now: datetime,
) -> dict[str, Any]:
    """The owners' operation that would carry the wish out: its name and arguments. Reads the chain.

    Raises InvalidParams, and what a feed or a node raises.
    """
    local = [_allow(chain, contract) for contract in contracts]
    if spending_limit_micro_usd is not None:
        local.append({"row": "limits", "name": "per_transaction_micro_usd", "after": str(spending_limit_micro_usd)})
    if not local:
        raise InvalidParams("name contracts or a spending limit", fields={"allowed_contracts": "missing"})
    mirror = find_mirror(golem)
    if mirror is None:
        return {"name": "policy", "arguments": {"changes": local, "title": TITLE}}
    rules = _rules_for(mirror, chain, contracts, spending_limit_micro_usd)
    arguments: dict[str, Any] = {
        "act": "propose", "rules": [write_rule(rule) for rule in rules], "policy": local, "title": TITLE,
    }  # fmt: skip
    operation = find_operation("cage")
    assert isinstance(operation, ObservingOperation)
    return {"name": "cage", "arguments": operation.observe(golem, arguments, now=now)}


def _allow(chain: ChainReader, contract: str) -> dict[str, str]:
    if not chain.code(contract):
        raise InvalidParams(f"there is no contract at {contract}", fields={"allowed_contracts": "has no code"})
    key = name_entry(chain.chain_id, AllowlistKind.CONTRACT, contract)
    return {"row": "allowlist", "name": key, "after": name_address(chain.chain_id, contract) or "asked for by an agent"}


def _rules_for(
    mirror: CageMirror, chain: ChainReader, contracts: Sequence[str], limit_micro_usd: int | None
) -> list[Rule]:
    rules = call_rules(chain.chain_id, set(contracts))
    known = {rule.key[8:28] for rule in rules}
    unknown = [contract for contract in contracts if bytes.fromhex(contract[2:]) not in known]
    if unknown:
        raise InvalidParams(
            f"no tool of this golem calls {unknown[0]}, so there is no function to allow on chain",
            fields={"allowed_contracts": "no known function"},
        )
    if limit_micro_usd is None:
        return rules
    state = CageState.from_dict(mirror.state)
    for asset in state.assets:
        rules.append(Rule(RuleKind.OUTFLOW_PER_BATCH, address_key(asset), _base_units(chain, asset, limit_micro_usd)))
    for kind, key in state.rules:
        if kind == RuleKind.SPENDER and state.rules[(kind, key)]:
            rules.append(spender_rule("0x" + key[-40:], most_micro_usd=limit_micro_usd))
    return rules


def _base_units(chain: ChainReader, asset: str, micro_usd: int) -> int:
    meta = chain.native() if asset == NATIVE else chain.token(asset)
    price = chain.price(meta)
    units: int = micro_usd * 10 ** (meta.decimals + price.decimals) // (price.answer * 10**6)
    return units
