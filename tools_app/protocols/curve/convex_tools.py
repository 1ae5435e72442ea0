"""Tools of Convex: LP tokens of Curve's pool staked with the votes of all, taken out, and the rewards."""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.ratio import percent_text
from tools_app.core.units import format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.curve.addresses import CHAINS, Place, find_place, places_on
from tools_app.protocols.curve.errors import TooFewShares
from tools_app.protocols.curve.pool_figures import NOBODY, convex_bps, describe_pool
from tools_app.protocols.curve.positions import KIND, ref_of
from tools_app.protocols.curve.reads import AtConvex, Standing, ask_convex, ask_standing
from tools_app.standards import erc20
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.stable_pool_lp_value import LP_DECIMALS, LP_UNITS
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import EVERYTHING, ContractAddress, Flag, RawAmountOrMax, Token
from tools_app.toolkit.plan import Call, PlanOutcome, Statement, TxPlan
from tools_app.toolkit.positions import PositionChange, drive
from tools_app.toolkit.report import Report, seen, told
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

convex = ToolFamily(
    prefix="convex", category=Category.YIELD, chains=CHAINS, venue="convex", picks_chain=True, reads_named=True
)

DEPOSIT: Final = "function deposit(uint256 pid, uint256 amount, bool stake)"
UNWRAP: Final = "function withdrawAndUnwrap(uint256 amount, bool claim)"
GET_REWARD: Final = "function getReward(address account, bool claimExtras)"


class ConvexPoolNotFound(
    GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="That pool of Convex is not known"
):
    """No known pool of Convex has this address; `data.pools` are those that are known."""


class ConvexPoolShutDown(
    GolemError,
    code="CONVEX_POOL_SHUTDOWN",
    status=409,
    recovery=Recovery.GIVE_UP,
    title="Convex has shut that pool down",
):
    """Convex takes nothing more into the pool; what is inside can be taken out."""


class ConvexOwesNothing(
    GolemError,
    code="CONVEX_NOTHING_TO_CLAIM",
    status=409,
    recovery=Recovery.WAIT,
    title="There is no reward to claim",
    cleared_by="rewards of the pool",
):
    """Convex has no reward for the account."""


class StakeReport(Report):
    """What was staked. Yearly rates are percent; of CVX null, because what comes depends on how many there are then."""

    convex_deposit_token: str = told("rewards")
    staked_amount: str = told("amount")
    estimated_crv_apy: str | None = told("crv_apy")
    estimated_cvx_apy: str | None = None
    total_apy: str | None = told("crv_apy")


class Claimed(Told):
    """What came of one reward; dollars are null where it has no price."""

    token: str
    symbol: str
    amount: TokenAmount
    usd_value: UsdAmount | None


class UnstakeReport(Report):
    """LP tokens in base units, and what was claimed with them."""

    lp_returned: str = told("amount")
    rewards_claimed: tuple[Claimed, ...] = seen(lambda outcome: _claimed(outcome))


class ClaimReport(Report):
    """What was claimed."""

    rewards: tuple[Claimed, ...] = seen(lambda outcome: _claimed(outcome))


class ConvexPool(Told):
    """A pool at Convex. Rates are yearly, simple and in percent; null with the reason in `untold`."""

    pool: str
    curve_lp_token: str
    base_apy: str | None
    crv_apy: str | None
    cvx_apy: str | None
    extra_apy: str | None
    total_apy: str | None
    tvl: UsdAmount | None
    is_shut_down: bool
    untold: tuple[str, ...]


class ConvexPools(OfChain):
    """The known pools that fit."""

    pools: tuple[ConvexPool, ...]
    source: str


@convex.write(
    action_type="stake_convex",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=StakeReport,
    snippet="stake_convex: stake Curve LP tokens at Convex for CRV with the votes of all, and CVX; max is all of them.",
    guidelines=("LP tokens come from add_liquidity at curve; those in Curve's own gauge are unstaked there first.",),
)
def convex_stake_lp(ctx: WriteContext, pool: ContractAddress, amount: RawAmountOrMax) -> TxPlan:
    """Stake LP tokens of a Curve pool at Convex.

    Use to earn more CRV than without votes. `pool` is Curve's pool or its LP token.
    Does not deposit into Curve's pool, and keeps nothing as a deposit token that is not staked.
    """
    reader = ctx.begin("Reading the pool")
    place, standing, there = _read(reader, pool, ctx.account)
    if there.is_shut_down:
        raise ConvexPoolShutDown("Convex takes nothing more into it; stake in Curve's gauge", pool=place.pool.address)
    asked = _asked(amount, standing.held.free, standing)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    lp = reader.token(place.pool.lp)
    allowed = erc20.allowance(reader, lp, ctx.account, place.booster)
    draft.approve(lp, spender=place.booster, amount=asked, allowance=allowed)
    shown = format_units(asked, LP_DECIMALS)
    data = encode_call(DEPOSIT, place.number, asked, True)
    draft.call(Call(place.booster, data, 0, f"Stake {shown} LP tokens at Convex"))
    # LP tokens count alike wherever they lie.
    draft.changes.append(standing.counting.stays("curve", KIND, ref_of(reader.chain_id, place)))
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION,
        statements=(Statement(place.booster, place.pool.lp, "staked", str(asked)),),
        details={
            **_details(place),
            "amount": str(asked),
            "crv_apy": percent_text(convex_bps(reader, place, standing, there)),
        },
    )


@convex.write(
    action_type="unstake_convex",
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=UnstakeReport,
    snippet="unstake_convex: take Curve LP tokens out of Convex, with what was earned; allowed in every phase.",
    guidelines=("With claim off nothing is claimed, and no reward that fails keeps LP tokens in.",),
)
def convex_unstake_lp(ctx: WriteContext, pool: ContractAddress, amount: RawAmountOrMax, claim: Flag = True) -> TxPlan:
    """Take LP tokens of a Curve pool out of Convex, and claim CRV and CVX unless `claim` is off.

    Use to leave Convex or to take a part out; open at any time, also where the pool is shut down.
    Does not give LP tokens back to Curve: remove_liquidity does.
    """
    reader = ctx.begin("Reading the pool")
    place, standing, _ = _read(reader, pool, ctx.account)
    asked = _asked(amount, standing.held.at_convex, standing)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    shown = format_units(asked, LP_DECIMALS)
    data = encode_call(UNWRAP, asked, False)
    draft.call(Call(place.convex_rewards, data, 0, f"Take {shown} LP tokens out of Convex"))
    draft.changes.append(standing.counting.stays("curve", KIND, ref_of(reader.chain_id, place)))
    if claim and standing.held.earned:
        _claim(reader, place, standing, draft)
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        statements=(Statement(place.convex_rewards, place.pool.lp, "taken out", str(asked)),),
        details={**_details(place), "amount": str(asked), **_prices(reader, place)},
    )


@convex.write(
    action_type="claim_convex",
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=ClaimReport,
    snippet="claim_convex: have CRV and CVX of Curve LP tokens at Convex paid out; the LP tokens stay.",
    guidelines=("On Ethereum CRV and CVX have no price here: their owner allows both before they are claimed.",),
)
def convex_claim_rewards(ctx: WriteContext, pool: ContractAddress) -> TxPlan:
    """Claim CRV and CVX of LP tokens that are staked at Convex.

    Use to collect what was earned. CRV is promised; CVX comes along as Convex makes it then. convex_get_pools lists
    pools. Does not claim other rewards, whose tokens may be anybody's, and does not sell anything.
    """
    reader = ctx.begin("Reading the pool")
    place, standing, _ = _read(reader, pool, ctx.account)
    if not standing.held.earned:
        raise ConvexOwesNothing(f"Convex owes the account no {place.reward.symbol}", pool=place.pool.address)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    _claim(reader, place, standing, draft)
    stays = standing.held.shares or standing.held.claimable
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION if stays else ActionClass.CLOSE_POSITION,
        details={**_details(place), **_prices(reader, place)},
    )


@convex.read(
    snippet="convex_pools: known pools of Convex with yearly rates of fees and CRV, and size; by coin.",
    guidelines=("crv_apy is what is paid now and ends with the week; compare it with curve_pools' own gauge.",),
)
def convex_get_pools(ctx: ReadContext, asset: Token | None = None) -> ConvexPools:
    """List known pools of Convex with their rates.

    Use to choose between Convex and Curve's own gauge.
    Does not list pools that are not known here, and does not guess what CVX will come.
    """
    reader = ctx.begin("Reading pools")
    wanted = None if asset is None else reader.token(asset).address
    places = [each for each in places_on(reader.chain_id) if wanted is None or wanted in each.pool.coins]
    return ConvexPools(
        pools=tuple(_describe(reader, place) for place in places),
        source="the pools this product knows, held against what Convex tells under their numbers",
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _describe(reader: ChainReader, place: Place) -> ConvexPool:
    curve = describe_pool(reader, place)
    standing = drive(ask_standing(reader.chain_id, place, NOBODY), reader.call_many)
    there = drive(ask_convex(place), reader.call_many)
    rate, counting = convex_bps(reader, place, standing, there), standing.counting
    worth = counting.worth_of(there.staked)
    tvl = None if counting.cheapest is None else PriceBook(reader).weigh(counting.cheapest, worth).micro_usd
    untold = [f"cvx_apy: how much {place.own.symbol} comes depends on how much of it there is then"]
    if rate is None:
        untold.append(f"crv_apy: {place.reward.symbol} has no price here")
    if there.extras:
        untold.append("extra_apy: other rewards are paid, whose tokens may be anybody's")
    base = curve.base_apy
    total = None if base is None or rate is None else format_units(_bps(base) + rate, 2)
    return ConvexPool(
        pool=place.pool.address,
        curve_lp_token=place.pool.lp,
        base_apy=base,
        crv_apy=percent_text(rate),
        cvx_apy=None,
        extra_apy=None if there.extras else "0",
        total_apy=total,
        tvl=None if tvl is None else UsdAmount(tvl),
        is_shut_down=there.is_shut_down,
        untold=tuple(untold),
    )


def _read(reader: ChainReader, address: str, account: str) -> tuple[Place, Standing, AtConvex]:
    known, place = places_on(reader.chain_id), find_place(reader.chain_id, address)
    if place is None:
        raise ConvexPoolNotFound(f"{address} is no known pool", pools=[each.pool.address for each in known])
    standing = drive(ask_standing(reader.chain_id, place, account), reader.call_many)
    return place, standing, drive(ask_convex(place), reader.call_many)


def _asked(amount: int, there: int, standing: Standing) -> int:
    asked = there if amount == EVERYTHING else amount
    if not asked or asked > there:
        free, staked = standing.held.free, standing.held.at_convex
        raise TooFewShares(
            f"the account has {format_units(free, LP_DECIMALS)} LP tokens in its wallet and"
            f" {format_units(staked, LP_DECIMALS)} at Convex",
            free=str(free),
            staked=str(staked),
            fill={"amount": {"most": str(there), "unit": LP_UNITS}} if there else {},
        )
    return asked


def _claim(reader: ChainReader, place: Place, standing: Standing, draft: PlanDraft) -> None:
    due, reward = standing.held.earned, place.reward
    label = f"Claim {format_units(due, reward.decimals, reward.symbol)} and what comes along from Convex"
    draft.call(Call(place.convex_rewards, encode_call(GET_REWARD, draft.account, False), 0, label))
    draft.receive(reader.token(reward.address), due)
    # Of its own token Convex promises nothing.
    draft.receive(reader.token(place.own.address), 0)
    most = due + due // 20 + 10 ** max(0, reward.decimals - 2)
    ref, counts = ref_of(reader.chain_id, place), reward.is_counted(reader.chain_id)
    draft.changes.append(PositionChange("curve", KIND, reward.address, -due, -most, ref, counts=counts))


def _details(place: Place) -> dict[str, object]:
    return {"venue": "convex", "pool": place.pool.address, "rewards": place.convex_rewards}


def _prices(reader: ChainReader, place: Place) -> dict[str, object]:
    """Micro-USD of a whole token of each reward, as they were when it was planned."""
    prices = PriceBook(reader)
    found = {
        each.address: prices.weigh(each.address, 10**each.decimals).micro_usd for each in (place.reward, place.own)
    }
    return {"prices": {address: None if micro is None else str(micro) for address, micro in found.items()}}


def _claimed(outcome: PlanOutcome) -> tuple[Claimed, ...]:
    prices = outcome.plan.details["prices"]

    def tell(token: TokenMeta) -> Claimed:
        raw, price = outcome.deltas.get(token.address, 0), prices.get(token.address)
        worth = None if price is None else UsdAmount(raw * int(price) // 10**token.decimals)
        return Claimed(token.address, token.symbol, TokenAmount(raw, token), worth)

    return tuple(tell(flow.token) for flow in outcome.plan.receives)


def _bps(percent: str) -> int:
    whole, _, part = percent.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)
