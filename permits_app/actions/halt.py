"""emergency_halt: from the moment it returns, no commit of the golem starts and nothing new is signed.

`halt_golem` locks the golem's row and raises its halt epoch; starting a commit and storing signed bytes take the same
lock, so each lies wholly before or wholly after the halt. `carry_out_halt` then does what needs the chain, in a
worker: cancels what was signed, revokes standing approvals, cancels signed promises, lists positions, takes them back
and exchanges what came out when the owner chose that, and drops a cage's session key, which these steps needed. Emits
halt:started and halt:completed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from archetypes_app.models import ApiKey, Golem
from archetypes_app.models.api_key import Scope
from archetypes_app.toolset import resolve_toolset, view_golem
from permits_app.actions.end_older_resumes import end_older_resumes
from permits_app.actions.end_standing_plans import end_standing_plans
from permits_app.actions.query import list_standing
from permits_app.custody.session_keys import drop_session
from permits_app.execution import cancellation, revocation, right_revocation
from permits_app.execution.halt_wallet_swaps import exchange_holdings, list_exchanges
from permits_app.execution.order_cancelling import cancel_orders, describe_standing_orders
from permits_app.execution.position_unwinding import NOTHING_LEFT, list_open_positions, unwind_positions
from permits_app.execution.promise_cancelling import cancel_promises, describe_open_promises
from permits_app.execution.renounce_rights_on_halt import describe_received, drop_received
from permits_app.halts.deaths import DEATH_ACTOR, is_ending
from permits_app.halts.halt_choices import SAYS, HaltChoice, does_unwind, find_exchange, read_choice
from permits_app.halts.halt_leftovers import IT_STAYS, read_line
from permits_app.halts.resume import lock_keys
from permits_app.limits import ledger
from permits_app.models import ActionPermit, HaltRecord, SigningKey
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.signing_key import KeyState
from permits_app.permits import lifecycle
from permits_app.permits.blocked_commits import list_silent_chains
from permits_app.permits.kept_bounds import KeptAllowance
from tools_app import runner
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain
from tools_app.core.stored_json import read_stored
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import format_units
from tools_app.portfolio.holdings import read_balances
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

POSITIONS_TOOL = "data_get_positions_by_owner"
UNWOUND_STEP = "positions unwound"
"""The step that tells what came of each position."""
IT_WAITS = "it waits"
ITS_OWNER = "its owner"
"""Who does the next step of a position that no tool leaves now."""
EXCHANGED_STEP = "exchanged for the base asset"
"""The step that tells what came of each token of the wallet."""
_DROPPED = (Scope.COMMIT,)
# The sweep looks again; a thread that waited for blocks would be missed by everybody else.
_CANCEL_WAIT_MS = 1_000
_READ_BUDGET_MS = 5_000


class _Steps:
    """What was done, in order, with milliseconds from the start of the halt."""

    def __init__(self, started_ms: float) -> None:
        self.rows: list[dict[str, object]] = []
        self._started_ms = started_ms

    def note(self, step: str, **facts: object) -> None:
        self.rows.append(self.make(step, **facts))

    def make(self, step: str, **facts: object) -> JsonObject:
        """The step as `note` would keep it."""
        return {"step": step, "at_ms": round(clock.monotonic_ms() - self._started_ms), **facts}


def halt_golem(
    *, golem: Golem, reason: str, actor: str, now: datetime, is_drill: bool = False, unless_halted: bool = False
) -> JsonObject:
    """Stop the golem. Answers what was stopped, in order, with milliseconds from the start of each step.

    Each halt counts, also of a golem that is halted: a request that would have ended the one before it is over.
    `on_chain` says whether transactions or approvals are left for `carry_out_halt`. A drill reports the same facts and
    changes nothing but the audit log; `unless_halted` leaves a golem alone that is halted when its lock is given.
    """
    steps = _Steps(clock.monotonic_ms())
    reason = make_plain(reason)
    if is_drill:
        return _rehearse(golem, reason, actor, now, steps)
    record, was_halted = _raise_epoch(golem, reason, actor, now, unless_halted=unless_halted)
    if record is None:
        return {"halted": True, "reason": reason, **_say_choice(golem), "steps": [], "on_chain": False}
    steps.note("commits and signatures refused", was_halted_before=was_halted)
    ended = end_older_resumes(golem_id=golem.pk, now=now)
    if ended:
        steps.note("requests to resume it are over", request_ids=[str(pk) for pk in ended])
    steps.note("open permits cancelled", permit_ids=_cancel_open_permits(golem, reason, actor, now))
    steps.note("API keys lost their commit scope until the golem resumes", keys=_drop_key_scopes(record))
    steps.note("signing keys sign nothing but these steps until the golem resumes", keys=_list_signing_keys(golem))
    in_flight = _describe_in_flight(golem)
    steps.note("transactions in flight listed", transactions=in_flight)
    allowances = list_allowances(golem)
    steps.note("standing allowances listed", allowances=allowances)
    promises = describe_open_promises(golem)
    if promises:
        steps.note("signed promises listed", promises=promises)
    orders = describe_standing_orders(golem)
    if orders:
        steps.note("standing orders listed", orders=orders)
    received = describe_received(golem)
    if received:
        steps.note("rights received listed", received=received)
    choice = read_choice(golem)
    unwinds = choice is not HaltChoice.STOP
    if unwinds:
        steps.note("positions are unwound next, as the owner chose")
    if choice is HaltChoice.LEAVE_FOR_BASE:
        steps.note("what is in the wallet then is exchanged for the base asset, as the owner chose")
    on_chain = bool(in_flight or allowances or promises or orders or received or unwinds)
    _keep_steps(record, steps.rows, actor, now)
    told = {"halted": True, "reason": reason, **_say_choice(golem), "steps": steps.rows}
    return {**told, "epoch": record.epoch, "on_chain": on_chain}


def carry_out_halt(*, golem_id: UUID, epoch: int, now: datetime) -> list[JsonObject]:
    """The steps of one halt that need the chain; answers all its steps. Safe to run twice and twice at once.

    A step that fails is told with its code and tried again by the sweep; it never undoes the halt.
    """
    golem = Golem.objects.select_related("archetype").get(pk=golem_id)
    record = HaltRecord.objects.get(golem=golem, epoch=epoch)
    if not golem.is_halted or golem.halt_epoch != epoch or record.completed_at is not None:
        return list(record.steps)
    elapsed_ms = max(0.0, (now - record.started_at).total_seconds() * 1000)
    steps = _Steps(clock.monotonic_ms() - elapsed_ms)
    done = [
        _try(steps, "transactions in flight cancelled", "transactions", lambda: _cancel_in_flight(golem, now)),
        _try(steps, "standing allowances revoked", "allowances", lambda: _revoke(golem, epoch, record.actor, now)),
        _try(steps, "rights taken back", "rights", lambda: _revoke_rights(golem, epoch, record.actor, now)),
        _cancel_promises(steps, golem, epoch, record.actor, now),
        _cancel_orders(steps, golem, epoch, record.actor, now),
        _drop_received(steps, golem, epoch, record.actor, now),
        _try(steps, "positions listed for unwinding", "positions", lambda: _list_positions(golem, now)),
    ]
    if does_unwind(golem):
        done.append(_unwind(steps, golem, epoch, record.actor, now))
    if find_exchange(golem) is not None:
        done.append(_exchange(steps, golem, epoch, record.actor, now))
    under_way = [str(permit.pk) for permit in _under_way(golem)]
    if under_way:
        # What they approved may be mined yet; the halt ends once it is known to be taken back.
        steps.note("permits under way: their outcome is waited for", permit_ids=under_way)
        done.append(False)
    return _note_carried_out(record, steps, is_done=all(done), now=now)


@retry_aborted
def _keep_steps(record: HaltRecord, told: list[dict[str, object]], actor: str, now: datetime) -> None:
    with transaction.atomic():
        HaltRecord.objects.filter(pk=record.pk).update(steps=told)
        audit_log.append(
            golem_id=record.golem_id,
            event="HaltSteps",
            actor=actor,
            now=now,
            data={"epoch": record.epoch, "steps": told},
        )


@retry_aborted
def _note_carried_out(record: HaltRecord, steps: _Steps, *, is_done: bool, now: datetime) -> list[dict[str, object]]:
    """Keep the steps on the halt's record, and its end when all are done; all the record's steps."""
    golem_id, epoch, found = record.golem_id, record.epoch, list(steps.rows)
    with transaction.atomic():
        golem = Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem_id)
        record = HaltRecord.objects.select_for_update(no_key=True).get(pk=record.pk)
        if record.completed_at is not None or not golem.is_halted or golem.halt_epoch != epoch:
            return list(record.steps)
        if is_done:
            keys = drop_session(golem_id=golem_id, actor="system:halt", now=now)
            found.append(steps.make("session keys dropped until the golem resumes", keys=keys))
        names = {step["step"] for step in found}
        is_retry = any(step["step"] in names for step in record.steps)
        record.steps = [*(step for step in record.steps if step["step"] not in names), *found]
        if is_done:
            record.completed_at = now
        record.save(update_fields=["steps", "completed_at"])
        # A chain that stays away is told once, not at every try.
        if is_done or not is_retry:
            audit_log.append(
                golem_id=golem.pk,
                event="HaltCompleted" if is_done else "HaltIncomplete",
                actor="system:halt",
                now=now,
                data={"epoch": epoch, "steps": found},
            )
        if is_done:
            payload = {"epoch": epoch, "steps": len(record.steps)}
            event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_COMPLETED, payload), now=now)
    return list(record.steps)


def list_exits(*, golem: Golem, now: datetime) -> list[JsonObject]:
    """Every open position with the next step out of it, or what it waits for. Raises the node's errors,
    PositionsUnreadable.
    """
    return list_open_positions(golem=golem, now=now)


def list_what_is_left(*, golem: Golem, now: datetime) -> list[dict[str, str]]:
    """Positions that still hold something: how much (`holds`, for people), the next step, its owner or that it stays,
    and why so.

    Raises what `list_exits` raises.
    """
    return [
        {
            **{name: str(line[name]) for name in ("position", "venue", "label")},
            "next": IT_STAYS if told.stays else told.next_step or (IT_WAITS if told.outcome == "waits" else ITS_OWNER),
            "why": told.why_it_stays or told.reason,
            "holds": told.holds,
        }
        for line in list_exits(golem=golem, now=now)
        for told in [read_line(line)]
        if told.next_step != NOTHING_LEFT or told.stays
    ]


@retry_aborted
def reopen_halt(*, golem: Golem, now: datetime) -> None:
    """Let a halt that was done go through its steps on the chain once more, for a golem that ends."""
    with transaction.atomic():
        locked = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if not locked.is_halted or not is_ending(golem.pk):
            return
        record = HaltRecord.objects.select_for_update(no_key=True).get(golem=golem, epoch=locked.halt_epoch)
        if record.completed_at is not None:
            HaltRecord.objects.filter(pk=record.pk).update(completed_at=None)
            audit_log.append(
                golem_id=golem.pk, event="HaltReopened", actor=DEATH_ACTOR, data={"epoch": record.epoch}, now=now
            )


def list_unfinished_halts() -> list[tuple[UUID, int]]:
    """(golem, epoch) of halts that still hold and whose steps on the chain are not done, where its node answers."""
    silent = list_silent_chains(now=clock.now())
    rows = HaltRecord.objects.filter(completed_at__isnull=True, golem__halted_at__isnull=False).select_related("golem")
    rows = rows.exclude(golem__home_chain_id__in=silent)
    return [(record.golem_id, record.epoch) for record in rows if record.epoch == record.golem.halt_epoch]


def list_allowances(golem: Golem) -> list[JsonObject]:
    """Allowances that ended permits left standing, and those that permits under way have approved or may yet."""
    return list_allowances_of([golem])[golem.pk]


def list_allowances_of(golems: Collection[Golem]) -> dict[UUID, list[JsonObject]]:
    """The same of several, by golem."""
    found: dict[UUID, dict[tuple[int, str, str], dict[str, object]]] = {golem.pk: {} for golem in golems}
    for permit in _under_way(*golems):
        for allowance in (read_stored(KeptAllowance, each) for each in permit.bounds.get("allowances", [])):
            # What Permit2 keeps is a right of its own, which a halt asks for and takes back as such.
            if allowance.through:
                continue
            token = allowance.token
            found[permit.golem_id][permit.chain_id, token.address, allowance.spender] = {
                "token": token.symbol,
                "left": str(allowance.granted),
            }
    for row in list_standing(*golems):
        found[row.golem_id][row.chain_id, row.token, row.spender] = {"token": row.symbol, "left": row.left}
    return {
        golem_id: [
            {"chain_id": chain_id, "token_address": token, "spender": spender, **facts}
            for (chain_id, token, spender), facts in of_golem.items()
        ]
        for golem_id, of_golem in found.items()
    }


@retry_aborted
def _raise_epoch(
    golem: Golem, reason: str, actor: str, now: datetime, *, unless_halted: bool
) -> tuple[HaltRecord | None, bool]:
    """The new halt, and whether the golem was halted before; None where that one is left as it is."""
    with transaction.atomic():
        locked = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if locked.is_halted and unless_halted:
            return None, True
        was_halted, epoch = locked.is_halted, locked.halt_epoch + 1
        before = HaltRecord.objects.filter(golem=golem, epoch=locked.halt_epoch).first() if was_halted else None
        halted_at = locked.halted_at if was_halted else now
        Golem.objects.filter(pk=golem.pk).update(halt_epoch=epoch, halted_at=halted_at, halt_reason=reason)
        record = HaltRecord.objects.create(
            golem=golem,
            epoch=epoch,
            reason=reason,
            actor=actor,
            started_at=now,
            # What the halt before took away is given back by the resume that ends this one.
            dropped_scopes=before.dropped_scopes if before is not None else {},
        )
        end_standing_plans(golem_id=golem.pk, actor="system:halt", now=now)
        event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_STARTED, {"reason": reason}), now=now)
        audit_log.append(
            golem_id=golem.pk, event="HaltStarted", actor=actor, data={"reason": reason, "epoch": epoch}, now=now
        )
        return record, was_halted


def _rehearse(golem: Golem, reason: str, actor: str, now: datetime, steps: _Steps) -> dict[str, object]:
    steps.note("commits and signatures would be refused", was_halted_before=golem.is_halted)
    open_permits = [str(pk) for pk in _open_permits(golem).values_list("pk", flat=True)]
    steps.note("open permits would be cancelled", permit_ids=open_permits)
    keys = [key.prefix for key in _live_keys(golem) if set(key.scopes) & set(_DROPPED)]
    steps.note("API keys would lose their commit scope", keys=keys)
    steps.note("signing keys would sign nothing but these steps", keys=_list_signing_keys(golem))
    steps.note("transactions in flight would be cancelled", transactions=_describe_in_flight(golem))
    steps.note("standing allowances would be revoked", allowances=list_allowances(golem))
    if promises := describe_open_promises(golem):
        steps.note("signed promises would be cancelled", promises=promises)
    if orders := describe_standing_orders(golem):
        steps.note("standing orders would be cancelled", orders=orders)
    if received := describe_received(golem):
        steps.note("rights received would be given up, or named with who must end them", received=received)
    _try(steps, "rights would be taken back", "rights", lambda: _list_rights(golem, now))
    _try(steps, "positions listed for unwinding", "positions", lambda: _list_positions(golem, now))
    if does_unwind(golem):
        _try(steps, "positions would be unwound", "positions", lambda: list_open_positions(golem=golem, now=now))
    if find_exchange(golem) is not None:
        _try(steps, "would be exchanged beside that", "exchanges", lambda: list_exchanges(golem=golem, now=now))
    audit_log.append(
        golem_id=golem.pk, event="HaltDrill", actor=actor, now=now, data={"reason": reason, "steps": steps.rows}
    )
    told = {"halted": golem.is_halted, "reason": reason, **_say_choice(golem), "steps": steps.rows}
    return {**told, "is_drill": True}


def _say_choice(golem: Golem) -> dict[str, str]:
    choice = read_choice(golem)
    return {"choice": choice.value, "what_follows": SAYS[choice]}


def _try(steps: _Steps, name: str, word: str, call: Callable[[], list[dict[str, object]]]) -> bool:
    try:
        steps.note(name, **{word: call()})
    except GolemError as error:
        steps.note(name, failed=error.code, detail=error.detail)
        return False
    return True


def _cancel_promises(steps: _Steps, golem: Golem, epoch: int, actor: str, now: datetime) -> bool:
    promises, is_done = cancel_promises(golem=golem, epoch=epoch, actor=actor, now=now)
    if promises:
        steps.note("signed promises cancelled", promises=promises)
    return is_done


def _cancel_orders(steps: _Steps, golem: Golem, epoch: int, actor: str, now: datetime) -> bool:
    orders, is_done = cancel_orders(golem=golem, epoch=epoch, actor=actor, now=now)
    if orders:
        steps.note("standing orders cancelled", orders=orders)
    return is_done


def _drop_received(steps: _Steps, golem: Golem, epoch: int, actor: str, now: datetime) -> bool:
    name = "rights received given up"
    try:
        received, is_done = drop_received(golem=golem, epoch=epoch, actor=actor, now=now)
    except GolemError as error:
        steps.note(name, failed=error.code, detail=error.detail)
        return False
    if received:
        steps.note(name, received=received)
    return is_done


def _unwind(steps: _Steps, golem: Golem, epoch: int, actor: str, now: datetime) -> bool:
    name = UNWOUND_STEP
    try:
        positions, is_done = unwind_positions(
            golem=golem, epoch=epoch, actor=actor, now=now, goes_on=lambda: does_unwind(golem)
        )
    except GolemError as error:
        steps.note(name, failed=error.code, detail=error.detail)
        return False
    steps.note(name, positions=positions)
    return is_done


def _exchange(steps: _Steps, golem: Golem, epoch: int, actor: str, now: datetime) -> bool:
    try:
        told, is_done = exchange_holdings(golem=golem, epoch=epoch, actor=actor, now=now)
    except GolemError as error:
        steps.note(EXCHANGED_STEP, failed=error.code, detail=error.detail)
        return False
    steps.note(EXCHANGED_STEP, exchanges=told)
    return is_done


def _open_permits(golem: Golem) -> QuerySet[ActionPermit]:
    open_states = [PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED]
    return ActionPermit.objects.filter(golem=golem, status__in=open_states)


def _cancel_open_permits(golem: Golem, reason: str, actor: str, now: datetime) -> list[str]:
    cancelled = []
    for permit in _open_permits(golem):
        if _cancel(permit, f"halted: {reason}", actor, now):
            cancelled.append(str(permit.pk))
    return cancelled


@retry_aborted
def _cancel(permit: ActionPermit, reason: str, actor: str, now: datetime) -> bool:
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=permit.pk,
            leaving=PermitStatus(permit.status),
            to=PermitStatus.CANCELLED,
            actor=actor,
            now=now,
            reason=reason,
            finished_at=now,
        )
        if done:
            ledger.release(permit_id=permit.pk)
    return done


def _under_way(*golems: Golem) -> list[ActionPermit]:
    """Permits whose outcome is not seen yet, but for the halt's own."""
    rows = ActionPermit.objects.filter(golem__in=golems, status__in=[str(state) for state in UNFINISHED])
    return list(rows.filter(halt_epoch__isnull=True).order_by("created_at"))


def _live_keys(golem: Golem) -> list[ApiKey]:
    return list(ApiKey.objects.filter(golem=golem, revoked_at__isnull=True))


def _list_signing_keys(golem: Golem) -> list[str]:
    """Every key that signs for the golem or is about to: the session key of a cage, the key of a plain account."""
    keys = SigningKey.objects.filter(golem=golem).exclude(state=KeyState.DROPPED)
    return list(keys.order_by("created_at").values_list("address", flat=True))


@retry_aborted
def _drop_key_scopes(record: HaltRecord) -> list[str]:
    with transaction.atomic():
        record = HaltRecord.objects.select_for_update(no_key=True).get(pk=record.pk)
        dropped: dict[str, list[str]] = dict(record.dropped_scopes)
        prefixes = []
        for key in lock_keys(golem_id=record.golem_id):
            lost = [scope for scope in key.scopes if scope in _DROPPED]
            if not lost:
                continue
            key.scopes = [scope for scope in key.scopes if scope not in lost]
            key.save(update_fields=["scopes"])
            dropped[str(key.pk)] = lost
            prefixes.append(key.prefix)
        HaltRecord.objects.filter(pk=record.pk).update(dropped_scopes=dropped)
    return prefixes


def _describe_in_flight(golem: Golem) -> list[dict[str, object]]:
    return [
        {"permit_id": str(row.permit_id), "tx_hash": row.tx_hash, "nonce": row.nonce, "state": row.state}
        for row in cancellation.list_in_flight(golem_id=golem.pk)
    ]


def _cancel_in_flight(golem: Golem, now: datetime) -> list[dict[str, object]]:
    return cancellation.cancel_in_flight(golem_id=golem.pk, actor="system:halt", now=now, wait_ms=_CANCEL_WAIT_MS)


def _revoke(golem: Golem, epoch: int, actor: str, now: datetime) -> list[dict[str, object]]:
    pairs: dict[int, list[tuple[str, str]]] = {}
    for entry in list_allowances(golem):
        pairs.setdefault(entry["chain_id"], []).append((entry["token_address"], entry["spender"]))
    revoked: list[dict[str, object]] = []
    for chain_id, of_chain in sorted(pairs.items()):
        revoked += revocation.revoke_standing(
            golem=golem, epoch=epoch, chain_id=chain_id, pairs=of_chain, actor=actor, now=now
        )
    return revoked


def _list_chains(golem: Golem) -> list[int]:
    """The golem's chains, and every other one on which it ever asked for something."""
    used = ActionPermit.objects.filter(golem=golem).values_list("chain_id", flat=True).distinct()
    return sorted({*list_chains(golem), *used}) if golem.address else []


def _revoke_rights(golem: Golem, epoch: int, actor: str, now: datetime) -> list[dict[str, object]]:
    return [
        told
        for chain_id in _list_chains(golem)
        for told in right_revocation.revoke_rights(golem=golem, epoch=epoch, chain_id=chain_id, actor=actor, now=now)
    ]


def _list_rights(golem: Golem, now: datetime) -> list[dict[str, object]]:
    return [
        right_revocation.describe_right(right, chain_id=chain_id)
        for chain_id in _list_chains(golem)
        for right in right_revocation.list_rights(golem=golem, chain_id=chain_id, now=now).rights
    ]


def _list_positions(golem: Golem, now: datetime) -> list[dict[str, object]]:
    """Liquidity positions as the golem's own tool lists them, and every registered token it holds."""
    if not golem.address:
        return []
    held: list[dict[str, object]] = []
    for chain_id in list_chains(golem):
        chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))
        tokens = (chain.native(), *chain.registered_tokens())
        amounts = read_balances(chain=chain, account=golem.address, tokens=tokens)
        where = {"chain_id": chain_id} if chain_id != golem.home_chain_id else {}
        held += [
            {
                "token": token.symbol,
                "token_address": token.address,
                "raw": str(amounts[token.address]),
                "units": format_units(amounts[token.address], token.decimals, token.symbol),
                **where,
            }
            for token in tokens
            if amounts[token.address]
        ]
    tool = REGISTRY.get(POSITIONS_TOOL)
    if isinstance(tool, ReadTool) and tool.name in resolve_toolset(golem):
        answer = runner.run_read(tool=tool, params={"owner": golem.address}, golem=view_golem(golem), now=now)
        held.append({"positions": answer.data})
    return held
