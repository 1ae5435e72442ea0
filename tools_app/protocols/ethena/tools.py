"""Tools of Ethena: USDe is staked for sUSDe, cools down, and is claimed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.core.clock import tell_unix_time
from tools_app.core.ratio import percent_text
from tools_app.core.units import format_micro_usd, format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.ethena.addresses import CHAINS, NAME, vault_on
from tools_app.protocols.ethena.errors import (
    CooldownNotOver,
    CooldownWouldRestart,
    InstantExitIsSale,
    NothingCoolsDown,
    StakerRestricted,
)
from tools_app.protocols.ethena.math import SILENT_DAYS, judge_yield, rate_now_bps
from tools_app.protocols.ethena.positions import FAMILY, KIND, cooldown_ref
from tools_app.protocols.ethena.reads import (
    DURATION,
    TOTAL_ASSETS,
    UNVESTED,
    VESTING,
    VESTING_SECONDS,
    Staked,
    ask_staked,
    read_rewards,
)
from tools_app.select_tool_for_venue import whose
from tools_app.standards import erc20
from tools_app.standards.erc4626 import (
    MOST_JUMP_BPS,
    PAID_OUT,
    TO_ASSETS,
    SharesMissing,
    Vault,
    sum_shares,
)
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.read_all_or_fail import read_all
from tools_app.standards.receipts import list_events, read_details
from tools_app.standards.vault_logs import read_put_in
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import EVERYTHING, Address, Flag, RawAmount, RawAmountOrMax
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import REQUEST_KIND, PositionChange, PositionRef, drive
from tools_app.toolkit.report import Report, received, seen, spent, told
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

ethena = ToolFamily(
    prefix="ethena", category=Category.YIELD, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)

COOL: Final = "function cooldownShares(uint256 shares)"
CLAIM: Final = "function unstake(address receiver)"
WEEK, MONTH, LOOK_BACK_DAYS = 7, 30, 90
BPS: Final = 10_000
NO_SPLIT: Final = "the contract pays rewards in one sum; who funds them is published off chain alone"
LeaveMode = Annotated[
    Literal["cooldown", "instant"],
    Field(description="cooldown: wait as long as the contract asks; instant: at once, which only a sale can give."),
]


class StakeReport(Report):
    """What staking gave. `exchange_rate` is USDe of one sUSDe; the parts of the yield are null: `why_null` says why.
    `lockup_period` is the seconds that an exit cools down; yearly rates are simple, in percent.
    """

    usde_staked: TokenAmount = spent()
    susde_received: str = seen(lambda outcome: str(sum_shares(outcome, "to")))
    exchange_rate: str
    current_apy: str
    funding_rate_component: str | None = None
    staking_yield_component: str | None = None
    why_null: str = NO_SPLIT
    lockup_period: int = told("cooldown_seconds")


class LeaveReport(Told):
    """What an exit did: `usde_received` at once where nothing cools down, else null, and `cooldown_end` tells when
    `usde_cooling` can be claimed. `request_id` names what cools down among the golem's requests.
    """

    usde_received: TokenAmount | None
    usde_cooling: TokenAmount | None
    request_id: str | None
    cooldown_end: str | None
    instant_fee: str | None


class ClaimReport(Report):
    """What came out of the cooldown."""

    usde_received: TokenAmount = received()


class FundingPart(Told):
    """The part of the yield that comes from funding rates, which no contract tells."""

    current: str | None
    average_7d: str | None
    average_30d: str | None
    is_negative: bool | None
    why_null: str


class RewardPoint(Told):
    """One payment of rewards."""

    block_number: int
    usde: TokenAmount


class Yields(OfChain):
    """Simple yearly rates in percent on what is staked now; an average is null where the chain is younger than its
    days. `yield_risk` is by the rule that `yield_risk_rule` says.
    """

    current_apy: str
    apy_7d_average: str | None
    apy_30d_average: str | None
    funding_rate_component: FundingPart
    staking_yield_component: str | None
    total_historical: tuple[RewardPoint, ...]
    yield_risk: str
    yield_risk_rule: str
    cooldown_seconds: int


class Cooling(Told):
    """What cools down, and when it can be claimed (RFC 3339)."""

    usde: TokenAmount
    cooldown_end: str
    is_over: bool


class Held(OfChain):
    """What an account has. `susde_value_usd` is by the feed of what is staked, null without one. `cumulative_yield` is
    what shares that were put in during the last 90 days earned; null where some came otherwise or earlier.
    """

    usde_balance: TokenAmount
    susde_balance: str
    susde_in_usde: TokenAmount
    susde_value_usd: str | None
    pending_cooldowns: tuple[Cooling, ...]
    cumulative_yield: TokenAmount | None
    is_restricted: bool


@dataclass(frozen=True, slots=True)
class _LeaveDetails:
    vault: str
    asset: str
    symbol: str
    cooldown_end: int
    request_id: str = ""


def report_leave(outcome: PlanOutcome) -> LeaveReport:
    """Dollars from balances, or what the contract's own event says went to cool down."""
    details = read_details(_LeaveDetails, outcome)
    cooled = sum(each.assets for each in list_events(outcome, PAID_OUT, contract=details.vault))
    is_cooling = bool(details.cooldown_end)
    token = TokenMeta(outcome.plan.chain_id, details.asset, details.symbol, 18, "", is_registered=False)
    return LeaveReport(
        usde_received=None if is_cooling else TokenAmount(outcome.deltas.get(token.address, 0), token),
        usde_cooling=TokenAmount(cooled, token) if is_cooling else None,
        request_id=details.request_id if is_cooling else None,
        cooldown_end=tell_unix_time(details.cooldown_end) if is_cooling else None,
        instant_fee=None,
    )


@ethena.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=StakeReport,
    snippet="stake_usde: put USDe into Ethena for sUSDe, whose worth in USDe grows with rewards.",
    guidelines=(
        "Leaving takes a cooldown of days that the contract sets; the preview says how long.",
        "The price of a share must stay within 0.25% until the transaction; preview again when it moved.",
    ),
)
def ethena_stake_usde(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Stake USDe for sUSDe.

    Use to earn Ethena's rewards with dollars that can wait. `amount` is base units of USDe; what the shares are worth
    is measured, so a price that a gift blew up is refused.
    Does not buy USDe, and does not stake for another account.
    """
    reader = ctx.begin("Reading sUSDe")
    vault = vault_on(reader.chain_id)
    _check_open(drive(ask_staked(vault, ctx.account), reader.call_many))
    rate, duration = _read_rate(reader, vault)
    price = int(reader.call(vault.address, TO_ASSETS, 10**18)[0])
    ctx.step("Building calls")
    plan = FAMILY.plan_deposit(reader, ctx.account, vault, amount)
    told = {"venue": NAME, "exchange_rate": format_units(price, 18), "current_apy": format_units(rate, 2)}
    return replace(plan, details={**plan.details, **told, "cooldown_seconds": duration})


@ethena.write(
    risk=RiskLayer.LOW,
    report=report_leave,
    snippet=(
        "unstake_usde: give sUSDe up for the USDe it stands for, which cools down for days before it is claimed; max"
        " gives up all of it."
    ),
    guidelines=(
        "What cools down earns nothing more. A second exit starts the time of both anew: wait for the first.",
        "There is no exit at once but a sale: swap sUSDe on a market, and compare what that loses.",
    ),
)
def ethena_unstake_usde(
    ctx: WriteContext,
    amount: RawAmountOrMax,
    mode: LeaveMode = "cooldown",
    restart_cooldown: Flag = False,
) -> TxPlan:
    """Give up sUSDe: its USDe cools down, or comes at once where the contract has no cooldown now.

    Use to leave Ethena at full worth when there is time. `amount` is base units of sUSDe, or max. Claim with
    ethena_claim_unstaked once the cooldown is over; the product follows it until then. `restart_cooldown` lets what
    cools down already wait again, together with this.
    Does not sell sUSDe: mode instant is refused while there is a cooldown, for only a market gives USDe at once.
    """
    reader = ctx.begin("Reading sUSDe")
    vault = vault_on(reader.chain_id)
    staked = drive(ask_staked(vault, ctx.account), reader.call_many)
    _check_open(staked)
    given = staked.shares if amount == EVERYTHING else amount
    if not staked.shares or given > staked.shares:
        raise SharesMissing(f"the account holds {staked.shares} base units of sUSDe", available=str(staked.shares))
    token = reader.token(vault.asset)
    told = {"venue": NAME, "asset": token.address, "symbol": token.symbol, "shares": str(given)}
    if not staked.duration:
        plan = FAMILY.plan_redeem(reader, ctx.account, vault, given)
        return replace(plan, details={**plan.details, **told, "cooldown_end": 0})
    if mode == "instant":
        raise InstantExitIsSale(
            f"exits cool down for {staked.duration} seconds; sell sUSDe with a swap to have USDe at once",
            cooldown_seconds=staked.duration,
            fill={"mode": {"one_of": ["cooldown"]}},
        )
    now = reader.block.timestamp
    if staked.cooling and staked.cooldown_end > now and not restart_cooldown:
        end = tell_unix_time(staked.cooldown_end)
        raise CooldownWouldRestart(
            f"{format_units(staked.cooling, token.decimals, token.symbol)} cool down until {end};"
            " claim them first, or let all of it wait again with restart_cooldown",
            cooling=str(staked.cooling),
            cooldown_end=end,
            fill={"restart_cooldown": {"one_of": [True]}},
        )
    worth, rest = (
        int(values[0])
        for values in read_all(
            reader,
            [
                ReadCall(vault.address, TO_ASSETS, (given,)),
                ReadCall(vault.address, TO_ASSETS, (staked.shares - given,)),
            ],
        )
    )
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    shown = format_units(worth, token.decimals, token.symbol)
    draft.call(Call(vault.address, encode_call(COOL, given), 0, f"Let {shown} of sUSDe cool down"))
    gone, slack = staked.worth - rest, worth * MOST_JUMP_BPS // BPS + 2
    draft.changes += [
        _change(KIND, vault, -gone, -gone - slack, FAMILY.ref(reader.chain_id, vault.address)),
        _change(REQUEST_KIND, vault, worth, worth - slack, cooldown_ref(reader.chain_id)),
    ]
    ref = cooldown_ref(reader.chain_id)
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        details={
            **told,
            "vault": vault.address,
            "amount": str(worth),
            "amount_units": shown,
            "request_id": ref.id,
            "cooldown_end": now + staked.duration,
        },
    )


@ethena.write(
    risk=RiskLayer.LOW,
    report=ClaimReport,
    action_class=ActionClass.CLOSE_POSITION,
    snippet="claim_unstaked at ethena: take the USDe whose cooldown is over into the golem's wallet.",
    guidelines=("request:ready tells when the cooldown is over.",),
)
def ethena_claim_unstaked(ctx: WriteContext) -> TxPlan:
    """Claim the USDe of an exit whose cooldown is over.

    Use after ethena_unstake_usde, once its cooldown is over; all that cooled down comes to the golem's own wallet.
    Does not wait, and does not claim for others.
    """
    reader = ctx.begin("Reading sUSDe")
    vault = vault_on(reader.chain_id)
    staked = drive(ask_staked(vault, ctx.account), reader.call_many)
    _check_open(staked)
    if not staked.cooling:
        raise NothingCoolsDown("no exit of this account cools down; begin one with ethena_unstake_usde")
    if staked.duration and staked.cooldown_end > reader.block.timestamp:
        end = tell_unix_time(staked.cooldown_end)
        raise CooldownNotOver(f"the cooldown is over at {end}", cooldown_end=end, resets_at=end)
    ctx.step("Building calls")
    token = reader.token(vault.asset)
    shown = format_units(staked.cooling, token.decimals, token.symbol)
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(Call(vault.address, encode_call(CLAIM, ctx.account), 0, f"Claim {shown} that cooled down"))
    draft.receive(token, staked.cooling)
    draft.changes.append(_change(REQUEST_KIND, vault, -staked.cooling, -staked.cooling, cooldown_ref(reader.chain_id)))
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION,
        details={"venue": NAME, "vault": vault.address, "amount": str(staked.cooling), "amount_units": shown},
    )


@ethena.read(
    budget=TickBudget.FAST,
    snippet="ethena_apy: what sUSDe earns a year, now and over a week and a month; reads rewards, changes nothing.",
    guidelines=("Rewards follow funding rates and can stop; yield_risk says by which rule it is judged.",),
)
def ethena_get_apy(ctx: ReadContext) -> Yields:
    """Read what staked USDe earns: the rate that drips in now, and what the last week and month paid.

    Use before staking, or to compare with other yields.
    Does not say how much of it comes from funding rates: no contract tells that.
    """
    reader = ctx.begin("Reading sUSDe")
    vault = vault_on(reader.chain_id)
    rate, duration = _read_rate(reader, vault)
    staked = int(reader.call(vault.address, TOTAL_ASSETS)[0])
    ctx.step("Reading the past")
    month, week, silent = read_rewards(reader, vault, spans=(MONTH, WEEK, SILENT_DAYS))
    token = reader.token(vault.asset)
    month_bps, week_bps = month.yearly_bps(staked=staked), week.yearly_bps(staked=staked)
    return Yields(
        current_apy=format_units(rate, 2),
        apy_7d_average=percent_text(week_bps),
        apy_30d_average=percent_text(month_bps),
        funding_rate_component=FundingPart(None, None, None, None, NO_SPLIT),
        staking_yield_component=None,
        total_historical=tuple(RewardPoint(each.block_number, TokenAmount(each.raw, token)) for each in month.all),
        yield_risk=judge_yield(has_come=bool(silent.all), week_bps=week_bps, month_bps=month_bps),
        yield_risk_rule=RISK_RULE,
        cooldown_seconds=duration,
    )


@ethena.read(
    snippet="ethena_position: USDe, sUSDe, what cools down and what was earned; reads, changes nothing.",
    guidelines=("What cools down is part of what is held: count it before leaving or staking more.",),
)
def ethena_get_position(ctx: ReadContext, account: Address | None = None) -> Held:
    """Read what an account has at Ethena: USDe, sUSDe and its worth, cooldowns, and what was earned.

    Use before staking more or leaving. `account` defaults to the golem's own.
    Does not tell what sUSDe would bring on a market.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Reading sUSDe")
    vault = vault_on(reader.chain_id)
    staked = drive(ask_staked(vault, owner), reader.call_many)
    token = reader.token(vault.asset)
    ctx.step("Reading the past")
    book = PriceBook(reader)
    book.learn(token)
    worth = book.weigh(vault.asset, staked.worth).micro_usd if staked.worth else 0
    put = read_put_in(reader, vault.address, owner, days=LOOK_BACK_DAYS)
    earned = put.earned(shares=staked.shares, worth=staked.worth)
    now = reader.block.timestamp
    cooling = Cooling(
        TokenAmount(staked.cooling, token), tell_unix_time(staked.cooldown_end), staked.cooldown_end <= now
    )
    (balance,) = reader.call_many([erc20.balance_call(vault.asset, owner)])
    return Held(
        usde_balance=TokenAmount(int(balance.values[0]), token),
        susde_balance=str(staked.shares),
        susde_in_usde=TokenAmount(staked.worth, token),
        susde_value_usd=None if worth is None else format_micro_usd(worth),
        pending_cooldowns=(cooling,) if staked.cooling else (),
        cumulative_yield=None if earned is None else TokenAmount(earned, token),
        is_restricted=staked.is_restricted,
    )


# ---- below ----------------------------------------------------------------------------------------------------------

RISK_RULE: Final = (
    f"High: no rewards for {SILENT_DAYS} days. Medium: a week paid less than half of the month's rate, or one of them"
    " is not known. Low: else."
)


def _check_open(staked: Staked) -> None:
    if staked.is_restricted:
        raise StakerRestricted("the issuer has restricted this account; only the issuer can end that")


def _read_rate(reader: ChainReader, vault: Vault) -> tuple[int, int]:
    """The yearly rate that drips in now, in basis points, and the seconds that exits cool down."""
    values = read_all(reader, [ReadCall(vault.address, each) for each in (UNVESTED, VESTING, TOTAL_ASSETS, DURATION)])
    unvested, vesting, staked, duration = (int(each[0]) for each in values)
    return rate_now_bps(unvested=unvested, vesting=vesting, period=VESTING_SECONDS, staked=staked), duration


def _change(kind: str, vault: Vault, expected: int, bound: int, ref: PositionRef) -> PositionChange:
    return PositionChange(NAME, kind, vault.asset, expected, bound, ref=ref)
