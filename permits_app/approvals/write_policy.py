"""Write changes of a policy to its rows, under the lock reservations take, and keep the version they make.

Appends PolicyChanged; emits policy:cage_updated. The only writer of loosened limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Field

from archetypes_app.models import Golem
from permits_app.approval_errors import CageIsMirrored
from permits_app.approvals.policy_state import (
    PolicyChange,
    hash_policy_state,
    read_policy_changes,
    read_policy_state,
    split_entry,
)
from permits_app.limits import ledger
from permits_app.models import AllowlistEntry, PolicyCage, PolicyVersion, SpendingLimits
from permits_app.policy_cage.mirror import MIRRORED
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def write_policy(
    *, golem: Golem, changes: Sequence[Mapping[str, object]], actor: str, reason: str, now: datetime
) -> PolicyVersion:
    """Make `changes` (`row`, `name`, `after` as text, None removes an allowlist entry). Returns the new version.

    Raises CageIsMirrored.
    """
    asked = read_policy_changes(changes)
    with transaction.atomic():
        limits, cage = ledger.lock_policy(golem.pk)
        keep_version(golem=golem, actor="system:policy", reason="as it was before the first change", now=now)
        check_not_mirrored(cage, asked)
        for change in asked:
            if change.is_entry:
                _write_entry(golem, change)
            else:
                _write_column(limits if change.row == "limits" else cage, change)
        limits.save()
        cage.save()
        version = keep_version(golem=golem, actor=actor, reason=reason, now=now)
        told = {f"{each.row}.{each.name}": {"from": each.before, "to": each.after} for each in asked}
        audit_log.append(
            golem_id=golem.pk,
            event="PolicyChanged",
            actor=actor,
            now=now,
            data={"changes": told, "reason": reason, "policy_version": str(version.number)},
        )
        payload = {"row": "policy", "fields": sorted({each.name for each in asked})}
        event_bus.emit(golem_id=golem.pk, event=Event(EventType.POLICY_CAGE_UPDATED, payload), now=now)
    return version


def check_not_mirrored(cage: PolicyCage, changes: Sequence[PolicyChange]) -> None:
    """Raises CageIsMirrored for a value that follows the contract behind `cage`."""
    names = sorted(each.name for each in changes if each.row == "cage" and each.name in MIRRORED)
    if names and hasattr(cage, "mirror"):
        raise CageIsMirrored(
            f"{', '.join(names)} follow the contract {cage.mirror.contract}; its owner's Safe changes them there",
            contract=cage.mirror.contract,
            fields=names,
        )


def keep_version(*, golem: Golem, actor: str, reason: str, now: datetime) -> PolicyVersion:
    """The newest version when the policy is as it says, else a new one. Call under the lock of the limits row."""
    state = read_policy_state(golem)
    digest = hash_policy_state(state)
    newest = PolicyVersion.objects.filter(golem=golem).order_by("-number").first()
    if newest is not None and newest.policy_hash == digest:
        return newest
    return PolicyVersion.objects.create(
        golem=golem,
        number=newest.number + 1 if newest else 1,
        policy=state,
        policy_hash=digest,
        actor=actor,
        reason=reason,
        created_at=now,
    )


def _write_column(row: SpendingLimits | PolicyCage, change: PolicyChange) -> None:
    field = row._meta.get_field(change.name)
    assert isinstance(field, Field)
    setattr(row, change.name, field.clean(change.after, row))


def _write_entry(golem: Golem, change: PolicyChange) -> None:
    chain_id, kind, address = split_entry(change.name)
    if change.after is None:
        AllowlistEntry.objects.filter(golem=golem, chain_id=chain_id, kind=kind, address=address).delete()
        return
    AllowlistEntry.objects.get_or_create(
        golem=golem, chain_id=chain_id, kind=kind, address=address, defaults={"label": change.after}
    )
