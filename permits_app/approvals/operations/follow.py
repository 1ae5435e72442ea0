"""`follow`: let a golem that can act already follow a contract that somebody deployed, its first or another one.

From then on what the contract says is what is enforced, so its owners see every rule of it beside what holds today, and
agree as they agree to a loosening. Where a contract stands, that one says what is looser than itself and how long it
waits. On execution the contract is read once more: what says something else by then is followed by nobody.

See docs/decisions/0212-policycage-is-deployed-from-the-browser.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

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
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import shorten_hex

_ACTOR = "system:cage-mirror"


@dataclass(frozen=True, slots=True)
class _FollowPlace:
    """Which contract, on the golem's home chain."""

    contract: str
    deployed_block: int


@dataclass(frozen=True, slots=True)
class _Said:
    """What never changes about the contract, and its state at the newest block."""

    facts: CageFacts
    state: CageState

    def as_dict(self) -> dict[str, object]:
        """JSON-ready, as `_SeenContract` reads it."""
        return {
            "account": self.facts.account,
            "base_asset": self.facts.base_asset,
            "is_enforced": self.facts.is_enforced,
            "state": self.state.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class _SeenContract:
    """What the contract said when it was asked for, whom its account obeys, and what the standing one lets wait."""

    account: str
    base_asset: str
    is_enforced: bool
    state: dict[str, object]
    owners: str
    delays: tuple[int, ...]

    @property
    def said(self) -> _Said:
        """The same as values."""
        return _Said(CageFacts(self.account, self.base_asset, self.is_enforced), CageState.from_dict(self.state))


@dataclass(frozen=True, slots=True)
class _FollowArguments(_FollowPlace):
    """Which contract, and what it said."""

    seen: _SeenContract


@dataclass(frozen=True, slots=True)
class _FollowChange(_FollowPlace):
    """What was asked for, as its request keeps it: hashes of what both contracts said, empty where none stands."""

    chain_id: int
    account: str
    base_asset: str
    is_enforced: bool
    says: str
    stands: str = ""
    stands_at: str = ""


class FollowContract:
    """`arguments`: `contract`, checksummed, on the golem's home chain, and `deployed_block` as text."""

    name = "follow"

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """All the contract says, and whom its account obeys. Raises as `read_from_deployment`, ContractStillActs."""
        place = read_stored(_FollowPlace, arguments)
        standing = _find_another(golem, place)
        said = _read(golem, place, now)
        owners, delays = _tell_owners(golem.home_chain_id, said.facts.account, now), list[int]()
        if standing is not None:
            _check_account(standing, said.facts.account)
            rules = list_moved(CageState.from_dict(standing.state), said.state)
            chain = open_chain(golem.home_chain_id, now=now)
            delays = read_delays(chain, standing.contract, [rule.as_tuple() for rule in rules])
        return {**arguments, "seen": {**said.as_dict(), "owners": owners, "delays": delays}}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """The contract beside what holds today. Raises ChangeUnchanged where it is followed already."""
        asked = read_stored(_FollowArguments, arguments)
        standing, said = _find_another(golem, asked), asked.seen.said
        facts = said.facts
        compared = compare_contract(
            golem,
            chain_id=golem.home_chain_id,
            facts=facts,
            state=said.state,
            owners=asked.seen.owners,
            deployed_block=asked.deployed_block,
            standing=standing,
            delays=asked.seen.delays,
        )
        change: dict[str, object] = {
            "contract": asked.contract,
            "chain_id": str(golem.home_chain_id),
            "deployed_block": str(asked.deployed_block),
            "account": facts.account,
            "base_asset": facts.base_asset,
            "is_enforced": facts.is_enforced,
            "says": _hash_said(said),
            "stands": standing.contract if standing is not None else "",
            "stands_at": hash_owned(CageState.from_dict(standing.state)) if standing is not None else "",
        }
        instead = f" instead of {shorten_hex(standing.contract)}" if standing is not None else ""
        return Proposal(
            f"Follow the contract {shorten_hex(asked.contract)}{instead}",
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
        mirror, kept = find_mirror(golem), read_stored(_FollowChange, change)
        if mirror is None:
            if kept.stands:
                raise ChangeStale("the golem follows no contract by now")
            return
        if mirror.contract != kept.stands:
            raise ChangeStale("the golem follows another contract by now")
        if hash_owned(CageState.from_dict(mirror.state)) != kept.stands_at:
            raise ChangeStale("the contract that stands was changed since", contract=mirror.contract)
        _check_account(mirror, kept.account)

    def check_chain(self, golem: Golem, change: Mapping[str, object], *, now: datetime) -> None:
        """The contract still says what its owners were shown. Raises ChangeStale, and what a node raises."""
        kept = read_stored(_FollowChange, change)
        if _hash_said(_read(golem, kept, now)) != kept.says:
            raise ChangeStale("the contract says something else than when this was asked for", contract=kept.contract)

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Register it. Until its mirror was read, which comes right after, no write of the golem passes."""
        kept = read_stored(_FollowChange, change)
        register = register_instead if kept.stands else register_first
        register(
            golem=golem,
            chain_id=kept.chain_id,
            contract=kept.contract,
            deployed_block=kept.deployed_block,
            facts=CageFacts(kept.account, kept.base_asset, kept.is_enforced),
            actor=_ACTOR,
            now=now,
        )
        return {"contract": kept.contract}


def _find_another(golem: Golem, place: _FollowPlace) -> CageMirror | None:
    """What is followed today, None for nothing."""
    mirror = find_mirror(golem)
    if mirror is not None and mirror.contract == place.contract:
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


def _read(golem: Golem, place: _FollowPlace, now: datetime) -> _Said:
    """What the contract says at the newest block."""
    facts, head = read_from_deployment(
        contract=place.contract,
        deployed_block=place.deployed_block,
        open_chain=lambda: open_chain(golem.home_chain_id, now=now),
        now=now,
    )
    return _Said(facts, head.state)


def _hash_said(said: _Said) -> str:
    """What owners agree to: rules, what waits, who may act and be halted; not what is used up of it meanwhile."""
    return hash_canonical(
        {
            "account": said.facts.account,
            "base_asset": said.facts.base_asset,
            "is_enforced": said.facts.is_enforced,
            "rules": said.state.write_rules(),
            "pending": said.state.write_pending(),
            "keys": {str(role): key for role, key in sorted(said.state.keys.items())},
            "is_halted": said.state.is_halted,
        }
    )


def _tell_owners(chain_id: int, account: str, now: datetime) -> str:
    try:
        safe = read_safe(open_chain(chain_id, now=now), account)
    except CageHasNoSafe:
        return f"whoever has the key of the plain account {account}"
    return f"{safe.threshold} of the Safe's owners: {', '.join(safe.owners)}"
