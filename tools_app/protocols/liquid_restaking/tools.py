"""Tools of liquid restaking: ether becomes an issuer's token, is asked back or redeemed, and claimed."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.core.clock import tell_unix_time
from tools_app.core.ratio import percent_text
from tools_app.core.units import format_micro_usd
from tools_app.portfolio.holdings import PriceBook
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.protocols.liquid_restaking import plans
from tools_app.protocols.liquid_restaking.addresses import (
    CHAINS,
    ETHERFI,
    ISSUERS,
    LABELS,
    NAME,
    SYMBOLS,
    RestakingContracts,
    deployment_on,
)
from tools_app.protocols.liquid_restaking.errors import (
    DepegRiskTooHigh,
    RestakingInputRefused,
    RestakingRequestUnknown,
)
from tools_app.protocols.liquid_restaking.history import DAY_SECONDS, MONTH, WEEK, read_rates, read_yearly_bps
from tools_app.protocols.liquid_restaking.issuer_reads import ask_holdings, ask_standings, find_request
from tools_app.protocols.liquid_restaking.issuer_snapshot import (
    check_claimable,
    describe,
    open_desk,
    tell_claimable,
)
from tools_app.protocols.liquid_restaking.issuers import Holding, parse_id
from tools_app.protocols.liquid_restaking.market import lowest, read_prices, read_trades
from tools_app.protocols.liquid_restaking.reports import (
    NO_OPERATORS,
    NO_SPLIT,
    ApyRow,
    Apys,
    ClaimReport,
    DepegRisk,
    Held,
    HoldingRow,
    SlashRow,
    WaitingRow,
    rate_text,
    report_deposit,
    report_withdraw,
)
from tools_app.protocols.liquid_restaking.risk import RULE, judge, list_falls, off_bps, widest_bps
from tools_app.select_tool_for_venue import whose
from tools_app.standards.plan_draft import check_enough
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import EVERYTHING, Address, RawAmount, RawAmountOrMax, Token
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import drive
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import NATIVE

lrt = ToolFamily(prefix="lrt", category=Category.RESTAKING, chains=CHAINS, venue=NAME, picks_chain=True)

Issuer = Annotated[
    Literal["etherfi", "kelp", "renzo"], Field(description="The issuer: etherfi (weETH), kelp (rsETH), renzo (ezETH).")
]
IssuerOrAll = Annotated[
    Literal["etherfi", "kelp", "renzo", "all"], Field(description="The issuer: etherfi, kelp, renzo, or all of them.")
]
LeaveMode = Annotated[
    Literal["auto", "instant", "queue"],
    Field(
        description="instant: redeem now for a fee; queue: wait and get all of it; auto: instant if the fee is small."
    ),
]
RequestName = Annotated[
    str,
    Field(
        pattern=r"^(etherfi|kelp|renzo)-(0|[1-9][0-9]{0,38})$",
        description="Request id as lrt_withdraw answered, such as kelp-12.",
    ),
]
BASIS: Final = "growth of the issuer's rate since the first rate it told in the last seven days, simple, a year"


@lrt.write(
    action_type="restake_deposit",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_deposit,
    snippet="restake_deposit at liquid_restaking: turn ETH into weETH, rsETH or ezETH, which grow against ETH.",
    guidelines=(
        "Leaving waits for days or weeks: keep the ETH that is needed sooner.",
        "It is refused while the token's risk is high; look at lrt_get_depeg_risk first.",
    ),
)
def lrt_deposit(
    ctx: WriteContext,
    amount: RawAmount,
    protocol: Issuer,
    input_token: Token = "ETH",  # noqa: S107 (a symbol)
) -> TxPlan:
    """Restake ETH with an issuer and hold its token for it.

    Use to earn staking and restaking yield on ETH that can wait. `amount` is wei of ETH.
    Does not take WETH or staked tokens: unwrap or sell them first.
    """
    desk = open_desk(ctx, protocol)
    reader, at, standing, coin = desk.reader, desk.at, desk.standing, desk.reader.native()
    if reader.token(input_token).address != NATIVE:
        raise RestakingInputRefused(
            f"{LABELS[protocol]} is given {coin.symbol} here",
            takes=coin.symbol,
            fill={"input_token": {"one_of": [coin.symbol]}},
        )
    check_enough(coin, balance=reader.native_balance(ctx.account), needed=amount)
    desk.check_deposit(amount)
    ctx.step("Asking markets")
    market = lowest(read_prices(reader, desk.token))
    verdict = judge(standing, now_bps=None if market is None else off_bps(market.price, standing.rate))
    if verdict.level == "high":
        raise DepegRiskTooHigh(
            f"{SYMBOLS[protocol]} is not taken up now: {'; '.join(verdict.factors)}",
            risk_level=verdict.level,
            risk_factors=list(verdict.factors),
        )
    ctx.step("Building calls")
    details = {
        **describe(protocol, at, standing, amount),
        "current_apy": percent_text(read_yearly_bps(reader, at, protocol, standing.rate)),
        "risk_level": verdict.level,
        "risk_factors": list(verdict.factors),
        "leaving_waits_seconds": standing.delay or None,
    }
    return plans.plan_deposit(reader, ctx.account, at, desk.holding, amount, details)


@lrt.write(
    action_type="restake_withdraw",
    risk=RiskLayer.BOUNDED,
    report=report_withdraw,
    action_class=ActionClass.DECREASE_POSITION,
    snippet=(
        "restake_withdraw at liquid_restaking: weETH, rsETH or ezETH back to ETH, at once for a fee where the issuer"
        " pays, else by a request that waits."
    ),
    guidelines=(
        "What waits earns nothing more and loses with the issuer; request:ready tells when it can be claimed.",
        "A sale on a market is a swap and not this tool: compare what it pays first.",
    ),
)
def lrt_withdraw(ctx: WriteContext, amount: RawAmountOrMax, protocol: Issuer, mode: LeaveMode = "auto") -> TxPlan:
    """Leave an issuer's token: redeem it now for a fee, or ask its ETH back and wait.

    Use to turn restaked ether back into ETH. `amount` is base units of the token, or max. A request is claimed with
    lrt_claim_withdrawal; the product follows it until then.
    Does not sell on a market: swap does, and says what it loses.
    """
    desk = open_desk(ctx, protocol)
    reader, at, holding, standing = desk.reader, desk.at, desk.holding, desk.standing
    tokens = holding.tokens if amount == EVERYTHING else amount
    check_enough(reader.token(desk.token), balance=holding.tokens, needed=max(1, tokens))
    desk.check_leaving(tokens)
    worth, is_at_once = standing.worth(tokens), desk.pays_at_once(tokens, mode)
    ctx.step("Building calls")
    is_timed = not is_at_once and standing.delay
    details = {
        **describe(protocol, at, standing, worth),
        "tokens": str(tokens),
        "worth": str(worth),
        "way": "redeemed" if is_at_once else "queued",
        "fee_bps": standing.fee_bps if is_at_once else 0,
        "estimated_completion": tell_unix_time(reader.block.timestamp + standing.delay) if is_timed else None,
        "queue": at.queues[protocol],
    }
    make = plans.plan_at_once if is_at_once else plans.plan_request
    return make(reader, ctx.account, at, holding, tokens, details)


@lrt.write(
    action_type="restake_claim",
    risk=RiskLayer.LOW,
    report=ClaimReport,
    action_class=ActionClass.CLOSE_POSITION,
    snippet="restake_claim at liquid_restaking: take the ETH of a withdrawal request that is paid into the wallet.",
    guidelines=("At Kelp the oldest request leaves first; request:ready tells when one can be claimed.",),
)
def lrt_claim_withdrawal(ctx: WriteContext, request_id: RequestName) -> TxPlan:
    """Claim the ETH of a withdrawal request that its issuer has paid.

    Use after lrt_withdraw, once request:ready tells so; the ETH comes to the golem's own wallet.
    Does not wait, and does not claim for others.
    """
    reader = ctx.begin("Reading requests")
    issuer = request_id.partition("-")[0]
    at = deployment_on(reader)
    holdings = _read_all(reader, at, ctx.account, request_id)
    request = find_request(holdings, request_id)
    if request is None:
        known = [one.id for each in holdings for one in each.requests]
        raise RestakingRequestUnknown(f"this account has no open request {request_id}", request_ids=known)
    standing = next(each.standing for each in holdings if each.issuer == issuer)
    check_claimable(request, standing, holdings)
    ctx.step("Building calls")
    details = {**describe(issuer, at, standing, request.worth), "request_id": request.id}
    return plans.plan_claim(reader, ctx.account, at, request, standing, details)


@lrt.read(
    query="restaking_apy",
    snippet="restaking_apy: how the worth of weETH, rsETH and ezETH in ETH grew, a year; reads, changes nothing.",
    guidelines=("The past is no promise; compare with staking that has no restaking risk.",),
)
def lrt_get_apy(ctx: ReadContext, protocol: IssuerOrAll = "all") -> Apys:
    """Read by how much issuers' tokens grew against ETH, as a yearly rate.

    Use before restaking, or to compare issuers. A rate is null where none a day old is known.
    Does not split the growth, and does not count points: no chain tells either.
    """
    reader = ctx.begin("Reading issuers")
    at = deployment_on(reader)
    issuers = ISSUERS if protocol == "all" else (protocol,)
    standings = drive(ask_standings(at, issuers), reader.call_many)
    ctx.step("Reading the past")
    return Apys(
        apys=tuple(
            ApyRow(
                protocol=each,
                lrt_symbol=SYMBOLS[each],
                exchange_rate=rate_text(standings[each].rate),
                base_staking_apy=None,
                restaking_apy=None,
                protocol_rewards=None,
                total_apy=percent_text(read_yearly_bps(reader, at, each, standings[each].rate)),
                points_program=None,
            )
            for each in issuers
        ),
        basis=BASIS,
        why_null=NO_SPLIT,
    )


@lrt.read(
    query="restaked_ether",
    snippet="restaked_ether: weETH, rsETH and ezETH of an account, their ETH, and requests that wait; reads only.",
    guidelines=("Requests are part of what is held: count them before restaking more.",),
)
def lrt_get_position(ctx: ReadContext, account: Address | None = None) -> Held:
    """Read what an account holds of restaked ether, at the issuers' rates, and its withdrawal requests.

    Use before restaking more or leaving. `account` defaults to the golem's own; requests at ether.fi are told of
    accounts that the golem knows, because no contract lists them.
    Does not tell what a sale would bring.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Reading issuers")
    at = deployment_on(reader)
    holdings = _read_all(reader, at, owner)
    ctx.step("Reading the past")
    coin, book = reader.native(), PriceBook(reader)
    book.learn(coin)
    rows = []
    for each in holdings:
        if not each.tokens:
            continue
        worth = book.weigh(NATIVE, each.worth).micro_usd if each.worth else 0
        rows.append(
            HoldingRow(
                protocol=each.issuer,
                lrt_symbol=SYMBOLS[each.issuer],
                balance=str(each.tokens),
                balance_eth=TokenAmount(each.worth, coin),
                balance_usd=None if worth is None else format_micro_usd(worth),
                apy=percent_text(read_yearly_bps(reader, at, each.issuer, each.standing.rate)),
                points_earned=None,
            )
        )
    return Held(
        holdings=tuple(rows),
        pending_withdrawals=tuple(
            WaitingRow(
                request_id=one.id,
                protocol=one.issuer,
                eth=TokenAmount(one.worth, coin),
                is_claimable=one.free_at is None and one.is_valid,
                claimable_from=tell_claimable(one),
            )
            for each in holdings
            for one in each.requests
        ),
        has_more_requests=any(each.has_more for each in holdings),
        why_null=NO_SPLIT,
    )


@lrt.read(
    query="restaking_depeg_risk",
    budget=TickBudget.SLOW,
    snippet="restaking_depeg_risk: a restaked token's market against its issuer's rate, queue, pauses, falls; reads.",
    guidelines=("Nothing goes in while risk_level is high; what is held can still be asked back or sold.",),
)
def lrt_get_depeg_risk(ctx: ReadContext, protocol: Issuer) -> DepegRisk:
    """Read how far a restaked token's market is from its ether, and what could make it worse.

    Use before restaking, and again when a market moves. `risk_rule` says how the class follows.
    Does not read operators' slashing terms: a slash shows as a rate that fell.
    """
    reader = ctx.begin("Reading the issuer")
    at = deployment_on(reader)
    standing = drive(ask_standings(at, (protocol,)), reader.call_many)[protocol]
    ctx.step("Asking markets")
    token = at.tokens[protocol]
    prices = read_prices(reader, token)
    market = lowest(prices)
    ctx.step("Reading the past")
    samples = read_rates(reader, at, protocol, days=MONTH)
    pool = next((each.pool for each in prices if each.pool is not None), None)
    trades = read_trades(reader, token, pool) if pool is not None else ()
    week_block = reader.first_block_since(reader.block.timestamp - WEEK * DAY_SECONDS).number
    month = widest_bps(trades, samples, standing.rate)
    week = widest_bps([each for each in trades if each[0] >= week_block], samples, standing.rate)
    falls = list_falls(samples)
    now_bps = None if market is None else off_bps(market.price, standing.rate)
    verdict = judge(standing, now_bps=now_bps, widest_month_bps=month, falls=falls)
    coin = reader.native()
    return DepegRisk(
        lrt_symbol=SYMBOLS[protocol],
        exchange_rate=rate_text(standing.rate),
        market_price=None if market is None else rate_text(market.price),
        market_source=None if market is None else market.source,
        current_premium_discount=percent_text(now_bps),
        max_deviation_7d=percent_text(week),
        max_deviation_30d=percent_text(month),
        withdrawal_queue_depth=TokenAmount(standing.waiting, coin),
        queue_is_liquid=standing.waiting <= standing.liquid,
        instant_redemption_available=TokenAmount(standing.at_once, coin),
        instant_redemption_fee_bps=standing.fee_bps,
        slashing_exposure=tuple(
            SlashRow(each.block, rate_text(each.before), rate_text(each.after), each.loss_bps) for each in falls
        ),
        risk_level=verdict.level,
        risk_factors=verdict.factors,
        risk_rule=RULE,
        why_null=NO_OPERATORS,
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _read_all(reader: ChainReader, at: RestakingContracts, account: str, request_id: str = "") -> list[Holding]:
    """What an account has, with the requests at ether.fi that are known of it, and the one that is asked for."""
    hints = [ref.id for ref in list_hints(chain_id=reader.chain_id, account=account) if ref.protocol == NAME]
    told = [parse_id(each) for each in (*hints, request_id)]
    numbers = sorted({each[1] for each in told if each is not None and each[0] == ETHERFI})
    return drive(ask_holdings(at, account, numbers), reader.call_many)
