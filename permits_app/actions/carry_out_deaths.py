"""carry_out_deaths: the Death Protocol, step by step: announce, halt, take out and settle, export, archive, retire.

Each look goes one step further and finds what was done before. Taking out and settling are the halt's own steps
(`halt`): what is under way ends, approvals and promises are taken back, positions are left by their exits, debts are
paid as the owner chose. A golem that still has something only its owner gets out is not retired; dust that its way out
leaves is kept with the end. Decisions 0199, 0618.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.actions.export_grimoire import export_grimoire
from permits_app.actions.halt import halt_golem, list_what_is_left, reopen_halt
from permits_app.actions.retire_golem import retire_golem
from permits_app.halts.deaths import DEATH_ACTOR, announce_terminal, begin_death, keep_what_is_left
from permits_app.halts.halt_leftovers import IT_STAYS, read_line
from permits_app.models import Death, HaltRecord
from permits_app.models.death import OPEN, DeathState
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app.core import event_bus
from tools_app.core.audit_checkpoints import sign_head
from tools_app.core.events import Event, EventType
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import Phase


def carry_out_deaths(*, now: datetime) -> dict[str, int]:
    """Announce the end of golems without life left; go on with those that are due. One that fails stops no other."""
    terminal = Golem.objects.filter(phase=Phase.TERMINAL.value, retired_at=None).order_by("pk")
    untold = list(terminal.exclude(deaths__state__in=OPEN).values_list("pk", flat=True))
    told = one_by_one(untold, lambda pk: announce_terminal(golem_id=pk, now=now), what="the end of golem")
    announced = sum(death is not None for death in told)
    due = Death.objects.filter(state__in=OPEN, due_at__lte=now).order_by("due_at")
    deaths = list(due.exclude(golem__home_chain_id__in=list_silent_chains(now=now)).values_list("pk", flat=True))
    states = one_by_one(deaths, lambda pk: carry_out_death(death_id=pk, now=now), what="the end")
    return {"announced": announced, "ended": sum(state is DeathState.RETIRED for state in states)}


def carry_out_death(*, death_id: UUID, now: datetime) -> DeathState:
    """One step of one end. Raises the node's errors, PositionsUnreadable."""
    if not begin_death(death_id=death_id, now=now):
        return DeathState(Death.objects.get(pk=death_id).state)
    death = Death.objects.select_related("golem__archetype").get(pk=death_id)
    if death.halt_epoch is None:
        _halt(death, now)
        return DeathState.UNDER_WAY
    # Somebody may have halted it again since: the newest halt goes on with what the one before it left.
    record = HaltRecord.objects.get(golem=death.golem, epoch=death.golem.halt_epoch)
    if record.completed_at is None:
        # The sweep hands the halt to workers until every step of it is done.
        return DeathState.UNDER_WAY
    left = list_what_is_left(golem=death.golem, now=now)
    if any(read_line(each).next != IT_STAYS for each in left):
        if keep_what_is_left(death_id=death_id, left=left, now=now):
            # It is not what was there before: perhaps there is a way out now.
            reopen_halt(golem=death.golem, now=now)
        return DeathState.UNDER_WAY
    return _end(death, left, now)


def _halt(death: Death, now: datetime) -> None:
    """Halt it, also where it is halted: this halt takes everything out, and no older request to resume ends it."""
    golem = death.golem
    golem.refresh_from_db(fields=["halted_at", "halt_epoch"])
    # Whoever began this end, and stopped before it was noted, halted it already.
    begun = HaltRecord.objects.filter(
        golem=golem, epoch=golem.halt_epoch, actor=DEATH_ACTOR, started_at__gte=death.due_at
    )
    if golem.is_halted and begun.exists():
        epoch = golem.halt_epoch
    else:
        epoch = halt_golem(golem=golem, reason=f"it ends: {death.reason}", actor=DEATH_ACTOR, now=now)["epoch"]
    reopen_halt(golem=golem, now=now)
    Death.objects.filter(pk=death.pk, state=DeathState.UNDER_WAY).update(halt_epoch=epoch)


def _end(death: Death, dust: list[dict[str, str]], now: datetime) -> DeathState:
    if not _export(death, now):
        return DeathState(Death.objects.get(pk=death.pk).state)
    retire_golem(golem=death.golem, actor=DEATH_ACTOR, reason=death.reason, now=now)
    sign_head(golem_id=death.golem_id, now=now)
    _close(death, dust, now)
    return DeathState.RETIRED


@retry_aborted
def _export(death: Death, now: datetime) -> bool:
    """The last export, once, under a name of its own; False when an owner stopped the end before it."""
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).get(pk=death.golem_id)
        row = Death.objects.select_for_update(no_key=True).get(pk=death.pk)
        if row.state != DeathState.UNDER_WAY:
            return False
        if not row.export_file:
            done = export_grimoire(
                golem_id=death.golem_id,
                include_decayed=True,
                min_percent=0,
                actor=DEATH_ACTOR,
                now=now,
                stem=f"last-{death.pk}",
            )
            facts: dict[str, object] = {"export_file": done.archive.path.name, "export_sha256": done.archive.sha256}
            Death.objects.filter(pk=death.pk).update(**facts)
    return True


@retry_aborted
def _close(death: Death, dust: list[dict[str, str]], now: datetime) -> None:
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).get(pk=death.golem_id)
        ended: dict[str, object] = {"state": DeathState.RETIRED, "ended_at": now, "ended_by": DEATH_ACTOR, "left": dust}
        if Death.objects.filter(pk=death.pk, state=DeathState.UNDER_WAY).update(**ended):
            file = Death.objects.values_list("export_file", flat=True).get(pk=death.pk)
            payload = {"reason": death.reason, "export_file": file}
            event_bus.emit(golem_id=death.golem_id, event=Event(EventType.DEATH_COMPLETED, payload), now=now)
