"""Requests that finish later: the states they go through, and the only writer of those.

REQUESTED -> READY -> CLAIMING -> DONE, or STUCK (over its time; looked at still, since it may move after all), or LOST
(gone, and no claim of ours took it). What others take of one that goes on is told and changes no state. A standing
order goes REQUESTED -> EXECUTED, CANCELLED or EXPIRED as its protocol says and two looks saw; no clock gives it up. A
receipt only opens one. What a look saw decides alone, so it may be repeated, late, or done by two at once: a change is
made where the row is as the look found it, together with its event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from permits_app.limits import ledger
from permits_app.limits.reserved_parts import GAS, read_parts
from permits_app.models import ActionPermit, PendingRequest
from permits_app.models.pending_request import ENDS_OF_ORDERS, FOLLOWED, RequestState
from permits_app.models.permit import UNFINISHED, PermitStatus
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.orders import OrderEnd, OrderFate
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import (
    FOLLOWED_KINDS,
    ORDER_KIND,
    Act,
    ExitStep,
    Leg,
    Position,
    PositionRef,
    Stuck,
    Wait,
)
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import ReceiptView
from tools_app.toolkit.withdrawal_request_claims import Taking

S = RequestState
LONGEST: Final = timedelta(days=120)
"""What takes longer is stuck, whatever its protocol says; a claim that is there can be made all the same."""
MISSED_FOR: Final = timedelta(seconds=45)
"""It must be gone for so long before it is given up, or its end believed: one node's answer is not enough."""
UNTOLD_FOR: Final = timedelta(hours=1)
"""An order that is gone, and of which its protocol says nothing for so long, is its owner's to look at."""
BROUGHT_LESS: Final = "it was carried out for less than it asked for"
_SOON: Final = timedelta(seconds=30)
_LATER: Final = timedelta(minutes=5)
_SELDOM: Final = timedelta(hours=1)
_EVENTS: Final = {
    S.READY: EventType.REQUEST_READY,
    S.DONE: EventType.REQUEST_DONE,
    S.STUCK: EventType.REQUEST_STUCK,
    S.LOST: EventType.REQUEST_LOST,
    S.EXECUTED: EventType.REQUEST_EXECUTED,
    S.CANCELLED: EventType.REQUEST_CANCELLED,
    S.EXPIRED: EventType.REQUEST_EXPIRED,
}
_AUDITED: Final = {
    S.EXECUTED: "OrderExecuted",
    S.CANCELLED: "OrderCancelled",
    S.EXPIRED: "OrderExpired",
    S.LOST: "OrderLost",
}


@dataclass(frozen=True, slots=True)
class RequestLook:
    """What one look saw: the position (None: not there), its next step out, and the newest claim of ours.

    Of an order that is gone also its `end`, as its protocol tells it and as far as transfers show it, and what the
    account holds as its `successor`. Of a request that ended by itself `takings` say who got it, those to the account
    only as far as transfers show them; None where its protocol cannot say. Of one that goes on `others` are what others
    claimed up to `others_block`, and the look before did not see. `block` is the block that was looked at, `block_time`
    its Unix seconds.
    """

    at: datetime
    position: Position | None
    step: ExitStep | None = None
    claim: ActionPermit | None = None
    end: OrderEnd | None = None
    successor: Position | None = None
    takings: tuple[Taking, ...] | None = None
    others: tuple[Taking, ...] = ()
    others_block: int | None = None
    block: int | None = None
    block_time: int = 0


@dataclass(frozen=True, slots=True)
class RequestVerdict:
    """What follows from a look."""

    state: RequestState
    expected_at: datetime | None = None
    missed_at: datetime | None = None
    reason: str = ""
    seen_state: str = ""
    arrived_block: int | None = None


def judge_look(row: PendingRequest, look: RequestLook) -> RequestVerdict:
    """The state a request is in, from what was seen alone. Pure."""
    if row.is_order:
        return _judge_order(row, look) if look.position is not None else _judge_gone_order(row, look)
    is_claiming = look.claim is not None and look.claim.status in UNFINISHED
    if look.position is not None and look.position.is_settled:
        if look.takings is None:
            return _judge_end(row, look, S.DONE)
        return _judge_takings(row, look, look.takings, is_claiming=is_claiming)
    if look.position is None:
        return _judge_missing(row, look, is_claiming=is_claiming)
    if is_claiming:
        return RequestVerdict(S.CLAIMING, row.expected_at)
    reason = ""
    if look.claim is not None and look.claim.status == PermitStatus.REVERTED:
        reason = "the last claim reverted"
    if isinstance(look.step, Act):
        return RequestVerdict(S.READY, row.expected_at, reason=reason)
    if isinstance(look.step, Stuck):
        return RequestVerdict(S.STUCK, row.expected_at, reason=look.step.reason)
    if look.at > row.created_at + LONGEST:
        return RequestVerdict(S.STUCK, row.expected_at, reason=f"not ready after {LONGEST.days} days")
    until = look.step.until if isinstance(look.step, Wait) else _free_at(look.position)
    if look.step is None and until is None:
        # No exits say otherwise, and nothing in it has a time: it can be had.
        return RequestVerdict(S.READY, row.expected_at, reason=reason)
    return RequestVerdict(S.REQUESTED, None if until is None else datetime.fromtimestamp(until, tz=UTC), reason=reason)


def plan_next_look(row: PendingRequest, verdict: RequestVerdict, now: datetime) -> datetime:
    """When to look again: soon while something is to be done or missing, seldom while it is far away or stuck."""
    is_soon = verdict.missed_at is not None or verdict.arrived_block is not None
    if is_soon or verdict.state in (S.READY, S.CLAIMING):
        return now + _SOON
    if verdict.state == S.STUCK:
        return now + _SELDOM
    if row.is_order and (ends_at := verdict.expected_at) is not None:
        # Right after its time its end is looked for, and never more seldom than what has no time.
        return min(max(ends_at + timedelta(seconds=1), now + _SOON), now + _LATER)
    if verdict.expected_at is None:
        return now + _LATER
    return min(max(verdict.expected_at, now + _SOON), now + (_LATER if verdict.expected_at <= now else _SELDOM))


def list_born(*, plan: TxPlan, account: str, receipts: Sequence[ReceiptView]) -> tuple[PositionRef, ...]:
    """The requests that receipts say a plan's account now has."""
    logs = [log for receipt in receipts if receipt.succeeded for log in receipt.logs]
    return tuple(
        ref
        for protocol in SHELF.on(plan.chain_id)
        if protocol.positions is not None and any(protocol.owns(plan.chain_id, log.address) for log in logs)
        for ref in protocol.positions.born(logs, account, plan.chain_id)
        if ref.kind in FOLLOWED_KINDS
    )


def list_orders(refs: Sequence[PositionRef]) -> tuple[PositionRef, ...]:
    """Those of `refs` that somebody else carries out, while which what they hold stays reserved."""
    return tuple(ref for ref in refs if ref.kind == ORDER_KIND)


def look_soon(*, permit: ActionPermit, now: datetime) -> None:
    """What an ended permit speaks of is looked at now, not when it was expected. Joins the caller's transaction."""
    refs = [change["ref"] for change in permit.bounds.get("changes", ()) if change.get("ref")]
    if refs:
        waiting = PendingRequest.objects.filter(golem_id=permit.golem_id, ref__in=refs, next_check_at__gt=now)
        waiting.filter(state__in=[str(state) for state in FOLLOWED]).update(next_check_at=now)


def open_requests(
    *,
    permit: ActionPermit,
    plan: TxPlan,
    refs: Sequence[PositionRef],
    block: int,
    now: datetime,
    holds_micro_usd: int = 0,
) -> None:
    """Follow these from now on. Joins the caller's transaction, which holds the golem's event counter.

    One that is followed already stays as it is; one that was given up or is done, or an order that ended (its block
    left the chain), begins anew. `holds_micro_usd` is what all orders among them keep reserved, in equal parts.
    """
    if plan.arrivals:
        # Its block left the chain and it was sent anew, or reverted: what the first try had under way is not.
        first = PendingRequest.objects.filter(permit=permit, state__in=[str(state) for state in FOLLOWED])
        first.exclude(ref__in=[str(ref) for ref in refs]).update(state=S.LOST, updated_at=now)
    if not refs:
        return
    names, orders = [str(ref) for ref in refs], list_orders(refs)
    holds = {str(ref): _share(holds_micro_usd, place, len(orders)) for place, ref in enumerate(orders)}
    known = PendingRequest.objects.filter(golem_id=permit.golem_id, account=permit.account, ref__in=names)
    # What an account has one of under one name, such as a cooldown, is asked for again once the first one is home.
    is_asked_anew = Q(state=S.DONE) & ~Q(permit=permit)
    known.filter(Q(state__in=[S.LOST, *ENDS_OF_ORDERS]) | is_asked_anew).update(
        permit=permit,
        claim=None,
        told_state="",
        state=S.REQUESTED,
        missed_at=None,
        seen_state="",
        ended_at=None,
        spent_micro_usd=None,
        successor="",
        came=[],
        others_took=[],
        others_block=None,
        others_told=[],
        next_check_at=now,
        block_number=block,
    )
    kept = set(known.values_list("ref", flat=True))
    amounts = _promised(plan, refs)
    rows = [
        PendingRequest(
            golem_id=permit.golem_id,
            permit=permit,
            chain_id=permit.chain_id,
            expects_chain_id=ref.chain_id,
            account=permit.account,
            protocol=ref.protocol,
            ref=str(ref),
            amounts=amounts[index],
            block_number=block,
            next_check_at=now,
            is_order=ref.kind == ORDER_KIND,
            gave=amounts[index] if ref.kind == ORDER_KIND else [],
            holds_micro_usd=holds.get(str(ref), 0),
        )
        for index, ref in enumerate(refs)
        if str(ref) not in kept
    ]
    PendingRequest.objects.bulk_create(rows)
    if rows:
        events = [Event(EventType.REQUEST_OPENED, _tell(row, S.REQUESTED, "", None)) for row in rows]
        event_bus.emit_all(golem_id=permit.golem_id, events=events, now=now)


@retry_aborted
def record_look(row: PendingRequest, look: RequestLook, verdict: RequestVerdict) -> bool:
    """Write what a look saw; True when it changed the state. Nothing is written over what changed since it was read."""
    seen: JsonObject = {
        "checked_at": look.at,
        "next_check_at": plan_next_look(row, verdict, look.at),
        "expected_at": verdict.expected_at,
        "missed_at": verdict.missed_at,
        "last_error": verdict.reason[:255],
        "arrived_block": verdict.arrived_block,
    }
    if look.position is not None and not look.position.is_settled:
        seen["amounts"] = _tell_legs(look.position.legs)
    if look.claim is not None:
        seen["claim"] = look.claim
    if row.is_order:
        seen |= _see_order(look, verdict)
    elif look.position is not None and verdict.state == S.REQUESTED and not look.position.is_settled:
        seen["seen_block"] = look.block
    if look.others_block is not None:
        seen |= _see_others(row, look)
    as_read = PendingRequest.objects.filter(pk=row.pk, state=row.state, others_took=row.others_took)
    if verdict.state == row.state and not look.others:
        as_read.update(**seen, updated_at=look.at)
        return False
    with transaction.atomic():
        # Whoever changes a state holds this counter, so nothing changes between the question and the update.
        event_bus.lock_golem(row.golem_id)
        if not as_read.exists():
            return False
        claim_id = look.claim.pk if look.claim is not None else None
        if row.is_order and verdict.state in _AUDITED:
            seen |= _end_order(row, look, verdict)
            row.successor, row.came = seen["successor"], seen["came"]
            said = _tell(row, verdict.state, verdict.reason, claim_id, verdict.expected_at)
            audit_log.append(
                golem_id=row.golem_id,
                event=_AUDITED[verdict.state],
                actor="system:follower",
                data={**said, "spent_micro_usd": str(seen["spent_micro_usd"])},
                now=look.at,
            )
            _settle_with_the_last(row, seen["spent_micro_usd"], at=look.at)
        as_read.update(**seen, state=verdict.state, updated_at=look.at)
        if look.others:
            taken = Event(EventType.REQUEST_TAKEN, _tell(row, verdict.state, say_taken(seen["others_took"]), claim_id))
            event_bus.emit(golem_id=row.golem_id, event=taken, now=look.at)
        kind = _EVENTS.get(verdict.state)
        if kind is not None and verdict.state != row.state:
            told = Event(kind, _tell(row, verdict.state, verdict.reason, claim_id, verdict.expected_at))
            event_bus.emit(golem_id=row.golem_id, event=told, now=look.at)
    return verdict.state != row.state or bool(look.others)


def say_taken(took: Sequence[Mapping[str, str]]) -> str:
    """What others took, a sum a token and the last who got it, in words."""
    each = "{raw} base units of {token} were claimed for {to}"
    return f"{', '.join(each.format(**one) for one in took)}, and not for the account"


def put_off(rows: Sequence[PendingRequest], *, reason: str, now: datetime) -> None:
    """Nothing could be seen: keep every state and look again later."""
    PendingRequest.objects.filter(pk__in=[row.pk for row in rows]).update(
        last_error=reason[:255], next_check_at=now + _SOON, updated_at=now
    )


def _judge_end(row: PendingRequest, look: RequestLook, end: RequestState, reason: str = "") -> RequestVerdict:
    """What ended by itself has ended once the block that showed it is final enough for us; until then it goes on."""
    block = look.block or 0
    seen = row.arrived_block if row.arrived_block is not None and row.arrived_block <= block else block
    network = KNOWN_NETWORKS.get(row.expects_chain_id)
    if block < seen + (network.confirmations if network is not None else 1):
        soon = reason or "it arrived"
        return RequestVerdict(S(row.state), row.expected_at, reason=f"{soon}, and is final soon", arrived_block=seen)
    return RequestVerdict(end, row.expected_at, reason=reason, arrived_block=seen)


def _judge_takings(
    row: PendingRequest, look: RequestLook, takings: Sequence[Taking], *, is_claiming: bool
) -> RequestVerdict:
    """It has arrived where all came to the account; what went elsewhere is lost, and what nobody saw is missed."""
    elsewhere = [each for each in takings if each.to != row.account]
    if elsewhere or row.others_took:
        # A part that was told while the rest was there may lie further back than its end is looked for.
        took = _sum_taken(elsewhere) if elsewhere else row.others_took
        return _judge_end(row, look, S.LOST, say_taken(took))
    if takings:
        return _judge_end(row, look, S.DONE)
    return _judge_missing(row, look, is_claiming=is_claiming)


def _sum_taken(takings: Sequence[Taking], before: Sequence[Mapping[str, str]] = ()) -> list[dict[str, str]]:
    """A sum a token, with the last who got it."""
    sums = {each["token"]: dict(each) for each in before}
    for each in takings:
        raw = int(sums.get(each.paid.token, {}).get("raw", 0)) + each.paid.raw
        sums[each.paid.token] = {"token": each.paid.token, "raw": str(raw), "to": each.to}
    return list(sums.values())


def _see_others(row: PendingRequest, look: RequestLook) -> JsonObject:
    """What a look tells of claims of others while a request goes on."""
    seen: dict[str, object] = {"others_block": look.others_block}
    return {**seen, "others_took": _sum_taken(look.others, row.others_took)} if look.others else seen


def _judge_missing(row: PendingRequest, look: RequestLook, *, is_claiming: bool) -> RequestVerdict:
    if is_claiming:
        return RequestVerdict(S.CLAIMING, row.expected_at)
    if look.claim is not None and look.claim.status == PermitStatus.COMMITTED:
        return RequestVerdict(S.DONE, row.expected_at)
    missed_at = row.missed_at or look.at
    if look.at < missed_at + MISSED_FOR:
        return RequestVerdict(S(row.state), row.expected_at, missed_at, "a look did not find it")
    return RequestVerdict(S.LOST, row.expected_at, missed_at, "it is gone, and no claim of the golem took it")


def _judge_order(row: PendingRequest, look: RequestLook) -> RequestVerdict:
    """An order that is there waits for somebody else, however long; only its time may be over."""
    standing = look.position.standing if look.position is not None else None
    until = standing.until if standing is not None else None
    ends_at = datetime.fromtimestamp(until, tz=UTC) if until is not None else None
    if isinstance(look.step, Stuck):
        return RequestVerdict(S.STUCK, ends_at, reason=look.step.reason)
    if until is not None and look.block_time > until:
        if isinstance(look.step, Act):
            return RequestVerdict(S.READY, ends_at, reason="its time is over, and what it holds waits to be taken back")
        return RequestVerdict(S.REQUESTED, ends_at, reason="its time is over, and its protocol has not ended it yet")
    return RequestVerdict(S.REQUESTED, ends_at)


def _judge_gone_order(row: PendingRequest, look: RequestLook) -> RequestVerdict:
    """An order that is gone ended as its protocol says, once two looks saw the same; until then it goes on."""
    fate = look.end.fate if look.end is not None else OrderFate.OPEN
    if look.end is None or fate is OrderFate.OPEN:
        missed_at = row.missed_at if row.missed_at is not None and not row.seen_state else look.at
        reason = "it is not listed any more, and its protocol does not say what became of it"
        state = S.STUCK if look.at >= missed_at + UNTOLD_FOR else S(row.state)
        return RequestVerdict(state, row.ends_at, missed_at, reason)
    state, reason = _name_end(row, look.end, look)
    missed_at = row.missed_at if row.seen_state == state and row.missed_at is not None else look.at
    if look.at < missed_at + MISSED_FOR:
        return RequestVerdict(S(row.state), row.ends_at, missed_at, "a look saw its end", seen_state=state)
    return RequestVerdict(state, row.ends_at, missed_at, reason, seen_state=state)


def _name_end(row: PendingRequest, end: OrderEnd, look: RequestLook) -> tuple[RequestState, str]:
    if end.fate is OrderFate.UNKNOWN:
        return S.LOST, "it is gone, and its protocol knows nothing of it"
    if end.successor is not None and look.successor is None:
        return S.LOST, f"it became {end.successor}, which the golem does not hold"
    if end.fate is OrderFate.EXECUTED and look.successor is not None:
        least = {each["token"]: int(each["raw"]) for each in row.brings}
        if any(look.successor.raw_of(token) < raw for token, raw in least.items()):
            return S.EXECUTED, BROUGHT_LESS
    return S(end.fate.value), end.reason


def _see_order(look: RequestLook, verdict: RequestVerdict) -> JsonObject:
    """What a look tells of an order besides its state."""
    seen: dict[str, object] = {"seen_state": verdict.seen_state, "ends_at": verdict.expected_at, "expected_at": None}
    if look.position is not None:
        seen["seen_block"] = look.block
        standing = look.position.standing
        if standing is not None:
            seen["awaits"] = standing.awaits[:255]
            seen["brings"] = _tell_legs(standing.brings)
            if standing.successor is not None:
                seen["successor"] = str(standing.successor)
    return seen


def _end_order(row: PendingRequest, look: RequestLook, verdict: RequestVerdict) -> JsonObject:
    """The end of an order: what it is known to have brought back is free, the rest is spent."""
    end = look.end
    is_believed = end is not None and verdict.state != S.LOST
    came = end.came if end is not None and is_believed else ()
    spent = _price_what_stayed(row, came) if verdict.state != S.EXECUTED else int(row.holds_micro_usd)
    successor = end.successor if end is not None and is_believed else None
    return {
        "ended_at": look.at,
        "spent_micro_usd": spent,
        "came": _tell_legs(came),
        "amounts": [],
        "successor": str(successor) if successor is not None else row.successor,
    }


def _settle_with_the_last(row: PendingRequest, spent_micro_usd: int, *, at: datetime) -> None:
    """With the last order of its permit the reservation ends; that row is locked before those of requests are."""
    others = PendingRequest.objects.filter(permit_id=row.permit_id, is_order=True).exclude(pk=row.pk)
    told = list(others.values_list("ended_at", "spent_micro_usd"))
    if all(ended_at is not None for ended_at, _ in told):
        total = spent_micro_usd + sum(int(each or 0) for _, each in told)
        ledger.settle(permit_id=row.permit_id, spent_micro_usd=total, counted_at=at)


def _price_what_stayed(row: PendingRequest, came: Sequence[Leg]) -> int:
    """What of its part of the reservation is spent: gas, and of the rest what did not come back; micro-USD.

    Of several tokens the one of which least came back decides. Where nobody said what it gave, all of it is spent.
    """
    holds, claim = int(row.holds_micro_usd), row.permit.spend_entry
    gave = {each["token"]: int(each["raw"]) for each in row.gave if int(each["raw"]) > 0}
    if not gave or claim is None:
        return holds
    gas = sum(part.micro_usd for part in read_parts(claim.breakdown) if part.role == GAS)
    back = {token: min(raw, sum(leg.raw for leg in came if leg.token == token)) for token, raw in gave.items()}
    free = max(0, holds - gas)
    return holds - min(free * max(0, back[token]) // raw for token, raw in gave.items())


def _share(whole: int, place: int, parts: int) -> int:
    """The part of the one at `place` of `parts`; the first ones bear what does not divide."""
    return whole // parts + (1 if place < whole % parts else 0)


def _tell_legs(legs: Sequence[Leg]) -> list[dict[str, str]]:
    return [{"token": leg.token, "raw": str(leg.raw)} for leg in legs]


def _free_at(position: Position) -> int | None:
    return max((leg.free_at for leg in position.legs if leg.free_at is not None), default=None)


def _promised(plan: TxPlan, refs: Sequence[PositionRef]) -> list[list[dict[str, str]]]:
    """What the plan said each would hold; nothing where it named another number of its kind. The first look tells."""
    told: dict[PositionRef, list[dict[str, str]]] = {ref: [] for ref in refs}
    if plan.arrivals and len(plan.arrivals) == len(refs):
        return [[{"token": each.token, "raw": str(each.raw)}] for each in plan.arrivals]
    for kind in FOLLOWED_KINDS:
        said = [each for each in plan.changes if each.kind == kind and each.ref is None]
        born = [ref for ref in refs if ref.kind == kind]
        if len(said) == len(born):
            told |= {ref: [{"token": e.token, "raw": str(e.expected)}] for ref, e in zip(born, said, strict=True)}
    return [told[ref] for ref in refs]


def _tell(
    row: PendingRequest, state: RequestState, reason: str, claim_id: UUID | None, expected_at: datetime | None = None
) -> dict[str, object]:
    return {
        "request_id": str(row.pk),
        "position": row.ref,
        "protocol": row.protocol,
        "chain_id": row.chain_id,
        "expects_chain_id": row.expects_chain_id,
        "state": str(state),
        "amounts": list(row.amounts),
        "permit_id": str(row.permit_id),
        "claim_permit_id": str(claim_id) if claim_id else None,
        "expected_at": expected_at.isoformat() if expected_at and not row.is_order else None,
        "reason": reason or None,
        **(_tell_order(row, expected_at) if row.is_order else {}),
    }


def _tell_order(row: PendingRequest, ends_at: datetime | None) -> dict[str, object]:
    return {
        "ends_at": ends_at.isoformat() if ends_at else None,
        "successor": row.successor or None,
        "came": list(row.came),
    }
