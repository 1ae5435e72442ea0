"""The best way from one token to another over V2 and V3 pools, quoted exactly at one pinned block.

Paths of one hop, and of two hops through a hub token, never mixing versions. V2 is computed from the reserves,
V3 asked of QuoterV2 by `eth_call`, so a quote is what the same transaction would do at that block. A token
that takes a fee on transfer goes through V2 only, and its quote is what really arrives. A path whose price
before impact is already worse than an exact quote in hand is not asked for.
Seed: 002, "DeFi adapter pattern"; facts 14 (ROUTING_*).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools_app.core.units import BPS
from tools_app.protocols.uniswap.addresses import Deployment
from tools_app.protocols.uniswap.errors import (
    AmountTooSmall,
    InsufficientLiquidity,
    NoRoute,
    SameToken,
    TransferFeeUnknown,
)
from tools_app.protocols.uniswap.pools import Pool, find_pools
from tools_app.protocols.uniswap.prices import Ratio, shortfall_bps
from tools_app.protocols.uniswap.v2 import math as v2_math
from tools_app.protocols.uniswap.v3.math import FEE_DENOMINATOR, MAX_SQRT_PRICE, MIN_SQRT_PRICE
from tools_app.protocols.uniswap.v3.path import encode_path
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.views import TokenMeta

HUB_SYMBOLS = ("USDC", "USDT", "DAI")
POOLS_PER_LEG = 2
TRANSFER_FEE = "function FEE_BPS() view returns (uint256)"
QUOTE_IN_SINGLE = (
    "function quoteExactInputSingle((address tokenIn, address tokenOut, uint256 amountIn, uint24 fee,"
    " uint160 sqrtPriceLimitX96) params) returns (uint256,uint160,uint32,uint256)"
)
QUOTE_OUT_SINGLE = (
    "function quoteExactOutputSingle((address tokenIn, address tokenOut, uint256 amount, uint24 fee,"
    " uint160 sqrtPriceLimitX96) params) returns (uint256,uint160,uint32,uint256)"
)
QUOTE_IN = "function quoteExactInput(bytes path, uint256 amountIn) returns (uint256,uint160[],uint32[],uint256)"
QUOTE_OUT = "function quoteExactOutput(bytes path, uint256 amountOut) returns (uint256,uint160[],uint32[],uint256)"

# Gas of one transaction beyond what is measured in the pools: base cost, calldata, router, token transfers.
_GAS_OF_V3_ROUTER = 48_000
_GAS_OF_V2_SWAP = 108_000
_GAS_OF_V2_HOP = 62_000
_GAS_OF_FEE_TRANSFER = 5_000


@dataclass(frozen=True, slots=True)
class Hop:
    """One pool on the way, and the direction through it."""

    pool: Pool
    token_in: str

    @property
    def token_out(self) -> str:
        return self.pool.other(self.token_in)


@dataclass(frozen=True, slots=True)
class TransferFees:
    """What the first and the last token keep of every transfer, in basis points; zero for an ordinary token."""

    token_in_bps: int = 0
    token_out_bps: int = 0

    @property
    def any(self) -> bool:
        return self.token_in_bps > 0 or self.token_out_bps > 0

    def arrives_in(self, amount: int) -> int:
        """What the pool receives when `amount` of the first token is sent."""
        return amount - amount * self.token_in_bps // BPS

    def arrives_out(self, amount: int) -> int:
        """What the account receives when the pool sends `amount` of the last token."""
        return amount - amount * self.token_out_bps // BPS


@dataclass(frozen=True, slots=True)
class RouteQuote:
    """A path with what it takes from the account and what arrives there, in base units, at the pinned block.

    `price_impact_bps` is how much worse the average price is than the pools' price after their fee;
    `lp_fee_bps` the pools' fees added up, rounded up; `gas` an estimate without approvals.
    """

    hops: tuple[Hop, ...]
    amount_in: int
    amount_out: int
    is_exact_out: bool
    fees: TransferFees
    price_impact_bps: int
    gas: int

    @property
    def version(self) -> str:
        return self.hops[0].pool.version

    @property
    def lp_fee_bps(self) -> int:
        return -(-sum(hop.pool.fee for hop in self.hops) // 100)

    @property
    def path(self) -> tuple[str, ...]:
        """Token addresses in order."""
        return (self.hops[0].token_in, *(hop.token_out for hop in self.hops))


def pool_token(deployment: Deployment, token: TokenMeta) -> str:
    """The address pools know a token by: the wrapped coin for the chain's own coin."""
    return deployment.wrapped_native if token.is_native else token.address


def find_best_route(
    reader: ChainReader,
    deployment: Deployment,
    *,
    token_in: TokenMeta,
    token_out: TokenMeta,
    amount: int,
    is_exact_out: bool = False,
) -> RouteQuote:
    """The route that gives most (or takes least, for an exact output) at the pinned block.

    Raises SameToken, NoRoute, InsufficientLiquidity, AmountTooSmall, TransferFeeUnknown.
    """
    first, last = pool_token(deployment, token_in), pool_token(deployment, token_out)
    if first == last:
        raise SameToken(f"{token_in.symbol} and {token_out.symbol} are one asset; there is nothing to swap")
    fees = _read_transfer_fees(reader, token_in, token_out)
    if fees.any and is_exact_out:
        raise NoRoute(
            "a token that takes a fee on transfer cannot be bought or sold for an exact output; give the input"
        )
    paths = _find_paths(reader, deployment, first, last)
    if fees.any:
        paths = [path for path in paths if path[0].pool.version == "v2"]
    if not paths:
        raise NoRoute(
            f"no Uniswap pool leads from {token_in.symbol} to {token_out.symbol} on chain {reader.chain_id}",
            token_in=first,
            token_out=last,
        )
    quotes = _quote_all(reader, deployment, paths, amount, is_exact_out, fees)
    if not quotes:
        raise InsufficientLiquidity(
            f"no pool between {token_in.symbol} and {token_out.symbol} can take this amount; ask for less",
            token_in=first,
            token_out=last,
            amount=str(amount),
        )
    best = min(quotes, key=_rank)
    if best.amount_out == 0:
        raise AmountTooSmall(
            f"{amount} base units of {token_in.symbol} (it has {token_in.decimals} decimals) give nothing",
            amount=str(amount),
            decimals=token_in.decimals,
        )
    return best


def _rank(quote: RouteQuote) -> tuple[int, int, int]:
    return (quote.amount_in, -quote.amount_out, len(quote.hops))


def _read_transfer_fees(reader: ChainReader, token_in: TokenMeta, token_out: TokenMeta) -> TransferFees:
    """Fees of tokens the registry marks. Raises TransferFeeUnknown when a marked token does not tell its fee."""
    return TransferFees(_read_transfer_fee(reader, token_in), _read_transfer_fee(reader, token_out))


def _read_transfer_fee(reader: ChainReader, token: TokenMeta) -> int:
    if not token.has_transfer_fee:
        return 0
    outcome = reader.call_many([ReadCall(token.address, TRANSFER_FEE)])[0]
    if not outcome.ok or not 0 <= outcome.values[0] < BPS:
        raise TransferFeeUnknown(f"{token.symbol} takes a fee on transfer and does not say how much")
    return int(outcome.values[0])


def _find_paths(reader: ChainReader, deployment: Deployment, first: str, last: str) -> list[tuple[Hop, ...]]:
    hubs = [hub for hub in list_hubs(reader, deployment) if hub not in (first, last)]
    pairs = [(first, last), *((first, hub) for hub in hubs), *((hub, last) for hub in hubs)]
    pools = [pool for pool in find_pools(reader, deployment, pairs) if pool.is_usable]
    paths: list[tuple[Hop, ...]] = [
        (Hop(pool, first),) for pool in pools if {pool.token0, pool.token1} == {first, last}
    ]
    for hub in hubs:
        for version in ("v2", "v3"):
            near = _deepest(pools, version, first, hub)
            far = _deepest(pools, version, hub, last)
            paths.extend((Hop(a, first), Hop(b, hub)) for a in near for b in far)
    return paths


def list_hubs(reader: ChainReader, deployment: Deployment) -> list[str]:
    """Tokens a route may pass through: the wrapped coin and the registered dollar tokens without a transfer fee."""
    dollars = [
        token.address
        for token in reader.registered_tokens()
        if token.symbol in HUB_SYMBOLS and not token.has_transfer_fee
    ]
    return list(dict.fromkeys([deployment.wrapped_native, *dollars]))


def _deepest(pools: Iterable[Pool], version: str, token_a: str, token_b: str) -> list[Pool]:
    of_pair = [p for p in pools if p.version == version and {p.token0, p.token1} == {token_a, token_b}]
    return sorted(of_pair, key=lambda pool: pool.liquidity + pool.reserve0, reverse=True)[:POOLS_PER_LEG]


def _quote_all(
    reader: ChainReader,
    deployment: Deployment,
    paths: Sequence[tuple[Hop, ...]],
    amount: int,
    is_exact_out: bool,
    fees: TransferFees,
) -> list[RouteQuote]:
    quotes = [
        quote
        for path in paths
        if path[0].pool.version == "v2"
        if (quote := _quote_v2(path, amount, is_exact_out, fees)) is not None
    ]
    floor = min(quotes, key=_rank) if quotes else None
    asked = [path for path in paths if path[0].pool.version == "v3" and _can_beat(path, amount, is_exact_out, floor)]
    if asked:
        outcomes = reader.call_many([_quoter_call(deployment, path, amount, is_exact_out) for path in asked])
        for path, outcome in zip(asked, outcomes, strict=True):
            quote = _quote_v3(path, amount, is_exact_out, outcome)
            if quote is not None:
                quotes.append(quote)
    return quotes


def _can_beat(path: tuple[Hop, ...], amount: int, is_exact_out: bool, floor: RouteQuote | None) -> bool:
    """Whether a path, at its price after fee but before impact, could be better than the best quote so far."""
    if floor is None:
        return True
    price = _price_after_fee(path)
    if is_exact_out:
        return price.of(floor.amount_in) >= amount
    return price.of(amount) >= floor.amount_out


def _quote_v2(path: tuple[Hop, ...], amount: int, is_exact_out: bool, fees: TransferFees) -> RouteQuote | None:
    running = amount if is_exact_out else fees.arrives_in(amount)
    try:
        for hop in reversed(path) if is_exact_out else path:
            step = v2_math.amount_in if is_exact_out else v2_math.amount_out
            running = step(running, *hop.pool.reserves_from(hop.token_in))
    except ValueError:
        return None
    amounts = (running, amount) if is_exact_out else (amount, fees.arrives_out(running))
    gas = _GAS_OF_V2_SWAP + _GAS_OF_V2_HOP * (len(path) - 1) + (_GAS_OF_FEE_TRANSFER if fees.any else 0)
    return _priced(path, *amounts, is_exact_out=is_exact_out, fees=fees, gas=gas)


def _quote_v3(path: tuple[Hop, ...], amount: int, is_exact_out: bool, outcome: ReadOutcome) -> RouteQuote | None:
    if not outcome.ok:
        return None
    quoted, gas = int(outcome.values[0]), int(outcome.values[3])
    if _is_exhausted(outcome.values[1]) or (is_exact_out and quoted == 0):
        return None
    amounts = (quoted, amount) if is_exact_out else (amount, quoted)
    return _priced(path, *amounts, is_exact_out=is_exact_out, fees=TransferFees(), gas=gas + _GAS_OF_V3_ROUTER)


def _is_exhausted(prices_after: int | Sequence[int]) -> bool:
    """Whether a swap ran a pool to the end of its price range, which leaves part of the input unspent."""
    prices = [prices_after] if isinstance(prices_after, int) else prices_after
    return any(price <= MIN_SQRT_PRICE + 1 or price >= MAX_SQRT_PRICE - 1 for price in prices)


def _priced(
    path: tuple[Hop, ...], amount_in: int, amount_out: int, *, is_exact_out: bool, fees: TransferFees, gas: int
) -> RouteQuote:
    ideal = fees.arrives_out(_price_after_fee(path).of(fees.arrives_in(amount_in)))
    return RouteQuote(
        hops=path,
        amount_in=amount_in,
        amount_out=amount_out,
        is_exact_out=is_exact_out,
        fees=fees,
        price_impact_bps=shortfall_bps(ideal=ideal, actual=amount_out),
        gas=gas,
    )


def _price_after_fee(path: tuple[Hop, ...]) -> Ratio:
    price = Ratio(1, 1)
    for hop in path:
        price = price.times(hop.pool.spot_from(hop.token_in))
        price = price.times(Ratio(FEE_DENOMINATOR - hop.pool.fee, FEE_DENOMINATOR))
    return price


def _quoter_call(deployment: Deployment, path: tuple[Hop, ...], amount: int, is_exact_out: bool) -> ReadCall:
    if len(path) == 1:
        hop = path[0]
        signature = QUOTE_OUT_SINGLE if is_exact_out else QUOTE_IN_SINGLE
        return ReadCall(deployment.v3_quoter, signature, ((hop.token_in, hop.token_out, amount, hop.pool.fee, 0),))
    tokens = (path[0].token_in, *(hop.token_out for hop in path))
    encoded = encode_path(tokens, tuple(hop.pool.fee for hop in path), is_exact_out=is_exact_out)
    return ReadCall(deployment.v3_quoter, QUOTE_OUT if is_exact_out else QUOTE_IN, (encoded, amount))
