"""Opens a pool of any price and range on a private test chain, with integers only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.fund import send
from golem_project.embedded.world.pools import MINT, NO_DEADLINE, gross_up
from golem_project.embedded.world.rpc import JsonRpc, call_data, checksum
from golem_project.embedded.world.seed_data import FEED_DECIMALS, TICK_SPACING
from golem_project.embedded.world.world_table import WorldContracts

LEAST_SQRT_PRICE = 4_295_128_739
MOST_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342
WHOLE_RANGE_TICKS = 887_272
# Bounded: a number such as 1e999999999 would take all memory.
DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?", re.ASCII)
V2_FEE_TIER = 3_000
# A new V3 pool is 4.5 million, a new V2 pair 2.5 million.
POOL_GAS_LIMIT = 8_000_000
NO_ADDRESS = "0x0000000000000000000000000000000000000000"
INCREASE_LIQUIDITY = "0x3067048beee31b25b2f1681f88dac838c8bba36af25bfb2b7cf7473a5847e35f"
SLOT0 = "(uint160,int24,uint16,uint16,uint16,uint8,bool)"


class DevChainRefused(EmbeddedError):
    """What was asked of a test chain cannot be done; the message says what to change."""


@dataclass(frozen=True)
class DevToken:
    """A token that can be put into a pool: `price` is its feed's answer, US dollars with 8 decimals."""

    symbol: str
    address: str
    decimals: int
    price: int
    traits: tuple[str, ...]


@dataclass(frozen=True)
class DevPoolWish:
    """`initial_price` is a decimal text, units of `token1` per unit of `token0` in the order named here; so are ticks.

    `liquidity_usd` is whole dollars, both sides together; ticks None mean the whole range.
    """

    version: str
    token0: str
    token1: str
    fee_tier: int
    initial_price: str
    liquidity_usd: int
    tick_lower: int | None = None
    tick_upper: int | None = None


@dataclass(frozen=True)
class DevPool:
    """A pool, tokens in the order of their addresses; ticks None for V2. `liquidity` is what was put in."""

    pool_address: str
    version: str
    token0: str
    token1: str
    fee_tier: int
    initial_tick: int | None
    initial_sqrt_price_x96: int | None
    liquidity: int


@dataclass(frozen=True)
class Plan:
    """The wish in the pool's own order: `price` is base units of token 1 per base unit of token 0."""

    tokens: tuple[DevToken, DevToken]
    amounts: tuple[int, int]
    price: Fraction
    ticks: tuple[int, int] | None


def read_price(text: str) -> Fraction:
    """Raises DevChainRefused unless it is a positive decimal number."""
    price = Fraction(text) if DECIMAL.fullmatch(text) else Fraction(0)
    if price == 0:
        raise DevChainRefused(f"initial_price {text[:80]!r} is no positive decimal number. Fix: such as '2999.5'.")
    return price


def plan_pool(wish: DevPoolWish, first: DevToken, second: DevToken, units_price: Fraction) -> Plan:
    """Sort and value; `units_price` is units of the second per unit of the first. Raises DevChainRefused."""
    if first.address == second.address:
        raise DevChainRefused("token0 and token1 are the same. Fix: name two tokens.")
    if wish.liquidity_usd < 1:
        raise DevChainRefused("liquidity_usd must be at least 1. Fix: give whole dollars, such as 100000.")
    price = units_price * Fraction(10**second.decimals, 10**first.decimals)
    amount0 = wish.liquidity_usd * 10 ** (first.decimals + FEED_DECIMALS) // (2 * first.price)
    amount1 = int(amount0 * price)
    if amount0 == 0 or amount1 == 0 or max(amount0, amount1) >= 2**112:
        raise DevChainRefused("At this price one side is nothing or endless. Fix: change initial_price.")
    ticks = None
    if (wish.tick_lower is None) != (wish.tick_upper is None):
        raise DevChainRefused("A range has two ends. Fix: give tick_lower and tick_upper, or neither.")
    if wish.tick_lower is not None and wish.tick_upper is not None:
        ticks = (wish.tick_lower, wish.tick_upper)
    if int(first.address, 16) < int(second.address, 16):
        return Plan((first, second), (amount0, amount1), price, ticks)
    turned = None if ticks is None else (-ticks[1], -ticks[0])
    return Plan((second, first), (amount1, amount0), 1 / price, turned)


def open_pool(node: JsonRpc, owner: str, contracts: WorldContracts, wish: DevPoolWish, plan: Plan) -> DevPool:
    """Create and fill it. `owner` mints the tokens and keeps the position. Raises DevChainRefused, EmbeddedError."""
    if wish.version not in {"v2", "v3"}:
        raise DevChainRefused(f"version {wish.version!r} is not deployed here. Fix: v2 or v3.")
    spender = contracts.uniswap_v2_router if wish.version == "v2" else contracts.uniswap_v3_position_manager
    check_new(node, contracts, wish, plan)
    ticks = None if wish.version == "v2" else pool_range(wish, plan)
    sqrt_price = 0 if wish.version == "v2" else sqrt_price_of(plan.price)
    for token, amount in zip(plan.tokens, plan.amounts, strict=True):
        provide(node, owner, token, gross_up(token.symbol, amount), contracts.weth9)
        if node.read(token.address, "allowance(address,address)", owner, spender, returns="(uint256)")[0]:
            send(node, owner, token.address, call_data("approve(address,uint256)", spender, 0))
        send(node, owner, token.address, call_data("approve(address,uint256)", spender, gross_up(token.symbol, amount)))
    if ticks is None:
        return open_v2(node, owner, contracts, plan)
    return open_v3(node, owner, contracts, wish.fee_tier, plan, sqrt_price, ticks)


def check_new(node: JsonRpc, contracts: WorldContracts, wish: DevPoolWish, plan: Plan) -> None:
    """Raises DevChainRefused for a fee that does not exist, a pool that does, or a token V3 cannot hold."""
    addresses = (plan.tokens[0].address, plan.tokens[1].address)
    if wish.version == "v2":
        if wish.fee_tier != V2_FEE_TIER:
            raise DevChainRefused(f"A v2 pool's fee is {V2_FEE_TIER} (0.3%). Fix: leave fee_tier out.")
        found = node.read(contracts.uniswap_v2_factory, "getPair(address,address)", *addresses, returns="(address)")
        other = "another pair"
    else:
        if wish.fee_tier not in TICK_SPACING:
            raise DevChainRefused(f"No fee_tier {wish.fee_tier}. Fix: {', '.join(map(str, TICK_SPACING))}.")
        if any("fee_on_transfer" in token.traits for token in plan.tokens):
            raise DevChainRefused("A v3 pool cannot hold a fee-on-transfer token. Fix: version v2.")
        signature = "getPool(address,address,uint24)"
        found = node.read(contracts.uniswap_v3_factory, signature, *addresses, wish.fee_tier, returns="(address)")
        other = f"another fee_tier ({', '.join(map(str, TICK_SPACING))})"
    if found[0] != NO_ADDRESS:
        raise DevChainRefused(f"This pool exists: {checksum(found[0])}. Fix: choose {other}, or use it.")


def pool_range(wish: DevPoolWish, plan: Plan) -> tuple[int, int]:
    """The wanted range in pool ticks. Raises DevChainRefused."""
    spacing = TICK_SPACING[wish.fee_tier]
    edge = WHOLE_RANGE_TICKS // spacing * spacing
    if plan.ticks is None:
        return -edge, edge
    lower, upper = plan.ticks
    if lower >= upper or lower % spacing or upper % spacing or lower < -edge or upper > edge:
        raise DevChainRefused(
            f"Ticks must be multiples of {spacing}, lower below upper, within {edge}. Fix: round them."
        )
    return lower, upper


def sqrt_price_of(price: Fraction) -> int:
    """Q64.96. Raises DevChainRefused outside of what a pool can hold."""
    root = isqrt((price.numerator << 192) // price.denominator)
    if not LEAST_SQRT_PRICE <= root < MOST_SQRT_PRICE:
        raise DevChainRefused("initial_price is beyond what a pool can hold. Fix: choose a less extreme one.")
    return root


def provide(node: JsonRpc, owner: str, token: DevToken, amount: int, weth: str) -> None:
    """Let the owner have `amount` more of a token."""
    if token.address == weth:
        node.call("anvil_setBalance", owner, hex(int(node.call("eth_getBalance", owner, "latest"), 16) + amount))
        send(node, owner, weth, call_data("deposit()"), value=amount)
    else:
        send(node, owner, token.address, call_data("mint(address,uint256)", owner, amount))


def open_v2(node: JsonRpc, owner: str, contracts: WorldContracts, plan: Plan) -> DevPool:
    """A pair, filled over the whole range."""
    tokens = (plan.tokens[0].address, plan.tokens[1].address)
    amounts = [gross_up(token.symbol, amount) for token, amount in zip(plan.tokens, plan.amounts, strict=True)]
    signature = "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"
    data = call_data(signature, *tokens, *amounts, 0, 0, owner, NO_DEADLINE)
    send(node, owner, contracts.uniswap_v2_router, data, gas=POOL_GAS_LIMIT)
    found = node.read(contracts.uniswap_v2_factory, "getPair(address,address)", *tokens, returns="(address)")
    address = checksum(found[0])
    liquidity = node.read(address, "totalSupply()", returns="(uint256)")[0]
    return DevPool(address, "v2", *tokens, V2_FEE_TIER, None, None, liquidity)


def open_v3(
    node: JsonRpc,
    owner: str,
    contracts: WorldContracts,
    fee_tier: int,
    plan: Plan,
    sqrt_price: int,
    ticks: tuple[int, int],
) -> DevPool:
    """A pool with one position."""
    tokens = (plan.tokens[0].address, plan.tokens[1].address)
    manager = contracts.uniswap_v3_position_manager
    signature = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
    send(node, owner, manager, call_data(signature, *tokens, fee_tier, sqrt_price), gas=POOL_GAS_LIMIT)
    parameters = (*tokens, fee_tier, *ticks, *plan.amounts, 0, 0, owner, NO_DEADLINE)
    minted = send(node, owner, manager, call_data(MINT, parameters), gas=POOL_GAS_LIMIT)
    receipt = node.find_receipt(minted)
    if receipt is None:
        raise EmbeddedError(f"The local chain does not know {minted}. Fix: try again.")
    increased = next(log for log in receipt.logs if log.topics[0] == INCREASE_LIQUIDITY)
    signature = "getPool(address,address,uint24)"
    found = node.read(contracts.uniswap_v3_factory, signature, *tokens, fee_tier, returns="(address)")
    address = checksum(found[0])
    pool_tick = node.read(address, "slot0()", returns=SLOT0)[1]
    liquidity = int(increased.data[2:66], 16)
    return DevPool(address, "v3", *tokens, fee_tier, pool_tick, sqrt_price, liquidity)
