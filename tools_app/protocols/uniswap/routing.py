"""The best way from one token to another over V2, V3 and V4 pools at one pinned block, or the one that is preferred.

Paths of one hop, and of two hops through a hub token, also from V2 into V3 and back. V4 pools are looked for without
hooks; one with a hook is taken when it is named by its id, which is how somebody decides about its hook. A token that
takes a fee on transfer goes through V2 only, and its quote is what really arrives. A preference chooses among these
paths and adds none but the pools it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final

from tools_app.core.units import BPS, apply_bps_down, apply_bps_up
from tools_app.protocols.uniswap.addresses import UniswapDeployment
from tools_app.protocols.uniswap.errors import (
    AmountTooSmall,
    InsufficientLiquidity,
    NoRoute,
    RouteNotTaken,
    SameToken,
    TransferFeeUnknown,
)
from tools_app.protocols.uniswap.likely_quotes import QuoteQuestion, expect_quotes, note_quotes
from tools_app.protocols.uniswap.paths import MIXED, Hop, Path, TransferFees, version_of
from tools_app.protocols.uniswap.pools import find_pools
from tools_app.protocols.uniswap.promised_amounts import PromisedAmounts
from tools_app.protocols.uniswap.quoting import RouteQuote, quote_paths
from tools_app.protocols.uniswap.v4.addresses import V4Contracts, v4_on
from tools_app.protocols.uniswap.v4.keys import COIN, TIERS, list_usual_keys
from tools_app.protocols.uniswap.v4.pools import (
    expect_usual_pools,
    find_usual_pools,
    key_of,
    read_states,
    recognize,
)
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.views import TokenMeta

HUB_SYMBOLS = ("USDC", "USDT", "DAI")
POOLS_PER_LEG = 2
_NAMED_POOL: Final = re.compile(r"v4:(0x[0-9a-f]{64})")
TRANSFER_FEE = "function FEE_BPS() view returns (uint256)"


def pool_token(deployment: UniswapDeployment, token: TokenMeta) -> str:
    """The address pools know a token by: the wrapped coin for the chain's own coin."""
    return deployment.wrapped_native if token.is_native else token.address


@dataclass(frozen=True, slots=True)
class Routes:
    """The quotes of one question, best first, and the one to take; `names` say each as an agent names it.

    `paths` are those that were to choose from, and `symbols` those of the tokens between.
    """

    taken: RouteQuote
    quotes: tuple[RouteQuote, ...]
    names: tuple[str, ...]
    paths: tuple[Path, ...]
    symbols: Mapping[str, str]

    @property
    def best(self) -> RouteQuote:
        return self.quotes[0]

    @property
    def name(self) -> str:
        """Of the one to take."""
        return self.names[self.quotes.index(self.taken)]

    def iterate_ways(self) -> Iterator[tuple[str, Path]]:
        """All paths with their names: those of the quotes first, then those that could not take the whole amount or
        win, by what they promise.
        """
        quoted = [quote.hops for quote in self.quotes]
        rest, amount = [path for path in self.paths if path not in quoted], self.best.amount_in
        for path in (*quoted, *PromisedAmounts(self.best.fees).list_most(rest, amount, len(rest))):
            yield name_path(path, self.symbols), path


def find_routes(
    reader: ChainReader,
    deployment: UniswapDeployment,
    *,
    token_in: TokenMeta,
    token_out: TokenMeta,
    amount: int,
    is_exact_out: bool = False,
    preferred: str | None = None,
    slippage_bps: int = 0,
    may_call: Callable[[str], bool] | None = None,
) -> Routes:
    """The route that gives most (or takes least, for an exact output) at the pinned block, and the others.

    A `preferred` one is taken instead, as long as it stays within `slippage_bps` of the best; one that says how much
    it may cost (`v3:500@20`) gives way to the best beyond that. `may_call` says whether the account may call a
    contract; without it, and without the router of V4 pools, those are left out.
    Raises SameToken, NoRoute, RouteNotTaken, InsufficientLiquidity, AmountTooSmall, TransferFeeUnknown.
    """
    first, last = pool_token(deployment, token_in), pool_token(deployment, token_out)
    if first == last:
        raise SameToken(f"{token_in.symbol} and {token_out.symbol} are one asset; there is nothing to swap")
    fees = _read_transfer_fees(reader, token_in, token_out)
    if fees.any and is_exact_out:
        raise NoRoute(
            "a token that takes a fee on transfer cannot be bought or sold for an exact output; give the input"
        )
    v4 = v4_on(reader.chain_id) if may_call is not None else None
    named = _NAMED_POOL.findall((preferred or "").lower())
    refused = partial(_find_uncallable, _list_needed(v4, token_in), may_call)
    if "v4:" in (preferred or "").lower() and (contract := refused()) is not None:
        raise RouteNotTaken(
            f"the account may not call {contract}, without which no V4 pool is traded: its owner has to list it as a"
            " contract, and under a cage the swap goes through V2 and V3",
            route=preferred,
            contract=contract,
        )
    question = QuoteQuestion(reader.chain_id, first, last, is_exact_out, v4 is not None)
    expect_quotes(reader, deployment, question, amount, fees)
    paths = _find_paths(reader, deployment, first, last, v4=v4, named=named, refused=refused)
    paths = [path for path in paths if _is_possible(path, is_exact_out=is_exact_out, fees=fees)]
    if not paths:
        raise NoRoute(
            f"no Uniswap pool leads from {token_in.symbol} to {token_out.symbol} on chain {reader.chain_id}",
            token_in=first,
            token_out=last,
        )
    symbols = {token.address: token.symbol for token in reader.registered_tokens()}
    name, _, most_cost = (preferred or "").partition("@")
    wanted = _find_named(paths, name, symbols) if name else None
    quotes = quote_paths(reader, deployment, paths, amount, is_exact_out=is_exact_out, fees=fees, preferred=wanted)
    if not quotes:
        raise InsufficientLiquidity(
            f"no pool between {token_in.symbol} and {token_out.symbol} can take this amount; ask for less",
            token_in=first,
            token_out=last,
            amount=str(amount),
        )
    quotes.sort(key=lambda quote: quote.rank)
    note_quotes(question, quotes)
    best = quotes[0]
    if best.amount_out == 0:
        raise AmountTooSmall(
            f"{amount} base units of {token_in.symbol} (it has {token_in.decimals} decimals) give nothing",
            amount=str(amount),
            decimals=token_in.decimals,
        )
    taken = best
    if wanted is not None and most_cost:
        taken = _find_within(quotes, wanted, min(slippage_bps, int(most_cost))) or best
    elif wanted is not None:
        taken = _take(quotes, wanted, name, slippage_bps)
    names = tuple(name_path(quote.hops, symbols) for quote in quotes)
    return Routes(taken, tuple(quotes), names, tuple(paths), symbols)


def find_best_by_version(
    reader: ChainReader,
    deployment: UniswapDeployment,
    *,
    token_in: TokenMeta,
    token_out: TokenMeta,
    amount: int,
    may_call: Callable[[str], bool],
) -> dict[str, tuple[RouteQuote, str]]:
    """What V2, V3, V4 and paths through V2 and V3 would give for an exact input: each one's best path, and its name.

    A version that has no path, or none that gives anything for this amount, is left out, as V4 is where the account may
    not call its router (`may_call`).
    Raises SameToken and TransferFeeUnknown.
    """
    first, last = pool_token(deployment, token_in), pool_token(deployment, token_out)
    if first == last:
        raise SameToken(f"{token_in.symbol} and {token_out.symbol} are one asset; there is nothing to swap")
    fees = _read_transfer_fees(reader, token_in, token_out)
    v4 = v4_on(reader.chain_id)
    refused = partial(_find_uncallable, _list_needed(v4, token_in), may_call)
    paths: dict[str, list[Path]] = {}
    for path in _find_paths(reader, deployment, first, last, v4=v4, named=(), refused=refused):
        if _is_possible(path, is_exact_out=False, fees=fees):
            paths.setdefault(version_of(path), []).append(path)
    symbols = {token.address: token.symbol for token in reader.registered_tokens()}
    found: dict[str, tuple[RouteQuote, str]] = {}
    for version, own in paths.items():
        quotes = quote_paths(reader, deployment, own, amount, is_exact_out=False, fees=fees)
        best = min(quotes, key=lambda quote: quote.rank, default=None)
        if best is not None and best.amount_out > 0:
            found[version] = best, name_path(best.hops, symbols)
    return found


def find_pools_between(
    reader: ChainReader, deployment: UniswapDeployment, *, token_in: TokenMeta, token_out: TokenMeta
) -> list[Pool]:
    """Every pool that a path between two tokens may go through, each once; none for two forms of one asset."""
    first, last = pool_token(deployment, token_in), pool_token(deployment, token_out)
    if first == last or token_in.has_transfer_fee or token_out.has_transfer_fee:
        return []
    v4 = v4_on(reader.chain_id)
    paths = _find_paths(reader, deployment, first, last, v4=v4, named=(), refused=lambda: None)
    return list({hop.pool.id: hop.pool for path in paths for hop in path}.values())


def least_out(quote: RouteQuote, slippage_bps: int) -> int:
    """The least that must arrive: all of it for an exact output, the quote less the slippage otherwise."""
    return quote.amount_out if quote.is_exact_out else apply_bps_down(quote.amount_out, slippage_bps)


def most_in(quote: RouteQuote, slippage_bps: int) -> int:
    """The most that may leave: all of it for an exact input, the quote plus the slippage otherwise."""
    return apply_bps_up(quote.amount_in, slippage_bps) if quote.is_exact_out else quote.amount_in


def _find_named(paths: Sequence[Path], name: str, symbols: Mapping[str, str]) -> Path:
    lowered = name.lower()
    for path in paths:
        if lowered in (name_path(path, symbols).lower(), name_path(path, {}).lower()):
            return path
    raise RouteNotTaken(
        f"there is no route {name} between these tokens",
        route=name,
        routes=sorted({name_path(path, symbols) for path in paths}),
    )


def name_path(path: Path, symbols: Mapping[str, str]) -> str:
    """A path as its legs, `v2`, or `v3:` or `v4:` and the fee, with the hub between two of them."""
    legs = [_name_pool(hop.pool) for hop in path]
    hubs = [symbols.get(hop.token_out, hop.token_out) for hop in path[:-1]]
    return ">".join(part for pair in zip(legs, [*hubs, ""], strict=True) for part in pair if part)


def _name_pool(pool: Pool) -> str:
    """A V4 pool that is not the usual one of its pair and fee is named by its id."""
    if pool.version != "v4":
        return "v2" if pool.version == "v2" else f"v3:{pool.fee}"
    key = key_of(pool)
    usual = list_usual_keys(pool.token0, pool.token1, _wrapped_in(pool))[: len(TIERS)]
    return f"v4:{key.fee}" if key in usual else f"v4:{pool.id}"


def _wrapped_in(pool: Pool) -> str:
    """The token of a pool that stands for the coin; empty where the coin is not in it."""
    key = key_of(pool)
    return pool.other(key.currency1) if key.currency0 == COIN else ""


def _find_within(quotes: Sequence[RouteQuote], wanted: Path, most_bps: int) -> RouteQuote | None:
    best = quotes[0]
    least, most = least_out(best, most_bps), most_in(best, most_bps)
    fitting = (quote for quote in quotes if quote.hops == wanted)
    return next((quote for quote in fitting if quote.amount_out >= least and quote.amount_in <= most), None)


def _take(quotes: Sequence[RouteQuote], wanted: Path, name: str, slippage_bps: int) -> RouteQuote:
    found = _find_within(quotes, wanted, slippage_bps)
    if found is not None:
        return found
    asked, best = next((quote for quote in quotes if quote.hops == wanted), None), quotes[0]
    if asked is None:
        raise RouteNotTaken(f"the pools of route {name} cannot take this amount", route=name)
    raise RouteNotTaken(
        f"route {name} is worse than the best one by more than the slippage of {slippage_bps} bps",
        route=name,
        amount_in=str(asked.amount_in),
        amount_out=str(asked.amount_out),
        best_amount_in=str(best.amount_in),
        best_amount_out=str(best.amount_out),
    )


def _is_possible(path: Path, *, is_exact_out: bool, fees: TransferFees) -> bool:
    """A token with a transfer fee is only ever swapped in a V2 pool; a mixed path has no exact output."""
    if is_exact_out and version_of(path) == MIXED:
        return False
    if not fees.any:
        return True
    takes_fee = (fees.token_in_bps > 0, fees.token_out_bps > 0)
    return not any(
        taxed and hop.pool.version != "v2" for taxed, hop in zip(takes_fee, (path[0], path[-1]), strict=True)
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


def _find_paths(
    reader: ChainReader,
    deployment: UniswapDeployment,
    first: str,
    last: str,
    *,
    v4: V4Contracts | None,
    named: Sequence[str],
    refused: Callable[[], str | None],
) -> list[Path]:
    hubs = [hub for hub in list_hubs(reader, deployment) if hub not in (first, last)]
    pairs = [(first, last), *((first, hub) for hub in hubs), *((hub, last) for hub in hubs)]
    if v4 is not None:
        expect_usual_pools(reader, v4, pairs, deployment.wrapped_native)
    pools = [pool for pool in find_pools(reader, deployment, pairs) if pool.is_usable]
    if v4 is not None:
        pools += _find_v4(reader, deployment, v4, pairs, named=named, refused=refused)
    of_pair: dict[frozenset[str], dict[str, list[Pool]]] = {}
    for pool in pools:
        of_pair.setdefault(frozenset((pool.token0, pool.token1)), {}).setdefault(pool.version, []).append(pool)
    alone = of_pair.get(frozenset((first, last)), {})
    paths: list[Path] = [(Hop(pool, first),) for same in alone.values() for pool in same]
    for hub in hubs:
        legs = [(of_pair.get(frozenset(ends), {}), ends[0]) for ends in ((first, hub), (hub, last))]
        near, far = (
            [Hop(pool, start) for version in ("v2", "v3") for pool in _deepest(found.get(version, ()))]
            for found, start in legs
        )
        paths += product(near, far)
        # Within V4 alone: the coin and its wrapped form are two currencies there.
        near, far = ([Hop(pool, start) for pool in _list_v4(found.get("v4", ()), named)] for found, start in legs)
        paths += product(near, far)
    return paths


def _find_v4(
    reader: ChainReader,
    deployment: UniswapDeployment,
    v4: V4Contracts,
    pairs: Sequence[tuple[str, str]],
    *,
    named: Sequence[str],
    refused: Callable[[], str | None],
) -> list[Pool]:
    """The usual V4 pools of these pairs and those that are named, where the account may call their router."""
    wrapped = deployment.wrapped_native
    pools = find_usual_pools(reader, v4, pairs, wrapped)
    if named:
        unread = list(recognize(reader, v4, named, wrapped).values())
        known = {pool.id for pool in pools}
        pools += [pool for pool in read_states(reader, unread) if pool.id not in known]
    usable = [pool for pool in pools if pool.is_usable and pool.liquidity]
    return usable if usable and refused() is None else []


def _list_needed(v4: V4Contracts | None, token_in: TokenMeta) -> tuple[str, ...]:
    """The contracts that a swap through V4 calls."""
    return (v4.router, *(() if token_in.is_native else (PERMIT2,))) if v4 is not None else ()


def _find_uncallable(needed: Sequence[str], may_call: Callable[[str], bool] | None) -> str | None:
    """The first of the contracts that a swap through V4 needs and the account may not call; None for none."""
    return next((each for each in needed if may_call is not None and not may_call(each)), None)


def _list_v4(pools: Sequence[Pool], named: Sequence[str]) -> list[Pool]:
    """The deepest of a pair's V4 pools, and those that are named, whatever their depth."""
    deep = _deepest([pool for pool in pools if pool.hooks is None])
    return [*deep, *(pool for pool in pools if pool.id in named and pool not in deep)] if named else deep


def list_hubs(reader: ChainReader, deployment: UniswapDeployment) -> list[str]:
    """Tokens a route may pass through: the wrapped coin and the registered dollar tokens without a transfer fee."""
    dollars = [
        token.address
        for token in reader.registered_tokens()
        if token.symbol in HUB_SYMBOLS and not token.has_transfer_fee
    ]
    return list(dict.fromkeys([deployment.wrapped_native, *dollars]))


def _deepest(pools: Sequence[Pool]) -> list[Pool]:
    """Of pools of one pair and version."""
    return sorted(pools, key=lambda pool: pool.liquidity + pool.reserve0, reverse=True)[:POOLS_PER_LEG]
