"""Let a halted golem act again."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.models import ApiKey, Golem
from permits_app.custody.session_keys import follow_session
from permits_app.halts.deaths import end_open_death, lock_open_death
from permits_app.models import HaltRecord
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def resume_golem(
    *,
    golem: Golem,
    reason: str,
    actor: str,
    now: datetime,
    restore_keys: bool = True,
    stays_live: bool = False,
) -> None:
    """Let a halted golem act again, as its owner, with a reason. Does nothing when it is not halted.

    Its heartbeat rehearses from then on, unless `stays_live`: what was just taken back is not opened again unseen.

    Living keys get back what the halt took, unless `restore_keys` is off; a session key that its cage still names is
    active again.
    """
    with transaction.atomic():
        locked = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if not locked.is_halted:
            return
        lock_open_death(golem.pk)
        is_live = locked.is_live and stays_live
        Golem.objects.filter(pk=golem.pk).update(halted_at=None, halt_reason="", is_live=is_live)
        record = HaltRecord.objects.filter(golem=golem, epoch=locked.halt_epoch).first()
        restored = _restore_key_scopes(record) if record is not None and restore_keys else []
        follow_session(golem_id=golem.pk, now=now)
        end_open_death(golem_id=golem.pk, reason=f"its owner let it act again: {reason}", actor=actor, now=now)
        facts = {"reason": reason, "keys_restored": restored, "is_live": is_live}
        audit_log.append(golem_id=golem.pk, event="HaltResumed", actor=actor, data=facts, now=now)
        event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": reason}), now=now)


def lock_keys(**which: object) -> list[ApiKey]:
    """Keys that are not revoked, in one order, locked until the transaction ends."""
    rows = ApiKey.objects.select_for_update(no_key=True, of=("self",)).filter(**which, revoked_at__isnull=True)
    return list(rows.order_by("pk"))


def _restore_key_scopes(record: HaltRecord) -> list[str]:
    restored = []
    for key in lock_keys(pk__in=list(record.dropped_scopes)):
        key.scopes = [*key.scopes, *(s for s in record.dropped_scopes[str(key.pk)] if s not in key.scopes)]
        key.save(update_fields=["scopes"])
        restored.append(key.prefix)
    return restored
