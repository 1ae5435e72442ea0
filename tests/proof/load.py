"""An hour of a fleet in ten minutes: everything runs, clients commit over HTTP, owners and heartbeats are at it too.

Two rounds: eight clients on eight golems, then eight on one. Nothing may deadlock or be answered with 5xx, no permit
may be blocked for a reason of ours, and afterwards every call was mined once, nonces have no gap, reservations are
settled, outcomes are verified and audit chains hold. GOLEM_PROOF_LOAD_SECONDS shortens a round, and a shortened one is
no proof but a look.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.conf import settings
from django.db import connections

from archetypes_app.models import Golem, Heartbeat
from golem_project.settings.environment import read_integer
from tests.proof.loaded import checks
from tests.proof.loaded.jobs import Approver
from tests.proof.loaded.people import Client, Owner, make_golem, make_owner, make_token
from tests.proof.loaded.servers import Product, running_product
from tests.proof.registry import Progress, proof
from tools_app.core import clock
from tools_app.core.transaction_retry import count_repeated

CLIENTS = 8
_GOLEMS_OF_ROUND = (CLIENTS, 1)
_JOIN_SECONDS = 90.0


@proof(
    id="load",
    what="8 clients on 8 golems and 8 on one over HTTP beside halts, limits, approvals and ticks: no deadlock, no 5xx",
    rounds=len(_GOLEMS_OF_ROUND),
)
def prove_load(progress: Progress) -> None:
    """The remaining rounds, each on golems of its own."""
    seconds = read_integer("GOLEM_PROOF_LOAD_SECONDS", 300)
    logs = Path(settings.GOLEM_REPORT_DIR) / "load"
    with running_product(logs) as product:
        for number in progress.remaining():
            findings = play_round(progress, product, golems=_GOLEMS_OF_ROUND[number], seconds=seconds)
            progress.findings += [f"round {number}: {line}; logs in {logs}" for line in findings]


def play_round(progress: Progress, product: Product, *, golems: int, seconds: float) -> list[str]:
    """Load the product for `seconds`; what went wrong. Figures go to the progress's notes."""
    owners = [make_owner() for _ in range(golems)]
    made = [make_golem(owner, "Load") for owner in owners]
    clients = [
        Client(product.url, make_token(made[number % golems], owners[number % golems])) for number in range(CLIENTS)
    ]
    changing = [Owner(golem, owner, seed) for seed, (golem, owner) in enumerate(zip(made, owners, strict=True))]
    return play(progress, product, golems=made, clients=clients, owners=changing, seconds=seconds)


def play(
    progress: Progress,
    product: Product,
    *,
    golems: Sequence[Golem],
    clients: Sequence[Client],
    owners: Sequence[Owner | Approver],
    seconds: float,
    may_block: frozenset[str] = checks.EXPECTED_BLOCKS,
    may_differ: frozenset[str] = frozenset(),
) -> list[str]:
    """Let all of them act for `seconds`; what went wrong. `may_block` are codes that a permit may be blocked for,
    `may_differ` tools whose outcome other agents of a golem may change.
    """
    ids = [golem.pk for golem in golems]
    deadlocks, repeated = checks.count_deadlocks(), sum(count_repeated().values())
    is_over, started = threading.Event(), clock.monotonic_ms()
    everybody: list[Client | Owner | Approver] = [*clients, *owners]
    threads = [threading.Thread(target=each.run, args=(is_over,), daemon=True) for each in everybody]
    for thread in threads:
        thread.start()
    is_over.wait(seconds)
    is_over.set()
    for thread in threads:
        thread.join(_JOIN_SECONDS)
    took = (clock.monotonic_ms() - started) / 1000
    connections.close_all()
    Heartbeat.objects.filter(golem_id__in=ids).update(is_on=False)
    findings = [f"{name} ended by itself" for name in product.list_dead()]
    if not checks.wait_until_quiet(ids):
        findings.append("permits are under way a minute after the last call")
    deadlocks = checks.count_deadlocks() - deadlocks
    again = sum(count_repeated().values()) - repeated
    findings += [f"{deadlocks} deadlocks, {again} transactions repeated"] if deadlocks or again else []
    findings += [line for each in everybody for line in each.failures]
    again_asked = set().union(*(client.previewed_again for client in clients))
    blocks = checks.find_blocks(ids, may_block, previewed_again=again_asked)
    findings += [f"{count} permits blocked: {code}" for code, count in blocks.items()]
    findings += [*checks.find_broken(ids), *checks.find_unverified(ids, may_differ)]
    times = [each for client in clients for each in client.times_ms]
    if not times:
        findings.append("nothing was committed")
    refused, changes = _add(client.codes for client in clients), _add(each.done for each in owners)
    ended = _add(client.statuses for client in clients)
    progress.notes.append(
        f"{len(clients)} clients on {len(golems)} golem{'s' * (len(golems) > 1)}: {checks.describe_times(times, took)};"
        f" ended: {ended}; {checks.count_untold(ids)} of them not told apart; refused: {refused}; changes: {changes};"
        f" previewed again as told: {len(again_asked)}; deadlocks {deadlocks}, repeated {again}"
    )
    return findings


def _add(counts: Iterable[Counter[str]]) -> str:
    total = sum(counts, Counter[str]())
    return ", ".join(f"{count} {name}" for name, count in sorted(total.items())) or "none"
