"""Predicts what a trade does to a pool: `intel_simulate_price_impact`, `intel_assess_mev_risk`,
`intel_estimate_revert_risk`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.core.ratio import Ratio, shortfall_bps
from tools_app.core.units import BPS, usd_to_micro
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_depths import read_depths
from tools_app.portfolio.pool_history import InsufficientHistory
from tools_app.standards.pool_maths import BeyondKnownTicks, Depths, Swapped, swap
from tools_app.subsystems.intel import flow_maths
from tools_app.subsystems.intel.calibration import Calibration, read_calibration
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.figure_basis import Basis, show, tell_basis, tell_state, wilson
from tools_app.subsystems.intel.pool_snapshot import PoolSnapshot, look_at
from tools_app.subsystems.intel.sandwich import find_sandwich
from tools_app.subsystems.intel.trade_sizes import name_trade_size
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.markets import FEE_DENOMINATOR, PoolNotFound
from tools_app.toolkit.params import ChainId, MicroUsdText, PoolName, Seconds, SlippageBps, Token
from tools_app.toolkit.predictions import PredictionKind
from tools_app.toolkit.result import TokenAmount, UsdAmount

ACCEPTABLE_BPS: Final = 100
LEAST_MOVES: Final = 30
_STATE: Final = (
    "the pool's own integer maths on its state and ticks at this block; others' trades before it are not in it"
)
_SANDWICH: Final = (
    "the front run with which the victim still gets its least amount and the attacker gains most, tried on the pool's"
    " own maths, less the gas of two swaps"
)
_MOVES: Final = (
    "share of stretches of that length in the last 24 hours in which the pool's price moved against the trade by more"
    " than its slippage allows, with Wilson's 95% interval"
)
_GAS_OF_TWO_SWAPS: Final = 300_000
_INCLUSION_BLOCKS: Final = 2
_READING: Final = "Reading the pool and its ticks"

Direction = Annotated[
    Literal["buy", "sell"], Field(description="buy: token0 is bought with token1; sell: the other way.")
]
Sizes = Annotated[
    list[MicroUsdText], Field(min_length=1, max_length=10, description="Sizes in US dollars, at most 10.")
]


@dataclass(frozen=True, slots=True)
class Impact:
    """One size. `price_impact_bps` is how much worse the trade is than the price before it, fee apart; null with a
    reason where the trade goes further than liquidity was read.
    """

    trade_size_usd: UsdAmount
    amount_in: TokenAmount
    amount_out: TokenAmount | None
    price_impact_bps: int | None
    ticks_traversed: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Impacts:
    """`max_acceptable_size_usd` is the largest trade with an impact under one percent."""

    pool: str
    chain_id: int
    block_number: int
    direction: str
    impacts: tuple[Impact, ...]
    max_acceptable_size_usd: UsdAmount
    basis: Basis


@intel.read(
    query="price_impact",
    snippet=(
        "price_impact: by how much trades of several sizes in dollars would move one pool, exact at this block, and"
        " the largest size under one percent."
    ),
    guidelines=("Quote the trade before you preview it: a route over several pools can be better than one pool.",),
    schema_version=2,
)
def intel_simulate_price_impact(
    ctx: ReadContext,
    pool: PoolName,
    trade_sizes_usd: Sizes,
    chain_id: ChainId | None = None,
    direction: Direction = "buy",
) -> Impacts:
    """Compute what trades of several sizes would do to the price of one pool.

    Use to choose a size or to split a trade. Every tick the trade goes through is counted, as the pool counts.
    Does not trade, does not route over several pools, and does not foresee who trades before you.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    depths = read_depths(look.reader, look.markets, look.pool)
    token_in = look.pool.token1 if direction == "buy" else look.pool.token0
    price = look.price_of(token_in)
    return Impacts(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        block_number=look.reader.block.number,
        direction=direction,
        impacts=tuple(_impact(look, depths, token_in, price, usd_to_micro(size)) for size in trade_sizes_usd),
        max_acceptable_size_usd=UsdAmount(price.of(_largest(depths, token_in))),
        basis=tell_state("impact = 1 - out / (in * price before, less the fee)", _STATE, look.at),
    )


@dataclass(frozen=True, slots=True)
class Mitigation:
    """What would help; `estimated_savings_usd` is what the sandwich would lose by it, null where that is not known."""

    strategy: str
    estimated_savings_usd: UsdAmount | None
    tradeoff: str


@dataclass(frozen=True, slots=True)
class MevRisk:
    """What a sandwich could take at most. `risk_level` is the size of the trade beside what the pool holds: LOW under
    0.1%, MEDIUM under 1%, HIGH under 5%, else CRITICAL. How likely a sandwich is nobody knows from a chain.
    """

    pool: str
    chain_id: int
    risk_level: str
    trade_of_pool_bps: int | None
    sandwich_probability: None
    sandwich_probability_reason: str
    front_run: TokenAmount
    extractable: TokenAmount
    estimated_mev_cost_usd: UsdAmount | None
    pays_after_gas: bool | None
    mitigations: tuple[Mitigation, ...]
    calibration: Calibration | None
    basis: Basis


@intel.read(
    query="mev_risk",
    aliases=("score_mev_hazard",),
    snippet=(
        "mev_risk: what a sandwich around one swap could take at most on one pool with this slippage, exact at this"
        " block, and what helps against it."
    ),
    guidelines=("A smaller slippage is the surest help: preview with it and accept that the swap may revert.",),
    schema_version=2,
)
def intel_assess_mev_risk(
    ctx: ReadContext,
    token_in: Token,
    token_out: Token,
    amount_usd: MicroUsdText,
    chain_id: ChainId | None = None,
    pool: PoolName | None = None,
    slippage_bps: SlippageBps = 50,
) -> MevRisk:
    """Compute what a sandwich around a swap could take from it, at most, on one pool.

    Use before a large swap. Without `pool` the deepest pool of the two tokens is taken.
    Does not tell how likely one is: a chain shows no mempool. Does not look at routes over several pools.
    """

    reader = ctx.chain(chain_id)
    ctx.step(_READING)
    look, asset_in = _choose(ctx, chain_id, token_in, token_out, pool)
    depths = read_depths(reader, look.markets, look.pool)
    meta = reader.token(asset_in)
    price = look.price_of(asset_in)
    amount = _amount_of(price, usd_to_micro(amount_usd))
    try:
        expected = swap(depths, asset_in, amount).amount_out
    except BeyondKnownTicks as error:
        raise InsufficientHistory(f"{error}; take a smaller amount", pool_address=look.pool.id) from None
    ctx.step("Trying sandwiches")
    found = find_sandwich(depths, asset_in, amount, expected * (BPS - slippage_bps) // BPS)
    tighter = find_sandwich(depths, asset_in, amount, expected * (BPS - slippage_bps // 2) // BPS)
    halved = find_sandwich(depths, asset_in, amount // 2, _expected(depths, asset_in, amount // 2, slippage_bps))
    gas = look.price_gas(_GAS_OF_TWO_SWAPS)
    cost = price.of(found.profit)
    worth = look.worth()
    part = Fraction(usd_to_micro(amount_usd), worth) if worth else None
    return MevRisk(
        pool=look.pool.id,
        chain_id=reader.chain_id,
        risk_level=_level(part),
        trade_of_pool_bps=int(part * BPS) if part is not None else None,
        sandwich_probability=None,
        sandwich_probability_reason="who reads pending transactions is not on the chain: any number would be invented",
        front_run=TokenAmount(found.front, meta),
        extractable=TokenAmount(found.profit, meta),
        estimated_mev_cost_usd=UsdAmount(max(0, cost - (gas or 0))),
        pays_after_gas=cost > gas if gas is not None else None,
        mitigations=(
            Mitigation(
                f"slippage of {slippage_bps // 2} basis points",
                UsdAmount(price.of(found.profit - tighter.profit)),
                "the swap reverts sooner when the price moves",
            ),
            Mitigation(
                "two swaps of half the size, far apart",
                UsdAmount(price.of(max(0, found.profit - 2 * halved.profit))),
                "twice the gas, and the price may move between them",
            ),
            Mitigation("a private way to the block's builder", None, "this server sends to the chain's own node"),
        ),
        calibration=read_calibration(ctx, PredictionKind.TRADE_SIZE),
        basis=tell_state(_SANDWICH, _STATE, look.at),
    )


@dataclass(frozen=True, slots=True)
class RevertRisk:
    """How often the price moved so far that such a trade would have reverted. `revert_probability` is that share, null
    with a reason where fewer than thirty stretches are known; `interval` holds its 95 percent.
    """

    pool: str
    chain_id: int
    revert_probability: str | None
    interval: tuple[str, str] | None
    reason: str | None
    price_impact_bps: int | None
    horizon_blocks: int
    risk_factors: tuple[str, ...]
    recommendation: str
    calibration: Calibration | None
    basis: Basis | None


@intel.read(
    query="revert_risk",
    snippet=(
        "revert_risk: how often the price of a pool moved, within the blocks until a swap is mined, by more than its"
        " slippage allows, with sample and interval."
    ),
    guidelines=("A simulation is surer than this: preview the swap and commit soon.",),
    schema_version=2,
)
def intel_estimate_revert_risk(
    ctx: ReadContext,
    pool: PoolName,
    trade_size_usd: MicroUsdText,
    chain_id: ChainId | None = None,
    state_age_seconds: Seconds | None = None,
    slippage_bps: SlippageBps = 50,
    direction: Direction = "buy",
) -> RevertRisk:
    """Estimate from the last 24 hours how often a swap in a pool would have reverted for a price that moved.

    Use to choose a slippage. `state_age_seconds` is how old the quote is that the swap was made from.
    Does not know other reasons to revert, such as a missing allowance; the preview's simulation does.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    depths = read_depths(look.reader, look.markets, look.pool)
    token_in = look.pool.token1 if direction == "buy" else look.pool.token0
    size = usd_to_micro(trade_size_usd)
    impact = _impact(look, depths, token_in, look.price_of(token_in), size)
    ctx.step("Reading trades")
    calibration = read_calibration(ctx, PredictionKind.REVERT)
    age = state_age_seconds or 0
    blocks = _INCLUSION_BLOCKS + round(age / look.block_seconds)
    factors = [impact.reason] if impact.reason else []
    if impact.price_impact_bps is not None and impact.price_impact_bps > ACCEPTABLE_BPS:
        factors.append(f"the trade itself moves the price by {impact.price_impact_bps} basis points")
    try:
        past = look.past(24)
    except InsufficientHistory as error:
        return _unknown_risk(look, impact, blocks, factors, error.detail, calibration)
    moves = flow_maths.adverse_moves(flow_maths.block_prices(past.trades), blocks, rises=direction == "buy")
    if len(moves) < LEAST_MOVES:
        reason = f"only {len(moves)} such stretches are known of 24 hours"
        return _unknown_risk(look, impact, blocks, factors, reason, calibration)
    hits = sum(move > slippage_bps / BPS for move in moves)
    low, high = wilson(hits, len(moves))
    if hits:
        factors.append(f"in {hits} of {len(moves)} stretches the price moved by more than the slippage")
    return RevertRisk(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        revert_probability=show(hits / len(moves)),
        interval=(show(low), show(high)),
        reason=None,
        price_impact_bps=impact.price_impact_bps,
        horizon_blocks=blocks,
        risk_factors=tuple(factors),
        recommendation="take a wider slippage or a fresher quote" if high > 0.05 else "the slippage was wide enough",
        calibration=calibration,
        basis=tell_basis(_MOVES, past, sample=len(moves)),
    )


def _unknown_risk(
    look: PoolSnapshot, impact: Impact, blocks: int, factors: list[str], reason: str, calibration: Calibration | None
) -> RevertRisk:
    return RevertRisk(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        revert_probability=None,
        interval=None,
        reason=reason,
        price_impact_bps=impact.price_impact_bps,
        horizon_blocks=blocks,
        risk_factors=tuple(factors),
        recommendation="preview the swap: its simulation says whether it reverts now",
        calibration=calibration,
        basis=None,
    )


def _impact(look: PoolSnapshot, depths: Depths, token_in: str, price: Ratio, size: int) -> Impact:
    amount = _amount_of(price, size)
    tokens = look.reader.token(token_in), look.reader.token(look.pool.other(token_in))
    try:
        found = swap(depths, token_in, amount)
    except BeyondKnownTicks as error:
        return Impact(UsdAmount(size), TokenAmount(amount, tokens[0]), None, None, None, str(error))
    return Impact(
        UsdAmount(size),
        TokenAmount(amount, tokens[0]),
        TokenAmount(found.amount_out, tokens[1]),
        _impact_bps(depths, token_in, amount, found),
        found.crossed,
        None,
    )


def _impact_bps(depths: Depths, token_in: str, amount: int, found: Swapped) -> int:
    kept = amount * (FEE_DENOMINATOR - depths.pool.fee) // FEE_DENOMINATOR
    return shortfall_bps(ideal=depths.pool.spot_from(token_in).of(kept), actual=found.amount_out)


def _largest(depths: Depths, token_in: str) -> int:
    """The largest amount with an impact under one percent."""

    def passes(amount: int) -> bool:
        try:
            return _impact_bps(depths, token_in, amount, swap(depths, token_in, amount)) < ACCEPTABLE_BPS
        except BeyondKnownTicks:
            return False

    # Dust loses percents to rounding: the search begins where a unit no longer counts.
    low, high = 0, 10**6
    while high < 2**128 and passes(high):
        low, high = high, high * 2
    for _ in range(40):
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def _amount_of(price: Ratio, micro_usd: int) -> int:
    return max(1, micro_usd * price.denominator // price.numerator) if price.numerator else 1


def _expected(depths: Depths, token_in: str, amount: int, slippage_bps: int) -> int:
    if amount <= 0:
        return 0
    return swap(depths, token_in, amount).amount_out * (BPS - slippage_bps) // BPS


def _choose(
    ctx: ReadContext, chain_id: int | None, token_in: str, token_out: str, pool: str | None
) -> tuple[PoolSnapshot, str]:
    reader = ctx.chain(chain_id)
    markets = markets_on(reader.chain_id)
    asset_in, asset_out = (markets.asset(reader.token(each)) for each in (token_in, token_out))
    if pool is None:
        found = [each for each in markets.find(reader, [(asset_in, asset_out)]) if each.is_usable]
        if not found:
            raise PoolNotFound("no pool of a market trades this pair directly", token_in=asset_in, token_out=asset_out)
        held = markets.depth(reader, found)
        pool = max(found, key=lambda each: held[each.id][0 if each.token0 == asset_in else 1]).id
    look = look_at(ctx, chain_id, pool)
    if {look.pool.token0, look.pool.token1} != {asset_in, asset_out}:
        raise PoolNotFound(f"the pool {pool} does not trade these two tokens", pool_address=pool)
    return look, asset_in


def _level(part: Fraction | None) -> str:
    return "UNKNOWN" if part is None else name_trade_size(part.numerator, part.denominator)
