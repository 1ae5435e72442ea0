"""Holds every golem of a restored database, and compares what its accounts sent with what the rows know of it.

Between the backup and now more may have been mined than any row tells. Each transaction that nobody knows counts as
the largest that the golem's limits let through, so a day that may be used up is no new day. An owner resumes a golem
when they have looked; until then nothing is signed for it.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Concat

from archetypes_app.models import Golem
from permits_app.actions.halt import halt_golem
from permits_app.execution.nonce_readings import read_counts
from permits_app.limits.ledger import lock_limits
from permits_app.models import ActionPermit, HaltRecord, NonceCursor, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from tools_app.core import audit_log
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import format_micro_usd

ACTOR: Final = "system:restore"
TOOL: Final = "restore"
_BUDGET_MS: Final = 10_000
_NO_HASH: Final = "0x" + "00" * 32


@dataclass(frozen=True, slots=True)
class UnknownNonces:
    """Nonces of one account from `first` on, which are mined and which no row knows."""

    chain_id: int
    address: str
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class HeldGolem:
    """One golem: what its accounts did that no row knows, what was counted for it (micro-USD), and the code of what
    kept a chain from being read.
    """

    golem_id: UUID
    name: str
    gaps: tuple[UnknownNonces, ...]
    counted_micro_usd: int
    trouble: str = ""

    @property
    def is_compared(self) -> bool:
        """Whether every chain of it answered."""
        return not self.trouble


def hold_restored(*, made_at: datetime, now: datetime) -> tuple[HeldGolem, ...]:
    """Hold every golem that is not retired, then compare each; what was compared before counts once."""
    golems = list(Golem.objects.filter(retired_at__isnull=True).order_by("pk"))
    for golem in golems:
        _hold(golem, f"restored from a backup of {made_at:%Y-%m-%d %H:%M:%S} UTC; look at it, then resume it", now)
    return tuple(_compare(golem, now=now) for golem in golems)


def _hold(golem: Golem, reason: str, now: datetime) -> None:
    """Halt it without the steps that its owner chose for a halt: what they would act on is out of date. Nobody carries
    them out in between, for no process starts before all are held; what an interrupted restore left is taken up.
    """
    halt_golem(golem=golem, reason=reason, actor=ACTOR, now=now, unless_halted=True)
    HaltRecord.objects.filter(golem=golem, actor=ACTOR, completed_at__isnull=True).update(completed_at=now)


def _compare(golem: Golem, *, now: datetime) -> HeldGolem:
    gaps, trouble = [], ""
    for cursor in _list_cursors(golem):
        try:
            counts = read_counts(
                chain_id=cursor.chain_id,
                address=cursor.address,
                is_of_operations=_sends_operations(cursor),
                deadline=Deadline.after_ms(_BUDGET_MS),
            )
        except GolemError as error:
            trouble = error.code
            continue
        if counts.mined > cursor.next_nonce:
            gaps.append(
                UnknownNonces(cursor.chain_id, cursor.address, cursor.next_nonce, counts.mined - cursor.next_nonce)
            )
    counted = _count(golem, gaps, now) if gaps else 0
    return HeldGolem(golem.pk, golem.name, tuple(gaps), counted, trouble)


def _list_cursors(golem: Golem) -> list[NonceCursor]:
    signers = set(ActionPermit.objects.filter(golem=golem).exclude(signer="").values_list("signer", flat=True))
    addresses = {each for each in signers | {golem.address} if each}
    cursors = list(NonceCursor.objects.filter(address__in=addresses).order_by("chain_id", "address"))
    known = {(cursor.chain_id, cursor.address) for cursor in cursors}
    # An account that had sent nothing by then has no row yet.
    fresh = [
        NonceCursor(chain_id=chain_id, address=golem.address)
        for chain_id in (golem.home_chain_id, *golem.other_chain_ids)
        if golem.address and (chain_id, golem.address) not in known
    ]
    return [*cursors, *fresh]


def _sends_operations(cursor: NonceCursor) -> bool:
    newest = (
        ActionPermit.objects.filter(chain_id=cursor.chain_id, signer=cursor.address).order_by("-created_at").first()
    )
    return newest is not None and newest.sends_operation


@retry_aborted
def _count(golem: Golem, gaps: list[UnknownNonces], now: datetime) -> int:
    """Count what is unknown against the golem's limits, and go on behind it. Together, so it is counted once."""
    with transaction.atomic():
        limits = lock_limits(golem.pk)
        unknown = sum(gap.count for gap in gaps)
        amount = min(unknown * limits.per_transaction_micro_usd, limits.per_day_micro_usd)
        for gap in gaps:
            place = {"chain_id": gap.chain_id, "address": gap.address}
            NonceCursor.objects.bulk_create([NonceCursor(**place)], ignore_conflicts=True)
            NonceCursor.objects.filter(**place).update(next_nonce=gap.first + gap.count, updated_at=now)
        permit = _note_unknown(golem, gaps, amount, now)
        SpendEntry(
            golem=golem,
            permit=permit,
            state=SpendState.SETTLED,
            reserved_micro_usd=amount,
            settled_micro_usd=amount,
            counted_at=now,
        ).save(force_insert=True)
        told = f"; {unknown} transactions of it are not known here, {format_micro_usd(amount)} counted for them"
        Golem.objects.filter(pk=golem.pk).update(halt_reason=Concat("halt_reason", Value(told)))
        audit_log.append(
            golem_id=golem.pk,
            event="RestoreCompared",
            actor=ACTOR,
            data={"gaps": [_describe(gap) for gap in gaps], "counted_micro_usd": str(amount)},
            now=now,
        )
    return amount


def _note_unknown(golem: Golem, gaps: list[UnknownNonces], amount: int, now: datetime) -> ActionPermit:
    """What the entry of the ledger hangs on: a permit that is over, holds no call and may never be carried out."""
    permit = ActionPermit(
        golem=golem,
        status=PermitStatus.CANCELLED,
        status_reason="what was mined between a backup and its restore, and no row knows",
        tool_name=TOOL,
        action_type="unknown_spend",
        venue=TOOL,
        chain_id=gaps[0].chain_id,
        params={"gaps": [_describe(gap) for gap in gaps]},
        action_hash=f"0x{uuid.uuid4().hex}{uuid.uuid4().hex}",
        action_class="NEW_POSITION",
        risk_tier="STANDARD",
        signer=gaps[0].address,
        value_micro_usd=amount,
        plan_hash=_NO_HASH,
        policy_hash=_NO_HASH,
        expires_at=now,
        finished_at=now,
    )
    permit.save(force_insert=True)
    return permit


def _describe(gap: UnknownNonces) -> dict[str, object]:
    return {"chain_id": gap.chain_id, "address": gap.address, "first_nonce": gap.first, "count": gap.count}
