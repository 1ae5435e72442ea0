"""Random walks over every protocol of the local chain: nothing an account does there changes what it is worth."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from django.conf import settings

from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.world.accounts import CHAIN_ID
from golem_project.embedded.world.protocols import deploy_protocols
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.wiring import configure_networks
from tests.proof.holding_steps import STEPS, WALKS
from tests.proof.holding_walk import HoldingsWalk, undone
from tests.proof.registry import Progress, proof
from tests.proof.walks import WALKS_PER_ROUND, walk_rounds

WORLDS: Final = ("aave_v3", "lido", "maker", "morpho", "rocketpool", "spark", *WALKS)
ACTS: Final = 25
SHARES: Final = (5, 25, 60, 100)
PAUSES: Final = (60, 3_600, 86_400)


@proof(
    id="holdings.walks",
    what="random walks of 25 acts over lending, vaults, staking and queues leave the net asset value as it was",
    rounds=40,
)
def prove_holdings(progress: Progress) -> None:
    """Rounds of five walks on a chain of their own."""
    with tempfile.TemporaryDirectory(prefix="golem-holdings-") as folder:
        chain = EmbeddedChain(Path(folder), throwaway=True)
        chain.start()
        try:
            walk_on(chain.rpc_url, progress)
        finally:
            chain.stop()
            configure_networks(settings.GOLEM_RPC_URLS)


def walk_on(url: str, progress: Progress) -> None:
    """The rounds that remain, on the node at `url`."""
    rpc = JsonRpc(url)
    try:
        contracts = deploy_protocols(url, WORLDS)
        configure_networks({CHAIN_ID: (url,)})
        walk_rounds(progress, lambda seed: walk_at_random(rpc, contracts, seed))
        progress.notes = [f"{WALKS_PER_ROUND} walks of {ACTS} acts a round, over {', '.join(WORLDS)}"]
    finally:
        rpc.close()


def walk_at_random(rpc: JsonRpc, contracts: Mapping[str, Mapping[str, str]], seed: int) -> int:
    """One walk; how many acts it took. Raises AssertionError where a value moved by itself."""
    chance = random.Random(seed)
    with undone(rpc):
        walk = HoldingsWalk.begin(rpc, f"holdings walk {seed}", contracts)
        names, taken = list(STEPS), 0
        # Half of what is drawn finds nothing to act on.
        for _ in range(6 * ACTS):
            act = STEPS[chance.choice(names)](walk, chance.choice(SHARES), chance.randrange(8))
            taken += act is not None and walk.act(act)
            if chance.random() < 0.1:
                walk.pass_time(chance.choice(PAUSES))
            if chance.random() < 0.1:
                walk.finalize()
            if taken >= ACTS:
                break
    return taken
