"""Three reads in a row on a node 50 ms away: one after the other, and with the followers read ahead."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings

from archetypes_app.models import Golem
from golem_project import wiring
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.heartbeat.duties.learn_read_order import learn_habits
from permits_app.actions.query import query_state
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.bench.simulation import slow_node
from tools_app import read_ahead
from tools_app.core import clock
from tools_app.models import SpeculationRecord, ToolCooccurrence

READS = (
    ("allowance", {"token": "WETH", "chain_id": CHAIN_ID}),
    ("gas_price", {"chain_id": CHAIN_ID}),
    ("positions", {"chain_id": CHAIN_ID}),
)
_COUNT = 15


@measure("speculation")
def measure_speculation() -> Iterator[Figure]:
    """The median time of three reads with and without speculation, learned from the golem's own history."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    before = settings.GOLEM_RPC_URLS
    with slow_node(before[CHAIN_ID][0]) as (url, _):
        wiring.configure_networks({CHAIN_ID: (url,)})
        try:
            yield from _compare(golem)
        finally:
            wiring.configure_networks(before)


def _compare(golem: Golem) -> Iterator[Figure]:
    def read_three() -> None:
        for query, params in READS:
            query_state(golem=golem, query=query, venue=None, params=params, now=clock.now())

    archetype = golem.archetype.name
    ToolCooccurrence.objects.filter(archetype=archetype).delete()
    read_ahead.forget_all()
    plain = percentile(time_calls(read_three, count=max(_COUNT, settings.GOLEM_SPECULATION_ENOUGH_RUNS)), 50)
    # A session's seconds later all that followed is known.
    learn_habits(now=clock.now() + timedelta(seconds=settings.GOLEM_SPECULATION_SESSION_SECONDS))
    read_ahead.forget_all()
    times = []
    for _ in range(_COUNT):
        times += time_calls(read_three, count=1, warm_up=0)
        read_ahead.forget_all()
    ahead = percentile(times, 50)
    record = SpeculationRecord.objects.get(archetype=archetype)
    yield Figure(
        "speculation.three_reads",
        f"{', '.join(query for query, _ in READS)} on a node 50 ms away, followers read ahead; median of {_COUNT}",
        round(ahead / plain * 100, 1),
        "% of the time without",
        target=66.7,
        reference=f"{plain:g} ms without, {ahead:g} ms with; {record.used} used, {record.wasted} wasted",
    )
