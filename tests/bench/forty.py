"""What forty protocols cost beside ten: deciding, the manifest, a preview, a quiet tick.

The ten are of those that are here, the market among them, and nothing else stands on the shelf. The others are made up:
each has a contract with code, a reader that asks one question, tools of its own for this golem, and nothing that
anybody holds. Both shelves take turns in one run, so that a busy moment meets them alike; what
counts is the processor time of this process where nothing is waited for, and the time by the clock elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from uuid import uuid4

from django.conf import settings

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models import ApiKey, Golem, Heartbeat
from archetypes_app.models.api_key import Scope
from archetypes_app.toolset import resolve, resolve_toolset, view_golem
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.world.protocols import deploy_protocols
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.thinking.tool_selection import TickTask, select_tools
from golem_project.pi.definitions import define_tools
from golem_project.pi.manifest import build_manifest
from golem_project.pi.visible_tools import KeyShelf
from permits_app.models import PolicyCage, SpendingLimits
from tests.bench.figures import Figure, measure, percentile
from tests.bench.heartbeat import claim_of, make_like
from tests.bench.shelf import Lap, preview_swap
from tests.proof.holding_walk import undone
from tools_app.chain.abi import checksum
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import clock
from tools_app.standards import erc20
from tools_app.toolkit.enums import Category
from tools_app.toolkit.positions import Position, PositionRef, PositionsUnreadable, Reads
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, SHELF, Contract, ProtocolDef
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef
from tools_app.toolkit.views import LogEntry

FEW = 10
MANY = 40
TOOLS_EACH = 8
MARKET = "uniswap"
"""Where the swap that is measured goes."""
MOST_MORE_PERCENT = 10.0
WORDS = ("please take what is out of range back and tell me what it cost",)
_ROUNDS = 40
_WARM = 4
_FOLDERS = "tools_app.protocols."
_BASKET = "0x" + "f0" * 18
_CATEGORIES = (Category.TRADING, Category.LP)


@dataclass(frozen=True)
class MadeUpPositions:
    """Asks one question, whether the account has shares, and has never seen any."""

    name: str
    at: str

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Nothing; a contract that does not answer raises PositionsUnreadable."""
        (held,) = yield [erc20.balance_call(self.at, account)]
        if not held.ok or held.values[0]:
            raise PositionsUnreadable(f"{self.name} is not as it was made up")
        return ()

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Nothing."""
        return ()


def make_protocols(count: int) -> tuple[ProtocolDef, ...]:
    """So many protocols of the local chain, none of which anybody uses."""
    made = []
    for number in range(count):
        name, where = f"made_up_{number:02}", {"shares": checksum(f"{_BASKET}{number:04x}")}
        made.append(
            ProtocolDef(
                name=name,
                label=f"Made up {number}",
                deployments=lambda chain_id, where=where: where if chain_id == CHAIN_ID else None,  # type: ignore[misc]
                entry="shares",
                contracts=(
                    Contract(
                        "shares", name, ("function deposit(uint256,address)",), NOT_UNDER_A_CAGE, takes_tokens=True
                    ),
                ),
                uncaged="nobody wrote a valuer of it",
                positions=MadeUpPositions(name, where["shares"]),
            )
        )
    return tuple(made)


def make_tools(protocols: Sequence[ProtocolDef]) -> tuple[ToolDef, ...]:
    """Tools of each: those that are here, under other names and at other venues."""
    real = [tool for tool in REGISTRY if tool.handler.__module__.startswith(_FOLDERS)]
    return tuple(
        replace(
            real[(number * TOOLS_EACH + index) % len(real)],
            name=f"{protocol.name}_{index}",
            prefix=protocol.name,
            venue=protocol.name,
            key=f"{real[(number * TOOLS_EACH + index) % len(real)].key}_{index}",
            category=_CATEGORIES[number % len(_CATEGORIES)],
            aliases=(),
            old_shapes=(),
        )
        for number, protocol in enumerate(protocols)
        for index in range(TOOLS_EACH)
    )


def give_code(rpc: JsonRpc, protocols: Sequence[ProtocolDef]) -> None:
    """Each contract tells balances as the wrapped coin does: of nobody any."""
    code = rpc.call("eth_getCode", _address_of("WETH"), "latest")
    for each in protocols:
        rpc.call("anvil_setCode", (each.deployments(CHAIN_ID) or {})["shares"], code)


@contextmanager
def few_on_the_shelf() -> Iterator[int]:
    """The shelf with `FEW` of its protocols, the one that the measured swap is sent to among them, and the tools of
    these; how many tools they have.
    """
    shelf, tools = dict(SHELF._by_name), dict(REGISTRY._tools)
    here = [each.name for each in SHELF.on(CHAIN_ID)]
    kept = {MARKET, *[name for name in here if name != MARKET][: FEW - 1]}
    if MARKET not in here or len(kept) != FEW:
        raise RuntimeError(f"the local chain has no {FEW} protocols with {MARKET}: {', '.join(here)}")
    try:
        for name in set(shelf) - kept:
            SHELF.remove(name)
        for tool in tools.values():
            if tool.handler.__module__.startswith(_FOLDERS) and _folder_of(tool) not in kept:
                REGISTRY._tools.pop(tool.name)
        resolve.cache_clear()
        yield sum(tool.handler.__module__.startswith(_FOLDERS) for tool in REGISTRY)
    finally:
        SHELF._by_name.clear()
        SHELF._by_name.update(shelf)
        SHELF.version += 1
        REGISTRY._tools.clear()
        REGISTRY._tools.update(tools)
        resolve.cache_clear()


def _folder_of(tool: ToolDef) -> str:
    return tool.handler.__module__.removeprefix(_FOLDERS).partition(".")[0]


@contextmanager
def on_the_shelf(protocols: Sequence[ProtocolDef], tools: Sequence[ToolDef]) -> Iterator[None]:
    """The shelf and the registry with these as well."""
    for each in protocols:
        SHELF.add(each)
    REGISTRY._tools.update({tool.name: tool for tool in tools})
    resolve.cache_clear()
    try:
        yield
    finally:
        for each in protocols:
            SHELF.remove(each.name)
        for tool in tools:
            REGISTRY._tools.pop(tool.name)
        resolve.cache_clear()


@measure("forty")
def measure_forty() -> Iterator[Figure]:
    """How much longer each takes with forty protocols than with ten."""
    demo = seed_demo(now=clock.now(), with_token=False).golem
    SpendingLimits.objects.filter(golem=demo).update(writes_per_hour=100_000)
    # A token whose protocol is off the shelf is an asset of its own.
    PolicyCage.objects.filter(golem=demo).update(max_assets=100)
    url = settings.GOLEM_RPC_URLS[CHAIN_ID][0]
    deploy_protocols(url)
    rpc = JsonRpc(url)
    protocols = make_protocols(MANY - FEW)
    try:
        with undone(rpc), few_on_the_shelf() as few_tools:
            tools = make_tools(protocols)
            give_code(rpc, protocols)
            for name, act in _list_acts(demo).items():
                few, many = _compare(act, protocols, tools)
                yield Figure(
                    f"forty.{name}",
                    f"more processor time here of {_WHAT[name]} with {MANY} protocols than with {FEW}",
                    round((many.spent / few.spent - 1) * 100, 1),
                    "%",
                    target=MOST_MORE_PERCENT,
                    reference=f"{few.spent:g} ms of {few.p50:g} ms with {FEW} and {few_tools} tools,"
                    f" {many.spent:g} ms of {many.p50:g} ms with {len(tools)} tools more",
                )
    finally:
        rpc.close()


_WHAT = {
    "deciding": "choosing the tools of a tick and writing them for a model",
    "manifest": "a manifest, read from the rows",
    "manifest_anew": "a manifest that was never made",
    "preview": "a swap preview",
    "quiet_tick": "a quiet tick",
}


@dataclass
class Spent:
    """Milliseconds of each call by the clock, and of processor time in this process."""

    times: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def p50(self) -> float:
        return percentile(self.times, 50)

    @property
    def spent(self) -> float:
        return percentile(self.processor, 50)


Act = Callable[[], None]


def _compare(act: Act, protocols: Sequence[ProtocolDef], tools: Sequence[ToolDef]) -> tuple[Spent, Spent]:
    """The act on both shelves, in turns of four; the first of a turn does not count, since it makes anew what a
    process keeps of a shelf that in the product never changes.
    """
    few, many = Spent(), Spent()
    for number in range(_WARM + _ROUNDS // 2):
        _take_turn(act, few if number >= _WARM else Spent())
        with on_the_shelf(protocols, tools):
            _take_turn(act, many if number >= _WARM else Spent())
    return few, many


def _take_turn(act: Act, into: Spent) -> None:
    act()
    act()
    for _ in range(2):
        started, used = clock.monotonic_ms(), time.process_time()
        act()
        into.processor.append(1000 * (time.process_time() - used))
        into.times.append(clock.monotonic_ms() - started)


def _list_acts(demo: Golem) -> dict[str, Act]:
    key = create_api_key(golem=demo, scopes=Scope.values, label="bench", created_by=demo.owner, now=clock.now()).key
    pulse = make_like(demo, f"forty {uuid4().hex[:8]}")
    pulse.save(force_insert=True)
    pulse.profiles.set(demo.profiles.all())
    Heartbeat.objects.create(golem=pulse, is_on=True)
    amounts = iter(range(5_000_000, 10**9, 250))

    def decide() -> None:
        toolset = resolve_toolset(_fresh(demo))
        shown = select_tools(toolset=toolset, task=TickTask.ENTER, interventions=WORDS, probes={"block_number": 1})
        define_tools(toolset=shown, permit_ttl_seconds=60, has_writes=True)

    def manifest(permit_ttl_seconds: int = 60) -> None:
        golem = _fresh(demo)
        shelf = KeyShelf(golem=golem, key=ApiKey.objects.get(pk=key.pk))
        build_manifest(
            golem=view_golem(golem),
            toolset=shelf.toolset,
            loadout=shelf.loadout,
            permit_ttl_seconds=permit_ttl_seconds,
        )

    # One that nobody asked for before is made anew.
    lifetimes = iter(range(100, 10**6))

    def tick() -> None:
        if run_heartbeat_tick(claim=claim_of(pulse)) is None:
            raise RuntimeError("the measured tick did not run")

    return {
        "deciding": decide,
        "manifest": manifest,
        "manifest_anew": lambda: manifest(next(lifetimes)),
        "preview": lambda: preview_swap(demo, next(amounts), Lap()),
        "quiet_tick": tick,
    }


def _fresh(golem: Golem) -> Golem:
    return Golem.objects.select_related("archetype").get(pk=golem.pk)


def _address_of(symbol: str) -> str:
    return next(each.address for each in load_deployment(KNOWN_NETWORKS[CHAIN_ID]).tokens if each.symbol == symbol)
