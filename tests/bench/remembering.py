"""The same golem over 500 ticks with and without its memory, in a market that costs who learns nothing.

An hour of it is 30 ticks of two minutes, on the local chain, by the real path: tick, preview, commit, outcome, episode,
consolidation. Each tick its owner gave it USDC for its WETH, and it buys WETH by its rule. In the deepest pool somebody
buys ahead of it each time, nearly to its slippage bound; at times that pool is dear by itself, and another one serves.
For a fifth of each fifty ticks the market swings, and whoever buys ahead goes beyond the bound: the swap reverts.
Once the last thousand blocks hold enough of that, the risk-assessor vetoes most openings of both runs alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.test import override_settings

from archetypes_app.models import DecisionCycleRecord, Golem, Heartbeat
from golem_project.demo.seed import CHAIN_ID
from golem_project.embedded.world.rpc import call_data
from golem_project.embedded.world.seed_data import worth
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.duties.consolidator import consolidate_due
from golem_project.heartbeat.tick_claims import claim_due
from memory_app.models import Insight
from permits_app.actions.commit import commit_permit
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, PolicyCage, SpendingLimits
from permits_app.models.permit import PermitStatus
from tests.bench.figures import Figure, measure
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tools_app.core import clock

TICKS: Final = 500
TICK_SECONDS: Final = 120
SEASON: Final = 50
RULE: Final = {
    "token_a": "WETH",
    "token_b": "USDC",
    "fee_tier": 500,
    "half_width_bps": 500,
    "target_micro_usd": 400_000_000,
    "slippage_bps": 50,
}
_SWAP: Final = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
_DEEP, _OTHER = 500, 3_000
_AHEAD_USD: Final = 430_000
_BEYOND_USD: Final = {_DEEP: 1_200_000, _OTHER: 250_000}
_DEAR_USD: Final = 450_000
_SWING_USD: Final = 3_200_000
_USDC: Final = 20_000 * 10**6


@dataclass
class Market:
    """Everybody else. What they buy ahead they sell again once the golem's transaction is in a block."""

    world: World
    account: Any = None
    risen_by: str = ""

    def __post_init__(self) -> None:
        self.account = self.world.new_account(10**20, {"USDC": worth("USDC", 10**9), "WETH": worth("WETH", 10**9)})
        self.world.rpc.call("anvil_impersonateAccount", self.account.address)
        router = self.world.contracts["uniswap_v3_swap_router_02"]
        for symbol in ("USDC", "WETH"):
            self._send(self.world.tokens[symbol].address, call_data("approve(address,uint256)", router, 2**255))

    def trade(self, fee: int, *, sells: str, amount: int) -> str:
        """One swap; its hash."""
        token_in, token_out = (self.world.tokens[each].address for each in (sells, _other(sells)))
        router = self.world.contracts["uniswap_v3_swap_router_02"]
        data = call_data(_SWAP, (token_in, token_out, fee, self.account.address, amount, 0, 0))
        return self._send(router, data)

    def bought(self, *hashes: str) -> int:
        """WETH that came of swaps that are mined."""
        weth = self.world.tokens["WETH"].address.lower()
        me = self.account.address.lower()[2:]
        logs = [log for each in hashes for log in self.world.wait(each)["logs"]]
        got = [log for log in logs if log["address"].lower() == weth and log["topics"][-1].lower().endswith(me)]
        return sum(int(log["data"], 16) for log in got)

    def swing(self) -> None:
        """Feed and deepest pool move by nearly four percent, up and down in turn: ticks call that volatile."""
        if self.risen_by:
            self.trade(_DEEP, sells="WETH", amount=self.bought(self.risen_by))
            self.risen_by = ""
        else:
            self.risen_by = self.trade(_DEEP, sells="USDC", amount=worth("USDC", _SWING_USD))
        self.let_feed_follow()

    def let_feed_follow(self) -> None:
        """The feed says what the deepest pool does."""
        pool = self.world.pool("v3", "USDC", "WETH", _DEEP)
        state = self.world.rpc.read(pool.address, "slot0()", returns="(uint160,int24,uint16,uint16,uint16,uint8,bool)")
        ratio = int(state[0]) ** 2 * 10**18 >> 192
        is_first = pool.token0 == self.world.tokens["WETH"].address
        answer = ratio * 10**2 if is_first else 10**38 // ratio * 10**2
        deployer = self.world.actors.deployer
        self.world.transact(deployer, self.world.tokens["WETH"].feed, "setAnswer(int256)", answer)

    def _send(self, to: str, data: str) -> str:
        request = {"from": self.account.address, "to": to, "data": data, "gas": hex(600_000)}
        sent = str(self.world.rpc.call("eth_sendTransaction", request))
        if self.world.wait(sent)["status"] != "0x1":
            raise RuntimeError("a trade of the market reverted")
        return sent


def _other(symbol: str) -> str:
    return "WETH" if symbol == "USDC" else "USDC"


@dataclass
class Run:
    """What a golem did in its ticks."""

    filled: int = 0
    failed: int = 0
    shortfall_wei: int = 0
    bought_wei: int = 0
    gas_wei: int = 0
    insights: int = 0
    rerouted: int = 0
    """Fills through the route that what was learned preferred."""
    tightened: int = 0
    """Actions whose slippage or deadline was changed by what was learned."""
    waited: int = 0
    """Ticks in which a warning let a wish wait."""
    limits: list[dict[str, Any]] = field(default_factory=list)

    @property
    def lost_bps(self) -> float:
        """WETH that previews promised and fills did not bring, in basis points of what was promised."""
        return round(10_000 * self.shortfall_wei / max(1, self.bought_wei + self.shortfall_wei), 2)


@measure("remembering")
def measure_remembering() -> Iterator[Figure]:
    """Both runs, from the same state of the chain."""
    world = World(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    without, with_memory = (play(world, remembers=remembers, ticks=TICKS) for remembers in (False, True))
    told = f"{with_memory.filled} fills, {with_memory.insights} insights; without {without.filled} fills"
    yield Figure(
        "remembering.slippage",
        f"fallen short of previews over {TICKS} ticks, with memory",
        with_memory.lost_bps,
        "bps",
        target=without.lost_bps * 0.9,
        reference=f"without memory {without.lost_bps:g} bps; {told}",
    )
    yield Figure(
        "remembering.failed",
        "actions that failed in them",
        with_memory.failed,
        "",
        target=without.failed - 1,
        reference=f"without memory {without.failed}",
    )
    yield Figure(
        "remembering.route",
        "fills through a route that memory preferred",
        with_memory.rerouted,
        "",
        target=1,
        reference=f"of {with_memory.filled}; without memory {without.rerouted}",
        at_least=True,
    )
    yield Figure(
        "remembering.timing",
        "ticks in which a warning let a wish wait",
        with_memory.waited,
        "",
        target=1,
        reference=f"slippage or deadline changed in {with_memory.tightened} actions; without memory"
        f" {without.waited} and {without.tightened}",
        at_least=True,
    )
    yield Figure(
        "remembering.limits",
        "limits and rules that differ before, after and between both",
        sum(each != without.limits[0] for each in (*without.limits, *with_memory.limits)),
        "",
        target=0,
    )


def play(world: World, *, remembers: bool, ticks: int) -> Run:
    """`ticks` ticks of a new golem; the chain is as before afterwards."""
    snapshot = world.rpc.call("evm_snapshot")
    try:
        with _clock_of(world) as moved:
            name = f"{'remembers' if remembers else 'forgets'} {clock.now():%H%M%S%f}"
            live = make_live_golem(world, name=name)
            Golem.objects.filter(pk=live.golem.pk).update(is_live=True, is_memory_enabled=remembers)
            Heartbeat.objects.create(golem=live.golem, is_on=True, liquidity_rule=RULE, next_tick_at=clock.now())
            run = Run(limits=[_read_limits(live)])
            market = Market(world)
            with override_settings(GOLEM_HEARTBEAT_MOST_ACTIONS=1, GOLEM_RECEIPT_WAIT_SECONDS=0.02):
                for number in range(ticks):
                    _one_tick(live, market, number)
                    moved.on()
                    if remembers:
                        consolidate_due(now=clock.now())
            _count(live, run)
            run.limits.append(_read_limits(live))
            return run
    finally:
        world.rpc.call("evm_revert", snapshot)
        world.rpc.call("anvil_dropAllTransactions")


def _one_tick(live: LiveGolem, market: Market, number: int) -> None:
    world = live.world
    # Never quite the same, or the loop guard would stop it.
    for symbol, raw in (("WETH", number % 97 * 10**14), ("USDC", _USDC)):
        world.rpc.call("anvil_dealERC20", live.golem.address, world.tokens[symbol].address, hex(raw))
    is_rough = number % SEASON >= SEASON * 4 // 5
    is_dear = not is_rough and number % 4 == 0
    if is_rough:
        market.swing()
    dear = [market.trade(_DEEP, sells="USDC", amount=worth("USDC", _DEAR_USD))] if is_dear else []
    ahead = _BEYOND_USD if is_rough else {_DEEP: _AHEAD_USD}

    def work(permit_id: UUID, seconds: float) -> None:
        rpc = world.rpc
        rpc.call("evm_setAutomine", False)
        try:
            commit_permit(permit_id=permit_id)
            # Who is first is no matter of fees here, or everybody's would rise from tick to tick.
            rpc.call("anvil_dropAllTransactions")
        finally:
            rpc.call("evm_setAutomine", True)
        sent = {fee: market.trade(fee, sells="USDC", amount=worth("USDC", usd)) for fee, usd in ahead.items()}
        for row in OutboundTransaction.objects.filter(permit_id=permit_id).order_by("nonce"):
            world.wait(rpc.call("eth_sendRawTransaction", row.raw))
        for fee, each in sent.items():
            market.trade(fee, sells="WETH", amount=market.bought(each))
        commit_permit(permit_id=permit_id)

    Heartbeat.objects.filter(golem=live.golem).update(next_tick_at=clock.now() - timedelta(milliseconds=1))
    claims = claim_due(now=clock.now(), limit=1_000, lease_seconds=60, jitter_bps=0)
    claim = next(each for each in claims if each.golem_id == live.golem.pk)
    record = run_heartbeat_tick(claim=claim, now=lambda: clock.now(), work=work)
    if record is None:
        raise RuntimeError(f"tick {number} did not run")
    for each in dear:
        market.trade(_DEEP, sells="WETH", amount=market.bought(each))


@dataclass
class _Moved:
    """How far the machine's clock is set forward; the chain's goes with it."""

    world: World
    seconds: int = 0

    def on(self) -> None:
        self.seconds += TICK_SECONDS
        self.world.rpc.call("evm_increaseTime", TICK_SECONDS)
        self.world.rpc.call("evm_mine")


@contextmanager
def _clock_of(world: World) -> Iterator[_Moved]:
    real, moved = clock.now, _Moved(world)

    def now() -> datetime:
        return real() + timedelta(seconds=moved.seconds)

    world.rpc.call("evm_setTime", int(real().timestamp()))
    clock.now = now
    try:
        yield moved
    finally:
        clock.now = real


def _read_limits(live: LiveGolem) -> dict[str, Any]:
    """Every limit and rule of the golem, but for whose they are."""
    found: dict[str, Any] = {"rule": Heartbeat.objects.get(golem=live.golem).liquidity_rule}
    for row in (SpendingLimits.objects.get(golem=live.golem), PolicyCage.objects.get(golem=live.golem)):
        plain = [each for each in row._meta.concrete_fields if each.name not in _NO_LIMITS]
        found |= {f"{row._meta.model_name}.{each.name}": str(getattr(row, each.attname)) for each in plain}
    return found


_NO_LIMITS: Final = frozenset({"golem", "id", "created_at", "updated_at"})


def _count(live: LiveGolem, run: Run) -> None:
    weth = live.world.tokens["WETH"].address
    for outcome in OutcomeRecord.live.select_related("permit").filter(permit__golem=live.golem):
        if outcome.permit.status != PermitStatus.COMMITTED:
            run.failed += 1
            continue
        promised, got = (
            sum(int(each["raw"]) for each in told.get("balance_deltas", ()) if each["token"] == weth)
            for told in (outcome.expected, outcome.actual)
        )
        run.filled += 1
        run.rerouted += "route" in outcome.permit.soft_params.get("changes", {})
        run.bought_wei += got
        run.shortfall_wei += max(0, promised - got)
    sent = OutboundTransaction.objects.filter(sender=live.golem.address)
    run.gas_wei = sum(int(each.fee_wei or 0) for each in sent)
    run.insights = Insight.objects.filter(golem=live.golem).count()
    changed = ActionPermit.objects.filter(golem=live.golem).values_list("soft_params__changes", flat=True)
    run.tightened = sum(bool({"slippage_bps", "deadline"} & set(each or {})) for each in changed)
    records = DecisionCycleRecord.objects.filter(golem=live.golem).values_list("interventions", flat=True)
    run.waited = sum(any("held_back" in each for each in record) for record in records)
