"""The walk-through of `make run`, ten times in a row on one database and one chain, as somebody tries it in an hour.

Everything runs as it does there, the heartbeat too. Servers lent to a command are new each time, so a run that was
interrupted begins anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from django.conf import settings

from golem_project.demo.journey import Journey
from golem_project.demo.seed import CHAIN_ID, seed_demo
from tests.proof.loaded.servers import running_product
from tests.proof.registry import Progress, proof
from tools_app.core import clock

RUNS: Final = 10
_COMMIT: Final = "commit_action"


@proof(
    id="demo",
    what="the walk-through of `make run` is green ten times in a row on one database and one chain",
    rounds=RUNS,
)
def prove_demo(progress: Progress) -> None:
    """One walk-through a round; each step that is not ok is a finding."""
    if progress.done < progress.rounds:
        progress.done = 0
        progress.findings.clear()
        progress.notes.clear()
    logs = Path(settings.GOLEM_REPORT_DIR) / "demo"
    with running_product(logs) as product:
        for number in progress.remaining():
            token = seed_demo(now=clock.now(), with_token=True).token
            rpc_url = settings.GOLEM_RPC_URLS[CHAIN_ID][0]
            journey = Journey(base_url=product.url, token=token, rpc_url=rpc_url, on_step=lambda step: None)
            journey.play(measures=True)
            wrong = [f"{step.name}: {step.problem}" for step in journey.steps if not step.ok]
            progress.findings += [f"run {number + 1}: {line}; logs in {logs}" for line in wrong]
            committed = next((step.ms for step in journey.steps if step.name == _COMMIT), None)
            progress.notes.append(f"run {number + 1}: {len(journey.steps)} steps, commit {committed} ms")
