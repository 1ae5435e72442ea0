"""What a path of one or two pools gives, exactly at one pinned block.

V2 is computed from the reserves, V3 and V4 are asked of their quoters by `eth_call`, all legs in one batch; so a quote
is what the same transaction would do at that block. Not all paths are asked: those that promise most come first, and of
the others those alone that promise more than was found. A promise takes the liquidity at a pool's price for its
liquidity everywhere, which is seldom too little; so the best price before impact is asked first as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.ratio import shortfall_bps
from tools_app.protocols.uniswap.addresses import UniswapDeployment
from tools_app.protocols.uniswap.paths import MIXED, V4, Hop, Path, TransferFees, price_after_fee, version_of
from tools_app.protocols.uniswap.promised_amounts import PromisedAmounts
from tools_app.protocols.uniswap.v2 import math as v2_math
from tools_app.protocols.uniswap.v3.path import encode_path
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.quotes import list_steps, quote_call
from tools_app.standards.concentrated import MAX_SQRT_PRICE, MIN_SQRT_PRICE
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome

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
ASKED_FIRST: Final = 3

# Gas of one transaction beyond what the quoter measures in the pools: base cost, calldata, router, token transfers.
_GAS_OF_V3_ROUTER = 48_000
_GAS_OF_V4_ROUTER = 85_000
_GAS_OF_V2_SWAP = 108_000
_GAS_OF_V2_HOP = 62_000
_GAS_OF_FEE_TRANSFER = 5_000


@dataclass(frozen=True, slots=True)
class RouteQuote:
    """A path with what it takes from the account and what arrives there, in base units, at the pinned block.

    `price_impact_bps` is how much worse the average price is than the pools' price after their fee;
    `lp_fee_bps` the pools' fees added up, rounded up; `gas` an estimate without approvals.
    """

    hops: Path
    amount_in: int
    amount_out: int
    is_exact_out: bool
    fees: TransferFees
    price_impact_bps: int
    gas: int

    @property
    def version(self) -> str:
        """v2, v3, v4, or mixed."""
        return version_of(self.hops)

    @property
    def lp_fee_bps(self) -> int:
        return -(-sum(hop.pool.fee for hop in self.hops) // 100)

    @property
    def path(self) -> tuple[str, ...]:
        """Token addresses in order."""
        return (self.hops[0].token_in, *(hop.token_out for hop in self.hops))

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Less in, then more out, then fewer pools, then less gas; the smallest is the best."""
        return (self.amount_in, -self.amount_out, len(self.hops), self.gas)


def quote_paths(
    reader: ChainReader,
    deployment: UniswapDeployment,
    paths: Sequence[Path],
    amount: int,
    *,
    is_exact_out: bool,
    fees: TransferFees,
    preferred: Path | None = None,
) -> list[RouteQuote]:
    """Exact quotes of the paths that can take the amount; of those that cannot win, only a `preferred` one.

    One round trip where the paths that promise most keep what they promise, else two, however many paths there are.
    """
    quotes: list[RouteQuote] = []
    left: dict[int, Path] = {}
    for path in paths:
        if version_of(path) != "v2":
            left[id(path)] = path
        elif (quote := _quote_v2(path, amount, is_exact_out, fees)) is not None:
            quotes.append(quote)
    promised = PromisedAmounts(fees)
    kept = {key for key, path in left.items() if path == preferred} if preferred is not None else ()
    for is_first in (True, False):
        floor = min(quotes, key=lambda quote: quote.rank, default=None)
        able = [path for path in left.values() if _can_beat(promised, path, amount, is_exact_out, floor)]
        if is_first and len(able) > ASKED_FIRST:
            given = amount if not is_exact_out or floor is None else floor.amount_in
            able = [*promised.list_most(able, given, ASKED_FIRST - 1), promised.find_cheapest(able)]
        asked = [left.pop(key) for key in dict.fromkeys((*kept, *map(id, able))) if key in left]
        quotes += _ask(reader, deployment, asked, amount, is_exact_out, fees)
    return quotes


def _ask(
    reader: ChainReader,
    deployment: UniswapDeployment,
    paths: Sequence[Path],
    amount: int,
    is_exact_out: bool,
    fees: TransferFees,
) -> list[RouteQuote]:
    """What the quoters answer, in one round trip; nothing of a path that cannot take the amount."""
    calls = [(path, quoter_call(deployment, path, amount, is_exact_out, fees)) for path in paths]
    asked = [(path, call) for path, call in calls if call is not None]
    outcomes = reader.call_many([call for _, call in asked]) if asked else []
    found = (
        _quote_asked(path, amount, is_exact_out, fees, outcome)
        for (path, _), outcome in zip(asked, outcomes, strict=True)
    )
    return [quote for quote in found if quote is not None]


def quote_amounts(
    reader: ChainReader, deployment: UniswapDeployment, asked: Sequence[tuple[Path, int]]
) -> list[RouteQuote | None]:
    """Exact quotes of exact inputs, each through its own path, all in one round trip; None where it cannot be taken.

    For tokens that take no fee on transfer.
    """
    fees = TransferFees()
    calls = [
        quoter_call(deployment, path, amount, is_exact_out=False, fees=fees) if version_of(path) != "v2" else None
        for path, amount in asked
    ]
    questions = [call for call in calls if call is not None]
    outcomes = iter(reader.call_many(questions) if questions else ())
    found = []
    for (path, amount), call in zip(asked, calls, strict=True):
        if call is not None:
            found.append(_quote_asked(path, amount, is_exact_out=False, fees=fees, outcome=next(outcomes)))
        else:
            is_v2 = version_of(path) == "v2"
            found.append(_quote_v2(path, amount, is_exact_out=False, fees=fees) if is_v2 else None)
    return found


def _can_beat(promised: PromisedAmounts, path: Path, amount: int, is_exact_out: bool, floor: RouteQuote | None) -> bool:
    """Whether a path promises to be as good as the best quote so far."""
    if floor is None:
        return True
    if is_exact_out:
        return promised.of(path, floor.amount_in) >= amount
    return promised.of(path, amount) >= floor.amount_out


def _quote_v2(path: Path, amount: int, is_exact_out: bool, fees: TransferFees) -> RouteQuote | None:
    running = amount if is_exact_out else fees.arrives_in(amount)
    for hop in reversed(path) if is_exact_out else path:
        stepped = _step_v2(hop, running, is_exact_out)
        if stepped is None:
            return None
        running = stepped
    amounts = (running, amount) if is_exact_out else (amount, fees.arrives_out(running))
    gas = _GAS_OF_V2_SWAP + _GAS_OF_V2_HOP * (len(path) - 1) + (_GAS_OF_FEE_TRANSFER if fees.any else 0)
    return _priced(path, *amounts, is_exact_out=is_exact_out, fees=fees, gas=gas)


def _step_v2(hop: Hop, amount: int, is_exact_out: bool) -> int | None:
    step = v2_math.amount_in if is_exact_out else v2_math.amount_out
    try:
        return step(amount, *hop.pool.reserves_from(hop.token_in))
    except ValueError:
        return None


def quoter_call(
    deployment: UniswapDeployment, path: Path, amount: int, is_exact_out: bool, fees: TransferFees
) -> ReadCall | None:
    """The question to QuoterV2: the whole path when it is all V3, else its V3 leg with the amount that gets there."""
    if version_of(path) == V4:
        contracts = v4_on(deployment.chain_id)
        steps = list_steps([(hop.pool, hop.token_in) for hop in path], deployment.wrapped_native)
        return quote_call(contracts, steps, amount, is_exact_out=is_exact_out) if contracts and steps else None
    if version_of(path) == MIXED:
        first, second = path
        if first.pool.version == "v3":
            return _ask_single(deployment, first, amount, is_exact_out=False)
        between = _step_v2(first, fees.arrives_in(amount), is_exact_out=False)
        return _ask_single(deployment, second, between, is_exact_out=False) if between else None
    if len(path) == 1:
        return _ask_single(deployment, path[0], amount, is_exact_out=is_exact_out)
    tokens = (path[0].token_in, *(hop.token_out for hop in path))
    encoded = encode_path(tokens, tuple(hop.pool.fee for hop in path), is_exact_out=is_exact_out)
    return ReadCall(deployment.v3_quoter, QUOTE_OUT if is_exact_out else QUOTE_IN, (encoded, amount))


def _ask_single(deployment: UniswapDeployment, hop: Hop, amount: int, *, is_exact_out: bool) -> ReadCall:
    signature = QUOTE_OUT_SINGLE if is_exact_out else QUOTE_IN_SINGLE
    return ReadCall(deployment.v3_quoter, signature, ((hop.token_in, hop.token_out, amount, hop.pool.fee, 0),))


def _quote_asked(
    path: Path, amount: int, is_exact_out: bool, fees: TransferFees, outcome: ReadOutcome
) -> RouteQuote | None:
    if outcome.ok and version_of(path) == V4:
        # It reverts where a pool cannot take all of the amount.
        quoted, measured = (int(value) for value in outcome.values)
        amounts = (quoted, amount) if is_exact_out else (amount, quoted)
        gas = measured + _GAS_OF_V4_ROUTER
        return _priced(path, *amounts, is_exact_out=is_exact_out, fees=fees, gas=gas) if all(amounts) else None
    if not outcome.ok or _is_exhausted(outcome.values[1]):
        return None
    quoted, gas = int(outcome.values[0]), int(outcome.values[3]) + _GAS_OF_V3_ROUTER
    if version_of(path) == MIXED:
        gas += _GAS_OF_V2_HOP
        if path[0].pool.version == "v3":
            stepped = _step_v2(path[1], quoted, is_exact_out=False)
            if stepped is None:
                return None
            quoted = fees.arrives_out(stepped)
    if is_exact_out and quoted == 0:
        return None
    amounts = (quoted, amount) if is_exact_out else (amount, quoted)
    return _priced(path, *amounts, is_exact_out=is_exact_out, fees=fees, gas=gas)


def _is_exhausted(prices_after: int | Sequence[int]) -> bool:
    """Whether a swap ran a pool to the end of its price range, which leaves part of the input unspent."""
    prices = [prices_after] if isinstance(prices_after, int) else prices_after
    return any(price <= MIN_SQRT_PRICE + 1 or price >= MAX_SQRT_PRICE - 1 for price in prices)


def _priced(
    path: Path, amount_in: int, amount_out: int, *, is_exact_out: bool, fees: TransferFees, gas: int
) -> RouteQuote:
    ideal = fees.arrives_out(price_after_fee(path).of(fees.arrives_in(amount_in)))
    return RouteQuote(
        hops=path,
        amount_in=amount_in,
        amount_out=amount_out,
        is_exact_out=is_exact_out,
        fees=fees,
        price_impact_bps=shortfall_bps(ideal=ideal, actual=amount_out),
        gas=gas,
    )
