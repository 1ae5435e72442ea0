"""An index that follows a pool of the local chain, a trader who moves it, and bars computed from the node alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from eth_account.signers.local import LocalAccount

from tests.evm.world import CHAIN_ID, World, WorldPool
from tools_app.chain.abi import event_topic
from tools_app.chain.networks import Network, get_network
from tools_app.core import clock
from tools_app.history import chain_following, followed_contracts, gap_filling
from tools_app.history.index_reads import IndexedBar, find_kept, read_bars
from tools_app.models import ChainLog, LogSource
from tools_app.models.history import BarSpan, SourceKind
from tools_app.protocols.uniswap.history import SWAP_V3

SINGLE = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"


@dataclass
class OwnBar:
    """A bar as the test computes it: prices times 2**192."""

    prices: list[int] = field(default_factory=list)
    in0: int = 0
    in1: int = 0
    trades: int = 0

    def as_told(self) -> tuple[Any, ...]:
        prices = self.prices
        edges = (prices[0], max(prices), min(prices), prices[-1]) if prices else (None,) * 4
        return (*edges, self.in0, self.in1, self.trades)


def as_told(bar: IndexedBar) -> tuple[Any, ...]:
    """A bar of the index in the same form."""
    scaled = (None if price is None else price.numerator * 2**192 // price.denominator for price in bar.prices)
    return (*scaled, *bar.paid_in, bar.trades)


class Followed:
    """The index and one pool of USDC and WETH."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.pool: WorldPool = world.pool("v3", "USDC", "WETH", 500)
        self.golem_id: UUID = uuid4()
        self.now: datetime = clock.now()
        self.trader: LocalAccount = world.new_account(10**18, {"USDC": 400_000_000 * 10**6})
        router = world.contracts["uniswap_v3_swap_router_02"]
        world.transact(self.trader, world.tokens["USDC"].address, "approve(address,uint256)", router, 2**256 - 1)

    @property
    def network(self) -> Network:
        return get_network(CHAIN_ID)

    def watch(self, *addresses: str, kind: SourceKind = SourceKind.POOL, by: str | None = None) -> int:
        """Have contracts followed, as whoever watches them would."""
        wanted = by or str(self.golem_id)
        wishes = [followed_contracts.FollowWish(CHAIN_ID, address, kind, wanted, "a test") for address in addresses]
        assert chain_following.begin_chain(self.network, now=self.now) is not None
        return followed_contracts.take_up(CHAIN_ID, wishes, now=self.now)

    def swap(self, amount: int) -> dict[str, Any]:
        usdc, weth = self.world.tokens["USDC"].address, self.world.tokens["WETH"].address
        order = (usdc, weth, 500, self.trader.address, amount, 0, 0)
        return self.world.transact(self.trader, self.world.contracts["uniswap_v3_swap_router_02"], SINGLE, order)

    def mine(self, blocks: int = 1) -> None:
        self.world.rpc.call("anvil_mine", hex(blocks))

    def follow(self) -> int:
        return chain_following.follow(self.network, now=self.now)

    def fill(self) -> int:
        return gap_filling.fill(self.network, now=self.now)

    def source(self) -> LogSource:
        return LogSource.objects.get(chain_id=CHAIN_ID, address=self.pool.address)

    def kept_places(self) -> list[tuple[int, int]]:
        """(block, index) of every log that is kept of the pool, in order."""
        rows = ChainLog.objects.filter(source_id=self.source().pk).order_by("block_number", "log_index")
        return list(rows.values_list("block_number", "log_index"))

    def node_logs(self) -> list[dict[str, Any]]:
        """Swaps of the pool as the node has them, from its first block to its newest."""
        topics = [[event_topic(SWAP_V3), *self.source().topics]]
        asked = {"address": self.pool.address, "topics": topics, "fromBlock": "0x0", "toBlock": "latest"}
        found: list[dict[str, Any]] = self.world.rpc.call("eth_getLogs", asked)
        return found

    def node_places(self, *, since: int = 0) -> list[tuple[int, int]]:
        """(block, index) of the node's logs from a block on, but for the newest block."""
        final = self.head() - self.network.confirmations
        places = ((int(log["blockNumber"], 16), int(log["logIndex"], 16)) for log in self.node_logs())
        return sorted(place for place in places if since <= place[0] <= final)

    def head(self) -> int:
        return int(self.world.rpc.call("eth_blockNumber"), 16)

    def bars(self, span: BarSpan = BarSpan.HOUR) -> list[IndexedBar]:
        kept = find_kept(CHAIN_ID, [self.pool.address])[self.pool.address]
        far = datetime(2100, 1, 1, tzinfo=UTC)
        return list(read_bars(kept, span, since=datetime(2000, 1, 1, tzinfo=UTC), until=far))

    def node_bars(self, *, since: int = 0) -> dict[datetime, tuple[Any, ...]]:
        """Hours by their beginning, computed from the node's words alone."""
        wanted = set(self.node_places(since=since))
        bars: defaultdict[datetime, OwnBar] = defaultdict(OwnBar)
        times: dict[str, int] = {}
        for log in self.node_logs():
            if (int(log["blockNumber"], 16), int(log["logIndex"], 16)) not in wanted:
                continue
            number = log["blockNumber"]
            if number not in times:
                times[number] = int(self.world.rpc.call("eth_getBlockByNumber", number, False)["timestamp"], 16)
            add(bars[datetime.fromtimestamp(times[number] // 3_600 * 3_600, UTC)], log)
        return {start: bar.as_told() for start, bar in bars.items()}


def add(bar: OwnBar, log: dict[str, Any]) -> None:
    """Count a log of a V3 pool."""
    words = [int(log["data"][2 + 64 * at : 66 + 64 * at], 16) for at in range((len(log["data"]) - 2) // 64)]
    if log["topics"][0] != event_topic(SWAP_V3):
        bar.prices.append(words[0] ** 2)
        return
    signed = [word - 2**256 if word >= 2**255 else word for word in words[:2]]
    bar.prices.append(words[2] ** 2)
    bar.in0 += max(0, signed[0])
    bar.in1 += max(0, signed[1])
    bar.trades += 1


def told_by_start(bars: Sequence[IndexedBar]) -> dict[datetime, tuple[Any, ...]]:
    """Bars of the index by their beginning."""
    return {bar.starts_at: as_told(bar) for bar in bars}
