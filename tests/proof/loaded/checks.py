"""What must hold of the rows and the chain once the load is over, and how it went."""

from __future__ import annotations

import re
import statistics
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from django.conf import settings
from django.db import connection

from archetypes_app.models import Golem
from golem_project.embedded.world.rpc import JsonRpc
from permits_app.models import (
    ActionPermit,
    ChangeRequest,
    NonceReservation,
    OutboundTransaction,
    OutcomeRecord,
    SpendEntry,
)
from permits_app.models.approval import ChangeState
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import PayloadPurpose
from tests.proof.loaded.people import CHAIN_ID
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.clock import Deadline

# What an owner's change or halt does to a permit that waits; every other block is ours.
EXPECTED_BLOCKS = frozenset({"GOLEM_HALTED", "POLICY_CHANGED"})
_QUIET_MS = 60_000
_SAYS_NOBODY_KNOWS = re.compile("do not tell how much|ran in part in the same blocks")
# What no balance tells apart is judged together: one that takes all there is takes what another just brought, too.
_JUDGED_TOGETHER = "the permits of these blocks promised"
# A local chain that was killed comes back without the balances of its past blocks.
_SAYS_THE_PAST_IS_GONE = re.compile("no balances tell|the balances of its blocks could not be read")


def count_deadlocks() -> int:
    """Deadlocks that PostgreSQL has counted in this database."""
    with connection.cursor() as cursor:
        # What this session read of the statistics once it would go on answering inside a transaction.
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def wait_until_quiet(golem_ids: Sequence[UUID]) -> bool:
    """Whether nothing of these golems is under way any more; waits a minute for it."""
    deadline, pause = Deadline.after_ms(_QUIET_MS), threading.Event()
    under_way = ActionPermit.objects.filter(golem_id__in=golem_ids, status__in=[str(status) for status in UNFINISHED])
    # What owners agreed to is carried out behind them.
    agreed = ChangeRequest.objects.filter(golem_id__in=golem_ids, state=ChangeState.APPROVED)
    while under_way.exists() or agreed.exists():
        if deadline.is_over:
            return False
        pause.wait(0.5)
    return True


def find_blocks(
    golem_ids: Sequence[UUID], may_block: frozenset[str] = EXPECTED_BLOCKS, *, previewed_again: Collection[str] = ()
) -> Counter[str]:
    """How many permits were blocked, by the code that says why, but for the codes that may block one, and for those
    whose agent did what the refusal says.
    """
    rows = ActionPermit.objects.filter(golem_id__in=golem_ids, status=PermitStatus.BLOCKED)
    rows = rows.exclude(pk__in=previewed_again)
    codes = Counter(
        str(problem.get("code", reason)) for problem, reason in rows.values_list("problem", "status_reason")
    )
    return Counter({code: count for code, count in codes.items() if code not in may_block})


def find_unverified(
    golem_ids: Sequence[UUID], but_for: frozenset[str] = frozenset(), *, most_without_past: int = 0
) -> Iterator[str]:
    """What was carried out otherwise than its permit promised, but for these tools. Where the chain itself is killed,
    `most_without_past` may be judged by their receipts alone, because the balances of their blocks died with it.
    """
    without_past = 0
    for permit_id, tool, findings in _list_unverified(golem_ids):
        if tool in but_for:
            continue
        contradicting = [each for each in findings if not _SAYS_NOBODY_KNOWS.search(each)]
        if any(_JUDGED_TOGETHER in each for each in contradicting) and _stood_beside(permit_id, but_for):
            contradicting = [each for each in contradicting if _JUDGED_TOGETHER not in each]
        if contradicting and all(_SAYS_THE_PAST_IS_GONE.search(each) for each in contradicting):
            without_past += 1
            if without_past <= most_without_past:
                continue
        if contradicting:
            yield f"{tool} is not verified: {'; '.join(contradicting)}"


def count_untold(golem_ids: Sequence[UUID]) -> int:
    """Permits of which nobody can say what they did beside others of their golem in the same blocks."""
    rows = _list_unverified(golem_ids)
    return sum(all(_SAYS_NOBODY_KNOWS.search(each) for each in findings) for _, _, findings in rows)


def _stood_beside(permit_id: UUID, tools: frozenset[str]) -> bool:
    """Whether a permit of one of `tools` of the same golem was mined in the blocks of this one."""
    own = OutboundTransaction.objects.filter(permit_id=permit_id, block_number__isnull=False)
    beside = OutboundTransaction.objects.filter(
        permit__golem_id__in=own.values("permit__golem_id"), block_number__in=own.values("block_number")
    )
    return beside.filter(permit__tool_name__in=tools).exclude(permit_id=permit_id).exists()


def _list_unverified(golem_ids: Sequence[UUID]) -> list[tuple[UUID, str, list[str]]]:
    rows = OutcomeRecord.live.filter(
        permit__golem_id__in=golem_ids, permit__status=PermitStatus.COMMITTED, is_verified=False
    )
    return list(rows.values_list("permit_id", "permit__tool_name", "findings"))


def find_broken(golem_ids: Sequence[UUID]) -> Iterator[str]:
    """Every rule that does not hold, in words."""
    yield from _find_double(golem_ids)
    yield from _find_gaps(golem_ids)
    held = SpendEntry.objects.filter(golem_id__in=golem_ids, state=SpendState.RESERVED)
    over = held.exclude(permit__status__in=[PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL])
    for permit_id in over.values_list("permit_id", flat=True):
        yield f"the reservation of {permit_id} is neither settled nor released"
    for golem_id in golem_ids:
        report = verify_stored_chain(golem_id)
        if report.broken is not None:
            yield f"the audit chain of {golem_id} breaks at {report.broken.seq}: {report.broken.reason}"


def _find_double(golem_ids: Sequence[UUID]) -> Iterator[str]:
    calls: dict[tuple[UUID, int], int] = defaultdict(int)
    rows = OutboundTransaction.objects.filter(
        permit__golem_id__in=golem_ids, purpose=PayloadPurpose.CALL, block_number__isnull=False
    )
    for permit_id, index in rows.values_list("permit_id", "call_index"):
        calls[permit_id, index] += 1
    yield from (
        f"call {index} of {permit_id} was mined {count} times"
        for (permit_id, index), count in calls.items()
        if count > 1
    )
    committed = ActionPermit.objects.filter(golem_id__in=golem_ids, status=PermitStatus.COMMITTED, is_local=False)
    for permit in committed:
        if any(calls[permit.pk, index] != 1 for index in range(len(permit.calls))):
            yield f"{permit.pk} is committed, and not each of its calls is mined once"


def _find_gaps(golem_ids: Sequence[UUID]) -> Iterator[str]:
    node = JsonRpc(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    try:
        for golem in Golem.objects.filter(pk__in=golem_ids):
            reserved = NonceReservation.objects.filter(address=golem.address)
            nonces = sorted(reserved.values_list("nonce", flat=True))
            mined = int(node.call("eth_getTransactionCount", golem.address, "latest"), 16)
            if nonces != list(range(len(nonces))):
                yield f"the nonces of {golem.name} have gaps: {nonces[-1] + 1 - len(nonces)} of {len(nonces)}"
            if mined > len(nonces):
                yield f"{golem.name} has {mined} mined transactions and {len(nonces)} nonces"
    finally:
        node.close()


def describe_times(times_ms: Sequence[float], seconds: float) -> str:
    """Commits a second and how long each took from its preview on; for information."""
    if len(times_ms) < 2:
        return f"{len(times_ms)} commits in {seconds:.0f} s"
    cuts = statistics.quantiles(times_ms, n=100)
    return (
        f"{len(times_ms)} commits in {seconds:.0f} s, {len(times_ms) / seconds:.1f}/s,"
        f" preview to verified p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f} ms"
    )
