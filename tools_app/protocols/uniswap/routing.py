"""The best way from one token to another over V2 and V3 pools at one pinned block.

Paths of one hop, and of two hops through a hub token, also from one version into the other. A token that takes a
fee on transfer goes through V2 only, and its quote is what really arrives.
Seed: 002, "DeFi adapter pattern"; facts 14 (ROUTING_*).
"""

from __future__ import annotations

from collections.abc import Iterable

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
from tools_app.protocols.uniswap.quoting import MIXED, Hop, Path, RouteQuote, TransferFees, quote_paths, version_of
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import TokenMeta

HUB_SYMBOLS = ("USDC", "USDT", "DAI")
POOLS_PER_LEG = 2
TRANSFER_FEE = "function FEE_BPS() view returns (uint256)"


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
    paths = [path for path in paths if _is_possible(path, is_exact_out=is_exact_out, fees=fees)]
    if not paths:
        raise NoRoute(
            f"no Uniswap pool leads from {token_in.symbol} to {token_out.symbol} on chain {reader.chain_id}",
            token_in=first,
            token_out=last,
        )
    quotes = quote_paths(reader, deployment, paths, amount, is_exact_out=is_exact_out, fees=fees)
    if not quotes:
        raise InsufficientLiquidity(
            f"no pool between {token_in.symbol} and {token_out.symbol} can take this amount; ask for less",
            token_in=first,
            token_out=last,
            amount=str(amount),
        )
    best = min(quotes, key=lambda quote: quote.rank)
    if best.amount_out == 0:
        raise AmountTooSmall(
            f"{amount} base units of {token_in.symbol} (it has {token_in.decimals} decimals) give nothing",
            amount=str(amount),
            decimals=token_in.decimals,
        )
    return best


def _is_possible(path: Path, *, is_exact_out: bool, fees: TransferFees) -> bool:
    """A token with a transfer fee is only ever swapped in a V2 pool; a mixed path has no exact output."""
    if is_exact_out and version_of(path) == MIXED:
        return False
    takes_fee = (fees.token_in_bps > 0, fees.token_out_bps > 0)
    return not any(
        taxed and hop.pool.version == "v3" for taxed, hop in zip(takes_fee, (path[0], path[-1]), strict=True)
    )


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


def _find_paths(reader: ChainReader, deployment: Deployment, first: str, last: str) -> list[Path]:
    hubs = [hub for hub in list_hubs(reader, deployment) if hub not in (first, last)]
    pairs = [(first, last), *((first, hub) for hub in hubs), *((hub, last) for hub in hubs)]
    pools = [pool for pool in find_pools(reader, deployment, pairs) if pool.is_usable]
    paths: list[Path] = [(Hop(pool, first),) for pool in pools if {pool.token0, pool.token1} == {first, last}]
    for hub in hubs:
        near = [pool for version in ("v2", "v3") for pool in _deepest(pools, version, first, hub)]
        far = [pool for version in ("v2", "v3") for pool in _deepest(pools, version, hub, last)]
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
