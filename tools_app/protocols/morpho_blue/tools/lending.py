"""`morpho_supply_market` and `morpho_withdraw_market`: lend, or put in collateral, and take either back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.core.units import format_units
from tools_app.protocols.morpho_blue import plans
from tools_app.protocols.morpho_blue.errors import SharesTooDear, TooMuchAsked
from tools_app.protocols.morpho_blue.plan_checks import (
    check_liquidity,
    check_release,
    check_used,
    price_market,
    ratio_bps,
)
from tools_app.protocols.morpho_blue.tools.family import (
    MarketMeant,
    Opened,
    check_own,
    morpho,
    open_market,
    supply_apy,
)
from tools_app.standards.erc20 import balance_of
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import list_events, read_details
from tools_app.standards.retiring_sales import Sale, sell_falling
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, NothingThere
from tools_app.toolkit.params import EVERYTHING, OwnAccount, RawAmountOrMax, Token
from tools_app.toolkit.plan import Call, PlanOutcome, TokenFlow, TxPlan
from tools_app.toolkit.report import Report, seen, spent
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class _SharesMoved:
    shares: int


SUPPLIED: Final = AbiEvent(
    "event Supply(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets,"
    " uint256 shares)",
    _SharesMoved,
)
WITHDRAWN: Final = AbiEvent(
    "event Withdraw(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver,"
    " uint256 assets, uint256 shares)",
    _SharesMoved,
)
# A part in ten thousand, and never less than one base unit: more than that is not rounding.
MOST_LOST_BPS = 1


class SupplyReport(Report):
    """What supplying did; no shares are given for collateral. The yearly rate is percent."""

    market_id: str
    shares_received: str = seen(lambda outcome: _shares(outcome, SUPPLIED))
    assets_supplied: TokenAmount = spent()
    supply_apy: str


class WithdrawReport(Told):
    """What was taken back; no shares are given up for collateral."""

    market_id: str
    assets_withdrawn: TokenAmount
    shares_repaid: str


@dataclass(frozen=True, slots=True)
class _Details:
    morpho: str
    market_id: str
    sold_with_it: int | None = None


def report_withdraw(outcome: PlanOutcome) -> WithdrawReport:
    """Shares from the contract's event, the amount from the balance difference, or what was sold as it came out."""
    token, details = outcome.plan.receives[0].token, read_details(_Details, outcome)
    return WithdrawReport(
        market_id=details.market_id,
        assets_withdrawn=TokenAmount(int(details.sold_with_it or outcome.deltas.get(token.address, 0)), token),
        shares_repaid=_shares(outcome, WITHDRAWN),
    )


@morpho.write(
    action_type="supply",
    risk=RiskLayer.BOUNDED,
    report=SupplyReport,
    aliases=("morpho_supply",),
    snippet=(
        "supply: lend the loan token of a Morpho market for interest, or put its collateral token in, which earns"
        " nothing and covers a debt there."
    ),
    guidelines=(
        "Look at the market's utilization first: what is borrowed cannot be withdrawn until it is repaid.",
        "Name the collateral token as asset to put in collateral; without asset the loan token is lent.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL, except collateral under a debt.",
    ),
)
def morpho_supply_market(
    ctx: WriteContext,
    market_id: MarketMeant,
    amount: RawAmountOrMax,
    asset: Token | None = None,
    on_behalf_of: OwnAccount | None = None,
) -> TxPlan:
    """Lend into an isolated Morpho market, or put in collateral for a debt there.

    Use to earn interest on the market's loan token, or with `asset` naming the collateral token to cover a debt. `max`
    is all the golem holds. The price feeds and the market's oracle must agree when lending. morpho_get_market_info
    lists markets. Does not borrow, does not act for another account, and does not take the chain's own coin (use its
    wrapped token).
    """
    check_own(ctx, on_behalf_of)
    ctx.step("Reading the market")
    opened = open_market(ctx, market_id)
    token = opened.chosen(asset)
    ctx.step("Building calls")
    if amount == EVERYTHING:
        amount = _balance(opened, token)
    return _lend(opened, amount) if token.address == opened.params.loan_token else _pledge(opened, token, amount)


@morpho.write(
    action_type="withdraw",
    risk=RiskLayer.LOW,
    report=report_withdraw,
    aliases=("morpho_withdraw",),
    snippet=(
        "withdraw: take back what was lent in a Morpho market with its interest, or collateral that its debt there"
        " does not need."
    ),
    guidelines=(
        "Say max to leave nothing behind: interest grows until the transaction runs.",
        "Repay first: collateral comes out only down to a health of 1.5, all of it only without debt.",
    ),
)
def morpho_withdraw_market(
    ctx: WriteContext,
    market_id: MarketMeant,
    amount: RawAmountOrMax,
    asset: Token | None = None,
) -> TxPlan:
    """Withdraw what was lent in a Morpho market, or its collateral.

    Use to leave a market or to take a part out. Without `asset` it is the loan token; name the collateral token to take
    collateral, which a debt holds down to a health of 1.5. `max` is all that is there. What retires behind the golem's
    cage is sold for its base asset in the same plan. morpho_get_user_position names its markets. Does not repay debt
    and does not wait for liquidity: what is borrowed by others cannot be taken.
    """
    ctx.step("Reading the market")
    opened = open_market(ctx, market_id)
    token = opened.chosen(asset)
    ctx.step("Building calls")
    if token.address == opened.params.loan_token:
        return _take_back(ctx, opened, amount)
    return _release(ctx, opened, token, amount)


# ---- below ----------------------------------------------------------------------------------------------------------


def _lend(opened: Opened, amount: int) -> TxPlan:
    market, token = opened.market, opened.loan
    check_used(market, token)
    if not opened.params.is_idle:
        price_market(opened.reader, market, token, opened.collateral_token)
    draft = PlanDraft(opened.reader.chain_id, opened.account)
    draft.pay(opened.reader, token, amount, to=opened.morpho)
    after, shares = market.state.lend(amount)
    gained = after.lent_of(opened.holding.supply_shares + shares) - opened.lent
    _check_shares(market.id, token, amount, gained)
    draft.call(plans.supply(opened.morpho, opened.params, token, amount, opened.account))
    draft.changes.append(plans.change(opened.reader.chain_id, market, token.address, gained, gained - plans.ROUNDING))
    return draft.finish(
        action_class=_growing(opened),
        details={**_details(opened), "shares": str(shares), "supply_apy": supply_apy(market)},
    )


def _check_shares(market_id: str, token: TokenMeta, amount: int, gained: int) -> None:
    """Raises SharesTooDear where lending loses more than rounding."""
    if gained < amount - max(1, amount * MOST_LOST_BPS // 10_000):
        raise SharesTooDear(
            f"lending {format_units(amount, token.decimals, token.symbol)} would give a position of"
            f" {format_units(gained, token.decimals, token.symbol)}",
            market_id=market_id,
        )


def _pledge(opened: Opened, token: TokenMeta, amount: int) -> TxPlan:
    draft = PlanDraft(opened.reader.chain_id, opened.account)
    draft.pay(opened.reader, token, amount, to=opened.morpho)
    draft.call(plans.pledge(opened.morpho, opened.params, token, amount, opened.account))
    draft.changes.append(plans.change(opened.reader.chain_id, opened.market, token.address, amount, amount))
    return draft.finish(
        action_class=_growing(opened),
        details={**_details(opened), "shares": "0", "supply_apy": "0.0000"},
    )


def _take_back(ctx: WriteContext, opened: Opened, amount: int) -> TxPlan:
    market, token, lent, shares = opened.market, opened.loan, opened.lent, opened.holding.supply_shares
    if not shares:
        raise NothingThere(f"the golem lends nothing in market {market.id}", market_id=market.id)
    is_all = amount == EVERYTHING
    taken = lent if is_all else amount
    if taken > lent:
        raise _too_much("lends", token, lent)
    check_liquidity(market, token, taken)
    sale = sell_falling(ctx, opened.reader, token, taken)
    if sale is not None:
        # What shares are worth when they are given back nobody knows to the unit: the amount is named.
        is_all, amount = False, taken
    # All shares are worth a little more by the time they are given back.
    growth = plans.settle(market, lent) if is_all else plans.ROUNDING
    call = plans.withdraw(
        opened.morpho,
        opened.params,
        token,
        amount=0 if is_all else amount,
        shares=shares if is_all else 0,
        account=opened.account,
    )
    return _leaving(
        opened,
        call,
        TokenFlow(token, expected=taken, bound=taken),
        bound=-taken - growth,
        is_whole=is_all and not (opened.owed or opened.holding.collateral),
        sale=sale,
    )


def _release(ctx: WriteContext, opened: Opened, token: TokenMeta, amount: int) -> TxPlan:
    collateral, owed = opened.holding.collateral, opened.owed
    if not collateral:
        raise NothingThere("the golem has no collateral in this market", market_id=opened.market.id)
    taken = collateral if amount == EVERYTHING else amount
    if taken > collateral:
        raise _too_much("has as collateral", token, collateral)
    ratio: int | None = None
    if owed:
        priced = price_market(opened.reader, opened.market, opened.loan, token)
        check_release(priced, collateral=collateral, owed=owed, amount=taken)
        ratio = ratio_bps(priced, collateral=collateral - taken, owed=owed)
    return _leaving(
        opened,
        plans.release(opened.morpho, opened.params, token, taken, opened.account),
        TokenFlow(token, expected=taken, bound=taken),
        bound=-taken,
        is_whole=taken == collateral and not opened.lent and not owed,
        least_health_bps=DEFAULT_HEALTH_FLOOR_BPS if owed else None,
        ratio=ratio,
        sale=sell_falling(ctx, opened.reader, token, taken),
    )


def _leaving(
    opened: Opened,
    call: Call,
    flow: TokenFlow,
    *,
    bound: int,
    is_whole: bool,
    least_health_bps: int | None = None,
    ratio: int | None = None,
    sale: Sale | None = None,
) -> TxPlan:
    chain_id = opened.reader.chain_id
    draft = PlanDraft(chain_id, opened.account)
    draft.call(call)
    if sale is None:
        draft.receives.append(flow)
    else:
        draft.adopt(sale.plan)
        draft.receive(flow.token, 0)
        draft.receive(sale.brought.token, sale.brought.expected, at_least=sale.brought.bound)
    draft.changes.append(
        plans.change(
            chain_id, opened.market, flow.token.address, -flow.expected, bound, least_health_bps=least_health_bps
        )
    )
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if is_whole else ActionClass.DECREASE_POSITION,
        collateral_ratio_bps=ratio,
        **({} if sale is None else sale.bounds),
        details={**_details(opened), **({} if sale is None else sale.details)},
    )


def _growing(opened: Opened) -> ActionClass:
    return ActionClass.NEW_POSITION if opened.holding.is_empty else ActionClass.INCREASE_POSITION


def _details(opened: Opened) -> dict[str, object]:
    return {"venue": "Morpho", "morpho": opened.morpho, "market_id": opened.market.id}


def _balance(opened: Opened, token: TokenMeta) -> int:
    held = balance_of(opened.reader, token, opened.account)
    if not held:
        raise NothingThere(f"the golem holds no {token.symbol}", market_id=opened.market.id)
    return held


def _too_much(verb: str, token: TokenMeta, most: int) -> TooMuchAsked:
    return TooMuchAsked(
        f"the golem {verb} {format_units(most, token.decimals, token.symbol)} there; say max for all of it",
        most=str(most),
    )


def _shares(outcome: PlanOutcome, event: AbiEvent[_SharesMoved]) -> str:
    found = list_events(outcome, event, contract=read_details(_Details, outcome).morpho)
    return str(sum(each.shares for each in found))
