"""apply_cage_changes: what owners proposed in a contract is applied once its delay is over.

Anyone may send that, so the relayer does; the owners' signature was the proposal. What cannot be applied any more (the
rule moved, the time of grace is over) is left alone. Appends CageChangeApplied; an owner's better phase holds here too
from then on.
"""

from __future__ import annotations

import logging
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from archetypes_app.actions.change_phase import reset_phase
from archetypes_app.models import Golem
from archetypes_app.phases import is_worse
from permits_app.actions.sync_policy_cage import sync_policy_cage
from permits_app.approval_errors import OwnerCallReverts, RelayerBusy, RelayerNotConfigured
from permits_app.approvals.cage_rules_text import PHASES, name_rule, show_rule
from permits_app.custody.safe_view import open_chain
from permits_app.gas_relayer import IN_FLIGHT, RelayOrder, find_relayer_address, follow, send_order
from permits_app.models import CageMirror, RelayedTransaction
from permits_app.models.owner_transaction import RelayPurpose
from permits_app.permits.blocked_commits import list_silent_chains
from permits_app.permits.row_locks import lock_settings
from permits_app.policy_cage.contract import GRACE_SECONDS, Limit, RuleKind, encode_apply_change, limit_key
from permits_app.policy_cage.state import CageState, PendingChange, RuleId
from tools_app.core import audit_log, clock
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.models import AuditEntry
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import Phase

logger = logging.getLogger(__name__)

_ACTOR = "system:relayer"
_APPLIED = "CageChangeApplied"


def apply_cage_changes(*, now: datetime) -> int:
    """Apply every change that is due, cage by cage; one that fails stops nobody else's. How many were applied."""
    if not find_relayer_address():
        return 0
    heard = CageMirror.objects.exclude(chain_id__in=list_silent_chains(now=now))
    mirrors = list(heard.exclude(state__pending=[]).select_related("cage").order_by("pk"))
    return sum(one_by_one(mirrors, lambda mirror: _apply_where_free(mirror, now), what="a due change of the cage"))


def _apply_where_free(mirror: CageMirror, now: datetime) -> int:
    try:
        return _apply_due(mirror, now)
    except (RelayerBusy, RelayerNotConfigured):
        return 0


def list_due(state: CageState, *, at: int) -> list[tuple[RuleId, PendingChange]]:
    """Waiting changes that the contract would apply at `at` (unix seconds), the longest due first."""
    due = [
        (rule, change)
        for rule, change in state.pending.items()
        if change.ready_at <= at <= change.ready_at + GRACE_SECONDS and state.rules.get(rule, 0) == change.base
    ]
    return sorted(due, key=lambda each: each[1].ready_at)


def _apply_due(mirror: CageMirror, now: datetime) -> int:
    # The machine's clock says whether to look; the contract is asked as of the chain's own time.
    if not list_due(CageState.from_dict(mirror.state), at=max(int(now.timestamp()), int(mirror.block_at.timestamp()))):
        return 0
    done = 0
    mirror = sync_policy_cage(mirror_id=mirror.pk, now=now)
    state = CageState.from_dict(mirror.state)
    due = list_due(state, at=max(int(now.timestamp()), int(mirror.block_at.timestamp())))
    # What was proposed together takes effect together: one transaction, and each of its rules is told.
    for bundle in dict.fromkeys(change.bundle for _, change in due):
        together = [(rule, change) for rule, change in due if change.bundle == bundle]
        tx_hash = _apply_one(mirror, min(rule for rule, _ in together), now)
        if tx_hash is not None:
            done += sum(_tell(mirror, rule, change, tx_hash) for rule, change in together)
    return done


def _apply_one(mirror: CageMirror, rule: RuleId, now: datetime) -> str | None:
    """The hash of the transaction that applied it, whichever worker sent it; None when it is not applied yet."""
    subject = f"{rule[0]}:{rule[1]}"
    row = RelayedTransaction.objects.filter(
        mirror=mirror, subject=subject, state__in=[str(state) for state in IN_FLIGHT]
    ).first()
    if row is None:
        order = RelayOrder(
            purpose=RelayPurpose.APPLY,
            to=mirror.contract,
            mirror=mirror,
            subject=subject,
            data=encode_apply_change(RuleKind(rule[0]), bytes.fromhex(rule[1][2:])),
        )
        try:
            row = send_order(order=order, chain=open_chain(mirror.chain_id, now=now), now=now)
        except OwnerCallReverts as error:
            # The chain's clock may be behind ours, or somebody applied it at this moment; the next sweep looks again.
            logger.info("the cage %s does not apply %s yet: %s", mirror.contract, subject, error.detail)
            return None
    receipt = follow(row, seconds=settings.GOLEM_RELAYER_WAIT_SECONDS)
    return receipt.tx_hash if receipt is not None and receipt.succeeded else None


def _tell(mirror: CageMirror, rule: RuleId, change: PendingChange, tx_hash: str) -> bool:
    """Write down what took effect. False when another worker that followed the same transaction has told it."""
    now = clock.now()
    kind, key = rule[0], bytes.fromhex(rule[1][2:])
    fresh = sync_policy_cage(mirror_id=mirror.pk, now=now)
    facts: dict[str, object] = {
        "contract": mirror.contract,
        "key": f"{rule[0]}:{rule[1]}",
        "rule": name_rule(kind, key, chain_id=mirror.chain_id),
        "from": show_rule(kind, key, change.base, chain_id=mirror.chain_id),
        "to": show_rule(kind, key, change.value, chain_id=mirror.chain_id),
        "block_number": str(fresh.block_number),
        "tx_hash": tx_hash,
    }
    return _note_applied(mirror.cage.golem_id, rule, change, facts, now)


@retry_aborted
def _note_applied(golem_id: UUID, rule: RuleId, change: PendingChange, facts: dict[str, object], now: datetime) -> bool:
    kind, key, tx_hash = rule[0], bytes.fromhex(rule[1][2:]), facts["tx_hash"]
    with transaction.atomic():
        lock_settings(golem_id)
        golem = Golem.objects.get(pk=golem_id)
        if AuditEntry.objects.filter(
            golem_id=golem.pk, event=_APPLIED, data__tx_hash=tx_hash, data__key=facts["key"]
        ).exists():
            return False
        audit_log.append(golem_id=golem.pk, event=_APPLIED, actor=_ACTOR, data=facts, now=now)
        if kind == RuleKind.LIMIT and key == limit_key(Limit.PHASE):
            phase = PHASES[change.value]
            if is_worse(Phase(golem.phase), phase):
                reset_phase(
                    golem=golem, to=phase, reason="an owner's reset on chain took effect", actor=_ACTOR, now=now
                )
    return True
