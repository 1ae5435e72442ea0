"""What knowing costs: toxicity over five thousand swaps, the risk board, and a verdict about a token."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings

from archetypes_app.toolset import view_golem
from golem_project import wiring
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.world.node import SECOND_CHAIN_ID
from golem_project.embedded.world.protocols import deploy_protocols
from golem_project.embedded.world.rpc import JsonRpc
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.evm.world import DEPLOYMENTS_FILE, World
from tests.proof.holding_walk import undone
from tests.tools_app.subsystems.safety.labelled_tokens import FAIR, REGISTERED, TRAPS, UNSEEN, list_in_a_pool
from tools_app import runner
from tools_app.core import clock
from tools_app.subsystems.intel.flow_maths import compute_vpin
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool
from tools_app.toolkit.views import GolemView

SWAPS = 5_000
BUCKETS = 50


@measure("knowing")
def measure_knowing() -> Iterator[Figure]:
    """VPIN alone; with a chain also the dashboard, the first time and again, the verdict, and venues compared."""
    drawn = random.Random(5)
    volumes = [drawn.randint(-(10**21), 10**21) for _ in range(SWAPS)]
    vpin = percentile(time_calls(lambda: compute_vpin(volumes, BUCKETS), count=50), 50)
    what = f"VPIN in {BUCKETS} buckets over {SWAPS:,} swaps that are already read"
    yield Figure("knowing.vpin", what, vpin, "ms", target=50)
    if not settings.GOLEM_RPC_URLS.get(CHAIN_ID):
        return
    demo = seed_demo(now=clock.now(), with_token=False).golem
    with two_chains() as second:
        yield from _measure_on(replace(view_golem(demo), other_chain_ids=(second,)))


@contextmanager
def two_chains() -> Iterator[int]:
    """A twin of the local chain beside it, and every protocol of the local world on the first; its number."""
    before = dict(settings.GOLEM_RPC_URLS)
    with TemporaryDirectory() as folder:
        chain = EmbeddedChain(Path(folder), throwaway=True, chain_id=SECOND_CHAIN_ID)
        chain.start()
        try:
            deploy_protocols(before[CHAIN_ID][0])
            wiring.configure_networks({**before, SECOND_CHAIN_ID: (chain.rpc_url,)})
            yield SECOND_CHAIN_ID
        finally:
            wiring.configure_networks(before)
            chain.stop()


def _measure_on(golem: GolemView) -> Iterator[Figure]:
    def asking(name: str, **params: Any) -> Callable[[], Any]:
        tool = REGISTRY.get(name)
        if not isinstance(tool, ReadTool):
            raise TypeError(f"{name} is no read")
        return lambda: runner.run_read(tool=tool, params=params, golem=golem, now=clock.now())

    board = asking("safety_get_risk_dashboard", chain_id=0)
    known = len(SHELF.on(CHAIN_ID))
    asked = f"the risk dashboard over two chains, {known} protocols on the first and what is built in on the second"
    cold = percentile(time_calls(board, count=1, warm_up=0), 50)
    yield Figure("knowing.dashboard_cold", f"{asked}, the first time in a process", cold, "ms", target=1_000)
    warm = percentile(time_calls(board, count=15), 50)
    yield Figure("knowing.dashboard_warm", f"{asked}, again", warm, "ms", target=200)
    verdict = percentile(time_calls(asking("safety_detect_honeypot", token="USDT"), count=9), 50)
    tried = "a token tried with several sizes and senders, now, in a day and in thirty"
    yield Figure("knowing.honeypot", tried, verdict, "ms", target=300)
    venues = asking("intel_compare_venues", token_in="WETH", token_out="USDC", amount=str(10**18))
    compared = percentile(time_calls(venues, count=15), 50)
    yield Figure("knowing.venues", "venues of the local chain compared for one ether", compared, "ms")
    yield from _judge_labelled(lambda token: asking("safety_validate_token", token=token)().data["risk_level"])


def _judge_labelled(judge: Callable[[str], str]) -> Iterator[Figure]:
    """How many hostile tokens are told, those apart that were written after the detector, and how many fair ones are
    accused.
    """
    url = settings.GOLEM_RPC_URLS[CHAIN_ID][0]
    world = World(rpc_url=url, deployments=json.loads(DEPLOYMENTS_FILE.read_text(encoding="utf-8")))
    rpc = JsonRpc(url)
    try:
        with undone(rpc):
            told = {
                name: judge(list_in_a_pool(world, *each)) == "Dangerous"
                for name, each in {**TRAPS, **UNSEEN, **FAIR}.items()
            }
            told |= {symbol: judge(symbol) == "Dangerous" for symbol in REGISTERED}
    finally:
        rpc.close()
    hostile, fair = [*TRAPS, *UNSEEN], [*FAIR, *REGISTERED]
    missed = ", ".join(name for name in hostile if not told[name])
    what = f"of {len(hostile)} hostile tokens told as dangerous, {len(UNSEEN)} of them written after the detector"
    found = sum(told[name] for name in hostile)
    yield Figure("knowing.told", what, found, "tokens", target=len(hostile), at_least=True, reference=missed)
    accused = [name for name in fair if told[name]]
    what = f"of {len(fair)} fair tokens accused"
    yield Figure("knowing.accused", what, len(accused), "tokens", target=0, reference=", ".join(accused))
