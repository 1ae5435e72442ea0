"""`follow`: let a golem that can act already follow a contract that somebody deployed, its first or another one.

From then on what the contract says is what is enforced, so its owners see every rule of it beside what holds today, and
agree as they agree to a loosening. Where a contract stands, that one says what is looser than itself and how long it
waits. On execution the contract is read once more: what says something else by then is followed by nobody.

See docs/decisions/0212-policycage-is-deployed-from-the-browser.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from permits_app.approval_errors import CageHasNoSafe, ChangeStale, ChangeUnchanged, ContractStillActs
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import Proposal
from permits_app.approvals.operations.cage import find_mirror
from permits_app.approvals.operations.contract_lines import compare_contract
from permits_app.approvals.operations.contract_moves import hash_owned, list_moved
from permits_app.custody.safe_view import open_chain, read_delays, read_safe
from permits_app.models import CageMirror
from permits_app.policy_cage.mirror import CageFacts, read_from_deployment
from permits_app.policy_cage.mirror_registration import register_first, register_instead
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import shorten_hex

_ACTOR = "system:cage-mirror"


class FollowContract:
    """`arguments`: `contract`, checksummed, on the golem's home chain, and `deployed_block` as text."""

    name = "follow"

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, Any]:
        """All the contract says, and whom its account obeys. Raises as `read_from_deployment`, ContractStillActs."""
        standing = _find_another(golem, arguments)
        seen = _read(golem, arguments, now)
        found = {**seen, "owners": _tell_owners(golem.home_chain_id, seen["account"], now), "delays": []}
        if standing is not None:
            _check_account(standing, seen["account"])
            rules = list_moved(CageState.from_dict(standing.state), CageState.from_dict(seen["state"]))
            chain = open_chain(golem.home_chain_id, now=now)
            found["delays"] = read_delays(chain, standing.contract, [rule.as_tuple() for rule in rules])
        return {**arguments, "seen": found}

    def propose(self, golem: Golem, arguments: Mapping[str, Any]) -> Proposal:
        """The contract beside what holds today. Raises ChangeUnchanged where it is followed already."""
        standing = _find_another(golem, arguments)
        seen, contract = arguments["seen"], str(arguments["contract"])
        state = CageState.from_dict(seen["state"])
        facts = CageFacts(seen["account"], seen["base_asset"], seen["is_enforced"])
        compared = compare_contract(
            golem,
            chain_id=golem.home_chain_id,
            facts=facts,
            state=state,
            owners=seen["owners"],
            deployed_block=int(arguments["deployed_block"]),
            standing=standing,
            delays=seen["delays"],
        )
        change = {
            "contract": contract,
            "chain_id": str(golem.home_chain_id),
            "deployed_block": str(arguments["deployed_block"]),
            "account": facts.account,
            "base_asset": facts.base_asset,
            "is_enforced": facts.is_enforced,
            "says": _hash_said(seen),
            "stands": standing.contract if standing is not None else "",
            "stands_at": hash_owned(CageState.from_dict(standing.state)) if standing is not None else "",
        }
        instead = f" instead of {shorten_hex(standing.contract)}" if standing is not None else ""
        return Proposal(
            f"Follow the contract {shorten_hex(contract)}{instead}",
            change,
            compared.lines,
            RiskTier.CRITICAL,
            cooling_seconds=compared.cooling_seconds,
            value_micro_usd=read_stake(golem),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """Check that the golem still follows the contract it followed then, and that the contract's rules are the
        same.
        """
        mirror = find_mirror(golem)
        if mirror is None:
            if change.get("stands"):
                raise ChangeStale("the golem follows no contract by now")
            return
        if mirror.contract != change.get("stands"):
            raise ChangeStale("the golem follows another contract by now")
        if hash_owned(CageState.from_dict(mirror.state)) != change["stands_at"]:
            raise ChangeStale("the contract that stands was changed since", contract=mirror.contract)
        _check_account(mirror, str(change["account"]))

    def check_chain(self, golem: Golem, change: Mapping[str, object], *, now: datetime) -> None:
        """The contract still says what its owners were shown. Raises ChangeStale, and what a node raises."""
        if _hash_said(_read(golem, change, now)) != change["says"]:
            raise ChangeStale(
                "the contract says something else than when this was asked for", contract=change["contract"]
            )

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Register it. Until its mirror was read, which comes right after, no write of the golem passes."""
        facts = CageFacts(change["account"], change["base_asset"], change["is_enforced"])
        register = register_instead if change.get("stands") else register_first
        register(
            golem=golem,
            chain_id=int(change["chain_id"]),
            contract=change["contract"],
            deployed_block=int(change["deployed_block"]),
            facts=facts,
            actor=_ACTOR,
            now=now,
        )
        return {"contract": change["contract"]}


def _find_another(golem: Golem, arguments: Mapping[str, object]) -> CageMirror | None:
    """What is followed today, None for nothing."""
    mirror = find_mirror(golem)
    if mirror is not None and mirror.contract == str(arguments["contract"]):
        raise ChangeUnchanged(f"the golem follows {mirror.contract} already; its owners change that one")
    return mirror


def _check_account(standing: CageMirror, account: str) -> None:
    """Over another account nobody here could end what the keys of the contract that stands may do."""
    state = CageState.from_dict(standing.state)
    acts = standing.is_enforced and any(each.key != ZERO_ADDRESS for each in state.sessions.values())
    if acts and standing.account != account:
        raise ContractStillActs(
            f"{standing.contract} lets keys act for {standing.account}, and the other contract stands over another"
            " account; end its sessions on its page first",
            contract=standing.contract,
        )


def _read(golem: Golem, given: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """JSON-ready: what never changes about the contract, and its state at the newest block."""
    facts, head = read_from_deployment(
        contract=str(given["contract"]),
        deployed_block=int(given["deployed_block"]),
        open_chain=lambda: open_chain(golem.home_chain_id, now=now),
        now=now,
    )
    return {
        "account": facts.account,
        "base_asset": facts.base_asset,
        "is_enforced": facts.is_enforced,
        "state": head.state.as_dict(),
    }


def _hash_said(seen: Mapping[str, Any]) -> str:
    """What owners agree to: rules, what waits, who may act and be halted; not what is used up of it meanwhile."""
    state = CageState.from_dict(seen["state"])
    said = seen["state"]
    return hash_canonical(
        {
            "account": seen["account"],
            "base_asset": seen["base_asset"],
            "is_enforced": seen["is_enforced"],
            "rules": said["rules"],
            "pending": said["pending"],
            "keys": {str(role): key for role, key in sorted(state.keys.items())},
            "is_halted": said["is_halted"],
        }
    )


def _tell_owners(chain_id: int, account: str, now: datetime) -> str:
    try:
        safe = read_safe(open_chain(chain_id, now=now), account)
    except CageHasNoSafe:
        return f"whoever has the key of the plain account {account}"
    return f"{safe.threshold} of the Safe's owners: {', '.join(safe.owners)}"
