"""What protocols on the shelf cost a swap preview: none but the market on it, all of them, and positions in five.

Side by side in one run: the three take turns, so that a busy moment of the machine meets all of them alike. A batch is
one exchange with the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings

from archetypes_app.models import Golem
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.protocols import deploy_protocols
from golem_project.embedded.world.rpc import JsonRpc
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.preview import preview_action
from permits_app.models import SpendingLimits
from tests.bench.figures import Figure, measure, percentile
from tests.proof.holding_steps import STEPS
from tests.proof.holding_walk import COINS, FUNDS, HoldingsWalk, undone
from tools_app.chain.http_pool import HttpPool
from tools_app.core import clock
from tools_app.portfolio.remembered_positions import remember_positions
from tools_app.toolkit.protocol import SHELF, ProtocolDef

FIVE = (
    "aave_supply WETH",
    "aave_borrow USDC",
    "spark_supply WETH",
    "morpho_supply_market USDC",
    "vault_deposit",
    "maker_open_vault",
    "maker_deposit_collateral",
)
"""Acts that leave positions at five protocols, one with a debt."""
MOST_MORE_BATCHES = 2
MOST_MORE_BATCHES_OF_FIVE = 4
MOST_MORE_PERCENT = 15.0
_ROUNDS = 30
_WARM = 5


@dataclass
class Lap:
    """Milliseconds and exchanges with the node of each preview."""

    times: list[float] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)

    @property
    def p50(self) -> float:
        return percentile(self.times, 50)

    @property
    def most(self) -> int:
        return max(self.batches)


@measure("shelf")
def measure_shelf() -> Iterator[Figure]:
    """Batches and time of a swap preview, beside those of a shelf with nothing but the market on it."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    SpendingLimits.objects.filter(golem=golem).update(writes_per_hour=100_000)
    url = settings.GOLEM_RPC_URLS[CHAIN_ID][0]
    contracts = deploy_protocols(url)
    rpc = JsonRpc(url)
    try:
        with undone(rpc):
            yield from _measure(golem, HoldingsWalk(rpc, golem.address, contracts))
    finally:
        rpc.close()


def _measure(golem: Golem, walk: HoldingsWalk) -> Iterator[Figure]:
    fund(walk.rpc, golem.address, COINS, FUNDS)
    alone, among_all = _compare(golem)
    more = round((among_all.p50 / alone.p50 - 1) * 100, 1)
    yield Figure(
        "shelf.batches",
        "more batches of reads of a swap preview with all protocols on the shelf; nothing is held there",
        among_all.most - alone.most,
        "batches",
        target=MOST_MORE_BATCHES,
        reference=f"{alone.most} with the market alone, {among_all.most} with {len(list_others()) + 1} protocols",
    )
    yield Figure(
        "shelf.time",
        f"more time of the same; medians of {_ROUNDS}, taking turns",
        more,
        "%",
        target=MOST_MORE_PERCENT,
        reference=f"{alone.p50:g} ms with the market alone, {among_all.p50:g} ms with all",
    )
    for name in FIVE:
        found = STEPS[name](walk, 25, 0)
        if found is None or not walk.act(found):
            raise RuntimeError(f"{name} found nothing to act on")
    remember_positions(account=golem.address, refs=walk.hints, now=clock.now())
    bare, holding = _compare(golem)
    yield Figure(
        "shelf.batches_five",
        "more batches of reads with positions at five protocols, one of them a loan",
        holding.most - bare.most,
        "batches",
        target=MOST_MORE_BATCHES_OF_FIVE,
        reference=f"{bare.most} with the market alone, {holding.most} with all; {bare.p50:g} ms and {holding.p50:g} ms",
    )


def _compare(golem: Golem) -> tuple[Lap, Lap]:
    """A shelf with the market alone, and one with everything, in turns. The first preview of each turn does not count:
    it makes anew what a process keeps of a shelf, which in a process of the product does not change.
    """
    alone, among_all = Lap(), Lap()
    for number in range(_WARM + _ROUNDS):
        amount = 5_000_000 + number * 1_000
        with without(list_others()):
            preview_swap(golem, amount, Lap())
            preview_swap(golem, amount + 250, alone if number >= _WARM else Lap())
        preview_swap(golem, amount + 500, Lap())
        preview_swap(golem, amount + 750, among_all if number >= _WARM else Lap())
    return alone, among_all


def list_others() -> tuple[ProtocolDef, ...]:
    """Protocols that keep positions and have no market that swaps."""
    return tuple(each for each in SHELF.on(CHAIN_ID) if each.positions is not None and each.markets is None)


@contextmanager
def without(protocols: Sequence[ProtocolDef]) -> Iterator[None]:
    """The shelf without these."""
    for each in protocols:
        SHELF.remove(each.name)
    try:
        yield
    finally:
        for each in protocols:
            SHELF.add(each)


def preview_swap(golem: Golem, amount: int, lap: Lap) -> None:
    """One swap previewed and cancelled again; its time and its exchanges with the node go into `lap`."""
    body = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": str(amount)}
    with counted() as batches:
        started = clock.monotonic_ms()
        told = preview_action(golem_id=golem.pk, api_key_id=None, body=body, now=clock.now())
        lap.times.append(clock.monotonic_ms() - started)
    lap.batches.append(len(batches))
    cancel_permit(
        golem=golem, permit_id=UUID(told["permit_id"]), reason="measured only", actor="system:bench", now=clock.now()
    )


@contextmanager
def counted() -> Iterator[list[str]]:
    """Every exchange with a node meanwhile, one line for each."""
    asked: list[str] = []
    plain = HttpPool.post

    def post(self: HttpPool, *given: Any, **options: Any) -> Any:
        asked.append("batch")
        return plain(self, *given, **options)

    HttpPool.post = post  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        HttpPool.post = plain  # type: ignore[method-assign]
