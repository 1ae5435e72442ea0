"""How soon accounts work again once a node stops lying about their nonces, over HTTP with everything running.

Between the product and the chain stands a node that tells the accounts' counts five too high while they commit, to
every reading alike. What is signed meanwhile waits for nonces nobody has.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.models import Min

from golem_project.demo.seed import CHAIN_ID
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import UNFINISHED
from tests.bench.agents import HttpAgent, is_verified, make_golems, open_agents
from tests.bench.everything import run_everything
from tests.bench.figures import Figure, measure
from tests.proof.lying_node import Lie, Request, change_answers, serve_lying_node
from tools_app.core import clock

_ACCOUNTS, _OF_EACH = 3, 2
_TOO_HIGH = 5
# Longer than the reconciler's round, so that it is lied to as well.
_LIE_SECONDS = 8.0
_MOST_SECONDS = 40.0
_LOOK_SECONDS = 0.1


@measure("recovery")
def measure_recovery() -> Iterator[Figure]:
    """Three accounts are lied about at once; told is the slowest."""
    golems = make_golems(_ACCOUNTS, name="Lied to", now=clock.now())
    with (
        serve_lying_node(settings.GOLEM_RPC_URLS[CHAIN_ID][0]) as node,
        run_everything(**{f"GOLEM_RPC_URL_{CHAIN_ID}": node.url}) as running,
        ThreadPoolExecutor(_ACCOUNTS) as threads,
    ):
        agents = open_agents(running.port, [token for _, token in golems])
        for agent in agents:
            # One earlier commit, so that the account's nonces are known.
            agent.swap_and_time()
        permits = [[_preview(agent) for _ in range(_OF_EACH)] for agent in agents]
        used = {golem.address: _count_transactions(golem.address) for golem, _ in golems}
        with node.lying(_tell_too_high({golem.address.lower() for golem, _ in golems})):
            for agent, own in zip(agents, permits, strict=True):
                for permit in own:
                    agent.commit_later(permit)
            time.sleep(_LIE_SECONDS)
        ended_at = clock.monotonic_ms()
        beyond = sum(_count_beyond(address, first=count + _TOO_HIGH) for address, count in used.items())
        took = list(threads.map(_recover, agents, permits, [ended_at] * _ACCOUNTS))
    ends = Counter(ActionPermit.objects.filter(pk__in=_ids(permits)).values_list("status", flat=True))
    yield Figure(
        "recovery.nonces",
        "from the end of a lie about nonces until a new commit is verified and all earlier ones have ended, the slowest"
        f" of {_ACCOUNTS} accounts",
        round(max(took), 1),
        "s",
        target=15,
        reference=f"{beyond} of {_ACCOUNTS * _OF_EACH} permits were signed beyond the chain's nonces; of each"
        f" account: {', '.join(f'{each:.1f} s' for each in took)}; earlier permits:"
        f" {', '.join(f'{count} {status}' for status, count in sorted(ends.items()))}",
    )


def _tell_too_high(addresses: set[str]) -> Lie:
    def change(request: Request, told: Any) -> Any:
        return hex(int(told, 16) + _TOO_HIGH) if str(request["params"][0]).lower() in addresses else told

    return change_answers("eth_getTransactionCount", change)


def _preview(agent: HttpAgent) -> dict[str, Any]:
    permit = agent.preview()
    if permit is None:
        raise RuntimeError(f"a preview before the lie was refused: {agent.met.describe()}")
    return permit


def _count_transactions(address: str) -> int:
    return OutboundTransaction.objects.filter(sender=address, is_live=True).count()


def _count_beyond(address: str, *, first: int) -> int:
    """Permits of an account none of whose nonces is below `first`."""
    rows = OutboundTransaction.objects.filter(sender=address, permit__isnull=False)
    return rows.values("permit_id").annotate(lowest=Min("nonce")).filter(lowest__gte=first).count()


def _recover(agent: HttpAgent, earlier: list[dict[str, Any]], since_ms: float) -> float:
    """Seconds until a new commit is verified and the earlier ones have ended; the most when they never do."""
    deadline = clock.Deadline.after_ms(_MOST_SECONDS * 1000)
    works = False
    while not deadline.is_over and not works:
        permit = agent.preview()
        if permit is not None and agent.commit_later(permit):
            works = _is_verified_in_the_end(agent, permit, deadline)
        time.sleep(_LOOK_SECONDS)
    try:
        while not deadline.is_over and _count_unfinished(earlier):
            time.sleep(_LOOK_SECONDS)
    finally:
        connections.close_all()
    return _MOST_SECONDS if deadline.is_over else (clock.monotonic_ms() - since_ms) / 1000


def _is_verified_in_the_end(agent: HttpAgent, permit: dict[str, Any], deadline: clock.Deadline) -> bool:
    unfinished = {str(status) for status in UNFINISHED}
    while (seen := agent.look(permit)).get("status") in unfinished:
        if deadline.is_over:
            return False
        time.sleep(_LOOK_SECONDS)
    return is_verified(seen)


def _count_unfinished(permits: list[dict[str, Any]]) -> int:
    states = [str(status) for status in UNFINISHED]
    return ActionPermit.objects.filter(pk__in=_ids([permits]), status__in=states).count()


def _ids(permits: list[list[dict[str, Any]]]) -> list[str]:
    return [permit["permit_id"] for own in permits for permit in own]
