"""Simulated: finalises places in the local withdrawal queue a minute after they were asked for.

On a public network the protocol's oracle does it within days, out of ether that left validators. Here the ether comes
from nowhere, and the validators earn what they would have earned in that minute.
"""

from __future__ import annotations

from golem_project.embedded.world.people import People, RunningProtocol
from golem_project.embedded.world.protocols.lido import DAILY_GAIN, DAY_SECONDS

WAIT_SECONDS = 60
MOST_AT_ONCE = 50
STATUS = "((uint256,uint256,address,uint256,bool,bool)[])"


def work(place: RunningProtocol) -> str | None:
    """Finalise the oldest places that have waited long enough."""
    queue = place.contracts["queue"]
    (last,) = place.read(queue, "getLastRequestId()", returns="(uint256)")
    (final,) = place.read(queue, "getLastFinalizedRequestId()", returns="(uint256)")
    if final >= last:
        return None
    ids = list(range(final + 1, min(last, final + MOST_AT_ONCE) + 1))
    (waiting,) = place.read(queue, "getWithdrawalStatus(uint256[])", ids, returns=STATUS)
    now = place.now()
    ripe = [each for each in waiting if now - each[3] >= WAIT_SECONDS]
    if not ripe:
        return None
    owed = sum(each[0] for each in ripe)
    report = "submitReport(uint256,uint256,uint256,uint256,uint256)"
    earned = DAILY_GAIN * WAIT_SECONDS // DAY_SECONDS
    place.transact(place.contracts["oracle"], report, 0, WAIT_SECONDS, earned, 0, final + len(ripe), value=owed)
    return f"lido (simulated): withdrawal requests up to {final + len(ripe)} are final and can be claimed"


PEOPLE = People("lido", work)
