"""Choose what a halt of a golem does besides stopping, and how much a sale under it may lose. Appends HaltChosen."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.halts.halt_choices import HaltChoice
from permits_app.models import HaltSetting
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def choose_halt(
    *, golem: Golem, choice: HaltChoice, most_loss_bps: int | None = None, actor: str, now: datetime
) -> HaltSetting:
    """The owner's choice. Who leaves everything lets debts be paid by selling; else that stays as it was.

    It is read anew before each step of a halt, so it also holds for one that is under way.
    """
    leaves_all = choice is HaltChoice.LEAVE_FOR_BASE
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        row = HaltSetting.objects.filter(golem=golem).first() or HaltSetting(golem=golem)
        row.unwind_on_halt = choice is not HaltChoice.STOP
        row.exchange_on_halt = leaves_all
        row.sell_on_halt = leaves_all or row.sell_on_halt
        row.most_loss_bps = row.most_loss_bps if most_loss_bps is None else most_loss_bps
        row.save()
        audit_log.append(
            golem_id=golem.pk,
            event="HaltChosen",
            actor=actor,
            now=now,
            data={"choice": choice.value, "most_loss_bps": row.most_loss_bps},
        )
    return row
