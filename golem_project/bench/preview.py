"""The V3 swap preview, in process, beside the bare simulation it cannot be faster than."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from golem_project.bench.figures import Figure, measure, percentile, time_calls
from golem_project.demo.seed import CHAIN_ID, seed_demo
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.preview import preview_action
from permits_app.models import ActionPermit
from permits_app.plan_store import decode_plan
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.select import run_simulation

_SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}


@measure("preview")
def measure_preview() -> Iterator[Figure]:
    """p50 and p95 of the whole preview in process, and the ratio to one bare simulation of the same calls."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    last: list[str] = []

    def preview() -> None:
        last[:] = [preview_action(golem_id=golem.pk, api_key_id=None, body=_SWAP, now=clock.now())["permit_id"]]

    def cancel() -> None:
        cancel_permit(
            golem=golem, permit_id=UUID(last[0]), reason="measured only", actor="system:bench", now=clock.now()
        )

    times = []
    for _ in range(24):
        times += time_calls(preview, count=1, warm_up=0)
        cancel()
    times = times[4:]
    permit = ActionPermit.objects.get(pk=last[0])
    plan = decode_plan(permit)
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(60_000))
    request = SimulationRequest(chain_id=CHAIN_ID, sender=permit.signer, calls=plan.calls, block=chain.block)
    bare = time_calls(lambda: run_simulation(request, deadline=Deadline.after_ms(10_000)), count=20)
    floor = percentile(bare, 50)
    p50 = percentile(times, 50)
    yield Figure(
        "preview.p50", "whole V3 swap preview in process, median of 20", p50, "ms", target=50,
        reference=f"bare simulation of the same calls {floor:g} ms, {p50 / floor:.1f} times",
    )  # fmt: skip
    yield Figure("preview.p95", "the same, 95th percentile", percentile(times, 95), "ms", target=100)
