"""sync_policy_cage: bring the mirror of a cage to its chain's newest block; register_cage makes one.

The chain is read first, outside any transaction; then the rows are locked and written if nobody else was faster. What
a reorganisation took back is rolled back to the last block that still stands. Appends CageMirrored when a rule or the
session changed; emits policy:cage_updated. The Safe itself is looked at too: SafeChanged and safe:changed when
something of it became weaker. A fall that the contract noted is told like one that was seen here, and the golem is
valued at once (PolicyCageCheck, policy:violation).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, When

from archetypes_app.models import Golem
from permits_app.actions.value_golem import value_golem
from permits_app.custody.agreed_safe import list_handlers
from permits_app.errors import CageContradicted
from permits_app.models import CageCheckpoint, CageMirror, PolicyCage
from permits_app.permits.blocked_commits import list_silent_chains
from permits_app.policy_cage.contract import Limit
from permits_app.policy_cage.mirror import (
    CageFacts,
    Followed,
    MirrorPoint,
    follow_cage,
    hash_rules,
    is_enforced,
    read_columns,
    read_facts,
)
from permits_app.policy_cage.mirror_registration import columns_before, columns_of_unread, note_registered, point_at
from permits_app.policy_cage.safe_watch import (
    SafeState,
    adopt_code,
    is_told,
    list_bypasses,
    list_changes,
    read_safe_state,
    say_change,
    settle_first,
)
from permits_app.policy_cage.state import CageState
from tools_app import runner
from tools_app.core import audit_log, event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.context import ChainReader

_BUDGET_MS = 10_000
_CHECKPOINTS_KEPT = 64
_ACTOR = "system:cage-mirror"


def register_cage(*, golem_id: UUID, chain_id: int, contract: str, deployed_block: int, now: datetime) -> CageMirror:
    """Let a golem's cage follow a contract from the block that holds its deployment. Raises NotACage."""
    facts = read_facts(_open(chain_id, now), contract)
    mirror_id = _register(golem_id, chain_id, contract, deployed_block, facts, now)
    return sync_policy_cage(mirror_id=mirror_id, now=now)


@retry_aborted
def _register(
    golem_id: UUID, chain_id: int, contract: str, deployed_block: int, facts: CageFacts, now: datetime
) -> int:
    with transaction.atomic():
        golem = Golem.objects.select_for_update(no_key=True).get(pk=golem_id)
        cage, _ = PolicyCage.objects.get_or_create(golem=golem)
        columns = columns_of_unread(chain_id=chain_id, contract=contract, deployed_block=deployed_block, facts=facts)
        # No `update_or_create`, which would lock the row against its own checkpoints.
        known = CageMirror.objects.select_for_update(no_key=True, of=("self",)).filter(cage=cage).first()
        mirror = known or CageMirror(cage=cage)
        point_at(mirror, columns)
        note_registered(mirror, golem_id=golem_id, actor=_ACTOR, now=now)
    return int(mirror.pk)


def sync_policy_cages(*, now: datetime) -> dict[str, int]:
    """Every mirror of a chain that answers; one that fails keeps its problem on its row and stops nobody else's.

    The longest unseen first, and those that failed last after all others: a round that takes too long is stopped.
    """
    heard = CageMirror.objects.exclude(chain_id__in=list_silent_chains(now=now))
    failed_last = Case(When(problem="", then=0), default=1)
    ordered = heard.order_by(failed_last, F("synced_at").asc(nulls_first=True), "pk")
    mirrors = list(ordered.values_list("pk", flat=True))
    done = list(one_by_one(mirrors, lambda pk: sync_policy_cage(mirror_id=pk, now=now), what="the mirror"))
    return {"synced": len(done), "failed": len(mirrors) - len(done)}


def sync_policy_cage(*, mirror_id: int, now: datetime) -> CageMirror:
    """Follow one cage. Raises CageReorganised, CageContradicted and what a node raises, kept as the row's problem."""
    mirror = CageMirror.objects.select_related("cage").get(pk=mirror_id)
    try:
        followed = follow_cage(known=_known(mirror), open_chain=lambda: _open(mirror.chain_id, now), now=now)
        chain = _open(mirror.chain_id, now)
        facts = read_facts(chain, mirror.contract)
        replaced = mirror.replaced if mirror.replaced and is_enforced(chain, mirror.replaced) else ""
        safe = read_safe_state(chain, mirror.account)
    except CageContradicted as error:
        _forget(mirror, _describe(error))
        raise
    except GolemError as error:
        CageMirror.objects.filter(pk=mirror_id).update(problem=_describe(error))
        raise
    kept = _keep(mirror, followed, facts, replaced, safe, now)
    if kept.state["is_drawdown_breached"] and not mirror.state["is_drawdown_breached"]:
        value_golem(golem=Golem.objects.get(pk=kept.cage.golem_id), now=now)
    return kept


def _describe(error: GolemError) -> str:
    return f"{error.code}: {error.detail}"[:200]


@retry_aborted
def _forget(seen: CageMirror, problem: str) -> None:
    """What is not true is not kept: writes are refused at once, and the next sync reads from the deployment on."""
    with transaction.atomic():
        mirror = CageMirror.objects.select_for_update(no_key=True, of=("self",)).get(pk=seen.pk)
        start = CageState(cage=mirror.contract, account=mirror.account, base_asset=mirror.base_asset)
        mirror.checkpoints.all().delete()
        for name, value in columns_before(start, mirror.deployed_block).items():
            setattr(mirror, name, value)
        mirror.problem = problem
        mirror.save()


def _known(mirror: CageMirror) -> list[MirrorPoint]:
    """Newest first: where it stands, its checkpoints, and the block before its deployment."""
    current = _as_point(mirror.block_number, mirror.block_hash, mirror.block_at, mirror.state)
    rows = mirror.checkpoints.filter(block_number__lt=mirror.block_number).order_by("-block_number")
    kept = [_as_point(row.block_number, row.block_hash, row.block_at, row.state) for row in rows]
    empty = CageState(cage=mirror.contract, account=mirror.account, base_asset=mirror.base_asset)
    return [current, *kept, MirrorPoint(max(0, mirror.deployed_block - 1), "", 0, empty)]


def _as_point(number: int, block_hash: str, at: datetime, state: dict[str, object]) -> MirrorPoint:
    return MirrorPoint(number, block_hash, int(at.timestamp()), CageState.from_dict(state))


@retry_aborted
def _keep(
    seen: CageMirror, followed: Followed, facts: CageFacts, replaced: str, safe: SafeState | None, now: datetime
) -> CageMirror:
    with transaction.atomic():
        mirror = CageMirror.objects.select_for_update(no_key=True, of=("self",)).select_related("cage").get(pk=seen.pk)
        if (mirror.block_number, mirror.block_hash, mirror.contract) != (
            seen.block_number,
            seen.block_hash,
            seen.contract,
        ):
            return mirror
        is_rolled_back = followed.base.block_number < mirror.block_number
        mirror.checkpoints.filter(block_number__gt=followed.base.block_number).delete()
        _write_checkpoints(mirror, followed.changed)
        was, state = CageState.from_dict(mirror.state), followed.head.state
        mirror.is_enforced, mirror.replaced = facts.is_enforced, replaced
        mirror.state, mirror.rules_hash = state.as_dict(), hash_rules(state)
        mirror.block_number, mirror.block_hash = followed.head.block_number, followed.head.block_hash
        mirror.block_at = datetime.fromtimestamp(followed.head.block_time, UTC)
        mirror.problem = ""
        if followed.is_newest:
            mirror.synced_at = now
        else:
            mirror.problem = f"still reading: block {mirror.block_number} of {followed.newest_block}"
        lines = _keep_safe(mirror, safe)
        mirror.save()
        changed = _write_columns(mirror.cage, state)
        if lines:
            _tell_safe(mirror, lines, now=now)
        if was.rules != state.rules or was.keys != state.keys or is_rolled_back:
            _announce(mirror, changed, is_rolled_back=is_rolled_back, now=now)
        if state.is_drawdown_breached and not was.is_drawdown_breached:
            _tell_fall(mirror, state, now=now)
    return mirror


def _keep_safe(mirror: CageMirror, safe: SafeState | None) -> list[str]:
    """What is new of whatever else acts for the Safe, a line each; what its owners took note of stays theirs."""
    kept = safe.as_dict() if safe is not None else {}
    if kept == mirror.safe:
        return []
    if safe is None:
        lines = ["it does not answer as a Safe does"]
    elif mirror.safe:
        changes = list_changes(SafeState.from_dict(mirror.safe), safe, cage=mirror.contract)
        lines = [say_change(one) for one in changes if is_told(one, cage=mirror.contract)]
        mirror.safe_noted = adopt_code(mirror.safe_noted, safe)
    else:
        # Who owns it and what it runs when the cage is first followed is what its owners made; what else acts for it
        # they have to say themselves.
        known = tuple(one for one in (mirror.contract, mirror.replaced) if one)
        mirror.safe_noted = settle_first(safe, known=known, handlers=list_handlers(mirror.chain_id)).as_dict()
        lines = list_bypasses(safe, mirror.contract)
    mirror.safe = kept
    return lines


def _tell_safe(mirror: CageMirror, lines: Sequence[str], *, now: datetime) -> None:
    data = {"contract": mirror.contract, "account": mirror.account, "lines": list(lines)}
    audit_log.append(golem_id=mirror.cage.golem_id, event="SafeChanged", actor=_ACTOR, data=data, now=now)
    told = {"account": mirror.account, "contract": mirror.contract, "count": len(lines)}
    event_bus.emit(golem_id=mirror.cage.golem_id, event=Event(EventType.SAFE_CHANGED, told), now=now)


def _tell_fall(mirror: CageMirror, state: CageState, *, now: datetime) -> None:
    golem_id = mirror.cage.golem_id
    facts = {
        "rule": "policy_cage.drawdown",
        "reason": "the cage contract noted a fall; until its owners acknowledge it there, positions are only left",
        "limit_bps": str(state.limit(Limit.MAX_DRAWDOWN_BPS)),
        "mark": format_micro_usd(state.limit(Limit.HIGH_WATER_MARK_MICRO_USD)),
    }
    data = {**facts, "contract": mirror.contract, "block_number": str(mirror.block_number)}
    audit_log.append(golem_id=golem_id, event="PolicyCageCheck", actor=_ACTOR, data=data, now=now)
    event = Event(EventType.POLICY_VIOLATION, {"hook": "policy_cage", **facts})
    event_bus.emit(golem_id=golem_id, event=event, now=now)


def _write_checkpoints(mirror: CageMirror, points: Sequence[MirrorPoint]) -> None:
    CageCheckpoint.objects.bulk_create(
        CageCheckpoint(
            mirror=mirror,
            block_number=point.block_number,
            block_hash=point.block_hash,
            block_at=datetime.fromtimestamp(point.block_time, UTC),
            state=point.state.as_dict(),
        )
        for point in points
    )
    surplus = mirror.checkpoints.order_by("-block_number").values_list("pk", flat=True)[_CHECKPOINTS_KEPT:]
    mirror.checkpoints.filter(pk__in=list(surplus)).delete()


def _write_columns(cage: PolicyCage, state: CageState) -> list[str]:
    """The figures of the cage's own row; returns which moved."""
    changed = [name for name, value in read_columns(state).items() if getattr(cage, name) != value]
    for name in changed:
        setattr(cage, name, read_columns(state)[name])
    if changed:
        cage.save(update_fields=[*changed, "updated_at"])
    return changed


def _announce(mirror: CageMirror, changed: Sequence[str], *, is_rolled_back: bool, now: datetime) -> None:
    golem_id = mirror.cage.golem_id
    data = {
        "contract": mirror.contract,
        "block_number": str(mirror.block_number),
        "block_hash": mirror.block_hash,
        "rules_hash": mirror.rules_hash,
        "rolled_back": is_rolled_back,
    }
    audit_log.append(golem_id=golem_id, event="CageMirrored", actor=_ACTOR, data=data, now=now)
    event = Event(EventType.POLICY_CAGE_UPDATED, {"row": "cage mirror", "fields": list(changed)})
    event_bus.emit(golem_id=golem_id, event=event, now=now)


def _open(chain_id: int, now: datetime) -> ChainReader:
    return runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
