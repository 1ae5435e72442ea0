"""What knowing costs: toxicity over five thousand swaps, the risk board of a golem that holds something at ten
protocols and more, and a verdict about a token.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.db import transaction

from archetypes_app.toolset import view_golem
from golem_project import wiring
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.world.node import SECOND_CHAIN_ID
from golem_project.embedded.world.protocols import deploy_protocols
from golem_project.embedded.world.rpc import JsonRpc
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.bench.yields import list_acts
from tests.evm.world import DEPLOYMENTS_FILE, World
from tests.proof.holding_walk import Act, HoldingsWalk, undone
from tests.tools_app.subsystems.safety.labelled_tokens import FAIR, REGISTERED, TRAPS, UNSEEN, list_in_a_pool
from tools_app import runner
from tools_app.core import clock
from tools_app.history import log_table_months
from tools_app.history.index_reads import KeptContract
from tools_app.history.log_meanings import Said
from tools_app.models import LogSource
from tools_app.models.history import SourceKind
from tools_app.portfolio.pool_history import read_kept_past
from tools_app.portfolio.remembered_positions import remember_positions
from tools_app.subsystems.intel.flow_maths import compute_vpin
from tools_app.subsystems.intel.flow_tools import measure_vpin as measure_past
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool
from tools_app.toolkit.views import GolemView, LogEntry

SWAPS = 5_000
BUCKETS = 50
LEAST_PROTOCOLS = 10
_BORROWED = {"asset": "USDC", "amount": str(1_000 * 10**6)}


@measure("knowing")
def measure_knowing() -> Iterator[Figure]:
    """VPIN alone; with a chain also the dashboard, the first time and again, the verdict, and venues compared."""
    drawn = random.Random(5)
    volumes = [drawn.randint(-(10**21), 10**21) for _ in range(SWAPS)]
    vpin = percentile(time_calls(lambda: compute_vpin(volumes, BUCKETS), count=50), 50)
    what = f"VPIN in {BUCKETS} buckets over {SWAPS:,} swaps that are already read"
    yield Figure("knowing.vpin", what, vpin, "ms", target=50)
    yield time_kept_vpin()
    if not settings.GOLEM_RPC_URLS.get(CHAIN_ID):
        return
    demo = seed_demo(now=clock.now(), with_token=False).golem
    with two_chains() as chains:
        golem = replace(view_golem(demo), other_chain_ids=(SECOND_CHAIN_ID,))
        yield from _measure_boards(golem, chains)
        yield from _measure_on(golem)


def time_kept_vpin() -> Figure:
    """The same from rows of the index on; what it writes is taken back."""
    until = clock.now().replace(minute=0, second=0, microsecond=0)
    since = until - timedelta(hours=20)
    log_table_months.make_months([since, until])
    drawn = random.Random(5)
    try:
        with transaction.atomic():
            source = LogSource.objects.create(
                chain_id=CHAIN_ID,
                address="0x" + "fe" * 20,
                kind=SourceKind.POOL,
                topics=[],
                added_at=since,
                kept_from=since,
            )
            log_table_months.copy_logs([_draw_swap(source, number, since, drawn) for number in range(SWAPS)])
            kept = KeptContract(source.pk, since, until, (), SWAPS + 1)

            def read() -> None:
                past = read_kept_past(kept, since=since, until_block=SWAPS, most=SWAPS)
                if past is None or len(past.trades) != SWAPS:
                    raise RuntimeError("a swap is missing")
                measure_past(past, BUCKETS)

            times = time_calls(read, count=20)
            raise _Undo
    except _Undo:
        what = f"VPIN over {SWAPS:,} swaps, read from the index and computed; median of 20"
        return Figure("knowing.vpin_kept", what, percentile(times, 50), "ms", target=50)


def _draw_swap(source: LogSource, number: int, since: datetime, drawn: random.Random) -> log_table_months.NewLog:
    entry = LogEntry(source.address, ("0x" + "11" * 32,), "0x", number, "0x" + "22" * 32, 0, "0x" + "33" * 32)
    paid = drawn.randint(1, 10**21)
    said = Said((3_000 + number % 7) * 2**192, paid, 0) if drawn.random() < 0.5 else Said(3_000 * 2**192, 0, paid)
    return log_table_months.NewLog(source.pk, since + timedelta(seconds=14 * number), entry, said)


class _Undo(Exception):
    """Ends a transaction whose rows are not kept."""


@dataclass(frozen=True, slots=True)
class TwoChains:
    """Where their nodes are, and the contracts of each protocol on the first."""

    urls: dict[int, tuple[str, ...]]
    contracts: Mapping[str, Mapping[str, str]]

    def forget(self) -> None:
        """Let go of what this process knows of them."""
        wiring.configure_networks(self.urls)


@contextmanager
def two_chains() -> Iterator[TwoChains]:
    """A twin of the local chain beside it, and every protocol of the local world on the first."""
    before = dict(settings.GOLEM_RPC_URLS)
    with TemporaryDirectory() as folder:
        chain = EmbeddedChain(Path(folder), throwaway=True, chain_id=SECOND_CHAIN_ID)
        chain.start()
        try:
            contracts = deploy_protocols(before[CHAIN_ID][0])
            found = TwoChains({**before, SECOND_CHAIN_ID: (chain.rpc_url,)}, contracts)
            found.forget()
            yield found
        finally:
            wiring.configure_networks(before)
            chain.stop()


def _measure_boards(golem: GolemView, chains: TwoChains) -> Iterator[Figure]:
    """The dashboard over two chains: of a golem that holds no position, in a process that never looked, then of one
    that has some at ten protocols and more, once what is known of the chains was let go and again.
    """
    known = len(SHELF.on(CHAIN_ID))
    asked = f"the risk dashboard over two chains, {known} protocols on the first and what is built in on the second"
    first = percentile(time_calls(_asking(golem, "safety_get_risk_dashboard", chain_id=0), count=1, warm_up=0), 50)
    yield Figure(
        "knowing.dashboard_first", f"{asked}, without positions, first in a process", first, "ms", target=1_000
    )
    rpc = JsonRpc(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    try:
        with undone(rpc):
            places, address = hold_everywhere(rpc, chains.contracts)
            board = _asking(replace(golem, address=address), "safety_get_risk_dashboard", chain_id=0)
            chains.forget()
            cold = percentile(time_calls(board, count=1, warm_up=0), 50)
            warm = percentile(time_calls(board, count=15), 50)
    finally:
        rpc.close()
    held = f"{asked}, with positions at {len(places)} protocols and a debt"
    where = ", ".join(sorted(places))
    yield Figure("knowing.dashboard_cold", f"{held}, the first time", cold, "ms", target=1_000, reference=where)
    yield Figure("knowing.dashboard_warm", f"{held}, again; median of 15", warm, "ms", target=200, reference=where)


def hold_everywhere(rpc: JsonRpc, contracts: Mapping[str, Mapping[str, str]]) -> tuple[set[str], str]:
    """Positions of one account at ten protocols and more, one of them with a debt: where, and whose."""
    holder = HoldingsWalk.begin(rpc, "knowing", contracts)
    debts = Act("aave_supply", {"asset": "WETH", "amount": str(10**18)}), Act("aave_borrow", _BORROWED)
    for act in (*debts, *list_acts(contracts)):
        holder.enter(act)
    remember_positions(account=holder.address, refs=holder.hints, now=clock.now())
    places = {each.ref.protocol for each in holder.read()[1].positions}
    if len(places) < LEAST_PROTOCOLS:
        raise RuntimeError(f"positions at {len(places)} protocols alone: {', '.join(sorted(places))}")
    return places, holder.address


def _asking(golem: GolemView, name: str, **params: Any) -> Callable[[], Any]:
    tool = REGISTRY.get(name)
    if not isinstance(tool, ReadTool):
        raise TypeError(f"{name} is no read")
    return lambda: runner.run_read(tool=tool, params=params, golem=golem, now=clock.now())


def _measure_on(golem: GolemView) -> Iterator[Figure]:
    def asking(name: str, **params: Any) -> Callable[[], Any]:
        return _asking(golem, name, **params)

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
