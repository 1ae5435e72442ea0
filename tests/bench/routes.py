"""Routes, ranges and the SDK beside the server: how fast they are, and whether ours is ever worse than Uniswap's own.

The markets are the local chain's pools after trades that a seed draws; each is asked at a block of its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings

from golem_project.demo.seed import CHAIN_ID
from golem_project.embedded.world.protocols import deploy_protocols
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.runtime.sdk_socket import SdkSocket
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.evm.world import World
from tests.official_sdk import run_sdk
from tests.proof.holding_walk import undone
from tests.tools_app.factories import call_tool, make_context, run_plan
from tests.tools_app.protocols.uniswap.more_pools import open_some
from tools_app.chain.chains import open_reader
from tools_app.core.clock import Deadline
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.uniswap import likely_quotes
from tools_app.protocols.uniswap.addresses import UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.paths import TransferFees
from tools_app.protocols.uniswap.pools import find_pools
from tools_app.protocols.uniswap.quoting import RouteQuote, quote_paths
from tools_app.protocols.uniswap.routing import find_pools_between, find_routes
from tools_app.protocols.uniswap.sdk.opinions import RouteTold, ask_route
from tools_app.protocols.uniswap.sdk.pool_states import tell_pools
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.pools import find_usual_pools
from tools_app.subsystems.intel.range_paths import try_widths
from tools_app.subsystems.intel.strategy_tools import WIDTHS
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE

MARKETS: Final = 200
SWAPS: Final = 30
PATHS: Final = 5_000
_PAIRS: Final = (
    ("USDC", "WETH"),
    ("DAI", "USDC"),
    ("WBTC", "USDC"),
    ("WBTC", "WETH"),
    ("DAI", "WETH"),
    ("DAI", "WBTC"),
)
_ENDS: Final = ("DAI", "WBTC")
_PRICES: Final = {"USDC": 1, "DAI": 1, "WETH": 3_000, "WBTC": 60_000}
_SINGLE: Final = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
_GAS_WEI: Final = 10**9
_QUESTION: Final[dict[str, Any]] = {
    "chain_id": CHAIN_ID,
    "tokens": [{"address": "0x" + "11" * 20, "decimals": 18}, {"address": "0x" + "22" * 20, "decimals": 6}],
    "pools": [
        {"version": "v2", "first": 0, "second": 1, "fee": 3_000, "reserve0": str(10**24), "reserve1": str(10**15)}
    ],
    "from": 0,
    "to": 1,
    "amount": str(10**18),
}


@measure("routes")
def measure_routes() -> Iterator[Figure]:
    """The optimiser alone; with a chain also routes, swaps and the SDK."""
    tried = time_calls(_optimise, count=5, warm_up=1)
    what = f"a range chosen over {PATHS:,} drawn paths of a month and {len(WIDTHS)} widths"
    yield Figure("routes.optimiser", what, percentile(tried, 50), "ms", target=1_000)
    urls = settings.GOLEM_RPC_URLS.get(CHAIN_ID)
    if not urls:
        return
    deploy_protocols(urls[0], ["uniswap_v4"])
    rpc = JsonRpc(urls[0])
    try:
        with undone(rpc), run_sdk() as path:
            sdk, world = SdkSocket(path), World(urls[0])
            times = time_calls(lambda: sdk.ask("best_route", _QUESTION, RouteTold), count=300, warm_up=20)
            yield Figure(
                "routes.sdk_round_trip", "a question to the SDK and its answer", percentile(times, 50), "ms", 5
            )
            yield _compare(world, sdk)
            yield _carry_out(world)
            yield _time_versions(world)
    finally:
        rpc.close()


def _optimise() -> None:
    try_widths(
        3_000.0,
        WIDTHS,
        hourly_volatility=0.007,
        hours=720,
        paths=PATHS,
        fees_an_hour=50.0,
        pool_liquidity=1e6,
        amount=10_000.0,
        seed=7,
    )


def _open() -> tuple[ChainReader, UniswapDeployment]:
    reader = open_reader(CHAIN_ID, now=datetime.now(tz=UTC), deadline=Deadline.after_ms(60_000))
    return reader, deployment_on(CHAIN_ID)


def _find(
    reader: ChainReader, place: UniswapDeployment, sold: str, bought: str, amount: int, *, with_v4: bool
) -> RouteQuote:
    may_call = (lambda _: True) if with_v4 else None
    first, last = reader.token(sold), reader.token(bought)
    return find_routes(reader, place, token_in=first, token_out=last, amount=amount, may_call=may_call).best


def _time_versions(world: World) -> Figure:
    """Readers of their own, in a process that has met the pools before; the best of V2 and V3 among the pools that the
    local chain has, asked as it was before V4 was there, and then the best of all three among ten times as many.
    """

    def time_one(*, with_v4: bool) -> float:
        def ask() -> None:
            if not with_v4:
                # Quotes did not travel with the reads of the pools then.
                likely_quotes.forget()
            _find(*_open(), *_ENDS, 3_000 * 10**18, with_v4=with_v4)

        return min(percentile(time_calls(ask, count=40), 50) for _ in range(3))

    pairs = [_ENDS, *((end, hub) for end in _ENDS for hub in ("WETH", "USDC", "USDT"))]
    few, old = _count_pools(world, pairs, with_v4=False), time_one(with_v4=False)
    open_some(world, pairs, count=10 * few)
    many, new = _count_pools(world, pairs, with_v4=True), time_one(with_v4=True)
    return Figure(
        "routes.versions",
        f"times as long the best of V2, V3 and V4 with two hops takes among {many} pools as of V2 and V3 among {few}",
        round(new / old, 2),
        "times",
        target=1.25,
        reference=f"{old:g} ms among {few} pools without V4, {new:g} ms among {many} with it",
    )


def _count_pools(world: World, pairs: Sequence[tuple[str, str]], *, with_v4: bool) -> int:
    reader, place = _open()
    ends = [(world.tokens[one].address, world.tokens[other].address) for one, other in pairs]
    v4 = v4_on(CHAIN_ID) if with_v4 else None
    usual = find_usual_pools(reader, v4, ends, place.wrapped_native) if v4 is not None else []
    return len(find_pools(reader, place, ends)) + len(usual)


def _compare(world: World, sdk: SdkSocket) -> Figure:
    drawn, worst, asked = random.Random(41), -(10**9), 0
    pools = [each for each in world.deployments["pools"] if each["version"] == "v3"]
    trader = world.new_account(10**18, {name: 10**9 * 10 ** world.tokens[name].decimals for name in ("USDC", "DAI")})
    router = world.contracts["uniswap_v3_swap_router_02"]
    for name in ("USDC", "DAI"):
        world.transact(trader, world.tokens[name].address, "approve(address,uint256)", router, 2**255)
    symbols = {token.address: name for name, token in world.tokens.items()}
    for _ in range(MARKETS):
        pool = drawn.choice(pools)
        ends = [pool["token0"], pool["token1"]]
        paid = next((each for each in ends if symbols.get(each) in ("USDC", "DAI")), None)
        if paid is not None:
            amount = int(10 ** drawn.uniform(2, 4.7)) * 10 ** world.tokens[symbols[paid]].decimals
            other = ends[1] if paid == ends[0] else ends[0]
            data = (paid, other, pool["fee_tier"], trader.address, amount, 0, 0)
            world.transact(trader, router, _SINGLE, data)
        sold, bought = drawn.sample(drawn.choice(_PAIRS), 2)
        decimals = world.tokens[sold].decimals
        raw = int(10 ** drawn.uniform(1.5, 5.2) * 10**decimals / _PRICES[sold])
        reader, place = _open()
        ours = _find(reader, place, sold, bought, raw, with_v4=True)
        tokens = {"token_in": reader.token(sold), "token_out": reader.token(bought)}
        told = tell_pools(reader, find_pools_between(reader, place, **tokens))
        first, last = (token.address for token in tokens.values())
        found = ask_route(sdk, reader, told, first=first, last=last, amount=raw)
        if found is None:
            continue
        quotes = quote_paths(reader, place, [found[0]], raw, is_exact_out=False, fees=TransferFees())
        if not quotes:
            continue
        asked += 1
        own, theirs = (_worth(reader, last, each) for each in (ours, quotes[0]))
        worst = max(worst, (theirs - own) * 10_000 // own)
    return Figure(
        "routes.against_sdk",
        f"how much more the SDK's route gives than ours after gas, the worst of {asked} seeded markets",
        max(0, worst),
        "bps",
        target=1,
        reference=f"{MARKETS} markets drawn",
    )


def _worth(reader: ChainReader, token: str, quote: RouteQuote) -> int:
    prices = PriceBook(reader)
    return prices.value_of(token, quote.amount_out) - prices.value_of(NATIVE, quote.gas * _GAS_WEI)


def _carry_out(world: World) -> Figure:
    """Each swap as its plan says, in the next block."""
    drawn, off = random.Random(42), 0
    amounts = {name: 10**6 * 10 ** world.tokens[name].decimals for name in ("USDC", "DAI", "WBTC")}
    account = world.new_account(10**18, {**amounts, "WETH": 500 * 10**18})
    for _ in range(SWAPS):
        sold, bought = drawn.sample(drawn.choice(_PAIRS), 2)
        raw = int(drawn.uniform(50, 20_000) * 10 ** world.tokens[sold].decimals / _PRICES[sold])
        ctx = make_context(world, address=account.address)
        plan = call_tool(ctx, "uniswap_execute_swap", token_in=sold, token_out=bought, amount=str(raw))
        (wanted,) = plan.receives
        off += abs(run_plan(world, account, plan).deltas[wanted.token.address] - wanted.expected)
    what = f"base units by which {SWAPS} swaps brought something else than was quoted a block before"
    return Figure("routes.quote_is_execution", what, off, "base units", target=0)
