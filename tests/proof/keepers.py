"""Several agents at once that keep positions: what one never meets, because nobody else moves what it stands on.

Two rounds: eight agents on eight golems, then eight on one, each drawing lending, borrowing, staking, vaults and
liquidity by a seed; owners approve what waits for them. Besides what a load must leave behind (`load.py`) nothing that
was carried out may stay unverified, and what everything is worth in the end may differ from the beginning by what
trades and gas cost. GOLEM_PROOF_LOAD_SECONDS shortens a round, and a shortened one is no proof but a look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from django.conf import settings

from archetypes_app.models import Golem
from golem_project.embedded.world.protocols import deploy_protocols
from golem_project.settings.environment import read_integer
from tests.proof.load import CLIENTS, play
from tests.proof.loaded import checks
from tests.proof.loaded.jobs import WORLDS, Approver, Keeper, make_rich_golem, show_every_tool
from tests.proof.loaded.people import CHAIN_ID, make_owner, make_token
from tests.proof.loaded.servers import Product, running_product
from tests.proof.registry import Progress, proof
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.portfolio.holdings import measure_holdings
from tools_app.portfolio.remembered_positions import list_hints

_GOLEMS_OF_ROUND: Final = (CLIENTS, 1)
_MAY_BLOCK: Final = checks.EXPECTED_BLOCKS | {
    "SAFETY_SIMULATION_FAILED",
    "POLICY_REJECTED",
    "HEALTH_TOO_LOW",
    "CODE_CHANGED",
    "TAKEN_BESIDE",
    "INSUFFICIENT_BALANCE",
}
"""What another agent of the golem did between preview and commit may have taken away what a permit stood on."""
_MAY_DIFFER: Final = frozenset({"aave_repay", "spark_repay", "aave_withdraw", "spark_withdraw"})
"""Who repays when another agent just did repays less; who takes everything out gets what another left of it."""
MOST_LOST_BPS: Final = 50
MOST_GAINED_BPS: Final = 5
_READ_MS: Final = 60_000


@proof(
    id="keepers",
    what="8 agents on 8 golems and 8 on one keep positions over HTTP: outcomes verified, worth the same but for fees",
    rounds=len(_GOLEMS_OF_ROUND),
)
def prove_keepers(progress: Progress) -> None:
    """The remaining rounds, each on golems of its own."""
    seconds = read_integer("GOLEM_PROOF_LOAD_SECONDS", 300)
    deploy_protocols(settings.GOLEM_RPC_URLS[CHAIN_ID][0], WORLDS)
    logs = Path(settings.GOLEM_REPORT_DIR) / "keepers"
    with running_product(logs) as product:
        for number in progress.remaining():
            findings = play_round(progress, product, golems=_GOLEMS_OF_ROUND[number], seconds=seconds)
            progress.findings += [f"round {number}: {line}; logs in {logs}" for line in findings]


def play_round(progress: Progress, product: Product, *, golems: int, seconds: float) -> list[str]:
    """Let agents keep positions for `seconds`; what went wrong."""
    owners = [make_owner() for _ in range(golems)]
    made = [make_rich_golem(owner) for owner in owners]
    liquidity: list[list[str]] = [[] for _ in made]
    agents = [
        Keeper(
            product.url,
            make_token(made[number % golems], owners[number % golems]),
            seed=number,
            positions=liquidity[number % golems],
        )
        for number in range(CLIENTS)
    ]
    show_every_tool(made)
    approving = [Approver(golem, owner) for golem, owner in zip(made, owners, strict=True)]
    before = [value_of(golem) for golem in made]
    findings = play(
        progress,
        product,
        golems=made,
        clients=agents,
        owners=approving,
        seconds=seconds,
        may_block=_MAY_BLOCK,
        may_differ=_MAY_DIFFER,
    )
    return [*findings, *find_worth(made, before)]


def find_worth(golems: Sequence[Golem], before: Sequence[int]) -> Iterator[str]:
    """Golems that are worth less than fees explain, or more than anything does."""
    for golem, then in zip(golems, before, strict=True):
        now = value_of(golem)
        if not then * (10_000 - MOST_LOST_BPS) <= now * 10_000 <= then * (10_000 + MOST_GAINED_BPS):
            yield f"{golem.name} was worth {then} micro-USD and is worth {now}"


def value_of(golem: Golem) -> int:
    """Micro-USD of all it has anywhere, at the newest block."""
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(_READ_MS))
    hints = list_hints(chain_id=CHAIN_ID, account=golem.address)
    held = measure_holdings(chain=chain, account=golem.address, hints=hints)
    assert held.is_complete, held.problems
    return held.nav_micro_usd
