"""Translates an agent's wish for a wallet policy into limits, allowlist and the cage's rules.

It only writes the wish down; owners decide it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeUnchanged
from permits_app.approvals.operations import find_operation
from permits_app.approvals.operations.base import ObservingOperation
from permits_app.approvals.operations.cage import find_mirror, write_rule
from permits_app.approvals.policy_state import (
    PolicyState,
    apply_differences,
    diff_policy,
    name_entry,
    read_policy_changes,
    read_policy_state,
    split_entry,
)
from permits_app.approvals.policy_templates import PolicyTemplate, limit_of_template, list_template_changes
from permits_app.models import CageMirror
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.policy_cage.contract import Rule, RuleKind, address_key, spender_rule
from permits_app.policy_cage.state import CageState
from permits_app.policy_cage.suggested_rules import call_rules
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE
from tools_app.wording.address_names import name_address
from tools_app.wording.formats import format_chain

_TITLE = "Its agent asks for {}"


@dataclass(frozen=True, slots=True)
class PolicyWish:
    """What an agent asks for: a template, and what it names itself, which comes after it. `chains` are all it keeps."""

    template: PolicyTemplate | None = None
    contracts: Sequence[str] = ()
    limit_micro_usd: int | None = None
    chains: Sequence[int] = ()


def build_policy_wish(*, golem: Golem, chain: ChainReader, wish: PolicyWish, now: datetime) -> dict[str, object]:
    """The owners' operation that would carry the wish out: its name and arguments. Reads the chain.

    Raises InvalidParams, ChangeUnchanged, and what a feed or a node raises.
    """
    state = read_policy_state(golem)
    contracts, limit = wish.contracts, wish.limit_micro_usd
    local = list(list_template_changes(wish.template, chain_id=chain.chain_id)) if wish.template else []
    local += [_allow(chain, contract) for contract in contracts]
    if limit is not None:
        local.append(_set_limit("per_transaction_micro_usd", limit))
    if wish.chains:
        local += _restrict(state, golem, wish.chains, added=local)
    if not local:
        raise InvalidParams(
            "name a template, contracts, a spending limit or chains", fields={"allowed_contracts": "missing"}
        )
    mirror = find_mirror(golem)
    if mirror is None:
        if not diff_policy(state, apply_differences(state, local)):
            raise ChangeUnchanged("the policy is so already")
        return {"name": "policy", "arguments": {"changes": local, "title": _title(wish, chain)}}
    if wish.template and limit is None:
        limit = limit_of_template(wish.template)
    rules = _rules_for(mirror, chain, contracts, limit)
    if wish.template:
        known = {rule.key for rule in rules}
        entries = (each for each in read_policy_changes(local) if each.is_entry and each.after)
        listed = {split_entry(each.name)[2] for each in entries}
        rules += [rule for rule in call_rules(chain.chain_id, listed, valued=_valued(mirror)) if rule.key not in known]
    arguments: dict[str, object] = {
        "act": "propose",
        "rules": [write_rule(rule) for rule in rules],
        "policy": local,
        "title": _title(wish, chain),
    }
    operation = find_operation("cage")
    assert isinstance(operation, ObservingOperation)
    return {"name": "cage", "arguments": operation.observe(golem, arguments, now=now)}


def _title(wish: PolicyWish, chain: ChainReader) -> str:
    """What tells one wish from another in a list: what is asked for, with amounts and names."""
    parts = [f"the policy {wish.template}"] if wish.template else []
    if wish.contracts:
        first = name_address(chain.chain_id, wish.contracts[0]) or f"unknown contract {wish.contracts[0]}"
        more = f" and {len(wish.contracts) - 1} more" if len(wish.contracts) > 1 else ""
        parts.append(f"calls to {first}{more}")
    if wish.limit_micro_usd is not None:
        parts.append(f"{format_micro_usd(wish.limit_micro_usd)} a transaction")
    if wish.chains:
        parts.append(f"nothing but {', '.join(format_chain(each) for each in wish.chains)}")
    return _TITLE.format("; ".join(parts))


def _restrict(
    state: PolicyState, golem: Golem, chains: Sequence[int], *, added: Sequence[Mapping[str, object]]
) -> list[dict[str, object]]:
    """Nothing is allowed on another chain: a strict list without an entry there."""
    if golem.home_chain_id not in chains:
        raise InvalidParams(
            f"the golem's home chain {golem.home_chain_id} must be among them",
            fields={"chain_restrictions": "leaves the home chain out"},
        )
    listed = {*state["allowlist"], *(each.name for each in read_policy_changes(added) if each.is_entry)}
    gone = [key for key in sorted(listed) if split_entry(key)[0] not in chains]
    strict = {"row": "limits", "name": "allowlist_mode", "after": str(AllowlistMode.STRICT)}
    return [strict, *({"row": "allowlist", "name": key, "after": None} for key in gone)]


def _set_limit(name: str, micro_usd: int) -> dict[str, object]:
    return {"row": "limits", "name": name, "after": str(micro_usd)}


def _allow(chain: ChainReader, contract: str) -> dict[str, object]:
    if not chain.code(contract):
        raise InvalidParams(f"there is no contract at {contract}", fields={"allowed_contracts": "has no code"})
    key = name_entry(chain.chain_id, AllowlistKind.CONTRACT, contract)
    return {"row": "allowlist", "name": key, "after": name_address(chain.chain_id, contract) or "asked for by an agent"}


def _valued(mirror: CageMirror) -> set[str]:
    """Where what the account has counts on chain: the assets, and the places of positions with a valuer."""
    state = CageState.from_dict(mirror.state)
    return {*state.assets, *state.positions}


def _rules_for(
    mirror: CageMirror, chain: ChainReader, contracts: Sequence[str], limit_micro_usd: int | None
) -> list[Rule]:
    rules = call_rules(chain.chain_id, set(contracts), valued=_valued(mirror))
    known = {rule.key[8:28] for rule in rules if rule.kind is RuleKind.CALL}
    unknown = [contract for contract in contracts if bytes.fromhex(contract[2:]) not in known]
    if unknown:
        raise InvalidParams(
            f"no tool of this golem calls {unknown[0]}, or the cage does not value what lies there",
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
