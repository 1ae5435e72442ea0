"""Permits under load: the safety chain with its reservation, consuming a permit, audit, commits a second, the halt."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from archetypes_app.models import Golem
from archetypes_app.toolset import resolve_toolset
from golem_project.demo.seed import seed_demo
from permits_app.actions import commit as commit_module
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.commit import commit_permit
from permits_app.actions.halt import halt_golem
from permits_app.actions.preview import preview_action
from permits_app.actions.start_commit import start_commit
from permits_app.halts.resume import resume_golem
from permits_app.limits import ledger
from permits_app.limits.policy import load_golem, read_policy
from permits_app.models import ActionPermit, OutboundTransaction, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.permits.permit_hashes import hash_plan
from permits_app.permits.permit_lifetime import MOST_TTL_SECONDS
from permits_app.previews.hook_call import make_hook_call
from permits_app.safety import hook_chain
from permits_app.safety.hook import HookCall, HookStage
from tests.bench.figures import Figure, measure, percentile, time_calls
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.audit_log import GENESIS_HASH, hash_entry
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.models import AuditEntry, AuditHead
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool

_SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "20000000"}
_CHAIN_LENGTH = 100_000
_COMMITS = 90
_TOLD = {"tool_name": "bench", "success": True, "duration_ms": 1}
_WORKERS = 3


@measure("permits")
def measure_permits() -> Iterator[Figure]:
    """Everything on one demo golem whose hourly and daily limits are out of the way."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    SpendingLimits.objects.update_or_create(
        golem=golem,
        defaults={
            "writes_per_hour": 1_000_000,
            "per_day_micro_usd": 10**15,
            "per_session_micro_usd": 10**15,
            "trading_costs_per_day_micro_usd": 10**15,
            "trading_costs_per_pair_micro_usd": 10**15,
            "trading_costs_per_venue_micro_usd": 10**15,
        },
    )
    yield from _measure_chain(golem)
    yield from _measure_consume(golem)
    yield from _measure_audit(golem)
    yield from _measure_halt(golem)
    yield from _measure_commits(golem)


def _measure_chain(golem: Golem) -> Iterator[Figure]:
    template = _preview(golem)
    call = _rebuild_call(golem, template)
    made: list[ActionPermit] = []

    hooks: dict[str, list[float]] = {}

    def decide_and_reserve() -> None:
        for decision in hook_chain.recheck(call, simulate=False).decisions:
            hooks.setdefault(decision["hook"], []).append(float(decision["ms"]))
        _reserve(made[-1], call)

    times: list[float] = []
    for _ in range(110):
        # A new reader, as every preview opens one: the plan has read its pool, the hooks ask for the rest.
        call = _rebuild_call(load_golem(golem.pk), template)
        made.append(_clone(template, call.golem))
        times += time_calls(decide_and_reserve, count=1, warm_up=0)
        cancel_permit(golem=golem, permit_id=made[-1].pk, reason="measured only", actor="system:bench", now=clock.now())
    times = times[10:]
    shares = ", ".join(f"{name} {percentile(found, 50):g} ms" for name, found in hooks.items())
    yield Figure(
        "permits.chain.p50",
        "hooks 1-4 and 6 with all they read, and the reserve transaction; median of 100",
        percentile(times, 50),
        "ms",
        target=8,
        reference=shares,
    )
    yield Figure("permits.chain.p95", "the same, 95th percentile", percentile(times, 95), "ms", target=20)


def _measure_consume(golem: Golem) -> Iterator[Figure]:
    """Of real commits: starting one, then checking the plan's hash, consuming the capability and storing the bytes."""
    executor: Any = vars(commit_module)["executor"]
    store_signed = executor.store_signed
    times: list[float] = []

    def store_and_time(**arguments: Any) -> None:
        started = clock.monotonic_ms()
        store_signed(**arguments)
        times[-1] += clock.monotonic_ms() - started

    executor.store_signed = store_and_time
    try:
        for index in range(44):
            permit = _preview(golem, amount=str(2_000_000 + index))
            started = clock.monotonic_ms()
            start_commit(golem=golem, permit_id=permit.pk, actor="system:bench", now=clock.now())
            times.append(clock.monotonic_ms() - started)
            commit_permit(permit_id=permit.pk)
    finally:
        executor.store_signed = store_signed
    times = times[4:]
    yield Figure(
        "permits.consume.p95",
        "of 40 real commits: start, verify the plan's hash, consume the capability, store bytes",
        percentile(times, 95),
        "ms",
        target=15,
        reference=f"median {percentile(times, 50):g} ms",
    )


def _measure_audit(golem: Golem) -> Iterator[Figure]:
    def write(*, with_audit: bool) -> None:
        with transaction.atomic():
            event_bus.emit(golem_id=golem.pk, event=Event(EventType.TOOL_END, _TOLD), now=clock.now())
            if with_audit:
                audit_log.append(
                    golem_id=golem.pk, event="Bench", actor="system:bench", data={"n": "1"}, now=clock.now()
                )

    plain = percentile(time_calls(lambda: write(with_audit=False), count=200), 50)
    audited = percentile(time_calls(lambda: write(with_audit=True), count=200), 50)
    yield Figure(
        "permits.audit.append",
        "what an audit entry adds to a transaction, median of 200",
        round(audited - plain, 3),
        "ms",
        target=3,
        reference=f"the transaction without it {plain:g} ms",
    )
    golem_id = _write_long_chain()
    started = clock.monotonic_ms()
    report = verify_stored_chain(golem_id)
    took = (clock.monotonic_ms() - started) / 1000
    if report.entries != _CHAIN_LENGTH or report.broken is not None:
        raise AssertionError(f"the chain does not hold: {report}")
    yield Figure("permits.audit.verify", "100,000 audit entries verified", round(took, 2), "s", target=15)


def _write_long_chain() -> UUID:
    golem_id, previous = uuid4(), GENESIS_HASH
    rows: list[AuditEntry] = []
    for seq in range(1, _CHAIN_LENGTH + 1):
        entry = AuditEntry(
            golem_id=golem_id,
            seq=seq,
            prev_hash=previous,
            timestamp_ms=1_800_000_000_000 + seq,
            event="PermitConsumed",
            actor="system:worker",
            data={"permit_id": str(golem_id), "status": "COMMITTED"},
        )
        previous = entry.entry_hash = hash_entry(entry)
        rows.append(entry)
        if len(rows) == 5_000:
            AuditEntry.objects.bulk_create(rows)
            rows.clear()
    AuditHead.objects.create(golem_id=golem_id, seq=_CHAIN_LENGTH, entry_hash=previous)
    return golem_id


def _measure_halt(golem: Golem) -> Iterator[Figure]:
    template = _preview(golem)
    started = clock.monotonic_ms()
    halt_golem(golem=golem, reason="measured", actor="system:bench", now=clock.now())
    took = clock.monotonic_ms() - started
    ActionPermit.objects.filter(pk=template.pk).update(status=PermitStatus.CREATED)
    code = "accepted"
    try:
        start_commit(golem=golem, permit_id=template.pk, actor="system:bench", now=clock.now())
    except GolemError as error:
        code = error.code
    refused = clock.monotonic_ms() - started
    ActionPermit.objects.filter(pk=template.pk).update(status=PermitStatus.CANCELLED)
    resume_golem(golem=golem, reason="measured", actor="system:bench", now=clock.now())
    if code != "GOLEM_HALTED":
        raise AssertionError(f"a commit after the halt answered {code}")
    yield Figure(
        "permits.halt",
        "from the call of the halt to the next commit refused",
        round(refused, 1),
        "ms",
        target=1_000,
        reference=f"halt_golem itself {took:.1f} ms",
    )


def _measure_commits(golem: Golem) -> Iterator[Figure]:
    permits = []
    # A life that covers the whole run; what is measured is the commit.
    Golem.objects.filter(pk=golem.pk).update(permit_ttl_seconds=MOST_TTL_SECONDS)
    for index in range(_COMMITS):
        body = {**_SWAP, "amount": str(1_000_000 + index)}
        answer = preview_action(golem_id=golem.pk, api_key_id=None, body=body, now=clock.now())
        permits.append(UUID(answer["permit_id"]))
    started = time.monotonic()
    workers = [_fork_worker(golem, permits[index::_WORKERS]) for index in range(_WORKERS)]
    failed = [pid for pid in workers if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0]
    took = time.monotonic() - started
    done = ActionPermit.objects.filter(pk__in=permits, status=PermitStatus.COMMITTED).count()
    nonces = sorted(
        OutboundTransaction.objects.filter(permit_id__in=permits, is_live=True).values_list("nonce", flat=True)
    )
    gaps = nonces[-1] - nonces[0] + 1 - len(nonces) if nonces else -1
    if failed or done != _COMMITS or gaps:
        raise AssertionError(f"{done} of {_COMMITS} committed, {gaps} nonces missing, {len(failed)} workers failed")
    yield Figure(
        "permits.commits",
        f"swaps committed a second on the local chain, one account, {_WORKERS} workers",
        round(done / took, 1),
        "/s",
        target=15,
        at_least=True,
        reference=f"{done} permits, {len(nonces)} nonces in a row, none missing",
    )


def _fork_worker(golem: Golem, permits: list[UUID]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        for permit_id in permits:
            start_commit(golem=golem, permit_id=permit_id, actor="system:bench", now=clock.now())
            commit_permit(permit_id=permit_id)
        status = 0
    finally:
        os._exit(status)


def _preview(golem: Golem, **changes: str) -> ActionPermit:
    answer = preview_action(golem_id=golem.pk, api_key_id=None, body={**_SWAP, **changes}, now=clock.now())
    return ActionPermit.objects.get(pk=answer["permit_id"])


def _rebuild_call(golem: Golem, permit: ActionPermit) -> HookCall:
    tool = REGISTRY.get(permit.tool_name)
    if not isinstance(tool, WriteTool | LocalWriteTool):
        raise TypeError(f"{tool.name} is no write")
    toolset = resolve_toolset(golem)
    return make_hook_call(
        stage=HookStage.PREVIEW,
        golem=golem,
        toolset=toolset,
        policy=read_policy(golem=golem, toolset=toolset),
        tool=tool,
        params=permit.params,
        api_key_id=None,
        now=clock.now(),
    )


def _clone(template: ActionPermit, golem: Golem) -> ActionPermit:
    """A new permit like `template` of the golem that its decision has read."""
    permit = ActionPermit.objects.get(pk=template.pk)
    permit.golem = golem
    permit.id, permit._state.adding = uuid4(), True
    permit.action_hash = "0x" + permit.id.hex
    permit.plan_hash = hash_plan(permit)
    return permit


def _reserve(permit: ActionPermit, call: HookCall) -> None:
    """What a preview does after the chain agreed: one transaction with permit, reservation, event and audit entry."""
    now = clock.now()
    with transaction.atomic():
        (head,) = ledger.reserve(
            permit=permit,
            value=call.value,
            counts_per_day=True,
            heartbeat_tick=0,
            now=now,
            along=[audit_log.fill_lock(permit.golem_id)],
        )
        facts = {"permit_id": str(permit.pk), "tool_name": permit.tool_name}
        created = Event(EventType.PERMIT_CREATED, facts)
        audit_log.append(
            golem_id=permit.golem_id,
            event="PermitCreated",
            actor="system:bench",
            data=facts,
            now=now,
            head=head,
            along=[event_bus.fill_events(golem_id=permit.golem_id, events=[created], now=now)],
        )
