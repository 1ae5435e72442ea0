"""The row of a contract that is followed from now on, before anything of it is read: until then no write passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.models import CageMirror, PolicyCage
from permits_app.policy_cage.mirror import CageFacts, hash_rules
from permits_app.policy_cage.state import CageState
from tools_app.core import audit_log
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class _NewPlace:
    """Of the columns of an unread contract what says which one it is."""

    contract: str
    account: str


def register_first(
    *, golem: Golem, chain_id: int, contract: str, deployed_block: int, facts: CageFacts, actor: str, now: datetime
) -> CageMirror:
    """The mirror of a golem that has none; joins the caller's transaction, which holds the golem's row."""
    cage, _ = PolicyCage.objects.get_or_create(golem=golem)
    columns = columns_of_unread(chain_id=chain_id, contract=contract, deployed_block=deployed_block, facts=facts)
    mirror = CageMirror.objects.create(cage=cage, **columns)
    note_registered(mirror, golem_id=golem.pk, actor=actor, now=now)
    return mirror


def register_instead(
    *, golem: Golem, chain_id: int, contract: str, deployed_block: int, facts: CageFacts, actor: str, now: datetime
) -> CageMirror:
    """The golem's mirror with another contract behind it; joins the caller's transaction, which holds its rows."""
    mirror = CageMirror.objects.select_for_update(no_key=True, of=("self",)).get(cage__golem=golem)
    point_at(
        mirror, columns_of_unread(chain_id=chain_id, contract=contract, deployed_block=deployed_block, facts=facts)
    )
    note_registered(mirror, golem_id=golem.pk, actor=actor, now=now)
    return mirror


def point_at(mirror: CageMirror, columns: Mapping[str, object]) -> None:
    """Save `mirror` with the columns of an unread contract; one that it followed is remembered while it may act."""
    new = read_stored(_NewPlace, columns)
    if mirror.pk is not None and mirror.contract != new.contract:
        goes_on = mirror.is_enforced and mirror.account == new.account
        mirror.replaced = mirror.contract if goes_on else ""
    for name, value in columns.items():
        setattr(mirror, name, value)
    mirror.save()
    mirror.checkpoints.all().delete()


def columns_of_unread(*, chain_id: int, contract: str, deployed_block: int, facts: CageFacts) -> dict[str, object]:
    """The columns of a mirror whose contract nobody read yet."""
    start = CageState(cage=contract, account=facts.account, base_asset=facts.base_asset)
    return {
        "chain_id": chain_id,
        "contract": contract,
        "account": facts.account,
        "base_asset": facts.base_asset,
        "deployed_block": deployed_block,
        "is_enforced": facts.is_enforced,
        "problem": "",
        **columns_before(start, deployed_block),
    }


def columns_before(start: CageState, deployed_block: int) -> dict[str, object]:
    """The mirror's columns before its contract's first block."""
    return {
        "state": start.as_dict(),
        "rules_hash": hash_rules(start),
        "block_number": max(0, deployed_block - 1),
        "block_hash": "",
        "block_at": datetime.fromtimestamp(0, UTC),
        "synced_at": None,
    }


def note_registered(mirror: CageMirror, *, golem_id: UUID, actor: str, now: datetime) -> None:
    """Appends CageRegistered."""
    data = {"contract": mirror.contract, "chain_id": str(mirror.chain_id), "account": mirror.account}
    audit_log.append(golem_id=golem_id, event="CageRegistered", actor=actor, data=data, now=now)
