"""24-hour figures that the chain cannot support are absent with a reason; nothing is guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import make_context
from tools_app.chain.node_errors import LogRangeTooWide
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.errors import TransferFeeUnknown
from tools_app.protocols.uniswap.history import read_days, read_price_a_day_ago
from tools_app.protocols.uniswap.pools import read_pool
from tools_app.protocols.uniswap.routing import find_routes
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.views import BlockRef


class Limited:
    """A reader of the local world whose node knows less: `chain_age` young, or unwilling to search logs."""

    def __init__(self, reader: ChainReader, *, is_young: bool = False, refuses_logs: bool = False) -> None:
        self._reader = reader
        self._is_young = is_young
        self._refuses_logs = refuses_logs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def first_block_since(self, timestamp: int) -> BlockRef:
        return self._reader.block_at(0) if self._is_young else self._reader.first_block_since(timestamp)

    def logs(self, **wanted: Any) -> Any:
        if self._refuses_logs:
            raise LogRangeTooWide("too much")
        return self._reader.logs(**wanted)


def open_pool(world: World, version: str = "v3", fee: int = 500) -> tuple[ChainReader, Pool]:
    reader = make_context(world).chain()
    address = world.pool(version, "USDC", "WETH", fee).address
    return reader, read_pool(reader, deployment_on(31337), address)


def buy_weth(chain: World, version: str, fee: int) -> None:
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    router = chain.contracts["uniswap_v2_router" if version == "v2" else "uniswap_v3_swap_router_02"]
    trader = chain.new_account(10**18, {"USDC": 10_000 * 10**6})
    chain.transact(trader, usdc, "approve(address,uint256)", router, 10_000 * 10**6)
    if version == "v2":
        swap = "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"
        chain.transact(trader, router, swap, 10_000 * 10**6, 0, [usdc, weth], trader.address, 2**40)
    else:
        swap = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
        chain.transact(trader, router, swap, (usdc, weth, fee, trader.address, 10_000 * 10**6, 0, 0))


def test_a_chain_younger_than_a_day_has_no_day(world: World) -> None:
    reader, pool = open_pool(world)
    young: Any = Limited(reader, is_young=True)
    day = read_days(young, deployment_on(31337), [pool])[pool.id]
    assert day.reason == "the chain's history is shorter than 24 hours"
    assert read_price_a_day_ago(young, pool) == (None, day.reason)


def test_a_node_that_refuses_logs_leaves_a_reason_with_its_code(world: World) -> None:
    reader, pool = open_pool(world)
    unwilling: Any = Limited(reader, refuses_logs=True)
    reason = f"the chain's logs cannot be read ({LogRangeTooWide.code})"
    assert read_days(unwilling, deployment_on(31337), [pool])[pool.id].reason == reason
    assert read_price_a_day_ago(unwilling, pool) == (None, reason)


@pytest.mark.parametrize(("version", "fee"), [("v3", 500), ("v2", 3_000)])
def test_the_price_a_day_ago_is_that_of_the_last_trade_before(chain: World, version: str, fee: int) -> None:
    buy_weth(chain, version, fee)
    _, then = open_pool(chain, version, fee)
    chain.rpc.call("evm_increaseTime", 2 * 86_400)
    chain.rpc.call("anvil_mine", "0x2")
    buy_weth(chain, version, fee)
    reader, now = open_pool(chain, version, fee)
    price, reason = read_price_a_day_ago(reader, now)
    assert reason is None
    assert price == then.spot
    assert price != now.spot
    day = read_days(reader, deployment_on(31337), [now])[now.id]
    assert day.swaps == 1
    assert sorted((day.in0, day.in1)) == [0, 10_000 * 10**6], "what went out is no volume of what came in"
    assert day.prices[-1] == now.spot


def test_a_marked_token_that_does_not_tell_its_fee_is_not_quoted(world: World) -> None:
    reader = make_context(world).chain()
    silent = replace(reader.token("DAI"), has_transfer_fee=True)
    with pytest.raises(TransferFeeUnknown):
        find_routes(reader, deployment_on(31337), token_in=silent, token_out=reader.token("WETH"), amount=10**18)
