"""Tools of Curve: dollars into a pool for LP tokens and back, LP tokens into the gauge, its reward out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.core.errors import InvalidParams
from tools_app.core.units import BPS, apply_bps_down, format_units
from tools_app.protocols.curve.addresses import CHAINS, NAME, Place, find_place, places_on
from tools_app.protocols.curve.errors import (
    CoinOffPeg,
    CurvePoolNotFound,
    NothingToClaim,
    SlippageTooHigh,
    TooFewShares,
)
from tools_app.protocols.curve.pool_figures import PoolRow, describe_pool, reward_rates
from tools_app.protocols.curve.positions import KIND, ref_of
from tools_app.protocols.curve.reads import Standing, ask_standing
from tools_app.standards import erc20
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import list_events, read_details
from tools_app.standards.stable_pool_lp_value import LP_DECIMALS, LP_UNITS, PEG_BPS
from tools_app.standards.stable_swap import WAD, Unsolvable
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import (
    EVERYTHING,
    ContractAddress,
    RawAmount,
    RawAmountOrMax,
    RawAmountOrZero,
    SlippageBps,
    Token,
)
from tools_app.toolkit.plan import Call, PlanOutcome, Statement, TxPlan
from tools_app.toolkit.positions import PositionChange, drive
from tools_app.toolkit.report import Report, seen, told
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

T = TypeVar("T")

curve = ToolFamily(prefix="curve", category=Category.LP, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True)

ADD: Final = "function add_liquidity(uint256[3] amounts, uint256 min_mint_amount)"
REMOVE: Final = "function remove_liquidity(uint256 amount, uint256[3] min_amounts)"
REMOVE_ONE: Final = "function remove_liquidity_one_coin(uint256 amount, int128 i, uint256 min_amount)"
STAKE: Final = "function deposit(uint256 value)"
UNSTAKE: Final = "function withdraw(uint256 value)"
MINT: Final = "function mint(address gauge)"
CoinAmounts = Annotated[
    list[RawAmountOrZero],
    Field(min_length=2, max_length=4, description="Base units of each coin, in the pool's order; 0 for none."),
]
GaugeAction = Annotated[Literal["stake", "unstake", "claim"], Field(description="stake, unstake or claim.")]
PoolType = Annotated[Literal["all", "stable", "crypto", "tricrypto"], Field(description="Which kind of pool.")]


class AddReport(Told):
    """What a deposit gave. `share_of_pool` is percent, `bonus_bps` what balancing the pool earned, below 0 a fee."""

    lp_received: str
    share_of_pool: str
    bonus_bps: int


class Received(Told):
    """What came of one coin."""

    token: TokenMeta
    amount: TokenAmount


class RemoveReport(Report):
    """What LP tokens gave."""

    received: tuple[Received, ...] = seen(lambda outcome: _received(outcome))
    lp_burned: str = told("lp_amount")


class GaugeReport(Report):
    """What the gauge did; yearly rates of CRV are percent of what is staked, null where nobody prices CRV. Nobody here
    has votes to be boosted by: then a stake earns `crv_apy_base`, and `crv_apy_boosted` with all the votes there are.
    """

    action: str
    amount: str
    gauge: str
    crv_apy_base: str | None
    crv_apy_boosted: str | None
    rewards_claimed: tuple[Received, ...] = seen(lambda outcome: _received(outcome))


class Pools(OfChain):
    """The known pools that fit."""

    pools: tuple[PoolRow, ...]
    source: str


@dataclass(frozen=True, slots=True)
class _AddDetails:
    lp: str
    supply_after: int
    bonus_bps: int


def report_add(outcome: PlanOutcome) -> AddReport:
    """LP tokens from their own transfers."""
    details = read_details(_AddDetails, outcome)
    moved = list_events(outcome, erc20.MOVED, contract=details.lp)
    got, supply = sum(each.value for each in moved if each.to == outcome.account), details.supply_after
    return AddReport(
        lp_received=str(got),
        share_of_pool=format_units(got * 10**8 // supply, 6) if supply else "0",
        bonus_bps=details.bonus_bps,
    )


@curve.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_add,
    snippet="add_liquidity at curve: put one or more coins into a stable pool for LP tokens, which earn its fees.",
    guidelines=(
        "Amounts follow the order of the pool's coins; an uneven deposit pays a fee, or earns where the pool lacks it.",
        "LP tokens earn CRV once they are staked: stake_gauge.",
    ),
)
def curve_add_liquidity(
    ctx: WriteContext,
    pool: ContractAddress,
    amounts: CoinAmounts,
    min_lp_tokens: RawAmount | None = None,
    slippage_bps: SlippageBps = 30,
) -> TxPlan:
    """Deposit into a Curve pool for LP tokens, with one coin or several.

    Use to earn the fees of a stable pool. What LP tokens are worth is measured by the pool's invariant at its cheapest
    coin, so a pool that somebody pushed, or a coin off its peg, takes nothing of the deposit.
    Does not stake the LP tokens, and does not swap into the coins first.
    """
    reader = ctx.begin("Reading the pool")
    place, standing = _read(reader, pool, ctx.account)
    coins = place.pool.coins
    if len(amounts) != len(coins) or not any(amounts):
        raise InvalidParams(
            f"the pool has {len(coins)} coins, and at least one amount must be above zero",
            fields={"amounts": f"{len(coins)} amounts"},
        )
    counting, books, held = standing.counting, standing.books, standing.held
    if counting.cheapest is None or counting.apart_bps > PEG_BPS:
        raise CoinOffPeg(
            f"the feeds of the pool's coins lie {counting.apart_bps} basis points apart or one is missing;"
            f" at most {PEG_BPS} are accepted",
            apart_bps=counting.apart_bps,
            most_bps=PEG_BPS,
        )
    minted, after = _solve(lambda: books.after_adding(amounts))
    paid = sum(amount * scale for amount, scale in zip(amounts, books.scales, strict=True))
    more = minted * books.virtual_price // WAD - paid
    # Towards none, so that a rounding is no loss.
    bonus = more * BPS // paid if more >= 0 else -(-more * BPS // paid)
    least = max(1, apply_bps_down(minted, slippage_bps), min_lp_tokens or 0)
    if not minted or minted < least or bonus < -slippage_bps - 1:
        raise SlippageTooHigh(
            f"the pool would give {_lp(minted)} LP tokens, worth {-bonus} basis points less than the deposit;"
            f" accepted are {_lp(least)} and {slippage_bps} basis points: deposit other coins, or less",
            expected=str(minted),
            least=str(least),
            lost_bps=-bonus,
            fill={"min_lp_tokens": {"most": str(minted), "unit": LP_UNITS}}
            if minted < (min_lp_tokens or 0)
            else {"slippage_bps": {"least": -bonus, "unit": "basis points"}},
        )
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    for coin, amount in zip(coins, amounts, strict=True):
        if amount:
            draft.pay(reader, reader.token(coin), amount, to=place.pool.address)
    label = f"Add liquidity to Curve's {place.pool.label} for at least {_lp(least)} LP tokens"
    draft.call(Call(place.pool.address, encode_call(ADD, list(amounts), least), 0, label))
    before = counting.worth_of(held.shares)
    gained = counting.worth_of(held.shares + minted, virtual_price=after.virtual_price) - before
    sure = counting.worth_of(held.shares + least) - before
    draft.changes.append(counting.grows(NAME, KIND, ref_of(reader.chain_id, place), gained, sure))
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION if held.shares else ActionClass.NEW_POSITION,
        slippage_bps=slippage_bps,
        statements=(_state(place, place.pool.address, "least minted", least),),
        details={
            **_details(place),
            "lp_expected": str(minted),
            "lp_least": str(least),
            "supply_after": str(after.supply),
            "bonus_bps": bonus,
        },
    )


@curve.write(
    risk=RiskLayer.LOW,
    report=RemoveReport,
    snippet="remove_liquidity at curve: give LP tokens back for all coins of the pool, or for one; max is all of them.",
    guidelines=("All coins cost no fee; one coin does. Staked LP tokens are unstaked first: stake_gauge.",),
)
def curve_remove_liquidity(
    ctx: WriteContext,
    pool: ContractAddress,
    lp_amount: RawAmountOrMax,
    single_coin: Token | None = None,
    slippage_bps: SlippageBps = 30,
) -> TxPlan:
    """Give LP tokens of a Curve pool back for its coins.

    Use to leave a pool or to take a part out. Without `single_coin` every coin comes in the pool's proportion, which
    nobody's trade makes worth less.
    Does not take LP tokens out of the gauge, and does not swap what comes out.
    """
    reader = ctx.begin("Reading the pool")
    place, standing = _read(reader, pool, ctx.account)
    counting, books, held = standing.counting, standing.books, standing.held
    given = held.free if lp_amount == EVERYTHING else lp_amount
    if not given or given > held.free:
        raise TooFewShares(
            f"the account has {_lp(held.free)} LP tokens to give back, {_lp(held.staked)} in the gauge and"
            f" {_lp(held.at_convex)} at Convex",
            free=str(held.free),
            staked=str(held.staked),
            fill={"lp_amount": {"most": str(held.free), "unit": LP_UNITS}} if held.free else {},
        )
    index = None if single_coin is None else _index_of(reader, place, single_coin)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    what = f"Give {_lp(given)} LP tokens back to Curve's {place.pool.label}"
    if index is None:
        amounts, after = books.after_removing(given)
        least = [apply_bps_down(amount, slippage_bps) for amount in amounts]
        draft.call(Call(place.pool.address, encode_call(REMOVE, given, least), 0, what))
        for coin, amount, low in zip(place.pool.coins, amounts, least, strict=True):
            draft.receive(reader.token(coin), amount, at_least=low)
    else:
        amount, after = _solve(lambda: books.after_removing_one(given, index))
        fair = given * books.virtual_price // (WAD * books.scales[index])
        low = apply_bps_down(amount, slippage_bps)
        if not low or amount < apply_bps_down(fair, slippage_bps) - 1:
            token = reader.token(place.pool.coins[index])
            raise SlippageTooHigh(
                f"the pool would give {format_units(amount, token.decimals, token.symbol)} for LP tokens that stand for"
                f" {format_units(fair, token.decimals, token.symbol)}: take all coins, or less",
                expected=str(amount),
                least=str(apply_bps_down(fair, slippage_bps)),
            )
        draft.call(Call(place.pool.address, encode_call(REMOVE_ONE, given, index, low), 0, what))
        draft.receive(reader.token(place.pool.coins[index]), amount, at_least=low)
    price = after.virtual_price if index is not None and after.supply else counting.virtual_price
    gone = counting.worth_of(held.shares) - counting.worth_of(held.shares - given, virtual_price=price)
    draft.changes.append(counting.shrinks(NAME, KIND, ref_of(reader.chain_id, place), gone))
    is_last = given == held.shares and not held.owed
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if is_last else ActionClass.DECREASE_POSITION,
        slippage_bps=slippage_bps,
        statements=(_state(place, place.pool.address, "given back", given),),
        details={**_details(place), "lp_amount": str(given)},
    )


@curve.write(
    risk=RiskLayer.LOW,
    report=GaugeReport,
    snippet="stake_gauge: put LP tokens into a Curve pool's gauge for CRV, take them out, or claim what it owes.",
    guidelines=(
        "Unstaking is open at any time and does not claim; claim is a step of its own.",
        "On Ethereum CRV has no price here: its owner allows it before it is claimed.",
    ),
)
def curve_stake_gauge(
    ctx: WriteContext, pool: ContractAddress, action: GaugeAction = "stake", amount: RawAmountOrMax | None = None
) -> TxPlan:
    """Stake LP tokens in a Curve pool's gauge, take them out, or claim its CRV.

    Use to earn CRV with LP tokens. `amount` is base units of LP tokens; without it, all of them. A claim takes none.
    curve_get_pools lists pools. Does not lock CRV for votes, and does not claim what a gauge pays in other tokens.
    """
    reader = ctx.begin("Reading the gauge")
    place, standing = _read(reader, pool, ctx.account)
    held, lp = standing.held, reader.token(place.pool.lp)
    base, boosted = reward_rates(reader, place, standing)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    told = {**_details(place), "action": action, "crv_apy_base": base, "crv_apy_boosted": boosted}
    if action == "claim":
        return _claim(reader, place, standing, draft, told)
    there = held.free if action == "stake" else held.staked
    asked = there if amount is None or amount == EVERYTHING else amount
    if not asked or asked > there:
        raise TooFewShares(
            f"the account has {_lp(held.free)} LP tokens in its wallet and {_lp(held.staked)} in the gauge",
            free=str(held.free),
            staked=str(held.staked),
            fill={"amount": {"most": str(there), "unit": LP_UNITS}} if there else {},
        )
    if action == "stake":
        allowed = erc20.allowance(reader, lp, ctx.account, place.gauge)
        draft.approve(lp, spender=place.gauge, amount=asked, allowance=allowed)
        draft.call(Call(place.gauge, encode_call(STAKE, asked), 0, f"Stake {_lp(asked)} LP tokens"))
        kind, word = ActionClass.INCREASE_POSITION, "staked"
    else:
        draft.call(Call(place.gauge, encode_call(UNSTAKE, asked), 0, f"Take {_lp(asked)} LP tokens out of the gauge"))
        kind, word = ActionClass.DECREASE_POSITION, "taken out"
    # LP tokens count alike in the wallet and in the gauge.
    draft.changes.append(standing.counting.stays(NAME, KIND, ref_of(reader.chain_id, place)))
    return draft.finish(
        action_class=kind,
        statements=(_state(place, place.gauge, word, asked),),
        details={**told, "amount": str(asked)},
    )


@curve.read(
    aliases=("curve_get_pool_info",),
    snippet="curve_pools: known Curve pools with coins, yearly rates, size and gauge; by coin, kind or address.",
    guidelines=("base_apy is what fees of the last day come to in a year; crv_apy is for a stake in the gauge.",),
)
def curve_get_pools(
    ctx: ReadContext,
    asset: Token | None = None,
    pool_type: PoolType = "all",
    pool: ContractAddress | None = None,
) -> Pools:
    """List known Curve pools with rates, size and gauge.

    Use to choose where to deposit, or to look at one pool by its address.
    Does not list pools that are not known here, and knows stable pools alone.
    """
    reader = ctx.begin("Reading pools")
    wanted = None if asset is None else reader.token(asset).address
    places = [_find(reader, pool)] if pool is not None else list(places_on(reader.chain_id))
    rows = [
        describe_pool(reader, place)
        for place in places
        if pool_type in ("all", "stable") and (wanted is None or wanted in place.pool.coins)
    ]
    return Pools(
        pools=tuple(rows),
        source="the pools this product knows, whose addresses are Curve's own list",
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _claim(reader: ChainReader, place: Place, standing: Standing, draft: PlanDraft, told: dict[str, object]) -> TxPlan:
    due = standing.held.claimable
    if not due:
        raise NothingToClaim(f"the gauge owes the account no {place.reward.symbol}", gauge=place.gauge)
    label = f"Claim {format_units(due, place.reward.decimals, place.reward.symbol)} from Curve's gauge"
    draft.call(Call(place.minter, encode_call(MINT, place.gauge), 0, label))
    draft.receive(reader.token(place.reward.address), due)
    # What is earned until the transaction comes along.
    most = due + due // 20 + 10 ** max(0, place.reward.decimals - 2)
    ref, counts = ref_of(reader.chain_id, place), place.reward.is_counted(reader.chain_id)
    draft.changes.append(PositionChange(NAME, KIND, place.reward.address, -due, -most, ref, counts=counts))
    kind = ActionClass.DECREASE_POSITION if standing.held.shares else ActionClass.CLOSE_POSITION
    return draft.finish(action_class=kind, details={**told, "amount": str(due)})


def _find(reader: ChainReader, address: str) -> Place:
    known = places_on(reader.chain_id)
    found = find_place(reader.chain_id, address)
    if found is None:
        raise CurvePoolNotFound(f"{address} is no known pool of Curve", pools=[each.pool.address for each in known])
    return found


def _read(reader: ChainReader, address: str, account: str) -> tuple[Place, Standing]:
    place = _find(reader, address)
    return place, drive(ask_standing(reader.chain_id, place, account), reader.call_many)


def _solve(work: Callable[[], T]) -> T:
    try:
        return work()
    except Unsolvable as error:
        raise SlippageTooHigh(f"{error}: nobody can say what the pool would give", expected="0", least="1") from error


def _index_of(reader: ChainReader, place: Place, coin: str) -> int:
    address = reader.token(coin).address
    if address not in place.pool.coins:
        symbols = [reader.token(each).symbol for each in place.pool.coins]
        raise InvalidParams(
            f"the pool has no {coin}; its coins are {', '.join(symbols)}",
            fields={"single_coin": ", ".join(symbols)},
            fill={"single_coin": {"one_of": symbols}},
        )
    return place.pool.coins.index(address)


def _state(place: Place, contract: str, key: str, amount: int) -> Statement:
    return Statement(contract, place.pool.lp, key, str(amount))


def _details(place: Place) -> dict[str, object]:
    return {"venue": NAME, "pool": place.pool.address, "lp": place.pool.lp, "gauge": place.gauge}


def _received(outcome: PlanOutcome) -> tuple[Received, ...]:
    return tuple(
        Received(flow.token, TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token))
        for flow in outcome.plan.receives
    )


def _lp(shares: int) -> str:
    return format_units(shares, LP_DECIMALS)
